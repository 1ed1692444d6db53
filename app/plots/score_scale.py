"""Scores on one scale, each a dot with its interval: the one that matters first, what it has to beat below.

The scale shows where the scores lie, not 0 to 1; what lies far outside says so at the edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure, row_after

ROW, AXIS, GAP = 26.0, 18.0, 8.0  # px
MOST_NAME = 0.42  # of the width
FAR = 0.3  # below the first one; what is farther away does not stretch the scale
DOT, END = 4.0, 4.0


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """A score. low, high: of its interval, None where it cannot be told. note: what is said of it."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""


class ScoreScalePlot(PointedFigure):
    """A line a score. A target is a line's place."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.lines: tuple[ScoreLine, ...] = ()
        self._as_share = True
        theme.on_theme_change(self, self.update)

    def set_lines(self, lines: Sequence[ScoreLine], *, as_share: bool = True) -> None:
        """Show scores, the one that matters first. Args: as_share: in per cent; a correlation is no share."""
        self.lines, self._as_share = tuple(lines), as_share
        self.setMinimumHeight(int(self._height()))
        self.forget()
        self.updateGeometry()

    @property
    def is_empty(self) -> bool:
        return not self.lines

    @property
    def scale(self) -> tuple[float, float]:
        """Where the scale begins and ends: round numbers around what is near the first score."""
        first = self.lines[0]
        near = [one for one in self.lines if one.value >= first.value - FAR]
        low = min(one.value if one.low is None else one.low for one in near)
        high = max(one.value if one.high is None else one.high for one in near)
        step = self._step(high - low)
        bottom, top = math.floor(low / step) * step, math.ceil(high / step) * step
        return max(-1.0 if low < 0 else 0.0, bottom), min(1.0, max(top, bottom + step))

    @staticmethod
    def _step(span: float) -> float:
        return next((step for step in (0.01, 0.02, 0.05, 0.1, 0.2) if span <= 4 * step), 0.5)

    def numbers(self) -> Numbers:
        rows: Numbers = [["name", "score", "low", "high"]]
        for one in self.lines:
            ends = ["" if end is None else end for end in (one.low, one.high)]
            rows.append([one.name, one.value, *ends])
        return rows

    def words_of(self, target: int) -> str:
        one = self.lines[target]
        said = f"{one.name}: {self._say(one.value)}"
        if one.low is not None and one.high is not None:
            between = self.tr("{low} to {high}").format(low=self._say(one.low), high=self._say(one.high))
            said = f"{said} ({between})"
        return f"{said}. {one.note}" if one.note else said

    def summary(self) -> str:
        return "; ".join(self.words_of(place) for place in range(len(self.lines)))

    def rect_of(self, target: int) -> QRectF:
        return QRectF(0, target * ROW, self.width(), ROW)

    def target_at(self, at: QPointF) -> int | None:
        place = int(at.y() // ROW)
        return place if 0 <= place < len(self.lines) else None

    def after(self, event: QKeyEvent) -> int | None:
        return row_after(event, self.current, len(self.lines))

    def _height(self) -> float:
        return len(self.lines) * ROW + AXIS

    def sizeHint(self) -> QSize:
        return QSize(220, int(self._height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(150, int(self._height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.lines:
            self._paint(painter)
        self.paint_frame(painter)
        painter.end()

    def _paint(self, painter: QPainter) -> None:
        metrics = QFontMetricsF(theme.ui_font())
        bold = QFontMetricsF(theme.ui_font(bold=True))
        widest = max(bold.horizontalAdvance(one.name) for one in self.lines)
        name = min(widest + GAP, self.width() * MOST_NAME)
        figure = metrics.horizontalAdvance("100.0") + GAP
        area = QRectF(name, 0, max(20.0, self.width() - name - figure), len(self.lines) * ROW)
        self._paint_axis(painter, area)
        for place, one in enumerate(self.lines):
            self._paint_line(painter, place, one, area, name)

    def _figure(self, value: float) -> str:
        return words.decimal(100 * value, 1) if self._as_share else words.decimal(value, 3)

    def _say(self, value: float) -> str:
        return words.share(value) if self._as_share else words.decimal(value, 3)

    def _x(self, value: float, area: QRectF) -> float:
        low, high = self.scale
        return area.left() + DOT + (area.width() - 2 * DOT) * (value - low) / (high - low)

    def _paint_axis(self, painter: QPainter, area: QRectF) -> None:
        colors, (low, high) = theme.current(), self.scale
        painter.setFont(theme.ui_font(11))
        step = self._step(high - low)
        count = round((high - low) / step)
        every = max(1, math.ceil(count * 34 / max(1.0, area.width())))
        for number in range(0, count + 1, every):
            value = low + number * step
            x = self._x(value, area)
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(x, 3), QPointF(x, area.bottom()))
            painter.setPen(colors.color("muted"))
            text = words.number(round(100 * value)) if self._as_share else words.decimal(value, 2)
            room = QRectF(x - 24, area.bottom(), 48, AXIS)
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_line(self, painter: QPainter, place: int, one: ScoreLine, area: QRectF, name: float) -> None:
        colors, is_first = theme.current(), place == 0
        middle = place * ROW + ROW / 2
        font = theme.ui_font(bold=is_first)
        painter.setFont(font)
        painter.setPen(colors.color("text" if is_first else "muted"))
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        cut = QFontMetricsF(font).elidedText(one.name, Qt.TextElideMode.ElideRight, name - GAP)
        painter.drawText(QRectF(0, place * ROW, name - GAP / 2, ROW), left, cut)
        figure = self._figure(one.value)
        painter.drawText(QRectF(area.right(), place * ROW, self.width() - area.right(), ROW), right, figure)
        ink = colors.color("accent" if is_first else "muted")
        low, _high = self.scale
        if one.value < low:
            painter.setFont(theme.ui_font(12))
            painter.drawText(
                QRectF(area.left(), place * ROW, area.width(), ROW), left, self.tr("‹ far below")
            )
            return
        painter.setPen(QPen(ink, 1.6))
        if one.low is not None and one.high is not None:
            begin, end = self._x(max(low, one.low), area), self._x(one.high, area)
            painter.drawLine(QPointF(begin, middle), QPointF(end, middle))
            for x in (begin, end):
                painter.drawLine(QPointF(x, middle - END), QPointF(x, middle + END))
        painter.setBrush(QColor(ink))
        painter.drawEllipse(QPointF(self._x(one.value, area), middle), DOT, DOT)
        painter.setBrush(Qt.BrushStyle.NoBrush)
