"""The answers to a whole file on the Predict page: beside its rows, counted, and scored where that can be."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app import words
from app.look.labels import label
from app.look.layout import column, row
from app.look.segmented_buttons import FoldingButtons
from app.look.table_model import TableModel
from app.look.table_view import TableView
from app.look.widgets import Advice, Card, set_role
from app.pages.predict.requests import FilePreview
from app.pages.tasks.classification.scores import ScoresCard
from app.pages.tasks.known import CLASSIFICATION
from app.pages.tasks.scores import ROOM, TaskScores
from app.pages.tasks.views import RowViews
from app.plots.bars import BarsPlot
from app.plots.buttons import save_icon, yield_to_layout
from engine.errors import Sentence
from engine.events import Evaluated, Event, Noted, Predicted, Progress
from engine.text.table import BadLine
from engine.train.learned import ON_SEEN

MOST_REPORTED = 200  # unusable rows that are listed one by one
SUMMARY_WIDTH = 240
COLUMN_WIDTH, MIN_COLUMN_WIDTH, ANSWER_WIDTH, MIN_TEXT_WIDTH = 132, 48, 92, 150
LOOKED_AT = 30  # rows by which a column is made as wide as it needs to be
NARROW, NARROW_SUMMARY = 560, 168  # px of the card, below which the summary gives way to the answers


class AnswersCard(Card):
    """The file's rows with their answers, how often each label was given, and the unusable rows.

    Where the file holds the right labels, a second view has the scores. The answers say which model gave
    them.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Answers"))
        self.prediction, self.probability = self.tr("prediction"), self.tr("probability")
        self.model = TableModel(parent=self)
        self.view = TableView()
        self.view.setObjectName("answers")
        self.view.setModel(self.model)
        self.view.horizontalHeader().setResizeContentsPrecision(LOOKED_AT)
        self.bars = BarsPlot(self.tr("Predicted labels"))
        self.bars.setObjectName("answer_counts")
        yield_to_layout(self.bars, 70)
        self.bars.set_empty_text(self.tr("How often each label is predicted appears here."))
        self.reported = Advice()
        self.reported.setObjectName("reported_rows")
        self._num_answered = 0
        self.views: RowViews = CLASSIFICATION
        self._next_views: RowViews = CLASSIFICATION  # of the model that is chosen
        self._notes: list[tuple[str, Sentence]] = []  # on what is being answered
        self._num_shown = 0  # of these
        self._reported: Sequence[BadLine] = ()
        self._texts: list[int] = []  # the columns that are read
        self._has_answers = False
        self._answers: list[str] = []  # the columns that are added
        self.view.viewport().installEventFilter(self)
        self._side = QWidget()
        self._side.setFixedWidth(SUMMARY_WIDTH)
        self._bars_title = label(self.tr("Predicted labels"), "card-title")
        self._reported_title = label("", "card-title")
        column(self._bars_title, (self.bars, 2), self._reported_title, (self.reported, 1), parent=self._side)
        rows = QWidget()
        row((self.view, 1), self._side, gap=16, parent=rows)
        self._scores: dict[str, TaskScores] = {}  # by task, made when first needed
        self._views = QStackedWidget()
        self._views.addWidget(rows)
        self.other_model = label("", "look", wrap=True)  # whole in whatever width, unlike the hint above
        self.other_model.setObjectName("answers_of_another_model")
        self.other_model.hide()
        self.warning = label("", "look", wrap=True)  # what is said of scores stands over them, too
        self.warning.setObjectName("answers_warning")
        self.warning.hide()
        self.add(self.other_model)
        self.add(self.warning)
        self.add(self._views, 1)
        self.view_choice = FoldingButtons(
            "answers_view",
            self.tr("View"),
            (
                ("rows", self.tr("Rows"), self.tr("Every row with its answer")),
                (
                    "confusion",
                    self.tr("Confusion"),
                    self.tr("Confusion matrix: true labels against predicted ones"),
                ),
                ("labels", self.tr("By label"), self.tr("Precision, recall and F1 of each label")),
            ),
            room=ROOM,
        )
        self.own_choice = FoldingButtons(  # of a task whose scores card has its own views
            "own_answers_view",
            self.tr("View"),
            (
                ("rows", self.tr("Rows"), self.tr("Every row with its answer")),
                ("scores", self.tr("Scores"), self.tr("How good the answers are")),
            ),
            room=ROOM,
        )
        for choice in (self.view_choice, self.own_choice):
            choice.chosen.connect(self._show_view)
        self._save = save_icon(self.bars)
        self.add_corner(self.view_choice)
        self.add_corner(self.own_choice)
        self.add_corner(self._save)
        self._answered_by = ""
        self._evaluated: Evaluated | None = None
        self._show_scores(None)

    @property
    def scores(self) -> TaskScores:
        """The card of the model's task."""
        if self.views.name not in self._scores:
            made = self._scores[self.views.name] = self.views.scores()
            made.be_part()
            self._views.addWidget(made)
        return self._scores[self.views.name]

    def set_views(self, views: RowViews) -> None:
        """Know what the model's answers are like."""
        self._next_views = views
        if views is not self.views and not self._has_answers:
            self.views = views
            self._show_scores(None)

    def show_preview(self, shown: FilePreview) -> None:
        """Show a file's rows, without answers yet."""
        self._num_answered = 0
        self.bars.clear()
        self.set_title(shown.table.path.name)
        self.other_model.hide()
        one, many = self.tr("1 row, no answer yet"), self.tr("{count} rows, no answers yet")
        self.set_hint(words.counted(shown.table.num_rows, one, many))
        self.model.clear_columns()
        self._has_answers = False
        self._answered_by = ""
        self._show_scores(None)
        self.model.set_table(shown.table)
        self.model.set_roles(shown.roles, self._next_views.roles)
        self.warn(())
        self._reported = shown.reported
        self.show_reported(shown.reported, [("note", said) for said in shown.table.notes])
        self._side.setVisible(
            bool(shown.reported or shown.table.notes)
        )  # until there are answers, the rows have its room
        self._bring_texts_forward(shown)

    def warn(self, notes: Sequence[tuple[str, Sentence]]) -> None:
        """Say what the scores are worth, whatever view of them is open. Args: notes: each with its level."""
        set_role(self.warning, "wrong" if any(level == "wrong" for level, _ in notes) else "look")
        self.warning.setText(words.sentences(words.say(note) for _, note in notes))
        self.warning.setVisible(bool(notes))

    def mark_model(self, chosen: str) -> None:
        """Say whose answers these are where another model is chosen now."""
        self.other_model.hide()
        if not self._has_answers or not self._answered_by:
            return
        one, many = self.tr("1 row answered by {model}"), self.tr("{count} rows answered by {model}")
        total, model = self._num_answered, words.shorten(self._answered_by, 60)
        said = words.counted(total, one, many).format(model=model)
        if chosen != self._answered_by:
            other = self.tr("These are the answers of {model}, not of the model on the left.")
            self.other_model.setText(other.format(model=model))
            self.other_model.show()
        if self._evaluated is not None:
            counted, found = self._evaluated.confusion, self._evaluated.details.get("num_examples", 0)
            rows = int(found if counted is None else counted.sum())
            scored = self.tr("{rows} scored").format(rows=words.number(rows))
            said = f"{said} · {scored}"
        self.set_hint(said)

    def show_scores(self, event: Evaluated) -> None:
        """Show how good the answers are."""
        self._show_scores(event)
        self.mark_model(self._answered_by)

    def _show_scores(self, event: Evaluated | None) -> None:
        self._evaluated = event
        is_own = not isinstance(self.scores, ScoresCard)
        self.view_choice.setVisible(event is not None and not is_own)
        self.own_choice.setVisible(event is not None and is_own)
        self.view_choice.set_current("rows" if event is None else "confusion")
        self.own_choice.set_current("rows" if event is None else "scores")
        self.scores.set_evaluations({} if event is None else {"test": event}, {})
        self._show_view()

    def _show_view(self) -> None:
        card = self.scores
        choice = self.view_choice if isinstance(card, ScoresCard) else self.own_choice
        is_scores = choice.current != "rows"
        if is_scores and isinstance(card, ScoresCard):
            card.open_view(choice.current)
        self._views.setCurrentIndex(self._views.indexOf(card) if is_scores else 0)
        self._save.setVisible(not is_scores)

    def start(self, model: str = "") -> None:
        """Make room for answers. Args: model: which one gives them."""
        views = self._next_views
        self._notes, self._num_shown = [], 0
        self._answered_by, self.views = model, views
        self.warn(())
        self._bars_title.setText(views.counts_title())
        self.bars.set_title(views.counts_title())
        self._show_scores(None)
        self.other_model.hide()
        self._num_answered = 0
        self.bars.clear()
        self.model.clear_columns()
        self._answers = [self.prediction, *([self.probability] if views.has_probability else [])]
        for name in self._answers:
            self.model.add_column(name)
        self._has_answers = True
        self._side.show()
        self._bring_forward()

    def hear(self, event: Event) -> None:
        """Hear an event of the file that is being answered."""
        match event:
            case Progress():
                self._show_notes()
            case Predicted():
                self.put(event)
            case Noted():
                self._notes.append((event.level, event.sentence))
            case Evaluated():
                self.show_scores(event)

    def end(self) -> None:
        """Be told that nothing more comes."""
        self._show_notes()

    def _show_notes(self) -> None:
        if len(self._notes) > self._num_shown:
            self._num_shown = len(self._notes)
            listed = {str(bad.sentence) for bad in self._reported}
            notes = [(level, said) for level, said in self._notes if str(said) not in listed]
            self.show_reported(self._reported, notes)
            self.warn([(level, said) for level, said in notes if said.template in ON_SEEN])

    def put(self, event: Predicted) -> None:
        """Put answers beside their rows."""
        self.model.answer(self.prediction, event.rows, self.views.predictions(event))
        if self.views.has_probability:
            self.model.answer(self.probability, event.rows, self.views.probabilities(event))
        self._num_answered += len(event.rows)
        bars = self.views.answer_counts(event)
        self.bars.set_bars(bars, shares=[count / max(1, len(event.rows)) for _name, count in bars])
        one, many = self.tr("1 row answered"), self.tr("{count} rows answered")
        self.set_hint(words.counted(self._num_answered, one, many))
        self.mark_model(self._answered_by)

    def show_reported(self, reported: Sequence[BadLine], notes: Sequence[tuple[str, Sentence]] = ()) -> None:
        """List the rows that cannot be used, each with its line and reason."""
        order = {"wrong": 0, "look": 1}
        told = sorted(notes, key=lambda note: order.get(note[0], 2))
        items = [(level, words.say(sentence)) for level, sentence in told]
        for bad in reported[:MOST_REPORTED]:
            items.append(("look", words.say(bad.sentence)))
        if len(reported) > MOST_REPORTED:
            more = words.number(len(reported) - MOST_REPORTED)
            items.append(("note", self.tr("and {count} more").format(count=more)))
        self.reported.set_items(items)
        title = self.tr("Rows without an answer: {count}").format(count=words.number(len(reported)))
        if notes:
            title = self.tr("What to know")
        self._reported_title.setText(title)
        for widget in (self.reported, self._reported_title):
            widget.setVisible(bool(items))

    def _bring_texts_forward(self, shown: FilePreview) -> None:
        """Show what is read first."""
        header, columns = self.view.horizontalHeader(), shown.table.columns
        roles = shown.roles
        self._texts = [columns.index(name) for name in roles.read if name in columns]
        self._fit_columns()
        for place, number in enumerate(self._texts):
            header.moveSection(header.visualIndex(number), place)

    def _fit_columns(self) -> None:
        """Show what is read as wide as there is room."""
        last, header = self.model.columnCount(), self.view.horizontalHeader()
        answers = range(last - len(self._answers), last) if self._has_answers else range(0)
        widths = dict.fromkeys(answers, ANSWER_WIDTH)
        for number in set(range(last)) - set(self._texts) - set(answers):
            needed = max(header.sectionSizeHint(number), self.view.sizeHintForColumn(number))
            widths[number] = min(max(needed, MIN_COLUMN_WIDTH), COLUMN_WIDTH)
        room = (self.view.viewport().width() - sum(widths.values())) // max(1, len(self._texts))
        for number in range(last):
            self.view.setColumnWidth(number, widths.get(number, max(MIN_TEXT_WIDTH, room)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._side.setFixedWidth(SUMMARY_WIDTH if self.width() >= NARROW else NARROW_SUMMARY)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QResizeEvent) and event.size().width() != event.oldSize().width():
            self._fit_columns()
        return super().eventFilter(watched, event)

    def _bring_forward(self) -> None:
        """Show the answers before the texts, where they are in sight however long the texts are."""
        header, count = self.view.horizontalHeader(), self.model.columnCount()
        for place, number in enumerate(range(count - len(self._answers), count)):
            header.moveSection(header.visualIndex(number), place)
            self.view.setColumnWidth(number, ANSWER_WIDTH)
        self.view.scrollToTop()
        self.view.horizontalScrollBar().setValue(0)
