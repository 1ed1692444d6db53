"""Accuracy on a random sample against the number of labels, with the band of its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPolygonF

from app import words
from app.look import theme
from app.plots.axes import Axes, round_ticks
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure
from app.plots.strokes import paint_dots, paint_line

RIM = (30.0, 8.0, 10.0, 20.0)  # px
DOT = 4.0
MOST_UP, ACROSS_EACH = 4, 60  # ticks up, px a tick across


@dataclass(frozen=True, slots=True)
class SamplePoint:
    """After so many labels. sampled: of them at random. accuracy, low, high: of these, 0 to 1. every:
    accuracy on all of them, cross-validated.
    """

    labels: int
    sampled: int
    accuracy: float
    low: float
    high: float
    every: float


class SampleCurvePlot(PointedFigure):
    """A dot a measurement, the last one large. A target is a dot's place."""

    def __init__(self, title: str = "") -> None:
        super().__init__(title)
        self.points: tuple[SamplePoint, ...] = ()

    def set_points(self, points: Sequence[SamplePoint]) -> None:
        """Show measurements, by ascending numbers of labels."""
        if tuple(points) != self.points:
            self.points = tuple(points)
            self.forget()
            self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_points(())

    @property
    def is_empty(self) -> bool:
        return not self.points

    def numbers(self) -> Numbers:
        rows: Numbers = [["labels", "at random", "accuracy", "low", "high", "on all labels"]]
        rows += [[p.labels, p.sampled, p.accuracy, p.low, p.high, p.every] for p in self.points]
        return rows

    def words_of(self, target: int) -> str:
        point = self.points[target]
        template = self.tr(
            "{labels} labels, {sampled} at random: {share} ({low} to {high}); on all labels: {every}"
        )
        return template.format(
            labels=words.number(point.labels),
            sampled=words.number(point.sampled),
            share=words.share(point.accuracy),
            low=words.share(point.low),
            high=words.share(point.high),
            every=words.share(point.every),
        )

    def summary(self) -> str:
        return self.words_of(len(self.points) - 1) if self.points else ""

    def sizeHint(self) -> QSize:
        return QSize(220, 130)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 96)

    @property
    def _axes(self) -> Axes:
        low = min(min(point.low, point.every) for point in self.points)
        high = max(max(point.high, point.every) for point in self.points)
        bottom, top = math.floor(low * 10) / 10, min(1.0, math.ceil(high * 10) / 10)
        most = self.points[-1].labels
        return Axes.inside(self.rect(), RIM, (0.0, most * 1.05), (bottom, max(top, bottom + 0.1)))

    def rect_of(self, target: int) -> QRectF:
        point = self.points[target]
        at = self._axes.at(point.labels, point.accuracy)
        return QRectF(at.x() - 6, at.y() - 6, 12, 12)

    def target_at(self, at: QPointF) -> int | None:
        if not self.points:
            return None
        axes = self._axes
        near = min(range(len(self.points)), key=lambda i: abs(axes.x_of(self.points[i].labels) - at.x()))
        return near if abs(axes.x_of(self.points[near].labels) - at.x()) < 2 * RIM[2] else None

    def after(self, event: QKeyEvent) -> int | None:
        move = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if move is None or not self.points:
            return None
        last = len(self.points) - 1
        return last if self.current is None else max(0, min(last, self.current + move))

    def paint(self, painter: QPainter, area: QRectF) -> None:
        if not self.points:
            return
        axes, colors = self._axes, theme.current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        up = [(value, words.decimal(100 * value, 0)) for value in round_ticks(*axes.up, MOST_UP, 0.05)]
        axes.paint_up(painter, up)
        most = max(2.0, axes.area.width() / ACROSS_EACH)
        across = round_ticks(*axes.across, most, 10)
        axes.paint_across(painter, [(value, words.number(value)) for value in across])
        upper = [axes.at(point.labels, point.high) for point in self.points]
        lower = [axes.at(point.labels, point.low) for point in reversed(self.points)]
        painter.setPen(Qt.PenStyle.NoPen)
        band = colors.color("accent")
        band.setAlphaF(0.16)
        painter.setBrush(band)
        painter.drawPolygon(QPolygonF([*upper, *lower]))
        every = [axes.at(point.labels, point.every) for point in self.points]
        paint_line(painter, every, colors.color("muted"), 1)
        line = [axes.at(point.labels, point.accuracy) for point in self.points]
        paint_line(painter, line, colors.color("accent"), 2)
        marked = len(line) - 1 if self.current is None else self.current
        paint_dots(painter, [line[marked]], colors.color("accent"), DOT, 1.5)
