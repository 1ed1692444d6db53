"""Where the words of a text stand, with their pieces under them: columns that wrap at a width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QTextLayout

from app.look import theme
from app.look.direction import is_right_to_left, turn_back

GUTTER, PAD = 52.0, 6.0  # px left of a line; beside a piece's text
TEXT, TIE, CHIP, IDS, BESIDE, GAP = 20.0, 9.0, 22.0, 15.0, 25.0, 14.0  # px, from the top of a line
SPACE, NEAR, JOINED = 12.0, 3.0, 5.0  # px: between words, between the pieces of one, words without a blank
NARROWEST = 18.0  # px of a piece


@dataclass(frozen=True, slots=True)
class PieceChip:
    """A piece. kind: "piece", "unknown", "special", "cut" or "padding".

    row: its place among the rows of the model, -1 for a piece of the second vocabulary. start, stop: its
    characters in the column's text.
    """

    text: str
    id: int
    row: int
    kind: str
    start: int = 0
    stop: int = 0
    segment: int = 0


@dataclass(frozen=True, slots=True)
class WordColumn:
    """A word as it was written, and its pieces. beside: those of the second vocabulary.

    shade: 0 and 1 in turn, so that neighbours differ. joined: no blank before it.
    """

    text: str
    segment: int
    shade: int
    chips: tuple[PieceChip, ...]
    beside: tuple[PieceChip, ...] = ()
    joined: bool = False


@dataclass(slots=True)
class PlacedColumn:
    """A column and where it stands. chips, beside: a rectangle for each piece."""

    column: WordColumn
    room: QRectF
    chips: list[QRectF] = field(default_factory=list)
    beside: list[QRectF] = field(default_factory=list)

    def layout(self) -> QTextLayout:
        """Return the text laid out on one line, in any direction."""
        layout = QTextLayout(self.column.text, theme.ui_font())
        layout.beginLayout()
        line = layout.createLine()
        if line.isValid():
            line.setLineWidth(max(self.room.width(), 1.0) + 4)
        layout.endLayout()
        return layout

    def span(self, layout: QTextLayout, chip: PieceChip) -> tuple[float, float]:
        """Return from where to where the characters of a piece stand."""
        if not layout.lineCount():
            return self.room.left(), self.room.left()
        text, line = self.column.text, layout.lineAt(0)
        edges = [
            cast(tuple[float, int], line.cursorToX(len(text[:at].encode("utf-16-le")) // 2))[0]
            for at in (chip.start, chip.stop)
        ]
        return self.room.left() + min(edges), self.room.left() + max(edges)


def line_height(has_beside: bool) -> float:
    """Return the height of a line of text with all that stands under it."""
    return TEXT + TIE + CHIP + IDS + GAP + (BESIDE if has_beside else 0.0)


def placed_columns(columns: Sequence[WordColumn], right: float, line: float) -> list[PlacedColumn]:
    """Return the columns wrapped at a width; B begins a line, and no mark stands alone on one.

    Args: right: where a line ends, at least. line: from the top of a line to that of the next.
    """
    measured = [_measure(column, right - GUTTER) for column in columns]
    found: list[PlacedColumn] = []
    x, y = GUTTER, 2.0
    for number, (column, (room, chips, beside)) in enumerate(zip(columns, measured, strict=True)):
        turns = number > 0 and column.segment != columns[number - 1].segment
        x += (JOINED if column.joined else SPACE) if x > GUTTER else 0
        needed = room
        if column.text and number + 1 < len(columns) and not columns[number + 1].text:
            needed += SPACE + measured[number + 1][0]
        if x > GUTTER and (turns or x + needed > right):
            x, y = GUTTER, y + line
        placed = PlacedColumn(column, QRectF(x, y, room, line - GAP))
        top = y + TEXT + TIE
        placed.chips = _beside_each_other(chips, x, top, CHIP, x + room)
        placed.beside = _beside_each_other(beside, x, top + CHIP + IDS, CHIP, x + room)
        found.append(placed)
        x += room
    if is_right_to_left([column.text for column in columns if column.text]):
        for placed in found:
            for rect in (placed.room, *placed.chips, *placed.beside):
                rect.moveRight(right - (rect.left() - GUTTER))
    rooms = [[placed.room, *placed.chips, *placed.beside] for placed in found]
    turn_back([column.text for column in columns], rooms)
    return found


def _measure(column: WordColumn, most: float) -> tuple[float, list[float], list[float]]:
    """Return how wide a column is, at most `most`, and how wide each of its pieces would like to be."""
    plain, small = QFontMetricsF(theme.ui_font()), QFontMetricsF(theme.ui_font(11))
    chips = [
        max(plain.horizontalAdvance(chip.text), small.horizontalAdvance(str(chip.id)) - PAD)
        for chip in column.chips
    ]
    beside = [plain.horizontalAdvance(chip.text) for chip in column.beside]
    lines = [[max(NARROWEST, width + 2 * PAD) for width in line] for line in (chips, beside)]
    sums = [sum(line) + NEAR * max(0, len(line) - 1) for line in lines]
    return min(most, max(plain.horizontalAdvance(column.text), *sums)), lines[0], lines[1]


def _beside_each_other(
    widths: list[float], x: float, top: float, height: float, right: float
) -> list[QRectF]:
    """Return a rectangle for each width; what has no room left of `right` gets less."""
    total = sum(widths) + NEAR * max(0, len(widths) - 1)
    scale = min(1.0, (right - x) / total) if total else 1.0
    found = []
    for width in widths:
        found.append(QRectF(x, top, width * scale, height))
        x += (width + NEAR) * scale
    return found
