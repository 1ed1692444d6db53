"""A table whose cells are asked for when they come into sight, of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app import words
from app.look.labels import tip

Index = QModelIndex | QPersistentModelIndex
Cell = Callable[[int, int], str]  # of a row and a column
LONGEST_CELL, LONGEST_TIP = 160, 1000  # characters


class Cells(QAbstractTableModel):
    """Rows of cells that are asked for one by one, of a function that knows no widget."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._names: tuple[str, ...] = ()
        self._count = 0
        self._cell: Cell = lambda _row, _column: ""
        self._numbers: tuple[int, ...] = ()

    def set_rows(self, names: Sequence[str], count: int, cell: Cell, numbers: Sequence[int] = ()) -> None:
        """Show other rows. Args: numbers: the columns that hold numbers, which stand at the right."""
        self.beginResetModel()
        self._names, self._count, self._cell, self._numbers = tuple(names), count, cell, tuple(numbers)
        self.endResetModel()

    def touch(self, column: int) -> None:
        """Ask for a column's cells again."""
        if self._count:
            self.dataChanged.emit(self.index(0, column), self.index(self._count - 1, column))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else len(self._names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return words.shorten(" ".join(self._cell(index.row(), index.column()).split()), LONGEST_CELL)
        if role == Qt.ItemDataRole.UserRole:
            return self._cell(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(words.shorten(self._cell(index.row(), index.column()), LONGEST_TIP))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self._names):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._names[section]
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if column in self._numbers else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter
