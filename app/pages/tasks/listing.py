"""Rows of cells above, and a picture of the chosen one below; only what is in sight is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHeaderView, QWidget

from app.look.cells import CellsModel, CellText
from app.look.layout import column
from app.look.table_view import TableView
from app.look.widgets import set_role
from app.plots.word_flow import WordsFigure

MOST_WIDTH = 200  # px of a column
LOOKED_AT = 50  # rows by which it is made as wide as it needs


class CellTable(TableView):
    """Rows of cells; the wide columns take what room the others leave.

    is_dense: with little room around cells, for many columns in a narrow card.
    """

    def __init__(
        self, name: str, title: str, parent: QWidget | None = None, *, is_dense: bool = False
    ) -> None:
        super().__init__(parent)
        self.cells = CellsModel(self)
        self._around = (24, 28)  # px beside a cell and beside a title
        if is_dense:
            self._around = (16, 18)
            for part in (self, self.horizontalHeader()):
                set_role(part, "dense")
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setModel(self.cells)
        self.choose_rows(26, is_one=True)
        self.horizontalHeader().setStretchLastSection(False)

    def set_rows(
        self,
        names: Sequence[str],
        count: int,
        cell: CellText,
        *,
        wide: Sequence[int] = (0,),
        numbers: Sequence[int] = (),
        most_width: int = MOST_WIDTH,
    ) -> None:
        """Show rows, none of them chosen. Args: most_width: px of a column that is not wide."""
        self.cells.set_rows(names, count, cell, numbers)
        header, modes = self.horizontalHeader(), QHeaderView.ResizeMode
        for place, name in enumerate(names):
            header.setSectionResizeMode(place, modes.Stretch if place in wide else modes.Interactive)
            if place not in wide:
                cells = (cell(row, place) for row in range(min(count, LOOKED_AT)))
                self.setColumnWidth(place, min(most_width, self.width_of(name, cells)))

    def width_of(self, name: str, cells: Iterable[str]) -> int:
        """Return the px that a column needs. Args: cells: the first of its cells."""
        beside_cell, beside_title = self._around
        widest = max(map(self.fontMetrics().horizontalAdvance, cells), default=0)
        titled = self.horizontalHeader().fontMetrics().horizontalAdvance(name)
        return max(widest + beside_cell, titled + beside_title)


class RowsList(QWidget):
    """The rows above, a picture of the chosen one below; `row_chosen` asks for it."""

    row_chosen = Signal(int)

    def __init__(self, view: CellTable, picture: WordsFigure[Any]) -> None:
        super().__init__()
        self.view = view
        self._picture = picture
        column((self.view, 1), picture, parent=self)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)

    def set_rows(
        self, names: Sequence[str], count: int, cell: CellText, *, is_first_chosen: bool = True, **how: Any
    ) -> None:
        """Show rows, the first of them chosen, or none. Args: how: as of `CellTable`."""
        self.view.set_rows(names, count, cell, **how)
        self._picture.clear()
        if count and is_first_chosen:
            self.choose(0)

    def choose(self, row: int) -> None:
        """Choose a row as a click does."""
        self.view.selectRow(row)

    def _chosen(self) -> None:
        row = self.view.currentIndex().row()
        if row >= 0:
            self.row_chosen.emit(row)
