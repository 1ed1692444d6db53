"""The keys of the Label page in a line; each is a button, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.look.inputs import ToolButton
from app.look.layout import STRETCH, row
from app.look.widgets import named, set_role

KeyOf = tuple[str, str, str, Callable[[], object]]  # its name, the key, what it does, and what does it


class KeysLine(QWidget):
    """Buttons that say a key and what it does; the last ones give way where there is no room."""

    def __init__(self, keys: Sequence[KeyOf], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("label_keys")
        self.buttons = list[ToolButton]()
        for name, key, said, call in keys:
            made = named(ToolButton(), f"label_key_{name}", said)
            made.setText(f"{key}\N{EN SPACE}{said}")
            made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            made.clicked.connect(call)
            set_role(made, "corner")
            self.buttons.append(made)
        row(*self.buttons, STRETCH, gap=0, parent=self)
        self.setMinimumWidth(100)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = event.size().width()
        for each in self.buttons:
            room -= each.sizeHint().width()
            each.setVisible(room >= 0)
