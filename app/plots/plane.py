"""Points on two axes of numbers, joined or alone: a curve of precision and recall, true against predicted.

Beside points there may be one straight line to compare them with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen

from app.look import theme
from app.plots.axes import AXIS_SIZE, Axes, axis_ticks
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure
from app.plots.strokes import paint_line
from app.words import clauses

LEFT, TOP, RIGHT, BOTTOM = 46, 8, 12, 38
REACH = 14.0  # px; a point nearer to the pointer than this is under it
FEW = 60  # points that are drawn large


class PlanePlot(PointedFigure):
    """Points on a plane. A target is a point's place, -1 for none; arrow keys go to its neighbours by x.

    Where it is a door, a click on a point is told.
    """

    chosen = Signal(int)
    nothing = -1
    says_at_once = True
    is_door = False
    wanted_size = (320, 240)
    least_size = (180, 120)
    _points = np.zeros((0, 2))
    _said: Sequence[str] = ()
    _names = ("", "")
    _ranges = ((0.0, 1.0), (0.0, 1.0))
    _line: tuple[QPointF, QPointF] | None = None
    _order: Sequence[int] = ()  # of the points by x
    _is_joined = False
    _special = -1

    def set_points(
        self,
        points: np.ndarray,
        said: Sequence[str],
        names: tuple[str, str],
        ranges: tuple[tuple[float, float], tuple[float, float]],
        *,
        line: tuple[tuple[float, float], tuple[float, float]] | None = None,
        is_joined: bool = False,
        special: int = -1,
    ) -> None:
        """Show (P, 2) points.

        Args: said: what is said of each. names, ranges: of the axis across and of the one up. line: from
        where to where, to compare with. is_joined: whether neighbours are joined. special: one that stands
        out, -1 for none.
        """
        self._points, self._said = np.asarray(points, np.float64).reshape(-1, 2), tuple(said)
        self._names, self._ranges, self._is_joined, self._special = names, ranges, is_joined, special
        self._line = None if line is None else (QPointF(*line[0]), QPointF(*line[1]))
        self._order = np.argsort(self._points[:, 0], kind="stable").tolist()
        self.forget()
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_points(np.zeros((0, 2)), (), ("", ""), ((0.0, 1.0), (0.0, 1.0)))

    @property
    def is_empty(self) -> bool:
        return not len(self._points)

    def numbers(self) -> Numbers:
        rows: Numbers = [[*self._names]]
        rows.extend([x, y] for x, y in self._points.tolist())
        return rows

    def summary(self) -> str:
        return clauses(self._said[place] for place in self._order[:3]) if not self.is_empty else ""

    @property
    def _axes(self) -> Axes:
        width = QFontMetricsF(theme.ui_font(AXIS_SIZE)).horizontalAdvance
        left = max([LEFT, *(20 + width(said) for _, said in axis_ticks(self._ranges[1], 5))])
        return Axes(QRectF(self.rect()).adjusted(left, TOP, -RIGHT, -BOTTOM), *self._ranges)

    def _placed(self) -> list[QPointF]:
        """Return where each point lies."""
        axes = self._axes
        return [axes.at(x, y) for x, y in self._points.tolist()]

    def target_at(self, at: QPointF) -> int:
        if self.is_empty:
            return -1
        away = [math.hypot(one.x() - at.x(), one.y() - at.y()) for one in self._placed()]
        nearest = int(np.argmin(away))
        is_near = away[nearest] <= REACH and self._axes.area.adjusted(-9, -9, 9, 9).contains(at)
        return nearest if is_near else -1

    def rect_of(self, target: int) -> QRectF:
        at = self._axes.at(*self._points[target].tolist())
        return QRectF(at.x() - 5, at.y() - 5, 10, 10)

    def words_of(self, target: int) -> str:
        return self._said[target]

    def can_choose(self, target: int) -> bool:
        return self.is_door

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def after(self, event: QKeyEvent) -> int:
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(self._order) - 1}
        key = Qt.Key(event.key())
        if self.is_empty or key not in (*steps, *ends):
            return -1
        if key in ends:
            return self._order[ends[key]]
        here = -1 if self.current < 0 else self._order.index(self.current)
        to = 0 if here < 0 else here + steps[key]
        return self._order[min(max(to, 0), len(self._order) - 1)]

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes, (across, up) = self._axes, self._names
        axes.paint_up(painter, axis_ticks(axes.up, 5))
        axes.paint_across(painter, axis_ticks(axes.across, 6))
        axes.paint_name_across(painter, across)
        axes.paint_name_up(painter, up)
        if self._line is not None:
            painter.setPen(QPen(theme.current().color("muted"), 1.2, Qt.PenStyle.DashLine))
            painter.drawLine(*(axes.at(end.x(), end.y()) for end in self._line))
        self._paint_points(painter, self._placed())

    def _paint_points(self, painter: QPainter, placed: Sequence[QPointF]) -> None:
        colors = theme.current()
        if self._is_joined:
            paint_line(painter, placed, colors.color("accent"), 2)
        soft = colors.color("accent")
        soft.setAlphaF(1.0 if self._is_joined or len(placed) <= FEW else 0.45)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        radius = 2.5 if self._is_joined or len(placed) > FEW else 3.5
        for at in placed:
            painter.drawEllipse(at, radius, radius)
        if 0 <= self._special < len(placed):
            painter.setBrush(colors.color("b"))
            painter.drawEllipse(placed[self._special], 5, 5)
        if self.current >= 0 and not self._saving:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colors.color("text"), 1.5))
            painter.drawEllipse(placed[self.current], 6, 6)
