"""A table whose cells are asked for when they come into sight, of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.look.columns import LEFT, RIGHT
from app.look.rows_model import RowsModel, TableColumn, text_column

CellText = Callable[[int, int], str]  # of a row and a column
LONGEST_CELL, LONGEST_TIP = 160, 1000  # characters


class CellsModel(RowsModel):
    """Rows of cells that are asked for one by one, of a function that knows no widget."""

    def set_rows(self, names: Sequence[str], count: int, cell: CellText, numbers: Sequence[int] = ()) -> None:
        """Show other rows. Args: numbers: the columns that hold numbers, which stand at the right."""
        self.put([_column(name, at, cell, at in numbers) for at, name in enumerate(names)], range(count))


def _column(name: str, at: int, cell: CellText, is_number: bool) -> TableColumn:
    def whole(row: int) -> str:
        return cell(row, at)

    side = RIGHT if is_number else LEFT
    return text_column(name, whole, longest=LONGEST_CELL, longest_tip=LONGEST_TIP, side=side)
