"""Pictures of rows of cells: a child class says its columns and what is said of a row, and nothing is painted
by hand but what no other picture has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.look.columns import Column, Row
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure
from app.plots.strokes import level_line, paint_chip, write
from app.words import clauses

Span = tuple[Column, float, float]  # a column, with its left and right
MOST_MEASURED = 2000  # rows whose words are measured for a column's width


class ColumnsFigure(RowsFigure):
    """Base of the pictures of rows of cells. Where it is a door, a click on a row tells its place."""

    chosen = Signal(int)
    is_door = False
    gap = 8.0  # px between two columns
    edges = (2.0, 0.0)  # px at the left and the right of all
    head_size = 12
    head_rim = (0.0, 4.0)  # px above the heads and below them
    head_side = Qt.AlignmentFlag.AlignVCenter
    has_line = True  # below the heads
    most_summed_up = 0  # rows whose words are the summary

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.rows: tuple[Row, ...] = ()
        self.marked: frozenset[int] = frozenset()

    def columns(self) -> Sequence[Column]:
        """Return the columns from left to right, as wide as they are now."""
        raise NotImplementedError

    def matters(self, place: int) -> bool:
        """Whether a row's words are bold."""
        return False

    def show_rows(self, rows: Iterable[Row]) -> None:
        """Show other rows than before."""
        self.rows, self.is_dim = tuple(rows), False
        self.rows_changed()

    def clear(self) -> None:
        """Show nothing."""
        self.show_rows(())

    def mark_rows(self, places: Collection[int]) -> None:
        """Put a ground under some rows, such as those whose texts are shown."""
        self.marked = frozenset(places)
        self.canvas().update()

    @property
    def num_rows(self) -> int:
        return len(self.rows)

    def numbers(self) -> Numbers:
        saved = [pair for column in self.columns() for pair in column.of_file()]
        return [[name for name, _value in saved], *([value(row) for _, value in saved] for row in self.rows)]

    def summary(self) -> str:
        return clauses(map(self.words_of, range(min(self.most_summed_up, self.num_rows))))

    def can_choose(self, target: int) -> bool:
        return self.is_door

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def tip_at(self, at: QPointF) -> str:
        if at.y() >= self.head:
            return super().tip_at(at)
        return next((column.help for column, left, right in self.spans() if left <= at.x() <= right), "")

    # ---- where the columns lie

    def widest(self, texts: Iterable[str], *, bold: bool = False, size: int = theme.UI_SIZE) -> float:
        """Return the px that the widest of some texts takes."""
        metrics = QFontMetricsF(theme.ui_font(size, bold=bold))
        some = (text for text, _ in zip(texts, range(MOST_MEASURED), strict=False))
        return max(map(metrics.horizontalAdvance, some), default=0.0)

    def spans(self) -> Iterator[Span]:
        """Yield the columns that have room, with left and right of each; none while there are no rows."""
        if not self.rows:
            return
        room = float(self.canvas().width())
        shown = [column for column in self.columns() if room >= column.least_room]
        gaps = [self.gap if column.gap is None else column.gap for column in shown]
        gaps[:1] = [self.edges[0]]
        taken = [column.width or 0.0 for column in shown]
        rest = room - sum(gaps) - sum(taken) - self.edges[1]
        left = 0.0
        for column, gap, width in zip(shown, gaps, taken, strict=True):
            left += gap
            if column.width is None:
                yield column, left, left + max(column.least, rest)
                left += rest  # where there is too little room, it gives way
            else:
                yield column, left, left + width
                left += width

    # ---- painting

    def paint(self, painter: QPainter, area: QRectF) -> None:
        if self.is_dim and not self._saving:
            painter.setOpacity(0.55)
        spans = list(self.spans())
        if self.head and spans:
            self.paint_heads(painter, spans)
        for place, room in self.rows_in(area):
            row = self.rows[place]
            self.paint_ground(painter, place, room)
            for column, left, right in spans:
                cell = column.cell(row, self.matters(place))
                cell.paint(painter, QRectF(left, room.top(), right - left, room.height()))
        self.paint_mark(painter)

    def paint_heads(self, painter: QPainter, spans: Sequence[Span]) -> None:
        """Paint what stands over the columns, and a line below it."""
        above, below = self.head_rim
        for place, (column, left, right) in enumerate(spans):
            side = column.side & Qt.AlignmentFlag.AlignHorizontal_Mask
            if side == Qt.AlignmentFlag.AlignLeft:  # it may reach over the columns that have no head
                beside = takewhile(lambda span: not span[0].head, spans[place + 1 :])
                right = max([right, *(end for _column, _left, end in beside)])
            room = QRectF(left, above, right - left, self.head - above - below)
            write(painter, room, column.head, "muted", size=self.head_size, side=side | self.head_side)
        if self.has_line:
            painter.setPen(QPen(theme.current().color("line"), 1))
            level_line(painter, 0, self.canvas().width(), self.head - below / 2)

    def paint_ground(self, painter: QPainter, place: int, room: QRectF) -> None:
        """Paint what lies under a row's cells."""
        if place in self.marked:
            paint_chip(painter, room.adjusted(0, 1, 0, -1), theme.current().accent_soft)
