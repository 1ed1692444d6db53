"""Points on a plane, each of them a text: hover tells it, a click chooses it, arrow keys go on to the next.

The points are painted once into an image; what follows the pointer is painted over it. One unit is as long
across as down, so that distances on the page are those of the map.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEngine, QPainter, QWheelEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.plots import marks
from app.plots.figure import Numbers
from app.plots.layered import LayeredFigure
from app.plots.marks import Coloring, PointClasses, PointValues
from app.plots.pointed import ARROWS
from app.plots.scatter_legend import LegendEntry, legend_rows, paint_legend
from app.plots.strokes import CENTER, paint_edge, write

EDGE = 10.0
FOOT = 20.0  # px, the line under the points
LEGEND_ROW = 18.0
REACH = 14.0  # px; a point nearer to the pointer than this is under it
MARGIN = 0.06  # of the width, around all points
MOST_ZOOM = 2000.0
LONGEST_TIP = 320  # characters
RADII = ((150, 5.0), (1000, 4.0), (4000, 3.2))  # up to so many points, a mark is so large


class ScatterPlot(LayeredFigure):
    """A map of texts. The wheel zooms, dragging moves it, a double click or Home shows all.

    A target is a point's place among the texts, -1 for none.
    """

    nothing = -1
    says_at_once = True
    hovered = Signal(int)  # a point, -1 for none
    chosen = Signal(int)  # clicked, or Enter; -1: Escape
    wanted_size = (560, 420)
    least_size = (220, 160)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._points = np.zeros((0, 2))
        self._texts: Sequence[str] = ()
        self._details: Sequence[str] = ()
        self._coloring: Coloring | None = None
        self._foot = ""
        self._side = ""
        self._chosen = -1
        self._marked: tuple[int, ...] = ()
        self._zoom, self._center = 1.0, np.zeros(2)
        self._held: QPointF | None = None  # where the mouse holds the map
        self._is_dragged = False
        self.setAutoFillBackground(False)

    def set_points(
        self,
        points: np.ndarray,
        texts: Sequence[str],
        *,
        details: Sequence[str] = (),
        keep_view: bool = False,
    ) -> None:
        """Show (E, 2) points of E texts. Args: details: a line about each, under its text."""
        assert len(points) == len(texts), (len(points), len(texts))
        same = keep_view and len(points) == len(self._points)
        self._points, self._texts, self._details = np.asarray(points, np.float64), texts, details
        if not same:
            self.forget()
            self._chosen, self._marked = -1, ()
            self._coloring = None
            self.show_all()
        self.renew()

    def set_coloring(self, coloring: Coloring | None) -> None:
        """Colour the points by a column, or all alike."""
        self._coloring = coloring
        self.renew()

    def set_axes(self, across: str, up: str = "") -> None:
        """Say under the points, and beside them, what the axes are."""
        self._foot, self._side = across, up
        self.renew()

    def clear(self) -> None:
        """Show nothing."""
        self.set_points(np.zeros((0, 2)), ())

    def set_chosen(self, place: int, marked: Sequence[int] = ()) -> None:
        """Ring a point, and more faintly some others; emits nothing."""
        self._chosen, self._marked = place, tuple(marked)
        self.update()

    def point_to(self, place: int) -> None:
        """Ring a point as the pointer does; emits nothing. -1: none."""
        self._hovered, self._walked = -1, place if place < len(self._points) else -1
        self.update()

    @property
    def is_empty(self) -> bool:
        return not len(self._points)

    @property
    def chosen_point(self) -> int:
        return self._chosen

    def numbers(self) -> Numbers:
        title = self._coloring.title if self._coloring else ""
        rows: Numbers = [["x", "y", *([title] if title else []), self.tr("text")]]
        for place, (x, y) in enumerate(self._points.tolist()):
            rows.append([x, y, *([self._value_of(place)] if title else []), self._texts[place]])
        return rows

    def words_of(self, target: int) -> str:
        """Return what the hover says of a point."""
        lines = [words.shorten(self._texts[target], LONGEST_TIP)]
        if self._coloring is not None:
            lines.append(words.captioned(self._coloring.title, self._value_of(target)))
        if target < len(self._details) and self._details[target]:
            lines.append(self._details[target])
        return "\n".join(lines)

    def position_of(self, place: int) -> QPointF:
        """Return where a point lies on this widget."""
        x, y = self._pixels()[place].tolist()
        return QPointF(x, y)

    def target_at(self, at: QPointF) -> int:
        if self.is_empty or not self._area().contains(at):
            return -1
        distances = np.hypot(*(self._pixels() - (at.x(), at.y())).T)
        nearest = int(distances.argmin())
        return nearest if distances[nearest] <= REACH else -1

    def show_all(self) -> None:
        """Take back every zoom."""
        self._zoom = 1.0
        if not self.is_empty:
            self._center = (self._points.min(0) + self._points.max(0)) / 2
        self.renew()

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Show more (below 1) or less around a place."""
        middle = self._area().center() if at is None else at
        before = self._to_plane(middle)
        self._zoom = float(np.clip(self._zoom * factor, 0.5, MOST_ZOOM))
        self._center += before - self._to_plane(middle)
        self.renew()

    def things(self) -> Iterable[int]:
        if self.is_empty:
            return ()
        area = self._area()
        return [place for place, (x, y) in enumerate(self._pixels().tolist()) if area.contains(x, y)]

    def rect_of(self, target: int) -> QRectF:
        return QRectF(self.position_of(target), QSizeF(0, 0))

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self._choose(target)

    def let_go(self) -> bool:
        was_chosen = self._chosen >= 0
        self._choose(-1)
        return super().let_go() or was_chosen

    def current_changed(self) -> None:
        self.hovered.emit(self.current)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is None or not event.buttons() & Qt.MouseButton.LeftButton:
            super().mouseMoveEvent(event)
            return
        moved = event.position() - self._held
        if self._is_dragged or moved.manhattanLength() > 4:
            self._is_dragged = True
            self._center += np.array([-moved.x(), moved.y()]) / self._scale()
            self._held = event.position()
            self.renew()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self._held, self._is_dragged = event.position(), False

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._held is not None and not self._is_dragged
        self._held = None
        if clicked:
            super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.show_all()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not self.is_empty:
            self.zoom(1.0015 ** event.angleDelta().y(), event.position())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            at_point = self.position_of(self.current) if self.current >= 0 else None
            self.zoom(0.8 if key == Qt.Key.Key_Minus else 1.25, at_point)
        elif key == Qt.Key.Key_Home:
            self.show_all()
        else:
            super().keyPressEvent(event)

    def after(self, event: QKeyEvent) -> int:
        key = Qt.Key(event.key())
        return -1 if self.is_empty or key not in ARROWS else self._next(*ARROWS[key])

    def _next(self, down: int, right: int) -> int:
        """Return the nearest point in a direction; where there is none, the current one."""
        pixels = self._pixels()
        if self.current < 0:
            middle = self._area().center()
            return int(np.hypot(*(pixels - (middle.x(), middle.y())).T).argmin())
        offset = pixels - pixels[self.current]
        along = offset @ np.array([right, down], np.float64)
        aside = np.abs(offset @ np.array([down, right], np.float64))
        cost = np.where((along > 0.5) & (aside <= 1.5 * along), along + 2 * aside, np.inf)
        nearest = int(cost.argmin())
        return nearest if np.isfinite(cost[nearest]) else int(self.current)

    def _choose(self, place: int) -> None:
        if place != self._chosen:
            self._chosen, self._marked = place, ()
            self.chosen.emit(place)
            self.update()

    def _entries(self) -> list[LegendEntry]:
        coloring = self._coloring
        if not isinstance(coloring, PointClasses):
            return []
        counts = np.bincount(coloring.numbers + 1, minlength=len(coloring.names) + 1)
        entries = [
            LegendEntry(place, f"{name} · {words.number(int(counts[place + 1]))}")
            for place, name in enumerate(coloring.names)
        ]
        if counts[0]:
            entries.append(LegendEntry(marks.OTHER, f"{coloring.other} · {words.number(int(counts[0]))}"))
        return entries

    def _area(self) -> QRectF:
        """Return where the points lie."""
        rows = len(legend_rows(self._entries(), self.width() - 2 * EDGE))
        if isinstance(self._coloring, PointValues):
            rows = 1
        top = EDGE + rows * LEGEND_ROW
        left = EDGE + (16.0 if self._side else 0.0)
        foot = FOOT if self._foot else 4.0
        return QRectF(
            left, top, max(1.0, self.width() - left - EDGE), max(1.0, self.height() - top - foot - 4)
        )

    def _scale(self) -> float:
        """Return pixels a unit of the plane."""
        area = self._area()
        span = np.ptp(self._points, axis=0) if len(self._points) else np.ones(2)
        room = np.array([area.width(), area.height()]) * (1 - 2 * MARGIN)
        with np.errstate(divide="ignore"):
            fits = np.where(span > 0, room / np.maximum(span, 1e-30), np.inf)
        fit = float(fits.min())
        return (fit if np.isfinite(fit) else 1.0) * self._zoom

    def _pixels(self) -> np.ndarray:
        """Return (E, 2), where the points lie on this widget."""
        middle = self._area().center()
        offset = (self._points - self._center) * self._scale()
        return np.stack([middle.x() + offset[:, 0], middle.y() - offset[:, 1]], axis=1)

    def _to_plane(self, position: QPointF) -> np.ndarray:
        middle, scale = self._area().center(), self._scale()
        offset = np.array([position.x() - middle.x(), middle.y() - position.y()])
        return np.asarray(self._center + offset / scale)

    @property
    def _radius(self) -> float:
        return next((radius for most, radius in RADII if len(self._points) <= most), 2.6)

    def _value_of(self, place: int) -> str:
        coloring = self._coloring
        if isinstance(coloring, PointValues):
            value = coloring.values[place]
            return "–" if np.isnan(value) else f"{value:g}".replace("-", words.MINUS)
        if coloring is None:
            return ""
        number = int(coloring.numbers[place])
        return coloring.other if number == marks.OTHER else coloring.names[number]

    def paint_still(self, painter: QPainter) -> None:
        area = self._area()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_legend(
            painter, self._coloring, self._entries(), QRectF(EDGE, EDGE - 4, self.width() - 2 * EDGE, 0)
        )
        paint_edge(painter, area, "line", radius=4)
        painter.save()
        painter.setClipRect(area)
        self._paint_points(painter, area)
        painter.restore()
        self._paint_axes(painter, area)

    def _paint_points(self, painter: QPainter, area: QRectF) -> None:
        coloring, radius = self._coloring, self._radius
        is_shade = isinstance(coloring, PointValues)
        numbers = np.zeros(len(self._points), np.int64)
        if coloring is not None:
            numbers = coloring.shades() if isinstance(coloring, PointValues) else coloring.numbers
        pixels = self._pixels()
        low = np.array([area.left() - 8, area.top() - 8])
        seen = ((pixels >= low) & (pixels <= (area.right() + 8, area.bottom() + 8))).all(1)
        order = np.flatnonzero(seen)
        mixed = np.random.PCG64(0).random_raw(
            len(order)
        )  # so that no class hides another, as a sorted table would
        order = order[np.lexsort((mixed, numbers[order] != marks.OTHER))]  # others lie below
        shown = numbers[order].tolist()
        if painter.paintEngine().type() != QPaintEngine.Type.Raster:  # a file that can be enlarged
            for (x, y), number in zip(pixels[order].tolist(), shown, strict=True):
                marks.paint_one(painter, QPointF(x, y), number, radius, is_shade=is_shade)
            return
        ratio = painter.device().devicePixelRatioF()
        stamps = {number: marks.stamp(number, radius, ratio, is_shade=is_shade) for number in set(shown)}
        half = marks.stamp_side(radius) / 2
        draw = painter.drawPixmap
        for (x, y), number in zip(np.rint(pixels[order] - half).astype(int).tolist(), shown, strict=True):
            draw(x, y, stamps[number])

    def _paint_axes(self, painter: QPainter, area: QRectF) -> None:
        end = Qt.TextElideMode.ElideRight
        below = QRectF(area.left(), area.bottom() + 4, area.width(), FOOT - 4)
        write(painter, below, self._foot, "muted", size=11, side=CENTER, cut=end)
        if self._side:
            painter.save()
            painter.translate(EDGE + 5, area.center().y())
            painter.rotate(-90)
            beside = QRectF(-area.height() / 2, -9, area.height(), 14)
            write(painter, beside, self._side, "muted", size=11, side=CENTER, cut=end)
            painter.restore()

    def paint_chosen(self, painter: QPainter) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(self._area())
        for place in self._marked:
            marks.paint_ring(painter, self.position_of(place), self._radius + 2.5, "muted", 1.2)
        if self._chosen >= 0:
            marks.paint_ring(painter, self.position_of(self._chosen), self._radius + 4, "text", 2.5)
        painter.restore()

    def paint_moving(self, painter: QPainter) -> None:
        if self.current >= 0 and self.current != self._chosen:
            painter.setClipRect(self._area())
            marks.paint_ring(painter, self.position_of(self.current), self._radius + 3, "focus", 2)
            painter.setClipping(False)
