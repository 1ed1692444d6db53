"""What the window remembers between two starts: typed access to one QSettings, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

NUM_RECENT = 10
TEXT_SIZES = (90, 100, 110, 125, 150)  # per cent


class AppSettings:
    """The person's settings; with a path, an .ini file of its own (tests and the demo)."""

    def __init__(self, path: Path | str | None = None) -> None:
        if path is None:
            self._store = QSettings("Cloze", "Cloze")
        else:
            self._store = QSettings(str(path), QSettings.Format.IniFormat)
        self.size_at_start = self.text_size  # another one is taken at the next start

    def sync(self) -> None:
        """Write now; otherwise Qt writes when the application ends."""
        self._store.sync()

    def value(self, key: str, default: Any) -> Any:
        """Return a page's own memory as the type of `default`; the default if missing or unreadable."""
        return self._read(f"pages/{key}", default)

    def set_value(self, key: str, value: Any) -> None:
        """Remember a str, int, float, bool or list of str for a page."""
        self._store.setValue(f"pages/{key}", value)

    @property
    def theme(self) -> str:
        value = self._read("theme", "system")
        return value if value in ("light", "dark", "contrast") else "system"

    @theme.setter
    def theme(self, value: str) -> None:
        self._store.setValue("theme", value)

    @property
    def language(self) -> str:
        """A language of `engine.language`; "" for the system's."""
        return str(self._read("language", ""))

    @language.setter
    def language(self, value: str) -> None:
        self._store.setValue("language", value)

    @property
    def text_size(self) -> int:
        """Per cent that words and all that is around them have of their usual size, one of `TEXT_SIZES`."""
        value = self._read("text_size", 100)
        return value if value in TEXT_SIZES else 100

    @text_size.setter
    def text_size(self, value: int) -> None:
        self._store.setValue("text_size", value)

    @property
    def runs_root(self) -> str:
        return str(self._read("runs_root", ""))

    @runs_root.setter
    def runs_root(self, value: str | Path) -> None:
        self._store.setValue("runs_root", str(value))

    @property
    def last_page(self) -> str:
        return str(self._read("last_page", ""))

    @last_page.setter
    def last_page(self, value: str) -> None:
        self._store.setValue("last_page", value)

    @property
    def recent_files(self) -> list[str]:
        return list(self._read("recent_files", []))

    @property
    def recent_models(self) -> list[str]:
        return list(self._read("recent_models", []))

    def add_recent_file(self, path: Path | str) -> None:
        """Put a file first in the list of recent files."""
        self._put_first("recent_files", str(path))

    def add_recent_model(self, path: Path | str) -> None:
        """Put a model folder first in the list of recent models."""
        self._put_first("recent_models", str(path))

    def forget_recent(self, path: Path | str) -> None:
        """Drop a path that is no longer there from both lists."""
        for key in ("recent_files", "recent_models"):
            self._store.setValue(key, [other for other in self._read(key, []) if other != str(path)])

    @property
    def geometry(self) -> bytes:
        return self._bytes("geometry")

    @geometry.setter
    def geometry(self, value: bytes) -> None:
        self._store.setValue("geometry", QByteArray(value))

    @property
    def window_state(self) -> bytes:
        return self._bytes("window_state")

    @window_state.setter
    def window_state(self, value: bytes) -> None:
        self._store.setValue("window_state", QByteArray(value))

    def _put_first(self, key: str, path: str) -> None:
        others = [other for other in self._read(key, []) if other != path]
        self._store.setValue(key, [path, *others][:NUM_RECENT])

    def _bytes(self, key: str) -> bytes:
        value = self._store.value(key)
        return bytes(value.data()) if isinstance(value, QByteArray) else b""

    def _read(self, key: str, default: Any) -> Any:
        """Return the stored value as the default's type: .ini files give everything back as text."""
        value = self._store.value(key)
        if value is None:
            return default
        if isinstance(default, list):
            return [str(item) for item in value] if isinstance(value, list) else [str(value)] if value else []
        if isinstance(default, bool):
            return value if isinstance(value, bool) else str(value).lower() == "true"
        try:
            return type(default)(value)
        except (TypeError, ValueError):
            return default
