"""Does the vector of a word change with its sentence?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from engine.family.questions.question import FamilyQuestion, Option

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.senses import MemberSenses, SenseSeparation


@dataclass(frozen=True, slots=True)
class SensesAnswer:
    """What the members make of a word. texts: its sentences; groups: which sense each is of. apart: None
    where a member has one vector, or there is one sense.
    """

    texts: tuple[str, ...]
    groups: tuple[int, ...]
    senses: Mapping[str, MemberSenses]
    apart: Mapping[str, SenseSeparation | None]


@dataclass(frozen=True)
class WordSenses(FamilyQuestion[SensesAnswer]):
    """A word in sentences, each with the sense that it is of. is_strict: a sentence without it is refused."""

    option = Option("senses", "a word in several TEXTs, to see whether its vector changes", metavar="WORD")
    head = ("similarity of its vectors, layer by layer",)

    word: str
    grouped: tuple[tuple[str, int], ...]
    is_strict: bool = False

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, options.senses, tuple((text, 0) for text in options.texts), is_strict=True)

    def found(self, family: Family) -> SensesAnswer:
        from engine.family.senses import senses, told_apart

        number = family.word(self.word)
        kept = [one for one in self.grouped if self.is_strict or number in family.words(one[0])]
        texts, groups = tuple(text for text, _ in kept), tuple(group for _, group in kept)
        found = senses(family, self.word, texts)
        return SensesAnswer(
            texts, groups, found, {name: told_apart(one, groups) for name, one in found.items()}
        )

    def documents(self, found: SensesAnswer) -> Mapping[str, Any]:
        return {
            name: {"likeness": list(one.likeness), "points": one.points.tolist()}
            for name, one in found.senses.items()
        }

    def said(self, found: SensesAnswer) -> Mapping[str, tuple[str, ...]]:
        return {name: (" ".join(f"{x:.2f}" for x in one.likeness),) for name, one in found.senses.items()}

    def arguments(self) -> list[str]:
        return ["--senses", self.word, *(text for text, _ in self.grouped)]
