"""Taking pictures of the window, and judging what is on them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget

from app.look import theme
from app.look.labels import ElidedLabel
from app.main_window import MainWindow

FOLDER = Path(__file__).parent / "artefacts"
SIZES = {"": QSize(1280, 800), "-small": QSize(1024, 640)}


def picture(window: MainWindow, name: str, size: str = "") -> dict[str, QImage]:
    """Leave the window as it is in both themes; return the pictures."""
    FOLDER.mkdir(exist_ok=True)
    window.resize(SIZES[size])
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    found = {}
    for mode in ("light", "dark"):
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
    scale, corner = image.devicePixelRatio(), widget.mapTo(window, QPoint(0, 0))
    hits = total = 0
    for x in range(0, widget.width(), 2):
        for y in range(0, widget.height(), 2):
            seen = image.pixelColor(int((corner.x() + x) * scale), int((corner.y() + y) * scale))
            distance = (
                abs(seen.red() - color.red())
                + abs(seen.green() - color.green())
                + abs(seen.blue() - color.blue())
            )
            hits += distance < 40
            total += 1
    return hits / total
