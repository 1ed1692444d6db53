"""The Data page: opens a table, shows how it was read and what is in it, and says what would mislead a model.

All reading and counting is the session's; this page shows and asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Slot
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QApplication, QMenu, QStackedWidget, QWidget

from app import words
from app.look.banner import Banner
from app.look.files import ask_file
from app.look.inputs import SpinBox
from app.look.labels import tip
from app.look.layout import column, row
from app.look.widgets import GAP, Action, Advice, Card, Page, button
from app.pages.advice.remark import Remark
from app.pages.advice.table import on_table
from app.pages.choose.model_box import FolderQuestion
from app.pages.data.empty import DataEmpty
from app.pages.data.table import TableCard
from app.plots.bars import BarsPlot
from app.plots.histogram import HistogramPlot
from app.session import Session, sample_data_path
from app.work.tables import TableSummary
from engine.errors import UserError, marked

MOST_BARS = 200  # labels drawn; more are said in words
HEAD = 32
WIDE = 1000  # pixels of the page from which nothing is shortened


class DataPage(Page):
    """Everything about the table that is open."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Data"), self.tr("Open a table and see what may mislead a model."))
        self.setParent(parent)
        self.setObjectName("data_page")
        self.session = session
        self._add_actions()
        self.banner = Banner(name="data_banner")
        self.body.addWidget(self.banner)
        self.stack = QStackedWidget()
        self.empty = DataEmpty(session)
        self.empty.open_wanted.connect(self.choose_file)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self._build_work())
        self.body.addWidget(self.stack, 1)
        undo = QShortcut(QKeySequence(QKeySequence.StandardKey.Undo), self)
        undo.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        undo.activated.connect(session.undo_roles)
        session.table_changed.connect(self._show_table)
        session.roles_changed.connect(self._show_state)
        session.summary_changed.connect(self._show_summary)
        session.model_changed.connect(self._show_length)
        session.max_length_changed.connect(self._show_length)
        session.table_problem.connect(self._show_problem)
        self.model_question = FolderQuestion(session, self, name="data_model_dialog")
        self.model_question.chosen.connect(session.set_model)
        self.model_question.refused.connect(self._refuse_model)
        self._show_table()
        if session.table is not None:
            self._show_summary()
        if session.table_refusal is not None:
            self._show_problem(session.table_refusal)

    def _add_actions(self) -> None:
        self.recent_button = button(self.tr("Recent"), name="open_recent")
        self.recent_button.setMenu(QMenu(self))
        self.recent_button.menu().aboutToShow.connect(self._fill_recent)
        self.open_button = button(self.tr("Open…"), name="open_table")
        self.open_button.setToolTip(self.tr("Open a table: CSV, TSV or JSON lines (Ctrl+O)"))
        self.open_button.clicked.connect(self.choose_file)
        self.next_button = button(self.tr("Fine-tune with this"), "primary", name="finetune_with_this")
        self.next_button.clicked.connect(self._go_on)
        for action in (self.recent_button, self.open_button, self.next_button):
            self.header.add_action(action)

    def _build_work(self) -> QWidget:
        work = QWidget()
        self.table_card = TableCard(self.session)
        below = row((self._build_labels(), 5), (self._build_lengths(), 6), gap=GAP)
        left = column((self.table_card, 3), (below, 2), gap=GAP)
        self.advice_card = Card(self.tr("Good to know"))
        self.advice = Advice()
        self.advice.setObjectName("data_advice")
        self.advice_card.add(self.advice, 1)
        self.advice_card.setMinimumWidth(232)
        self.advice_card.setMaximumWidth(300)
        row((left, 5), (self.advice_card, 2), gap=GAP, parent=work)
        return work

    def _build_labels(self) -> Card:
        self.labels_card = Card(self.tr("Labels"))
        self.labels_plot = BarsPlot(self.tr("Labels"))
        self.labels_plot.setObjectName("labels_plot")
        self.labels_card.add(self.labels_plot, 1)
        self.labels_card.title_label.setMinimumHeight(
            HEAD
        )  # in line with the card beside it, which holds a box
        return self.labels_card

    def _build_lengths(self) -> Card:
        self.lengths_card = Card(self.tr("Length in words"))
        self.lengths_plot = HistogramPlot(self.tr("Length in words"))
        self.lengths_plot.setObjectName("lengths_plot")
        self.lengths_card.add(self.lengths_plot, 1)
        self.lengths_card.title_label.setMinimumHeight(HEAD)
        self.max_length_box = SpinBox(minimum=3, maximum=512)
        self.max_length_box.setObjectName("max_length")
        self.max_length_box.setKeyboardTracking(False)
        self.max_length_box.setToolTip(words.tr_engine(words.settings()["max_length"].help))
        self.max_length_box.setAccessibleName(words.label_of("max_length"))
        self.max_length_box.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.max_length_box.setFixedWidth(64)
        self.max_length_box.valueChanged.connect(self.session.set_max_length)
        self.model_button = button(self.tr("choose a model"), "link", name="choose_model")
        self.model_button.setToolTip(
            self.tr("Count in the WordPieces of a model's vocabulary instead of words")
        )
        self.model_button.clicked.connect(self._offer_models)
        self.lengths_card.add_corner(self.model_button)
        self.lengths_card.add_corner(self.max_length_box)
        return self.lengths_card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_length_title()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():  # another page; what is wrong with a file has been read
            self.banner.hide()

    @Slot()
    def _show_table(self) -> None:
        self.banner.hide()
        self.stack.setCurrentIndex(0 if self.session.table is None else 1)
        for action in (self.recent_button, self.open_button):
            action.setVisible(self.session.table is not None)
        self.next_button.setVisible(self.session.table is not None)
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        table, roles = self.session.table, self.session.roles
        if table is None or roles is None:
            return
        reason = "" if roles.text else self.tr("Say first which column holds the text.")
        summary = self.session.summary
        if roles.text and not roles.label:
            reason = self.tr("Say first which column holds the label.")
        elif summary is not None and summary.refusal is not None:
            reason = words.say(summary.refusal)
        self.next_button.setEnabled(not reason)
        self.next_button.setToolTip(reason or self.tr("Go on to training with this table"))
        self._show_advice()

    def _show_advice(self) -> None:
        table, roles = self.session.table, self.session.roles
        if table is not None and roles is not None:
            found = on_table(table, roles, self.session.summary, self.session.max_length)
            actions = {remark.text: self._actions(remark) for remark in found}
            self.advice.set_items([(remark.level, remark.text) for remark in found], actions)
            hint = words.counted(len(found), self.tr("{count} remark"), self.tr("{count} remarks"))
            self.advice_card.set_hint(hint)

    def _actions(self, remark: Remark) -> list[Action]:
        """Return what a click can do about a remark: show its rows, merge labels or take that back."""
        found: list[Action] = []
        if remark.rows is not None and len(remark.rows):
            show = partial(self.table_card.show_only, remark.rows, remark.what)
            found.append((self.tr("Show rows"), lambda: show()))
        if remark.lines:
            found.append((self.tr("Show lines"), self.table_card.show_lines))
        if remark.mend is not None:
            name, value = remark.mend
            said = {"merge_labels": self.tr("Merge"), "whole_labels": self.tr("Take as classes")}[name]
            choose = partial(self.session.choose_for_labels, name, value)
            found.append((said if value else self.tr("Undo"), lambda: choose()))
        return found

    @Slot()
    def _show_summary(self) -> None:
        summary = self.session.summary
        if summary is None:
            waiting = (
                self.tr("Counting…")
                if self.session.is_summarizing
                else self.tr("Choose the text column above.")
            )
            for plot in (self.labels_plot, self.lengths_plot):
                plot.clear()
                plot.set_empty_text(waiting)
            self.labels_card.set_hint("")
        else:
            path = self.session.table_path
            for plot in (self.labels_plot, self.lengths_plot):
                plot.set_caption([(self.tr("table"), path.name)] if path else [])
            self._show_state()
            counts = map(int, summary.counts)
            bars = sorted(zip(summary.shown_labels, counts, strict=True), key=lambda bar: -bar[1])
            lacking = self.tr("No label column is chosen. Choose one above the table.")
            if summary.refusal is not None:
                lacking = self.tr("“{name}” cannot be the label. “Good to know” says why.").format(
                    name=words.shorten(summary.roles.label, 40)
                )
            self.labels_plot.set_empty_text(lacking)
            total = max(1, sum(count for _label, count in bars))
            self.labels_plot.set_bars(
                bars[:MOST_BARS], shares=[count / total for _label, count in bars[:MOST_BARS]]
            )
            hint = (
                words.counted(len(bars), self.tr("{count} label"), self.tr("{count} labels")) if bars else ""
            )
            if len(bars) > MOST_BARS:
                hint = self.tr("the {shown} largest of {count}").format(
                    shown=MOST_BARS, count=words.number(len(bars))
                )
            self.labels_card.set_hint(hint)
        self._show_length()
        self._show_advice()

    @Slot()
    def _show_length(self) -> None:
        summary, model, maximum = self.session.summary, self.session.model, self.session.max_length
        in_pieces = model is not None
        self._show_length_title()
        self.max_length_box.setVisible(in_pieces)
        self.model_button.setVisible(not in_pieces)
        with QSignalBlocker(self.max_length_box):
            self.max_length_box.setMaximum(self.session.max_length_limit)
            self.max_length_box.setValue(maximum)
        hint = ""
        if summary is not None:
            counted = summary.unit == "pieces"
            self.lengths_plot.set_values(summary.lengths, maximum if counted else None)
            hint = self._cut_words(summary) if counted else ""
        self.lengths_card.set_hint(hint)
        self._show_advice()

    def _show_length_title(self) -> None:
        in_pieces = self.session.model is not None
        title = self.tr("Length in WordPieces") if in_pieces else self.tr("Length in words")
        self.lengths_plot.set_title(title)
        short = self.tr("WordPieces") if in_pieces else self.tr("Words")
        self.lengths_card.set_title(title if self.width() >= WIDE else short)

    def _cut_words(self, summary: TableSummary) -> str:
        """Return words that the box with the maximum length ends as a sentence."""
        cut = summary.cut_share(self.session.max_length)
        if not cut:
            return self.tr("none cut at")
        return self.tr("{share} cut at").format(share=words.share(cut, 0 if cut >= 0.095 else 1))

    @Slot(object)
    def _show_problem(self, error: BaseException) -> None:
        """Say in place what could not be read; a fault of ours goes to the error dialog."""
        if not isinstance(error, UserError):
            self.session.problem.emit(error)
            return
        text = words.say_error(error)
        if self.session.table is not None:
            kept = self.tr("{name} stays open.").format(name=self.session.table.path.name)
            text = f"{text} {kept}"
        values = error.sentence.values
        actions: list[tuple[str, Callable[[], None]]] = []
        if "unless" in values and "path" in values:  # it may be a table after all
            read = partial(self.session.open_table, values["path"], quoting="none")
            actions.append((self.tr("Read as a table"), lambda: read()))
        self.banner.show_text("wrong", text, actions)

    @Slot(object)
    def _refuse_model(self, error: UserError) -> None:
        self.banner.show_text("wrong", words.say_error(error))

    @Slot()
    def choose_file(self) -> None:
        """Ask for a table and open it."""
        tables = self.tr("Tables (*.csv *.tsv *.tab *.txt *.jsonl *.ndjson *.json)")
        ask_file(
            self,
            self.tr("Open a table"),
            self.open_path,
            name="table_dialog",
            start=self.session.table_path.parent if self.session.table_path else "",
            filters=[tables, self.tr("All files (*)")],
        )

    def open_path(self, path: str | Path) -> None:
        """Open a file; one that is gone is said to be, and forgotten."""
        if not Path(path).exists():
            self.session.settings.forget_recent(str(path))
            self.empty.show_recent()
            self._show_problem(UserError(marked("engine", "{path} is not there any more."), path=path))
        else:
            self.session.open_table(path)

    @Slot()
    def _fill_recent(self) -> None:
        menu = self.recent_button.menu()
        menu.clear()
        for path in self.session.settings.recent_files:
            action = menu.addAction(words.shorten(Path(path).name, 60))
            action.setToolTip(tip(path))
            action.triggered.connect(lambda _checked=False, path=path: self.open_path(path))
        menu.addSeparator()
        sample = menu.addAction(self.tr("Sample: film reviews, good or bad"))
        sample.triggered.connect(lambda: self.open_path(sample_data_path()))
        menu.setToolTipsVisible(True)

    @Slot()
    def _offer_models(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("models_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for entry in self.session.library.offered():
            action = menu.addAction(words.shorten(entry.title, 70))
            path = str(entry.path)
            action.setToolTip(tip(path))
            action.triggered.connect(lambda _checked=False, path=path: self.model_question.read(path))
        menu.setToolTipsVisible(True)
        menu.addSeparator()
        menu.addAction(self.tr("Choose a folder…"), self.model_question.ask)
        new = menu.addAction(self.tr("New model, from random weights…"))
        new.triggered.connect(lambda: self.session.page_requested.emit("finetune"))
        menu.popup(self.model_button.mapToGlobal(QPoint(0, self.model_button.height())))

    @Slot()
    def _go_on(self) -> None:
        self.session.page_requested.emit("finetune")


def _example() -> int:
    from app.look.theme import apply_theme
    from app.work.job import prepare_process

    prepare_process()
    app = QApplication(sys.argv)
    apply_theme(app, "system")
    session = Session()
    page = DataPage(session)
    page.resize(1104, 772)
    page.show()
    session.open_table(sys.argv[1] if len(sys.argv) > 1 else sample_data_path())
    return app.exec()


if __name__ == "__main__":
    sys.exit(_example())
