"""Axes of numbers as pictures paint them: where a value lies, round values beside it, names at line ends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.strokes import CENTER, level_line, upright_line, write

AXIS_SIZE = 11  # px of the numbers and names of an axis
NAME_GAP = 15.0  # px between two names at the ends of lines
Ticks = Iterable[tuple[float, str]]  # values and how they are written
Ends = tuple[float, float]
Rim = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Axes:
    """Where values lie. area: px. across, up: the values at its left and right, at its bottom and top."""

    area: QRectF
    across: Ends = (0.0, 1.0)
    up: Ends = (0.0, 1.0)

    @classmethod
    def inside(cls, whole: QRect, rim: Rim, across: Ends = (0.0, 1.0), up: Ends = (0.0, 1.0)) -> Axes:
        """Return the axes of an area in a picture. Args: rim: px left, above, right and below."""
        left, top, right, bottom = rim
        width, height = whole.width() - left - right, whole.height() - top - bottom
        return cls(QRectF(left, top, max(1.0, width), max(1.0, height)), across, up)

    def x_of(self, value: float) -> float:
        """Return where a value of the axis across lies."""
        low, high = self.across
        return self.area.left() + self.area.width() * (value - low) / ((high - low) or 1.0)

    def y_of(self, value: float) -> float:
        """Return where a value of the axis up lies."""
        low, high = self.up
        return self.area.bottom() - self.area.height() * (value - low) / ((high - low) or 1.0)

    def at(self, x: float, y: float) -> QPointF:
        """Return where a point lies."""
        return QPointF(self.x_of(x), self.y_of(y))

    def across_at(self, x: float) -> float:
        """Return the value of the axis across at a pixel."""
        low, high = self.across
        return low + (high - low) * (x - self.area.left()) / (self.area.width() or 1.0)

    def paint_up(self, painter: QPainter, ticks: Ticks, *, edge: bool = False, lift: float = 0.0) -> None:
        """Paint a level line at each value, and write it at the left.

        Args: edge: an upright line between. lift: px that all words stay above the bottom.
        """
        if edge:
            painter.setPen(QPen(theme.current().color("line"), 1))
            upright_line(painter, self.area.left(), self.area.top(), self.area.bottom())
        for value, said in ticks:
            y = self.y_of(value)
            painter.setPen(QPen(theme.current().color("line"), 1))
            level_line(painter, self.area.left(), self.area.right(), y)
            room = QRectF(0, min(y, self.area.bottom() - lift) - 8, self.area.left() - 6, 16)
            write(painter, room, said, "muted", size=AXIS_SIZE, side=RIGHT)

    def paint_across(self, painter: QPainter, ticks: Ticks, *, gap: float = 3.0, marks: bool = False) -> None:
        """Write each value under the area. Args: gap: px between. marks: a short stroke points to each."""
        for value, said in ticks:
            x = self.x_of(value)
            if marks:
                painter.setPen(QPen(theme.current().color("line"), 1))
                upright_line(painter, x, self.area.bottom(), self.area.bottom() + 3)
            room = QRectF(x - 40, self.area.bottom() + gap, 80, 14)
            write(painter, room, said, "muted", size=AXIS_SIZE, side=CENTER)

    def paint_name_across(self, painter: QPainter, name: str, gap: float = 19.0) -> None:
        """Write under the values what they are."""
        room = QRectF(self.area.left(), self.area.bottom() + gap, self.area.width(), 15)
        write(painter, room, name, "muted", size=AXIS_SIZE, side=CENTER)

    def paint_name_up(self, painter: QPainter, name: str, left: float = 0.0) -> None:
        """Write left of the values, turned, what they are."""
        painter.save()
        painter.translate(left, self.area.bottom())
        painter.rotate(-90)
        write(painter, QRectF(0, 0, self.area.height(), 14), name, "muted", size=AXIS_SIZE, side=CENTER)
        painter.restore()


def name_rooms(area: QRectF, left: float, width: float, ends: Sequence[float]) -> list[QRectF]:
    """Return where names stand beside the ends of their lines, moved apart where they would touch."""
    return [QRectF(left, y - 9, width, 18) for y in spread(ends, NAME_GAP, area.bottom())]


def round_ticks(low: float, high: float, most: float, least: float = 0.0) -> list[float]:
    """Return round values from `low` to `high`, in at most `most` steps, each at least `least` wide."""
    span = max(high - low, 1e-9)
    size = 10.0 ** math.floor(math.log10(span / most))
    step = max(least, next(size * factor for factor in (1, 2, 5, 10) if span / (size * factor) <= most))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * place, 12) for place in range(first, last + 1)]  # 0.3, not 0.30000000000000004


def spread(places: Sequence[float], apart: float, bottom: float) -> list[float]:
    """Return places moved as little as is needed to lie `apart` from each other and above `bottom`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    result = list(places)
    for before, after in pairwise(order):
        result[after] = max(result[after], result[before] + apart)
    limit = bottom
    for index in reversed(order):
        result[index] = min(result[index], limit)
        limit = result[index] - apart
    return result


def axis_ticks(ends: tuple[float, float], most: int) -> list[tuple[float, str]]:
    """Return round values on an axis, each with its words: so many digits that no two read alike."""
    found = round_ticks(*ends, most)
    said = [f"{tick:g}".replace("-", words.MINUS) for tick in found]
    if len(set(said)) < len(said):
        step = found[1] - found[0]
        said = [words.decimal(tick, max(0, -math.floor(math.log10(step) + 1e-9))) for tick in found]
    return list(zip(found, said, strict=True))
