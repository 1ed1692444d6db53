"""Lines over the layers whose axis is a slider: dragging, the arrow keys and a click choose the layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF

from app import words
from app.look import theme
from app.look.labels import fitting
from app.plots.axes import Axes, name_rooms, round_ticks
from app.plots.layer_lines import LayerLine, LayerLinesPlot
from app.plots.strokes import CENTER, level_line, paint_dots, upright_line, write

LEFT, TOP, RIGHT, BOTTOM = 34.0, 8.0, 10.0, 46.0  # px
TRACK = 20.0  # px under the area
HANDLE = 7.5
MOST_TICKS = 40
BETWEEN = 0.1  # of the accent, between the first two lines
NEAR = 26.0  # px between two names of layers


class LayerSlider(LayerLinesPlot):
    """Emits `layer_chosen`. The first line has the accent's colour, the second is dashed and grey."""

    wanted_size = (420, 170)
    least_size = (220, 130)

    _position = 0.0  # where the handle is

    def set_lines(self, lines: Sequence[LayerLine]) -> None:
        last = max(0, len(lines[0].values) - 1) if lines else 0
        self._marked = last if self._marked is None else min(self._marked, last)
        self._position = float(self._marked)
        super().set_lines(lines)

    def set_marked(self, layer: int | None) -> None:
        super().set_marked(layer)
        self._position = float(layer or 0)
        self.describe()

    def set_position(self, position: float) -> None:
        """Show the handle at a layer or between two, as on its way; emits nothing."""
        super().set_marked(round(position))
        self._position = position
        self.update()

    def words_of(self, target: int) -> str:
        name = self._name(target, is_long=True)
        values = (f"{line.name} {_figure(line, target)}" for line in self.lines)
        return "\n".join([name, *values])

    def summary(self) -> str:
        return "" if self.is_empty or self._marked is None else self.words_of(self._marked)

    def _name(self, layer: int, *, is_long: bool = False) -> str:
        if not layer:
            return self.tr("word table")
        return self.tr("layer {number}").format(number=layer) if is_long else words.number(layer)

    @property
    def _axes(self) -> Axes:
        rim = (LEFT, TOP, self._names_width + RIGHT, BOTTOM)
        return Axes.inside(self.rect(), rim, (-0.12 * self._spacing, self.num_layers - 1.0), self._limits())

    @property
    def _spacing(self) -> float:
        """How many layers stand for the room that the first name takes on its left."""
        return max(1.0, self.num_layers - 1) / 2

    @property
    def _names_width(self) -> float:
        metrics = QFontMetricsF(theme.ui_font(12, bold=True))
        widest = max((metrics.horizontalAdvance(f"{line.name}  0.00") for line in self.lines), default=0.0)
        return min(widest + 16, self.width() * 0.5)

    def target_at(self, at: QPointF) -> int | None:
        return self._nearest(at) if super().target_at(at) is not None else None

    def _nearest(self, at: QPointF) -> int:
        return min(max(round(self._axes.across_at(at.x())), 0), max(0, self.num_layers - 1))

    def after(self, event: QKeyEvent) -> int | None:
        key, last = Qt.Key(event.key()), self.num_layers - 1
        if self.is_empty or self._marked is None:
            return None
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            return 0 if key == Qt.Key.Key_Home else last
        way = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(key, 0)
        return min(max(self._marked + way, 0), last) if way else None

    def walk_to(self, target: int, event: QKeyEvent) -> None:
        self.choose(target, event)

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        if target != self._marked or self._position != target:
            self.set_marked(target)
            self.layer_chosen.emit(target)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._drag(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._drag(event)

    def _drag(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and not self.is_empty:
            self.choose(self._nearest(event.position()), event)

    def _show_bubble(self) -> None:
        self._bubble.hide()  # the figures stand at the ends of the lines

    # ---- painting

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes, colors = self._axes, theme.current()
        ticks = round_ticks(*axes.up, max(2.0, axes.area.height() / 26), 0.1)
        axes.paint_up(painter, ((value, words.decimal(value, 1)) for value in ticks))
        if len(self.lines) > 1:
            self._paint_between(painter, axes)
        painter.setPen(QPen(colors.color("accent"), 1, Qt.PenStyle.DotLine))
        upright_line(painter, axes.x_of(self._position), axes.area.top(), axes.area.bottom() + TRACK)
        for place, line in reversed(list(enumerate(self.lines))):
            self._paint_line(painter, axes, place, line)
        self._paint_names(painter, axes)
        self._paint_track(painter, axes)

    def _color(self, place: int) -> QColor:
        return theme.current().color("muted" if place else "accent")

    def _paint_between(self, painter: QPainter, axes: Axes) -> None:
        """Shade what lies between the first two lines."""
        first, second = self.lines[0].values, self.lines[1].values
        known = np.flatnonzero(np.isfinite(first) & np.isfinite(second)).tolist()
        above = [axes.at(layer, float(first[layer])) for layer in known]
        below = [axes.at(layer, float(second[layer])) for layer in reversed(known)]
        painter.setPen(Qt.PenStyle.NoPen)
        colors = theme.current()
        painter.setBrush(QColor(theme.mix(colors.card, colors.accent, BETWEEN)))
        painter.drawPolygon(QPolygonF([*above, *below]))

    def _paint_names(self, painter: QPainter, axes: Axes) -> None:
        """Write each line's name at its end, with its figure at the layer that is shown."""
        layer, ends = self._marked or 0, dict[int, float]()
        for place, line in enumerate(self.lines):
            known = line.values[np.isfinite(line.values)]
            if len(known):
                ends[place] = axes.y_of(float(known[-1]))
        left, width = axes.area.right() + 12, self.width() - axes.area.right() - 14
        rooms = name_rooms(axes.area, left, width, list(ends.values()))
        for place, room in zip(ends, rooms, strict=True):
            line = self.lines[place]
            figure, metrics = _figure(line, layer), QFontMetricsF(theme.ui_font(12))
            beside = QFontMetricsF(theme.ui_font(12, bold=True)).horizontalAdvance(figure) + 8
            name = fitting(line.name, metrics, width - beside)  # the figure stays whole
            write(painter, room, name, self._color(place), size=12)
            room.setLeft(left + metrics.horizontalAdvance(name) + 6)
            write(painter, room, figure, size=12, bold=True)

    def _paint_track(self, painter: QPainter, axes: Axes) -> None:
        colors, y = theme.current(), axes.area.bottom() + TRACK
        here = axes.x_of(self._position)
        spans = ((here, axes.area.right(), "line"), (axes.x_of(0), here, "accent"))
        for left, right, ink in spans:
            painter.setPen(QPen(colors.color(ink), 4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            level_line(painter, left, right, y)
        if self.num_layers <= MOST_TICKS:
            for layer in range(self.num_layers):
                ink = "accent" if layer <= self._position else "muted"
                painter.setPen(QPen(colors.color(ink), 1.4))
                painter.setBrush(colors.color("card"))
                painter.drawEllipse(QPointF(axes.x_of(layer), y), 3.0, 3.0)
        paint_dots(painter, [QPointF(here, y)], colors.color("accent"), HANDLE, 0)
        paint_dots(painter, [QPointF(here, y)], colors.color("card"), 2.5, 0)
        self._paint_ticks(painter, axes, y + 8)

    def _paint_ticks(self, painter: QPainter, axes: Axes, top: float) -> None:
        """Name the layers, the one that is shown always."""
        shown = self._marked or 0
        step = max(1.0, axes.area.width() / max(1, self.num_layers - 1))
        every = max(1, int(np.ceil(NEAR / step)))
        wide = QFontMetricsF(theme.ui_font(12, bold=True)).horizontalAdvance(self._name(0)) / 2 + 10
        for layer in range(self.num_layers):
            is_near = layer != shown and abs(axes.x_of(layer) - axes.x_of(shown)) < NEAR
            is_first = layer > 0 and axes.x_of(layer) - axes.x_of(0) < wide
            if layer not in (0, shown) and (layer % every or is_near or is_first):
                continue
            ink, bold = ("accent", True) if layer == shown else ("muted", False)
            name, middle = self._name(layer), axes.x_of(layer)
            across = QFontMetricsF(theme.ui_font(12, bold=bold)).horizontalAdvance(name) + 2
            left = max(0.0, middle - across / 2)  # a long first name begins at the rim
            room = QRectF(left, top, across, 16)
            write(painter, room, name, ink, size=12, bold=bold, side=CENTER)


def _figure(line: LayerLine, layer: int) -> str:
    value = float(line.values[layer])
    return "–" if np.isnan(value) else words.decimal(value, 2)
