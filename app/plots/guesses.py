"""Guesses for a gap with their probabilities, as bars that run from 0 to 1, on a track as long as 1 is.

Colour never stands alone: the word that was there has a tick and bold type, a word that was asked for a ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.look.widgets import set_role
from app.plots.figure import Numbers
from app.plots.scrolled import ScrolledFigure

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


class GuessesPlot(ScrolledFigure):
    """A row a guess; up and down move, Enter or a click chooses."""

    guess_chosen = Signal(str)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.guesses: tuple[Guess, ...] = ()
        self.num_top = 0
        self.current: int | None = None
        self.hint = ""
        self.is_dim = False
        self._canvas = _Canvas(self)
        self.hold(self._canvas)

    def set_guesses(self, top: Sequence[Guess], others: Sequence[Guess] = ()) -> None:
        """Show the best guesses, and below a line others that are not among them."""
        self.guesses, self.num_top = (*top, *others), len(top)
        self.current, self.is_dim = None, False
        self._scroll.setVisible(bool(self.guesses))
        self._canvas.setMinimumHeight(self.content_height)
        said = "; ".join(self.guess_words(guess) for guess in self.guesses[:10])
        self.setAccessibleDescription(said)
        self.updateGeometry()
        self._canvas.update()
        self.update()

    def set_dim(self, dim: bool) -> None:
        """Say that a newer answer is on its way."""
        if dim != self.is_dim:
            self.is_dim = dim
            self._canvas.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_guesses([])

    @property
    def is_empty(self) -> bool:
        return not self.guesses

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

    def index_at(self, y: float) -> int | None:
        """Return the row at a height."""
        rows = range(len(self.guesses))
        return next((i for i in rows if self.top_of(i) <= y < self.top_of(i) + ROW), None)

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        self._canvas.is_saving = saving

    def sizeHint(self) -> QSize:
        return QSize(260, self.content_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(140, 3 * ROW)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if move and self.guesses:
            here = -1 if self.current is None else self.current
            self.go_to(min(max(here + move, 0), len(self.guesses) - 1))
            self._scroll.ensureVisible(0, self.top_of(self.current or 0) + ROW // 2, 0, ROW)
        elif (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
            and self.current is not None
        ):
            self.guess_chosen.emit(self.guesses[self.current].text)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.go_to(None)

    def go_to(self, index: int | None) -> None:
        """Mark a row, or none."""
        if index != self.current:
            self.current = index
            if index is not None:
                self.setAccessibleDescription(self.guess_words(self.guesses[index]))
            self._canvas.update()


class _Canvas(QWidget):
    """The rows, as tall as they need to be."""

    def __init__(self, plot: GuessesPlot) -> None:
        super().__init__()
        self._plot = plot
        self.is_saving = False
        self.setMouseTracking(True)
        set_role(self, "clear")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        plot, colors = self._plot, theme.current()
        if plot.is_dim and not self.is_saving:
            painter.setOpacity(0.55)
        metrics = QFontMetricsF(theme.ui_font(bold=True))
        names = _widest(metrics, [guess.text for guess in plot.guesses])
        values = _widest(metrics, [plot.value_words(guess) for guess in plot.guesses])
        if self.width() - values - names - TICK - 2 * GAP - 6 < ROOMY:  # a longer value then covers its track
            values = _widest(metrics, [plot.value_words(guess) for guess in plot.guesses[: plot.num_top]])
        names = min(names, max(40.0, min(0.5 * self.width(), self.width() - values - LEAST - TICK - 3 * GAP)))
        room = max(4.0, self.width() - TICK - names - values - 2 * GAP - 6)
        for index, guess in enumerate(plot.guesses):
            row = QRectF(0, plot.top_of(index), self.width(), ROW)
            own = _widest(metrics, [plot.value_words(guess)])
            self._paint_texts(painter, row, guess, names, own)
            width = min(room + values - own, max(2.0, room * guess.probability))
            bar = QRectF(TICK + names + GAP, row.top() + (ROW - BAR) / 2, room, BAR)
            if width > 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(colors.color("rail"))
                painter.drawRoundedRect(bar.adjusted(0, 0, min(0.0, values - own), 0), 4, 4)
                bar.setWidth(width)
                self._paint_bar(painter, bar, guess)
            if index == plot.current and not self.is_saving:
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(colors.color("text"), 1.5))
                painter.drawRoundedRect(row.adjusted(1, 1, -1, -1), 4, 4)
        if len(plot.guesses) > plot.num_top > 0:
            painter.setPen(QPen(colors.color("line"), 1))
            y = plot.num_top * ROW + GAP // 2
            painter.drawLine(4, y, self.width() - 4, y)
        painter.end()

    def _paint_texts(self, painter: QPainter, row: QRectF, guess: Guess, names: float, values: float) -> None:
        colors, font = theme.current(), theme.ui_font(bold=bool(guess.mark))
        painter.setFont(font)
        painter.setPen(colors.color("text"))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        text = " ".join(guess.text.split())
        is_tight = TICK + names + values + 4 > self.width()
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter if is_tight else right
        names = min(names, max(0.0, self.width() - values - TICK - 8))
        cut = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, names)
        painter.drawText(QRectF(TICK, row.top(), names + 1, ROW), side, cut)
        painter.setPen(colors.color("text" if guess.mark else "muted"))
        said = self._plot.value_words(guess)
        painter.drawText(QRectF(self.width() - values - 4, row.top(), values + 1, ROW), right, said)
        if guess.mark == "original":
            room = QRectF(1, row.top() + (ROW - 14) / 2, 14, 14)
            theme.icon("check", "fine").paint(painter, room.toRect())

    def _paint_bar(self, painter: QPainter, bar: QRectF, guess: Guess) -> None:
        colors = theme.current()
        fills = {"original": theme.mix(colors.card, colors.fine, 0.45), "yours": colors.accent}
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(fills.get(guess.mark, colors.accent_soft)))
        painter.drawRoundedRect(bar, min(4.0, bar.width() / 2), 4)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self._plot.index_at(event.position().y()) is not None and bool(self._plot.hint)
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self._plot.index_at(event.position().y())
        if event.button() == Qt.MouseButton.LeftButton and index is not None:
            self._plot.guess_chosen.emit(self._plot.guesses[index].text)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            help_event = cast(QHelpEvent, event)
            index = self._plot.index_at(help_event.pos().y())
            said = "" if index is None else self._plot.guess_words(self._plot.guesses[index])
            if said and self._plot.hint:
                said = f"{said} · {self._plot.hint}"
            QToolTip.showText(help_event.globalPos(), tip(said), self)
            return True
        return super().event(event)


def _widest(metrics: QFontMetricsF, texts: Sequence[str]) -> float:
    return max((metrics.horizontalAdvance(" ".join(text.split())) for text in texts), default=0.0) + 3
