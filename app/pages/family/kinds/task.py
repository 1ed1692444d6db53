"""Same task: the open table, learned by every member with its vectors frozen, and fine-tuned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import words
from app.pages.family.kinds.kind import FamilyAnswer, FamilyKind, GivenQuestion, Offer, bold_note
from app.pages.family.scores import cell, shares_line
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore
from app.words import translate
from engine.family.members import COUNTS, PLACE_VECTORS, About
from engine.family.questions.task import SameTask, SameTaskScores

PENDING = "…"


class TaskKind(FamilyKind[SameTaskScores]):
    """The open table."""

    key = "task"
    has_words = False
    has_command = False
    is_slow = True
    keeps_answer = True
    tells_progress = True

    @property
    def tab(self) -> tuple[str, str]:
        return translate("family", "Same task"), translate("family", "Task")

    def can_be_kept(self, files: object) -> bool:
        return False

    def question(self, given: GivenQuestion) -> SameTask:
        return SameTask(given.folder, given.table, given.roles, given.is_tuned)

    def lacks(self, question: SameTask) -> str | None:
        if question.table is not None and question.roles is not None and question.roles.label:
            return None
        return translate("family", "Open a table with texts and labels on the Data page first.")

    def offer(self, answer: FamilyAnswer[SameTaskScores] | None, table: str) -> Offer:
        if not table:
            return Offer()
        said = translate(
            "family", "Each member is trained on four fifths of {name} and is asked about the rest."
        ).format(name=table)
        if answer is None:  # it was stopped before there was an answer
            return Offer(said, translate("family", "Ask"))
        is_tuned = answer.value.fine_tuned is not None
        return Offer(said, "" if is_tuned else translate("family", "Fine-tune all as well"))

    def column(
        self, answer: FamilyAnswer[SameTaskScores], about: About, head: Mapping[str, Any]
    ) -> MemberColumn:
        found, name = answer.value, about.name
        cells = [cell(shares_line(found.frozen), name)]
        if found.fine_tuned is not None:
            done = cell(shares_line(found.fine_tuned), name)
            cells.append(done if name in found.fine_tuned else MemberScore(PENDING))
        if found.naive_bayes:
            cells.append(cell(shares_line(found.naive_bayes), name))
        return MemberColumn(**{**head, "scores": tuple(cells)}, text=_how(about))

    def labels(self, answer: FamilyAnswer[SameTaskScores]) -> FamilyLabels:
        found = answer.value
        count = words.number(next(iter(found.frozen.values())).count)
        rows = [
            (translate("family", "Frozen vectors"), translate("family", "% of {count}").format(count=count))
        ]
        if found.fine_tuned is not None:
            rows.append((translate("family", "All fine-tuned"), "%"))
        if found.naive_bayes:
            rows.append((translate("family", "Naive Bayes over pairs of words"), "%"))
        return FamilyLabels(says=(translate("family", "How"), ""), scores=tuple(rows), note=bold_note())


def _how(about: About) -> str:
    """Return how a member answers a labelled text."""
    if about.age == COUNTS:
        return translate("family", "Has no vectors. Naive Bayes: pairs of words counted for each label.")
    if about.age == PLACE_VECTORS:
        return translate("family", "Frozen mean of its position vectors, then logistic regression.")
    return translate("family", "Frozen mean of its word vectors, then logistic regression.")
