"""Same task: the open table, learned by every member with its vectors frozen, and fine-tuned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import words
from app.pages.family.kinds.kind import FamilyAnswer, FamilyKind, GivenQuestion, Offer, bold_note
from app.pages.family.scores import cell, said, shares_line, with_starts
from app.plots.member_column import FamilyLabels, MemberColumn, MemberScore
from app.words import translate
from engine.family.card import CardLine
from engine.family.members import COUNTS, PLACE_VECTORS, About
from engine.family.questions.task import WAYS, SameTask, SameTaskScores
from engine.family.reached import ReachedScore

FROZEN, FINE_TUNED, NAIVE_BAYES = WAYS
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

    @property
    def progress(self) -> str:
        return translate("family", "Training the family on your table: {share}")

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
        name, tuned = about.name, answer.value.fine_tuned
        cells = [
            MemberScore(PENDING)
            if way == FINE_TUNED and tuned is not None and name not in tuned
            else cell(line, name)
            for way, line in _lines(answer.value)
        ]
        return MemberColumn(**{**head, "scores": tuple(cells)}, text=_how(about))

    def labels(self, answer: FamilyAnswer[SameTaskScores]) -> FamilyLabels:
        found = answer.value
        count = words.number(next(iter(found.frozen.values())).count)
        heads = {
            FROZEN: (
                translate("family", "Frozen vectors"), translate("family", "% of {count}").format(count=count)
            ),
            FINE_TUNED: (translate("family", "All fine-tuned"), "%"),
            NAIVE_BAYES: (translate("family", "Naive Bayes over pairs of words"), "%"),
        }  # fmt: skip
        rows = [said(line) if line.is_start else heads[way] for way, line in _lines(found)]
        return FamilyLabels(says=(translate("family", "How"), ""), scores=tuple(rows), note=bold_note())


def _lines(found: SameTaskScores) -> list[tuple[str, CardLine]]:
    """Return the rows of scores, each with the way in which the task was learned."""
    ways: tuple[tuple[str, Mapping[str, ReachedScore | None] | None], ...] = (
        (FROZEN, found.frozen),
        (FINE_TUNED, found.fine_tuned),
        (NAIVE_BAYES, found.naive_bayes or None),
    )
    return [
        (way, line)
        for way, scores in ways
        if scores is not None
        for line in with_starts([shares_line(scores)])
    ]


def _how(about: About) -> str:
    """Return how a member answers a labelled text."""
    if about.age == COUNTS:
        return translate("family", "Has no vectors. Naive Bayes: pairs of words counted for each label.")
    if about.age == PLACE_VECTORS:
        return translate("family", "Frozen mean of its position vectors, then logistic regression.")
    return translate("family", "Frozen mean of its word vectors, then logistic regression.")
