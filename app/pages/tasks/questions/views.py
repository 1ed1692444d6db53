"""Answering questions in the window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app import words
from app.pages.advice.remark import AdviceLine
from app.pages.tasks.questions.answers import QuestionAnswers
from app.pages.tasks.questions.preview import QuestionPreview
from app.pages.tasks.questions.scores import QuestionScores
from app.pages.tasks.views import FileViews
from app.plots.answer_words import word_name
from engine.events import Evaluated
from engine.train.run.records import count_of
from engine.train.scored import ANSWER, EXACT, NO, NONE, SOME, WORD, YES
from engine.train.tasks.questions.details import NEVER_ANSWERS, threshold_in

if TYPE_CHECKING:
    from app.pages.tasks.views import Summary
    from app.session import Session


class QuestionViews(FileViews):
    """Where in a passage the answer to a question stands."""

    name, main_metric, useless = "questions", "f1", NEVER_ANSWERS
    shares = frozenset({"exact_match"})

    def title(self) -> str:
        return self.tr("Questions")

    def words(self, summary: Summary) -> str:
        return self.tr("Where answers are")

    def metrics(self) -> dict[str, str]:
        return {
            "f1": self.tr("F1 of answers"),
            "exact_match": self.tr("exact match"),
            "has_answer_f1": self.tr("F1 where there is an answer"),
            "has_answer_exact_match": self.tr("exact match where there is an answer"),
            "no_answer_f1": self.tr("F1 where there is none"),
            "no_answer_exact_match": self.tr("exact match where there is none"),
        }

    def remarks(self, event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
        if count_of(event.details, "num_examples") and not count_of(event.details, "answered"):
            text = self.tr("It answers no question. It finds that no passage holds an answer.")
            yield AdviceLine("look", text)
        threshold = threshold_in(event.details)
        if is_over and threshold and threshold["value"]:
            text = self.tr(
                "No answer is given above a difference of {value}. It was chosen on {chosen} "
                "questions, with F1 {f1} on the other {others}. At 0 it would be {zero}."
            )
            said = text.format(
                value=words.decimal(threshold["value"], 2),
                chosen=words.number(threshold["num_chosen"]),
                others=words.number(threshold["num_reported"]),
                f1=words.share(threshold["reported"]),
                zero=words.share(threshold["at_zero"]),
            )
            yield AdviceLine("fine", said)

    def mark_words(self, mark: tuple[str, ...]) -> str:
        kind, value = mark[:2]
        if kind == WORD:
            return word_name(value)
        return {
            (EXACT, YES): self.tr("exactly right"),
            (EXACT, NO): self.tr("not exactly right"),
            (ANSWER, SOME): self.tr("with an answer"),
            (ANSWER, NONE): self.tr("without an answer"),
        }.get((kind, value), value)

    def scores(self) -> QuestionScores:
        return QuestionScores()

    def preview(self, session: Session) -> QuestionPreview:
        return QuestionPreview()

    def answers(self, session: Session) -> QuestionAnswers:
        return QuestionAnswers(session)
