"""Scores: what each member reached on the held-out text, how large it is, and what it read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import words
from app.pages.family.kinds.kind import SCORES, FamilyAnswer, FamilyKind, GivenQuestion, bold_note
from app.pages.family.scores import cell
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore
from app.plots.member_scores import ReachedRow
from app.words import translate
from engine.family.card import PERCENT, CardLine, lines
from engine.family.members import ABOUT, About
from engine.family.questions.results import Results

Report = Mapping[str, Any]


class ResultsKind(FamilyKind[Report]):
    """What a family's training told of it."""

    key = "results"
    has_words = False
    has_curves = True
    figure = SCORES

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Scores"), translate("family", "Scores")

    def question(self, given: GivenQuestion) -> Results:
        return Results(given.folder)

    def lines(self, answer: FamilyAnswer[Report]) -> list[CardLine]:
        return lines(answer.report)

    def column(self, answer: FamilyAnswer[Report], about: About, head: Mapping[str, Any]) -> MemberColumn:
        facts = _facts(answer.report, about.name)
        return MemberColumn(**{**head, "scores": (*map(MemberScore, facts), *head["scores"])})

    def reached_rows(self, answer: FamilyAnswer[Report], line: CardLine) -> tuple[ReachedRow, ...]:
        """Return a row for each member: its score in one question, and what it took to learn."""
        return tuple(_reached_row(answer, line, ABOUT[name]) for name in answer.names)

    def labels(self, answer: FamilyAnswer[Report]) -> FamilyLabels:
        facts = ((head, "") for head in fact_heads())
        return FamilyLabels(scores=(*facts, *self.said(answer)), note=bold_note())


def fact_heads() -> tuple[str, ...]:
    """Return what stands over what a member took to learn."""
    return translate("family", "Weights"), translate("family", "Words read"), translate("family", "Time")


def in_units(line: CardLine, value: float) -> float:
    """Return a score as it is written: shares in per cent."""
    return 100 * value if line.unit == PERCENT else value


def _facts(report: Report, name: str) -> tuple[str, str, str]:
    one = report["reached"][name]
    seconds = translate("family", "{number} s").format(number=words.number(round(one["seconds"])))
    return words.number(one["weights"]), words.number(one["words_read"]), seconds


def _reached_row(answer: FamilyAnswer[Report], line: CardLine, about: About) -> ReachedRow:
    facts, score = _facts(answer.report, about.name), line.scores.get(about.name)
    if score is None:
        return ReachedRow(about.said, str(about.year), None, facts=facts)
    shown = cell(line, about.name)
    value, low, high = (in_units(line, score[key]) for key in ("value", "low", "high"))
    start = score.get("start")
    return ReachedRow(
        about.said, str(about.year), value, low, high, shown.text, shown.interval, shown.is_best, facts,
        None if start is None else in_units(line, start), _start_words(line, about.name),
    )  # fmt: skip


def _start_words(line: CardLine, name: str) -> str:
    """Return what a member reached before it was trained, in words; "" where that is not known."""
    before = line.before()
    if before is None or name not in before.scores:
        return ""
    said = translate("family", "before training {value}")
    if name in line.unlearned:
        said = translate("family", "before training {value}, no less")
    return said.format(value=cell(before, name).text)
