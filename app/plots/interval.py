"""A score as a picture in a row: a dot, a line over its 95 % interval, a tick for each seed, on one scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from app.plots.axes import round_ticks
from app.plots.strokes import level_span, upright_line

DOT, CAP, SEED = 3.5, 3.0, 4.0  # px
LEAST_SPAN = 0.01  # of the scale
MOST_TICKS = 6
MARGIN = 10  # px at both ends


@dataclass(frozen=True, slots=True)
class IntervalScale:
    """What the pictures of all rows share. low, high: the values at the ends."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float], least: float = LEAST_SPAN) -> IntervalScale:
        """Return a scale on which all values lie, with a little room."""
        found = list(values)
        low, high = min(found, default=0.0), max(found, default=1.0)
        room = max(least, high - low) * 0.04
        return cls(low - room, high + room)

    def x_of(self, value: float, area: QRectF) -> float:
        """Return where a value lies."""
        inner = area.adjusted(MARGIN, 0, -MARGIN, 0)
        return inner.left() + inner.width() * (value - self.low) / (self.high - self.low)

    def ticks(self, width: float) -> list[float]:
        """Return the round values that are written over a picture so wide."""
        return round_ticks(self.low, self.high, max(2.0, min(MOST_TICKS, width / 28)))


def paint_interval(
    painter: QPainter,
    area: QRectF,
    scale: IntervalScale,
    mean: float,
    interval: tuple[float, float] | None,
    values: Sequence[float],
    color: QColor,
) -> None:
    """Paint one row. Args: values: of each seed; ticks stand beneath where there are several."""
    middle = area.center().y() - (2.0 if len(values) > 1 else 0.0)
    painter.setPen(QPen(color, 1.5))
    if interval is not None:
        low, high = (scale.x_of(end, area) for end in interval)
        level_span(painter, low, high, middle, CAP)
    if len(values) > 1:
        painter.setPen(QPen(color, 1.3))
        for value in values:
            upright_line(painter, scale.x_of(value, area), middle + 5, middle + 5 + SEED)
    painter.setPen(QPen(color, 0))
    painter.setBrush(color)
    painter.drawEllipse(QPointF(scale.x_of(mean, area), middle), DOT, DOT)
