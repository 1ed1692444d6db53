"""Does the vector of a word change with its sentence?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.events import AnswerSoFar, Steps
from engine.family.questions.question import (
    FamilyQuestion,
    Option,
    Rows,
    bert_arguments,
    other_arguments,
)

if TYPE_CHECKING:
    from engine.family.ask import Family
    from engine.family.other import ModelSize
    from engine.family.other_senses import OtherSenses
    from engine.family.senses import MemberSenses, SenseSeparation


@dataclass(frozen=True, slots=True)
class SensesAnswer:
    """What the members make of a word. texts: its sentences; groups: which sense each is of. apart: None
    where a member has one vector, or there is one sense. own: of the family's BERT where another answers.
    others: models next to the members; sizes: of the members, where there are others.
    """

    texts: tuple[str, ...]
    groups: tuple[int, ...]
    senses: Mapping[str, MemberSenses]
    apart: Mapping[str, SenseSeparation | None]
    own: SenseSeparation | None = None
    others: tuple[OtherSenses, ...] = ()
    sizes: Mapping[str, ModelSize] = field(default_factory=dict)


@dataclass(frozen=True)
class WordSenses(FamilyQuestion[SensesAnswer]):
    """A word in sentences, each with the sense that it is of. is_strict: a sentence without it is refused.
    bert: the folder of a BERT that answers in the place of the family's. others: folders of models next to
    the members.
    """

    takes_others = True
    option = Option("senses", "a word in several TEXTs, to see whether its vector changes", metavar="WORD")
    head = ("similarity of its vectors, layer by layer",)

    word: str
    grouped: tuple[tuple[str, int], ...]
    is_strict: bool = False
    bert: Path | None = None
    others: tuple[Path, ...] = ()

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        grouped = tuple((text, 0) for text in options.texts)
        others = tuple(options.beside)
        return cls(options.family, options.senses, grouped, is_strict=True, bert=options.bert, others=others)

    def answer(self, family: Family) -> Steps[SensesAnswer]:
        from engine.family.other_guesses import sizes
        from engine.family.other_senses import OtherSenses, ask_senses

        found = self.found(family)
        if not self.others:
            return found
        others = [OtherSenses(folder) for folder in self.others]
        found = replace(found, others=tuple(others), sizes=sizes(family, self.bert))
        for place, folder in enumerate(self.others):
            yield AnswerSoFar(value=found)
            others[place] = ask_senses(family, folder, self.word, found.texts, found.groups)
            found = replace(found, others=tuple(others))
        return found

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

    def document(self, family: Family, found: SensesAnswer) -> Any:
        from engine.family.other_senses import document_of

        document = super().document(family, found)
        return document | ({"others": list(map(document_of, found.others))} if self.others else {})

    def rows(self, family: Family, found: SensesAnswer) -> Rows:
        from engine.family.other_senses import row_of

        return [*super().rows(family, found), *map(row_of, found.others)]

    def arguments(self) -> list[str]:
        texts = (text for text, _ in self.grouped)
        return [
            *("--senses", self.word, *texts),
            *bert_arguments(self.bert),
            *other_arguments(self.others),
        ]
