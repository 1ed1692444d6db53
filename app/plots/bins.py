"""How many are right in each group of texts: a bar a group with its interval, and what was expected of it.

Bars always run from 0 to 1. A click on one asks for its texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPen

from app import words
from app.look import theme
from app.plots.axes import AXIS_SIZE, Axes
from app.plots.figure import Numbers, paint_ring
from app.plots.pointed import DoorsFigure, place_after
from app.plots.strokes import CENTER, level_line, upright_span, write

RIM = (40.0, 8.0, 6.0, 34.0)  # px left, above, right and below
WIDEST = 56.0


@dataclass(frozen=True, slots=True)
class TextGroup:
    """Texts that have something in common. expected: the mean confidence; None where nothing was expected."""

    label: str  # under its bar
    said: str  # in words
    count: int
    share: float
    low: float
    high: float
    expected: float | None = None


class BinsPlot(DoorsFigure):
    """A bar a group. A target is a group's place."""

    groups: tuple[TextGroup, ...] = ()
    _below = ""

    def set_groups(self, groups: Sequence[TextGroup], below: str) -> None:
        """Show groups. Args: below: what the labels under the bars are."""
        self.groups, self._below = tuple(groups), below
        self.forget()
        self.update()

    @property
    def is_empty(self) -> bool:
        return not self.groups

    def numbers(self) -> Numbers:
        rows: Numbers = [["group", "texts", "share right", "low", "high", "expected"]]
        for one in self.groups:
            expected = "" if one.expected is None else one.expected
            rows.append([one.said, one.count, one.share, one.low, one.high, expected])
        return rows

    def words_of(self, target: int) -> str:
        one = self.groups[target]
        said = self.tr("{group}: {share} of {count} texts are right ({low} to {high})").format(
            group=one.said,
            share=words.share(one.share),
            count=words.number(one.count),
            low=words.share(one.low),
            high=words.share(one.high),
        )
        if one.expected is None:
            return said
        return self.tr("{said}; the model expects {expected}").format(
            said=said, expected=words.share(one.expected)
        )

    def summary(self) -> str:
        return words.clauses(self.words_of(place) for place in range(len(self.groups)))

    @property
    def _axes(self) -> Axes:
        return Axes.inside(self.rect(), RIM)

    def rect_of(self, target: int) -> QRectF:
        area = self._axes.area
        step = min(WIDEST, area.width() / len(self.groups))
        return QRectF(area.left() + target * step, area.top(), step, area.height())

    def target_at(self, at: QPointF) -> int | None:
        found = (i for i in range(len(self.groups)) if self.rect_of(i).adjusted(0, 0, 0, RIM[3]).contains(at))
        return next(found, None)

    def after(self, event: QKeyEvent) -> int | None:
        return place_after(event, self.current, len(self.groups))

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes = self._axes
        axes.paint_up(painter, ((value, words.share(value, 0)) for value in (0.0, 0.5, 1.0)))
        below = QRectF(axes.area.left(), self.height() - 16, axes.area.width(), 15)
        write(painter, below, self._below, "muted", size=AXIS_SIZE)
        for place, one in enumerate(self.groups):
            self._paint_group(painter, place, one, axes)
        if self.current is not None and not self._saving:
            paint_ring(painter, self.rect_of(self.current), 1.5)

    def _paint_group(self, painter: QPainter, place: int, one: TextGroup, axes: Axes) -> None:
        colors, room, bottom = theme.current(), self.rect_of(place), axes.area.bottom()
        if place == self.marked:
            painter.fillRect(room, colors.color("hover"))
        bar = room.adjusted(room.width() * 0.14, 0, -room.width() * 0.14, 0)
        bar.setTop(axes.y_of(one.share))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.color("bar"))
        painter.drawRect(bar)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        middle = room.center().x()
        painter.setPen(QPen(colors.color("text"), 1.2))
        upright_span(painter, middle, axes.y_of(one.low), axes.y_of(one.high), 3)
        if one.expected is not None:
            painter.setPen(QPen(colors.color("b"), 2.2))
            level_line(painter, room.left() + 2, room.right() - 2, axes.y_of(one.expected))
        metrics = QFontMetricsF(theme.ui_font(AXIS_SIZE))
        every = max(1, int((metrics.horizontalAdvance(one.label) + 6) // max(1.0, room.width())) + 1)
        if place % every == 0 or (place == len(self.groups) - 1 and every == 1):
            spot = QRectF(middle - 40, bottom + 1, 80, 15)
            write(painter, spot, one.label, "muted", size=AXIS_SIZE, side=CENTER)
