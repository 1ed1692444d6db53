"""Pictures whose still part is painted once and kept, so that the pointer moves over it at no cost.

A child class paints its still part in `paint_still` and what follows the pointer in `paint_moving`. While it
is saved, the still part is painted straight into the file, so that its text stays text.
"""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QImage,
    QPaintEngine,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from app.look.columns import RIGHT
from app.look.zoom import zoom_of
from app.plots.attention_image import Picture, colored, ramp, shrink
from app.plots.pointed import PointedFigure
from app.plots.strokes import CENTER, paint_chip, paint_edge, painter_on, write

FINE = 1024  # pixels along a side of an image in a file that can be enlarged, at least
SCALE_WIDTH, SCALE_HEIGHT = 96.0, 8.0
SMALL = 11  # px of the figures at a scale


class LayeredFigure(PointedFigure):
    """Base of the attention pictures."""

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._still: QPixmap | None = None
        theme.on_theme_change(self, self.renew)

    def renew(self) -> None:
        """Paint the still part anew at the next chance."""
        self._still = None
        self.update()

    def paint_still(self, painter: QPainter) -> None:
        """Paint what does not follow the pointer; not called while the picture is empty."""
        raise NotImplementedError

    def paint_chosen(self, painter: QPainter) -> None:
        """Paint what was chosen by a click, over the still part; it is saved too."""

    def paint_moving(self, painter: QPainter) -> None:
        """Paint what follows the pointer or the keyboard; never saved."""
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.renew()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = painter_on(self)
        if not self.is_empty and self._saving:
            self.paint_still(painter)
            self.paint_chosen(painter)
        elif not self.is_empty:
            painter.drawPixmap(0, 0, self.still())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.paint_chosen(painter)
            self.paint_moving(painter)
        self.paint_frame(painter)
        painter.end()

    def still(self) -> QPixmap:
        """Return what does not follow the pointer, painted once for a size and a theme."""
        ratio = self.devicePixelRatioF() * zoom_of(self)
        wanted = (math.ceil(self.width() * ratio), math.ceil(self.height() * ratio))
        kept = self._still
        if kept is None or (kept.width(), kept.height()) != wanted or kept.devicePixelRatio() != ratio:
            kept = QPixmap(*wanted)
            kept.setDevicePixelRatio(ratio)
            kept.fill(Qt.GlobalColor.transparent)
            painter = painter_on(kept)
            self.paint_still(painter)
            painter.end()
            self._still = kept
        return kept


def colors_of(is_signed: bool) -> np.ndarray:
    """Return the 256 colours of weights, or of signed differences, in the theme in use."""
    colors = theme.current()
    return ramp(colors.card, colors.accent, colors.b if is_signed else "")


def level_color(level: int, is_signed: bool = False) -> QColor:
    """Return one colour of the ramp."""
    return QColor.fromRgb(int(colors_of(is_signed)[level]))


def paint_levels(painter: QPainter, rect: QRectF, levels: np.ndarray, is_signed: bool = False) -> None:
    """Paint (R, C) levels as even cells that fill `rect`; no peak is lost where cells are under a pixel."""
    on_device = painter.deviceTransform().mapRect(rect)
    if painter.paintEngine().type() == QPaintEngine.Type.Raster:
        levels = shrink(levels, round(on_device.height()), round(on_device.width()), is_signed=is_signed)
    else:  # viewers blur an image when they enlarge it, so each cell gets many pixels
        times = [max(1, math.ceil(FINE / side)) for side in levels.shape]
        levels = levels.repeat(times[0], axis=0).repeat(times[1], axis=1)
        painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)  # a PDF's JPEG would smear cells
    pixels = colored(levels, colors_of(is_signed))
    image = image_over(pixels)
    painter.drawImage(rect, image, QRectF(image.rect()))


def image_over(pixels: np.ndarray) -> QImage:
    """Return (h, w) uint32 pixels as an image without a copy; keep `pixels` as long as the image."""
    height, width = pixels.shape
    return QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)


def whole_pixels(painter: QPainter, rect: QRectF) -> QRectF:
    """Return `rect` with its edges on pixels of the screen, so that cells have sharp edges."""
    ratio = painter.device().devicePixelRatioF()
    left, top, right, bottom = (
        round(edge * ratio) / ratio for edge in (rect.left(), rect.top(), rect.right(), rect.bottom())
    )
    return QRectF(left, top, right - left, bottom - top)


def paint_scale(painter: QPainter, right: float, middle: float, picture: Picture) -> float:
    """Paint a bar of all colours with the values at its ends, and return where it begins.

    Args: right: where its last figure ends. middle: the height of its middle.
    """
    metrics = QFontMetrics(theme.ui_font(SMALL))
    low, high = value_words(picture.low, picture.is_signed), value_words(picture.high, picture.is_signed)
    top, height = middle - metrics.height() / 2, float(metrics.height())
    width = metrics.horizontalAdvance(high) + 2.0
    write(painter, QRectF(right - width, top, width, height), high, "muted", size=SMALL, side=RIGHT)
    long = min(SCALE_WIDTH, right * 0.16)  # in a narrow picture the words beside it need the room
    bar = QRectF(right - width - 6 - long, middle - SCALE_HEIGHT / 2, long, SCALE_HEIGHT)
    levels = np.arange(1 if picture.is_signed else 0, 256, dtype=np.uint8)[None, :]
    bar = whole_pixels(painter, bar)
    paint_levels(painter, bar, levels, picture.is_signed)
    paint_edge(painter, bar, "line")
    width = metrics.horizontalAdvance(low) + 2.0
    left = bar.left() - 6 - width
    write(painter, QRectF(left, top, width, height), low, "muted", size=SMALL, side=RIGHT)
    return left


def value_words(value: float, signed: bool = False) -> str:
    """Return a weight with as many digits as say something: 0.31, 0.042, 0.0017, 2e−6; signed +0.031."""
    if value == 0:
        return "0"
    if abs(value) < 5e-5:
        return words.scientific(value, 2).replace("-", "−")
    digits = min(5, max(2, 1 - math.floor(math.log10(abs(value))))) if abs(value) < 0.995 else 2
    written = words.decimal(abs(value), digits)
    return ("−" if value < 0 else "+" if signed else "") + written


def paint_label(painter: QPainter, rect: QRectF, text: str, fill: str, ink: str = "text") -> None:
    """Paint a word on a rounded ground, over whatever is there, in the painter's font."""
    paint_chip(painter, rect, fill)
    painter.setPen(theme.current().color(ink))
    painter.drawText(rect, CENTER, text)


def dashed_pen() -> QPen:
    """Return the pen of the lines between A and B."""
    pen = QPen(theme.current().color("text"), 1, Qt.PenStyle.CustomDashLine)
    pen.setDashPattern([3, 3])
    return pen
