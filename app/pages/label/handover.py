"""What becomes of the labels: a table with them, and fine-tuning on it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.look.files import ask_save
from app.pages.run.state import RunPageState
from app.session import Session
from app.work.worker import Channel
from engine.errors import UserError, marked
from engine.labelling.labelled_table import own_column
from engine.text.roles import Roles


class Handover(QObject):
    """Writes the open table with its labels. `saved`: where. `refused`: why not."""

    saved = Signal(object)
    refused = Signal(object)

    def __init__(self, session: Session, page: QWidget) -> None:
        super().__init__(page)
        self._session, self._labels, self._page = session, session.labels, page
        self._saving = Channel(self, session.workers.files)

    def save(self) -> None:
        """Ask where the table with its labels is to be written."""
        table = self._session.data.table
        if table is None or not self._labels.is_ready:
            return
        suggested = table.path.with_name(f"{table.path.stem}-labelled.csv")
        ask_save(
            self._page,
            self.tr("Save the table with its labels"),
            self._save_to,
            name="label_save_dialog",
            suggested=suggested,
            filters=(self.tr("Tables (*.csv *.tsv)"),),
            suffix="csv",
        )

    def _save_to(self, path: str) -> None:
        table = self._session.data.table
        if table is not None and self._labels.is_ready:
            work = self._labels.saving(own_column(table), Path(path))
            self._saving.ask(path, work, heard=self.saved.emit, refused=self.refused.emit, again=True)

    def finetune(self) -> None:
        """Go to Fine-tune with the labels as a column: of a copy of the table, which lies among the runs."""
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None or not self._labels.is_ready:
            return
        folder = self._session.runs.root / ".labelled"
        stem = table.path.stem.removesuffix("-labelled")
        roles = roles.with_columns(label=own_column(table))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            template = marked("engine", "{path} could not be written: {reason}.")
            self.refused.emit(UserError(template, path=folder, reason=str(error)))
            return
        work = self._labels.saving(roles.label, folder / f"{stem}-labelled.csv")
        heard = partial(self._tune, roles)
        self._saving.ask(folder, work, heard=heard, refused=self.refused.emit, again=True)

    def _tune(self, roles: Roles, path: Path) -> None:
        self._session.data.open(path, roles=roles)
        self._session.show_page("finetune", RunPageState())
