"""A widget as a picture file: PNG, SVG or PDF at a chosen width, written beside and renamed."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPoint, QRect, QSize, QSizeF
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from app import words
from app.look import theme
from engine.errors import UserError

KINDS = (".png", ".svg", ".pdf")
SCREEN_DPI = 96  # one pixel on screen is 1/96 inch
MM = 25.4  # an inch
MOST_PIXELS = 20_000  # wide or high
# characters that XML may not hold, as UTF-8: controls, halves of characters, and two that are none
_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xed[\xa0-\xbf][\x80-\xbf]|\xef\xbf[\xbe\xbf]")


def file_stem(title: str) -> str:
    """Return a title as the name of a file."""
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split()) or "figure"


def screen_width_mm(widget: QWidget) -> float:
    """Return how wide a widget is on a screen of 96 dots an inch."""
    return widget.width() / SCREEN_DPI * MM


def pixel_size(widget: QWidget, width_mm: float | None, dpi: int) -> QSize:
    """Return how many pixels a PNG of this width has."""
    width = round((screen_width_mm(widget) if width_mm is None else width_mm) / MM * dpi)
    width = max(1, min(width, MOST_PIXELS))
    return QSize(width, max(1, min(round(width * widget.height() / max(1, widget.width())), MOST_PIXELS)))


def picture_bytes(widget: QWidget, kind: str, width_mm: float | None, dpi: int) -> bytes:
    """Return a widget as the bytes of a ".png", ".svg" or ".pdf" file."""
    if kind == ".png":
        return _png(widget, pixel_size(widget, width_mm, dpi))
    scale = 1.0 if width_mm is None else width_mm / screen_width_mm(widget)
    return _svg(widget, scale) if kind == ".svg" else _pdf(widget, scale)


def write_file(path: Path, data: bytes) -> None:
    """Write a file in the place of an older one, never half. Raises: UserError if it cannot be written."""
    beside = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UserError(
            words.translate("figure", "{path} cannot be written: {reason}. Choose another place."),
            path=path,
            reason=error.strerror or str(error),
        ) from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _png(widget: QWidget, size: QSize) -> bytes:
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(size.width() / max(1, widget.width()))
    painter = QPainter(image)
    _render(widget, painter)
    painter.end()
    buffer = _buffer()
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # PySide's stub wants bytes, the call wants text
    return bytes(buffer.data().data())


def _svg(widget: QWidget, scale: float) -> bytes:
    buffer = _buffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(SCREEN_DPI)
    generator.setSize((QSizeF(widget.size()) * scale).toSize())
    generator.setViewBox(QRect(QPoint(), widget.size()))
    generator.setTitle(widget.accessibleName())
    painter = QPainter(generator)
    _render(widget, painter)
    painter.end()
    return _NOT_IN_XML.sub(b"", bytes(buffer.data().data()))  # Qt writes what people's texts hold


def _pdf(widget: QWidget, scale: float) -> bytes:
    buffer = _buffer()
    writer = QPdfWriter(buffer)
    writer.setResolution(SCREEN_DPI)
    points = QSizeF(widget.size()) * (0.75 * scale)
    writer.setPageSize(QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(), QPageLayout.Unit.Point)
    writer.setTitle(widget.accessibleName())
    painter = QPainter(writer)
    painter.scale(scale, scale)
    _render(widget, painter)
    painter.end()
    return bytes(buffer.data().data())


def _render(widget: QWidget, painter: QPainter) -> None:
    painter.fillRect(QRect(QPoint(), widget.size()), theme.current().color("card"))
    widget.render(painter, QPoint(), renderFlags=QWidget.RenderFlag.DrawChildren)


def _buffer() -> QBuffer:
    buffer = QBuffer()
    buffer.setData(QByteArray())
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return buffer
