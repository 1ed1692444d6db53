"""Marks that tell classes apart by shape as well as by colour, and values by size as well as by shade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from app.look import theme

MOST_CLASSES = 6  # as many as there are colours that can be told apart; the rest are "other"
FEW_VALUES = 12  # numbers of up to so many kinds are classes
SHADES = 7  # steps of a numeric column
OTHER = -1
_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (  # corners within a circle of radius 1; none: a disc
    (),
    ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    ((0.0, -1.1), (1.0, 0.75), (-1.0, 0.75)),
    ((0.0, -1.15), (1.15, 0.0), (0.0, 1.15), (-1.15, 0.0)),
    ((0.0, 1.1), (1.0, -0.75), (-1.0, -0.75)),
    (
        *((-0.35, -1.1), (0.35, -1.1), (0.35, -0.35), (1.1, -0.35), (1.1, 0.35), (0.35, 0.35)),
        *((0.35, 1.1), (-0.35, 1.1), (-0.35, 0.35), (-1.1, 0.35), (-1.1, -0.35), (-0.35, -0.35)),
    ),
)


@dataclass(frozen=True, eq=False)
class PointClasses:
    """numbers: (E,) the class of each point, OTHER for none of `names`. other: what those are called."""

    title: str
    names: tuple[str, ...]
    numbers: np.ndarray
    other: str = ""

    def at(self, places: np.ndarray) -> PointClasses:
        """Return the same of some of the points."""
        return replace(self, numbers=self.numbers[places])


@dataclass(frozen=True, eq=False)
class PointValues:
    """values: (E,) float, NaN where a cell is no number."""

    title: str
    values: np.ndarray

    def at(self, places: np.ndarray) -> PointValues:
        """Return the same of some of the points."""
        return replace(self, values=self.values[places])

    @property
    def limits(self) -> tuple[float, float]:
        return float(np.nanmin(self.values)), float(np.nanmax(self.values))

    def shades(self) -> np.ndarray:
        """Return (E,) 0 to SHADES - 1, or OTHER where there is no number."""
        low, high = self.limits
        scaled = (self.values - low) / ((high - low) or 1.0) * (SHADES - 1)
        return np.where(np.isnan(self.values), OTHER, np.round(np.nan_to_num(scaled))).astype(np.int64)


Coloring = PointClasses | PointValues


def coloring_of(title: str, cells: Sequence[str], other: str) -> Coloring:
    """Return how a column colours points: by value where it holds many numbers, else by class.

    Args: other: what classes beyond the MOST_CLASSES most frequent are called, and cells that are empty.
    """
    stripped = [cell.strip() for cell in cells]
    counts = Counter(cell for cell in stripped if cell)
    values = np.array([_number(cell) for cell in stripped], np.float64)
    if len(counts) > FEW_VALUES and np.isfinite(values).sum() == sum(counts.values()):
        return PointValues(title, values)
    names = [name for name, _count in counts.most_common(MOST_CLASSES)]
    if len(counts) <= MOST_CLASSES:
        names.sort(key=lambda name: (np.isnan(_number(name)), np.nan_to_num(_number(name)), name))
    places = {name: place for place, name in enumerate(names)}
    numbers = np.array([places.get(cell, OTHER) for cell in stripped], np.int64)
    return PointClasses(title, tuple(names), numbers, other)


def class_color(number: int) -> QColor:
    """Return the colour of a class; muted for "other"."""
    return theme.current().color("muted") if number == OTHER else QColor(theme.category(number))


def shade_color(shade: int) -> QColor:
    """Return the colour of a step of a numeric column, from faint to strong; a line for no number."""
    colors = theme.current()
    if shade == OTHER:
        return colors.color("muted")
    return QColor(theme.mix(colors.card, colors.accent, 0.24 + 0.76 * shade / (SHADES - 1)))


def paint_mark(painter: QPainter, at: QPointF, number: int, radius: float, color: QColor) -> None:
    """Paint the mark of a class around a point; "other" is a small ring."""
    if number == OTHER:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1.2))
        painter.drawEllipse(at, radius * 0.6, radius * 0.6)
        return
    painter.setBrush(color)
    painter.setPen(QPen(theme.current().color("card"), 0.8))
    corners = _SHAPES[number % len(_SHAPES)]
    if not corners:
        painter.drawEllipse(at, radius, radius)
        return
    path = QPainterPath()
    path.addPolygon(QPolygonF([at + QPointF(x, y) * radius for x, y in corners]))
    path.closeSubpath()
    painter.drawPath(path)


def paint_shade(painter: QPainter, at: QPointF, shade: int, radius: float) -> None:
    """Paint the disc of a value: the larger, the stronger and the wider."""
    if shade == OTHER:
        paint_mark(painter, at, OTHER, radius, shade_color(OTHER))
    else:
        paint_mark(painter, at, 0, radius * (0.7 + 0.6 * shade / (SHADES - 1)), shade_color(shade))


def stamp_side(radius: float) -> int:
    """Return how wide and high a stamp is, in pixels."""
    return 2 * int(radius * 1.4 + 2) + 1


def stamp(number: int, radius: float, ratio: float, *, is_shade: bool) -> QPixmap:
    """Return a mark as an image to be painted many times. Args: ratio: device pixels a pixel."""
    side = stamp_side(radius)
    image = QPixmap(round(side * ratio), round(side * ratio))
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_one(painter, QPointF(side / 2, side / 2), number, radius, is_shade=is_shade)
    painter.end()
    return image


def paint_one(painter: QPainter, at: QPointF, number: int, radius: float, *, is_shade: bool) -> None:
    """Paint the mark of a class, or of a step of a numeric column."""
    if is_shade:
        paint_shade(painter, at, number, radius)
    else:
        paint_mark(painter, at, number, radius, class_color(number))


def paint_ring(painter: QPainter, at: QPointF, radius: float, token: str, width: float = 2.0) -> None:
    """Paint a ring around a mark, with an edge of the card's colour so that it shows on any crowd."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, line in ((theme.current().color("card"), width + 2), (theme.current().color(token), width)):
        painter.setPen(QPen(color, line))
        painter.drawEllipse(at, radius, radius)


def ramp_rects(left: float, top: float, width: float, height: float) -> list[tuple[QRectF, QColor]]:
    """Return the boxes of a legend of values, from low to high."""
    step = width / SHADES
    return [
        (QRectF(left + shade * step, top, step + 0.5, height), shade_color(shade)) for shade in range(SHADES)
    ]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
