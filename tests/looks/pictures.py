"""Taking pictures of the window, and judging what is on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from app.look import theme
from app.look.labels import ElidedLabel
from app.main_window import MainWindow

FOLDER = Path(__file__).parent / "artefacts"
SIZES = {"": QSize(1280, 800), "-small": QSize(1024, 640)}


def picture(window: MainWindow, name: str, size: str = "") -> dict[str, QImage]:
    """Leave the window as it is in both themes, the one it has first; return the pictures."""
    FOLDER.mkdir(exist_ok=True)
    window.resize(SIZES[size])
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    found = {}
    here = theme.current().name
    for mode in (here, "dark" if here == "light" else "light"):
        if mode != theme.current().name:  # to paint a window anew takes longer than all the rest
            theme.apply_theme(application, mode)
        for plot in window.findChildren(QWidget):
            if hasattr(plot, "flush"):
                plot.flush()
        application.processEvents()
        found[mode] = window.grab().toImage()
        found[mode].save(str(FOLDER / f"{name}{size}-{mode}.png"))
    return found


def clipped(window: MainWindow) -> list[str]:
    """Return the buttons and labels on screen whose text has not the room it needs."""
    found = []
    for widget in window.findChildren(QWidget):
        if not isinstance(widget, QLabel | QAbstractButton) or not widget.isVisible() or not widget.text():
            continue
        needed = widget.minimumSizeHint()
        narrow = not isinstance(widget, ElidedLabel) and widget.width() < needed.width()
        if narrow or widget.height() + 1 < min(needed.height(), widget.fontMetrics().height()):
            found.append(f"{type(widget).__name__} {widget.objectName()} {widget.text()!r} {widget.size()}")
    return found


def share_of(image: QImage, widget: QWidget, window: QWidget, color: QColor) -> float:
    """Return the share of a widget's pixels that have nearly this colour."""
    image, corner = image.convertToFormat(QImage.Format.Format_RGB32), widget.mapTo(window, QPoint(0, 0))
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1, 4)
    columns, rows = (
        ((start + np.arange(0, length, 2)) * image.devicePixelRatio()).astype(int)
        for start, length in ((corner.x(), widget.width()), (corner.y(), widget.height()))
    )
    seen = pixels[np.ix_(rows, columns)][..., :3].astype(int)
    wanted = (color.blue(), color.green(), color.red())  # as they lie in memory
    return float((np.abs(seen - wanted).sum(-1) < 40).mean())
