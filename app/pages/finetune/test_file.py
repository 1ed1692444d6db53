"""Which file a run is tested on at the end: none, one that the open table was compared with, or another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.files import ask_file
from app.look.labels import tip

SETTING = "test_data"


class TestFileBox(ChoiceBox):
    """Shows the file by its name. `changed` when a person has chosen another."""

    __test__ = False  # no test of pytest's

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(f"setting_{SETTING}", words.label_of(SETTING), parent)
        self.setToolTip(tip(words.tr_engine(words.settings()[SETTING].help)))
        self._path = ""
        self._offered: tuple[str, ...] = ()
        self.chosen.connect(self._take)
        self._fill()

    @property
    def path(self) -> str:
        """The file, "" for none."""
        return self._path

    def put(self, path: str) -> None:
        """Show this file."""
        self._path = path
        self._fill()

    def offer(self, paths: Sequence[Path]) -> None:
        """Offer files that were named elsewhere."""
        if (offered := tuple(map(str, paths))) != self._offered:
            self._offered = offered
            self._fill()

    def _fill(self) -> None:
        self.clear()
        self.add_choice(self.tr("None"), "")
        for path in dict.fromkeys(filter(None, (self._path, *self._offered))):
            self.add_choice(Path(path).name, path, path)
        self.add_action(self.tr("Choose a file…"), self._browse)
        self.setCurrentIndex(self.findData(self._path))

    def _browse(self) -> None:
        title, start = self.tr("A file to test on"), Path(self._path).parent if self._path else ""
        ask_file(self, title, self._take, name="path_dialog", start=start)

    def _take(self, path: str) -> None:
        self.put(path)
        self.changed.emit()
