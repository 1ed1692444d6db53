"""How the bytes of a word were joined: them in a row at the top, and under it a row after each merge.

A piece keeps its place, over the bytes that it is of, so that it is seen to grow. What was joined last is
filled.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.columns import CUT_MIDDLE, RIGHT
from app.plots.figure import Numbers
from app.plots.pointed import row_after
from app.plots.scrolled import RowsFigure
from app.plots.strokes import CENTER, paint_chip, write
from engine.text.merges import MergedBytes

BAR = 21.0  # px, a piece's own height
SIDE = 92.0  # px at the right for a merge's place in their order
WIDEST = 30.0  # px of a byte
SIZES = (13, 12, 11, 10, 9)


class MergesPlot(RowsFigure):
    """One word's merges. A target is a merge, counted from the top."""

    wanted_size = (320, 260)
    least_size = (200, 80)
    row_height = 25
    head = 25

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.found: MergedBytes | None = None

    def set_merges(self, found: MergedBytes | None) -> None:
        """Show how a word's bytes were joined, or nothing."""
        self.found = found
        self.rows_changed()

    def clear(self) -> None:
        """Show nothing."""
        self.set_merges(None)

    @property
    def num_rows(self) -> int:
        return 0 if self.found is None else len(self.found.merges)

    @property
    def is_empty(self) -> bool:
        return self.found is None

    def numbers(self) -> Numbers:
        rows: Numbers = [["merge", "first", "second", "joined", "pieces"]]
        for number in range(self.num_rows):
            first, second, joined = self._parts_of(number)
            assert self.found is not None
            merge = self.found.merges[number]
            rows.append([merge.rank + 1, first, second, joined, " ".join(merge.pieces)])
        if self.found is not None and not self.num_rows:
            rows.append(["", "", "", "", " ".join(self.found.pieces)])
        return rows

    def words_of(self, target: int) -> str:
        assert self.found is not None
        first, second, joined = self._parts_of(target)
        said = self.tr("Merge {rank} of {count}: {first} and {second} become {joined}")
        rank, count = self.found.merges[target].rank + 1, self.found.num_ranks
        return said.format(
            rank=words.number(rank), count=words.number(count), first=first, second=second, joined=joined
        )

    def summary(self) -> str:
        return "" if self.found is None else " ".join(self.found.found)

    def after(self, event: QKeyEvent) -> int | None:
        return row_after(event, self.current, self.num_rows)

    def _before(self, row: int) -> tuple[str, ...]:
        """Return the pieces before a merge."""
        assert self.found is not None
        return self.found.merges[row - 1].pieces if row else self.found.pieces

    def _parts_of(self, row: int) -> tuple[str, str, str]:
        """Return the two pieces that a merge joins, and the new one."""
        assert self.found is not None
        merge = self.found.merges[row]
        first, second = self._before(row)[merge.place : merge.place + 2]
        return first, second, merge.pieces[merge.place]

    # ---- painting

    def paint(self, painter: QPainter, area: QRectF) -> None:
        if self.found is None:
            return
        size, width = self._measure(len(self.found.pieces))
        whole = [(place, place + 1) for place in range(len(self.found.pieces))]
        self._paint_pieces(painter, self.found.pieces, whole, 2.0, size, width, fresh=-1)
        spans = list(whole)
        for row, merge in enumerate(self.found.merges):
            spans[merge.place : merge.place + 2] = [(spans[merge.place][0], spans[merge.place + 1][1])]
            room = self.rect_of(row)
            if room.bottom() < area.top() or room.top() > area.bottom():
                continue
            self._paint_pieces(painter, merge.pieces, spans, room.top() + 2, size, width, fresh=merge.place)
            place = QRectF(room.right() - SIDE, room.top(), SIDE - 8, room.height())
            write(painter, place, words.number(merge.rank + 1), "muted", size=11, side=RIGHT)
        self.paint_mark(painter)

    def _measure(self, count: int) -> tuple[int, float]:
        """Return the size of letters, and how wide a byte is."""
        room = max(60.0, self.canvas().width() - SIDE - 8)
        width = min(WIDEST, room / max(1, count))
        fitting = (
            size for size in SIZES if QFontMetricsF(theme.ui_font(size)).horizontalAdvance("m") <= width
        )
        return next(fitting, SIZES[-1]), width

    def _paint_pieces(
        self,
        painter: QPainter,
        pieces: tuple[str, ...],
        spans: list[tuple[int, int]],
        top: float,
        size: int,
        width: float,
        *,
        fresh: int,
    ) -> None:
        colors = theme.current()
        for place, (text, (start, stop)) in enumerate(zip(pieces, spans, strict=True)):
            room = QRectF(5 + start * width, top, (stop - start) * width - 2, BAR)
            is_fresh, is_byte = place == fresh, stop - start == 1
            ground = colors.accent_soft if is_fresh else colors.card
            edge = colors.accent if is_fresh else colors.line
            paint_chip(painter, room, ground, edge, 1.2)
            ink = "muted" if is_byte and fresh >= 0 else "text"
            metrics = QFontMetricsF(theme.ui_font(size))
            shown = metrics.elidedText(text, CUT_MIDDLE, max(room.width() - 2, 8))
            write(painter, room, shown, ink, size=size, side=CENTER)
