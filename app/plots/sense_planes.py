"""A word in several sentences, seen flat: a small plane for each layer, a mark for each sentence.

Marks of one sense have one shape and one colour; the planes of a member have one scale, so that they show how
its points move apart from layer to layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.look import theme
from app.plots.strokes import paint_edge

RADIUS = 4.0
REACH = 8.0  # px; a mark nearer to the pointer than this is under it
ONE_POINT = 1e-3  # from the middle of all
LEAST_SCALE = 0.02  # of unit vectors: what is nearer is drawn as one point


@dataclass(frozen=True, slots=True)
class SenseDot:
    """One sentence in one layer. x, y: of states of length 1. group: its sense. said: the sentence."""

    x: float
    y: float
    group: int
    said: str


Planes = Sequence[Sequence[SenseDot]]  # a layer each


def scale_of(planes: Planes) -> float:
    """Return what lies at the edge of all planes of a member."""
    return max([LEAST_SCALE, *(max(abs(dot.x), abs(dot.y)) for plane in planes for dot in plane)])


def place_of(dot: SenseDot, room: QRectF, scale: float) -> QPointF:
    """Return where a mark stands."""
    half = min(room.width(), room.height()) / 2 - RADIUS - 3
    return room.center() + QPointF(dot.x, -dot.y) * (half / scale)


def dot_at(at: QPointF, plane: Sequence[SenseDot], room: QRectF, scale: float) -> int:
    """Return which mark lies at a place; -1 for none."""
    away = [(place_of(dot, room, scale) - at).manhattanLength() for dot in plane]
    nearest = min(range(len(away)), key=lambda number: away[number], default=-1)
    return nearest if nearest >= 0 and away[nearest] <= REACH else -1


def paint_plane(
    painter: QPainter, plane: Sequence[SenseDot], room: QRectF, scale: float, pointed: int = -1
) -> None:
    """Paint one layer. Args: pointed: the sentence that is marked, -1 for none."""
    colors = theme.current()
    paint_edge(painter, room, "line", radius=4)
    if all(abs(dot.x) + abs(dot.y) < ONE_POINT for dot in plane):  # of no sense: one vector for all
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("muted"))
        painter.drawEllipse(room.center(), RADIUS, RADIUS)
    else:
        for dot in plane:
            paint_mark(painter, place_of(dot, room, scale), dot.group)
    if 0 <= pointed < len(plane):
        painter.setPen(QPen(colors.color("text"), 1.8))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(place_of(plane[pointed], room, scale), RADIUS + 3, RADIUS + 3)


def paint_mark(painter: QPainter, at: QPointF, group: int) -> None:
    """Paint the mark of a sense: round, square, three-cornered, and so on again in other colours."""
    painter.setPen(QPen(theme.current().color("card"), 1))
    painter.setBrush(QColor(theme.category(group)))
    if group % 3 == 0:
        painter.drawEllipse(at, RADIUS, RADIUS)
    elif group % 3 == 1:
        painter.drawRect(QRectF(at.x() - RADIUS + 0.5, at.y() - RADIUS + 0.5, 2 * RADIUS - 1, 2 * RADIUS - 1))
    else:
        corners = ((0.0, -RADIUS - 1), (RADIUS + 1, RADIUS), (-RADIUS - 1, RADIUS))
        painter.drawPolygon(QPolygonF([at + QPointF(x, y) for x, y in corners]))
