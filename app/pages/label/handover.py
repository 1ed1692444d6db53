"""What becomes of the labels: a table with them, and fine-tuning on it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.look.files import ask_save
from app.pages.label.learner import Learner
from app.pages.run.state import RunPageState
from app.session import Session
from app.work.labels import copy_folder, table_behind
from app.work.worker import Channel
from engine.errors import UserError, marked
from engine.labelling.kinds import LabelKind
from engine.labelling.labelled_table import LABEL, TEXT, own_column
from engine.labelling.random_sample import LABELLED, LEAST_HELD_OUT, original_stem, sample_path
from engine.text.roles import Roles
from engine.text.table import Table


class Handover(QObject):
    """Writes the open table with its labels. `saved`: where. `refused`: why not."""

    saved = Signal(object)
    refused = Signal(object)

    def __init__(self, session: Session, learner: Learner, page: QWidget) -> None:
        super().__init__(page)
        self._session, self._labels, self._learner, self._page = session, session.labels, learner, page
        self._saving = Channel(self, session.workers.files)

    def save(self) -> None:
        """Ask where the table with its labels is to be written."""
        table = self._session.data.table
        if table is None or not self._labels.is_ready:
            return
        is_table = self._labels.kind.is_of_rows
        title, kinds = self.tr("Save the table with its labels"), self.tr("Tables (*.csv *.tsv)")
        if not is_table:
            title, kinds = self.tr("Save the texts with their tags"), self.tr("JSON lines (*.jsonl)")
        ask_save(
            self._page,
            title,
            self._save_to,
            name="label_save_dialog",
            suggested=self._behind(table).with_name(self._file_name(table)),
            filters=(kinds,),
            suffix="csv" if is_table else "jsonl",
        )

    def _behind(self, table: Table) -> Path:
        """Return the person's own table: a labelled copy lies where nobody looks for it."""
        return table_behind(table.path, self._session.settings.recent_files)

    def _file_name(self, table: Table) -> str:
        stem = original_stem(table.path)
        return f"{stem}{LABELLED}.csv" if self._labels.kind.is_of_rows else f"{stem}-tagged.jsonl"

    def _save_to(self, path: str) -> None:
        table = self._session.data.table
        if table is not None and self._labels.is_ready:
            work = self._labels.saving(own_column(table), Path(path))
            self._saving.ask(path, work, heard=self.saved.emit, refused=self.refused.emit, again=True)

    def finetune(self) -> None:
        """Go to Fine-tune with the labels: in a copy of the table, or a file of tags, among the runs. The
        random sample is a file beside it, and the test.
        """
        table, roles = self._session.data.table, self._session.data.roles
        if table is None or roles is None or not self._labels.is_ready:
            return
        folder, kind = copy_folder(self._session.runs.root, table.path, table.format.sheet), self._labels.kind
        roles = roles.with_columns(label=own_column(table))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            template = marked("engine", "{path} could not be written: {reason}.")
            self.refused.emit(UserError(template, path=folder, reason=str(error)))
            return
        sample = self.held_out()
        work = self._labels.saving(roles.label, folder / self._file_name(table), sample)
        heard = partial(self._tune, roles, kind, bool(sample))
        self._saving.ask(folder, work, heard=heard, refused=self.refused.emit, again=True)

    def held_out(self) -> tuple[int, ...]:
        """Return the rows of the random sample where it can be a test; () where it is small, where the other
        labels would be one and the same, or where nothing measures such labels.
        """
        texts, labelled = self._learner.texts, self._labels.labelled
        if texts is None or labelled is None or not labelled.kind.is_measured:
            return ()
        sample = texts.sample([*labelled.given], [*labelled.skipped, *labelled.taken_over])
        others = (entry for row, entry in labelled.given.items() if row not in sample)
        return sample if len(sample) >= LEAST_HELD_OUT and labelled.kind.can_teach(others) else ()

    def _tune(self, roles: Roles, kind: LabelKind, has_test: bool, path: Path) -> None:
        session, learned_with = self._session, self._session.inspector.folder
        if session.model.chosen is None and learned_with is not None:
            session.model.choose(str(learned_with))
        session.doctor.remember(path, (sample_path(path),) if has_test else ())
        if kind.is_of_rows:
            session.data.open(path, roles=roles, task=kind.name)
        else:
            session.data.open(path, task=kind.name, said={"text": TEXT, "label": LABEL})
        session.show_page("finetune", RunPageState())
