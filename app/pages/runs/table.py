"""The table of runs: a line of 24 px each, the score as a picture on one scale, ticks that name A, B, ...

Space ticks the line with the keyboard, left and right fold its seeds, Enter opens it, F2 names it, Delete
moves it to the bin.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QTableView, QWidget

from app.look import theme
from app.look.table_view import TableView
from app.pages.runs.drawing import PAD, ROW, RunsDrawing, RunsHeading
from app.pages.runs.lines_model import NAME, PICTURE, SCORE, SPREAD, TICK, RunsModel
from app.pages.runs.rows import RunRow, RunRows, cell_words
from app.pages.runs.state import RunsState

LEAST_NAME, MOST_NAME, LEAST_PICTURE, TICK_WIDTH = 130, 280, 120, 44  # px
NAMES = 0.54  # of the room that names and pictures share, at most
MEASURED = 40  # rows by which widths are found, as many as are seen at once
LIGHT = ("recipe", "label", "text_pair", "text")  # settings that go first where there is no room: of the data
GIVE_WAY = ("size", "time", SPREAD, "when")  # columns that go then, before all other settings
WEIGHTY = ("data", "model", "learning_rate", "num_epochs", "batch_size")  # settings that stay the longest
MOST_SETTING = 116  # px of a column of settings


class RunsTable(TableView):
    """The lines; what is done to one is told."""

    ticked = Signal(str)  # the key of a line
    folded = Signal(str, bool)
    sorted_by = Signal(str)
    opened = Signal(object)  # Row
    rename_wanted = Signal()
    delete_wanted = Signal()
    menu_wanted = Signal(QPoint)
    current_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runs_table")
        self.setAccessibleName(self.tr("Runs"))
        self.runs = RunsModel(self)
        self.setModel(self.runs)
        self.setItemDelegate(RunsDrawing(self, self.runs))
        self.setHorizontalHeader(RunsHeading(self, self.runs))
        self.horizontalHeader().sectionClicked.connect(self._heading_clicked)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(ROW)
        self.verticalHeader().setDefaultSectionSize(ROW)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._ask_menu)
        self.doubleClicked.connect(self._open)
        self.selectionModel().currentChanged.connect(self._moved)
        self.dropped: tuple[str, ...] = ()  # columns of settings for which there is no room

    def put(self, shown: RunRows, state: RunsState) -> None:
        """Show other lines; the one with the keyboard keeps it, by its key."""
        before = self.current_row()
        place = self.verticalScrollBar().value()
        self.clearSpans()
        self.runs.put(shown, state)
        picture = self.runs.columns.index(PICTURE)
        behind = self.runs.columns.index("time") - picture
        for number, row in enumerate(shown.rows):
            if row.reached is None:
                self.setSpan(number, picture, 1, behind)
        self._fit()
        keys = [row.key for row in shown.rows]
        here = keys.index(before.key) if before is not None and before.key in keys else 0
        if keys:  # so that there is always a line that actions are about
            self.selectRow(here)
        self.verticalScrollBar().setValue(place)

    def set_ticks(self, state: RunsState) -> None:
        """Show other ticks on the same lines."""
        self.runs.state = state
        self.viewport().update()

    def current_row(self) -> RunRow | None:
        """Return the line with the keyboard."""
        index = self.currentIndex()
        return self.runs.row(index) if index.isValid() and index.row() < self.runs.rowCount() else None

    def go_to(self, key: str) -> None:
        """Give the keyboard's place to a line."""
        keys = [row.key for row in self.runs.shown.rows]
        if key in keys:
            self.selectRow(keys.index(key))

    def _moved(self) -> None:
        self.current_changed.emit()

    def _open(self, index: QModelIndex) -> None:
        if self.runs.columns[index.column()] != TICK:
            self.opened.emit(self.runs.row(index))

    def _ask_menu(self, at: QPoint) -> None:
        self.menu_wanted.emit(self.viewport().mapToGlobal(at))

    def _heading_clicked(self, section: int) -> None:
        column = self.runs.columns[section]
        if column in (PICTURE, SPREAD):
            column = SCORE
        if column != TICK:
            self.sorted_by.emit(column)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid():
            return
        row, column = self.runs.row(index), self.runs.columns[index.column()]
        if column == TICK:
            self.ticked.emit(row.key)
        elif column == NAME and row.is_group and event.position().x() - self.visualRect(index).x() < ROW:
            self.folded.emit(row.key, not row.is_open)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.current_row(), event.key()
        if row is None:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Space:
            self.ticked.emit(row.key)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and row.is_group:
            self.folded.emit(row.key, key == Qt.Key.Key_Right)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(row)
        elif key == Qt.Key.Key_F2:
            self.rename_wanted.emit()
        elif key == Qt.Key.Key_Delete:
            self.delete_wanted.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        """Give each column the room of its words; where there is too little, the lightest give way."""
        runs, header = self.runs, self.horizontalHeader()
        if not runs.columns:
            return
        widths = {column: self._width_of(column) for column in runs.columns}
        room, hidden = self.viewport().width() - 2, list[str]()
        fixed = (TICK, NAME, PICTURE)
        settings = sorted(runs.shown.settings, key=lambda name: name not in WEIGHTY)
        light = [name for name in LIGHT if name in settings]
        for column in (*light, *GIVE_WAY, *(name for name in reversed(settings) if name not in light)):
            kept = [one for one in runs.columns if one not in (*fixed, *hidden)]
            if sum(widths[one] for one in kept) + TICK_WIDTH + LEAST_NAME + LEAST_PICTURE <= room:
                break
            hidden.append(column)
        kept = [one for one in runs.columns if one not in (*fixed, *hidden)]
        spare = max(LEAST_NAME + LEAST_PICTURE, room - TICK_WIDTH - sum(widths[one] for one in kept))
        widths[NAME] = max(LEAST_NAME, min(widths[NAME], MOST_NAME, int(NAMES * spare)))
        widths[PICTURE] = spare - widths[NAME]
        header.setStretchLastSection(False)
        for place, column in enumerate(runs.columns):
            self.setColumnHidden(place, column in hidden)
            header.resizeSection(place, widths[column])
        self.dropped = tuple(column for column in runs.shown.settings if column in hidden)

    def _width_of(self, column: str) -> int:
        if column in (TICK, PICTURE):
            return TICK_WIDTH
        metrics = QFontMetrics(theme.ui_font(bold=True))
        texts = {self.runs.heading(column)}
        for row in self.runs.shown.rows[:MEASURED]:
            texts.add(cell_words(row, column) if column != PICTURE else "")
        widest = max(map(metrics.horizontalAdvance, texts)) + 2 * PAD
        if column in self.runs.shown.settings:
            return min(widest, MOST_SETTING)
        return widest + (2 * ROW if column == NAME else 0)
