"""Which words are nearest to a word?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from engine.family.questions.question import FamilyQuestion, Rows, by_member, member_rows

if TYPE_CHECKING:
    from engine.family.ask import Family, Guess

Near = Mapping[str, "tuple[Guess, ...]"]


@dataclass(frozen=True)
class NearQuestion(FamilyQuestion[Near]):
    """A question that words answer, each with its likeness."""

    def document(self, family: Family, found: Near) -> Any:
        return by_member(
            family,
            {
                name: [{"word": one.word, "likeness": one.value} for one in near]
                for name, near in found.items()
            },
        )

    def rows(self, family: Family, found: Near) -> Rows:
        said = {
            name: (", ".join(f"{one.word} {one.value:.2f}" for one in near),) for name, near in found.items()
        }
        return member_rows(family, ("member", "nearest words"), said)


@dataclass(frozen=True)
class NearestWords(NearQuestion):
    """A word. count: words of each member."""

    option: ClassVar[str] = "nearest"
    takes: ClassVar[Mapping[str, Any]] = {"metavar": "WORD", "help": "the words nearest to one"}

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
