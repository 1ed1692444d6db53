"""Analogies: what is to C as B is to A."""

from __future__ import annotations

from app.pages.family.kinds.kind import GivenQuestion, TypedQuestion
from app.pages.family.kinds.nearest import NearKind
from app.stories.story import FamilyTexts
from app.words import translate
from engine.family.questions.analogy import Analogy


class AnalogyKind(NearKind):
    """Three words."""

    key = "analogy"

    def begun(self, texts: FamilyTexts) -> TypedQuestion:
        return TypedQuestion(texts.analogy)

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Analogies"), translate("family", "Analogies")

    @property
    def label(self) -> str:
        return translate("family", "A is to B as C is to")

    @property
    def says(self) -> str:
        return translate("family", "Then")

    def question(self, given: GivenQuestion) -> Analogy:
        return Analogy(given.folder, tuple(given.typed.text.split()))
