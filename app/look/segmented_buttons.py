"""Buttons side by side of which one is down: the views of a card, the ways to read a picture.

Their object names are <name>_<key>. What is set from outside is not told; what a person presses is.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QLayout, QSizePolicy, QToolButton, QWidget

from app.look import theme
from app.look.boxes import ChoiceBox
from app.look.inputs import ToolButton
from app.look.layout import row
from app.look.widgets import named, set_role

LEAST_BOX, MOST_BOX = 96, 160  # px
ROOM = 20  # px around a word
MOST_FOLDS = 2  # of one change of size: one may lead to another


class SegmentedButtons(QWidget):
    """Buttons under one name; Tab reaches them, arrow keys move among them."""

    chosen = Signal(str)

    def __init__(
        self,
        name: str,
        entries: Sequence[tuple[str, str, str]],
        parent: QWidget | None = None,
        *,
        gap: int = 2,
        height: int = 0,
        is_wide: bool = False,
    ) -> None:
        """Args: entries: key, word, and what it shows in a sentence; the first is down. height: least, px.
        is_wide: together they take all the width there is, each as much where its word has room.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        for key, text, tool_tip in entries:
            entry = named(ToolButton(), f"{name}_{key}", tool_tip=tool_tip)
            entry.setText(text)
            entry.setCheckable(True)
            entry.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            entry.setMinimumHeight(height)
            set_role(entry, "toggle")
            entry.clicked.connect(self._pressed)
            if is_wide:
                entry.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            self._group.addButton(entry)
            self.buttons[key] = entry
        self._row = row(*((entry, int(is_wide)) for entry in self.buttons.values()), gap=gap, parent=self)
        self.set_current(entries[0][0])

    @property
    def current(self) -> str:
        """The key of the button that is down."""
        return next(key for key, entry in self.buttons.items() if entry.isChecked())

    def set_current(self, key: str) -> None:
        """Press a button; emits nothing."""
        self.buttons[key].setChecked(True)

    def _pressed(self) -> None:
        self.chosen.emit(self.current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entries = list(self.buttons.values())
        move = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        here = next((i for i, entry in enumerate(entries) if entry.hasFocus()), -1)
        if move and here >= 0:
            entry = entries[(here + move) % len(entries)]
            entry.setFocus(Qt.FocusReason.TabFocusReason)
            entry.click()
        else:
            super().keyPressEvent(event)


class FoldingButtons(SegmentedButtons):
    """The same, in whose place stands a box where a card is too narrow for all of them."""

    def __init__(
        self,
        name: str,
        accessible: str,
        entries: Sequence[tuple[str, str, str]],
        parent: QWidget | None = None,
        *,
        room: int = ROOM,
        to_left: bool = False,
        height: int = 0,
    ) -> None:
        """Args: accessible: of the box. room: around a word, in px. to_left: the box begins where they do.
        height: least, px.
        """
        self._is_folding = False
        self.box = ChoiceBox(f"{name}_box", accessible)
        super().__init__(name, entries, parent, gap=4, height=height)
        self._room = room
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        for key, text, _tool_tip in entries:
            self.box.addItem(text, key)
        self._row.insertStretch(len(entries) if to_left else 0)
        self._row.insertWidget(0 if to_left else -1, self.box, 1)
        self.box.activated.connect(self._activated)
        self.box.setMaximumWidth(MOST_BOX)
        self.box.hide()
        theme.on_theme_change(self, self._fit_words)

    def set_current(self, key: str) -> None:
        super().set_current(key)
        self.box.choose(key)

    def _pressed(self) -> None:
        self.set_current(self.current)
        super()._pressed()

    def _activated(self, index: int) -> None:
        self.set_current(str(self.box.itemData(index)))
        self._pressed()

    def _fit_words(self) -> None:
        """Make every button as wide as its word is, in the font that it is shown in."""
        for entry in self.buttons.values():
            entry.ensurePolished()
            entry.setFixedWidth(entry.fontMetrics().horizontalAdvance(entry.text()) + self._room)
        self.updateGeometry()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_words()

    def sizeHint(self) -> QSize:
        widths = [entry.minimumWidth() for entry in self.buttons.values()]
        height = max(widget.sizeHint().height() for widget in (self.box, *self.buttons.values()))
        return QSize(sum(widths) + self._row.spacing() * (len(widths) - 1), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_BOX, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_folding:  # what is shown or hidden below may resize this at once
            return
        self._is_folding = True
        for _ in range(MOST_FOLDS):
            is_tight = self.width() < self.sizeHint().width()
            if is_tight == self.box.isVisibleTo(self):
                break
            self.box.setVisible(is_tight)
            for entry in self.buttons.values():
                entry.setVisible(not is_tight)
        self._is_folding = False
