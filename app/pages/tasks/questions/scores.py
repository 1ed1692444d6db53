"""How good answers are: exact match and F1, by question word, and the surest wrong answers.

All of it is in an evaluation's details, so it is the same live, and from the files of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, row
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import button, set_role
from app.pages.tasks.questions.listing import QuestionList
from app.pages.tasks.views import ROOM, TaskScores
from app.plots.answer_words import AnswerWordsPlot
from app.plots.buttons import save_icon, yield_to_layout
from app.work.text_filter import MARK, Filter
from engine.events import Evaluated
from engine.train.scored import ANSWER, EXACT, NO, NONE, SOME, WORD
from engine.train.tasks.questions.details import Mistake, count_of, mistakes_in, scores_by_word

LEAST_PICTURE = 90  # px
_MARKS = {"inexact": (EXACT, NO), "answerable": (ANSWER, SOME), "unanswerable": (ANSWER, NONE)}


class QuestionScores(TaskScores):
    """The scores of one evaluation, or of the two of a run: on validation and on test questions."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("question_scores")
        self._evaluations: dict[str, Evaluated] = {}
        self._moments: dict[str, str] = {}
        self._mistakes: list[Mistake] = []
        self.view_choice = FoldingButtons(
            "question_scores_view",
            self.tr("View"),
            (
                ("words", self.tr("By word"), self.tr("F1 and exact match of who, when, how many")),
                ("mistakes", self.tr("Wrong answers"), self.tr("The surest wrong answers in their passages")),
            ),
            room=ROOM,
        )
        self.split_choice = FoldingButtons(
            "question_scores_split",
            self.tr("Questions"),
            (
                ("validation", self.tr("Validation"), self.tr("Questions that chose the best checkpoint")),
                ("test", self.tr("Test"), self.tr("Questions that were looked at once, at the end")),
            ),
            room=ROOM,
        )
        self.figures = label("", wrap=True, name="question_figures")
        self.rule = label("", "muted", wrap=True, name="question_rule")
        self.links = {
            key: button("", "link", name=f"question_{key}")
            for key in ("inexact", "answerable", "unanswerable")
        }
        self._links = QWidget()
        set_role(self._links, "clear")
        row(*self.links.values(), STRETCH, gap=16, parent=self._links)
        self._is_door = False
        self.words = AnswerWordsPlot(self.tr("Scores by question word"))
        self.words.setObjectName("answer_words")
        self.words.set_empty_text(
            self.tr("After each evaluation: how well who, when and how many are answered.")
        )
        yield_to_layout(self.words, LEAST_PICTURE)
        self.picture = self.words
        self.mistakes = QuestionList("mistakes", self.tr("Wrong answers"), most_lines=5)
        self._views = QStackedWidget()
        self._views.addWidget(self.words)
        self._views.addWidget(self.mistakes)
        self._save = save_icon(self.words)
        for widget in (self.view_choice, self.split_choice, self._save):
            self.add_corner(widget)
        for part in (self.figures, self._links, self.rule):
            self.add(part)
        self.add(self._views, 1)
        self.view_choice.chosen.connect(self._show_view)
        self.split_choice.chosen.connect(self._show)
        self.mistakes.row_chosen.connect(self._show_mistake)
        self.words.chosen.connect(lambda word: self._want(WORD, word))
        for key, mark in _MARKS.items():
            self.links[key].clicked.connect(partial(self._want, *mark))
        self.clear()

    def set_evaluations(self, evaluations: Mapping[str, Evaluated], moments: Mapping[str, str]) -> None:
        had_test = "test" in self._evaluations
        self._evaluations, self._moments = dict(evaluations), dict(moments)
        if "test" in evaluations and (not had_test or "validation" not in evaluations):
            self.split_choice.set_current("test")
        elif "test" not in evaluations:
            self.split_choice.set_current("validation")
        self.split_choice.setVisible(len(evaluations) > 1)
        self._show()

    def set_door(self, is_door: bool) -> None:
        self._is_door = self.words.is_door = is_door
        self._show_links()

    def _want(self, kind: str, value: str, _checked: bool = False) -> None:
        if self.current is not None:
            self.texts_wanted.emit(self.current.split, Filter(MARK, (kind, value)))

    def _show_links(self) -> None:
        event = self.current
        self._links.setVisible(self._is_door and event is not None)
        if event is None:
            return
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

    @property
    def current(self) -> Evaluated | None:
        """The evaluation that is shown."""
        return self._evaluations.get(self.split_choice.current)

    @Slot()
    def _show(self) -> None:
        event = self.current
        self.set_title(self.tr("Scores"))
        self.set_hint(self._moments.get(self.split_choice.current, "") if event is not None else "")
        self.view_choice.setVisible(event is not None)
        self.figures.setVisible(event is not None)
        self.rule.setVisible(event is not None)
        self.words.set_scores({} if event is None else scores_by_word(event.details))
        if event is not None:
            self.figures.setText(self._figures_of(event))
            self.rule.setText(self._rule_of(event))
        self._show_links()
        self._mistakes = [] if event is None else mistakes_in(event.details)
        listed = [self._cells(one) for one in self._mistakes]
        names = (self.tr("Question"), self.tr("Answered"), self.tr("Right"), self.tr("Sure"))
        self.mistakes.set_rows(names, len(listed), partial(_cell_of, listed), wide=(0, 1, 2))
        if listed:
            self.mistakes.choose(0)
        self._show_view()

    @Slot()
    def _show_view(self) -> None:
        is_words = self.view_choice.current == "words" or self.current is None
        self._views.setCurrentIndex(0 if is_words else 1)
        self._save.setVisible(is_words)

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
        return self.tr("By the rule of {rule}'s own script.").format(
            rule=words.shorten(str(event.details.get("rule", "")), 40)
        )

    def _cells(self, one: Mistake) -> tuple[str, ...]:
        none = self.tr("(no answer)")
        right = " / ".join(dict.fromkeys(text for text, *_ in one.right))
        return one.question, one.answer or none, right or none, words.share(one.probability)

    @Slot(int)
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
