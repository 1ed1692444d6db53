"""Blanks that the members filled, over the words they had read: a line each on a logarithmic axis, and a ring
where one passes another for good.

A step of this chart is the log of words read, to the base 10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPen

from app import words
from app.look.columns import color_of
from app.plots.chart import ChartWidget
from app.plots.figure import Numbers
from app.plots.loss_curves import LossCurvesPlot
from app.plots.run_curves import RunLine

RING, TICK = 7.0, 48.0  # px; between two numbers of the axis
MILLION, THOUSAND = 10**6, 10**3


class BlankCurvesPlot(LossCurvesPlot):
    """Args: axis: what lies at the bottom, such as words read."""

    def __init__(self, title: str, axis: str) -> None:
        self._crossings: tuple[tuple[float, float], ...] = ()
        super().__init__(title, axis)

    def begin(self, chart: ChartWidget) -> None:
        super().begin(chart)
        chart.set_percent()
        chart.add_drawing(self._paint_crossings)

    def show_curves(
        self, lines: Sequence[RunLine], crossings: Sequence[tuple[float, float]], metric: str
    ) -> None:
        """Show shares over words read. Args: lines: their steps are words. crossings: words and share."""
        self._crossings = tuple((math.log10(read), share) for read, share in crossings)
        self.set_lines(
            [
                RunLine(line.letter, line.name, np.log10(line.steps), line.mean, line.spread, line.number)
                for line in lines
            ],
            metric,
        )

    def draw(self) -> None:
        if not self._lines:
            return
        first = min(float(line.steps[0]) for line in self._lines)
        last = max(float(line.steps[-1]) for line in self._lines)
        room = min(0.35, (self.most_name + 30) / max(200, self._chart.width()))
        box = self._chart.getViewBox()
        box.setLimits(xMin=first - 0.1)
        box.setXRange(first, first + (last - first) / (1 - room), padding=0.01)
        most = self._chart.area().width() * (1 - room) / TICK
        ticks = _ticks(first, last, (1, 3))
        if len(ticks) > most:
            ticks = _ticks(first, last, (1,))
        self._chart.getAxis("bottom").setTicks([ticks])

    def hover_words(self, step: float) -> str:
        _, _, rest = super().hover_words(step).partition(" · ")
        return " · ".join(part for part in (f"{self._axis} {words.number(round(10**step))}", rest) if part)

    def numbers(self) -> Numbers:
        head, *rows = super().numbers()
        return [head, *([round(10 ** float(row[0])), *row[1:]] for row in rows)]

    def _paint_crossings(self, painter: QPainter) -> None:
        painter.setPen(QPen(color_of("text"), 1.4))
        for step, share in self._crossings:
            painter.drawEllipse(QPointF(self._chart.x_of(step), self._chart.y_of(share)), RING, RING)


def _ticks(first: float, last: float, factors: Sequence[int]) -> list[tuple[float, str]]:
    """Return where numbers of words stand on the axis: each power of ten that lies within, times factors."""
    found = []
    for power in range(math.floor(first), math.ceil(last) + 1):
        for factor in factors:
            place = power + math.log10(factor)
            if first - 0.05 <= place <= last + 0.05:
                found.append((place, _short(factor * 10**power)))
    return found


def _short(count: int) -> str:
    if count >= MILLION:
        return f"{words.number(count / MILLION)} M"
    return f"{words.number(count / THOUSAND)} k" if count >= THOUSAND else words.number(count)
