"""Next sentence: whether a sentence follows another, which only BERT has learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.pages.family.kinds.kind import (
    SECOND,
    FamilyAnswer,
    FamilyKind,
    GivenQuestion,
    TypedQuestion,
    bars,
)
from app.plots.member_column import FamilyLabels, MemberColumn, WordEntry
from app.words import translate
from engine.family.card import NEXT_SENTENCE, CardLine, lines
from engine.family.members import About
from engine.family.questions.follows import FollowsSentence, Probabilities


class FollowsKind(FamilyKind[Probabilities]):
    """Two sentences."""

    key = "follows"
    fields = (SECOND,)
    first = (
        TypedQuestion("He was born in London.", second="He moved to the city of New York in 1920."),
        TypedQuestion("第一条为了保护环境，制定本法。", second="第二条本法适用于中华人民共和国领域。"),
    )

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Next sentence"), translate("family", "Next sentence")

    @property
    def label(self) -> str:
        return translate("family", "First")

    def translated(self, typed: TypedQuestion, was_chinese: bool) -> TypedQuestion:
        """Return the same in the other language, each sentence where nobody has changed it."""
        before, now = self.begun(was_chinese), self.begun(not was_chinese)
        if typed.second == before.second:
            typed = replace(typed, second=now.second)
        return replace(typed, question=now.question) if typed.question == before.question else typed

    def question(self, given: GivenQuestion) -> FollowsSentence:
        return FollowsSentence(given.folder, given.typed.text, given.typed.second.strip())

    def caption(self, typed: TypedQuestion) -> tuple[str, str]:
        return typed.text, typed.second.strip()

    def lines(self, answer: FamilyAnswer[Probabilities]) -> list[CardLine]:
        return [line for line in lines(answer.report) if line.name == NEXT_SENTENCE]

    def column(
        self, answer: FamilyAnswer[Probabilities], about: About, head: Mapping[str, Any]
    ) -> MemberColumn:
        p = answer.value.get(about.name)
        if p is None:
            return MemberColumn(
                **head, cannot=translate("family", "Never learned which sentence follows another.")
            )
        does, does_not = translate("family", "follows"), translate("family", "does not")
        return MemberColumn(**head, entries=(WordEntry(does, p), WordEntry(does_not, 1.0 - p)))

    def labels(self, answer: FamilyAnswer[Probabilities]) -> FamilyLabels:
        says = (translate("family", "Says"), bars())
        return FamilyLabels(says=says, scores=self.said(answer))
