"""A slope chart: how the value of each target moves from one variant of a template to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen

from app import words
from app.look import theme
from app.plots.axes import Axes, name_rooms, round_ticks
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure
from app.plots.strokes import CENTER, paint_dots, paint_line, upright_line, write

TOP, BOTTOM, SIDE = 14, 30, 12
LABEL = 15  # px between two names at the right
AXIS = 52


class SlopePlot(PointedFigure):
    """A line a target over the variants; up and down focus one, a click locks it.

    Values are probabilities (0 to 1) where `in_percent`, else scores around 0.
    """

    wanted_size = (380, 260)
    least_size = (220, 160)
    variants: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    values = np.zeros((0, 0))  # (variants, targets)
    in_percent = True
    locked: int | None = None

    def set_values(
        self, variants: Sequence[str], targets: Sequence[str], values: np.ndarray, *, in_percent: bool
    ) -> None:
        """Show values (variants, targets); NaN: none. A variant of several lines stands in as many."""
        self.variants, self.targets = tuple(variants), tuple(targets)
        self.values, self.in_percent = np.array(values, dtype=np.float64), in_percent
        self.locked = None
        self.forget()

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

    def summary(self) -> str:
        return words.clauses(map(self.words_of, range(min(5, len(self.targets)))))

    def words_of(self, target: int) -> str:
        parts = [
            f"{_line(name)} {self._said(value)}"
            for name, value in zip(self.variants, self.values[:, target], strict=True)
        ]
        return words.captioned(self.targets[target], words.phrases(parts))

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes = self._axes
        axes.paint_up(painter, ((tick, self._said(tick)) for tick in round_ticks(*axes.up, 5)))
        self._paint_variants(painter, axes)
        for target in sorted(range(len(self.targets)), key=lambda target: target == self._focused):
            self._paint_line(painter, axes, target)
        for target, room in enumerate(self._name_rooms()):
            is_focus, color = target == self._focused, QColor(theme.category(target))
            name, end = self.targets[target], Qt.TextElideMode.ElideRight
            write(painter, room, name, color, size=12, bold=is_focus, cut=end)

    @property
    def _axes(self) -> Axes:
        metrics = QFontMetricsF(theme.ui_font(12))
        widest = max(metrics.horizontalAdvance(words.shorten(name, 24)) for name in self.targets) + 4
        names = min(0.35 * self.width(), widest)
        bottom = BOTTOM + LABEL * max(name.count("\n") for name in self.variants)
        width, height = self.width() - AXIS - names - 2 * SIDE, self.height() - TOP - bottom
        return Axes(QRectF(AXIS, TOP, width, height), up=self._range())

    @property
    def _focused(self) -> int | None:
        return self.locked if self._saving or self.locked is not None else self.current

    def _range(self) -> tuple[float, float]:
        known = self.values[np.isfinite(self.values)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        if self.in_percent:
            low = 0.0
        else:
            low, high = min(low, 0.0), max(high, 0.0)
        high += 0.04 * (high - low)
        return (low, high) if high > low else (low, low + 1.0)

    def _xs(self, room: QRectF) -> list[float]:
        if len(self.variants) == 1:
            return [room.center().x()]
        inner = room.adjusted(24, 0, -10, 0)
        return [float(x) for x in np.linspace(inner.left(), inner.right(), len(self.variants))]

    def _name_rooms(self) -> list[QRectF]:
        """Return where the names of the targets stand, beside their last points."""
        axes = self._axes
        known = (values[np.isfinite(values)] for values in self.values.T)
        ends = [axes.y_of(float(found[-1]) if len(found) else axes.up[0]) for found in known]
        left = axes.area.right() + SIDE
        return name_rooms(axes.area, left, self.width() - left - SIDE + 4, ends)

    def _paint_variants(self, painter: QPainter, axes: Axes) -> None:
        room, xs = axes.area, self._xs(axes.area)
        width = room.width() / max(1, len(xs)) - 4 if len(xs) > 2 else room.width() / 2
        size, end = 12 if len(xs) < 6 else 11, Qt.TextElideMode.ElideRight
        for x, name in zip(xs, self.variants, strict=True):
            painter.setPen(QPen(theme.current().color("line"), 1))
            upright_line(painter, x, room.top(), room.bottom())
            for line, text in enumerate(name.split("\n")):
                under = QRectF(x - width / 2, room.bottom() + 6 + LABEL * line, width, LABEL + 3)
                write(painter, under, text, size=size, side=CENTER, cut=end)

    def _paint_line(self, painter: QPainter, axes: Axes, target: int) -> None:
        color, focus = QColor(theme.category(target)), self._focused
        if focus is not None and focus != target:
            color = QColor(theme.mix(theme.current().card, theme.category(target), 0.3))
        values = zip(self._xs(axes.area), self.values[:, target].tolist(), strict=True)
        points = [QPointF(x, axes.y_of(value)) for x, value in values if not math.isnan(value)]
        paint_line(painter, points, color, 3 if focus == target else 2)
        paint_dots(painter, points, color, 4.5, 1.5)

    def _said(self, value: float) -> str:
        if math.isnan(value):
            return "–"
        if self.in_percent:
            return words.probability(value) if value else words.share(0, 0)
        sign = "+" if value > 0.005 else "−" if value < -0.005 else ""
        return f"{sign}{words.decimal(abs(value), 1 if abs(value) < 9.95 else 0)}"

    def target_at(self, at: QPointF) -> int | None:
        rooms = [] if self.is_empty else self._name_rooms()
        return next((target for target, room in enumerate(rooms) if room.contains(at)), None)

    def tip_at(self, at: QPointF) -> str:
        return "" if self._focused is None else self.words_of(self._focused)

    def rect_of(self, target: int) -> QRectF:
        return self._name_rooms()[target]

    def after(self, event: QKeyEvent) -> int | None:
        move = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if not move or self.is_empty:
            return None
        here = -1 if self._focused is None else self._focused
        return min(max(here + move, 0), len(self.targets) - 1)

    def walk_to(self, target: int, event: QKeyEvent) -> None:
        self._lock(target)

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self._lock(None if target == self.locked else target)

    def let_go(self) -> bool:
        was_locked = self.locked is not None
        self._lock(None)
        return super().let_go() or was_locked

    def describe(self) -> None:
        focus = self._focused
        self.setAccessibleDescription(self.summary() if focus is None else self.words_of(focus))

    def _lock(self, target: int | None) -> None:
        self.locked = target
        self.describe()
        self.update()


def _line(variant: str) -> str:
    return " · ".join(variant.split("\n"))
