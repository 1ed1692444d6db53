"""A difference of two scores against none: a dot, a line over its interval, a ring for each seed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.axes import round_ticks
from app.plots.figure import Figure, Numbers

MARGIN = 18  # px
RING = 2.8
SIDE = 0.3  # of the axis, at least, on both sides of none


class DifferencePlot(Figure):
    """Points that the second is better by. At the left of none the first is better."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._value: float | None = None
        self._interval: tuple[float, float] | None = None
        self._seeds: tuple[float, ...] = ()
        self._sides = ("", "")
        theme.on_theme_change(self, self.update)

    def set_difference(
        self,
        value: float | None,
        interval: tuple[float, float] | None,
        seeds: Sequence[float],
        sides: tuple[str, str],
    ) -> None:
        """Show a difference, in points. Args: seeds: of each seed. sides: "A better", "B better"."""
        self._value, self._interval, self._seeds, self._sides = value, interval, tuple(seeds), sides
        if value is not None:
            self.setAccessibleDescription(f"{words.decimal(value, 1)}")
        self.update()

    def numbers(self) -> Numbers:
        rows: Numbers = [["what", "points"]]
        if self._value is not None:
            rows.append(["difference", self._value])
            rows += [[name, end] for name, end in zip(("low", "high"), self._interval or (), strict=False)]
            rows += [["seed", value] for value in self._seeds]
        return rows

    def sizeHint(self) -> QSize:
        return QSize(280, 64)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 64)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._value is not None:
            self._paint(painter, self._value)
        self.paint_frame(painter)
        painter.end()

    def _paint(self, painter: QPainter, value: float) -> None:
        ends = [0.0, value, *(self._interval or ()), *self._seeds]
        low, high = min(ends), max(ends)
        room = max(0.5, high - low) * 0.08
        low, high = low - room, high + room
        low, high = min(low, -SIDE * (high - low)), max(high, SIDE * (high - low))  # room for words
        area = QRectF(self.rect()).adjusted(MARGIN, 2, -MARGIN, -18)
        colors = theme.current()

        def x_of(at: float) -> float:
            return float(area.left() + area.width() * (at - low) / (high - low))

        painter.setFont(theme.ui_font(11))
        painter.setPen(QPen(colors.color("line"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        for tick in round_ticks(low, high, max(2.0, area.width() / 60)):
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(x_of(tick), area.bottom()), QPointF(x_of(tick), area.bottom() + 3))
            painter.setPen(colors.color("muted"))
            said = f"{tick:+g}".replace("-", "−") if tick else "0"
            place = QRectF(x_of(tick) - 24, area.bottom() + 3, 48, 14)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, said)
        self._paint_sides(painter, area, x_of(0.0))
        color, middle = QColor(theme.category(1 if value >= 0 else 0)), area.center().y() + 4
        painter.setPen(QPen(color, 1.6))
        if self._interval is not None:
            left, right = map(x_of, self._interval)
            painter.drawLine(QPointF(left, middle), QPointF(right, middle))
            for end in (left, right):
                painter.drawLine(QPointF(end, middle - 4), QPointF(end, middle + 4))
        painter.setBrush(color)
        painter.drawEllipse(QPointF(x_of(value), middle), 4.5, 4.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1))
        for seed in self._seeds:
            painter.drawEllipse(QPointF(x_of(seed), middle + 11), RING, RING)

    def _paint_sides(self, painter: QPainter, area: QRectF, zero: float) -> None:
        colors = theme.current()
        painter.setPen(QPen(colors.color("text"), 1))
        painter.drawLine(QPointF(zero, area.top()), QPointF(zero, area.bottom()))
        painter.setPen(colors.color("muted"))
        painter.setFont(theme.ui_font(12))
        left = QRectF(zero - 120, area.top(), 114, 16)
        painter.drawText(left, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._sides[0])
        right = QRectF(zero + 6, area.top(), 114, 16)
        painter.drawText(right, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._sides[1])
