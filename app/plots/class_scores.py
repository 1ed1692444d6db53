"""Precision, recall, F1 and texts of every class, a row each; a click on one asks for its texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from app import words
from app.look import theme
from app.look.columns import CUT_MIDDLE, Bar, Cell, Column, WordsCell, figures, of, row_itself
from app.plots.columns import ColumnsFigure

NARROW = 400  # px; below, precision and recall give way to the bar
LEAST_BAR, MOST_BAR = 36.0, 110.0  # px


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class. interval: of 95 %, of its F1; None where it was not asked for."""

    name: str
    precision: float
    recall: float
    f1: float
    count: int
    interval: tuple[float, float] | None = None

    def end(self, place: int) -> float | str:
        """Return an end of the interval, "" where there is none."""
        return "" if self.interval is None else self.interval[place]


class ClassScoresPlot(ColumnsFigure):
    """A row for each class, and last the mean of all, which is no door. A target is a row's place."""

    is_door = True
    head, row_height = 26, 27
    mean: ClassRow | None = None

    def set_rows(self, rows: Sequence[ClassRow], mean: ClassRow | None) -> None:
        """Show classes, and the mean in which each counts alike."""
        self.mean = mean
        self.show_rows(rows if mean is None else (*rows, mean))

    def set_marked(self, place: int) -> None:
        """Mark the class whose texts are shown; -1: none."""
        self.mark_rows({place})

    @property
    def num_classes(self) -> int:
        return self.num_rows - (self.mean is not None)

    def matters(self, place: int) -> bool:
        return place in self.marked or place == self.num_classes

    def columns(self) -> tuple[Column, ...]:
        width, gap = self.canvas().width(), self.gap
        score, count = self.widest(["99.9 %"], bold=True), self.widest(["00,000"])
        beside = max(score, self.widest([self.tr("precision")], size=self.head_size))
        names = self.widest((one.name for one in self.rows), bold=True)
        is_wide = width >= NARROW
        taken = score + count + names + 6 * gap + (2 * beside + 2 * gap if is_wide else 0.0)
        ends = {"F1 low": lambda one: one.end(0), "F1 high": lambda one: one.end(1)}
        wide = {"width": beside, "least_room": NARROW}
        return (
            Column(self.tr("class"), of("name"), cut=CUT_MIDDLE, saved="class"),
            figures(
                self.tr("precision"), of("precision"), words.score, saved="precision", gap=2 * gap, **wide
            ),
            figures(self.tr("recall"), of("recall"), words.score, saved="recall", **wide),
            Column(
                self.tr("F1"),
                row_itself,
                self._bar,
                min(MOST_BAR, max(LEAST_BAR, width - taken)),
                gap=gap,
            ),
            figures(
                "",
                of("f1"),
                words.score,
                ink="text",
                bolds=True,
                width=score,
                gap=2 * gap,
                saved="F1",
                also=ends,
            ),
            figures(self.tr("texts"), of("count"), saved="texts", width=count),
        )

    def _bar(self, one: ClassRow) -> Cell:
        if one is self.mean:
            return WordsCell("")
        return Bar(one.f1, interval=one.interval)

    def paint_ground(self, painter: QPainter, place: int, room: QRectF) -> None:
        super().paint_ground(painter, place, room)
        if place == self.num_classes:
            painter.setPen(theme.current().color("line"))
            painter.drawLine(room.topLeft(), room.topRight())

    def words_of(self, target: int) -> str:
        one = self.rows[target]
        said = self.tr("{name}: precision {precision}, recall {recall}, F1 {f1}, {count} texts").format(
            name=one.name,
            precision=words.score(one.precision),
            recall=words.score(one.recall),
            f1=words.score(one.f1),
            count=words.number(one.count),
        )
        if one.interval is None:
            return said
        between = self.tr("F1 {low} to {high} in 95 % of cases")
        low, high = map(words.score, one.interval)
        return words.sentences([words.closed(said), between.format(low=low, high=high)])

    def summary(self) -> str:
        return self.tr("{count} classes").format(count=words.number(self.num_classes))

    def can_choose(self, target: int) -> bool:
        return target < self.num_classes
