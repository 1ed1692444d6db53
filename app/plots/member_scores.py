"""What the members of a family reached in one question: dots with intervals on one scale, the best first.

A dashed line is what chance reaches, a ring what a member reached before it was trained. Only who is best, or
tied with it, is bold, and never who is at chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT, WHOLE, Cell, Column, WordsCell, color_of, figures, of, row_itself
from app.plots.axes import AXIS_SIZE, round_ticks
from app.plots.columns import ColumnsFigure, Span
from app.plots.strokes import CENTER, level_line, level_span, upright_line, write

DOT, CAP, EDGE = 4.5, 4.0, 8.0  # px
TICK = 70.0  # px between two values of the scale
LEAST_FACTS, LEAST_YEARS = 900.0, 480.0  # px of the picture, without which a column is left out


@dataclass(frozen=True, slots=True)
class ReachedRow:
    """A member's score. value: None where it cannot have one. text, interval: in words. start: before it was
    trained, None where that is not known; start_words: the same in words.
    """

    name: str
    year: str
    value: float | None
    low: float = 0.0
    high: float = 0.0
    text: str = ""
    interval: str = ""
    is_best: bool = False
    facts: tuple[str, ...] = field(default=())
    start: float | None = None
    start_words: str = ""


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    chance: float | None

    def x_of(self, value: float, room: QRectF) -> float:
        inner = room.adjusted(EDGE, 0, -EDGE, 0)
        span = (self.high - self.low) or 1.0
        return inner.left() + inner.width() * (min(self.high, max(self.low, value)) - self.low) / span


@dataclass(frozen=True, slots=True)
class _Dot(Cell):
    row: ReachedRow
    scale: _Scale

    def paint(self, painter: QPainter, room: QRectF) -> None:
        if self.row.value is None:
            return
        ink, middle = color_of("accent" if self.row.is_best else "muted"), room.center().y()
        painter.setPen(QPen(ink, 1.6))
        left, right = (self.scale.x_of(end, room) for end in (self.row.low, self.row.high))
        level_span(painter, left, right, middle, CAP)
        painter.setBrush(ink)
        painter.drawEllipse(QPointF(self.scale.x_of(self.row.value, room), middle), DOT, DOT)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.row.start is not None:
            painter.setPen(QPen(color_of("text"), 1.4))
            painter.drawEllipse(QPointF(self.scale.x_of(self.row.start, room), middle), DOT + 1.5, DOT + 1.5)


class MemberScoresPlot(ColumnsFigure):
    """A row a member; a click on one, or Enter, tells its name."""

    member_chosen = Signal(str)
    rim = 0
    head, row_height = 42, 38
    head_rim = (0.0, 20.0)
    gap = 14.0
    edges = (8.0, 4.0)
    is_door = True
    most_summed_up = 12
    hint = ""
    chance: float | None = None
    chance_words = ""
    unable = ""
    heads: tuple[str, ...] = ()

    def show_scores(
        self,
        rows: Sequence[ReachedRow],
        *,
        is_less_better: bool,
        chance: float | None,
        chance_words: str = "",
        heads: Sequence[str] = (),
    ) -> None:
        """Show scores. Args: chance: what guessing reaches, None: unknown; in words too. heads: of facts."""
        self.chance, self.chance_words, self.heads = chance, chance_words, tuple(heads)

        def order(row: ReachedRow) -> tuple[bool, float]:
            value = row.value or 0.0
            return row.value is None, value if is_less_better else -value

        self.show_rows(sorted(rows, key=order))

    @property
    def scale(self) -> _Scale:
        """What all intervals and chance lie on, with round values at its ends."""
        reached = [row for row in self.rows if row.value is not None]
        ends = [end for row in reached for end in (row.low, row.high)]
        ends += [row.start for row in reached if row.start is not None]
        ends += [] if self.chance is None else [self.chance]
        low, high = min([0.0, *ends]), max(ends, default=1.0)
        ticks = round_ticks(low, high, 4.0)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else high - low
        low = ticks[0] if ticks and ticks[0] <= low else low - (step if low < 0 else 0.0)
        return _Scale(low, max(high, low + 1e-9), self.chance)

    def matters(self, place: int) -> bool:
        return bool(self.rows[place].is_best)

    def words_of(self, target: int) -> str:
        row = self.rows[target]
        if row.value is None:
            return words.captioned(row.name, self.unable)
        reached = words.captioned(row.name, words.bracketed(row.text, row.interval))
        return words.clauses(filter(None, (reached, row.start_words)))

    def tip_of(self, target: int) -> str:
        return f"{self.words_of(target)}\n{self.hint}" if self.hint else self.words_of(target)

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.member_chosen.emit(self.rows[target].name)

    def columns(self) -> Sequence[Column]:
        rows, scale = self.rows, self.scale
        names = self._width_of("name", 70.0)
        years = max(30.0, self.widest((row.year for row in rows), size=12) + 4)
        facts = [self._fact(place, head) for place, head in enumerate(self.heads)]
        return (
            Column(
                self.tr("Member"), of("name"), width=min(names, self.canvas().width() / 4), saved="member"
            ),
            Column(
                self.tr("Year"), of("year"), width=years, ink="muted", size=12, bolds=False, saved="year",
                least_room=LEAST_YEARS,
            ),
            Column(
                "", row_itself, lambda row: _Dot(row, scale), least=60.0,
                also={"value": lambda row: "" if row.value is None else row.value,
                      "low": of("low"), "high": of("high"),
                      "before training": lambda row: "" if row.start is None else row.start},
            ),
            Column(self.tr("Score"), row_itself, self._score, self._width_of("text", 56.0), side=RIGHT),
            Column(
                self.tr("95 % interval"), of("interval"), width=max(90.0, self._width_of("interval", 0.0)),
                ink="muted", size=12, bolds=False, cut=WHOLE, least_room=LEAST_YEARS,
            ),
            *facts,
        )  # fmt: skip

    def _fact(self, place: int, head: str) -> Column:
        def fact(row: ReachedRow) -> str:
            return row.facts[place] if place < len(row.facts) else ""

        wide = max(self.widest([head], size=12), self.widest(map(fact, self.rows))) + 4
        return figures(head, fact, str, width=wide, least_room=LEAST_FACTS, saved=head)

    def _width_of(self, name: str, least: float) -> float:
        return max(least, self.widest((getattr(row, name) for row in self.rows), bold=True) + 6)

    def _score(self, row: ReachedRow) -> Cell:
        if row.value is None:
            return WordsCell(self.unable, "muted", side=RIGHT, cut=WHOLE)
        return WordsCell(row.text, is_bold=row.is_best, side=RIGHT, cut=WHOLE)

    def paint_heads(self, painter: QPainter, spans: Sequence[Span]) -> None:
        """Paint the heads, the values of the scale, and the line of chance through all rows."""
        super().paint_heads(painter, spans)
        _column, left, right = next(span for span in spans if not span[0].head)
        room, scale = QRectF(left, 0, right - left, self.head), self.scale
        bottom = self.top_of(self.num_rows)
        for tick in round_ticks(scale.low, scale.high, max(2.0, room.width() / TICK)):
            x = scale.x_of(tick, room)
            place = QRectF(x - 34, self.head - 30, 68, 18)
            write(painter, place, words.number(tick) if abs(tick) >= 1000 else _short(tick), "muted",
                  size=AXIS_SIZE, side=CENTER)  # fmt: skip
            painter.setPen(QPen(theme.current().color("line"), 1))
            upright_line(painter, x, self.head - 10, bottom)
        if scale.chance is not None:
            x = scale.x_of(scale.chance, room)
            painter.setPen(QPen(color_of("look"), 1.4, Qt.PenStyle.DashLine))
            upright_line(painter, x, self.head - 10, bottom)
            wide = self.widest([self.chance_words], size=AXIS_SIZE) + 4
            side = QRectF(max(left, min(x - wide / 2, right - wide)), 0, wide, self.head - 26)
            write(painter, side, self.chance_words, "look", size=AXIS_SIZE, side=CENTER)

    def paint_ground(self, painter: QPainter, place: int, room: QRectF) -> None:
        super().paint_ground(painter, place, room)
        if place:
            painter.setPen(QPen(theme.current().color("line"), 1))
            level_line(painter, 0, room.right(), room.top())


def _short(tick: float) -> str:
    return f"{tick:g}".replace("-", words.MINUS)
