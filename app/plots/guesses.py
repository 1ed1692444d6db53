"""Guesses for a gap with their probabilities, as bars that run from 0 to 1, on a track as long as 1 is.

Colour never stands alone: the word that was there has a tick and bold type, a word that was asked for a ring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter

from app import words
from app.look import theme
from app.look.columns import LEFT, RIGHT, WHOLE, Bar, Column, Ink, Value, WordsCell, of, row_itself
from app.plots.columns import ColumnsFigure

ROW = 24
GAP = 8
TICK = 18
LEAST = 20  # px of a bar's room
ROOMY = 120  # px of room from which on every track ends at one place
SAVED: dict[str, Callable[[GuessRow], Value]] = {
    "word": of("text"),
    "probability": of("probability"),
    "rank": lambda guess: guess.rank or "",
    "mark": of("mark"),
}


@dataclass(frozen=True, slots=True)
class GuessRow:
    """A word for a gap. rank: 1 the best, 0 where there is no rank. mark: "", "original" or "yours"."""

    text: str
    probability: float
    rank: int = 0
    mark: str = ""
    note: str = ""  # said under the pointer


class GuessesPlot(ColumnsFigure):
    """A row a guess; Enter or a click chooses. hint: what a click does, said in the tip."""

    guess_chosen = Signal(str)
    row_height = ROW
    edges = (1.0, 3.0)
    most_summed_up = 10
    num_top = 0
    hint = ""

    def set_guesses(self, top: Sequence[GuessRow], others: Sequence[GuessRow] = ()) -> None:
        """Show the best guesses, and below a line others that are not among them."""
        self.num_top = len(top)
        self.show_rows((*top, *others))

    @property
    def guesses(self) -> tuple[GuessRow, ...]:
        """All that are shown, the best first."""
        return self.rows

    @property
    def content_height(self) -> int:
        """How high all rows are together."""
        return ROW * self.num_rows + (GAP if self.num_rows > self.num_top else 0)

    def value_words(self, guess: GuessRow) -> str:
        """Return a probability as it stands at the right, with the rank where the row does not tell it."""
        value = words.probability(guess.probability)
        if guess in self.rows[self.num_top :] and guess.rank:
            return self.tr("rank {rank} · {share}").format(rank=words.number(guess.rank), share=value)
        return value

    def words_of(self, target: int) -> str:
        guess = self.rows[target]
        said = f"{guess.text}  {words.share(guess.probability, 2)}"
        if guess.rank:
            said = self.tr("{said}, rank {rank}").format(said=said, rank=words.number(guess.rank))
        if guess.mark == "original":
            said = self.tr("{said}; the original").format(said=said)
        return f"{said} · {guess.note}" if guess.note else said

    def top_of(self, index: int) -> int:
        """Return where a row begins."""
        return index * ROW + (GAP if index >= self.num_top else 0)

    def target_at(self, at: QPointF) -> int | None:
        return next((row for row in range(self.num_rows) if 0 <= at.y() - self.top_of(row) < ROW), None)

    def tip_of(self, target: int) -> str:
        said = self.words_of(target)
        return f"{said} · {self.hint}" if self.hint else said

    def can_choose(self, target: int) -> bool:
        return bool(self.hint)

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.guess_chosen.emit(self.rows[target].text)

    def sizeHint(self) -> QSize:
        return QSize(260, self.content_height + 6)

    def minimumSizeHint(self) -> QSize:
        return QSize(140, 3 * ROW)

    def matters(self, place: int) -> bool:
        return bool(self.rows[place].mark)

    def columns(self) -> tuple[Column, ...]:
        width = self.canvas().width()
        names, values = (self._widest(map(say, self.rows)) for say in (_text, self.value_words))
        if width - values - names - TICK - 2 * GAP - 6 < ROOMY:  # a longer value then covers its track
            values = self._widest(map(self.value_words, self.rows[: self.num_top]))
        names = min(names, max(40.0, min(0.5 * width, width - values - LEAST - TICK - 3 * GAP)))

        def name(guess: GuessRow) -> WordsCell:
            own, is_bold = self._widest([self.value_words(guess)]), bool(guess.mark)
            metrics = QFontMetricsF(theme.ui_font(bold=is_bold))
            room = min(names, max(0.0, width - own - TICK - 8))
            cut = metrics.elidedText(_text(guess), Qt.TextElideMode.ElideRight, room)
            return WordsCell(cut, is_bold=is_bold, side=LEFT if TICK + names + own + 4 > width else RIGHT)

        def bar(guess: GuessRow) -> Bar:
            longer = self._widest([self.value_words(guess)]) - values
            return Bar(guess.probability, _ink(guess), "track", 16.0, 4.0, max(0.0, longer))

        return (
            Column("", row_itself, _tick, TICK - 1.0, also=SAVED),
            Column("", row_itself, name, names + 1, gap=0.0),
            Column("", row_itself, bar, gap=GAP - 1.0, least=4.0),
            Column(
                "",
                row_itself,
                self.value_words,
                values + 1,
                ink="muted",
                side=RIGHT,
                cut=WHOLE,
                gap=GAP + 2.0,
            ),
        )

    def _widest(self, texts: Iterable[str]) -> float:
        return self.widest(texts, bold=True) + 3

    def paint(self, painter: QPainter, area: QRectF) -> None:
        super().paint(painter, area)
        if self.num_rows > self.num_top > 0:
            painter.setPen(theme.current().color("line"))
            y = self.num_top * ROW + GAP // 2
            painter.drawLine(4, y, self.canvas().width() - 4, y)


def _text(guess: GuessRow) -> str:
    return " ".join(guess.text.split())


def _tick(guess: GuessRow) -> WordsCell:
    return WordsCell("", icon=("check", "fine") if guess.mark == "original" else None)


def _ink(guess: GuessRow) -> Ink:
    if guess.mark == "original":
        return "fine"
    return "accent" if guess.mark == "yours" else "bar"
