"""Losses of one kind over what was spent on them, words or seconds: a line for each member, and its name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from app import words
from app.plots.figure import Numbers
from app.plots.run_curves import RunCurvesPlot, RunLine


class LossCurvesPlot(RunCurvesPlot):
    """Args: axis: what lies at the bottom, such as words read."""

    most_name = 70  # px

    def __init__(self, title: str, axis: str, parent: QWidget | None = None) -> None:
        self._axis = axis
        super().__init__(title, parent)
        self._legend.set_axis(axis)

    def set_lines(self, lines: Sequence[RunLine], metric: str) -> None:
        super().set_lines(lines, metric)
        self.setAccessibleDescription(
            words.clauses(f"{line.name} {words.decimal(float(line.mean[-1]))}" for line in self._lines)
        )

    def set_percent(self) -> None:
        """Write the values as per cent."""
        if self.has_chart:
            self._chart.set_percent()

    def hover_words(self, step: float) -> str:
        parts = [f"{self._axis} {words.number(round(step))}"]
        for line, series in zip(self._lines, self._series, strict=True):
            place = series.nearest(step)
            if place >= 0 and series.steps[0] <= step <= series.steps[-1]:
                parts.append(f"{line.name} {words.decimal(float(series.values[place]))}")
        return " · ".join(parts)

    def numbers(self) -> Numbers:
        rows = super().numbers()
        kept = [0, *range(1, len(rows[0]), 2)]  # without the spreads, for each is one run
        found: Numbers = [[row[place] for place in kept] for row in rows]
        found[0] = [self._axis, *(f"{line.name} {self._metric}" for line in self._lines)]
        return found
