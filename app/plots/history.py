"""A run's loss by step with the weights it kept as dots on it: the one that is looked at is chosen here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app import words
from app.look import theme
from app.plots.axes import Axes
from app.plots.figure import Figure, Numbers
from app.plots.strokes import paint_dots, paint_line, upright_line

INSET = 9.0


class HistoryPlot(Figure):
    """A slider drawn as the loss curve; a click, the arrow keys, Home and End choose among the kept ones."""

    chosen = Signal(int)  # place among the kept ones
    wanted_size = (280, 44)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setFixedHeight(44)
        self.setMinimumWidth(160)
        self.kept: tuple[int, ...] = ()
        self.current = -1
        self._steps, self._losses = np.zeros(0), np.zeros(0)

    def set_history(self, kept: Sequence[int], steps: np.ndarray, losses: np.ndarray, current: int) -> None:
        """Show a run. Args: kept: steps whose weights are there. steps, losses: (N,) the curve."""
        self.kept, self.current = tuple(kept), current
        self._steps, self._losses = np.asarray(steps, float), np.asarray(losses, float)
        self._describe()
        self.update()

    def set_current(self, place: int) -> None:
        """Show which of the kept ones is looked at; emits nothing."""
        self.current = place
        self._describe()
        self.update()

    def numbers(self) -> Numbers:
        rows: Numbers = [["step", "loss", "kept"]]
        every = sorted({*self._steps.tolist(), *map(float, self.kept)})
        losses = dict(zip(self._steps.tolist(), self._losses.tolist(), strict=True))
        rows.extend([int(step), losses.get(step, ""), int(step in self.kept)] for step in every)
        return rows

    @property
    def is_empty(self) -> bool:
        return not self.kept

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self.kept) - 1
        places = {
            Qt.Key.Key_Left: self.current - 1,
            Qt.Key.Key_Right: self.current + 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        place = places.get(Qt.Key(event.key()))
        if place is None:
            super().keyPressEvent(event)
        else:
            self._choose(min(max(place, 0), last))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.kept:
            self._choose(self._nearest(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self.kept:
            return
        place = self._nearest(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose(place)
        text = self.tr("Weights kept at step {step}").format(step=words.number(self.kept[place]))
        QToolTip.showText(event.globalPosition().toPoint(), text, self)

    def _choose(self, place: int) -> None:
        if place != self.current and self.kept:
            self.set_current(place)
            self.chosen.emit(place)

    @property
    def _axes(self) -> Axes:
        last = max([*self.kept, *self._steps.tolist()[-1:]]) or 1
        losses = self._losses if self._losses.size else np.zeros(1)
        low, high = float(losses.min()), float(losses.max())
        if low == high:
            low, high = low - 1.0, high + 1.0  # a line in the middle
        return Axes(QRectF(self.rect()).adjusted(INSET, INSET, -INSET, -INSET), (0.0, last), (low, high))

    def _nearest(self, x: float) -> int:
        axes = self._axes
        return int(np.argmin([abs(axes.x_of(step) - x) for step in self.kept]))

    def _describe(self) -> None:
        text = ""
        if 0 <= self.current < len(self.kept):
            text = self.tr("step {step} of {last}").format(
                step=words.number(self.kept[self.current]), last=words.number(self.kept[-1])
            )
        self.setAccessibleDescription(text)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes, colors = self._axes, theme.current()
        curve = zip(self._steps.tolist(), self._losses.tolist(), strict=True)
        paint_line(painter, [axes.at(step, loss) for step, loss in curve], colors.color("muted"), 1.4)
        if 0 <= self.current < len(self.kept):
            painter.setPen(QPen(colors.color("accent"), 1.4, Qt.PenStyle.DashLine))
            upright_line(painter, axes.x_of(self.kept[self.current]), 3, self.height() - 3)
        for place, step in enumerate(self.kept):
            is_current = place == self.current
            loss = float(np.interp(step, self._steps, self._losses)) if self._losses.size else 0.0
            color = colors.color("accent" if is_current else "muted")
            paint_dots(painter, [axes.at(step, loss)], color, 5.0 if is_current else 3.5, 1.5)
