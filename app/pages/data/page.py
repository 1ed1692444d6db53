"""The Data page: opens a table, shows how it was read and what is in it, and says what would mislead a model.

All reading and counting is the session's; this page shows and asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QMenu, QStackedWidget, QWidget

from app import words
from app.look.banner import Banner
from app.look.files import ask_file
from app.look.labels import tip
from app.look.layout import column, row
from app.look.widgets import GAP, Action, button, keep_private
from app.pages.advice.remark import AdviceLine, in_order
from app.pages.advice.table import on_file, on_table
from app.pages.data.agreement import AgreementDialog
from app.pages.data.doctor import DoctorCard
from app.pages.data.empty import DataEmpty
from app.pages.data.figures import LabelsCard, LengthsCard
from app.pages.data.findings import step_words, with_findings
from app.pages.data.found import FoundCard
from app.pages.data.state import ColumnOrder, DataState
from app.pages.data.table import ChosenRows, TableCard
from app.pages.label.state import LabelState
from app.pages.run.state import RunPageState
from app.pages.stated_page import StatedPage
from app.pages.tasks.known import views_of
from app.pages.tasks.views import FileViews, TaskPreview
from app.session import Session
from app.shipped import sample_data_path
from app.stories.known import story
from app.work.page_state import MISFIT
from app.work.task_files import TaskFile
from app.work.texts_read import TextsRead
from engine.errors import UserError, marked
from engine.text.reading.kinds import TABLE_KINDS, patterns
from engine.text.recipe import MERGE

if TYPE_CHECKING:
    from engine.doctor.finding import Finding

WIDE = 1000  # pixels of the page from which nothing is shortened
LOW = 600  # and below which the table has more of the height


class DataPage(StatedPage[DataState]):
    """Everything about the table that is open."""

    state_kind = DataState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("data_page")
        self.header.title_label.setText(self.tr("Data"))
        self.header.set_sentence(self.tr("Find what may mislead a model."))
        self.session = session
        self._remarks: dict[str, AdviceLine] = {}  # by their words
        self._found_by = ""  # the remark whose finding was shown last
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
        for keys, call in (("Ctrl+Z", self._undo), ("Ctrl+Shift+Z", session.data.mends.redo)):
            shortcut = QShortcut(QKeySequence(keys), self, call)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        session.doctor.changed.connect(self._show_findings)
        session.data.mends.changed.connect(self._hear_mends)
        session.doctor.refused.connect(self._show_problem)
        session.data.mends.refused.connect(self._show_problem)
        session.data.opened.connect(self._show_table)
        session.data.roles_changed.connect(self._show_state)
        session.data.summary_changed.connect(self._show_summary)
        session.model.changed.connect(self._show_advice)
        session.model.max_length_changed.connect(self._show_advice)
        session.data.refused.connect(self._show_problem)
        session.busy.changed.connect(self.take_up)
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
        said = self.tr("Open a table: {kinds} (Ctrl+O)")
        self.open_button.setToolTip(said.format(kinds=words.tr_engine(TABLE_KINDS)))
        self.open_button.clicked.connect(self.choose_file)
        self.next_button = button(self.tr("Fine-tune with this"), "primary", name="finetune_with_this")
        self.next_button.clicked.connect(self._go_on)
        to_label = partial(self.session.show_page, "label")
        self.label_button = button(self.tr("Label the texts"), "primary", name="label_this", call=to_label)
        self.label_button.setToolTip(self.tr("Give the texts labels by keys, or choose a label column below"))
        for action in (self.recent_button, self.open_button, self.label_button, self.next_button):
            self.header.add_action(action)

    def _build_work(self) -> QWidget:
        work = QWidget()
        self.table_card = TableCard(self.session)
        self.files = QStackedWidget()  # a table, or a task's own file as its task shows it
        self.files.addWidget(self.table_card)
        self.found_card = FoundCard(self.session, self.table_card.hand)
        self.found_card.ended.connect(self._show_table_card)
        self.found_card.mended.connect(self.session.data.mends.add)
        self.files.addWidget(self.found_card)
        self._previews: dict[str, TaskPreview] = {}  # by task, made when first needed
        figures = QWidget()
        self.labels_card, self.lengths_card = LabelsCard(self.session), LengthsCard(self.session)
        self.labels_card.chosen.connect(self._show_label)
        self.labels_card.compare_wanted.connect(self.compare_labels)
        self.table_card.compare_wanted.connect(self.compare_labels)
        self.labels_card.merge_wanted.connect(self.table_card.hand.merge)
        self.labels_card.menu_opened.connect(self._add_to_label_menu)
        self.lengths_card.refused.connect(self.refuse)
        row((self.labels_card, 3), (self.lengths_card, 4), gap=GAP, parent=figures)
        self._left = left = column((self.files, 3), (figures, 2), gap=GAP)
        self.advice_card = DoctorCard(self.session)
        self.advice = self.advice_card.advice
        self.advice_card.refused.connect(self.refuse)
        self.advice_card.review_wanted.connect(self.review_labels)
        keep_private(self.files)
        self.advice_card.setMinimumWidth(238)
        self.advice_card.setMaximumWidth(300)
        row((left, 5), (self.advice_card, 2), gap=GAP, parent=work)
        self.table_card.hand.partner_wanted.connect(self._show_partners)
        return work

    def provenance(self) -> list[tuple[str, str]]:
        table = self.session.data.table
        if table is None:
            return []
        name = "" if table.path is None else table.path.name
        return [(self.tr("Table"), name), (self.tr("Data, sha256"), table.sha256[:12])]

    # ---- what is looked at, as a value

    @property
    def state(self) -> DataState:
        data, card = self.session.data, self.table_card
        if data.table is None:
            return DataState(data.path)
        is_found = self.files.currentWidget() is self.found_card
        remark = self._found_by if is_found else card.chosen.remark
        label = "" if is_found else card.chosen.label
        return DataState(data.path, card.search.text().strip(), card.order, label, remark)

    def is_open(self, state: DataState) -> bool:
        data = self.session.data
        if data.is_reading or (data.summary is None and data.is_counting):
            return False
        return state.remark in ("", *self._remarks) or not self.session.doctor.is_examining

    def take_state(self, state: DataState) -> None:
        table, summary = self.session.data.table, self.session.data.table_summary
        remark, columns = self._remarks.get(state.remark), table.columns if table is not None else ()
        labels = summary.labels if summary is not None else ()
        for name, fits in (
            ("table", state.table in (None, self.session.data.path)),
            ("order", state.order is None or state.order.column in columns),
            ("label", not state.label or state.label in labels),
            ("remark", not state.remark or (remark is not None and remark.rows is not None)),
        ):
            if not fits:
                raise UserError(MISFIT, name=name)
        if remark is not None:
            self._show_remark(remark, state.search, state.order)
        elif table is not None:
            if state.label:
                self._show_label(state.label, state.search, state.order)
            else:
                self._show_table_card()
                self.table_card.show_only(ChosenRows(), state.search, state.order)

    def compare_labels(self, other: str = "") -> None:
        """Compare the labels with another column; "": the one that looks most like them."""
        from engine.labelling.agreement import likely_other

        data = self.session.data
        if data.table is None or data.roles is None:
            return
        roles = data.roles
        first = roles.label if roles.label in data.table.columns and roles.label != other else ""
        first = first or likely_other(data.table, other or data.table.columns[0], roles.read)
        other = other or likely_other(data.table, first, roles.read)
        if first and other:
            AgreementDialog(self.session, first, other, self).open()

    def review_labels(self) -> None:
        """Go to Label, for the labels that are suspected."""
        self.session.show_page("label", LabelState(self.session.data.path, review=True))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.lengths_card.set_wide(self.width() >= WIDE)
        self._left.setStretch(0, 3 if self.height() >= LOW else 5)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous():  # another page; what is wrong with a file has been read
            self.session.doctor.watch(False)
            self.banner.hide()

    def _show_table(self) -> None:
        self.banner.hide()
        is_open = self.session.data.path is not None
        self.stack.setCurrentIndex(int(is_open))
        for action in (self.recent_button, self.open_button):
            action.setVisible(is_open)
        self._show_next(lacks_labels=False)
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
            self.next_button.setToolTip(self.tr("Continue to training with this file"))
            self._show_advice()
            return
        if table is None or roles is None:
            return
        self._show_next(lacks_labels=bool(roles.text) and not self.session.data.has_label)
        reason = "" if roles.text else self.tr("Choose the text column first.")
        summary = self.session.data.summary
        if summary is not None and summary.refusal is not None:
            reason = words.say(summary.refusal)
        self.next_button.setEnabled(not reason)
        self.next_button.setToolTip(reason or self.tr("Continue to training with this table"))
        self._show_advice()

    def _show_next(self, *, lacks_labels: bool) -> None:
        """Offer what comes next: labels, where the table has texts and no labels, else fine-tuning."""
        is_open = self.session.data.path is not None
        self.label_button.setVisible(is_open and lacks_labels)
        self.next_button.setVisible(is_open and not lacks_labels)

    def _add_to_label_menu(self, menu: QMenu, label: str) -> None:
        self.table_card.hand.add_label(menu, label)

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
            self._remarks = {remark.text: remark for remark in found}
            actions = {remark.text: self._actions(remark) for remark in found}
            more = {remark.text: remark.more for remark in found if remark.more}
            self.advice.set_items([(remark.level, remark.text) for remark in found], actions, more)
            self.advice_card.count(found)
            self.advice_card.refresh()

    def _hear_mends(self) -> None:
        """Say what is mended; made on another page, it is said when this one is shown."""
        if self.isVisible():
            self._show_advice()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.session.doctor.watch(True)
        self._show_findings()

    def _show_findings(self) -> None:
        self._show_advice()
        self.take_up()

    def _actions(self, remark: AdviceLine) -> list[Action]:
        """Return what a click can do about a remark: show its rows, merge labels or take that back."""
        found, data = list[Action](), self.session.data
        if remark.rows is not None and len(remark.rows):
            found.append((self.tr("Show rows"), partial(self._show_remark, remark)))
        for step in remark.steps:
            said = step_words(step)
            if step.do == MERGE and len(remark.steps) > 1:
                said = self.tr("Merge {label}").format(label=words.shorten(step.label, 24))
            found.append((said, partial(data.mends.add, step)))
        if remark.taken is not None:
            found.append((self.tr("Undo"), partial(data.mends.take_back, remark.taken)))
        if remark.lines:
            found.append((self.tr("Show lines"), self.table_card.show_lines))
        if remark.mend is not None:
            name, value = remark.mend
            said = {
                "merge_labels": self.tr("Merge"),
                "whole_labels": self.tr("Use as classes"),
                "max_labels": self.tr("Learn all {count}").format(count=words.number(value)),
            }[name]
            choose = partial(data.choose_for_labels, name, value)
            found.append((said if value else self.tr("Undo"), choose))
        return found

    def _show_label(self, label: str, search: str = "", order: ColumnOrder | None = None) -> None:
        """Show the rows of a label."""
        self._show_table_card()
        self.table_card.show_label(label, search, order)

    def _show_remark(self, remark: AdviceLine, search: str = "", order: ColumnOrder | None = None) -> None:
        """Show the rows of a remark, or those of a finding beside their partners."""
        if remark.finding is not None:
            self.found_card.show_finding(remark.finding, self.session.doctor.parts)
            self._found_by = remark.text
            self.files.setCurrentWidget(self.found_card)
        else:
            self._show_table_card()
            chosen = ChosenRows(remark.rows, remark.what, remark=remark.text)
            self.table_card.show_only(chosen, search, order)

    def _show_partners(self, finding: Finding) -> None:
        """Show one row beside those that it is like."""
        self.found_card.show_finding(finding, self.session.doctor.parts, is_one=True)
        self._found_by = ""
        self.files.setCurrentWidget(self.found_card)

    def _show_table_card(self) -> None:
        self.files.setCurrentWidget(self.table_card)

    def _show_summary(self) -> None:
        if self.session.data.summary is not None:
            self._show_state()
        else:
            self._show_advice()
        self.take_up()

    def _show_problem(self, error: BaseException) -> None:
        """Say in place what could not be read; a fault of ours goes to the error dialog."""
        if not isinstance(error, UserError):
            self.session.workers.problem.emit(error)
            return
        text = words.say_error(error)
        if self.session.data.path is not None:
            kept = self.tr("{name} stays open.").format(name=self.session.data.path.name)
            text = words.sentences([text, kept])
        values = error.sentence.values
        actions: list[tuple[str, Callable[[], None]]] = []
        if "unless" in values and "path" in values:  # it may be a table after all
            read = partial(self.session.data.open, values["path"], quoting="none")
            actions.append((self.tr("Read as a table"), lambda: read()))
        self.banner.show_text("wrong", text, actions)

    def refuse(self, error: BaseException) -> None:
        self.banner.show_text("wrong", words.say_error(error))

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        return self.session.data.texts_read

    def choose_file(self) -> None:
        """Ask for a table and open it."""
        tables = self.tr("Data ({endings})").format(endings=f"{patterns()} *.conll *.conllu")
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
            self._show_problem(UserError(marked("engine", "{path} no longer exists."), path=path))
        else:
            self.session.data.open(path)

    def _fill_recent(self) -> None:
        menu = self.recent_button.menu()
        menu.clear()
        for path in self.session.settings.recent_files:
            action = menu.addAction(words.shorten(Path(path).name, 60), partial(self.open_path, path))
            action.setToolTip(tip(path))
        menu.addSeparator()
        sample = partial(self.open_path, sample_data_path())
        said = self.tr("Sample: {name}").format(name=words.tr_engine(story().table.name))
        menu.addAction(said.replace("&", "&&"), sample)
        menu.setToolTipsVisible(True)

    def _go_on(self) -> None:
        self.session.show_page("finetune", RunPageState())


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
