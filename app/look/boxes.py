"""Boxes to choose from: what does not fit is elided, and the list is as wide as its entries."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from app.look.inputs import ComboBox

WIDEST_LIST = 640  # px


class ElidedBox(ComboBox):
    """A box for texts of any length: what is shown is elided, not cut off."""

    def elide_mode(self) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideRight

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        text = option.currentText or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(text, self.elide_mode(), field.width())
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class ChoiceBox(ElidedBox):
    """A box for names of any length: its list is as wide as its entries."""

    def __init__(self, name: str, accessible: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumContentsLength(6)

    def showPopup(self) -> None:
        wanted = self.view().sizeHintForColumn(0) + 40
        self.view().setMinimumWidth(max(self.width(), min(WIDEST_LIST, wanted)))
        super().showPopup()

    def elide_mode(self) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideMiddle
