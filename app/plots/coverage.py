"""How many texts are answered and how many of those are right, if a model answers only where it is sure.

To the right more texts are answered, and more of them wrongly. A click on a place asks for the texts that are
answered there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look import theme
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure, cell_after

LEFT, BOTTOM, TOP, EDGE = 44.0, 34.0, 10.0, 14.0  # px
SIZE = 11
STEPS = (0.01, 0.02, 0.05, 0.1, 0.25)  # between lines


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is left from a confidence on: the share of texts that is answered, and of those that is right."""

    threshold: float
    share: float
    accuracy: float


class CoveragePlot(PointedFigure):
    """Accuracy by coverage. A target is a point's place, the surest first."""

    chosen = Signal(int)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.points: tuple[Coverage, ...] = ()
        self.marked = -1
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.on_theme_change(self, self.update)

    def set_points(self, points: Sequence[Coverage]) -> None:
        """Show points, the one with the fewest texts first."""
        self.points, self.marked = tuple(points), -1
        self.forget()
        self.update()

    def set_marked(self, place: int) -> None:
        """Mark the point whose texts are shown; -1: none."""
        self.marked = place
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

    def _area(self) -> QRectF:
        return QRectF(LEFT, TOP, max(1.0, self.width() - LEFT - EDGE), max(1.0, self.height() - TOP - BOTTOM))

    @property
    def _lowest(self) -> float:
        least = min(one.accuracy for one in self.points)
        step = self._step(1.0 - least)
        return max(0.0, int(least / step) * step)

    @staticmethod
    def _step(span: float) -> float:
        return next((step for step in STEPS if span <= 4 * step), 0.25)

    def _at(self, one: Coverage) -> QPointF:
        area, low = self._area(), self._lowest
        height = area.height() * (one.accuracy - low) / max(1e-9, 1.0 - low)
        return QPointF(area.left() + area.width() * one.share, area.bottom() - height)

    def rect_of(self, target: int) -> QRectF:
        middle = self._at(self.points[target])
        return QRectF(middle.x() - 5, middle.y() - 5, 10, 10)

    def target_at(self, at: QPointF) -> int | None:
        area = self._area()
        if not self.points or not area.adjusted(-6, -6, 6, 6).contains(at):
            return None
        return min(range(len(self.points)), key=lambda place: abs(self._at(self.points[place]).x() - at.x()))

    def after(self, event: QKeyEvent) -> int | None:
        here = None if self.current is None else (0, self.current)
        found = cell_after(event, here, (1, len(self.points)))
        return None if found is None else found[1]

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def sizeHint(self) -> QSize:
        return QSize(360, 170)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 90)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.points:
            self._paint(painter)
        self.paint_frame(painter)
        painter.end()

    def _paint(self, painter: QPainter) -> None:
        colors, area, low = theme.current(), self._area(), self._lowest
        painter.setFont(theme.ui_font(SIZE))
        middle = Qt.AlignmentFlag.AlignVCenter
        step = self._step(1.0 - low)
        for number in range(round((1.0 - low) / step) + 1):
            value = low + number * step
            y = area.bottom() - area.height() * (value - low) / max(1e-9, 1.0 - low)
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(colors.color("muted"))
            room = QRectF(0, min(y, area.bottom() - 3) - 8, LEFT - 6, 16)
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | middle, words.share(value, 0))
        for value in (0.0, 0.5, 1.0):
            left = min(area.left() + area.width() * value - 24, self.width() - 48)
            room = QRectF(left, area.bottom() + 3, 48, 15)
            side = Qt.AlignmentFlag.AlignRight if value == 1 else Qt.AlignmentFlag.AlignHCenter
            painter.drawText(room, side | middle, words.share(value, 0))
        room = QRectF(area.left(), self.height() - 16, area.width(), 15)
        painter.drawText(
            room, Qt.AlignmentFlag.AlignLeft | middle, self.tr("texts answered · up: right of those")
        )
        painter.setPen(QPen(QColor(colors.accent), 2))
        painter.drawPolyline(QPolygonF([self._at(one) for one in self.points]))
        for place in {self.marked, -1 if self.current is None else self.current} - {-1}:
            if place < len(self.points) and not self._saving:
                painter.setBrush(QColor(colors.accent))
                painter.setPen(QPen(QColor(colors.text), 1.5))
                painter.drawEllipse(self._at(self.points[place]), 5, 5)
                painter.setBrush(Qt.BrushStyle.NoBrush)
