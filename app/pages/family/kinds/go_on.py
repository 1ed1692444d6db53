"""Go on writing: what those that read from the left write after a beginning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.pages.family.kinds.kind import (
    SEED,
    TEMPERATURE,
    FamilyAnswer,
    FamilyKind,
    GivenQuestion,
    Offer,
    TypedQuestion,
)
from app.plots.member_column import FamilyLabels, MemberColumn
from app.stories.story import FamilyTexts
from app.words import translate
from engine.family.members import About
from engine.family.questions.go_on import GoOn, Written


class GoOnKind(FamilyKind[Written]):
    """The beginning of a text."""

    key = "write"
    draws = True
    fields = (TEMPERATURE, SEED)

    def begun(self, texts: FamilyTexts) -> TypedQuestion:
        return TypedQuestion(texts.beginning)

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Continue a text"), translate("family", "Continue")

    @property
    def label(self) -> str:
        return translate("family", "Beginning")

    def question(self, given: GivenQuestion) -> GoOn:
        typed = given.typed
        return GoOn(given.folder, typed.text, temperature=typed.temperature, seed=typed.seed)

    def offer(self, answer: FamilyAnswer[Written] | None, table: str) -> Offer:
        said = translate(
            "family",
            "Each next word is drawn as often as the member expects it. At temperature 0 it is the most "
            "likely one each time.",
        )
        return Offer(said, translate("family", "Draw again"))

    def column(self, answer: FamilyAnswer[Written], about: About, head: Mapping[str, Any]) -> MemberColumn:
        text = answer.value.get(about.name)
        if text is None:
            return MemberColumn(**head, cannot=translate("family", "Does not write from left to right."))
        return MemberColumn(**head, text=text or translate("family", "(ends the sentence)"))

    def labels(self, answer: FamilyAnswer[Written]) -> FamilyLabels:
        return FamilyLabels(says=(translate("family", "Continues"), ""))
