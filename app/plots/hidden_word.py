"""A hidden word that is guessed: the sentence, lines to the words that its place looks at, the guesses.

A line is as thick as its share of the attention, on one scale for all words; guesses run from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT, Bar
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure, place_after
from app.plots.strokes import CENTER, paint_chip, paint_edge, write, write_parts

SIZES = (20, 18, 16, 14, 13, 12, 11)  # px of the sentence: the largest that fits
SPACE, TIGHT = 0.7, 0.15  # of the font: between words, and before a full stop
WORD, SHARES, BAR = 34.0, 19.0, 24.0  # px of the sentence, of the shares below it, and of a guess
LEAST_ARCS, MOST_ARCS = 26.0, 96.0
THICKEST, THINNEST = 5.0, 1.0
THICK_SHARE = 0.3  # of the attention, from which on a line is as thick as it gets
NAMED = 2  # words whose share is written below them
NAME, VALUE = 0.26, 64.0  # of the width, and px


@dataclass(frozen=True, slots=True)
class HiddenWord:
    """A sentence with one word hidden. looks_at: of each word, the share of the attention, 0..1.

    guesses: words and probabilities, the best first; both are empty until they are known.
    """

    words: tuple[str, ...]
    hidden: int
    guesses: tuple[tuple[str, float], ...] = ()
    looks_at: tuple[float, ...] = ()


class HiddenWordPlot(PointedFigure):
    """A click on a word, or Enter, asks for that one to be hidden."""

    nothing = -1
    word_chosen = Signal(int)
    wanted_size = (560, 236)
    least_size = (300, int(LEAST_ARCS + WORD + SHARES + 4 * BAR))
    shown = HiddenWord((), 0)

    @property
    def is_empty(self) -> bool:
        return not self.shown.words

    def set_hidden_word(self, shown: HiddenWord) -> None:
        """Show a sentence, and what is known of its hidden word."""
        self.shown = shown
        self.forget()

    def numbers(self) -> Numbers:
        shown = self.shown
        rows: Numbers = [["what", "word", "share"]]
        rows += [["looks at", word, x] for word, x in zip(shown.words, shown.looks_at, strict=False)]
        return rows + [["guess", word, x] for word, x in shown.guesses]

    # ---- where things lie

    def _size(self) -> int:
        return next((size for size in SIZES if self._length(size) <= self.width() - 8), SIZES[-1])

    def _widths(self, size: int) -> list[float]:
        metrics = QFontMetricsF(theme.ui_font(size))
        return [metrics.horizontalAdvance(word) for word in self.shown.words]

    def _length(self, size: int) -> float:
        gaps = sum(map(_gap, self.shown.words[1:])) + 2 * SPACE
        return sum(self._widths(size)) + gaps * size

    def _arcs(self) -> float:
        """Return how high the room of the lines is."""
        return min(MOST_ARCS, max(LEAST_ARCS, self.height() - WORD - SHARES - 4 * BAR - 4))

    def rects(self) -> list[QRectF]:
        """Return where each word stands; the hidden one has a ground around it."""
        size, found = self._size(), list[QRectF]()
        left = max(0.0, (self.width() - self._length(size)) / 2)
        for place, (word, width) in enumerate(zip(self.shown.words, self._widths(size), strict=True)):
            left += _gap(word) * size if place else 0.0
            around = SPACE * size if place == self.shown.hidden else 0.0
            found.append(QRectF(left, self._arcs(), width + 2 * around, WORD))
            left += width + 2 * around
        return found

    def target_at(self, at: QPointF) -> int:
        rects = (rect.adjusted(-4, 0, 4, 0) for rect in self.rects())
        return next((place for place, rect in enumerate(rects) if rect.contains(at)), -1)

    def rect_of(self, target: int) -> QRectF:
        return self.rects()[target]

    def after(self, event: QKeyEvent) -> int:
        if Qt.Key(event.key()) in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            return -1
        found = place_after(event, None if self.current < 0 else self.current, len(self.shown.words))
        return -1 if found is None else found

    # ---- what is said

    def words_of(self, target: int) -> str:
        shown = self.shown
        if target == shown.hidden:
            return self.tr("{word}, hidden").format(word=shown.words[target])
        if target >= len(shown.looks_at):
            return shown.words[target]
        return self.tr("{word}: {share} of the attention. Click to hide it").format(
            word=shown.words[target], share=words.probability(shown.looks_at[target])
        )

    def summary(self) -> str:
        if self.is_empty:
            return ""
        hidden = self.words_of(self.shown.hidden)
        return words.clauses((hidden, *(f"{word} {words.probability(x)}" for word, x in self.shown.guesses)))

    def can_choose(self, target: int) -> bool:
        return target != self.shown.hidden

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.word_chosen.emit(target)

    # ---- painting

    def paint(self, painter: QPainter, area: QRectF) -> None:
        rects = self.rects()
        if self.shown.looks_at:
            self._paint_lines(painter, rects)
        self._paint_words(painter, rects)
        top = self._arcs() + WORD + SHARES
        for row, (word, share) in enumerate(self.shown.guesses):
            self._paint_guess(painter, QRectF(0, top + row * BAR, self.width(), BAR), word, share)
        if not self.shown.guesses:
            room = QRectF(0, top, self.width(), BAR * 2)
            write(painter, room, self.empty_text, "muted", side=CENTER)

    def _looked_at(self) -> list[int]:
        """Return the other words, the one looked at most first."""
        shown = self.shown
        others = (place for place in range(len(shown.words)) if place != shown.hidden)
        return sorted(others, key=lambda place: -shown.looks_at[place])

    def _paint_lines(self, painter: QPainter, rects: Sequence[QRectF]) -> None:
        shown, colors = self.shown, theme.current()
        order = self._looked_at()
        start = QPointF(rects[shown.hidden].center().x(), rects[shown.hidden].top() - 1)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for place in reversed(order):
            strength = min(1.0, shown.looks_at[place] / THICK_SHARE)
            end = QPointF(rects[place].center().x(), rects[place].top() + 1)
            high = min(self._arcs() - 4, 18 + abs(end.x() - start.x()) * 0.28) * 4 / 3
            path = QPainterPath(start)
            path.cubicTo(start - QPointF(0, high), end - QPointF(0, high), end)
            ink = theme.mix(colors.card, colors.accent, 0.3 + 0.7 * strength)
            pen = QPen(QColor(ink), THINNEST + (THICKEST - THINNEST) * strength)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawPath(path)
        for place in order[:NAMED]:
            room = rects[place].adjusted(-30, WORD, 30, SHARES - 2)
            room.setHeight(16)
            write(painter, room, words.probability(shown.looks_at[place]), "accent", size=12, side=CENTER)

    def _paint_words(self, painter: QPainter, rects: Sequence[QRectF]) -> None:
        colors, size = theme.current(), self._size()
        for place, (word, rect) in enumerate(zip(self.shown.words, rects, strict=True)):
            is_hidden = place == self.shown.hidden
            if is_hidden:
                paint_chip(painter, rect, colors.accent_soft, colors.accent, radius=6)
            elif place == self.current and not self._saving:
                paint_edge(painter, rect.adjusted(-4, 1, 4, -1), "muted", radius=6)
            write(painter, rect, word, "accent" if is_hidden else "text", size=size, side=CENTER)

    def _paint_guess(self, painter: QPainter, room: QRectF, word: str, share: float) -> None:
        opacity = painter.opacity()
        painter.setOpacity(0.55 if self.is_dim else 1.0)
        is_right = word.casefold() == self.shown.words[self.shown.hidden].casefold()
        name = self.width() * NAME
        write_parts(painter, QRectF(8, room.top(), name - 8, BAR), word, bold=is_right, side=RIGHT)
        left, wide = name + 12, self.width() - name - 12 - VALUE
        bar = Bar(share, "accent" if is_right else "muted", height=8.0, radius=4.0)
        bar.paint(painter, QRectF(left, room.top(), wide, BAR))
        value = QRectF(left + wide, room.top(), VALUE - 8, BAR)
        write(painter, value, words.probability(share), bold=is_right, side=RIGHT)
        painter.setOpacity(opacity)


def _gap(word: str) -> float:
    """Return the room before a word, in sizes of the font: little before a full stop."""
    return SPACE if word[:1].isalnum() else TIGHT
