"""Several named values over the same steps, such as the probability of the right word in pinned sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.chart import ChartWidget, color_curve
from app.plots.figure import Numbers
from app.plots.series import Series, table_by_step
from app.plots.steps import StepsPlot

MOST_SYMBOLS = 30  # points up to which each is a dot


class LinesPlot(StepsPlot):
    """A line a name, in the order in which the names came; all values lie between 0 and 1."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._lines: dict[str, Series] = {}
        self._curves: dict[str, pg.PlotDataItem] = {}
        self._said: dict[str, str] = {}
        self.follow_theme()

    def begin(self, chart: ChartWidget) -> None:
        chart.set_bounds(0.0, 1.0)
        chart.set_percent()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._lines)

    def line(self, name: str) -> Series:
        """Return a name's points; none where there are none yet."""
        return self._lines.get(name) or Series()

    def series(self) -> Sequence[Series]:
        return tuple(self._lines.values())

    def append(self, step: float, values: dict[str, float], said: dict[str, str] | None = None) -> None:
        """Add a point to some lines. Args: said: a shorter name for the legend."""
        self._said.update(said or {})
        for name, value in values.items():
            if name not in self._lines:
                self._lines[name] = Series()
                self._curves[name] = self._chart.add_curve()
                self.restyle()
            self._lines[name].append(np.array([step], dtype=np.float64), np.array([value]))
        self.soon()

    def clear(self) -> None:
        """Forget all lines."""
        for curve in self._curves.values():
            self._chart.removeItem(curve)
        self._lines, self._curves, self._said = {}, {}, {}
        self.hover_at(None)
        self.show_all()
        self.restyle()
        self.flush()

    def numbers(self) -> Numbers:
        return table_by_step([(name, line.steps, line.values) for name, line in self._lines.items()])

    def draw(self) -> None:
        for name, line in self._lines.items():
            symbol = "o" if line.size <= MOST_SYMBOLS else None
            self._curves[name].setData(line.steps, self.drawable(line.values), symbol=symbol)

    def restyle(self) -> None:
        entries = []
        for place, (name, curve) in enumerate(self._curves.items()):
            color = theme.category(place)
            color_curve(curve, color, 6)
            entries.append((self._said.get(name, name), color, "line"))
        self._legend.set_entries(entries)

    def hover_words(self, step: float) -> str:
        main = next((line for line in self._lines.values() if line.size), None)
        if main is None:
            return ""
        step = float(main.steps[main.nearest(step)])
        parts = [self.tr("step {step}").format(step=words.number(step))]
        for name, line in self._lines.items():
            if line.size:
                value = words.probability(float(line.values[line.nearest(step)]))
                parts.append(f"{self._said.get(name, name)} {value}")
        return " · ".join(parts)
