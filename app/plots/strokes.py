"""What many pictures are painted with: words in a room, straight lines, a line over an interval, dots."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPaintDevice, QPainter, QPen

from app.look import theme
from app.look.columns import LEFT, color_of
from app.look.direction import paint_text
from app.look.labels import fitting

CENTER = Qt.AlignmentFlag.AlignCenter
ABSOLUTE = Qt.AlignmentFlag.AlignAbsolute  # with LEFT or RIGHT: there in any script


def painter_on(device: QPaintDevice) -> QPainter:
    """Return a painter from left to right, as axes run, in a window of any language."""
    painter = QPainter(device)
    painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    return painter


def write(
    painter: QPainter,
    room: QRectF,
    text: str,
    ink: str | QColor = "text",
    *,
    size: int = theme.UI_SIZE,
    bold: bool = False,
    side: Qt.AlignmentFlag = LEFT,
    cut: Qt.TextElideMode | None = None,
) -> None:
    """Write words into a room.

    Args: ink: a colour, or a name of the theme's. size: px. cut: where what is too long is shortened; None:
        it goes on beyond the room.
    """
    painter.setFont(theme.ui_font(size, bold=bold))
    painter.setPen(color_of(ink))
    if cut is not None:
        text = QFontMetricsF(painter.font()).elidedText(text, cut, room.width())
    paint_text(painter, room, side, text)


def write_parts(
    painter: QPainter,
    room: QRectF,
    text: str,
    ink: str | QColor = "text",
    *,
    size: int = theme.UI_SIZE,
    bold: bool = False,
    side: Qt.AlignmentFlag = LEFT,
) -> None:
    """Write of words with " · " between as many as fit into a room."""
    shown = fitting(text, QFontMetricsF(theme.ui_font(size, bold=bold)), room.width())
    write(painter, room, shown, ink, size=size, bold=bold, side=side)


def level_line(painter: QPainter, left: float, right: float, y: float) -> None:
    """Draw a line from side to side, in the painter's pen."""
    painter.drawLine(QPointF(left, y), QPointF(right, y))


def upright_line(painter: QPainter, x: float, top: float, bottom: float) -> None:
    """Draw a line from top to bottom, in the painter's pen."""
    painter.drawLine(QPointF(x, top), QPointF(x, bottom))


def level_span(painter: QPainter, left: float, right: float, y: float, cap: float) -> None:
    """Draw a line over an interval, with a stroke of `cap` px up and down at both ends."""
    level_line(painter, left, right, y)
    for x in (left, right):
        upright_line(painter, x, y - cap, y + cap)


def upright_span(painter: QPainter, x: float, low: float, high: float, cap: float) -> None:
    """Draw an upright line over an interval, with a stroke of `cap` px to both sides at its ends."""
    upright_line(painter, x, low, high)
    for y in (low, high):
        level_line(painter, x - cap, x + cap, y)


def paint_edge(
    painter: QPainter,
    room: QRectF,
    ink: str | QColor = "text",
    width: float = 1.0,
    radius: float = 0.0,
    style: Qt.PenStyle = Qt.PenStyle.SolidLine,
) -> None:
    """Draw a line around a room, in its corners so round."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(color_of(ink), width, style))
    painter.drawRoundedRect(room, radius, radius)


def paint_dots(
    painter: QPainter, points: Sequence[QPointF], color: QColor, radius: float, edge: float
) -> None:
    """Paint a dot at each point, with an edge of the card's colour so wide."""
    painter.setPen(QPen(theme.current().color("card"), edge))
    painter.setBrush(color)
    for point in points:
        painter.drawEllipse(point, radius, radius)


def paint_line(
    painter: QPainter,
    points: Sequence[QPointF],
    color: QColor,
    width: float,
    style: Qt.PenStyle = Qt.PenStyle.SolidLine,
) -> None:
    """Paint a line through all points."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(color, width, style))
    painter.drawPolyline(points)


def paint_chip(
    painter: QPainter,
    room: QRectF,
    ground: str,
    edge: str = "",
    width: float = 1.0,
    radius: float = 4.0,
    *,
    is_dashed: bool = False,
) -> None:
    """Paint a rounded ground. Args: edge: the colour of a line around it, "" for none; so wide, in px."""
    style = Qt.PenStyle.DashLine if is_dashed else Qt.PenStyle.SolidLine
    painter.setPen(QPen(QColor(edge), width, style) if edge else Qt.PenStyle.NoPen)
    painter.setBrush(QColor(ground))
    inner = room.adjusted(0.5, 0.5, -0.5, -0.5) if edge else room
    painter.drawRoundedRect(inner, radius, radius)
