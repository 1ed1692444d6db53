"""How long the texts are: a histogram with a line at the maximum, and the share that lies beyond it.

What is cut has another colour, a hatching and words. A long tail is gathered in the last bar, and said so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.look import theme
from app.look.layout import column
from app.plots.axes import AXIS_SIZE, Chart, RoundAxis
from app.plots.figure import Figure, Numbers, paint_ring

NUM_BARS = 48
LEAST_BARS = 3  # that there is room for: of texts of one length, the bar is no wall
MOST_COUNTED = 10_000_000  # that whole numbers may lie apart
TAIL = 0.995  # the share of values that is drawn to scale


class HistogramPlot(Figure):
    """Counts of values in equal bins; arrow keys walk through the bars."""

    def __init__(self, title: str = "", *, x_label: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._x_label = x_label
        self._values = np.empty(0)  # different ones, ascending
        self._times = np.empty(0, dtype=np.int64)  # how often each comes
        self._maximum: float | None = None
        self._edges = np.empty(0)
        self._counts = np.empty(0, dtype=np.int64)
        self._has_tail = False
        self._current: int | None = None
        below = RoundAxis("bottom", words.number, apart=90, least=1)
        left = RoundAxis("left", words.number, apart=32, least=1, grid=True)
        self._chart = Chart(self, axes=(below, left))
        self._chart.getPlotItem().setContentsMargins(0, 8, 14, 0)
        self._drawing = self._chart.add_drawing(self._paint)
        column((self._chart, 1), margins=3, parent=self)
        theme.on_theme_change(self, self._show)

    def set_values(self, values: Any, maximum: float | None = None) -> None:
        """Show the values; those above `maximum` are marked as cut."""
        self._values, self._times = _counted(np.asarray(values))
        self._current = None
        self.set_maximum(maximum)

    def set_maximum(self, maximum: float | None) -> None:
        """Move the line."""
        self._maximum = maximum
        self._bin()
        self.setAccessibleDescription(self.words())
        self._show()

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
            return self.tr("none cut at {maximum}").format(maximum=maximum)
        digits = 0 if self.cut_share >= 0.095 else 1 if self.cut_share >= 0.0095 else 2
        return self.tr("{share} cut at {maximum}").format(
            share=words.share(self.cut_share, digits), maximum=maximum
        )

    def bar_words(self, index: int) -> str:
        """Return a bar as words: "112 from 480 to 499 pieces"."""
        low, high = self._edges[index], self._edges[index + 1] - 1
        values = {
            "count": words.number(self._counts[index]), "low": words.number(np.ceil(low)),
            "high": words.number(max(np.ceil(low), np.floor(high))), "unit": self._x_label,
        }  # fmt: skip
        if self._has_tail and index == len(self._counts) - 1:
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

    def sizeHint(self) -> QSize:
        return QSize(320, 200)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 120)

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

    def _show(self) -> None:
        self._chart.setVisible(not self.is_empty)
        if not self.is_empty:
            first, last = float(self._edges[0]), float(self._edges[-1])
            beside = max(0.0, LEAST_BARS * float(self._edges[1] - first) - (last - first)) / 2
            self._chart.set_view((first - beside, last + beside), (0.0, float(self._counts.max())))
            unit = self._x_label
            if self._has_tail:
                tail = self.tr("last bar: {number} and more").format(number=words.number(self._edges[-2]))
                unit = f"{unit} ({tail})".strip()
            self._chart.set_x_name(unit)
        self._drawing.update()
        self.update()

    def _bar(self, index: int) -> QRectF:
        left, right = (round(self._chart.x_of(edge)) for edge in self._edges[index : index + 2])
        top, bottom = self._chart.y_of(float(self._counts[index])), self._chart.area().bottom()
        gap = 1 if right - left > 3 else 0
        return QRectF(left, top, max(1, right - left - gap), bottom - top)

    def _bar_at(self, position: QPointF) -> int | None:
        value = None if self.is_empty else self._chart.step_at(position - self._chart.pos())
        if value is None or not self._edges[0] <= value < self._edges[-1]:
            return None
        return int(np.clip(np.searchsorted(self._edges, value, side="right") - 1, 0, len(self._counts) - 1))

    def _paint(self, painter: QPainter) -> None:
        if not self.is_empty:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            self._paint_bars(painter, self._chart.area())
            self._paint_maximum(painter, self._chart.area())

    def _paint_bars(self, painter: QPainter, area: QRectF) -> None:
        colors = theme.current()
        hatch = QBrush(QColor(theme.mix(colors.card, colors.b, 0.45)), Qt.BrushStyle.BDiagPattern)
        for index in range(len(self._counts)):
            bar = self._bar(index)
            line = bar.right()
            if self._maximum is not None and self._edges[index + 1] - 1 > self._maximum:
                line = max(bar.left(), min(bar.right(), self._chart.x_of(self._maximum + 1)))
            painter.fillRect(
                QRectF(bar.left(), bar.top(), line - bar.left(), bar.height()), QColor(colors.accent)
            )
            cut = QRectF(line, bar.top(), bar.right() - line, bar.height())
            painter.fillRect(cut, QColor(theme.mix(colors.card, colors.b, 0.85)))
            painter.fillRect(cut, hatch)
        painter.setPen(colors.color("muted"))
        painter.drawLine(QLineF(area.left(), area.bottom(), area.right(), area.bottom()))
        if self._current is not None and not self._saving:
            column = self._bar(self._current)
            column.setTop(area.top())
            paint_ring(painter, column.adjusted(-2, 0, 2, 0), 1.5)

    def _paint_maximum(self, painter: QPainter, area: QRectF) -> None:
        if self._maximum is None or self._maximum >= self._edges[-1]:
            return
        colors = theme.current()
        x = round(self._chart.x_of(self._maximum + 1))
        painter.setPen(QPen(colors.color("b"), 2))
        painter.drawLine(QLineF(x, area.top() - 6, x, area.bottom()))
        said = self.tr("maximum {number}").format(number=words.number(self._maximum))
        painter.setFont(theme.ui_font(AXIS_SIZE))
        metrics = QFontMetricsF(painter.font())
        width = metrics.horizontalAdvance(said) + 8
        left = x + 6 if x + 6 + width < self._chart.width() else x - 6 - width
        place = QRectF(max(0.0, left), area.top() - 6, width, metrics.height() + 2)
        painter.fillRect(place, colors.color("card"))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, said)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._go_to(self._bar_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.hasFocus():
            self._go_to(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if move and not self.is_empty:
            here = self._current if self._current is not None else -1 if move > 0 else len(self._counts)
            self._go_to(min(max(here + move, 0), len(self._counts) - 1))
            corner = self._bar(self._current or 0).topRight().toPoint()
            QToolTip.showText(self._chart.mapToGlobal(corner), self.bar_words(self._current or 0), self)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            bar = self._bar_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), self.bar_words(bar) if bar is not None else "", self)
            return True
        return super().event(event)

    def _go_to(self, bar: int | None) -> None:
        if bar != self._current:
            self._current = bar
            self.setAccessibleDescription(self.bar_words(bar) if bar is not None else self.words())
            self._drawing.update()


def _counted(values: Any) -> tuple[Any, Any]:
    """Return the different finite values, ascending, and how often each comes. Whole ones are not sorted."""
    if values.dtype.kind in "iu" and len(values) and np.ptp(values) < MOST_COUNTED:
        least = int(values.min())
        times = np.bincount(values - least)
        found = np.flatnonzero(times)
        return (found + least).astype(np.float64), times[found]
    values = values.astype(np.float64)
    return np.unique(values[np.isfinite(values)], return_counts=True)
