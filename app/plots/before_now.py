"""What a change does to the end: a bar for each answer now, a line where it stood before, always 0 to 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QKeyEvent

from app import words
from app.look.columns import CUT_PARTS, RIGHT, WHOLE, Bar, Column, of, row_itself
from app.plots.columns import ColumnsFigure
from app.plots.pointed import Target

SMALL = 12  # px of the font
NAME, VALUE, VALUES = 0.32, 48.0, 108.0  # of the width, and px of a value and of two


@dataclass(frozen=True, slots=True)
class AnswerBeforeNow:
    """An answer and its probability, before and now."""

    name: str
    before: float
    now: float


class BeforeNow(ColumnsFigure):
    """A row an answer, all of them in view."""

    rim = 0
    row_height = 22
    edges = (2.0, 2.0)
    is_changed = False

    def set_outcomes(self, outcomes: Sequence[AnswerBeforeNow], *, is_changed: bool) -> None:
        """Show answers. Args: is_changed: whether anything is otherwise than it was."""
        self.is_changed = is_changed
        self.show_rows(outcomes)

    def value_of(self, one: AnswerBeforeNow) -> str:
        """Return what stands beside a bar."""
        now = words.probability(one.now)
        return f"{words.probability(one.before)} → {now}" if self.is_changed else now

    def summary(self) -> str:
        return words.clauses(f"{one.name} {self.value_of(one)}" for one in self.rows)

    def things(self) -> Iterable[Target] | None:
        return ()  # all of it is said in words

    def target_at(self, at: QPointF) -> None:
        return None  # all that is known of a row stands in it

    def after(self, event: QKeyEvent) -> None:
        return None

    def sizeHint(self) -> QSize:
        return QSize(280, self.row_height * max(1, self.num_rows) + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, self.sizeHint().height())

    def matters(self, place: int) -> bool:
        return place == 0

    def columns(self) -> tuple[Column, ...]:
        least = VALUES if self.is_changed else VALUE
        values = max(least, self.widest(map(self.value_of, self.rows), bold=True, size=SMALL) + 6)
        name, saved = self.canvas().width() * NAME - 6, {"before": of("before"), "now": of("now")}
        return (
            Column("", of("name"), str, name, cut=CUT_PARTS, size=SMALL, saved="answer", also=saved),
            Column("", row_itself, self._bar, gap=4.0, least=20.0),
            Column("", row_itself, self.value_of, values, side=RIGHT, cut=WHOLE, size=SMALL),
        )

    def _bar(self, one: AnswerBeforeNow) -> Bar:
        if not self.is_changed:
            return Bar(one.now, height=8.0, radius=4.0)
        line = (2.0, Qt.PenStyle.SolidLine)
        return Bar(one.now, "b", height=8.0, radius=4.0, line=one.before, line_pen=line, overhang=3.0)
