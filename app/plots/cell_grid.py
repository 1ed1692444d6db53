"""Where the cells of a matrix lie, and which of them is under the pointer."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF


@dataclass(frozen=True, slots=True)
class CellGrid:
    """Even cells that fill an area. shape: rows, columns. is_whole: their edges lie on whole pixels."""

    area: QRectF
    shape: tuple[int, int]
    is_whole: bool = False

    def rect(self, row: int, column: int) -> QRectF:
        """Return where a cell lies."""
        (left, right), (top, bottom) = self.across(column), self.down(row)
        return QRectF(left, top, right - left, bottom - top)

    def across(self, column: int, count: int = 1) -> tuple[float, float]:
        """Return from where to where some columns lie, the first of them given."""
        return self._edges(self.area.left(), self.area.width(), column, count, self.shape[1])

    def down(self, row: int, count: int = 1) -> tuple[float, float]:
        """Return from where to where some rows lie, the first of them given."""
        return self._edges(self.area.top(), self.area.height(), row, count, self.shape[0])

    def under(self, at: QPointF) -> tuple[int, int] | None:
        """Return the row and column of the cell at a place; None outside."""
        if not self.area.contains(at):
            return None
        row = int((at.y() - self.area.top()) / self.area.height() * self.shape[0])
        column = int((at.x() - self.area.left()) / self.area.width() * self.shape[1])
        return min(row, self.shape[0] - 1), min(column, self.shape[1] - 1)

    def _edges(self, start: float, long: float, place: int, count: int, of: int) -> tuple[float, float]:
        first, last = long * place / of, long * (place + count) / of
        return (start + round(first), start + round(last)) if self.is_whole else (start + first, start + last)
