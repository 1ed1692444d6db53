"""The Data page: opens a table, shows how it was read and what is in it, and says what would mislead a model.

All reading and counting is the session's; this page shows and asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QModelIndex, QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QMenu, QStackedWidget, QTableView, QWidget

from app import words
from app.look.banner import Banner
from app.look.files import ask_file
from app.look.inputs import SpinBox
from app.look.labels import tip
from app.look.layout import column, row
from app.look.widgets import GAP, Action, Card, Page, button
from app.pages.advice.remark import AdviceLine, in_order
from app.pages.advice.table import on_file, on_table
from app.pages.choose.model_box import FolderQuestion
from app.pages.data.doctor import DoctorCard
from app.pages.data.empty import DataEmpty
from app.pages.data.findings import step_words, with_findings
from app.pages.data.found import FoundCard
from app.pages.data.review import ReviewCard
from app.pages.data.table import TableCard
from app.pages.tasks.known import views_of
from app.pages.tasks.views import FileViews, TaskPreview
from app.plots.bars import BarsPlot
from app.plots.histogram import HistogramPlot
from app.session import Session
from app.shipped import sample_data_path
from app.work.table_rows import Rows
from app.work.tables import TableSummary
from app.work.task_files import FileSummary, TaskFile
from engine.errors import UserError, marked
from engine.text.recipe import MERGE, RecipeStep

if TYPE_CHECKING:
    from engine.doctor.finding import Finding

MOST_BARS = 200  # labels drawn; more are said in words
HEAD = 32
MOST_REVIEWED = 200  # labels in doubt that are listed, where fewer are answered otherwise
WIDE = 1000  # pixels of the page from which nothing is shortened


class DataPage(Page):
    """Everything about the table that is open."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Data"), self.tr("Open a table and see what may mislead a model."))
        self.setParent(parent)
        self.setObjectName("data_page")
        self.session = session
        self._shown: Path | None = None
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
        undo.activated.connect(self._undo)
        session.doctor.changed.connect(self._show_advice)
        session.data.mends.changed.connect(self._show_advice)
        session.doctor.refused.connect(self._show_problem)
        session.data.mends.refused.connect(self._show_problem)
        session.data.opened.connect(self._show_table)
        session.data.roles_changed.connect(self._show_state)
        session.data.summary_changed.connect(self._show_summary)
        session.model.changed.connect(self._show_length)
        session.model.max_length_changed.connect(self._show_length)
        session.data.refused.connect(self._show_problem)
        self.model_question = FolderQuestion(session, self, name="data_model_dialog")
        self.model_question.chosen.connect(session.model.choose)
        self.model_question.refused.connect(self._refuse_model)
        self._show_table()
        if session.data.path is not None:
            self._show_summary()
        if session.data.refusal is not None:
            self._show_problem(session.data.refusal)

    def _undo(self) -> None:
        """Take back the last mend; where there is none, the last change of roles."""
        if self.session.data.mends.can_undo:
            self.session.data.mends.undo()
        else:
            self.session.data.undo_roles()

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
        self.files = QStackedWidget()  # a table, or a task's own file as its task shows it
        self.files.addWidget(self.table_card)
        self.found_card = FoundCard()
        self.found_card.ended.connect(self._show_table_card)
        self.found_card.mended.connect(self.session.data.mends.add)
        self.files.addWidget(self.found_card)
        self._previews: dict[str, TaskPreview] = {}  # by task, made when first needed
        figures = QWidget()
        row((self._build_labels(), 5), (self._build_lengths(), 6), gap=GAP, parent=figures)
        self.review = ReviewCard(self.session)
        self.review.moved.connect(self._move_review)
        self.review.ended.connect(self._end_review)
        self.below = QStackedWidget()  # figures, or the label that is looked at
        self.below.addWidget(figures)
        self.below.addWidget(self.review)
        left = column((self.files, 3), (self.below, 2), gap=GAP)
        self.advice_card = DoctorCard(self.session)
        self.advice = self.advice_card.advice
        self.advice_card.refused.connect(self._refuse_model)
        self.advice_card.review_wanted.connect(self.begin_review)
        self.advice_card.setMinimumWidth(232)
        self.advice_card.setMaximumWidth(300)
        row((left, 5), (self.advice_card, 2), gap=GAP, parent=work)
        self.review.set_keys(self.table_card)
        self.review.set_keys(self.review)
        self.table_card.view.selectionModel().currentRowChanged.connect(self._row_changed)
        return work

    def begin_review(self) -> None:
        """Show the labels in doubt, the most doubtful first, and the first of them."""
        found = self.session.doctor.suspected
        if found is None:
            return
        self._show_table_card()
        rows = found.rows[: max(found.count, MOST_REVIEWED)]
        suggested = [words.shorten(found.names[place], 24) for place in found.suggested[: len(rows)].tolist()]
        own = [words.probability(float(value)) for value in found.own[: len(rows)]]
        self.table_card.show_only(
            rows, self.tr("labels in doubt"), {self.tr("suggested"): suggested, self.tr("own label"): own}
        )
        self.review.set_found(found, len(rows))
        self.below.setCurrentWidget(self.review)
        self.table_card.view.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table_card.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._move_review(0)

    def _move_review(self, further: int) -> None:
        place = self.review.place + further
        model = self.table_card.model
        if 0 <= place < model.rowCount():
            column_ = self.table_card.view.columnAt(8)
            self.table_card.view.setCurrentIndex(model.index(place, max(0, column_)))
            self.review.show_place(place)

    def _row_changed(self, current: QModelIndex) -> None:
        found = self.session.doctor.suspected
        if self.below.currentWidget() is not self.review or found is None or not current.isValid():
            return
        at = self.table_card.model.table_row(current.row())
        places = np.flatnonzero(found.rows == at)
        if len(places):
            self.review.show_place(int(places[0]))

    def _end_review(self) -> None:
        self.below.setCurrentIndex(0)
        self.table_card.view.setSelectionBehavior(QTableView.SelectionBehavior.SelectItems)
        self.table_card.show_all()

    def _build_labels(self) -> Card:
        self.labels_card = Card(self.tr("Labels"))
        self.labels_plot = BarsPlot(self.tr("Labels"))
        self.labels_plot.setObjectName("labels_plot")
        self.labels_plot.is_door = True
        self.labels_plot.chosen.connect(self._show_label)
        self.labels_plot.menu_opened.connect(self._add_to_label_menu)
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
        self.max_length_box.valueChanged.connect(self.session.model.set_max_length)
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
            self.session.doctor.watch(False)
            self.banner.hide()

    def _show_table(self) -> None:
        self.banner.hide()
        self.below.setCurrentIndex(0)
        is_open = self.session.data.path is not None
        self.stack.setCurrentIndex(int(is_open))
        for action in (self.recent_button, self.open_button, self.next_button):
            action.setVisible(is_open)
        if self.session.data.task_file is not None:
            self._show_task_file(self.session.data.task_file)
        else:
            self.files.setCurrentWidget(self.table_card)
        self._show_state()
        before, self._shown = self._shown, self.session.data.path
        if self._shown != before and self.isVisible() and self.next_button.isEnabled():
            self.next_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_task_file(self, file: TaskFile) -> None:
        if file.task not in self._previews:
            views = views_of(file.task)
            assert isinstance(views, FileViews), file.task
            self._previews[file.task] = preview = views.preview(self.session)
            self.files.addWidget(preview)
        self._previews[file.task].show_file(file)
        self.files.setCurrentWidget(self._previews[file.task])

    def _show_state(self) -> None:
        table, roles = self.session.data.table, self.session.data.roles
        if self.session.data.task_file is not None:
            self.next_button.setEnabled(True)
            self.next_button.setToolTip(self.tr("Go on to training with this file"))
            self._show_advice()
            return
        if table is None or roles is None:
            return
        reason = "" if roles.text else self.tr("Say first which column holds the text.")
        summary = self.session.data.summary
        if roles.text and not self.session.data.has_label:
            reason = self.tr("Say first which column holds the label.")
        elif summary is not None and summary.refusal is not None:
            reason = words.say(summary.refusal)
        self.next_button.setEnabled(not reason)
        self.next_button.setToolTip(reason or self.tr("Go on to training with this table"))
        self._show_advice()

    def _show_label(self, place: int) -> None:
        """Show the rows of a label whose bar was clicked."""
        if label := self._label_at(place):
            self._show_table_card()
            self.table_card.show_label(label)

    def _add_to_label_menu(self, menu: QMenu, place: int) -> None:
        if label := self._label_at(place):
            self.table_card.hand.add_label(menu, label)

    def _label_at(self, place: int) -> str:
        """Return the label of a bar; "" where it is none of a table."""
        summary = self.session.data.table_summary
        if summary is None or place >= len(self.labels_plot.bars):
            return ""
        shown = self.labels_plot.bars[place][0]
        return dict(zip(summary.shown_labels, summary.labels, strict=True)).get(shown, shown)

    def _show_advice(self) -> None:
        table, roles, file = self.session.data.table, self.session.data.roles, self.session.data.task_file
        found: list[AdviceLine] | None = None
        if file is not None:
            found = on_file(file, self.session.data.file_summary)
        elif table is not None and roles is not None:
            data = self.session.data
            found = on_table(table, roles, data.table_summary, self.session.model.max_length)
            found = in_order(with_findings(found, self.session.doctor, data))
        if found is not None:
            actions = {remark.text: self._actions(remark) for remark in found}
            more = {remark.text: remark.more for remark in found if remark.more}
            self.advice.set_items([(remark.level, remark.text) for remark in found], actions, more)
            self.advice_card.count(found)
            self.advice_card.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.doctor.watch(True)
        self._show_advice()

    def _actions(self, remark: AdviceLine) -> list[Action]:
        """Return what a click can do about a remark: show its rows, merge labels or take that back."""
        found: list[Action] = []
        if remark.rows is not None and len(remark.rows):
            show = partial(self._show_rows, remark.rows, remark.what, remark.finding)
            found.append((self.tr("Show rows"), lambda: show()))
        for step in remark.steps:
            said = step_words(step)
            if step.do == MERGE and len(remark.steps) > 1:
                said = self.tr("Merge {label}").format(label=words.shorten(step.label, 24))
            found.append((said, partial(self._mend, step)))
        if remark.page:
            lead = partial(self.session.show_page, remark.page)
            found.append((self.tr("Get a model…"), lambda: lead()))
        if remark.taken is not None:
            found.append((self.tr("Undo"), partial(self._take_back, remark.taken)))
        if remark.lines:
            found.append((self.tr("Show lines"), self.table_card.show_lines))
        if remark.mend is not None:
            name, value = remark.mend
            said = {
                "merge_labels": self.tr("Merge"),
                "whole_labels": self.tr("Take as classes"),
                "max_labels": self.tr("Learn all {count}").format(count=words.number(value)),
            }[name]
            choose = partial(self.session.data.choose_for_labels, name, value)
            found.append((said if value else self.tr("Undo"), lambda: choose()))
        return found

    def _show_rows(self, rows: Rows, what: str, finding: Finding | None) -> None:
        """Show rows of the table, or those of a finding beside their partners."""
        self._end_review()
        if finding is not None:
            self.found_card.show_finding(finding, self.session.doctor.parts)
            self.files.setCurrentWidget(self.found_card)
        else:
            self._show_table_card()
            self.table_card.show_only(rows, what)

    def _show_table_card(self) -> None:
        self.files.setCurrentWidget(self.table_card)

    def _mend(self, step: RecipeStep, _checked: bool = False) -> None:
        self.session.data.mends.add(step)

    def _take_back(self, step: RecipeStep, _checked: bool = False) -> None:
        self.session.data.mends.take_back(step)

    def _show_summary(self) -> None:
        summary = self.session.data.summary
        if summary is None:
            waiting = (
                self.tr("Counting…")
                if self.session.data.is_counting
                else self.tr("Choose the text column above.")
            )
            for plot in (self.labels_plot, self.lengths_plot):
                plot.clear()
                plot.set_empty_text(waiting)
            self.labels_card.set_hint("")
        else:
            path = self.session.data.path
            for plot in (self.labels_plot, self.lengths_plot):
                plot.set_caption([(self.tr("table"), path.name)] if path else [])
            self._show_state()
            of_table = self.session.data.table_summary
            views = views_of(self.session.data.task_name)
            bars = views.bars(summary)
            self.labels_card.set_title(views.bars_title())
            self.labels_plot.set_title(views.bars_title())
            lacking = self.tr("No label column is chosen. Choose one above the table.")
            if of_table is None:
                lacking = self.tr("This file has no labels to count.")
            elif of_table.refusal is not None:
                lacking = self.tr("“{name}” cannot be the label. The data doctor says why.").format(
                    name=words.shorten(of_table.roles.label, 40)
                )
            self.labels_plot.set_empty_text(lacking)
            is_side_by_side = of_table is not None and not of_table.chooses_one
            counted = summary.num_examples if is_side_by_side else sum(count for _label, count in bars)
            total = max(1, counted)
            self.labels_plot.set_bars(
                bars[:MOST_BARS], shares=[count / total for _label, count in bars[:MOST_BARS]]
            )
            count = len(summary.labels)
            hint = words.counted(count, self.tr("{count} label"), self.tr("{count} labels")) if count else ""
            if len(bars) > MOST_BARS:
                hint = self.tr("the {shown} largest of {count}").format(
                    shown=MOST_BARS, count=words.number(len(bars))
                )
            self.labels_card.set_hint(hint)
        self._show_length()
        self._show_advice()

    def _show_length(self) -> None:
        summary, model = self.session.data.summary, self.session.model
        in_pieces, maximum = model.chosen is not None, model.max_length
        self._show_length_title()
        self.max_length_box.setVisible(in_pieces)
        self.model_button.setVisible(not in_pieces)
        with QSignalBlocker(self.max_length_box):
            self.max_length_box.setMaximum(model.max_length_limit)
            self.max_length_box.setValue(maximum)
        hint = ""
        if summary is not None:
            counted = summary.unit == "pieces"
            self.lengths_plot.set_values(summary.lengths, maximum if counted else None)
            hint = self._cut_words(summary) if counted else ""
        self.lengths_card.set_hint(hint)
        self._show_advice()

    def _show_length_title(self) -> None:
        in_pieces = self.session.model.chosen is not None
        title = self.tr("Length in WordPieces") if in_pieces else self.tr("Length in words")
        self.lengths_plot.set_title(title)
        short = self.tr("WordPieces") if in_pieces else self.tr("Words")
        self.lengths_card.set_title(title if self.width() >= WIDE else short)

    def _cut_words(self, summary: TableSummary | FileSummary) -> str:
        """Return words that the box with the maximum length ends as a sentence."""
        if self.session.data.task_file is not None:
            return self.tr("windows of")
        cut = summary.cut_share(self.session.model.max_length)
        if not cut:
            return self.tr("none cut at")
        return self.tr("{share} cut at").format(share=words.share(cut, 0 if cut >= 0.095 else 1))

    def _show_problem(self, error: BaseException) -> None:
        """Say in place what could not be read; a fault of ours goes to the error dialog."""
        if not isinstance(error, UserError):
            self.session.workers.problem.emit(error)
            return
        text = words.say_error(error)
        if self.session.data.path is not None:
            kept = self.tr("{name} stays open.").format(name=self.session.data.path.name)
            text = f"{text} {kept}"
        values = error.sentence.values
        actions: list[tuple[str, Callable[[], None]]] = []
        if "unless" in values and "path" in values:  # it may be a table after all
            read = partial(self.session.data.open, values["path"], quoting="none")
            actions.append((self.tr("Read as a table"), lambda: read()))
        self.banner.show_text("wrong", text, actions)

    def _refuse_model(self, error: UserError) -> None:
        self.banner.show_text("wrong", words.say_error(error))

    def choose_file(self) -> None:
        """Ask for a table and open it."""
        tables = self.tr("Data (*.csv *.tsv *.tab *.txt *.jsonl *.ndjson *.json *.conll *.conllu)")
        ask_file(
            self,
            self.tr("Open a table"),
            self.open_path,
            name="table_dialog",
            start=self.session.data.path.parent if self.session.data.path else "",
            filters=[tables, self.tr("All files (*)")],
        )

    def open_path(self, path: str | Path) -> None:
        """Open a file; one that is gone is said to be, and forgotten."""
        if not Path(path).exists():
            self.session.settings.forget_recent(str(path))
            self.empty.show_recent()
            self._show_problem(UserError(marked("engine", "{path} is not there any more."), path=path))
        else:
            self.session.data.open(path)

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
        new.triggered.connect(lambda: self.session.show_page("finetune"))
        menu.popup(self.model_button.mapToGlobal(QPoint(0, self.model_button.height())))

    def _go_on(self) -> None:
        self.session.show_page("finetune")


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
    session.data.open(sys.argv[1] if len(sys.argv) > 1 else sample_data_path())
    return app.exec()


if __name__ == "__main__":
    sys.exit(_example())
