"""A difference of two scores against none: a dot, a line over its interval, a ring for each seed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.axes import Axes, round_ticks
from app.plots.figure import Figure, Numbers
from app.plots.strokes import level_line, level_span, upright_line, write

MARGIN = 18  # px
RING = 2.8
SIDE = 0.3  # of the axis, at least, on both sides of none


class DifferencePlot(Figure):
    """Points that the second is better by. At the left of none the first is better."""

    wanted_size = (280, 64)
    least_size = (160, 64)
    _value: float | None = None
    _interval: tuple[float, float] | None = None
    _seeds: tuple[float, ...] = ()
    _sides = ("", "")

    def set_difference(
        self,
        value: float | None,
        interval: tuple[float, float] | None,
        seeds: Sequence[float],
        sides: tuple[str, str],
    ) -> None:
        """Show a difference, in points. Args: seeds: of each seed. sides: "A better", "B better"."""
        self._value, self._interval, self._seeds, self._sides = value, interval, tuple(seeds), sides
        if value is not None:
            self.setAccessibleDescription(f"{words.decimal(value, 1)}")
        self.update()

    def numbers(self) -> Numbers:
        rows: Numbers = [["what", "points"]]
        if self._value is not None:
            rows.append(["difference", self._value])
            rows += [[name, end] for name, end in zip(("low", "high"), self._interval or (), strict=False)]
            rows += [["seed", value] for value in self._seeds]
        return rows

    def paint(self, painter: QPainter, area: QRectF) -> None:
        value = self._value or 0.0
        ends = [0.0, value, *(self._interval or ()), *self._seeds]
        low, high = min(ends), max(ends)
        room = max(0.5, high - low) * 0.08
        low, high = low - room, high + room
        low, high = min(low, -SIDE * (high - low)), max(high, SIDE * (high - low))  # room for words
        axes = Axes(area.adjusted(MARGIN, 2, -MARGIN, -18), (low, high))
        painter.setPen(QPen(theme.current().color("line"), 1))
        level_line(painter, axes.area.left(), axes.area.right(), axes.area.bottom())
        ticks = round_ticks(low, high, max(2.0, axes.area.width() / 60))
        axes.paint_across(painter, ((tick, _signed(tick)) for tick in ticks), marks=True)
        self._paint_sides(painter, axes.area, axes.x_of(0.0))
        color, middle = QColor(theme.category(1 if value >= 0 else 0)), axes.area.center().y() + 4
        painter.setPen(QPen(color, 1.6))
        if self._interval is not None:
            left, right = map(axes.x_of, self._interval)
            level_span(painter, left, right, middle, 4)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(axes.x_of(value), middle), 4.5, 4.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1))
        for seed in self._seeds:
            painter.drawEllipse(QPointF(axes.x_of(seed), middle + 11), RING, RING)

    def _paint_sides(self, painter: QPainter, area: QRectF, zero: float) -> None:
        painter.setPen(QPen(theme.current().color("text"), 1))
        upright_line(painter, zero, area.top(), area.bottom())
        first, second = self._sides
        write(painter, QRectF(zero - 120, area.top(), 114, 16), first, "muted", size=12, side=RIGHT)
        write(painter, QRectF(zero + 6, area.top(), 114, 16), second, "muted", size=12)


def _signed(value: float) -> str:
    return f"{value:+g}".replace("-", words.MINUS) if value else "0"
