"""Results: how large each member is, what it read, and what it reached on the text kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import words
from app.pages.family.kinds.kind import FamilyAnswer, FamilyKind, GivenQuestion, bold_note
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore
from app.words import translate
from engine.family.card import CardLine, lines
from engine.family.members import About
from engine.family.questions.results import Results

Report = Mapping[str, Any]


class ResultsKind(FamilyKind[Report]):
    """What a family's training told of it."""

    key = "results"
    has_words = False
    has_curves = True

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Results"), translate("family", "Results")

    def question(self, given: GivenQuestion) -> Results:
        return Results(given.folder)

    def lines(self, answer: FamilyAnswer[Report]) -> list[CardLine]:
        return lines(answer.report)

    def column(self, answer: FamilyAnswer[Report], about: About, head: Mapping[str, Any]) -> MemberColumn:
        one = answer.report["reached"][about.name]
        facts = (
            words.number(one["weights"]),
            words.number(one["words_read"]),
            translate("family", "{number} s").format(number=words.number(round(one["seconds"]))),
        )
        return MemberColumn(**{**head, "scores": (*map(MemberScore, facts), *head["scores"])})

    def labels(self, answer: FamilyAnswer[Report]) -> FamilyLabels:
        facts = (
            (translate("family", "Weights"), ""),
            (translate("family", "Words read"), ""),
            (translate("family", "Time"), ""),
        )
        return FamilyLabels(scores=(*facts, *self.said(answer)), note=bold_note())
