"""Scores on one scale, each a dot with its interval: the one that matters first, what it has to beat below.

The scale shows where the scores lie, not 0 to 1; what lies far outside says so at the edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.axes import AXIS_SIZE, Axes
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure, row_after
from app.plots.strokes import CENTER, level_span, upright_line, write

ROW, AXIS, GAP = 26.0, 18.0, 8.0  # px
MOST_NAME = 0.46  # of the width
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

    lines: tuple[ScoreLine, ...] = ()
    _as_share = True

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
        said = words.captioned(one.name, self._say(one.value))
        if one.low is not None and one.high is not None:
            between = self.tr("{low} to {high}").format(low=self._say(one.low), high=self._say(one.high))
            said = words.bracketed(said, between)
        return words.sentences([words.closed(said), one.note]) if one.note else said

    def summary(self) -> str:
        return words.clauses(self.words_of(place) for place in range(len(self.lines)))

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

    def paint(self, painter: QPainter, area: QRectF) -> None:
        metrics, bold = QFontMetricsF(theme.ui_font()), QFontMetricsF(theme.ui_font(bold=True))
        widest = max(bold.horizontalAdvance(one.name) for one in self.lines)
        name = min(widest + GAP, self.width() * MOST_NAME)
        figure = metrics.horizontalAdvance("100.0") + GAP
        width = max(20.0, self.width() - name - figure)
        axes = Axes(QRectF(name + DOT, 0, width - 2 * DOT, len(self.lines) * ROW), self.scale)
        self._paint_axis(painter, axes)
        for place, one in enumerate(self.lines):
            self._paint_line(painter, place, one, axes)

    def _figure(self, value: float) -> str:
        return words.decimal(100 * value, 1) if self._as_share else words.decimal(value, 3)

    def _say(self, value: float) -> str:
        return words.share(value) if self._as_share else words.decimal(value, 3)

    def _paint_axis(self, painter: QPainter, axes: Axes) -> None:
        low, high = axes.across
        step = self._step(high - low)
        count = round((high - low) / step)
        every = max(1, math.ceil(count * 34 / max(1.0, axes.area.width() + 2 * DOT)))
        for number in range(0, count + 1, every):
            value = low + number * step
            x = axes.x_of(value)
            painter.setPen(QPen(theme.current().color("line"), 1))
            upright_line(painter, x, 3, axes.area.bottom())
            text = words.number(round(100 * value)) if self._as_share else words.decimal(value, 2)
            room = QRectF(x - 24, axes.area.bottom(), 48, AXIS)
            write(painter, room, text, "muted", size=AXIS_SIZE, side=CENTER)

    def _paint_line(self, painter: QPainter, place: int, one: ScoreLine, axes: Axes) -> None:
        is_first, top, area = place == 0, place * ROW, axes.area.adjusted(-DOT, 0, DOT, 0)
        ink, end = "text" if is_first else "muted", Qt.TextElideMode.ElideRight
        write(painter, QRectF(0, top, area.left() - GAP, ROW), one.name, ink, bold=is_first, cut=end)
        beside = QRectF(area.right(), top, self.width() - area.right(), ROW)
        write(painter, beside, self._figure(one.value), ink, bold=is_first, side=RIGHT)
        color, middle, low = (
            theme.current().color("accent" if is_first else "muted"),
            top + ROW / 2,
            axes.across[0],
        )
        if one.value < low:
            write(
                painter, QRectF(area.left(), top, area.width(), ROW), self.tr("‹ far below"), color, size=12
            )
            return
        painter.setPen(QPen(color, 1.6))
        if one.low is not None and one.high is not None:
            level_span(painter, axes.x_of(max(low, one.low)), axes.x_of(one.high), middle, END)
        painter.setBrush(color)
        painter.drawEllipse(QPointF(axes.x_of(one.value), middle), DOT, DOT)
        painter.setBrush(Qt.BrushStyle.NoBrush)
