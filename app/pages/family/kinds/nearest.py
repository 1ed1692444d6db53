"""Nearest words: those nearest to a word, by the vectors of each member."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.pages.family.kinds.kind import (
    FamilyAnswer,
    FamilyKind,
    GivenQuestion,
    TypedQuestion,
    bars,
    no_vectors,
)
from app.plots.member_column import FamilyLabels, MemberColumn, WordEntry
from app.stories.story import FamilyTexts
from app.words import translate
from engine.family.members import COUNTS, About
from engine.family.questions.nearest import Near, NearestWords


class NearKind(FamilyKind[Near]):
    """A kind that words answer, each with its likeness."""

    @property
    def says(self) -> str:
        """What stands before the words."""
        raise NotImplementedError

    def column(self, answer: FamilyAnswer[Near], about: About, head: Mapping[str, Any]) -> MemberColumn:
        entries = tuple(WordEntry(one.word, one.value) for one in answer.value.get(about.name, ()))
        return MemberColumn(
            **head, entries=entries, is_likeness=True, cannot=no_vectors() if about.age == COUNTS else ""
        )

    def labels(self, answer: FamilyAnswer[Near]) -> FamilyLabels:
        legend = ("", translate("family", "similarity"))
        return FamilyLabels(says=(self.says, bars()), legend=legend)


class NearestKind(NearKind):
    """A word."""

    key = "nearest"

    def begun(self, texts: FamilyTexts) -> TypedQuestion:
        return TypedQuestion(texts.near)

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Nearest words"), translate("family", "Nearest")

    @property
    def label(self) -> str:
        return translate("family", "Word")

    @property
    def says(self) -> str:
        return translate("family", "Nearest")

    def question(self, given: GivenQuestion) -> NearestWords:
        return NearestWords(given.folder, given.typed.text)
