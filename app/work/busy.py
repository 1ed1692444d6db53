"""What goes on in the background, in words for the status bar."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class Busy(QObject):
    """The newest of what is under way, each by a key of its own."""

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.words = ""
        self._under_way: dict[str, str] = {}

    def show(self, key: str, words: str) -> None:
        """Say that something is under way, or how far it is."""
        self._under_way[key] = words
        self._tell()

    def end(self, key: str) -> None:
        """Say no more of it."""
        self._under_way.pop(key, None)
        self._tell()

    def _tell(self) -> None:
        words = next(reversed(self._under_way.values()), "")
        if words != self.words:
            self.words = words
            self.changed.emit(words)
