"""A slope chart: how the value of each target moves from one variant of a template to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import tip
from app.plots.axes import round_ticks, spread
from app.plots.figure import Figure, Numbers

TOP, BOTTOM, SIDE = 14, 30, 12
LABEL = 15  # px between two names at the right
AXIS = 52


class SlopePlot(Figure):
    """A line a target over the variants; up and down focus one, a click locks it.

    Values are probabilities (0 to 1) where `in_percent`, else scores around 0.
    """

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.variants: tuple[str, ...] = ()
        self.targets: tuple[str, ...] = ()
        self.values = np.zeros((0, 0))  # (variants, targets)
        self.in_percent = True
        self.focused: int | None = None
        self._locked = False
        self._labels: list[QRectF] = []
        theme.on_theme_change(self, self.update)

    def set_values(
        self, variants: Sequence[str], targets: Sequence[str], values: np.ndarray, *, in_percent: bool
    ) -> None:
        """Show values (variants, targets); NaN: none. A variant of several lines stands in as many."""
        self.variants, self.targets = tuple(variants), tuple(targets)
        self.values, self.in_percent = np.array(values, dtype=np.float64), in_percent
        self.focused, self._locked = None, False
        self.setAccessibleDescription("; ".join(map(self.line_words, range(min(5, len(self.targets))))))
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_values([], [], np.zeros((0, 0)), in_percent=True)

    @property
    def is_empty(self) -> bool:
        return not (len(self.variants) and len(self.targets))

    def numbers(self) -> Numbers:
        rows: Numbers = [["variant", *self.targets]]
        for variant, line in zip(self.variants, self.values.tolist(), strict=True):
            rows.append([_line(variant), *("" if math.isnan(value) else value for value in line)])
        return rows

    def line_words(self, target: int) -> str:
        """Return a target's values in words."""
        parts = [
            f"{_line(name)} {self._said(value)}"
            for name, value in zip(self.variants, self.values[:, target], strict=True)
        ]
        return f"{self.targets[target]}: {', '.join(parts)}"

    def sizeHint(self) -> QSize:
        return QSize(380, 260)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 160)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.is_empty:
            self._paint(painter)
        self.paint_frame(painter)
        painter.end()

    def _paint(self, painter: QPainter) -> None:
        metrics = QFontMetricsF(theme.ui_font(12))
        names = min(
            0.35 * self.width(),
            max(metrics.horizontalAdvance(words.shorten(n, 24)) for n in self.targets) + 4,
        )
        bottom = BOTTOM + LABEL * max(name.count("\n") for name in self.variants)
        room = QRectF(AXIS, TOP, self.width() - AXIS - names - 2 * SIDE, self.height() - TOP - bottom)
        low, high = self._range()
        self._paint_axis(painter, room, low, high)
        xs = self._xs(room)
        self._paint_variants(painter, room, xs)
        ends = [self._y(room, low, high, self._last(target)) for target in range(len(self.targets))]
        order = sorted(range(len(self.targets)), key=lambda target: target == self._shown_focus)
        for target in order:
            self._paint_line(painter, room, xs, (low, high), target)
        self._paint_names(painter, room, ends, names)

    @property
    def _shown_focus(self) -> int | None:
        return self.focused if self._locked or not self._saving else None

    def _range(self) -> tuple[float, float]:
        known = self.values[np.isfinite(self.values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if self.in_percent:
            low = 0.0
        else:
            low, high = min(low, 0.0), max(high, 0.0)
        high += 0.04 * (high - low)
        return (low, high) if high > low else (low, low + 1.0)

    def _y(self, room: QRectF, low: float, high: float, value: float) -> float:
        share = 0.0 if math.isnan(value) else (value - low) / (high - low)
        return room.bottom() - room.height() * share

    def _xs(self, room: QRectF) -> list[float]:
        if len(self.variants) == 1:
            return [room.center().x()]
        inner = room.adjusted(24, 0, -10, 0)
        return [float(x) for x in np.linspace(inner.left(), inner.right(), len(self.variants))]

    def _last(self, target: int) -> float:
        known = [value for value in self.values[:, target].tolist() if not math.isnan(value)]
        return known[-1] if known else math.nan

    def _paint_axis(self, painter: QPainter, room: QRectF, low: float, high: float) -> None:
        colors = theme.current()
        painter.setFont(theme.ui_font(11))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for tick in round_ticks(low, high, 5):
            y = self._y(room, low, high, tick)
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(colors.color("muted"))
            painter.drawText(QRectF(0, y - 8, AXIS - 6, 16), right, self._said(tick))

    def _paint_variants(self, painter: QPainter, room: QRectF, xs: list[float]) -> None:
        colors = theme.current()
        painter.setFont(theme.ui_font(12 if len(xs) < 6 else 11))
        width = room.width() / max(1, len(xs)) - 4 if len(xs) > 2 else room.width() / 2
        metrics = QFontMetricsF(painter.font())
        for x, name in zip(xs, self.variants, strict=True):
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
            painter.setPen(colors.color("text"))
            for line, text in enumerate(name.split("\n")):
                cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
                under = QRectF(x - width / 2, room.bottom() + 6 + LABEL * line, width, LABEL + 3)
                painter.drawText(under, Qt.AlignmentFlag.AlignCenter, cut)

    def _paint_line(
        self, painter: QPainter, room: QRectF, xs: list[float], limits: tuple[float, float], target: int
    ) -> None:
        color, focus = QColor(theme.category(target)), self._shown_focus
        if focus is not None and focus != target:
            color = QColor(theme.mix(theme.current().card, theme.category(target), 0.3))
        points = [
            QPointF(x, self._y(room, *limits, value))
            for x, value in zip(xs, self.values[:, target].tolist(), strict=True)
            if not math.isnan(value)
        ]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 3 if focus == target else 2))
        painter.drawPolyline(points)
        painter.setPen(QPen(theme.current().color("card"), 1.5))
        painter.setBrush(color)
        for point in points:
            painter.drawEllipse(point, 4.5, 4.5)

    def _paint_names(self, painter: QPainter, room: QRectF, ends: list[float], width: float) -> None:
        """Paint the targets beside their last points, moved apart where they would touch."""
        self._labels = [QRectF() for _ in ends]
        placed = spread(ends, LABEL, room.bottom())
        for target, y in enumerate(placed):
            is_focus = self._shown_focus == target
            painter.setFont(theme.ui_font(12, bold=is_focus))
            rect = QRectF(room.right() + SIDE, y - LABEL / 2, width + 4, LABEL)
            self._labels[target] = rect
            painter.setPen(QColor(theme.category(target)))
            cut = QFontMetricsF(painter.font()).elidedText(
                self.targets[target], Qt.TextElideMode.ElideRight, width + 4
            )
            painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, cut)

    def _said(self, value: float) -> str:
        if math.isnan(value):
            return "–"
        if self.in_percent:
            return words.probability(value) if value else words.share(0, 0)
        sign = "+" if value > 0.005 else "−" if value < -0.005 else ""
        return f"{sign}{words.decimal(abs(value), 1 if abs(value) < 9.95 else 0)}"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._locked:
            self._focus(self._target_at(event.position()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            target = self._target_at(event.position())
            self._locked = target is not None and not (self._locked and target == self.focused)
            self._focus(target)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        move = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if move and not self.is_empty:
            here = -1 if self.focused is None else self.focused
            self._locked = True
            self._focus(min(max(here + move, 0), len(self.targets) - 1))
        elif event.key() == Qt.Key.Key_Escape and self.focused is not None:
            self._locked = False
            self._focus(None)
        else:
            super().keyPressEvent(event)

    def _target_at(self, at: QPointF) -> int | None:
        return next((i for i, rect in enumerate(self._labels) if rect.contains(at)), None)

    def _focus(self, target: int | None) -> None:
        if target != self.focused:
            self.focused = target
            said = "" if target is None else self.line_words(target)
            self.setToolTip(tip(said))
            self.setAccessibleDescription(said)
            self.update()


def _line(variant: str) -> str:
    return " · ".join(variant.split("\n"))
