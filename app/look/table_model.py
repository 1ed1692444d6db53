"""A table as Qt sees it: cells are read when they are shown, so millions of rows cost nothing.

Rows are the Table's 0-based ones, or some of them in an order of their own; the vertical header shows the
1-based line of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app import words
from app.look import theme
from app.look.labels import tip
from engine.text.roles import EVERY

if TYPE_CHECKING:
    from engine.text.roles import Roles
    from engine.text.table import Table

Index = QModelIndex | QPersistentModelIndex
SHOWN = 240  # characters of a cell that are looked at for its one line
TOLD = 2_000  # characters of a cell in its tooltip


class TableModel(QAbstractTableModel):
    """An engine Table, and beside it columns of answers that come while a task runs; and what becomes of its
    cells and rows by mends, which the table itself does not know of.
    """

    def __init__(self, table: Table | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table: Table | None = None
        self._columns: dict[int, Any] = {}  # cells of the columns that have been on screen
        self._roles: dict[str, str] = {}
        self._answers: dict[str, np.ndarray] = {}
        self._beside: dict[str, Sequence[str]] = {}  # name -> a cell for each row that is shown
        self._left_out: Collection[int] = ()
        self._labels: Mapping[int, str] = {}
        self._label_column = -1
        self._only: np.ndarray | None = None
        self.set_table(table)

    @property
    def table(self) -> Table | None:
        return self._table

    def set_table(self, table: Table | None) -> None:
        """Show another table, or none."""
        self.beginResetModel()
        self._table = table
        self._columns, self._roles, self._answers, self._only = {}, {}, {}, None
        self._beside, self._left_out, self._labels = {}, (), {}
        self.endResetModel()

    def show_only(self, rows: np.ndarray | None, beside: Mapping[str, Sequence[str]] | None = None) -> None:
        """Show some rows of the table, in the order given, or all of them. Not beside columns of answers.

        Args: beside: more columns, a cell for each of these rows.
        """
        assert not self._answers
        self.beginResetModel()
        self._only, self._beside = rows, dict(beside or {})
        self.endResetModel()

    def set_mends(self, left_out: Collection[int], labels: Mapping[int, str], column: str) -> None:
        """Say which rows are left out, and which have another label. Args: column: of the labels."""
        self._left_out, self._labels = left_out, labels
        columns = self._table.columns if self._table is not None else ()
        self._label_column = columns.index(column) if column in columns else -1
        if self.rowCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def table_row(self, shown: int) -> int:
        """Return the table's row of one that is shown."""
        return shown if self._only is None else int(self._only[shown])

    def set_roles(self, roles: Roles) -> None:
        """Say in the header what the columns are for."""
        said = {role.name: words.tr_engine(role.word) for role in EVERY}
        if roles.text_pair:
            said["text"] = self.tr("text A")
        self._roles = {name: said[role] for role, names in roles.items() for name in names}
        if self.columnCount():
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)

    def add_column(self, name: str) -> None:
        """Add an empty column of answers at the right."""
        at = self.columnCount()
        self.beginInsertColumns(QModelIndex(), at, at)
        self._answers[name] = np.full(self.rowCount(), "", dtype=object)
        self.endInsertColumns()

    def put(self, name: str, rows: Any, values: Sequence[str]) -> None:
        """Write answers into some rows of a column that was added."""
        places = np.asarray(rows, dtype=np.int64)
        if not len(places):
            return
        self._answers[name][places] = np.array(values, dtype=object)
        column = self._num_columns + list(self._answers).index(name)
        self.dataChanged.emit(self.index(int(places.min()), column), self.index(int(places.max()), column))

    def clear_columns(self) -> None:
        """Take all columns of answers away."""
        if self._answers:
            first = self._num_columns
            self.beginRemoveColumns(QModelIndex(), first, first + len(self._answers) - 1)
            self._answers = {}
            self.endRemoveColumns()

    def full_text(self, row: int, column: int) -> str:
        """Return a cell as it stands in the file."""
        if self._beside and column >= self._num_columns:
            return str(list(self._beside.values())[column - self._num_columns][row])
        if column == self._label_column and self._labels and (label := self._labels.get(self.table_row(row))):
            return label
        if column >= self._num_columns:
            return str(list(self._answers.values())[column - self._num_columns][row])
        if column not in self._columns:
            assert self._table is not None
            self._columns[column] = self._table.frame.iloc[:, column].array
        return str(self._columns[column][self.table_row(row)])

    @property
    def _num_columns(self) -> int:
        return len(self._table.columns) if self._table is not None else 0

    def line_of(self, row: int) -> int:
        """Return the 1-based line of the file where a row starts."""
        assert self._table is not None
        return int(self._table.lines[self.table_row(row)])

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        if parent.isValid() or self._table is None:
            return 0
        return len(self._table.lines if self._only is None else self._only)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else self._num_columns + len(self._answers) + len(self._beside)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return words.shorten(self.full_text(index.row(), index.column()), SHOWN)
        if role == Qt.ItemDataRole.ToolTipRole:
            text = self.full_text(index.row(), index.column())
            return tip(text if len(text) <= TOLD else text[:TOLD] + "…")
        if role == Qt.ItemDataRole.UserRole:
            return self.full_text(index.row(), index.column())
        if role in (Qt.ItemDataRole.FontRole, Qt.ItemDataRole.ForegroundRole) and not self._answers:
            return self._look(self.table_row(index.row()), index.column(), role)
        return None

    def _look(self, row: int, column: int, role: int) -> Any:
        """Return how a mended cell looks: struck out where its row is left out, bold where it was changed."""
        is_out = row in self._left_out
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme.current().color("muted") if is_out else None
        if is_out:
            font = theme.ui_font()
            font.setStrikeOut(True)
            return font
        return theme.ui_font(bold=True) if column == self._label_column and row in self._labels else None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return str(self.line_of(section)) if role == Qt.ItemDataRole.DisplayRole else None
        columns = self._table.columns if self._table is not None else ()
        names = [*columns, *self._answers, *self._beside]
        if not 0 <= section < len(names):
            return None
        name, purpose = names[section], self._roles.get(names[section], "")
        if role == Qt.ItemDataRole.DisplayRole:
            shown = words.shorten(name, 40)
            return f"{shown}  ▸ {purpose}" if purpose else shown
        if role == Qt.ItemDataRole.ToolTipRole:
            said = self.tr("{name}, used as {role}").format(name=name, role=purpose) if purpose else name
            return tip(said)
        if role == Qt.ItemDataRole.FontRole and purpose:
            return theme.ui_font(bold=True)
        return None
