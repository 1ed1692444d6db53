"""A calm table view: no grid, rows of one height, one line a cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHeaderView,
    QLabel,
    QTableView,
    QWidget,
)

from app.look import theme
from app.look.direction import DirectedCells
from app.look.layout import column


class TableView(QTableView):
    """A calm table: no grid, rows of one height, one line a cell; Ctrl+C copies, Tab leaves it.

    Where it is a door, `row_wanted` tells of a click on a row, and of Enter and Space. `resized`: there is
    more or less room for columns. `menu_asked`: a menu of the selected rows is, and where.
    """

    row_wanted = Signal(int)
    resized = Signal()
    menu_asked = Signal(QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, showGrid=False, wordWrap=False)
        self.setItemDelegate(DirectedCells(self))
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QTableView.SelectionMode.ContiguousSelection)
        self._is_door = False
        self.ruled: Collection[int] = ()  # rows with a line above them
        self.clicked.connect(self._row_clicked)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        lines, columns = self.verticalHeader(), self.horizontalHeader()
        lines.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        lines.setDefaultSectionSize(30)
        lines.setMinimumWidth(52)  # room for the word above the numbers
        lines.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        columns.setStretchLastSection(True)
        columns.setMinimumHeight(30)
        columns.setTextElideMode(Qt.TextElideMode.ElideRight)
        for header in (lines, columns):
            header.setHighlightSections(False)
        corner = self.findChild(QAbstractButton)
        if corner:
            words = QLabel(self.tr("line"))
            words.setProperty("role", "muted")
            column((words, Qt.AlignmentFlag.AlignRight), margins=(0, 0, 9, 0), parent=corner)

    def choose_rows(self, height: int = 30, *, is_one: bool = False) -> None:
        """Let whole rows be chosen, so many px high, with no numbers before them. Args: is_one: one alone."""
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        if is_one:
            self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(height)

    def set_door(self, is_door: bool) -> None:
        """Let rows be opened, or not."""
        self._is_door = is_door
        shape = Qt.CursorShape.PointingHandCursor if is_door else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)

    def _row_clicked(self, index: QModelIndex) -> None:
        if self._is_door:
            self.row_wanted.emit(index.row())

    def set_ruled(self, rows: Collection[int]) -> None:
        """Rule rows off from the ones above them."""
        self.ruled = rows
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.ruled:
            painter = QPainter(self.viewport())
            painter.setPen(theme.current().color("muted"))
            first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
            for row in range(max(0, first), (last if last >= 0 else self.model().rowCount() - 1) + 1):
                if row in self.ruled:
                    top = self.rowViewportPosition(row) - 1
                    painter.drawLine(0, top, self.viewport().width(), top)
            painter.end()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            below = self.visualRect(self.currentIndex()).bottomLeft()
            self.menu_asked.emit(self.viewport().mapToGlobal(below))
        else:
            self.menu_asked.emit(event.globalPos())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        opens = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if opens and self._is_door and self.currentIndex().isValid():
            self.row_wanted.emit(self.currentIndex().row())
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """Put the chosen cells on the clipboard, as tab-separated lines of their full text."""
        QApplication.clipboard().setText(cells_as_text(self.selectionModel().selectedIndexes()))


def cells_as_text(cells: Sequence[QModelIndex]) -> str:
    """Return cells as tab-separated lines; a cell's own tabs and line breaks become spaces."""
    rows: dict[int, dict[int, str]] = {}
    for cell in cells:
        text = cell.data(Qt.ItemDataRole.UserRole) or cell.data(Qt.ItemDataRole.DisplayRole) or ""
        rows.setdefault(cell.row(), {})[cell.column()] = " ".join(str(text).split())
    return "\n".join("\t".join(row[column] for column in sorted(row)) for _, row in sorted(rows.items()))
