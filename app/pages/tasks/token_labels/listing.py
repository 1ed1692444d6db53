"""A list of texts with the words of the chosen one below it; only what is in sight is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHeaderView, QWidget

from app.look.cells import Cell, Cells
from app.look.layout import column
from app.look.table_view import TableView
from app.look.widgets import set_role
from app.plots.tagged_words import TaggedWordsPlot

MOST_WIDTH = 200  # px of a column


class CellTable(TableView):
    """Rows of cells; the wide column takes what room the others leave.

    is_dense: with little room around cells, for many columns in a narrow card.
    """

    def __init__(
        self, name: str, title: str, parent: QWidget | None = None, *, is_dense: bool = False
    ) -> None:
        super().__init__(parent)
        self.cells = Cells(self)
        self._around = (24, 28)  # px beside a cell and beside a title
        if is_dense:
            self._around = (16, 18)
            for part in (self, self.horizontalHeader()):
                set_role(part, "dense")
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setModel(self.cells)
        self.setSelectionBehavior(TableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        self.horizontalHeader().setStretchLastSection(False)

    def set_rows(
        self,
        names: Sequence[str],
        count: int,
        cell: Cell,
        *,
        wide: int,
        numbers: Sequence[int] = (),
        most_width: int = MOST_WIDTH,
    ) -> None:
        """Show rows, none of them chosen. Args: most_width: px of a column that is not wide."""
        self.cells.set_rows(names, count, cell, numbers)
        header, modes = self.horizontalHeader(), QHeaderView.ResizeMode
        for place, name in enumerate(names):
            header.setSectionResizeMode(place, modes.Stretch if place == wide else modes.Interactive)
            if place != wide:
                widest = max(
                    (self.fontMetrics().horizontalAdvance(cell(row, place)) for row in range(min(count, 50))),
                    default=0,
                )
                title = header.fontMetrics().horizontalAdvance(name)
                beside_cell, beside_title = self._around
                self.setColumnWidth(place, min(most_width, max(widest + beside_cell, title + beside_title)))


class TextList(QWidget):
    """The rows above, the words of the chosen one below; `row_chosen` asks for them."""

    row_chosen = Signal(int)

    def __init__(self, name: str, title: str, *, most_lines: int = 4, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = CellTable(name, title)
        self.view.setMinimumHeight(84)
        self.words = TaggedWordsPlot(self.tr("Words of the text"), most_lines=most_lines)
        self.words.setObjectName(f"{name}_words")
        self.words.set_empty_text(self.tr("Choose a text to see its words."))
        column((self.view, 1), self.words, parent=self)
        self.view.selectionModel().currentRowChanged.connect(self._chosen)

    def set_rows(
        self,
        names: Sequence[str],
        count: int,
        cell: Cell,
        *,
        wide: int,
        numbers: Sequence[int] = (),
        most_width: int = MOST_WIDTH,
    ) -> None:
        """Show rows, the first of them chosen. Args: as of `CellTable`."""
        self.view.set_rows(names, count, cell, wide=wide, numbers=numbers, most_width=most_width)
        self.words.clear()
        if count:
            self.view.selectRow(0)

    @Slot()
    def _chosen(self) -> None:
        row = self.view.currentIndex().row()
        if row >= 0:
            self.row_chosen.emit(row)
