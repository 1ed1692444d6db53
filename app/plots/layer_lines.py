"""Values from layer to layer, the embeddings first: a few lines that end in their own names.

Lines differ in their dashes as well as in their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import label
from app.plots.axes import Axes, name_rooms, round_ticks
from app.plots.figure import Numbers
from app.plots.pointed import PointedFigure
from app.plots.strokes import paint_dots, paint_line, upright_line, write

EDGE = 10  # px
LEFT, TOP, RIGHT, BOTTOM = 38.0, 14.0, 13.0, 38.5  # px
MOST_DOTS = 30  # on a line
_DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


@dataclass(frozen=True, eq=False)
class LayerLine:
    """values: (L + 1,), NaN where there is none. is_background: drawn faint, as a measure for the others."""

    name: str
    values: np.ndarray
    is_background: bool = False


class LayerLinesPlot(PointedFigure):
    """Lines over the layers of a model. A target is a layer: it can be pointed at, walked to, and chosen."""

    layer_chosen = Signal(int)
    wanted_size = (420, 240)
    least_size = (220, 140)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._lines: tuple[LayerLine, ...] = ()
        self._marked: int | None = None
        self._bubble = label("", "bubble", parent=self)
        self._bubble.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._bubble.hide()

    def set_lines(self, lines: Sequence[LayerLine]) -> None:
        """Show some lines of the same layers."""
        self._lines = tuple(lines)
        self.forget()
        self._show_bubble()
        self.update()

    def set_marked(self, layer: int | None) -> None:
        """Mark the layer that other pictures show; emits nothing."""
        self._marked = layer
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self.set_lines(())

    @property
    def lines(self) -> tuple[LayerLine, ...]:
        return self._lines

    @property
    def num_layers(self) -> int:
        """L + 1, the embeddings among them."""
        return len(self._lines[0].values) if self._lines else 0

    @property
    def is_empty(self) -> bool:
        return not self._lines

    def numbers(self) -> Numbers:
        rows: Numbers = [[self.tr("layer"), *(line.name for line in self._lines)]]
        for layer in range(self.num_layers):
            values = (float(line.values[layer]) for line in self._lines)
            rows.append([layer, *("" if np.isnan(value) else value for value in values)])
        return rows

    def words_of(self, target: int) -> str:
        name = self.tr("Embeddings") if target == 0 else self.tr("Layer {number}").format(number=target)
        values = (f"{line.name} {words.decimal(float(line.values[target]), 3)}" for line in self._lines)
        return "\n".join([name, *values])

    def describe(self) -> None:
        super().describe()
        self.setAccessibleDescription(self.accessibleDescription().replace("\n", ", "))

    @property
    def _axes(self) -> Axes:
        rim = (LEFT, TOP, self._names_width + RIGHT, BOTTOM)
        return Axes.inside(self.rect(), rim, (-0.25, self.num_layers - 0.75), self._limits())

    @property
    def _names_width(self) -> float:
        """How much room the names beside the ends of the lines have."""
        metrics = QFontMetricsF(theme.ui_font(12))
        widest = max((metrics.horizontalAdvance(line.name) for line in self._lines), default=0.0)
        return min(widest + 14, self.width() * 0.4)

    def _limits(self) -> tuple[float, float]:
        """Return what the value axis covers: what there is, to the next tenths."""
        values = np.concatenate([line.values for line in self._lines])
        values = values[np.isfinite(values)]
        if not len(values):
            return 0.0, 1.0
        low, high = np.floor(values.min() * 10) / 10, np.ceil(values.max() * 10) / 10
        return float(low), float(high if high > low else low + 0.1)

    def target_at(self, at: QPointF) -> int | None:
        if self.is_empty or not self._axes.area.left() - 8 <= at.x() <= self._axes.area.right() + 8:
            return None
        return min(max(round(self._axes.across_at(at.x())), 0), self.num_layers - 1)

    def rect_of(self, target: int) -> QRectF:
        axes = self._axes
        return QRectF(axes.x_of(target), axes.area.top(), 0, axes.area.height())

    def after(self, event: QKeyEvent) -> int | None:
        way = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not way or self.is_empty:
            return None
        here = self.current if self.current is not None else self.num_layers - 1 - way
        return min(max(here + way, 0), self.num_layers - 1)

    def tip_of(self, target: int) -> str:
        return ""  # the bubble says it

    def can_choose(self, target: int) -> bool:
        return True

    def choose(self, target: int, event: QMouseEvent | QKeyEvent) -> None:
        self.layer_chosen.emit(target)

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        self._show_bubble()

    def current_changed(self) -> None:
        self._show_bubble()

    def _show_bubble(self) -> None:
        layer = None if self._saving else self.current
        self._bubble.setVisible(layer is not None)
        if layer is None:
            return
        self._bubble.setText(self.words_of(layer))
        self._bubble.adjustSize()
        line = self.rect_of(layer)
        x = line.x() + 12
        if x + self._bubble.width() > self.width() - 4:
            x -= self._bubble.width() + 24
        self._bubble.move(int(x), int(line.top()) + 4)
        self._bubble.raise_()

    def paint(self, painter: QPainter, area: QRectF) -> None:
        axes = self._axes
        ticks = round_ticks(*axes.up, max(2.0, axes.area.height() / 26), 0.1)
        axes.paint_up(painter, ((value, words.decimal(value, 1)) for value in ticks), edge=True)
        layers = round_ticks(*axes.across, max(2.0, axes.area.width() / 22), 1)
        axes.paint_across(painter, ((layer, words.number(layer)) for layer in layers), gap=4)
        axes.paint_name_across(painter, self.tr("layer (0: the embeddings)"), 21)
        now = None if self._saving else self.current
        for at, style in ((self._marked, Qt.PenStyle.DashLine), (now, Qt.PenStyle.SolidLine)):
            if at is not None:
                painter.setPen(QPen(theme.current().color("muted"), 1, style))
                upright_line(painter, axes.x_of(at), axes.area.top(), axes.area.bottom())
        for place, line in enumerate(self._lines):
            self._paint_line(painter, axes, place, line)
        self._paint_names(painter, axes)

    def _color(self, place: int) -> QColor:
        is_background = self._lines[place].is_background
        return theme.current().color("muted") if is_background else QColor(theme.category(place))

    def _paint_line(self, painter: QPainter, axes: Axes, place: int, line: LayerLine) -> None:
        known = np.flatnonzero(np.isfinite(line.values)).tolist()
        points = [axes.at(layer, float(line.values[layer])) for layer in known]
        style = Qt.PenStyle.DotLine if line.is_background else _DASHES[place % len(_DASHES)]
        paint_line(painter, points, self._color(place), 1.5 if line.is_background else 2.2, style)
        if len(points) <= MOST_DOTS and not line.is_background:
            paint_dots(painter, points, self._color(place), 3.5, 1)

    def _paint_names(self, painter: QPainter, axes: Axes) -> None:
        """Write each line's name at its end, apart from the others."""
        known = [line.values[np.isfinite(line.values)] for line in self._lines]
        ends = {place: axes.y_of(float(found[-1])) for place, found in enumerate(known) if len(found)}
        left, room = axes.area.right() + 6, self.width() - axes.area.right() - EDGE - 5
        rooms = name_rooms(axes.area, left, room, list(ends.values()))
        for place, spot in zip(ends, rooms, strict=True):
            name, color = self._lines[place].name, self._color(place)
            write(painter, spot, name, color, size=12, cut=Qt.TextElideMode.ElideRight)
