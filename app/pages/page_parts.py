"""Small parts that the Fine-tune and the Predict page share; they know no session and no page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app import theme
from app.plots.figure import Figure

WIDEST_LIST = 640  # px


class ChoiceBox(QComboBox):
    """A box for names of any length: its text is elided, not cut, and its list is as wide as its entries."""

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

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        text = option.currentText or self.placeholderText()
        option.currentText = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, field.width())
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


def save_icon(plot: Figure) -> QToolButton:
    """Return a picture's "Save…" menu as an icon, for the corner of a small card."""
    result = plot.save_button()
    result.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    theme.on_theme_change(result, lambda: result.setIcon(theme.icon("save", "muted")))
    return result


def yield_to_layout(plot: Figure, least_height: int) -> None:
    """Let a picture take the room there is, whatever it would like to have."""
    plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
    plot.setMinimumSize(120, least_height)
