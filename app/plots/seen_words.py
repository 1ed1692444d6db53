"""The words of a sentence as a member of the family may see them.

Filled: in order. Round: without order. Dashed: not at all. The blank is a frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.look import theme
from app.look.columns import CUT_RIGHT
from app.plots.member_column import BLANK, OTHER_SIDE, SEEN_BAG, SEEN_FILL, SeenWord
from app.plots.strokes import CENTER, paint_chip, paint_edge, write

CHIP, GAP, LINE_GAP = 22.0, 4.0, 4.0  # px
INSET = 6.0  # px at each side of a word
EMPTY = 24.0  # px of the blank at least


def place_words(words: Sequence[SeenWord], width: float, size: int) -> tuple[list[QRectF], float]:
    """Return where each word stands in a room so wide, line by line, and how high all are together."""
    metrics = QFontMetricsF(theme.ui_font(size))
    high, x, y = CHIP + max(0, size - 12), 0.0, 0.0
    rooms = list[QRectF]()
    for one in words:
        wide = max(EMPTY if one.kind == BLANK else high, metrics.horizontalAdvance(one.text) + 2 * INSET)
        wide = min(wide, max(high, width))
        if x and x + wide > width:
            x, y = 0.0, y + high + LINE_GAP
        rooms.append(QRectF(x, y, wide, high))
        x += wide + GAP
    return rooms, (y + high if rooms else 0.0)


def paint_words(
    painter: QPainter, words: Sequence[SeenWord], rooms: Sequence[QRectF], corner: QPointF, size: int
) -> None:
    """Paint words where they were placed, from a corner on."""
    colors = theme.current()
    for one, place in zip(words, rooms, strict=True):
        room = place.translated(corner)
        ink = "text"
        if one.kind in (SEEN_FILL, SEEN_BAG):
            paint_chip(
                painter, room, colors.accent_soft, radius=room.height() / 2 if one.kind == SEEN_BAG else 4
            )
        elif one.kind == OTHER_SIDE:
            paint_chip(painter, room, colors.b_soft)
        elif one.kind == BLANK:
            paint_edge(painter, room.adjusted(1, 1, -1, -1), "accent", 1.8, 4)
        else:
            ink = "muted"
            edge = room.adjusted(0.5, 0.5, -0.5, -0.5)
            paint_edge(painter, edge, "muted", 1.0, 4, Qt.PenStyle.DashLine)
        if one.kind != BLANK:
            inner = room.adjusted(2, 0, -2, 0)
            write(painter, inner, one.text, ink, size=size, side=CENTER, cut=CUT_RIGHT)
