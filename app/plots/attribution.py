"""What each word adds to an answer: the text itself with its words coloured, and the strongest words as bars.

Colour never stands alone: under each word a bar tells how much, solid behind a plus, hollow behind a minus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look import theme
from app.look.columns import RIGHT, Cell, Column, WordsCell, color_of, figures, of
from app.plots.attention_image import MIDDLE, ramp
from app.plots.columns import ColumnsFigure
from app.plots.figure import Numbers, paint_ring
from app.plots.strokes import paint_chip
from app.plots.word_flow import ChipStyle, TextWord, WordsFigure

LINE, CHIP, UNDER = 46, 24, 12  # px: a line of text, a word in it, the room for its bar under it
INNER = 5.0  # px beside a word's letters
SIGN, BAR = 8.0, 4.0  # px: the width of a plus or minus, the height of a bar
LEAST = 0.04  # of the strongest: less has no bar
ROW, ROW_BAR, MOST_NAME, GAP = (
    26,
    16,
    150.0,
    10.0,
)  # px: a row of the bars, its bar, the longest name, the room beside it
PLUS, MINUS = "+", "\u2212"


@dataclass(frozen=True, slots=True)
class ScoredWord(TextWord):
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


class AttributedText(WordsFigure[ScoredWord]):
    """The text as it was typed, each word in the colour of its score; `word_chosen` where that is of use."""

    line, chip, most_lines = LINE, CHIP, 9
    pad = INNER
    radius = 4.0

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
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
        return words.clauses(said) or " ".join(word.text for word in self.words)

    def can_choose(self, target: int) -> bool:
        return self.can_hide and not self.words[target].is_gap

    def words_of(self, target: int) -> str:
        each = self.words[target]
        parts = [words.shorten(each.text, 40)]
        if each.is_gap:
            parts = [self.tr("{word}: masked and asked for").format(word=parts[0])]
        elif each.score is not None:
            score = signed(each.score, max(3, digits_for(self._largest)))
            parts = [words.captioned(parts[0], score)]
        if each.note:
            parts.append(each.note)
        if self.can_choose(target):
            parts.append(self.tr("click to mask it and ask for it"))
        return " · ".join(parts)

    def shown(self, index: int) -> str:
        return super().shown(index) or "␣"

    def word_width(self, index: int) -> float:
        return max(super().word_width(index), SIGN + 8)

    def look_of(self, index: int, is_hovered: bool) -> ChipStyle:
        colors, ground = theme.current(), self.color_of(index)
        if self.words[index].is_gap:
            return ChipStyle(ground, colors.text, edge_width=1.2, is_dashed=True)
        return ChipStyle(ground, colors.muted if is_hovered else ground)

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


@dataclass(frozen=True, slots=True)
class WordBar:
    """A word that is among the strongest. place: its place among all; name: with its number, where the text
    has it several times.
    """

    place: int
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class _SignedBar(Cell):
    """A score as a bar from zero, to the right or to the left; low, high: the ends of the scale."""

    low: float
    high: float
    score: float

    def paint(self, painter: QPainter, room: QRectF) -> None:
        scale = room.width() / (self.high - self.low or 1.0)
        zero, width = room.left() - self.low * scale, max(1.5, abs(self.score) * scale)
        painter.setPen(QPen(color_of("line"), 1))
        painter.drawLine(QPointF(zero, room.top()), QPointF(zero, room.bottom()))
        is_plus, top = self.score > 0, room.center().y() - ROW_BAR / 2
        bar = QRectF(zero if is_plus else zero - width, top, width, ROW_BAR)
        colors = theme.current()
        ground, frame = (colors.accent, colors.accent) if is_plus else (colors.b_soft, colors.b)
        paint_chip(painter, bar, ground, frame, radius=3)


class AttributedBars(ColumnsFigure):
    """The strongest words, each with a bar to the right (it speaks for the answer) or to the left (against).

    `word_pointed` tells which word the marked row is of, -1 for none.
    """

    word_pointed = Signal(int)
    row_height = ROW
    least_size = (180, 3 * ROW)
    edges, gap = (4.0, 6.0), GAP

    def __init__(self, title: str = "", most: int = 14, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.most, self.most_summed_up = most, most
        self.scored: tuple[ScoredWord, ...] = ()

    def set_words(self, scored: Sequence[ScoredWord]) -> None:
        """Show the strongest of these words."""
        self.scored = tuple(scored)
        known = [place for place, each in enumerate(scored) if each.score and not each.is_gap]
        order = sorted(known, key=lambda place: -abs(scored[place].score or 0.0))[: self.most]
        self.show_rows(WordBar(place, self._name(place), scored[place].score or 0.0) for place in order)

    def clear(self) -> None:
        self.set_words([])

    def _name(self, place: int) -> str:
        text = self.scored[place].text
        same = [other for other, each in enumerate(self.scored) if each.text == text]
        shown = words.shorten(text, 24)
        return shown if len(same) == 1 else words.bracketed(shown, same.index(place) + 1)

    @property
    def digits(self) -> int:
        """How many decimals tell the scores apart."""
        return digits_for(largest(self.scored))

    def words_of(self, target: int) -> str:
        row = self.rows[target]
        return words.captioned(row.name, signed(row.score, max(3, self.digits)))

    def current_changed(self) -> None:
        self.word_pointed.emit(-1 if self.current is None else self.rows[self.current].place)

    def sizeHint(self) -> QSize:
        return QSize(280, self.num_rows * ROW + 6)

    def columns(self) -> tuple[Column, ...]:
        digits, scores = self.digits, [row.score for row in self.rows]
        names = self.widest(_cut(row.name) for row in self.rows) + 4
        bar = partial(_SignedBar, min(0.0, *scores, 0.0), max(0.0, *scores, 0.0))
        say = partial(signed, digits=digits)
        return (
            Column("", of("name"), _cut, names, side=RIGHT, saved="word"),
            Column("", of("score"), bar, least=8.0),
            figures(
                "", of("score"), say, width=self.widest([signed(-88.88, digits)]) + 8, gap=0.0, saved="score"
            ),
        )


def _cut(name: str) -> str:
    return WordsCell(name).shown_in(MOST_NAME)
