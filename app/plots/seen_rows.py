"""What each member of a family may see of one sentence: a row each, the words under one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent

from app.look import theme
from app.look.columns import CUT_RIGHT
from app.plots.figure import Numbers
from app.plots.member_column import SeenWord
from app.plots.scrolled import RowsFigure
from app.plots.seen_words import CHIP, paint_words, place_words
from app.plots.strokes import level_line, write
from app.words import captioned, clauses, closed, sentences

NAME = 150.0  # px
TALL, LOW, MOST = 88, 41, 200  # px of a row where few, or all, are shown, and at most
LEAST_SAID, LEAST_MORE = 140.0, 250.0  # px of what is said beside the words, in short and in full
SMALL, LARGE, HUGE = 13, 17, 24  # px of fonts
ROOMY = 1250.0  # px of the picture where the words are huge
FEW = 5


@dataclass(frozen=True, slots=True)
class SeenRow:
    """A member. seen: what it sees, in a few words; says: in a sentence. words: of the sentence."""

    name: str
    year: str
    seen: str
    says: str
    words: tuple[SeenWord, ...]


class SeenRows(RowsFigure):
    """A row a member; a click on one, or Enter, tells its name."""

    member_chosen = Signal(str)
    rows: tuple[SeenRow, ...] = ()
    hint = ""
    _beside = 0.0  # px from the words' left to what is said of them, where that stands beside them

    def show_members(self, rows: Sequence[SeenRow]) -> None:
        """Show members, the oldest first."""
        self.rows = tuple(rows)
        self.place()
        self.forget()

    def clear(self) -> None:
        """Show nothing."""
        self.show_members(())

    @property
    def num_rows(self) -> int:
        return len(self.rows)

    def numbers(self) -> Numbers:
        head: Numbers = [["member", "year", "word", "seen"]]
        return head + [[row.name, row.year, one.text, one.kind] for row in self.rows for one in row.words]

    def words_of(self, target: int) -> str:
        row = self.rows[target]
        return sentences([closed(captioned(row.name, row.seen)), row.says])

    def tip_of(self, target: int) -> str:
        return self.hint

    def summary(self) -> str:
        return clauses(captioned(row.name, row.seen) for row in self.rows)

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.member_chosen.emit(self.rows[target].name)

    # ---- where all lies

    @property
    def _font(self) -> int:
        if len(self.rows) > FEW:
            return SMALL
        return LARGE if self.canvas().width() < ROOMY else HUGE

    def place(self) -> None:
        """Make every row as high as the words need that take most lines."""
        width = self.canvas().width() - NAME
        placed = [place_words(row.words, width, self._font) for row in self.rows]
        highest = max((high for _rooms, high in placed), default=CHIP)
        widest = max((room.right() for rooms, _high in placed for room in rooms), default=0.0)
        self._beside = 0.0
        if len(self.rows) > FEW and highest < 2 * CHIP and widest + LEAST_SAID < width:
            self._beside = widest + 18
        room = (self.height() - 10) // max(1, len(self.rows))
        least = LOW if len(self.rows) > FEW else max(TALL, min(MOST, room))
        below = 0.0 if self._beside else 12 + QFontMetricsF(theme.ui_font(SMALL)).height()
        self.row_height = int(max(least, highest + 12 + below))
        self.set_content_height(self.content_height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().height() != event.oldSize().height():
            self.place()

    def paint(self, painter: QPainter, area: QRectF) -> None:
        for place, room in self.rows_in(area):
            if place:
                painter.setPen(QPen(theme.current().color("line"), 1))
                level_line(painter, 0, room.right(), room.top())
            self._paint_row(painter, self.rows[place], room)
        self.paint_mark(painter)

    def _paint_row(self, painter: QPainter, row: SeenRow, room: QRectF) -> None:
        rooms, high = place_words(row.words, room.width() - NAME, self._font)
        line = QFontMetricsF(theme.ui_font(SMALL)).height() + 2
        tall = high if self._beside else high + line + 4
        top = room.top() + max(6.0, (room.height() - tall) / 2)
        name = QRectF(8, top, NAME - 16, high if high < 40 else CHIP)
        write(painter, name, row.name, size=self._font, bold=True, cut=CUT_RIGHT)
        below = QRectF(8, name.bottom() + 3, NAME - 16, line)
        if self._beside:
            below = QRectF(NAME - 56, top, 50, high)
        write(painter, below, row.year, "muted", size=12, cut=CUT_RIGHT)
        paint_words(painter, row.words, rooms, QPointF(NAME, top), self._font)
        said = QRectF(NAME, top + high + 4, room.width() - NAME, line)
        if self._beside:
            said = QRectF(NAME + self._beside, top, room.width() - NAME - self._beside, high)
        metrics = QFontMetricsF(theme.ui_font(SMALL, bold=True))
        write(painter, said, row.seen, size=SMALL, bold=True)
        if self._beside and said.width() < LEAST_MORE:
            return
        rest = said.adjusted(metrics.horizontalAdvance(row.seen) + 10, 0, -4, 0)
        write(painter, rest, row.says, "muted", size=SMALL, cut=CUT_RIGHT)
