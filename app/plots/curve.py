"""Loss or accuracy by step: every step faint, a smoothed line over them, validation as a line with dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app import words
from app.look import theme
from app.look.inputs import Slider
from app.look.labels import label
from app.look.layout import row
from app.look.widgets import set_role
from app.plots.chart import ChartWidget, color_curve
from app.plots.figure import Numbers
from app.plots.series import Series, table_by_step
from app.plots.steps import StepsPlot

MOST_SYMBOLS = 60  # dots on a long line hide it and are slow to draw


class CurvePlot(StepsPlot):
    """A training curve and a validation curve over the same steps.

    kind: "loss" may have a logarithmic axis, "accuracy" lies between `lowest` and 1, "plain" is any number.
    names: of the two curves; "" for the second: there is no validation.
    """

    lowest_changed = Signal()

    def __init__(
        self,
        title: str = "",
        *,
        y_label: str = "",
        kind: str = "plain",
        names: tuple[str, str] | None = None,
        smoothing: float = 0.8,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, parent)
        self.names = names or (self.tr("train"), self.tr("validation"))
        self._y_label = y_label
        self.kind = kind
        self.smoothing = smoothing
        self._range, self.lowest = "data", 0.0
        self._train, self._validation = Series(self.smoothing), Series()
        self.follow_theme()

    def begin(self, chart: ChartWidget) -> None:
        if self.kind == "accuracy":
            chart.set_bounds(self.lowest, 1.0)
            chart.set_percent(self._is_share)
        self._raw_curve, self._train_curve = chart.add_curve(smooth=False), chart.add_curve()
        self._validation_curve = chart.add_curve()
        chart.set_log(self.is_log)
        self._show_range()

    @property
    def _is_share(self) -> bool:
        return self.kind == "accuracy" and self.lowest >= 0

    @property
    def last_train(self) -> float | None:
        return float(self._train.smoothed[-1]) if self._train.size else None

    @property
    def last_validation(self) -> float | None:
        return float(self._validation.values[-1]) if self._validation.size else None

    @property
    def train(self) -> Series:
        """The training points and their smoothed values."""
        return self._train

    def series(self) -> Sequence[Series]:
        return self._train, self._validation

    def append(self, steps: Any, values: Any, weights: Any = 1.0) -> None:
        """Add training points; both arrays, or both numbers. Steps ascend. Args: weights: in the mean."""
        self._add(self._train, steps, values, weights)

    def append_validation(self, steps: Any, values: Any) -> None:
        """Add validation points; both arrays, or both numbers."""
        self._add(self._validation, steps, values)

    def clear(self) -> None:
        """Forget all points."""
        self._train, self._validation = Series(self.smoothing), Series()
        self.hover_at(None)
        super().show_all()
        self.flush()

    def set_smoothing(self, smoothing: float) -> None:
        """Choose how much of the past the smoothed line keeps, 0 (nothing) to 0.99."""
        self.smoothing = min(max(smoothing, 0.0), 0.99)
        self._train.set_smoothing(self.smoothing)
        self.restyle()
        self.soon()

    def set_log(self, is_log: bool) -> None:
        """Choose a logarithmic or a linear axis; zero and less have no place on a logarithmic one."""
        self.is_log = is_log
        if self.has_chart:
            self._chart.set_log(is_log)
        self._show_range()
        self.flush()

    def set_lowest(self, lowest: float) -> None:
        """Say what the values of an accuracy's kind can be at least: 0 of a share, -1 of a correlation."""
        self.lowest = lowest
        if self.has_chart and self.kind == "accuracy":
            self._chart.set_bounds(lowest, 1.0)
            self._chart.set_percent(self._is_share)
        self._show_range()
        self.lowest_changed.emit()

    def set_range(self, choice: str) -> None:
        """Choose what the value axis covers: "data", or "unit" for the lowest that can be to 1."""
        self._range = choice
        self._show_range()

    def show_all(self) -> None:
        super().show_all()
        self._show_range()

    def controls(self) -> QWidget:
        """Return a row of controls for this plot, to be placed beside it."""
        return CurveControls(self)

    def numbers(self) -> Numbers:
        train, validation = self._train, self._validation
        y = self._y_label or self.title
        first, second = f"{self.names[0]} {y}".strip(), f"{self.names[1]} {y}".strip()
        columns = [
            (first, train.steps, train.values),
            (f"{first} smoothed", train.steps, train.smoothed),
            (second, validation.steps, validation.values),
        ]
        return table_by_step(columns if self.names[1] else columns[:2])

    def draw(self) -> None:
        faint = self.smoothing > 0
        nothing = np.full(self._train.size, np.nan)
        self._raw_curve.setData(self._train.steps, self.drawable(self._train.values) if faint else nothing)
        self._train_curve.setData(self._train.steps, self.drawable(self._train.smoothed))
        few = self._validation.size <= MOST_SYMBOLS
        self._validation_curve.setData(
            self._validation.steps, self.drawable(self._validation.values), symbol="o" if few else None
        )

    def restyle(self) -> None:
        colors = theme.current()
        faint = theme.mix(colors.card, colors.accent, 0.45)
        if self.has_chart:
            self._raw_curve.setPen(pg.mkPen(faint, width=1))
            self._train_curve.setPen(pg.mkPen(colors.accent, width=2))
            color_curve(self._validation_curve, colors.b, 8)
        entries = [(self.names[0], colors.accent, "line")]
        if self.smoothing > 0:
            entries.append((self.tr("each step"), faint, "thin"))
        if self.names[1]:
            entries.append((self.names[1], colors.b, "dot"))
        self._legend.set_entries(entries)

    def hover_words(self, step: float) -> str:
        train, validation = self._train, self._validation
        i, j = train.nearest(step), validation.nearest(step)
        parts = []
        if i >= 0:
            step = float(train.steps[i])
            parts.append(self.tr("step {step}").format(step=words.number(step)))
            parts.append(f"{self.names[0]} {self.value_words(train.values[i])}")
            if self.smoothing > 0:
                value = self.value_words(train.smoothed[i])
                parts.append(self.tr("smoothed {value}").format(value=value))
        if j >= 0:
            at = self.tr("{name} {value} at step {step}")
            value, where = self.value_words(validation.values[j]), words.number(validation.steps[j])
            parts.append(at.format(name=self.names[1], value=value, step=where))
        return " · ".join(parts)

    def value_words(self, value: float) -> str:
        """Return a value as it is read under the pointer."""
        if self._is_share:
            return words.share(float(value))
        small = self.kind == "plain" and not 0.01 <= abs(value) < 1000
        return words.scientific(float(value)) if small else words.decimal(float(value))

    def _add(self, series: Series, steps: Any, values: Any, weights: Any = 1.0) -> None:
        new_steps = np.atleast_1d(np.asarray(steps, dtype=np.float64))
        series.append(new_steps, np.atleast_1d(np.asarray(values, dtype=np.float64)), weights)
        self.soon()

    def _show_range(self) -> None:
        if self.has_chart:
            self._chart.set_y_range((self.lowest, 1.0) if self._range == "unit" and not self.is_log else None)


class CurveControls(QWidget):
    """Smoothing, and what suits the kind: logarithmic for a loss, the whole range 0 to 1 for an accuracy."""

    def __init__(self, plot: CurvePlot) -> None:
        super().__init__()
        self._plot = plot
        self.log = QCheckBox(self.tr("Log scale"))
        self.log.setToolTip(self.tr("Equal distances are equal ratios"))
        self.log.toggled.connect(plot.set_log)
        self.log.setChecked(plot.is_log)
        self.unit = QCheckBox()
        self._say_range()
        plot.lowest_changed.connect(self._say_range)
        self.unit.setToolTip(self.tr("Instead of the range of the data"))
        self.unit.toggled.connect(self._unit_toggled)
        self.smoothing = Slider(Qt.Orientation.Horizontal)
        self.smoothing.setRange(0, 99)
        self.smoothing.setValue(round(plot.smoothing * 100))
        self.smoothing.setFixedWidth(88)
        self.smoothing.setAccessibleName(self.tr("Smoothing"))
        self.smoothing.setToolTip(self.tr("How much of the past the smooth line keeps"))
        self.smoothing.valueChanged.connect(self._smoothing_changed)
        caption = label(self.tr("Smoothing"), "muted", buddy=self.smoothing)
        row(self.log, self.unit, "stretch", caption, self.smoothing, parent=self)
        self.log.setVisible(plot.kind == "loss")
        self.unit.setVisible(plot.kind == "accuracy")
        set_role(self, "clear")

    def _say_range(self) -> None:
        is_share = self._plot.lowest >= 0
        self.unit.setText(self.tr("Whole range 0–100 %") if is_share else self.tr("Range −1 to 1"))

    def _unit_toggled(self, checked: bool) -> None:
        self._plot.set_range("unit" if checked else "data")

    def _smoothing_changed(self, value: int) -> None:
        self._plot.set_smoothing(value / 100)
