"""Which way a text runs: Arabic, Hebrew and Persian are read from the right, in a window of any language.

A text is shown in its own direction, at the right where it fills a line; what is named in a sentence does not
turn the words around it. Qt sees to that in labels and in boxes of one line; all else asks here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from engine.errors import RIGHT_TO_LEFT, isolated

Index = QModelIndex | QPersistentModelIndex
TO_LEFT, TO_RIGHT = Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight
_SIDES = {"L": TO_RIGHT, "R": TO_LEFT}
_QUOTED = re.compile(f"(?<=“)[^“”]*{RIGHT_TO_LEFT}[^“”]*(?=”)")
_RUN = re.compile(f"{RIGHT_TO_LEFT}(?:[^a-zA-Z]*{RIGHT_TO_LEFT})?")


def is_right_to_left(texts: Sequence[str]) -> bool:
    """Whether the first letter with a direction runs to the left, of one text or of several."""
    return not all(map(str.isascii, texts)) and next(filter(None, map(_direction, texts)), "L") == "R"


def turn_back(words: Sequence[str], rooms: Sequence[Sequence[QRectF]]) -> None:
    """Turn words that run against the whole, placed in its direction, to their own: "Tom Hanks" in Hebrew.

    Numbers and marks between two of them go with them. Args: rooms: of each word, the first around the rest.
    """
    directions = [_direction(word) for word in words]
    whole = next(filter(None, directions), "L")
    against = [at for at, own in enumerate(directions) if own not in ("", whole)]
    runs = list[list[int]]()
    for at in against:
        if runs and all(not directions[between] for between in range(runs[-1][-1] + 1, at)):
            runs[-1] += range(runs[-1][-1] + 1, at + 1)
        else:
            runs.append([at])
    for run in runs:
        for top in {rooms[at][0].top() for at in run}:  # line by line
            line = [at for at in run if rooms[at][0].top() == top]
            ends = min(rooms[at][0].left() for at in line) + max(rooms[at][0].right() for at in line)
            for room in (room for at in line for room in rooms[at]):
                room.moveLeft(ends - room.right())


def in_one_line(parts: Sequence[str], widths: Sequence[float], left: float) -> list[float]:
    """Return where each part of one sentence begins, from `left` on: the first at the right if it runs so."""
    edges = [left, *(left + reach for reach in accumulate(widths))]
    if is_right_to_left(parts):
        return [left + edges[-1] - edge for edge in edges[1:]]
    return edges[:-1]


def _direction(text: str) -> str:
    """Return "L" or "R" as the first letter with a direction runs; "" where none has one."""
    if text.isascii():
        return "L" if any(map(str.isalpha, text)) else ""
    kinds = map(unicodedata.bidirectional, text)
    kind = next((kind for kind in kinds if kind in ("L", "R", "AL")), "")
    return "R" if kind == "AL" else kind


def paint_text(painter: QPainter, room: QRectF, side: Qt.AlignmentFlag, text: str) -> None:
    """Paint words in their own direction, at the side where words in the window's direction would be."""
    around = painter.layoutDirection()
    own = _SIDES.get(_direction(text), around)
    if around in (own, Qt.LayoutDirection.LayoutDirectionAuto):
        painter.drawText(room, side, text)
        return
    painter.setLayoutDirection(own)
    painter.drawText(room, QStyle.visualAlignment(around, side), text)
    painter.setLayoutDirection(around)


def paint_line(painter: QPainter, room: QRectF, side: Qt.AlignmentFlag, text: str) -> None:
    """Paint words that have a line for themselves in their own direction, where that begins."""
    begins_left = bool(side & Qt.AlignmentFlag.AlignLeft) and painter.layoutDirection() == TO_RIGHT
    if begins_left and is_right_to_left([text]):
        side = side & ~Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignRight
    paint_text(painter, room, side, text)


class DirectedCells(QStyledItemDelegate):
    """Paints cells of a table as Qt does, each in the direction of its text."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        around, own = option.direction, _SIDES.get(_direction(option.text), option.direction)
        place = QStyle.visualAlignment(around, option.displayAlignment)
        if own != around and (own == TO_RIGHT or place & Qt.AlignmentFlag.AlignRight):
            option.displayAlignment = place  # where it was
        option.direction = own


def in_sentence(text: str) -> str:
    """Return a sentence of ours in which nothing that runs to the left turns the words around it.

    A text that begins so, which is a person's own, stays as it is.
    """
    if text.isascii() or "\u2068" in text:
        return text
    text = _QUOTED.sub(lambda found: isolated(found[0]), text)
    outside = re.sub("\u2068[^\u2069]*\u2069", "", text)
    if "\u2068" in text or is_right_to_left([outside]):
        return text
    return _RUN.sub(lambda found: isolated(found[0]), text)
