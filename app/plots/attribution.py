"""What each word adds to an answer: the text itself with its words coloured, and the strongest words as bars.

Colour never stands alone: under each word a bar tells how much, solid behind a plus, hollow behind a minus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look import theme
from app.plots.attention_image import MIDDLE, ramp
from app.plots.figure import Numbers, paint_ring
from app.plots.scrolled import RowsFigure
from app.plots.strokes import RIGHT, paint_chip, upright_line, write
from app.plots.word_flow import FlowWord, WordFlow, WordLook

LINE, CHIP, UNDER = 46, 24, 12  # px: a line of text, a word in it, the room for its bar under it
INNER = 5.0  # px beside a word's letters
SIGN, BAR = 8.0, 4.0  # px: the width of a plus or minus, the height of a bar
LEAST = 0.04  # of the strongest: less has no bar
ROW, ROW_BAR, GAP = 26, 16, 10.0  # px: a row of the bars, its bar, the room beside names
PLUS, MINUS = "+", "\u2212"


@dataclass(frozen=True, slots=True)
class ScoredWord(FlowWord):
    """A word or piece. score: what it adds, None before it is known.

    is_gap: it is what is asked for, so it adds nothing. is_shown: it stands in the text; False for [CLS] and
    [SEP], which only the bars can show.
    """

    score: float | None = None
    is_gap: bool = False
    is_shown: bool = True


def signed(value: float, digits: int = 2) -> str:
    """Return a number with its sign, also a plus."""
    sign = MINUS if round(value, digits) < 0 else PLUS
    return f"{sign}{words.decimal(abs(value), digits)}"


def digits_for(strongest: float) -> int:
    """Return how many decimals tell scores apart: two, more where the strongest of them is small."""
    return 2 if strongest >= 0.1 or strongest <= 0 else min(6, 1 - math.floor(math.log10(strongest)))


def largest(scored: Sequence[ScoredWord]) -> float:
    """Return the strongest score of any sign, 0 where there is none."""
    return max((abs(each.score) for each in scored if each.score is not None), default=0.0)


def numbers_of(scored: Sequence[ScoredWord]) -> Numbers:
    """Return a table of words and scores."""
    rows: Numbers = [["place", "text", "word", "score"]]
    for place, each in enumerate(scored):
        text = ("B" if each.segment else "A") if each.is_shown else ""
        rows.append([place, text, each.text, "" if each.score is None else each.score])
    return rows


class AttributedText(WordFlow[ScoredWord]):
    """The text as it was typed, each word in the colour of its score; `word_chosen` where that is of use."""

    pad = INNER
    radius = 4.0

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, line=LINE, chip=CHIP, most_lines=9, parent=parent)
        self.marked: int | None = None
        self.can_hide = False
        self._largest = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def set_words(self, words: Sequence[ScoredWord], *, can_hide: bool = False) -> None:
        """Show these words. Args: can_hide: a click on one asks for it."""
        found = tuple(word for word in words if word.is_shown)
        self.can_hide, self.marked, self._largest = can_hide, None, largest(found)
        super().set_words(found)

    def mark(self, index: int | None) -> None:
        """Draw a ring around a word, or around none."""
        if index != self.marked:
            self.marked = index
            self.canvas().update()

    def setFixedHeight(self, height: int) -> None:
        """As high as the lines need, and less where the page has no room: it scrolls."""
        self.setMinimumHeight(min(height, 2 * LINE))
        self.setMaximumHeight(height)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(400, self.maximumHeight())

    def numbers(self) -> Numbers:
        return numbers_of(self.words)

    def summary(self) -> str:
        order = sorted(self.words, key=lambda each: -abs(each.score or 0.0))[:10]
        digits = digits_for(self._largest)
        said = [f"{each.text} {signed(each.score, digits)}" for each in order if each.score is not None]
        return "; ".join(said) or " ".join(word.text for word in self.words)

    def can_choose(self, target: int) -> bool:
        return self.can_hide and not self.words[target].is_gap

    def words_of(self, target: int) -> str:
        each = self.words[target]
        parts = [words.shorten(each.text, 40)]
        if each.is_gap:
            parts = [self.tr("{word}: hidden from the model and asked for").format(word=parts[0])]
        elif each.score is not None:
            parts = [f"{parts[0]}: {signed(each.score, max(3, digits_for(self._largest)))}"]
        if each.note:
            parts.append(each.note)
        if self.can_choose(target):
            parts.append(self.tr("click to hide it and ask for it"))
        return " · ".join(parts)

    def shown(self, index: int) -> str:
        return super().shown(index) or "␣"

    def word_width(self, index: int) -> float:
        return max(super().word_width(index), SIGN + 8)

    def look_of(self, index: int, is_hovered: bool) -> WordLook:
        colors, ground = theme.current(), self.color_of(index)
        if self.words[index].is_gap:
            return WordLook(ground, colors.text, edge_width=1.2, is_dashed=True)
        return WordLook(ground, colors.muted if is_hovered else ground)

    def paint_word(self, painter: QPainter, room: QRectF, index: int, is_hovered: bool) -> None:
        super().paint_word(painter, room, index, is_hovered)
        under = QRectF(room.left(), room.bottom() + 1, room.width(), UNDER)
        self._paint_bar(painter, under, self.words[index])
        if index == self.marked and not self._saving:
            paint_ring(painter, room.adjusted(-1, -1, 1, UNDER + 1), 1.5)

    def color_of(self, index: int) -> str:
        """Return a word's background: the card's own for zero, the accent for the strongest plus."""
        colors, score = theme.current(), self.words[index].score
        share = score / self._largest if score is not None and self._largest else 0.0
        color = int(ramp(colors.card, colors.accent, colors.b)[MIDDLE + int(share * 127)])
        return f"#{color & 0xFFFFFF:06x}"

    def _paint_bar(self, painter: QPainter, room: QRectF, each: ScoredWord) -> None:
        share = abs(each.score or 0.0) / self._largest if self._largest else 0.0
        if share < LEAST:
            return
        colors, is_plus = theme.current(), (each.score or 0.0) > 0
        color = colors.color("accent" if is_plus else "b")
        painter.setPen(QPen(color, 1.4))
        middle = QPointF(room.left() + SIGN / 2, room.center().y())
        painter.drawLine(middle - QPointF(2.5, 0), middle + QPointF(2.5, 0))
        if is_plus:
            painter.drawLine(middle - QPointF(0, 2.5), middle + QPointF(0, 2.5))
        width = max(2.0, (room.width() - SIGN - 2) * share)
        bar = QRectF(room.left() + SIGN + 1, room.center().y() - BAR / 2, width, BAR)
        painter.setPen(QPen(color, 1))
        painter.setBrush(color if is_plus else Qt.BrushStyle.NoBrush)
        painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))


class AttributedBars(RowsFigure):
    """The strongest words, each with a bar to the right (it speaks for the answer) or to the left (against).

    `word_pointed` tells which word the marked row is of, -1 for none.
    """

    word_pointed = Signal(int)
    row_height = ROW
    least_size = (180, 3 * ROW)

    def __init__(self, title: str = "", most: int = 14, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.most = most
        self.scored: tuple[ScoredWord, ...] = ()
        self.order: tuple[int, ...] = ()  # the rows: places in `scored`

    def set_words(self, scored: Sequence[ScoredWord]) -> None:
        """Show the strongest of these words."""
        self.scored = tuple(scored)
        known = [place for place, each in enumerate(scored) if each.score and not each.is_gap]
        self.order = tuple(sorted(known, key=lambda place: -abs(scored[place].score or 0.0))[: self.most])
        self.rows_changed()

    def clear(self) -> None:
        """Show nothing."""
        self.set_words([])

    @property
    def num_rows(self) -> int:
        return len(self.order)

    def name(self, row: int) -> str:
        """Return a row's word, with its number where the text has it several times."""
        place = self.order[row]
        text = self.scored[place].text
        same = [other for other, each in enumerate(self.scored) if each.text == text]
        shown = words.shorten(text, 24)
        return shown if len(same) == 1 else f"{shown} ({same.index(place) + 1})"

    def value(self, row: int) -> float:
        """Return a row's score."""
        return self.scored[self.order[row]].score or 0.0

    @property
    def digits(self) -> int:
        """How many decimals tell the scores apart."""
        return digits_for(largest(self.scored))

    def words_of(self, target: int) -> str:
        return f"{self.name(target)}: {signed(self.value(target), max(3, self.digits))}"

    def summary(self) -> str:
        return "; ".join(map(self.words_of, range(len(self.order))))

    def current_changed(self) -> None:
        self.word_pointed.emit(-1 if self.current is None else self.order[self.current])

    def numbers(self) -> Numbers:
        rows: Numbers = [["word", "score"]]
        return rows + [[self.name(row), self.value(row)] for row in range(len(self.order))]

    def sizeHint(self) -> QSize:
        return QSize(280, len(self.order) * ROW + 6)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        metrics = QFontMetricsF(theme.ui_font())
        count, width = self.num_rows, self.canvas().width()
        names = [metrics.elidedText(self.name(row), Qt.TextElideMode.ElideRight, 150) for row in range(count)]
        wide = max((metrics.horizontalAdvance(name) for name in names), default=0.0) + 4
        value_room = metrics.horizontalAdvance(signed(-88.88, self.digits)) + 8
        left, right = 4 + wide + GAP, width - value_room - 6
        high = max((self.value(row) for row in range(count)), default=0.0)
        low = min((self.value(row) for row in range(count)), default=0.0)
        span = max(high, 0.0) - min(low, 0.0) or 1.0
        scale = max(8.0, right - left) / span
        zero = left - min(low, 0.0) * scale
        painter.setPen(QPen(theme.current().color("line"), 1))
        upright_line(painter, zero, 2, ROW * count - 2)
        for row, name in enumerate(names):
            self._paint_row(painter, row, name, wide, zero, scale)
        self.paint_mark(painter)

    def _paint_row(
        self, painter: QPainter, row: int, name: str, wide: float, zero: float, scale: float
    ) -> None:
        colors, value, y = theme.current(), self.value(row), float(self.top_of(row))
        write(painter, QRectF(4, y, wide, ROW), name, side=RIGHT)
        values = QRectF(0, y, self.canvas().width() - 6, ROW)
        write(painter, values, signed(value, self.digits), "muted", side=RIGHT)
        color = colors.color("accent" if value > 0 else "b")
        top, width = y + (ROW - ROW_BAR) / 2, max(1.5, abs(value) * scale)
        bar = QRectF(zero if value > 0 else zero - width, top, width, ROW_BAR)
        ground = colors.accent if value > 0 else colors.b_soft
        paint_chip(painter, bar, ground, color.name(), radius=3)
