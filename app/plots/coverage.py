"""How many texts are answered and how many of those are right, if a model answers only where it is sure.

To the right more texts are answered, and more of them wrongly. A click on a place asks for the texts that are
answered there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPen

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.plots.axes import AXIS_SIZE, Axes
from app.plots.figure import Numbers
from app.plots.pointed import DoorsFigure, place_after
from app.plots.strokes import CENTER, paint_line, write

RIM = (44.0, 10.0, 14.0, 34.0)  # px left, above, right and below
STEPS = (0.01, 0.02, 0.05, 0.1, 0.25)  # between lines


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is left from a confidence on: the share of texts that is answered, and of those that is right."""

    threshold: float
    share: float
    accuracy: float


class CoveragePlot(DoorsFigure):
    """Accuracy by coverage. A target is a point's place, the surest first."""

    points: tuple[Coverage, ...] = ()

    def set_points(self, points: Sequence[Coverage]) -> None:
        """Show points, the one with the fewest texts first."""
        self.points, self.marked = tuple(points), -1
        self.forget()
        self.update()

    @property
    def is_empty(self) -> bool:
        return not self.points

    def numbers(self) -> Numbers:
        rows: Numbers = [["from confidence", "share answered", "share right"]]
        rows += [[one.threshold, one.share, one.accuracy] for one in self.points]
        return rows

    def words_of(self, target: int) -> str:
        one = self.points[target]
        text = self.tr("From {threshold} on: {share} of the texts are answered, {accuracy} of them right")
        return text.format(
            threshold=words.share(one.threshold),
            share=words.share(one.share),
            accuracy=words.share(one.accuracy),
        )

    def summary(self) -> str:
        return self.words_of(len(self.points) - 1) if self.points else ""

    @property
    def _axes(self) -> Axes:
        least = min(one.accuracy for one in self.points)
        step = self._step(1.0 - least)
        return Axes.inside(self.rect(), RIM, up=(max(0.0, int(least / step) * step), 1.0))

    @staticmethod
    def _step(span: float) -> float:
        return next((step for step in STEPS if span <= 4 * step), 0.25)

    def _placed(self) -> list[QPointF]:
        """Return where each point lies."""
        axes = self._axes
        return [axes.at(one.share, one.accuracy) for one in self.points]

    def rect_of(self, target: int) -> QRectF:
        middle = self._placed()[target]
        return QRectF(middle.x() - 5, middle.y() - 5, 10, 10)

    def target_at(self, at: QPointF) -> int | None:
        if self.is_empty or not self._axes.area.adjusted(-6, -6, 6, 6).contains(at):
            return None
        away = [abs(one.x() - at.x()) for one in self._placed()]
        return away.index(min(away))

    def after(self, event: QKeyEvent) -> int | None:
        return place_after(event, self.current, len(self.points))

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes, placed, colors = self._axes, self._placed(), theme.current()
        step, low = self._step(1.0 - axes.up[0]), axes.up[0]
        shares = [low + number * step for number in range(round((1.0 - low) / step) + 1)]
        axes.paint_up(painter, ((share, words.share(share, 0)) for share in shares), lift=3)
        for value in (0.0, 0.5, 1.0):
            left = min(axes.x_of(value) - 24, self.width() - 48)
            side = RIGHT if value == 1 else CENTER
            room = QRectF(left, axes.area.bottom() + 3, 48, 15)
            write(painter, room, words.share(value, 0), "muted", size=AXIS_SIZE, side=side)
        below = QRectF(axes.area.left(), self.height() - 16, axes.area.width(), 15)
        write(painter, below, self.tr("texts answered · up: right of those"), "muted", size=AXIS_SIZE)
        paint_line(painter, placed, colors.color("accent"), 2)
        for place in {self.marked, -1 if self.current is None else self.current} - {-1}:
            if place < len(placed) and not self._saving:
                painter.setBrush(colors.color("accent"))
                painter.setPen(QPen(colors.color("text"), 1.5))
                painter.drawEllipse(placed[place], 5, 5)
                painter.setBrush(Qt.BrushStyle.NoBrush)
