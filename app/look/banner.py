"""One calm line over a page: something went wrong or is offered; it never blocks what is below."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from app.look.labels import label
from app.look.layout import row
from app.look.widgets import CARD_X, LevelMark, button, icon_button, set_role


class Banner(QFrame):
    """A mark, a sentence, at most two actions and a way to close it. Hidden until `show_text`."""

    closed = Signal()

    def __init__(self, parent: QWidget | None = None, *, name: str = "banner") -> None:
        super().__init__(parent)
        self.setObjectName(name)
        set_role(self, "card")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._text = label("", wrap=True, name=f"{name}_text")
        self._close = icon_button(
            "close", self.tr("Close"), role="", name=f"{name}_close", call=self._dismiss
        )
        self._layout = row((self._text, 1), self._close, gap=10, margins=(CARD_X, 8, 8, 8), parent=self)
        self._parts: list[QWidget] = []
        self.hide()

    def text(self) -> str:
        """Return the sentence that is shown; empty when hidden."""
        return "" if self.isHidden() else self._text.text()

    def show_text(
        self,
        level: str,
        text: str,
        actions: Sequence[tuple[str, Callable[[], None]]] = (),
        *,
        closable: bool = True,
    ) -> None:
        """Show a sentence of a level; the first action is the one to recommend."""
        for part in self._parts:
            self._layout.removeWidget(part)
            part.hide()
            part.deleteLater()
        mark = LevelMark(level, self)
        self._layout.insertWidget(0, mark, 0, Qt.AlignmentFlag.AlignVCenter)
        self._parts = [mark]
        for number, (words, call) in enumerate(actions):
            action = button(words, parent=self, name=f"{self.objectName()}_action_{number + 1}")
            action.clicked.connect(call)
            self._layout.insertWidget(2 + number, action)
            self._parts.append(action)
        self._text.setText(text)
        self._close.setVisible(closable)
        self.setAccessibleName(text)
        self.show()

    def change_text(self, text: str) -> None:
        """Say something else beside the same mark and actions."""
        self._text.setText(text)
        self.setAccessibleName(text)

    def _dismiss(self) -> None:
        self.hide()
        self.closed.emit()
