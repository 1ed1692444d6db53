"""Boxes to choose from: what does not fit is elided, and the list is as wide as its entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QDir, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOptionComboBox, QStylePainter, QWidget

from app.look.inputs import ComboBox
from app.look.labels import tip

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
    """A box for names of any length: its list is as wide as its entries.

    An entry may be an action, such as "Choose a folder…": the choice stays, whatever it does.
    Args: entries: words and data of the choices. width: px that it has whatever it shows, 0 for any.
    """

    chosen = Signal(object)  # the data of what a person chose

    def __init__(
        self,
        name: str,
        accessible: str,
        parent: QWidget | None = None,
        *,
        entries: Iterable[tuple[str, object]] = (),
        width: int = 0,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumContentsLength(6)
        if width:
            self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            self.setFixedWidth(width)
        self._actions: dict[int, Callable[[], object]] = {}  # by their places, at the end of the list
        self._kept = -1  # the choice
        self.currentIndexChanged.connect(self._moved)
        self.activated.connect(self._activated)
        for text, data in entries:
            self.addItem(text, data)

    def add_choice(self, text: str, data: object, path: str | Path = "") -> None:
        """Add an entry. Args: path: where it lies, shown where the mouse rests."""
        self.addItem(text, data)
        if path:
            native = tip(QDir.toNativeSeparators(str(path)))
            self.setItemData(self.count() - 1, native, Qt.ItemDataRole.ToolTipRole)

    def add_action(self, text: str, call: Callable[[], object]) -> None:
        """Add an entry that is no choice but does something."""
        self._actions[self.count()] = call
        self.addItem(text)

    def clear(self) -> None:
        self._actions.clear()
        super().clear()

    def _moved(self, place: int) -> None:
        if place not in self._actions:
            self._kept = place

    def _activated(self, place: int) -> None:
        call = self._actions.get(place)
        if call is None:
            self.chosen.emit(self.itemData(place))
        else:
            self.setCurrentIndex(self._kept)
            call()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from choice to choice; an action is chosen in the opened list, where one sees it."""
        last = min(self._actions, default=self.count()) - 1
        downward = (Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_End)
        is_plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        may_end = is_plain and event.key() in downward and self._actions and last >= 0
        if not may_end or (event.key() == Qt.Key.Key_Down and self.currentIndex() < last):
            super().keyPressEvent(event)
        elif self.currentIndex() < last:
            self.setCurrentIndex(last)
            self.activated.emit(last)

    def showPopup(self) -> None:
        wanted = self.view().sizeHintForColumn(0) + 40
        self.view().setMinimumWidth(max(self.width(), min(WIDEST_LIST, wanted)))
        super().showPopup()

    def elide_mode(self) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideMiddle
