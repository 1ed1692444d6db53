"""The legend above a scatter plot: the mark and name of each class, or the ramp of values with its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app import words
from app.look import theme
from app.plots import marks
from app.plots.marks import Coloring, PointValues
from app.plots.strokes import write

ROW = 18.0
SIZE = 12
WIDEST = 180.0  # px of a name
AFTER = 16.0  # px between two entries
RAMP = 110.0


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A class and its name with the number of its points."""

    number: int
    text: str


def legend_rows(entries: Sequence[LegendEntry], width: float) -> list[list[tuple[float, LegendEntry]]]:
    """Return the entries with where each begins, row by row."""
    metrics = QFontMetricsF(theme.ui_font(SIZE))
    rows: list[list[tuple[float, LegendEntry]]] = []
    x = width + 1
    for entry in entries:
        needed = 16 + min(WIDEST, metrics.horizontalAdvance(entry.text)) + AFTER
        if x + needed - AFTER > width or not rows:
            rows.append([])
            x = 0.0
        rows[-1].append((x, entry))
        x += needed
    return rows


def paint_legend(
    painter: QPainter, coloring: Coloring | None, entries: Sequence[LegendEntry], room: QRectF
) -> None:
    """Paint a legend from the room's top left corner on."""
    metrics = QFontMetricsF(theme.ui_font(SIZE))
    if isinstance(coloring, PointValues):
        _paint_ramp(painter, metrics, coloring, room)
    for row, line in enumerate(legend_rows(entries, room.width())):
        for x, entry in line:
            middle = QPointF(room.left() + x + 6, room.top() + (row + 0.5) * ROW)
            marks.paint_one(painter, middle, entry.number, 4.5, is_shade=False)
            text = metrics.elidedText(entry.text, Qt.TextElideMode.ElideMiddle, WIDEST)
            place = QRectF(middle.x() + 10, middle.y() - ROW / 2, WIDEST + 4, ROW)
            write(painter, place, text, size=SIZE)


def _paint_ramp(painter: QPainter, metrics: QFontMetricsF, coloring: PointValues, room: QRectF) -> None:
    low, high = (f"{value:g}".replace("-", words.MINUS) for value in coloring.limits)
    title = metrics.elidedText(coloring.title, Qt.TextElideMode.ElideMiddle, WIDEST)
    x, middle = room.left(), room.top() + ROW / 2
    for text in (title, low):
        width = metrics.horizontalAdvance(text) + 2
        write(painter, QRectF(x, room.top(), width, ROW), text, size=SIZE)
        x += width + 8
    for rect, color in marks.ramp_rects(x, middle - 4, RAMP, 8):
        painter.fillRect(rect, color)
    write(painter, QRectF(x + RAMP + 8, room.top(), WIDEST, ROW), high, size=SIZE)
