"""A calm table view: no grid, rows of one height, one line a cell."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHeaderView,
    QLabel,
    QTableView,
    QVBoxLayout,
    QWidget,
)


class TableView(QTableView):
    """A calm table: no grid, rows of one height, one line a cell; Ctrl+C copies, Tab leaves it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, showGrid=False, wordWrap=False)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QTableView.SelectionMode.ContiguousSelection)
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        lines, columns = self.verticalHeader(), self.horizontalHeader()
        lines.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        lines.setDefaultSectionSize(30)
        lines.setMinimumWidth(52)  # room for the word above the numbers
        lines.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        columns.setStretchLastSection(True)
        columns.setMinimumHeight(30)
        for header in (lines, columns):
            header.setHighlightSections(False)
        corner = self.findChild(QAbstractButton)
        if corner:
            words = QLabel(self.tr("line"))
            words.setProperty("role", "muted")
            QVBoxLayout(corner).addWidget(words, 0, Qt.AlignmentFlag.AlignRight)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
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
