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
from app.stories.story import FamilyTexts
from app.words import translate
from engine.family.card import NEXT_SENTENCE, CardLine, lines
from engine.family.members import About
from engine.family.questions.follows import FollowsSentence, Probabilities


class FollowsKind(FamilyKind[Probabilities]):
    """Two sentences."""

    key = "follows"
    fields = (SECOND,)

    def begun(self, texts: FamilyTexts) -> TypedQuestion:
        return TypedQuestion(texts.follows[0], second=texts.follows[1])

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Next sentence"), translate("family", "Next sentence")

    @property
    def label(self) -> str:
        return translate("family", "First")

    def translated(self, typed: TypedQuestion, before: FamilyTexts, now: FamilyTexts) -> TypedQuestion:
        """Return the same in another language, each sentence where nobody has changed it."""
        (one, two), (first, second) = before.follows, now.follows
        if typed.second == two:
            typed = replace(typed, second=second)
        return replace(typed, question=first) if typed.question == one else typed

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
