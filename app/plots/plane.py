"""Points on two axes of numbers, joined or alone: a curve of precision and recall, true against predicted.

Beside points there may be one straight line to compare them with.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.plots.axes import round_ticks
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure

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

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._points = np.zeros((0, 2))
        self._said: Sequence[str] = ()
        self._names = ("", "")
        self._ranges = ((0.0, 1.0), (0.0, 1.0))
        self._left: float = LEFT  # px, as the words of the axis up want
        self._line: tuple[QPointF, QPointF] | None = None
        self._is_joined = False
        self._special = -1
        theme.on_theme_change(self, self.update)

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
        width = QFontMetricsF(theme.ui_font(11)).horizontalAdvance
        self._left = max([LEFT, *(20 + width(said) for _, said in axis_ticks(ranges[1], 5))])
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
        return "; ".join(self._said[place] for place in self._order[:3]) if not self.is_empty else ""

    def sizeHint(self) -> QSize:
        return QSize(320, 240)

    def minimumSizeHint(self) -> QSize:
        return QSize(180, 120)

    def target_at(self, at: QPointF) -> int:
        if self.is_empty:
            return -1
        room = self._room()
        placed = np.array([[p.x(), p.y()] for p in map(self._placed, self._points.tolist())])
        away = np.hypot(placed[:, 0] - at.x(), placed[:, 1] - at.y())
        nearest = int(away.argmin())
        return nearest if away[nearest] <= REACH and room.adjusted(-9, -9, 9, 9).contains(at) else -1

    def rect_of(self, target: int) -> QRectF:
        at = self._placed(self._points[target].tolist())
        return QRectF(at.x() - 5, at.y() - 5, 10, 10)

    def words_of(self, target: int) -> str:
        return self._said[target]

    def can_choose(self, target: int) -> bool:
        return self.is_door

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.chosen.emit(target)

    def after(self, event: QKeyEvent) -> int:
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}
        if self.is_empty or event.key() not in (*steps, Qt.Key.Key_Home, Qt.Key.Key_End):
            return -1
        last = len(self._order) - 1
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            return int(self._order[0 if event.key() == Qt.Key.Key_Home else last])
        if self.current < 0:
            return int(self._order[0])
        place = self._order.index(self.current) + steps[Qt.Key(event.key())]
        return int(self._order[min(max(place, 0), last)])

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self.is_empty:
            self._paint_axes(painter)
            self._paint_points(painter)
        self.paint_frame(painter)
        painter.end()

    def _room(self) -> QRectF:
        return QRectF(self.rect()).adjusted(self._left, TOP, -RIGHT, -BOTTOM)

    def _placed(self, point: Sequence[float]) -> QPointF:
        room, (across, up) = self._room(), self._ranges
        x = (point[0] - across[0]) / ((across[1] - across[0]) or 1.0)
        y = (point[1] - up[0]) / ((up[1] - up[0]) or 1.0)
        return QPointF(room.left() + room.width() * x, room.bottom() - room.height() * y)

    def _paint_axes(self, painter: QPainter) -> None:
        colors, room = theme.current(), self._room()
        painter.setFont(theme.ui_font(11))
        center = Qt.AlignmentFlag.AlignCenter
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for tick, said in axis_ticks(self._ranges[1], 5):
            y = self._placed((self._ranges[0][0], tick)).y()
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
            painter.setPen(colors.color("muted"))
            painter.drawText(QRectF(14, y - 8, room.left() - 20, 16), right, said)
        for tick, said in axis_ticks(self._ranges[0], 6):
            x = self._placed((tick, self._ranges[1][0])).x()
            painter.setPen(colors.color("muted"))
            painter.drawText(QRectF(x - 40, room.bottom() + 3, 80, 14), center, said)
        painter.drawText(QRectF(room.left(), room.bottom() + 19, room.width(), 15), center, self._names[0])
        painter.save()
        painter.translate(0, room.bottom())
        painter.rotate(-90)
        painter.drawText(QRectF(0, 0, room.height(), 14), center, self._names[1])
        painter.restore()
        if self._line is not None:
            painter.setPen(QPen(colors.color("muted"), 1.2, Qt.PenStyle.DashLine))
            ends = [self._placed((end.x(), end.y())) for end in self._line]
            painter.drawLine(*ends)

    def _paint_points(self, painter: QPainter) -> None:
        colors, placed = theme.current(), [self._placed(point) for point in self._points.tolist()]
        if self._is_joined:
            painter.setPen(QPen(colors.color("accent"), 2))
            painter.drawPolyline(QPolygonF(placed))
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


def axis_ticks(ends: tuple[float, float], most: int) -> list[tuple[float, str]]:
    """Return round values on an axis, each with its words: so many digits that no two read alike."""
    found = round_ticks(*ends, most)
    said = [f"{tick:g}".replace("-", words.MINUS) for tick in found]
    if len(set(said)) < len(said):
        step = found[1] - found[0]
        said = [words.decimal(tick, max(0, -math.floor(math.log10(step) + 1e-9))) for tick in found]
    return list(zip(found, said, strict=True))
