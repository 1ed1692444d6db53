"""Curves of several runs over one another: a line each, its letter at its end, the spread over its
seeds behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.axes import spread
from app.plots.chart import ChartWidget, color_curve
from app.plots.figure import Numbers
from app.plots.series import Series, table_by_step
from app.plots.steps import StepsPlot
from app.plots.strokes import write

DASHES = (
    Qt.PenStyle.SolidLine,
    Qt.PenStyle.DashLine,
    Qt.PenStyle.DotLine,
    Qt.PenStyle.DashDotLine,
    Qt.PenStyle.DashDotDotLine,
    Qt.PenStyle.SolidLine,
)
MOST_NAME = 130  # px at the end of a line
MOST_SYMBOLS = 30


@dataclass(frozen=True, slots=True, eq=False)
class RunLine:
    """A ticked line of the table. steps, mean, spread: (P,); spread: nought everywhere for one run.

    number: of its colour; None: its place among the lines.
    """

    letter: str
    name: str
    steps: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    number: int | None = None


class RunCurvesPlot(StepsPlot):
    """The lines of all that is ticked, in its order: A, B, ..."""

    most_name = MOST_NAME

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._lines: tuple[RunLine, ...] = ()
        self._series: tuple[Series, ...] = ()
        self._items: list[pg.GraphicsObject] = []
        self._metric = ""
        self.follow_theme()

    def begin(self, chart: ChartWidget) -> None:
        chart.add_drawing(self._paint_names)

    def set_lines(self, lines: Sequence[RunLine], metric: str) -> None:
        """Show other lines. Args: metric: what their values are."""
        self._lines, self._metric = tuple(line for line in lines if len(line.steps)), metric
        made = []
        for line in self._lines:
            series = Series()
            series.append(line.steps, line.mean)
            made.append(series)
        self._series = tuple(made)
        self.hover_at(None)
        if self.has_chart or self._lines:
            self._add_items()
            self._name_lines()
            self.show_all()
        self.flush()

    def _add_items(self) -> None:
        """Put the lines there are in the place of those there were."""
        for item in self._items:
            self._chart.removeItem(item)
        self._items = []
        for place, line in self._numbered():
            color = QColor(theme.category(place))
            if line.spread.any():
                faint = QColor(theme.mix(theme.current().card, color.name(), 0.22))
                ends = (pg.PlotCurveItem(line.steps, line.mean + sign * line.spread) for sign in (-1, 1))
                band = pg.FillBetweenItem(*ends, brush=pg.mkBrush(faint))
                band.setZValue(-10 + place)
                self._chart.addItem(band, ignoreBounds=True)
                self._items.append(band)
            curve = self._chart.add_curve()
            curve.setData(line.steps, line.mean, symbol="o" if len(line.steps) <= MOST_SYMBOLS else None)
            color_curve(curve, color, 6, DASHES[place % len(DASHES)])
            self._items.append(curve)

    def series(self) -> Sequence[Series]:
        return self._series

    def draw(self) -> None:
        if self._lines:
            last = max(float(line.steps[-1]) for line in self._lines)
            room = min(0.35, (self.most_name + 30) / max(200, self._chart.width()))
            self._chart.getViewBox().setXRange(0, last / (1 - room), padding=0.01)

    def restyle(self) -> None:
        if self.has_chart and self._lines:
            self._add_items()
        self._name_lines()

    def _numbered(self) -> list[tuple[int, RunLine]]:
        """Return the lines, each with the number of its colour."""
        return [
            (place if line.number is None else line.number, line) for place, line in enumerate(self._lines)
        ]

    def _name_lines(self) -> None:
        names = ((line, theme.category(number)) for number, line in self._numbered())
        self._legend.set_entries(
            [(f"{line.letter}  {line.name}".strip()[:24], color, "line") for line, color in names]
        )

    def numbers(self) -> Numbers:
        columns = []
        for line in self._lines:
            name = f"{line.letter} {line.name}"
            columns.append((f"{name} {self._metric}", line.steps, line.mean))
            columns.append((f"{name} spread", line.steps, line.spread))
        return table_by_step(columns, as_float=True)

    def hover_words(self, step: float) -> str:
        parts = [self.tr("step {step}").format(step=words.number(step))]
        for line, series in zip(self._lines, self._series, strict=True):
            place = series.nearest(step)
            if place >= 0 and series.steps[0] <= step <= series.steps[-1]:
                value = words.decimal(float(series.values[place]))
                apart = f" ± {words.decimal(float(line.spread[place]))}" if line.spread[place] else ""
                parts.append(f"{line.letter} {value}{apart}")
        return " · ".join(parts)

    def _paint_names(self, painter: QPainter) -> None:
        """Paint letter and name where each line ends, moved apart where they would lie over one another."""
        if not self._lines:
            return
        area, metrics = self._chart.area(), QFontMetricsF(theme.ui_font(12))
        ends = [(self._chart.x_of(line.steps[-1]), self._chart.y_of(line.mean[-1])) for line in self._lines]
        places = _apart(ends, area.bottom() - 4, self.most_name)
        faint_card = theme.current().color("card")
        faint_card.setAlpha(200)
        for (number, line), (x, y), place in zip(self._numbered(), ends, places, strict=True):
            if not area.left() <= x <= area.right():
                continue
            color = QColor(theme.category(number))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QPointF(x, y), 3.5, 3.5)
            room = min(self.most_name, self._chart.width() - x - 30)
            name = metrics.elidedText(line.name, Qt.TextElideMode.ElideRight, room)
            begin = x + (25 if line.letter else 9)
            behind = QRectF(x + 7, place - 7, begin - x - 5 + metrics.horizontalAdvance(name), 15)
            painter.fillRect(behind, faint_card)
            write(painter, QRectF(x + 9, place - 9, 16, 18), line.letter, color, size=12, bold=True)
            write(painter, QRectF(begin, place - 9, room + 4, 18), name, size=12)


def _apart(ends: Sequence[tuple[float, float]], bottom: float, most: float) -> list[float]:
    """Return how high the names of lines stand that end at (x, y): those that end near each other, apart."""
    places = [0.0] * len(ends)
    left = sorted(range(len(ends)), key=lambda one: ends[one][0])
    while left:
        near = [one for one in left if ends[one][0] - ends[left[0]][0] < most]
        left = [one for one in left if one not in near]
        for one, place in zip(near, spread([ends[one][1] for one in near], 16, bottom), strict=True):
            places[one] = place
    return places
