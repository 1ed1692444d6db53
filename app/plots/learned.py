"""How probable a few words were at each step whose weights were kept, and the step that is looked at now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent

from app.look import theme
from app.plots.chart import ChartWidget
from app.plots.lines import LinesPlot

LEAST_TOP = 0.01  # a probability below which lines are not stretched to the full height


class LearnedPlot(LinesPlot):
    """A line a word, a cursor at the step whose weights answer. A click or Enter chooses another step."""

    step_chosen = Signal(int)
    cursor_step: int | None = None

    def begin(self, chart: ChartWidget) -> None:
        super().begin(chart)
        self._cursor = chart.add_line()
        chart.scene().sigMouseClicked.connect(self._clicked)
        chart.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self._show_cursor()

    def set_lines(self, steps: Sequence[int], lines: Mapping[str, Sequence[float]]) -> None:
        """Show, for each word, its probability (0 to 1) at these ascending steps; NaN where none is known."""
        if tuple(lines) != self.names or len(steps) < self.num_points:
            self.clear()
        for place in range(self.num_points, len(steps)):
            self.append(float(steps[place]), {name: float(values[place]) for name, values in lines.items()})
        for name, values in lines.items():  # a word's newest values, where they changed
            self.line(name).values[:] = np.array(values, dtype=np.float64)
        known = [value for values in lines.values() for value in values if value == value]
        if known or self.has_chart:
            self._chart.set_y_range((0.0, max(LEAST_TOP, max(known, default=0.0) * 1.05)))
        self.flush()

    def set_cursor(self, step: int | None) -> None:
        """Mark the step whose weights answer now."""
        self.cursor_step = step
        if self.has_chart:
            self._show_cursor()
        self.restyle()

    def _show_cursor(self) -> None:
        self._cursor.setVisible(self.cursor_step is not None)
        if self.cursor_step is not None:
            self._cursor.setValue(self.cursor_step)

    def restyle(self) -> None:
        super().restyle()
        if self.has_chart:
            self._cursor.setPen(pg.mkPen(theme.current().text, width=1.5, style=Qt.PenStyle.DashLine))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        chooses = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
        if chooses and self._hovered is not None:
            self.step_chosen.emit(int(self._hovered))
        else:
            super().keyPressEvent(event)

    def _clicked(self, event: object) -> None:
        at = event.scenePos()  # type: ignore[attr-defined]  # pyqtgraph's own event
        step = None if self.is_empty else self._chart.step_at(at)
        if step is not None:
            self.step_chosen.emit(int(self._main.steps[self._main.nearest(step)]))
