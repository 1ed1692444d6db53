"""The sheets of a run's validation and test file, offered where one of them is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from app.form.form import SettingsForm
from app.session import Session
from app.work.worker import Channel
from engine.text.table import table_head

SHEETS = {"validation_data": "validation_sheet", "test_data": "test_sheet"}  # settings: of a file, its sheet


class PartSheets(QObject):
    """Fills the choices of sheets in a form; one that was chosen stays among them, though no file has it."""

    def __init__(self, session: Session, form: SettingsForm) -> None:
        super().__init__(form)
        self._form = form
        self._offered = dict.fromkeys(SHEETS, tuple[str, ...]())
        self._asked = {file: Channel(self, session.workers.files) for file in SHEETS}

    def offer(self, files: Mapping[str, object]) -> None:
        """Offer the sheets of files. Args: files: by their setting; "": there is none."""
        for file, channel in self._asked.items():
            path = Path(str(files[file]))
            if not files[file] or not path.is_file():
                channel.drop()
                self._put(file, ())
                continue
            heard = partial(self._put, file)
            channel.ask(
                (path, path.stat().st_mtime_ns), partial(_sheets, path), heard=heard, refused=_nothing
            )

    def _put(self, file: str, sheets: tuple[str, ...]) -> None:
        if sheets == self._offered[file]:
            return
        self._offered[file], name = sheets, SHEETS[file]
        chosen = self._form.values()[name]
        self._form.set_choices(name, ("", *sheets))
        if chosen != self._form.values()[name]:
            self._form.set_values({name: chosen})


def _sheets(path: Path) -> tuple[str, ...]:
    return table_head(path).sheets


def _nothing(_error: BaseException) -> None:
    """Nothing is offered: the run says why the file cannot be read."""
