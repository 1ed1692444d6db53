"""Boxes and sliders whose value the mouse wheel changes only while they have the keyboard.

Qt's own are given the keyboard by the wheel itself, so that scrolling a form would change whatever lies under
the pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSlider, QSpinBox, QWidget

if TYPE_CHECKING:
    Base = QWidget
else:
    Base = object  # PySide takes one Qt class only; what is mixed in beside it must not be another


class WheelNeedsFocus(Base):
    """What all of them share: a click or Tab gives the keyboard, and only then the wheel changes a value."""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Polish and self.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return bool(super().event(event))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()  # the page scrolls instead


class SpinBox(WheelNeedsFocus, QSpinBox):
    """A whole number."""


class DoubleSpinBox(WheelNeedsFocus, QDoubleSpinBox):
    """A number with decimals."""


class ComboBox(WheelNeedsFocus, QComboBox):
    """One of several."""


class Slider(WheelNeedsFocus, QSlider):
    """A value between two bounds."""
