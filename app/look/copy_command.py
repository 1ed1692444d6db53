"""The button that copies a command: what the window just did, for a terminal."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.look.inputs import PushButton
from app.look.labels import tip
from app.look.widgets import show_icon

COPIED_MS = 1_500
COPY_KEYS = "Ctrl+Shift+C"  # on every page that has a command


class CopyCommandButton(PushButton):
    """Puts a command on the clipboard, and says so (`copied`). Its place is the menus of the header."""

    copied = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, autoDefault=False)
        self.setObjectName("copy_command")
        self.setProperty("copies", True)
        self._asked: list[str] | None = None  # what would be copied, where only that is asked
        show_icon(self, "copy")
        self._said = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._said.timeout.connect(self.rest)
        self.rest()

    def copy(self, command: str) -> None:
        """Copy a command."""
        if self._asked is not None:
            self._asked.append(command)
            return
        QGuiApplication.clipboard().setText(command)
        self.setText(self.tr("Copied"))
        self._said.start()
        self.copied.emit(self.text())

    def line(self) -> str:
        """Return the command that would be copied now; "" where there is none."""
        if not self.isEnabled() or self.isHidden():
            return ""
        self._asked = []
        try:
            self.clicked.emit()
            return "".join(self._asked[-1:])
        finally:
            self._asked = None

    def offer(self, lacking: str, said: str = "") -> None:
        """Be there to press, or say in the tooltip what a command lacks. Args: said: of what it does."""
        self.setEnabled(not lacking)
        self.setToolTip(tip(lacking or said))

    def rest(self) -> None:
        """Say what it does, at once."""
        self._said.stop()
        self.setText(self.tr("Copy as command"))
