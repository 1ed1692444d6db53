"""Boxes and buttons without three habits of Qt's own.

The wheel gives them the keyboard, so that scrolling a form would change whatever lies under the pointer. A
file that is dropped on a box for text becomes its address, where a person wants to open it. Enter does
nothing on a button that has the keyboard.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QSpinBox,
    QToolButton,
    QWidget,
)

from app.look.direction import is_right_to_left

AROUND = 24  # px around the words of a line

if TYPE_CHECKING:
    Base = QWidget
    ButtonBase = QAbstractButton
else:  # PySide takes one Qt class only; what is mixed in beside it must not be another
    Base = ButtonBase = object


class WheelNeedsFocus(Base):
    """What all of them share: a click or Tab gives the keyboard, and only then the wheel changes a value."""

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Polish and self.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            for line in self.findChildren(QLineEdit):
                line.setAcceptDrops(False)  # a number is typed
        return bool(super().event(event))

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()  # the page scrolls instead


class LeavesFiles(Base):
    """What boxes for text share: text can be dropped on them, files are left to what they stand on."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if has_files(event):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if has_files(event):
            event.ignore()
        else:
            super().dragMoveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        if has_files(event):
            event.ignore()
        else:
            super().dropEvent(event)


def has_files(event: QDropEvent) -> bool:
    """Whether files are dragged."""
    return any(url.isLocalFile() for url in event.mimeData().urls())


class LineEdit(LeavesFiles, QLineEdit):
    """A line of text, as wide as what stands there while it is empty."""

    def sizeHint(self) -> QSize:
        said = self.fontMetrics().horizontalAdvance(self.placeholderText())
        return super().sizeHint().expandedTo(QSize(said + AROUND, 0))


class EnteredLine(LineEdit):
    """A line of text whose Enter is its own: Qt would pass it on to the page, where it is another key."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()


class TextEdit(LeavesFiles, QPlainTextEdit):
    """Lines of text, at the side where its first one begins."""

    def __init__(self, *arguments: Any, **properties: Any) -> None:
        super().__init__(*arguments, **properties)
        self.document().contentsChanged.connect(self._set_side)  # told even where the box says nothing
        self._set_side()

    def _set_side(self) -> None:
        option, is_turned = self.document().defaultTextOption(), is_right_to_left([self.toPlainText()])
        side = Qt.AlignmentFlag.AlignRight if is_turned else Qt.AlignmentFlag.AlignLeft
        if option.alignment() != side:
            option.setAlignment(side)
            self.document().setDefaultTextOption(option)


class PressedByEnter(ButtonBase):
    """What buttons share: Enter presses the one that has the keyboard, as the space bar does."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_enter or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self.click()


class PushButton(PressedByEnter, QPushButton):
    """A button with words."""


class ToolButton(PressedByEnter, QToolButton):
    """A button with a picture, or one of several."""


class SpinBox(WheelNeedsFocus, QSpinBox):
    """A whole number."""


class DoubleSpinBox(WheelNeedsFocus, QDoubleSpinBox):
    """A number with decimals."""


class ComboBox(WheelNeedsFocus, QComboBox):
    """One of several."""

    def choose(self, data: object, *, or_first: bool = False) -> None:
        """Show the entry with this data, else none. Args: or_first: the first one where none has it."""
        place = self.findData(data)
        self.setCurrentIndex(max(0, place) if or_first else place)


class Slider(WheelNeedsFocus, QSlider):
    """A value between two bounds."""
