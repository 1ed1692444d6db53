"""A row of buttons of which one is down: the views of a card. Where there is no room, a box with the same."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLayout, QSizePolicy, QToolButton, QWidget

from app.look import theme
from app.look.boxes import ChoiceBox
from app.look.widgets import set_role

LEAST_BOX, MOST_BOX = 96, 160  # px
ROOM = 20  # px around a word


class Toggles(QWidget):
    """Buttons under one name; Tab reaches them, arrow keys move among them. Object names: <name>_<key>."""

    chosen = Signal(str)

    def __init__(
        self,
        name: str,
        accessible: str,
        entries: Sequence[tuple[str, str, str]],
        parent: QWidget | None = None,
        *,
        room: int = ROOM,
        to_left: bool = False,
    ) -> None:
        """Args: entries: key, word, and what it shows in a sentence. room: around a word, in px.
        to_left: the box that stands for the buttons in a narrow card begins where they do.
        """
        super().__init__(parent)
        self._room = room
        self.setObjectName(name)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        self.box = ChoiceBox(f"{name}_box", accessible)
        for key, text, tip in entries:
            self._add(name, key, text, tip)
        self._row.insertStretch(len(entries) if to_left else 0)
        self._row.insertWidget(0 if to_left else -1, self.box, 1)
        self.box.activated.connect(self._activated)
        self.box.setMaximumWidth(MOST_BOX)
        self.box.hide()
        self.set_current(entries[0][0])
        theme.on_theme_change(self, self._fit_words)

    def _add(self, name: str, key: str, text: str, tip: str) -> None:
        entry = QToolButton()
        entry.setText(text)
        entry.setToolTip(tip)
        entry.setCheckable(True)
        entry.setObjectName(f"{name}_{key}")
        entry.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_role(entry, "toggle")
        entry.clicked.connect(lambda: self._clicked(key))
        self._group.addButton(entry)
        self.buttons[key] = entry
        self._row.addWidget(entry)
        self.box.addItem(text, key)

    def _fit_words(self) -> None:
        """Make every button as wide as its word is, in the font that it is shown in."""
        for entry in self.buttons.values():
            entry.ensurePolished()
            entry.setFixedWidth(entry.fontMetrics().horizontalAdvance(entry.text()) + self._room)
        self.updateGeometry()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_words()

    @property
    def current(self) -> str:
        """The key of the button that is down."""
        return next(key for key, entry in self.buttons.items() if entry.isChecked())

    def set_current(self, key: str) -> None:
        """Press a button; emits nothing."""
        self.buttons[key].setChecked(True)
        self.box.setCurrentIndex(self.box.findData(key))

    def _clicked(self, key: str) -> None:
        self.set_current(key)
        self.chosen.emit(key)

    @Slot(int)
    def _activated(self, index: int) -> None:
        self._clicked(str(self.box.itemData(index)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = list(self.buttons)
        move = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        here = next((i for i, key in enumerate(keys) if self.buttons[key].hasFocus()), -1)
        if move and here >= 0:
            entry = self.buttons[keys[(here + move) % len(keys)]]
            entry.setFocus(Qt.FocusReason.TabFocusReason)
            entry.click()
        else:
            super().keyPressEvent(event)

    # ---- in little room

    def sizeHint(self) -> QSize:
        widths = [entry.minimumWidth() for entry in self.buttons.values()]
        height = max(widget.sizeHint().height() for widget in (self.box, *self.buttons.values()))
        return QSize(sum(widths) + self._row.spacing() * (len(widths) - 1), height)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_BOX, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_tight = event.size().width() < self.sizeHint().width()
        if is_tight != self.box.isVisibleTo(self):
            self.box.setVisible(is_tight)
            for entry in self.buttons.values():
                entry.setVisible(not is_tight)
