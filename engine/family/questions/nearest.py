"""Which words are nearest to a word?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from engine.errors import listed
from engine.family.questions.question import FamilyQuestion, Option

if TYPE_CHECKING:
    from engine.family.ask import Family, MemberGuess

Near = Mapping[str, "tuple[MemberGuess, ...]"]


@dataclass(frozen=True)
class NearQuestion(FamilyQuestion[Near]):
    """A question that words answer, each with its likeness."""

    head = ("nearest words",)

    def documents(self, found: Near) -> Mapping[str, Any]:
        return {
            name: [{"word": one.word, "likeness": one.value} for one in near] for name, near in found.items()
        }

    def said(self, found: Near) -> Mapping[str, tuple[str, ...]]:
        return {
            name: (listed(f"{one.word} {one.value:.2f}" for one in near),) for name, near in found.items()
        }


@dataclass(frozen=True)
class NearestWords(NearQuestion):
    """A word. count: words of each member."""

    option = Option("nearest", "the words nearest to one", metavar="WORD")

    word: str
    count: int = 6

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, options.nearest, max(1, options.count))

    def found(self, family: Family) -> Near:
        from engine.family.words import nearest

        return nearest(family, self.word, self.count)

    def arguments(self) -> list[str]:
        return ["--nearest", self.word]
