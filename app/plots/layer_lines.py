"""Values from layer to layer, the embeddings first: a few lines that end in their own names.

Lines differ in their dashes as well as in their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.labels import label
from app.plots.figure import Figure, Numbers

EDGE = 10.0
LEFT = 40.0  # px, the figures of the axis
FOOT = 36.0  # layers, and what they are
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
        theme.on_theme_change(self, self.update)

    def set_lines(self, lines: Sequence[LayerLine]) -> None:
        """Show some lines of the same layers."""
        self._lines = tuple(lines)
        self._go_to(None)
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

    def words_of(self, layer: int) -> str:
        """Return the values at a layer, a line each."""
        name = self.tr("Embeddings") if layer == 0 else self.tr("Layer {number}").format(number=layer)
        values = (f"{line.name} {words.decimal(float(line.values[layer]), 3)}" for line in self._lines)
        return "\n".join([name, *values])

    def sizeHint(self) -> QSize:
        return QSize(420, 240)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 140)

    # ---- the hand

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
            x = self._x(layer) + 12
            if x + self._bubble.width() > self.width() - 4:
                x -= self._bubble.width() + 24
            self._bubble.move(int(x), int(self._area().top()) + 4)
            self._bubble.raise_()
        self.update()

    # ---- geometry

    def _names_width(self) -> float:
        metrics = QFontMetricsF(theme.ui_font(12))
        widest = max((metrics.horizontalAdvance(line.name) for line in self._lines), default=0.0)
        return float(min(widest + 14, self.width() * 0.4))

    def _area(self) -> QRectF:
        width = self.width() - LEFT - EDGE - self._names_width()
        return QRectF(LEFT, EDGE, max(20.0, width), max(20.0, self.height() - EDGE - FOOT))

    def _limits(self) -> tuple[float, float]:
        """Return what the value axis covers: what there is, to the next tenths."""
        values = np.concatenate([line.values for line in self._lines])
        values = values[np.isfinite(values)]
        if not len(values):
            return 0.0, 1.0
        low, high = np.floor(values.min() * 10) / 10, np.ceil(values.max() * 10) / 10
        return float(low), float(high if high > low else low + 0.1)

    def _x(self, layer: float) -> float:
        area = self._area()
        return area.left() + area.width() * (layer + 0.25) / max(0.5, self.num_layers - 0.5)

    def _y(self, value: float) -> float:
        area, (low, high) = self._area(), self._limits()
        return area.bottom() - area.height() * (value - low) / (high - low)

    def _layer_at(self, position: QPointF) -> int | None:
        area = self._area()
        if not self._lines or not area.left() - 8 <= position.x() <= area.right() + 8:
            return None
        layers = [abs(self._x(layer) - position.x()) for layer in range(self.num_layers)]
        return int(np.argmin(layers))

    # ---- painting

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._lines:
            self._paint_axes(painter)
            for place, line in enumerate(self._lines):
                self._paint_line(painter, place, line)
            self._paint_names(painter)
        self.paint_frame(painter)
        painter.end()

    def _color(self, place: int) -> QColor:
        return (
            theme.current().color("muted")
            if self._lines[place].is_background
            else QColor(theme.category(place))
        )

    def _paint_axes(self, painter: QPainter) -> None:
        area, colors = self._area(), theme.current()
        low, high = self._limits()
        painter.setFont(theme.ui_font(11))
        count = round((high - low) * 10)
        step = next(size for size in (1, 2, 5, 10, 20) if count / size <= max(2, area.height() / 28))
        for tenth in range(0, count + 1, step):
            value = low + tenth / 10
            y = self._y(value)
            painter.setPen(QPen(colors.color("line"), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(colors.color("muted"))
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(0, y - 8, LEFT - 6, 16), right, words.decimal(value, 1))
        every = max(1, int(np.ceil(22 * self.num_layers / max(1.0, area.width()))))
        for layer in range(0, self.num_layers, every):
            place = QRectF(self._x(layer) - 20, area.bottom() + 3, 40, 15)
            painter.setPen(colors.color("text" if layer == self._marked else "muted"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(layer))
        foot = QRectF(area.left(), area.bottom() + 18, area.width(), 15)
        painter.setPen(colors.color("muted"))
        painter.drawText(foot, Qt.AlignmentFlag.AlignCenter, self.tr("layer (0: the embeddings)"))
        for at, style in ((self._marked, Qt.PenStyle.DashLine), (self._current, Qt.PenStyle.SolidLine)):
            if at is not None and not (self._saving and style == Qt.PenStyle.SolidLine):
                painter.setPen(QPen(colors.color("muted"), 1, style))
                painter.drawLine(QPointF(self._x(at), area.top()), QPointF(self._x(at), area.bottom()))

    def _paint_line(self, painter: QPainter, place: int, line: LayerLine) -> None:
        color = self._color(place)
        known = [layer for layer in range(self.num_layers) if np.isfinite(line.values[layer])]
        points = [QPointF(self._x(layer), self._y(float(line.values[layer]))) for layer in known]
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
        area = self._area()
        painter.setFont(theme.ui_font(12))
        metrics = QFontMetricsF(painter.font())
        ends = []
        for place, line in enumerate(self._lines):
            known = line.values[np.isfinite(line.values)]
            if len(known):
                ends.append((self._y(float(known[-1])), place))
        ends.sort()
        tops = [y for y, _place in ends]
        for i in range(1, len(tops)):
            tops[i] = max(tops[i], tops[i - 1] + NAME_GAP)
        over = max(0.0, tops[-1] - area.bottom()) if tops else 0.0
        for y, (_end, place) in zip(tops, ends, strict=True):
            room = self.width() - area.right() - EDGE - 2
            text = metrics.elidedText(self._lines[place].name, Qt.TextElideMode.ElideRight, room)
            painter.setPen(self._color(place))
            painter.drawText(
                QRectF(area.right() + 6, y - over - 9, room, 18), Qt.AlignmentFlag.AlignVCenter, text
            )
