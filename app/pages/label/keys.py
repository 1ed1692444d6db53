"""The keys of the Label page, each declared once: what it is, what it does, and its button in a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.look.inputs import ToolButton
from app.look.widgets import named, set_role

MOST_LINES = 2
ENTER = "Return", "Enter"


@dataclass(frozen=True, slots=True)
class PageKey:
    """A key. name: of its button. shown, said: the key, and what it does in a word; "": it has no button.

    keys: as `pressed` names them; none: somebody else hears them. is_repeated: whether it goes on while held.
    """

    name: str
    shown: str
    said: str
    call: Callable[[], object]
    keys: tuple[str, ...] = ()
    is_repeated: bool = False


def pressed(event: QKeyEvent) -> set[str]:
    """Return what a key is called: "Shift+Space", or the mark that it writes on this keyboard."""
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    combined = QKeySequence(held.value | event.key()).toString(QKeySequence.SequenceFormat.PortableText)
    return {combined, *(mark for mark in event.text() if not mark.isalnum() and mark.isprintable())} - {" "}


def press(keys: Sequence[PageKey], event: QKeyEvent) -> bool:
    """Do what a key does; False where it is none of these."""
    names = pressed(event)
    found = next((one for one in keys if not names.isdisjoint(one.keys)), None)
    if found is not None and (found.is_repeated or not event.isAutoRepeat()):
        found.call()
    return found is not None


class KeysLine(QWidget):
    """Buttons that say a key and what it does, in one line or two; what has no room there gives way."""

    def __init__(self, name: str = "label", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setObjectName(f"{name}_keys")
        self.buttons = list[ToolButton]()
        self.setMinimumWidth(100)

    def show_keys(self, keys: Sequence[PageKey]) -> None:
        """Show the keys that have a word, in the place of those before."""
        for each in self.buttons:
            each.hide()
            each.deleteLater()
        self.buttons = [self._made(key) for key in keys if key.said]
        self._fit(self.width())

    def _made(self, key: PageKey) -> ToolButton:
        made = named(ToolButton(self), f"{self._name}_key_{key.name}", key.said)
        made.setText(f"{key.shown}\N{EN SPACE}{key.said}")
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.clicked.connect(key.call)
        set_role(made, "corner")
        return made

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit(event.size().width())

    def _fit(self, width: int) -> None:
        line = left = 0
        height = max((each.sizeHint().height() for each in self.buttons), default=0)
        for each in self.buttons:
            wanted = each.sizeHint().width()
            if left and left + wanted > width:
                line, left = line + 1, 0
            each.setVisible(line < MOST_LINES)
            each.setGeometry(left, line * height, wanted, height)
            left += wanted
        self.setFixedHeight(height * min(line + 1, MOST_LINES))
