"""Values by step: a chart with a legend under it, read with the mouse and with keys.

A child class keeps the series and draws them. All points are kept; drawing is peak-downsampled, happens at
most ten times a second, never per point, and never while nobody sees it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.look import theme
from app.look.labels import label
from app.look.layout import column
from app.plots.chart import ChartWidget, Legend
from app.plots.figure import Figure
from app.plots.series import Series

REDRAW_MS = 100  # while a curve is young and every step is news
CALM_MS = 1000  # later: a drawing takes 5 ms, and what the window takes all training threads wait for
YOUNG = 30  # points
MOST_MARKS = 250


class StepsPlot(Figure):
    """Base of the plots over steps; arrow keys move over the points, plus and minus zoom."""

    hover_changed = Signal(str)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.is_log = False
        self._late = False  # whether something has come while nobody saw it
        self._hovered: float | None = None
        self._made: ChartWidget | None = None
        self._legend = Legend(self.tr("step"))
        self._legend.hide()
        self._bubble = label("", "bubble", parent=self)
        self._bubble.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._bubble.hide()
        self._column = column(self._legend, gap=4, margins=3, parent=self)
        self._timer = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._timer.timeout.connect(self._due)

    @property
    def has_chart(self) -> bool:
        """Whether there has been anything to draw."""
        return self._made is not None

    @property
    def _chart(self) -> ChartWidget:
        """The chart, made when it is first needed: it takes longer to make than most pages without it."""
        if self._made is None:
            self._made = chart = ChartWidget(self)
            self._cross = chart.add_line()
            chart.scene().sigMouseMoved.connect(self._mouse_moved)
            chart.viewport().installEventFilter(self)
            self._column.insertWidget(0, chart, 1)
            chart.setVisible(not self.is_empty)
            self.begin(chart)
            self.restyle()
        return self._made

    def begin(self, chart: ChartWidget) -> None:
        """Give a new chart its bounds and its curves."""
        raise NotImplementedError

    def series(self) -> Sequence[Series]:
        """Return what is drawn; the first that has points is the one that keys move over."""
        raise NotImplementedError

    def draw(self) -> None:
        """Give the curves their points."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Give curves, where there is a chart, and legend the theme's colours."""
        raise NotImplementedError

    def hover_words(self, step: float) -> str:
        """Return the values at the step nearest to `step`, in words."""
        raise NotImplementedError

    def follow_theme(self) -> None:
        """Restyle now and whenever the colours change; called once a child class is whole."""
        theme.on_theme_change(self, self.restyle)

    @property
    def num_points(self) -> int:
        return self._main.size

    @property
    def is_empty(self) -> bool:
        return not any(series.size for series in self.series())

    @property
    def _main(self) -> Series:
        found = self.series()
        return next((series for series in found if series.size), found[0] if found else Series())

    def marks(self) -> list[tuple[QRectF, str]]:
        if not self.has_chart or self.is_empty:
            return []
        chart, steps = self._chart, np.asarray(self._main.steps, np.float64)
        area = chart.area().translated(QPointF(chart.pos()))
        steps = steps[:: max(1, len(steps) // MOST_MARKS)]
        places = [chart.x_of(step) + chart.x() for step in steps.tolist()]
        ends = [area.left(), *((a + b) / 2 for a, b in pairwise(places)), area.right()]
        found = []
        for step, left, right in zip(steps.tolist(), ends, ends[1:], strict=False):
            if left < right:
                said = self.hover_words(step)
                found.append((QRectF(left, area.top(), right - left, area.height()), said))
        return found

    def flush(self) -> None:
        """Draw now what has come since the last drawing."""
        start = time.perf_counter()
        self._timer.stop()
        self._late = False
        if self.has_chart or not self.is_empty:
            self._chart.set_extent(*self._extent())
            self.draw()
            self._chart.setVisible(not self.is_empty)
        self._legend.setVisible(not self.is_empty)
        took_ms = (time.perf_counter() - start) * 1000
        pause = REDRAW_MS if self.num_points <= YOUNG else CALM_MS
        self._timer.setInterval(int(max(pause, 10 * took_ms)))  # a million points are drawn less often
        self.update()

    def _extent(self) -> tuple[float, float]:
        """Return the last step, and the largest of the newest values, its sign left out."""
        found = [series for series in self.series() if series.size]
        newest = np.abs(np.concatenate([np.zeros(1), *(series.values[-YOUNG:] for series in found)]))
        last = max((float(series.steps[-1]) for series in found), default=0.0)
        return last, float(newest.max(where=np.isfinite(newest), initial=0.0))

    def show_all(self) -> None:
        """Take back every zoom."""
        if self.has_chart:
            self._chart.show_all()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._late:
            self.flush()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        moves = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: 10, Qt.Key.Key_PageDown: -10}
        key = Qt.Key(event.key())
        if key in moves and not self.is_empty:
            self._move(moves[key])
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus) and self.has_chart:
            self._chart.zoom(1.25 if key == Qt.Key.Key_Minus else 0.8, self._hovered)
        elif key == Qt.Key.Key_Home:
            self.show_all()
        elif key == Qt.Key.Key_Escape and self._hovered is not None:
            self.hover_at(None)
        else:
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self.hover_at(None)
        elif event.type() == QEvent.Type.MouseButtonDblClick:
            self.show_all()
            return True
        elif event.type() == QEvent.Type.MouseButtonPress:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        return super().eventFilter(watched, event)

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        if saving:
            self.hover_at(None)
            self.flush()

    def soon(self) -> None:
        """Draw when it is time again."""
        if not self._timer.isActive():
            self._timer.start()

    def drawable(self, values: np.ndarray) -> np.ndarray:
        """Return the values with a gap where one has no place on the axis."""
        bad = ~np.isfinite(values)
        if self.is_log:
            bad |= values <= 0
        return np.where(bad, np.nan, values) if bad.any() else values.copy()

    def _due(self) -> None:
        if self.isVisible():
            self.flush()
        else:
            self._late = True

    def _mouse_moved(self, position: QPointF) -> None:
        self.hover_at(self._chart.step_at(position) if not self.is_empty else None)

    def _move(self, by: int) -> None:
        series = self._main
        here = series.nearest(self._hovered) if self._hovered is not None else series.size - 1 - by
        self.hover_at(float(series.steps[min(max(here + by, 0), series.size - 1)]))

    def hover_at(self, step: float | None) -> None:
        """Show the values at the point nearest to a step; None: no longer."""
        said = "" if step is None else self.hover_words(step)
        series = self._main
        self._hovered = None if step is None else float(series.steps[series.nearest(step)])
        if self.has_chart:
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
        for series in self.series():
            if series.size:
                for step in np.linspace(max(left, series.steps[0]), min(right, series.steps[-1]), 40):
                    value = float(np.interp(step, series.steps, series.smoothed))
                    covered += place.top() <= self._chart.y_of(value) + corner.y() <= place.bottom()
        return covered
