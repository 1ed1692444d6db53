"""Guesses for a gap with their probabilities, as bars that run from 0 to 1, on a track as long as 1 is.

Colour never stands alone: the word that was there has a tick and bold type, a word that was asked for a ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.scrolled import RowsFigure

ROW = 24
BAR = 16
GAP = 8
TICK = 18
LEAST = 20  # px of a bar's room
ROOMY = 120  # px of room from which on every track ends at one place


@dataclass(frozen=True, slots=True)
class Guess:
    """A word for a gap. rank: 1 the best, 0 where there is no rank. mark: "", "original" or "yours"."""

    text: str
    probability: float
    rank: int = 0
    mark: str = ""
    note: str = ""  # said under the pointer


class GuessesPlot(RowsFigure):
    """A row a guess; Enter or a click chooses. hint: what a click does, said in the tip."""

    guess_chosen = Signal(str)
    row_height = ROW

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.guesses: tuple[Guess, ...] = ()
        self.num_top = 0
        self.hint = ""
        self.is_dim = False

    def set_guesses(self, top: Sequence[Guess], others: Sequence[Guess] = ()) -> None:
        """Show the best guesses, and below a line others that are not among them."""
        self.guesses, self.num_top = (*top, *others), len(top)
        self.is_dim = False
        self.rows_changed()

    def set_dim(self, dim: bool) -> None:
        """Say that a newer answer is on its way."""
        if dim != self.is_dim:
            self.is_dim = dim
            self.canvas().update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_guesses([])

    @property
    def num_rows(self) -> int:
        return len(self.guesses)

    @property
    def content_height(self) -> int:
        """How high all rows are together."""
        return ROW * len(self.guesses) + (GAP if len(self.guesses) > self.num_top else 0)

    def value_words(self, guess: Guess) -> str:
        """Return a probability as it stands at the right, with the rank where the row does not tell it."""
        value = words.probability(guess.probability)
        if guess in self.guesses[self.num_top :] and guess.rank:
            return self.tr("rank {rank} · {share}").format(rank=words.number(guess.rank), share=value)
        return value

    def guess_words(self, guess: Guess) -> str:
        """Return a guess in words, as said under the pointer."""
        said = f"{guess.text}  {words.share(guess.probability, 2)}"
        if guess.rank:
            said = self.tr("{said}, rank {rank}").format(said=said, rank=words.number(guess.rank))
        if guess.mark == "original":
            said = self.tr("{said}; this stood here").format(said=said)
        return f"{said} · {guess.note}" if guess.note else said

    def numbers(self) -> Numbers:
        rows: Numbers = [["word", "probability", "rank", "mark"]]
        rows += [[guess.text, guess.probability, guess.rank or "", guess.mark] for guess in self.guesses]
        return rows

    def top_of(self, index: int) -> int:
        """Return where a row begins."""
        return index * ROW + (GAP if index >= self.num_top else 0)

    def target_at(self, at: QPointF) -> int | None:
        return next((row for row in range(self.num_rows) if 0 <= at.y() - self.top_of(row) < ROW), None)

    def words_of(self, target: int) -> str:
        return self.guess_words(self.guesses[target])

    def tip_of(self, target: int) -> str:
        said = self.words_of(target)
        return f"{said} · {self.hint}" if self.hint else said

    def summary(self) -> str:
        return "; ".join(map(self.guess_words, self.guesses[:10]))

    def can_choose(self, target: int) -> bool:
        return bool(self.hint)

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.guess_chosen.emit(self.guesses[target].text)

    def sizeHint(self) -> QSize:
        return QSize(260, self.content_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(140, 3 * ROW)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        colors, width = theme.current(), self.canvas().width()
        if self.is_dim and not self._saving:
            painter.setOpacity(0.55)
        metrics = QFontMetricsF(theme.ui_font(bold=True))
        names = _widest(metrics, [guess.text for guess in self.guesses])
        values = _widest(metrics, [self.value_words(guess) for guess in self.guesses])
        if width - values - names - TICK - 2 * GAP - 6 < ROOMY:  # a longer value then covers its track
            values = _widest(metrics, [self.value_words(guess) for guess in self.guesses[: self.num_top]])
        names = min(names, max(40.0, min(0.5 * width, width - values - LEAST - TICK - 3 * GAP)))
        room = max(4.0, width - TICK - names - values - 2 * GAP - 6)
        for index, row in self.rows_in(area):
            guess = self.guesses[index]
            own = _widest(metrics, [self.value_words(guess)])
            self._paint_texts(painter, row, guess, names, own)
            long = min(room + values - own, max(2.0, room * guess.probability))
            bar = QRectF(TICK + names + GAP, row.top() + (ROW - BAR) / 2, room, BAR)
            if long > 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colors.color("rail"))
                painter.drawRoundedRect(bar.adjusted(0, 0, min(0.0, values - own), 0), 4, 4)
                bar.setWidth(long)
                self._paint_bar(painter, bar, guess)
        if len(self.guesses) > self.num_top > 0:
            painter.setPen(QPen(colors.color("line"), 1))
            y = self.num_top * ROW + GAP // 2
            painter.drawLine(4, y, width - 4, y)
        self.paint_mark(painter)

    def _paint_texts(self, painter: QPainter, row: QRectF, guess: Guess, names: float, values: float) -> None:
        colors, font = theme.current(), theme.ui_font(bold=bool(guess.mark))
        painter.setFont(font)
        painter.setPen(colors.color("text"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        text = " ".join(guess.text.split())
        is_tight = TICK + names + values + 4 > row.width()
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter if is_tight else right
        names = min(names, max(0.0, row.width() - values - TICK - 8))
        cut = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, names)
        painter.drawText(QRectF(TICK, row.top(), names + 1, ROW), side, cut)
        painter.setPen(colors.color("text" if guess.mark else "muted"))
        said = self.value_words(guess)
        painter.drawText(QRectF(row.width() - values - 4, row.top(), values + 1, ROW), right, said)
        if guess.mark == "original":
            room = QRectF(1, row.top() + (ROW - 14) / 2, 14, 14)
            theme.icon("check", "fine").paint(painter, room.toRect())

    def _paint_bar(self, painter: QPainter, bar: QRectF, guess: Guess) -> None:
        colors = theme.current()
        fills = {"original": theme.mix(colors.card, colors.fine, 0.45), "yours": colors.accent}
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(fills.get(guess.mark, colors.accent_soft)))
        painter.drawRoundedRect(bar, min(4.0, bar.width() / 2), 4)


def _widest(metrics: QFontMetricsF, texts: Sequence[str]) -> float:
    return max((metrics.horizontalAdvance(" ".join(text.split())) for text in texts), default=0.0) + 3
