"""How good answers are: exact match and F1, by question word, and the surest wrong answers.

All of it is in an evaluation's details, so it is the same live, and from the files of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label
from app.look.layout import stacked
from app.look.widgets import button, named
from app.pages.tasks.questions.listing import QuestionList
from app.pages.tasks.scores import TaskScores
from app.plots.answer_words import AnswerWordsPlot
from app.work.text_filter import MARK
from engine.events import Evaluated
from engine.train.run.records import count_of
from engine.train.scored import ANSWER, EXACT, NO, NONE, SOME, WORD
from engine.train.tasks.questions.details import Mistake, mistakes_in, scores_by_word

_MARKS = {"inexact": (EXACT, NO), "answerable": (ANSWER, SOME), "unanswerable": (ANSWER, NONE)}


class QuestionScores(TaskScores):
    """The scores of one evaluation, or of the two of a run: on validation and on test questions."""

    name, turns_to_test, least_picture = "question_scores", True, 90

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(self.name)
        self.set_title(self.tr("Scores"))
        self._mistakes: list[Mistake] = []
        self.words = named(AnswerWordsPlot(self.tr("Scores by question word")), "answer_words")
        self.words.set_empty_text(
            self.tr("After each evaluation: how well who, when and how many are answered.")
        )
        self.mistakes = QuestionList("mistakes", self.tr("Wrong answers"), most_lines=5)
        self.add_choices(
            self.words,
            (
                ("words", self.tr("By word"), self.tr("F1 and exact match of who, when, how many")),
                (
                    "mistakes",
                    self.tr("Wrong answers"),
                    self.tr("The most confident wrong answers in their passages"),
                ),
            ),
        )
        self.figures = label("", wrap=True, name="question_figures")
        self.rule = label("", "muted", wrap=True, name="question_rule")
        self.links = {key: button("", "link", name=f"question_{key}") for key in _MARKS}
        self.add_told(self.figures)
        self.add_links(*self.links.values())
        self.add_told(self.rule)
        self._views = stacked(self.words, self.mistakes)
        self.add(self._views, 1)
        self.mistakes.row_chosen.connect(self._show_mistake)
        self.words.word_chosen.connect(partial(self._want, WORD))
        for key, mark in _MARKS.items():
            self.links[key].clicked.connect(partial(self._want, *mark))
        self.clear()

    def split_words(self) -> tuple[str, str, str]:
        return (
            self.tr("Questions"),
            self.tr("Validation questions, also used to pick the checkpoint"),
            self.tr("Test questions, measured once at the end"),
        )

    def set_door(self, is_door: bool) -> None:
        self.words.is_door = is_door
        super().set_door(is_door)

    def _want(self, kind: str, value: str, _checked: bool = False) -> None:
        self.want_texts(MARK, kind, value)

    def show_evaluation(self, shown: Evaluated | None) -> None:
        self.set_hint(self.moment)
        self.words.set_scores({} if shown is None else scores_by_word(shown.details))
        if shown is not None:
            self.figures.setText(self._figures_of(shown))
            self.rule.setText(self._rule_of(shown))
            self._say_links(shown)
        self._mistakes = [] if shown is None else mistakes_in(shown.details)
        listed = [self._cells(one) for one in self._mistakes]
        names = (self.tr("Question"), self.tr("Answered"), self.tr("Right"), self.tr("Confidence"))
        self.mistakes.set_rows(names, len(listed), partial(_cell_of, listed), wide=(0, 1, 2))

    def show_view(self, key: str) -> None:
        is_words = key == "words" or self.current is None
        self._views.setCurrentIndex(0 if is_words else 1)
        self.save_button.setVisible(is_words)

    def _say_links(self, event: Evaluated) -> None:
        has_none = "no_answer_f1" in event.metrics
        said = {
            "inexact": self.tr("not exactly right"),
            "answerable": self.tr("with an answer: F1 {f1}"),
            "unanswerable": self.tr("without an answer: {f1} right"),
        }
        values = {"answerable": "has_answer_f1", "unanswerable": "no_answer_f1"}
        for key, link in self.links.items():
            link.setText(said[key].format(f1=words.share(event.metrics.get(values.get(key, "")))))
            link.setVisible(key == "inexact" or has_none)

    def _figures_of(self, event: Evaluated) -> str:
        text = self.tr("Exact match {exact} · F1 {f1} · {questions}")
        one, many = self.tr("1 question"), self.tr("{count} questions")
        said = text.format(
            exact=words.share(event.metrics.get("exact_match")),
            f1=words.share(event.metrics.get("f1")),
            questions=words.counted(count_of(event.details, "num_examples"), one, many),
        )
        if "no_answer_f1" in event.metrics:
            text = self.tr("F1 where there is an answer {has}, where there is none {none}")
            has, none = event.metrics.get("has_answer_f1"), event.metrics["no_answer_f1"]
            said += " · " + text.format(has=words.share(has), none=words.share(none))
        return said

    def _rule_of(self, event: Evaluated) -> str:
        return self.tr("By the rule of {rule}’s own script.").format(
            rule=words.shorten(str(event.details.get("rule", "")), 40)
        )

    def _cells(self, one: Mistake) -> tuple[str, ...]:
        none = self.tr("(no answer)")
        right = " / ".join(dict.fromkeys(text for text, *_ in one.right))
        return one.question, one.answer or none, right or none, words.share(one.probability)

    def _show_mistake(self, row: int) -> None:
        one = self._mistakes[row]
        self.mistakes.show_passage(
            one.excerpt,
            begin=one.excerpt_start,
            answer=(one.start, one.stop),
            right=[(start, stop) for _, start, stop in one.right],
            candidates=[((start, stop), share) for _, start, stop, share in one.candidates],
        )


def _cell_of(cells: Sequence[Sequence[str]], row: int, column: int) -> str:
    return cells[row][column]
