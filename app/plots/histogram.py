"""How long the texts are: a histogram with a line at the maximum, and the share that lies beyond it.

What is cut has another colour, a hatching and words. A long tail is gathered in the last bar, and said so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.axes import AXIS_SIZE, Axes, round_ticks
from app.plots.figure import Numbers, paint_ring
from app.plots.pointed import PointedFigure
from app.plots.strokes import CENTER, level_line, upright_line, write

NUM_BARS = 48
LEAST_BARS = 3  # that there is room for: of texts of one length, the bar is no wall
MOST_COUNTED = 10_000_000  # that whole numbers may lie apart
TOP, RIGHT, BOTTOM = 12.0, 17.5, 38.5  # px
TAIL = 0.995  # the share of values that is drawn to scale


class HistogramPlot(PointedFigure):
    """Counts of values in equal bins; arrow keys walk through the bars. A target is a bar's place."""

    wanted_size = (320, 200)
    least_size = (180, 120)

    def __init__(self, title: str = "", *, x_label: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._x_label = x_label
        self._values = np.empty(0)  # different ones, ascending
        self._times = np.empty(0, dtype=np.int64)  # how often each comes
        self._maximum: float | None = None
        self._edges = np.empty(0)
        self._counts = np.empty(0, dtype=np.int64)
        self._has_tail = False

    def set_values(self, values: Any, maximum: float | None = None) -> None:
        """Show the values; those above `maximum` are marked as cut."""
        self._values, self._times = _counted(np.asarray(values))
        self.forget()
        self.set_maximum(maximum)

    def set_maximum(self, maximum: float | None) -> None:
        """Move the line."""
        self._maximum = maximum
        self._bin()
        self.describe()
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_values((), None)

    @property
    def is_empty(self) -> bool:
        return not len(self._values)

    @property
    def cut_share(self) -> float:
        """Share of the values above the maximum, 0 to 1."""
        if self._maximum is None or self.is_empty:
            return 0.0
        return float(self._times[self._values > self._maximum].sum() / self._times.sum())

    def words(self) -> str:
        """Return the one number that matters: "12 % cut at 512"."""
        if self._maximum is None or self.is_empty:
            return ""
        maximum = words.number(self._maximum)
        if not self.cut_share:
            return self.tr("none truncated at {maximum}").format(maximum=maximum)
        digits = 0 if self.cut_share >= 0.095 else 1 if self.cut_share >= 0.0095 else 2
        return self.tr("{share} truncated at {maximum}").format(
            share=words.share(self.cut_share, digits), maximum=maximum
        )

    def summary(self) -> str:
        return self.words()

    def words_of(self, target: int) -> str:
        """Return a bar as words: "112 from 480 to 499 pieces"."""
        low, high = self._edges[target], self._edges[target + 1] - 1
        values = {
            "count": words.number(self._counts[target]), "low": words.number(np.ceil(low)),
            "high": words.number(max(np.ceil(low), np.floor(high))), "unit": self._x_label,
        }  # fmt: skip
        if self._has_tail and target == len(self._counts) - 1:
            return self.tr("{count} from {low} {unit} up").format(**values).strip()
        return self.tr("{count} from {low} to {high} {unit}").format(**values).strip()

    def numbers(self) -> Numbers:
        rows: Numbers = [["from", "to", "count"]]
        highs = [*self._edges[1:].tolist()]
        if self._has_tail and len(highs):
            highs[-1] = float(self._values.max()) + 1
        for low, high, count in zip(self._edges.tolist(), highs, self._counts.tolist(), strict=False):
            rows.append([int(low), int(high) - 1, count])
        return rows

    def _bin(self) -> None:
        """Cut the values into bins a whole number wide."""
        if self.is_empty:
            self._edges, self._counts, self._has_tail = np.empty(0), np.empty(0, dtype=np.int64), False
            return
        low, high = float(np.floor(self._values[0])), float(self._values[-1])
        end = self._quantile(TAIL)
        if self._maximum is not None:
            end = max(end, min(high, self._maximum * 1.15))
        self._has_tail = end < high * 0.9
        end = end if self._has_tail else high
        width = max(1.0, np.ceil((end + 1 - low) / NUM_BARS))
        number = int(np.ceil((end + 1 - low) / width))
        self._edges = low + width * np.arange(number + 1)
        inside = np.minimum(self._values, self._edges[-1] - 0.5)
        self._counts = np.histogram(inside, self._edges, weights=self._times)[0]

    def _quantile(self, share: float) -> float:
        """Return the value below which so many are, between two of them as numpy's quantile does."""
        place = share * (self._times.sum() - 1)
        ends = np.array([np.floor(place), np.ceil(place)])
        low, high = self._values[np.searchsorted(np.cumsum(self._times), ends, "right")]
        return float(low + (high - low) * (place - ends[0]))

    @property
    def _axes(self) -> Axes:
        first, last = float(self._edges[0]), float(self._edges[-1])
        beside = max(0.0, LEAST_BARS * float(self._edges[1] - first) - (last - first)) / 2
        up = 0.0, float(self._counts.max())
        written = QFontMetricsF(theme.ui_font(AXIS_SIZE)).horizontalAdvance
        left = 9 + max(written(said) for _, said in self._ticks(up, (self.height() - TOP - BOTTOM) / 32))
        rim = (left, TOP, RIGHT, BOTTOM)
        return Axes.inside(self.rect(), rim, (first - beside, last + beside), up)

    def _ticks(self, ends: tuple[float, float], most: float) -> list[tuple[float, str]]:
        return [(value, words.number(value)) for value in round_ticks(*ends, max(2.0, most), 1)]

    def rect_of(self, target: int) -> QRectF:
        return self._bar(self._axes, target)

    def _bar(self, axes: Axes, place: int) -> QRectF:
        left, right = (round(axes.x_of(edge)) for edge in self._edges[place : place + 2].tolist())
        top, bottom = axes.y_of(float(self._counts[place])), axes.area.bottom()
        gap = 1 if right - left > 3 else 0
        return QRectF(left, top, max(1, right - left - gap), bottom - top)

    def target_at(self, at: QPointF) -> int | None:
        if self.is_empty or not (axes := self._axes).area.contains(at):
            return None
        bar = int(np.searchsorted(self._edges, axes.across_at(at.x()), side="right")) - 1
        return bar if 0 <= bar < len(self._counts) else None

    def after(self, event: QKeyEvent) -> int | None:
        last = len(self._counts) - 1
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not move or self.is_empty:
            return None
        here = self.current if self.current is not None else -1 if move > 0 else last + 1
        return min(max(here + move, 0), last)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes = self._axes
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        axes.paint_up(painter, self._ticks(axes.up, axes.area.height() / 32), edge=True)
        axes.paint_across(painter, self._ticks(axes.across, axes.area.width() / 90), gap=4)
        axes.paint_name_across(painter, self._unit, 21)
        self._paint_bars(painter, axes)
        self._paint_maximum(painter, axes)

    @property
    def _unit(self) -> str:
        if not self._has_tail:
            return self._x_label
        tail = self.tr("last bar: {number} and more").format(number=words.number(self._edges[-2]))
        return words.bracketed(self._x_label, tail).strip()

    def _paint_bars(self, painter: QPainter, axes: Axes) -> None:
        colors = theme.current()
        hatch = QBrush(QColor(theme.mix(colors.card, colors.b, 0.45)), Qt.BrushStyle.BDiagPattern)
        for index in range(len(self._counts)):
            bar = self._bar(axes, index)
            line = bar.right()
            if self._maximum is not None and self._edges[index + 1] - 1 > self._maximum:
                line = max(bar.left(), min(bar.right(), axes.x_of(self._maximum + 1)))
            whole, cut = QRectF(bar), QRectF(bar)
            whole.setRight(line)
            cut.setLeft(line)
            painter.fillRect(whole, QColor(colors.accent))
            painter.fillRect(cut, QColor(theme.mix(colors.card, colors.b, 0.85)))
            painter.fillRect(cut, hatch)
        painter.setPen(colors.color("muted"))
        level_line(painter, axes.area.left(), axes.area.right(), axes.area.bottom())
        if self.current is not None and not self._saving:
            whole = self._bar(axes, self.current)
            whole.setTop(axes.area.top())
            paint_ring(painter, whole.adjusted(-2, 0, 2, 0), 1.5)

    def _paint_maximum(self, painter: QPainter, axes: Axes) -> None:
        if self._maximum is None or self._maximum >= self._edges[-1]:
            return
        color, x, top = theme.current().color("b"), round(axes.x_of(self._maximum + 1)), axes.area.top() - 6
        painter.setPen(QPen(color, 2))
        upright_line(painter, x, top, axes.area.bottom())
        said = self.tr("maximum {number}").format(number=words.number(self._maximum))
        metrics = QFontMetricsF(theme.ui_font(AXIS_SIZE))
        width = metrics.horizontalAdvance(said) + 8
        left = x + 6 if x + 6 + width < self.width() else x - 6 - width
        place = QRectF(max(0.0, left), top, width, metrics.height() + 2)
        painter.fillRect(place, theme.current().color("card"))
        write(painter, place, said, color, size=AXIS_SIZE, side=CENTER)


def _counted(values: Any) -> tuple[Any, Any]:
    """Return the different finite values, ascending, and how often each comes. Whole ones are not sorted."""
    if values.dtype.kind in "iu" and len(values) and np.ptp(values) < MOST_COUNTED:
        least = int(values.min())
        times = np.bincount(values - least)
        found = np.flatnonzero(times)
        return (found + least).astype(np.float64), times[found]
    values = values.astype(np.float64)
    return np.unique(values[np.isfinite(values)], return_counts=True)
