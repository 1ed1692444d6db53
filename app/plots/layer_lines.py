"""Values from layer to layer, the embeddings first: a few lines that end in their own names.

Lines differ in their dashes as well as in their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import label
from app.look.layout import column
from app.plots.axes import Chart, RoundAxis, spread
from app.plots.figure import Figure, Numbers

EDGE = 10  # px
LEFT = 34  # px, the numbers of the axis
NAME_GAP = 15.0  # px between two names at the right
_DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine)


@dataclass(frozen=True, eq=False)
class LayerLine:
    """values: (L + 1,), NaN where there is none. is_background: drawn faint, as a measure for the others."""

    name: str
    values: np.ndarray
    is_background: bool = False


class LayerLinesPlot(Figure):
    """Lines over the layers of a model; a layer can be pointed at, walked to, and chosen."""

    layer_chosen = Signal(int)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._lines: tuple[LayerLine, ...] = ()
        self._current: int | None = None
        self._marked: int | None = None
        self._bubble = label("", "bubble", parent=self)
        self._bubble.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._bubble.hide()
        below = RoundAxis("bottom", words.number, apart=22, least=1)
        left = RoundAxis("left", partial(words.decimal, digits=1), apart=26, least=0.1, grid=True)
        left.setWidth(LEFT)
        self._chart = Chart(self, axes=(below, left))
        self._drawing = self._chart.add_drawing(self._paint)
        column((self._chart, 1), margins=3, parent=self)
        theme.on_theme_change(self, self._show)

    def set_lines(self, lines: Sequence[LayerLine]) -> None:
        """Show some lines of the same layers."""
        self._lines = tuple(lines)
        self._go_to(None)
        self._show()

    def set_marked(self, layer: int | None) -> None:
        """Mark the layer that other pictures show; emits nothing."""
        self._marked = layer
        self._drawing.update()

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

    def words_of(self, layer: int) -> str:
        """Return the values at a layer, a line each."""
        name = self.tr("Embeddings") if layer == 0 else self.tr("Layer {number}").format(number=layer)
        values = (f"{line.name} {words.decimal(float(line.values[layer]), 3)}" for line in self._lines)
        return "\n".join([name, *values])

    def sizeHint(self) -> QSize:
        return QSize(420, 240)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 140)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._go_to(self._layer_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        layer = self._layer_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and layer is not None:
            self.layer_chosen.emit(layer)
        super().mouseReleaseEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.hasFocus():
            self._go_to(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        way = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if way and self._lines:
            here = self._current if self._current is not None else self.num_layers - 1 - way
            self._go_to(min(max(here + way, 0), self.num_layers - 1))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if self._current is not None:
                self.layer_chosen.emit(self._current)
        else:
            super().keyPressEvent(event)

    def set_saving(self, saving: bool) -> None:
        super().set_saving(saving)
        if saving:
            self._go_to(None)

    def _go_to(self, layer: int | None) -> None:
        self._current = layer
        self._bubble.setVisible(layer is not None)
        if layer is not None:
            said = self.words_of(layer)
            self.setAccessibleDescription(said.replace("\n", ", "))
            self._bubble.setText(said)
            self._bubble.adjustSize()
            x = self._chart.x() + self._chart.x_of(layer) + 12
            if x + self._bubble.width() > self.width() - 4:
                x -= self._bubble.width() + 24
            self._bubble.move(int(x), int(self._chart.y() + self._chart.area().top()) + 4)
            self._bubble.raise_()
        self._drawing.update()

    def _show(self) -> None:
        self._chart.setVisible(not self.is_empty)
        if not self.is_empty:
            self._chart.set_view((-0.25, self.num_layers - 0.75), self._limits())
            self._chart.set_x_name(self.tr("layer (0: the embeddings)"))
            self._leave_room()
        self._drawing.update()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._leave_room()

    def _leave_room(self) -> None:
        """Leave room for the names beside the ends of the lines."""
        metrics = QFontMetricsF(theme.ui_font(12))
        widest = max((metrics.horizontalAdvance(line.name) for line in self._lines), default=0.0)
        room = min(widest + 14, self.width() * 0.4)
        self._chart.getPlotItem().setContentsMargins(0, EDGE, room + EDGE, 0)

    def _limits(self) -> tuple[float, float]:
        """Return what the value axis covers: what there is, to the next tenths."""
        values = np.concatenate([line.values for line in self._lines])
        values = values[np.isfinite(values)]
        if not len(values):
            return 0.0, 1.0
        low, high = np.floor(values.min() * 10) / 10, np.ceil(values.max() * 10) / 10
        return float(low), float(high if high > low else low + 0.1)

    def _layer_at(self, position: QPointF) -> int | None:
        at, area = position - self._chart.pos(), self._chart.area()
        if not self._lines or not area.left() - 8 <= at.x() <= area.right() + 8:
            return None
        return min(max(round(self._chart.step_of(at.x())), 0), self.num_layers - 1)

    def _paint(self, painter: QPainter) -> None:
        if not self._lines:
            return
        self._paint_marks(painter)
        for place, line in enumerate(self._lines):
            self._paint_line(painter, place, line)
        self._paint_names(painter)

    def _color(self, place: int) -> QColor:
        return (
            theme.current().color("muted")
            if self._lines[place].is_background
            else QColor(theme.category(place))
        )

    def _paint_marks(self, painter: QPainter) -> None:
        area = self._chart.area()
        for at, style in ((self._marked, Qt.PenStyle.DashLine), (self._current, Qt.PenStyle.SolidLine)):
            if at is not None:
                x = self._chart.x_of(at)
                painter.setPen(QPen(theme.current().color("muted"), 1, style))
                painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))

    def _paint_line(self, painter: QPainter, place: int, line: LayerLine) -> None:
        color = self._color(place)
        known = [layer for layer in range(self.num_layers) if np.isfinite(line.values[layer])]
        x_of, y_of = self._chart.x_of, self._chart.y_of
        points = [QPointF(x_of(layer), y_of(float(line.values[layer]))) for layer in known]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        style = Qt.PenStyle.DotLine if line.is_background else _DASHES[place % len(_DASHES)]
        painter.setPen(QPen(color, 1.5 if line.is_background else 2.2, style))
        painter.drawPolyline(points)
        painter.setPen(QPen(theme.current().color("card"), 1))
        painter.setBrush(color)
        for point in points if len(points) <= 30 and not line.is_background else ():
            painter.drawEllipse(point, 3.5, 3.5)

    def _paint_names(self, painter: QPainter) -> None:
        """Write each line's name at its end, apart from the others."""
        area = self._chart.area()
        painter.setFont(theme.ui_font(12))
        metrics, room = QFontMetricsF(painter.font()), self._chart.width() - area.right() - EDGE - 2
        known = [line.values[np.isfinite(line.values)] for line in self._lines]
        ends = {place: self._chart.y_of(float(found[-1])) for place, found in enumerate(known) if len(found)}
        places = spread(list(ends.values()), NAME_GAP, area.bottom())
        for place, y in zip(ends, places, strict=True):
            text = metrics.elidedText(self._lines[place].name, Qt.TextElideMode.ElideRight, room)
            painter.setPen(self._color(place))
            painter.drawText(QRectF(area.right() + 6, y - 9, room, 18), Qt.AlignmentFlag.AlignVCenter, text)
