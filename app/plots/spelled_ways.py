"""All ways to spell a word in scored pieces: the one that was taken, the next best, and every piece there is.

A piece stands under the letters that it is of. At the end of a way is the sum of its scores, by which it is
taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.columns import CUT_MIDDLE, RIGHT
from app.plots.figure import Numbers
from app.plots.pointed import row_after
from app.plots.scrolled import RowsFigure
from app.plots.strokes import CENTER, level_line, paint_chip, write
from engine.text.ways import KnownPiece, SpelledWays

BAR = 32.0  # px, a piece's own height: its text over its score
SIDE = 62.0  # px at the right for the sum of a way
WIDEST = 34.0  # px of a letter
SIZES = (13, 12, 11, 10, 9)
LEAST_SCORE = 28.0  # px of a piece whose score has room
TAKEN, NEXT = 0, 1  # rows


class WaysPlot(RowsFigure):
    """One word's ways. A target is a row: the way taken, the next one if there is one, then other pieces."""

    wanted_size = (320, 260)
    least_size = (200, 80)
    row_height = 38
    head = 26

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.ways: SpelledWays | None = None
        self._rows: list[list[KnownPiece]] = []

    def set_ways(self, ways: SpelledWays | None) -> None:
        """Show the ways to spell a word, or nothing."""
        self.ways = ways
        self._rows = [] if ways is None else _rows(ways)
        self.rows_changed()

    def clear(self) -> None:
        """Show nothing."""
        self.set_ways(None)

    @property
    def num_rows(self) -> int:
        return len(self._rows)

    @property
    def num_ways(self) -> int:
        """The first rows, which are ways and not single pieces."""
        return 0 if self.ways is None else 1 + bool(self.ways.other)

    def numbers(self) -> Numbers:
        rows: Numbers = [["row", "piece", "from", "to", "score"]]
        for row, pieces in enumerate(self._rows):
            name = ("taken", "next best")[row] if row < self.num_ways else "other piece"
            rows += [[name, one.text, one.start, one.stop, round(one.score, 4)] for one in pieces]
        return rows

    def words_of(self, target: int) -> str:
        pieces = self._rows[target]
        each = words.listed(words.bracketed(one.text, words.decimal(one.score, 1)) for one in pieces)
        total = words.decimal(sum(one.score for one in pieces), 1)
        if target == TAKEN:
            return self.tr("Taken, sum {sum}: {pieces}").format(sum=total, pieces=each)
        if target < self.num_ways:
            return self.tr("Next best, sum {sum}: {pieces}").format(sum=total, pieces=each)
        return self.tr("Other pieces: {pieces}").format(pieces=each)

    def summary(self) -> str:
        return self.words_of(TAKEN) if self._rows else ""

    def after(self, event: QKeyEvent) -> int | None:
        return row_after(event, self.current, self.num_rows)

    # ---- painting

    def paint(self, painter: QPainter, area: QRectF) -> None:
        if self.ways is None:
            return
        size, width = self._measure(len(self.ways.whole))
        for number, letter in enumerate(self.ways.whole):
            over = QRectF(5 + number * width, 0, width - 2, self.head)
            write(painter, over, letter, size=size, bold=True, side=CENTER)
        for row, room in self.rows_in(area):
            if row == self.num_ways:
                painter.setPen(QPen(theme.current().color("line"), 1, Qt.PenStyle.DashLine))
                level_line(painter, 0, room.right(), room.top())
            for piece in self._rows[row]:
                self._paint_piece(painter, piece, row, room.top() + 3, size, width)
            if row < self.num_ways:
                total = words.decimal(sum(one.score for one in self._rows[row]), 1)
                place = QRectF(room.right() - SIDE, room.top(), SIDE - 8, room.height())
                ink = "accent" if row == TAKEN else "muted"
                write(painter, place, total, ink, size=12, bold=row == TAKEN, side=RIGHT)
        self.paint_mark(painter)

    def _measure(self, count: int) -> tuple[int, float]:
        """Return the size of letters, and how wide one is."""
        room = max(60.0, self.canvas().width() - SIDE - 8)
        width = min(WIDEST, room / max(1, count))
        fitting = (
            size for size in SIZES if QFontMetricsF(theme.ui_font(size)).horizontalAdvance("m") <= width
        )
        return next(fitting, SIZES[-1]), width

    def _paint_piece(
        self, painter: QPainter, piece: KnownPiece, row: int, top: float, size: int, width: float
    ) -> None:
        colors = theme.current()
        room = QRectF(5 + piece.start * width, top, len(piece.text) * width - 2, BAR)
        ground = colors.accent_soft if row == TAKEN else colors.card
        edge = colors.accent if row == TAKEN else colors.muted if row < self.num_ways else colors.line
        paint_chip(painter, room, ground, edge, 1.2)
        ink = "text" if row < self.num_ways else "muted"
        metrics = QFontMetricsF(theme.ui_font(size))
        shown = metrics.elidedText(piece.text, CUT_MIDDLE, max(room.width() - 2, 8))
        has_score = room.width() >= LEAST_SCORE
        upper = room.adjusted(0, 1, 0, -BAR / 2 + 2) if has_score else room
        write(painter, upper, shown, ink, size=size, side=CENTER)
        if has_score:
            score = words.decimal(piece.score, 1)
            write(painter, room.adjusted(0, BAR / 2 - 1, 0, -1), score, "muted", size=10, side=CENTER)


def _rows(ways: SpelledWays) -> list[list[KnownPiece]]:
    """Return the way taken, the next one, and all other pieces in as few rows as they need."""
    rows = [_placed(ways.pieces, ways.scores)]
    if ways.other:
        rows.append(_placed(ways.other, ways.other_scores))
    drawn = {(one.text, one.start) for row in rows for one in row}
    first = len(rows)
    for piece in sorted(ways.known, key=lambda one: (-len(one.text), one.start)):
        if (piece.text, piece.start) in drawn:
            continue
        for row in rows[first:]:
            if all(piece.stop <= one.start or one.stop <= piece.start for one in row):
                row.append(piece)
                break
        else:
            rows.append([piece])
    return [sorted(row, key=lambda one: one.start) for row in rows]


def _placed(pieces: Sequence[str], scores: Sequence[float]) -> list[KnownPiece]:
    found, place = list[KnownPiece](), 0
    for text, score in zip(pieces, scores, strict=True):
        found.append(KnownPiece(text, place, score))
        place += len(text)
    return found
