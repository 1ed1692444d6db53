"""How many are right in each group of texts: a bar a group with its interval, and what was expected of it.

Bars always run from 0 to 1. A click on one asks for its texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers, paint_ring
from app.plots.pointed import PointedFigure, cell_after

LEFT, BOTTOM, TOP, EDGE = 40.0, 34.0, 8.0, 6.0  # px
SIZE = 11
WIDEST = 56.0


@dataclass(frozen=True, slots=True)
class Group:
    """Texts that have something in common. expected: the mean confidence; None where nothing was expected."""

    label: str  # under its bar
    said: str  # in words
    count: int
    share: float
    low: float
    high: float
    expected: float | None = None


class BinsPlot(PointedFigure):
    """A bar a group. A target is a group's place."""

    chosen = Signal(int)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.groups: tuple[Group, ...] = ()
        self.marked = -1
        self._below = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.on_theme_change(self, self.update)

    def set_groups(self, groups: Sequence[Group], below: str) -> None:
        """Show groups. Args: below: what the labels under the bars are."""
        self.groups, self._below = tuple(groups), below
        self.forget()
        self.update()

    def set_marked(self, place: int) -> None:
        """Mark the group whose texts are shown; -1: none."""
        self.marked = place
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
        return "; ".join(self.words_of(place) for place in range(len(self.groups)))

    def _area(self) -> QRectF:
        return QRectF(LEFT, TOP, max(1.0, self.width() - LEFT - EDGE), max(1.0, self.height() - TOP - BOTTOM))

    def rect_of(self, target: int) -> QRectF:
        area, count = self._area(), len(self.groups)
        step = min(WIDEST, area.width() / count)
        return QRectF(area.left() + target * step, area.top(), step, area.height())

    def target_at(self, at: QPointF) -> int | None:
        found = (i for i in range(len(self.groups)) if self.rect_of(i).adjusted(0, 0, 0, BOTTOM).contains(at))
        return next(found, None)

    def after(self, event: QKeyEvent) -> int | None:
        here = None if self.current is None else (0, self.current)
        found = cell_after(event, here, (1, len(self.groups)))
        return None if found is None else found[1]

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def sizeHint(self) -> QSize:
        return QSize(360, 170)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 90)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.groups:
            self._paint(painter)
        self.paint_frame(painter)
        painter.end()

    def _paint(self, painter: QPainter) -> None:
        colors, area = theme.current(), self._area()
        painter.setFont(theme.ui_font(SIZE))
        for value in (0.0, 0.5, 1.0):
            y = area.bottom() - area.height() * value
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(colors.color("muted"))
            room = QRectF(0, y - 8, LEFT - 6, 16)
            painter.drawText(
                room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, words.share(value, 0)
            )
        room = QRectF(area.left(), self.height() - 16, area.width(), 15)
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._below)
        for place, one in enumerate(self.groups):
            self._paint_group(painter, place, one, area)
        if self.current is not None and not self._saving:
            paint_ring(painter, self.rect_of(self.current), 1.5)

    def _paint_group(self, painter: QPainter, place: int, one: Group, area: QRectF) -> None:
        colors, room = theme.current(), self.rect_of(place)
        if place == self.marked:
            painter.fillRect(room, colors.color("accent_soft"))
        bar = room.adjusted(room.width() * 0.14, 0, -room.width() * 0.14, 0)
        bar.setTop(area.bottom() - area.height() * one.share)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.mix(colors.card, colors.accent, 0.62)))
        painter.drawRect(bar)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        middle = room.center().x()
        painter.setPen(QPen(colors.color("text"), 1.2))
        low, high = (area.bottom() - area.height() * end for end in (one.low, one.high))
        painter.drawLine(QPointF(middle, low), QPointF(middle, high))
        for y in (low, high):
            painter.drawLine(QPointF(middle - 3, y), QPointF(middle + 3, y))
        if one.expected is not None:
            y = area.bottom() - area.height() * one.expected
            painter.setPen(QPen(colors.color("b"), 2.2))
            painter.drawLine(QPointF(room.left() + 2, y), QPointF(room.right() - 2, y))
        metrics = QFontMetricsF(painter.font())
        every = max(1, int((metrics.horizontalAdvance(one.label) + 6) // max(1.0, room.width())) + 1)
        if place % every == 0 or (place == len(self.groups) - 1 and every == 1):
            painter.setPen(colors.color("muted"))
            spot = QRectF(middle - 40, area.bottom() + 1, 80, 15)
            painter.drawText(spot, Qt.AlignmentFlag.AlignCenter, one.label)
