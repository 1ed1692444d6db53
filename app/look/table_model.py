"""A table as Qt sees it: cells are read when they are shown, so millions of rows cost nothing.

Rows are the Table's 0-based ones, or some of them in an order of their own; the vertical header shows the
1-based line of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, Qt

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.rows_model import Index, RowsModel, TableColumn
from engine.text.roles import EVERY

if TYPE_CHECKING:
    from engine.text.roles import Role, Roles
    from engine.text.table import Table

SHOWN = 240  # characters of a cell that are looked at for its one line
TOLD = 2_000  # characters of a cell in its tooltip
ChangedCells = Callable[[int, str], str | None]  # what a row's cell of one column becomes; None: it stays


class TableModel(RowsModel):
    """An engine Table, and beside it columns of answers that come while a task runs; and what becomes of its
    cells and rows by mends, which the table itself does not know of.
    """

    def __init__(self, table: Table | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.set_table(table)

    def set_table(self, table: Table | None) -> None:
        """Show another table, or none."""
        self._table = table
        self._arrays: dict[int, Any] = {}  # cells of the columns that have been on screen
        self._roles: dict[str, str] = {}
        self._answers: dict[str, np.ndarray] = {}
        self._left_out: Collection[int] = ()
        self._changed: dict[int, ChangedCells] = {}  # by the place of their column
        self._show(None)

    def show_only(self, rows: np.ndarray | None) -> None:
        """Show some rows of the table, in the order given, or all of them. Not beside columns of answers."""
        assert not self._answers
        self._show(rows)

    def _show(self, only: np.ndarray | None) -> None:
        table, self._only = self._table, only
        names = () if table is None else table.columns
        columns = [self._column(name, partial(self._text, at)) for at, name in enumerate(names)]
        every = () if table is None else table.lines
        self.put(columns, range(len(every if only is None else only)))

    def set_mends(self, left_out: Collection[int], changed: Mapping[str, ChangedCells]) -> None:
        """Say which rows are left out, and which cells are others now. Args: changed: by column."""
        self._left_out = left_out
        columns = self._table.columns if self._table is not None else ()
        self._changed = {columns.index(name): cells for name, cells in changed.items() if name in columns}
        if self.rowCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def table_row(self, shown: int) -> int:
        """Return the table's row of one that is shown."""
        return shown if self._only is None else int(self._only[shown])

    def set_roles(self, roles: Roles, asked: Sequence[Role] = ()) -> None:
        """Say in the header what the columns are for. Args: asked: roles that are called otherwise."""
        said = {role.name: words.tr_engine(role.word) for role in (*EVERY, *asked)}
        if roles.text_pair:
            said["text"] = self.tr("text A")
        self._roles = {name: said[role] for role, names in roles.items() for name in names}
        self.columns = tuple(map(self._headed, self.columns))
        if self.columns:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def add_column(self, name: str) -> None:
        """Add an empty column of answers at the right."""
        at = len(self.columns)
        self.beginInsertColumns(QModelIndex(), at, at)
        self._answers[name] = cells = np.full(len(self.rows), "", dtype=object)
        self.columns += (self._column(name, cells.__getitem__),)
        self.endInsertColumns()

    def answer(self, name: str, rows: Any, values: Sequence[str]) -> None:
        """Write answers into some rows of a column that was added."""
        places = np.asarray(rows, dtype=np.int64)
        if not len(places):
            return
        self._answers[name][places] = np.array(values, dtype=object)
        column = len(self.columns) - len(self._answers) + list(self._answers).index(name)
        self.dataChanged.emit(self.index(int(places.min()), column), self.index(int(places.max()), column))

    def clear_columns(self) -> None:
        """Take all columns of answers away."""
        if self._answers:
            first = len(self.columns) - len(self._answers)
            self.beginRemoveColumns(QModelIndex(), first, len(self.columns) - 1)
            self._answers, self.columns = {}, self.columns[:first]
            self.endRemoveColumns()

    def row_head(self, place: int) -> str:
        """Return the 1-based line of the file where a row starts."""
        assert self._table is not None
        return str(int(self._table.lines[self.table_row(place)]))

    def _column(self, name: str, whole: Callable[[int], str]) -> TableColumn:
        def told(row: int) -> str:
            text = str(whole(row))
            return text if len(text) <= TOLD else text[:TOLD] + "…"

        return self._headed(TableColumn(name, whole, longest=SHOWN, told=told, saved=name))

    def _headed(self, column: TableColumn) -> TableColumn:
        """Return a column under its name, with what it is for."""
        name, purpose = column.saved, self._roles.get(column.saved, "")
        shown = words.shorten(name, 40)
        if not purpose:
            return replace(column, head=shown, help=tip(name))
        said = self.tr("{name}, used as {role}").format(name=name, role=purpose)
        return replace(column, head=f"{shown}  ▸ {purpose}", help=tip(said))

    def _text(self, column: int, shown: int) -> str:
        """Return a cell as it is mended."""
        cell = self.cell_of(column, shown)
        changed = self._mended(column, shown, cell)
        return cell if changed is None else changed

    def cell_of(self, column: int, shown: int) -> str:
        """Return a cell of the table as it stands in the file."""
        if column not in self._arrays:
            assert self._table is not None
            self._arrays[column] = self._table.frame.iloc[:, column].array
        return str(self._arrays[column][self.table_row(shown)])

    def _mended(self, column: int, shown: int, cell: str) -> str | None:
        """Return what a cell was made by mends; None: it is as in the file."""
        if column not in self._changed:
            return None
        return self._changed[column](self.table_row(shown), cell)

    def _is_out(self, shown: int) -> bool:
        return not self._answers and self.table_row(shown) in self._left_out

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.FontRole or not index.isValid() or not self._is_out(index.row()):
            return super().data(index, role)
        font = theme.ui_font()
        font.setStrikeOut(True)
        return font

    def is_bold(self, row: int, column: TableColumn) -> bool | None:
        """Mark a cell that was changed."""
        if self._answers or not self._changed:
            return None
        place = next((one for one in self._changed if self.columns[one] is column), -1)
        if place < 0:
            return None
        return True if self._mended(place, row, self.cell_of(place, row)) is not None else None

    def ink_of(self, row: int, column: TableColumn) -> str:
        """Mark what is left out."""
        return "muted" if self._is_out(row) else ""

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        is_name = orientation == Qt.Orientation.Horizontal and 0 <= section < len(self.columns)
        if is_name and role == Qt.ItemDataRole.FontRole and self.columns[section].saved in self._roles:
            return theme.ui_font(bold=True)
        return super().headerData(section, orientation, role)
