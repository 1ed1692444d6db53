"""The pyqtgraph side of the pictures: one themed chart with axes, and the legend under it.

A chart never takes the keyboard or the menu; the figure around it does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGraphicsItem, QSizePolicy, QStyleOptionGraphicsItem, QWidget

from app import words
from app.look import theme
from app.plots.axes import AXIS_SIZE
from app.plots.strokes import painter_on

PERCENT_WIDTH = 50
MOST_PIXELS = 16_384
_PLAIN = re.compile(r"[-−]?\d+(\.\d+)?")
LEAST_RANGE = 0.02  # of the largest value; smaller differences are drawn as small as they are


class StepAxis(pg.AxisItem):  # type: ignore[misc]
    """Whole numbers with the locale's thousands separator."""

    def __init__(self) -> None:
        super().__init__("bottom")

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [words.number(value) if value == int(value) else "" for value in values]


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """Values, on a logarithmic axis as 0.1, 0.01, 1e-3."""

    def __init__(self) -> None:
        super().__init__("left")
        self.bounds: tuple[float, float] | None = None  # what values can be; no tick stands beyond
        self.in_percent = False

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        written: list[str] = super().tickStrings(values, scale, spacing)
        if self.in_percent:
            digits = max(0, -math.floor(math.log10(spacing * 100) + 1e-6)) if spacing > 0 else 0
            written = [words.share(round(value, digits + 2), digits) for value in values]  # 0, not 1e-17
        if self.bounds is None or self.logMode:
            return written
        low, high = self.bounds[0] - spacing / 1e6, self.bounds[1] + spacing / 1e6
        return [text if low <= value <= high else "" for text, value in zip(written, values, strict=True)]

    def generateDrawSpecs(self, painter: QPainter) -> Any:
        """Write all values of the axis with as many digits, for pyqtgraph counts them by kind of tick."""
        found = super().generateDrawSpecs(painter)
        if not found or self.logMode or self.in_percent:
            return found
        line, ticks, texts = found
        written = same_digits([text for _place, _flags, text in texts])
        return line, ticks, [(*text[:2], said) for text, said in zip(texts, written, strict=True)]

    def logTickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [words.scientific(float(10**value)) for value in values]


def same_digits(numbers: list[str]) -> list[str]:
    """Return numbers with as many digits after the point as the one that has most; others as they are."""
    plain = {text for text in numbers if _PLAIN.fullmatch(text)}
    most = max((len(text.partition(".")[2]) for text in plain), default=0)
    return [_with_digits(text, most) if text in plain else text for text in numbers]


def _with_digits(number: str, digits: int) -> str:
    whole, _point, rest = number.partition(".")
    return f"{whole}.{rest:0<{digits}}" if digits else whole


class ChartWidget(pg.PlotWidget):  # type: ignore[misc]
    """A plot with calm axes; x can be dragged and zoomed, y fits what is seen.

    With axes of its own it shows what `set_view` says, and the mouse reaches the figure around it.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, axisItems={"bottom": StepAxis(), "left": ValueAxis()}, enableMenu=False)
        for part in (self, self.viewport()):
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setFrameShape(self.Shape.NoFrame)
        self.setAntialiasing(True)
        self.hideButtons()
        menu = self.getPlotItem().ctrlMenu  # WORKAROUND: it has no parent, so it outlives the window
        menu.setParent(self, menu.windowFlags())
        self.setMouseEnabled(x=True, y=False)
        self.getViewBox().setDefaultPadding(0.03)
        self.getPlotItem().setContentsMargins(0, 6, 0, 0)  # half a tick's label stands above the axis
        self._drawings: list[QGraphicsItem] = []
        for side in ("left", "bottom"):
            axis = self.getAxis(side)
            axis.enableAutoSIPrefix(False)
            axis.setStyle(tickLength=-4 if side == "bottom" else 0, tickTextOffset=5)
        theme.on_theme_change(self, self._restyle)

    def add_curve(self, smooth: bool = True) -> pg.PlotDataItem:
        """Return a curve that is fast for a million points. clipToView must be set after creation."""
        curve = pg.PlotDataItem(connect="finite", antialias=smooth, useCache=False)
        self.addItem(curve)
        curve.setDownsampling(auto=True, method="peak")
        curve.setClipToView(True)
        return curve

    def add_line(self) -> pg.InfiniteLine:
        """Return a hidden vertical line."""
        line = pg.InfiniteLine(angle=90, movable=False)
        line.setPen(pg.mkPen(theme.current().muted, width=1, style=Qt.PenStyle.DashLine))
        line.hide()
        self.addItem(line, ignoreBounds=True)
        return line

    def add_drawing(self, draw: Callable[[QPainter], None]) -> QGraphicsItem:
        """Return what a figure paints over the axes, in this widget's pixels (see `x_of` and `y_of`).

        Its pens are as wide in a saved picture as on screen; pyqtgraph's own are always of so many dots.
        """
        drawing = _Drawing(draw)
        self.scene().addItem(drawing)
        self._drawings.append(drawing)
        return drawing

    def area(self) -> QRectF:
        """Return where values are drawn, in this widget's pixels."""
        return QRectF(self.getViewBox().sceneBoundingRect())

    def set_bounds(self, low: float, high: float) -> None:
        """Say what values are possible, so that the axis goes little beyond."""
        self.getAxis("left").bounds = (low, high)
        self.getViewBox().setLimits(yMin=low - 0.04 * (high - low), yMax=high + 0.04 * (high - low))

    def set_extent(self, last_step: float, largest: float) -> None:
        """Say how large steps and values are, so that one point, or equal ones, get an axis that can be read.

        Without it the axis shrinks to the last digit of a float, and steps before the first are shown.
        """
        least = math.log10(1 + LEAST_RANGE) if self.getAxis("left").logMode else LEAST_RANGE * (largest or 1)
        self.getViewBox().setLimits(xMin=-max(0.5, 0.04 * last_step), minXRange=1, minYRange=least)

    def set_log(self, is_log: bool) -> None:
        """Choose the value axis."""
        self.getPlotItem().setLogMode(False, is_log)

    def set_y_range(self, limits: tuple[float, float] | None) -> None:
        """Fix the value axis, or let it fit what is seen."""
        if limits:
            self.setYRange(*limits, padding=0.04)
        else:
            self.enableAutoRange(axis=pg.ViewBox.YAxis)

    def set_percent(self, is_share: bool = True) -> None:
        """Write shares as per cent, in room for the longest of them; other numbers as they are."""
        axis = self.getAxis("left")
        axis.in_percent = is_share
        axis.setWidth(PERCENT_WIDTH if is_share else None)
        axis.picture = None

    def show_all(self) -> None:
        """Take back every zoom of the steps."""
        self.enableAutoRange(axis=pg.ViewBox.XAxis)

    def zoom(self, factor: float, center: float | None) -> None:
        """Show more (above 1) or fewer steps around `center`."""
        middle = QPointF(center, 0) if center is not None else None
        self.getViewBox().scaleBy(x=factor, y=None, center=middle)

    def step_at(self, position: QPointF) -> float | None:
        """Return the x value under a scene position; None outside the plotted area."""
        box = self.getViewBox()
        return float(box.mapSceneToView(position).x()) if box.sceneBoundingRect().contains(position) else None

    def x_of(self, step: float) -> float:
        """Return where a step lies, in this widget's pixels."""
        return float(self.getViewBox().mapViewToScene(QPointF(step, 0)).x())

    def step_of(self, x: float) -> float:
        """Return the step at a pixel of this widget."""
        return float(self.getViewBox().mapSceneToView(QPointF(x, 0)).x())

    def y_of(self, value: float) -> float:
        """Return where a value lies, in this widget's pixels."""
        if self.getAxis("left").logMode:
            value = float(np.log10(value)) if value > 0 else 0.0
        return float(self.getViewBox().mapViewToScene(QPointF(0, value)).y())

    def _restyle(self) -> None:
        colors = theme.current()
        self.setBackground(colors.card)
        for side in ("left", "bottom"):
            axis = self.getAxis(side)
            axis.setPen(pg.mkPen(colors.line))
            axis.setTickPen(pg.mkPen(colors.line))
            axis.setTextPen(pg.mkPen(colors.muted))
            axis.setTickFont(theme.ui_font(AXIS_SIZE))
        for item in self.items():
            if isinstance(item, pg.InfiniteLine):
                item.setPen(pg.mkPen(colors.muted, width=1, style=Qt.PenStyle.DashLine))
        for item in self._drawings:
            item.update()


def color_curve(
    curve: pg.PlotDataItem,
    color: str | QColor,
    symbol_size: float,
    style: Qt.PenStyle = Qt.PenStyle.SolidLine,
) -> None:
    """Give a curve and its dots a colour; the dots have an edge of the card's."""
    curve.setPen(pg.mkPen(color, width=2, style=style))
    curve.setSymbolBrush(pg.mkBrush(color))
    curve.setSymbolPen(pg.mkPen(theme.current().card, width=1))
    curve.setSymbolSize(symbol_size)


class _Drawing(QGraphicsItem):
    """Paints over the whole of a chart."""

    def __init__(self, draw: Callable[[QPainter], None]) -> None:
        super().__init__()
        self._draw = draw

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, MOST_PIXELS, MOST_PIXELS)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        self._draw(painter)


class Legend(QWidget):
    """Names with a sample of their line; the name of the step axis stands at the right."""

    def __init__(self, axis: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[tuple[str, str, str]] = []
        self._axis = axis
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_entries(self, entries: list[tuple[str, str, str]]) -> None:
        """Show (name, colour, "line" | "thin" | "dot" | "box") from left to right."""
        self._entries = entries
        self.update()

    def set_axis(self, axis: str) -> None:
        """Name the step axis."""
        self._axis = axis
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.ui_font(12))
        muted, middle, x = theme.current().color("muted"), self.height() / 2, 4.0
        for name, color, sample in self._entries:
            _paint_sample(painter, QPointF(x, middle), QColor(color), sample)
            painter.setPen(muted)
            width = painter.fontMetrics().horizontalAdvance(name)
            painter.drawText(QRectF(x + 22, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, name)
            x += 22 + width + 14
        painter.setPen(muted)
        if x + painter.fontMetrics().horizontalAdvance(self._axis) + 6 > self.width():
            return
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(QRectF(0, 0, self.width() - 6, self.height()), right, self._axis)


def _paint_sample(painter: QPainter, at: QPointF, color: QColor, sample: str) -> None:
    if sample == "box":
        painter.fillRect(QRectF(at.x() + 2, at.y() - 5, 14, 10), color)
        return
    painter.setPen(QPen(color, 1 if sample == "thin" else 2))
    painter.drawLine(at, at + QPointF(16, 0))
    if sample == "dot":
        painter.setBrush(color)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(at + QPointF(8, 0), 4, 4)
