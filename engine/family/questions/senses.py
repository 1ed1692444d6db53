"""Does the vector of a word change with its sentence?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.family.questions.question import FamilyQuestion, Option, bert_arguments

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.senses import MemberSenses, SenseSeparation


@dataclass(frozen=True, slots=True)
class SensesAnswer:
    """What the members make of a word. texts: its sentences; groups: which sense each is of. apart: None
    where a member has one vector, or there is one sense. own: of the family's BERT where another answers.
    """

    texts: tuple[str, ...]
    groups: tuple[int, ...]
    senses: Mapping[str, MemberSenses]
    apart: Mapping[str, SenseSeparation | None]
    own: SenseSeparation | None = None


@dataclass(frozen=True)
class WordSenses(FamilyQuestion[SensesAnswer]):
    """A word in sentences, each with the sense that it is of. is_strict: a sentence without it is refused.
    bert: the folder of a BERT that answers in the place of the family's.
    """

    option = Option("senses", "a word in several TEXTs, to see whether its vector changes", metavar="WORD")
    head = ("similarity of its vectors, layer by layer",)

    word: str
    grouped: tuple[tuple[str, int], ...]
    is_strict: bool = False
    bert: Path | None = None

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        grouped = tuple((text, 0) for text in options.texts)
        return cls(options.family, options.senses, grouped, is_strict=True, bert=options.bert)

    def found(self, family: Family) -> SensesAnswer:
        from engine.family.senses import practice_senses, senses, told_apart

        number = family.word(self.word)
        kept = [one for one in self.grouped if self.is_strict or number in family.words(one[0])]
        texts, groups = tuple(text for text, _ in kept), tuple(group for _, group in kept)
        found = senses(family, self.word, texts)
        own = told_apart(found["bert"], groups) if self.bert is not None and "bert" in found else None
        if self.bert is not None and "bert" in found:
            found["bert"] = practice_senses(family.other(family.open_model(self.bert)), self.word, texts)
        return SensesAnswer(
            texts, groups, found, {name: told_apart(one, groups) for name, one in found.items()}, own
        )

    def documents(self, found: SensesAnswer) -> Mapping[str, Any]:
        return {
            name: {"likeness": list(one.likeness), "points": one.points.tolist()}
            for name, one in found.senses.items()
        }

    def said(self, found: SensesAnswer) -> Mapping[str, tuple[str, ...]]:
        return {name: (" ".join(f"{x:.2f}" for x in one.likeness),) for name, one in found.senses.items()}

    def arguments(self) -> list[str]:
        return ["--senses", self.word, *(text for text, _ in self.grouped), *bert_arguments(self.bert)]
