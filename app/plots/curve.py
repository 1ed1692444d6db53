"""Loss or accuracy by step: every step faint, a smoothed line over them, validation as a line with dots.

All points are kept; drawing is peak-downsampled and happens at most ten times a second, never per point.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from app import theme, words
from app.plots.axes import Chart, Legend
from app.plots.figure import Figure, Numbers
from app.plots.series import Series
from app.widgets import label, set_role

REDRAW_MS = 100  # while a curve is young and every step is news
CALM_MS = 1000  # later: a drawing takes 5 ms, and what the window takes all training threads wait for
YOUNG = 30  # points
MOST_SYMBOLS = 60  # dots on a long line hide it and are slow to draw


class CurvePlot(Figure):
    """A training curve and a validation curve over the same steps."""

    hover_changed = Signal(str)

    def __init__(
        self,
        title: str = "",
        *,
        y_label: str = "",
        kind: str = "plain",
        names: tuple[str, str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, parent)
        self.names = names or (self.tr("train"), self.tr("validation"))
        self._y_label = y_label
        self.kind = kind
        self.smoothing = 0.8
        self.is_log = False
        self._range = "data"
        self._train, self._validation = Series(self.smoothing), Series()
        self._hovered: float | None = None
        self._chart = Chart(self)
        if kind == "accuracy":
            self._chart.set_bounds(0.0, 1.0)
        self._raw_curve, self._train_curve = self._chart.add_curve(smooth=False), self._chart.add_curve()
        self._validation_curve = self._chart.add_curve()
        self._cross = self._chart.add_line()
        self._legend = Legend(self.tr("step"))
        self._bubble = label("", "bubble", parent=self)
        self._bubble.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._bubble.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3, 3, 3, 3)
        layout.setSpacing(4)
        layout.addWidget(self._chart, 1)
        layout.addWidget(self._legend)
        self._timer = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._timer.timeout.connect(self.flush)
        self._chart.scene().sigMouseMoved.connect(self._mouse_moved)
        self._chart.viewport().installEventFilter(self)
        theme.on_theme_change(self, self._restyle)
        self._show_range()

    @property
    def num_points(self) -> int:
        return self._train.size

    @property
    def last_train(self) -> float | None:
        return float(self._train.smoothed[-1]) if self._train.size else None

    @property
    def last_validation(self) -> float | None:
        return float(self._validation.values[-1]) if self._validation.size else None

    @property
    def is_empty(self) -> bool:
        return not self._train.size and not self._validation.size

    def append(self, steps: Any, values: Any) -> None:
        """Add training points; both arrays, or both numbers. Steps ascend."""
        self._add(self._train, steps, values)

    def append_validation(self, steps: Any, values: Any) -> None:
        """Add validation points; both arrays, or both numbers."""
        self._add(self._validation, steps, values)

    def clear(self) -> None:
        """Forget all points."""
        self._train, self._validation = Series(self.smoothing), Series()
        self._hover_at(None)
        self._chart.show_all()
        self.flush()

    def set_smoothing(self, smoothing: float) -> None:
        """Choose how much of the past the smoothed line keeps, 0 (nothing) to 0.99."""
        self.smoothing = min(max(smoothing, 0.0), 0.99)
        self._train.set_smoothing(self.smoothing)
        self._restyle()
        self._soon()

    def set_log(self, is_log: bool) -> None:
        """Choose a logarithmic or a linear axis; zero and less have no place on a logarithmic one."""
        self.is_log = is_log
        self._chart.set_log(is_log)
        self._show_range()
        self.flush()

    def set_range(self, choice: str) -> None:
        """Choose what the value axis covers: "data", or "unit" for 0 to 1."""
        self._range = choice
        self._show_range()

    def controls(self) -> QWidget:
        """Return a row of controls for this plot, to be placed beside it."""
        return CurveControls(self)

    def numbers(self) -> Numbers:
        train, validation = self._train, self._validation
        y = self._y_label or self.title
        first, second = f"{self.names[0]} {y}".strip(), f"{self.names[1]} {y}".strip()
        header: list[str | float | int] = ["step", first, f"{first} smoothed", second]
        steps = np.union1d(train.steps, validation.steps)
        table = np.full((len(steps), 3), np.nan)
        at = np.searchsorted(steps, train.steps)
        table[at, 0], table[at, 1] = train.values, train.smoothed
        table[np.searchsorted(steps, validation.steps), 2] = validation.values
        rows: Numbers = [header]
        for step, values in zip(steps.tolist(), table.tolist(), strict=True):
            cells: list[str | float | int] = ["" if np.isnan(value) else value for value in values]
            rows.append([int(step) if step == int(step) else step, *cells])
        return rows

    @Slot()
    def flush(self) -> None:
        """Draw now what has come since the last drawing."""
        start = time.perf_counter()
        self._timer.stop()
        faint = self.smoothing > 0
        self._raw_curve.setData(
            self._train.steps, self._drawable(self._train.values) if faint else self._none()
        )
        self._train_curve.setData(self._train.steps, self._drawable(self._train.smoothed))
        few = self._validation.size <= MOST_SYMBOLS
        self._validation_curve.setData(
            self._validation.steps, self._drawable(self._validation.values), symbol="o" if few else None
        )
        self._chart.setVisible(not self.is_empty)
        self._legend.setVisible(not self.is_empty)
        took_ms = (time.perf_counter() - start) * 1000
        pause = REDRAW_MS if self._train.size <= YOUNG else CALM_MS
        self._timer.setInterval(int(max(pause, 10 * took_ms)))  # a million points are drawn less often
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
        key = Qt.Key(event.key())
        if key in moves and not self.is_empty:
            self._move(moves[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self._chart.zoom(1.25 if key == Qt.Key.Key_Minus else 0.8, self._hovered)
        elif key == Qt.Key.Key_Home:
            self.show_all()
        elif key == Qt.Key.Key_Escape and self._hovered is not None:
            self._hover_at(None)
        else:
            super().keyPressEvent(event)

    @Slot()
    def show_all(self) -> None:
        """Take back every zoom."""
        self._chart.show_all()
        self._show_range()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._hover_at(None)
        elif event.type() == QEvent.Type.MouseButtonDblClick:
            self.show_all()
            return True
        elif event.type() == QEvent.Type.MouseButtonPress:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        return super().eventFilter(watched, event)

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        if saving:
            self._hover_at(None)
            self.flush()

    def hover_words(self, step: float) -> str:
        """Return the values at the step nearest to `step`, in words."""
        train, validation = self._train, self._validation
        i, j = train.nearest(step), validation.nearest(step)
        parts = []
        if i >= 0:
            step = float(train.steps[i])
            parts.append(self.tr("step {step}").format(step=words.number(step)))
            parts.append(f"{self.names[0]} {words.decimal(train.values[i])}")
            if self.smoothing > 0:
                parts.append(self.tr("smoothed {value}").format(value=words.decimal(train.smoothed[i])))
        if j >= 0:
            at = self.tr("{name} {value} at step {step}")
            value, where = words.decimal(validation.values[j]), words.number(validation.steps[j])
            parts.append(at.format(name=self.names[1], value=value, step=where))
        return " · ".join(parts)

    def _add(self, series: Series, steps: Any, values: Any) -> None:
        new_steps = np.atleast_1d(np.asarray(steps, dtype=np.float64))
        series.append(new_steps, np.atleast_1d(np.asarray(values, dtype=np.float64)))
        self._soon()

    def _soon(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _none(self) -> np.ndarray:
        return np.full(self._train.size, np.nan)

    def _drawable(self, values: np.ndarray) -> np.ndarray:
        bad = ~np.isfinite(values)
        if self.is_log:
            bad |= values <= 0
        return np.where(bad, np.nan, values) if bad.any() else values.copy()

    def _show_range(self) -> None:
        self._chart.set_y_range((0.0, 1.0) if self._range == "unit" and not self.is_log else None)

    @Slot()
    def _restyle(self) -> None:
        colors = theme.current()
        faint = theme.mix(colors.card, colors.accent, 0.45)
        self._raw_curve.setPen(pg.mkPen(faint, width=1))
        self._train_curve.setPen(pg.mkPen(colors.accent, width=2))
        self._validation_curve.setPen(pg.mkPen(colors.b, width=2))
        self._validation_curve.setSymbolBrush(pg.mkBrush(colors.b))
        self._validation_curve.setSymbolPen(pg.mkPen(colors.card, width=1))
        self._validation_curve.setSymbolSize(8)
        entries = [(self.names[0], colors.accent, "line")]
        if self.smoothing > 0:
            entries.append((self.tr("each step"), faint, "thin"))
        self._legend.set_entries([*entries, (self.names[1], colors.b, "dot")])

    def _mouse_moved(self, position: QPointF) -> None:
        self._hover_at(self._chart.step_at(position) if not self.is_empty else None)

    def _move(self, by: int) -> None:
        series = self._train if self._train.size else self._validation
        here = series.nearest(self._hovered) if self._hovered is not None else series.size - 1 - by
        self._hover_at(float(series.steps[min(max(here + by, 0), series.size - 1)]))

    def _hover_at(self, step: float | None) -> None:
        said = "" if step is None else self.hover_words(step)
        series = self._train if self._train.size else self._validation
        self._hovered = None if step is None else float(series.steps[series.nearest(step)])
        self._cross.setVisible(self._hovered is not None)
        self._bubble.setVisible(self._hovered is not None)
        self.setAccessibleDescription(said)
        if self._hovered is not None:
            self._cross.setValue(self._hovered)
            self._place_bubble(said)
        self.hover_changed.emit(said)

    def _place_bubble(self, said: str) -> None:
        self._bubble.setText(said.replace(" · ", "\n"))
        self._bubble.adjustSize()
        width, height = self._bubble.width(), self._bubble.height()
        x = self._chart.x_of(self._hovered or 0.0) + self._chart.x()
        places = [
            QRect(min(max(4, left), max(4, self.width() - width - 4)), top, width, height)
            for top in (10, self._chart.height() - 28 - height)
            for left in (int(x) + 10, int(x) - 10 - width)
        ]
        self._bubble.move(min(places, key=self._num_covered).topLeft())
        self._bubble.raise_()

    def _num_covered(self, place: QRect) -> int:
        """Return how much of the curves and of the hovered line a bubble at this place would hide."""
        corner = self._chart.pos()
        left, right = (self._chart.step_of(x - corner.x()) for x in (place.left(), place.right()))
        covered = 40 * (left <= (self._hovered or 0.0) <= right)
        for series in (self._train, self._validation):
            if series.size:
                for step in np.linspace(max(left, series.steps[0]), min(right, series.steps[-1]), 40):
                    value = float(np.interp(step, series.steps, series.smoothed))
                    covered += place.top() <= self._chart.y_of(value) + corner.y() <= place.bottom()
        return covered


class CurveControls(QWidget):
    """Smoothing, and what suits the kind: logarithmic for a loss, the whole range 0 to 1 for an accuracy."""

    def __init__(self, plot: CurvePlot) -> None:
        super().__init__()
        self._plot = plot
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self.log = QCheckBox(self.tr("Log scale"))
        self.log.setToolTip(self.tr("Equal distances are equal ratios"))
        self.log.toggled.connect(plot.set_log)
        self.log.setChecked(plot.is_log)
        self.log.setVisible(plot.kind == "loss")
        layout.addWidget(self.log)
        self.unit = QCheckBox(self.tr("Whole range 0–1"))
        self.unit.setToolTip(self.tr("Instead of where the data lie"))
        self.unit.toggled.connect(self._unit_toggled)
        self.unit.setVisible(plot.kind == "accuracy")
        layout.addWidget(self.unit)
        layout.addStretch(1)
        caption: QLabel = label(self.tr("Smoothing"), "muted")
        self.smoothing = QSlider(Qt.Orientation.Horizontal)
        self.smoothing.setRange(0, 99)
        self.smoothing.setValue(round(plot.smoothing * 100))
        self.smoothing.setFixedWidth(88)
        self.smoothing.setAccessibleName(self.tr("Smoothing"))
        self.smoothing.setToolTip(self.tr("How much of the past the smooth line keeps"))
        self.smoothing.valueChanged.connect(self._smoothing_changed)
        caption.setBuddy(self.smoothing)
        layout.addWidget(caption)
        layout.addWidget(self.smoothing)
        set_role(self, "clear")

    @Slot(bool)
    def _unit_toggled(self, checked: bool) -> None:
        self._plot.set_range("unit" if checked else "data")

    @Slot(int)
    def _smoothing_changed(self, value: int) -> None:
        self._plot.set_smoothing(value / 100)
