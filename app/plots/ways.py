"""What several ways reached, a row each: a dot a seed, a mark at the mean, a line over its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import Cell, Column, color_of, figures, of, row_itself
from app.plots.axes import round_ticks
from app.plots.columns import ColumnsFigure, Span
from app.plots.figure import Numbers

DOT = 3.5  # px, half as wide as a seed's dot
VALUE = 58  # px of the mean in figures
LEAST_SPAN = 0.02  # of the axis


@dataclass(frozen=True, slots=True)
class WayRow:
    """values: of each seed, shares of 1. interval: 95 % of their mean, None for one seed.

    value: what stands in the place of their mean where there are no seeds, as in cross-validation.
    """

    name: str
    values: tuple[float, ...]
    interval: tuple[float, float] | None = None
    value: float | None = None

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values) if self.value is None else self.value


@dataclass(frozen=True, slots=True)
class _Dots(Cell):
    """A dot a seed, a mark at the mean, a line over its interval, on an axis from low to high."""

    low: float
    high: float
    row: WayRow

    def x_of(self, value: float, room: QRectF) -> float:
        """Return where a value lies."""
        return room.left() + room.width() * (value - self.low) / (self.high - self.low)

    def paint(self, painter: QPainter, room: QRectF) -> None:
        row, middle = self.row, room.center().y()
        if row.interval is not None:
            painter.setPen(QPen(color_of("accent"), 2))
            low, high = (self.x_of(min(max(end, self.low), self.high), room) for end in row.interval)
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color_of("muted"))
        for value in row.values:
            painter.drawEllipse(QPointF(self.x_of(value, room), middle), DOT, DOT)
        painter.setPen(QPen(color_of("accent"), 3))
        mean = self.x_of(row.mean, room)
        painter.drawLine(QPointF(mean, middle - 9), QPointF(mean, middle + 9))


class WaysPlot(ColumnsFigure):
    """The rows as they are known so far, on one axis."""

    head, row_height, head_size = 26, 40, 11
    edges, gap = (4.0, 6.0), 12.0
    _metric = _taken = ""

    def set_rows(self, rows: Sequence[WayRow], metric: str, taken: str = "") -> None:
        """Show some ways. Args: metric: what their values are. taken: which matters; "" for the best."""
        self._metric, self._taken = metric, taken
        self.show_rows(rows)

    def numbers(self) -> Numbers:
        most = max((len(row.values) for row in self.rows), default=0)
        seeds = [f"seed {number + 1}" for number in range(most)]
        rows: Numbers = [["way", self._metric, "low", "high", *seeds]]
        for row in self.rows:
            low, high = row.interval or ("", "")
            rows.append([row.name, row.mean, low, high, *row.values])
        return rows

    def words_of(self, target: int) -> str:
        row = self.rows[target]
        said = words.captioned(row.name, self._said(row.mean))
        if row.interval is not None:
            low, high = map(self._said, row.interval)
            said = self.tr("{said} (95 %: {low} to {high})").format(said=said, low=low, high=high)
        return f"{said}\n{words.listed(map(self._said, row.values))}" if row.values else said

    def summary(self) -> str:
        return words.clauses(f"{row.name} {self._said(row.mean)}" for row in self.rows)

    def _said(self, value: float) -> str:
        return words.score(value) if words.is_share(self._metric) else words.decimal(value)

    def _tick(self, value: float) -> str:
        """Return a value of the axis, no longer than it has to be."""
        if not words.is_share(self._metric):
            return f"{value:g}".replace("-", words.MINUS)
        return words.share(value, 0 if math.isclose(100 * value, round(100 * value)) else 1)

    def sizeHint(self) -> QSize:
        return QSize(420, self.head + max(4, self.num_rows) * self.row_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.head + 3 * self.row_height)

    def _span(self) -> tuple[float, float]:
        """Return the ends of the axis."""
        ends = [end for row in self.rows for end in (row.mean, *row.values, *(row.interval or ()))]
        low, high = min(ends), max(ends)
        room = max(LEAST_SPAN, high - low) * 0.06
        return max(0.0, low - room), min(1.0, high + room)

    def matters(self, place: int) -> bool:
        if self._taken:
            return bool(self.rows[place].name == self._taken)
        return self.rows[place] is max(self.rows, key=lambda row: row.mean)

    def columns(self) -> tuple[Column, ...]:
        names = min(self.widest((row.name for row in self.rows), bold=True) + 6, self.canvas().width() * 0.42)
        dots = partial(_Dots, *self._span())
        return (
            Column("", of("name"), str, names),
            Column("", row_itself, dots, gap=8.0, least=40.0),
            figures("", of("mean"), self._said, ink="text", bolds=True, width=VALUE),
        )

    def paint_heads(self, painter: QPainter, spans: Sequence[Span]) -> None:
        """Paint the axis over the rows, and its lines behind them."""
        _column, left, right = spans[1]
        room, (low, high) = QRectF(left, 0, right - left, self.head), self._span()
        painter.setFont(theme.ui_font(self.head_size))
        for tick in round_ticks(low, high, 4):
            x = _Dots(low, high, self.rows[0]).x_of(tick, room)
            painter.setPen(QPen(color_of("line"), 1))
            painter.drawLine(QPointF(x, self.head - 4), QPointF(x, self.top_of(self.num_rows)))
            painter.setPen(color_of("muted"))
            place = QRectF(x - 30, 2, 60, self.head - 8)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._tick(tick))
