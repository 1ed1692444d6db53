"""The labels that a person gives to the open table: read with it, written as they are given, taken back here.

Each is written before the next text is shown, in microseconds; that it lies on the disk, for a power cut, is
seen to on a worker.
"""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.work.later import later
from app.work.open_data import OpenData
from app.work.worker import Channel, Workers
from engine.durable import explained
from engine.errors import UserError
from engine.labelling.journal import JournalEntry, LabelJournal, Labelled, folded, write_journal

if TYPE_CHECKING:
    from engine.labelling.labelled_table import write_labelled
    from engine.labelling.random_sample import hold_out
    from engine.text.table import Table
else:
    write_labelled = later("engine.labelling.labelled_table", "write_labelled")
    hold_out = later("engine.labelling.random_sample", "hold_out")

COPIES = ".labelled"  # the folder among the runs where labelled tables are, which runs learn from
LONGEST_NAME, LONGEST_RULE, LONGEST_NOTE = 80, 400, 1000  # characters


class Labels(QObject):
    """The journal of the open table's labels. `changed` comes with each entry and with another table."""

    changed = Signal()
    refused = Signal(object)  # it cannot be read, or not be written

    def __init__(
        self, data: OpenData, folder: Callable[[], Path], workers: Workers, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._data, self._folder = data, folder
        self._journal: LabelJournal | None = None
        self._table: Table | None = None  # whose journal it is
        self._read, self._synced = Channel(self, workers.quick), Channel(self, workers.quick)
        self._num_written = 0
        data.opened.connect(self._take_table)

    @property
    def is_ready(self) -> bool:
        """Whether labels can be given: a table is open, and what was given before is read."""
        return self._journal is not None

    @property
    def labelled(self) -> Labelled | None:
        """All that was given; None while there is nothing to give it to. Not to be changed."""
        return self._journal.labelled if self._journal is not None else None

    @property
    def num_given(self) -> int:
        """How many rows have a label."""
        return len(self._journal.labelled.given) if self._journal is not None else 0

    @property
    def can_undo(self) -> bool:
        return self._journal is not None and self._journal.can_undo

    # ---- what a person does

    def define(self, name: str, rule: str = "", label: int | None = None) -> int:
        """Make a label, or give one another name and rule; return its number. -1: it cannot be written."""
        assert self._journal is not None
        number = self._journal.labelled.num_made if label is None else label
        return number if self._add("define", label=number, text=name, rule=rule) else -1

    def merge(self, label: int, into: int) -> bool:
        """Give all rows of a label another one, and forget the first."""
        return self._add("merge", label=label, into=into)

    def give(self, row: int, label: int, *, suggested: bool, why: str) -> bool:
        """Give a row a label. Args: suggested: whether a suggestion was in view. why: it was shown."""
        return self._add("give", row=row, label=label, suggested=suggested, why=why)

    def skip(self, row: int) -> bool:
        """Ask a row no more."""
        return self._add("skip", row=row)

    def note(self, row: int, text: str) -> bool:
        """Note something on a row; "": nothing any more."""
        return self._add("note", row=row, text=text[:LONGEST_NOTE])

    def undo(self) -> JournalEntry | None:
        """Take the newest entry back and return it; None: there is none, or it cannot be written."""
        entry = self._journal.newest if self._journal is not None else None
        return entry if entry is not None and self._add("undo") else None

    def named(self, name: str) -> int | None:
        """Return the number of the label of a name, in whatever case; None: there is none."""
        names = self._journal.labelled.names if self._journal is not None else {}
        return next((one for one, own in names.items() if own.casefold() == name.casefold()), None)

    def _add(self, do: str, **values: Any) -> bool:
        """Write an entry. Returns: whether that was possible; else `refused` says why not."""
        assert self._journal is not None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self._journal.add(JournalEntry(do, who=_user(), when=now, **values))
        except UserError as error:
            self.refused.emit(error)
            return False
        self._num_written += 1
        self._synced.ask(self._num_written, self._journal.sync, heard=_nothing, refused=self.refused.emit)
        self.changed.emit()
        return True

    # ---- a table with them

    def saving(self, column: str, path: Path, held_out: Collection[int] = ()) -> Callable[[], Path]:
        """Return work for a worker: write the table with its labels, and go on with them in that file.

        Args: held_out: rows whose labels stand in a file of their own instead, for the test.
        """
        assert self._journal is not None and self._table is not None
        return partial(_save, self._table, self._journal.entries, column, path, self._folder(), held_out)

    def _take_table(self) -> None:
        table = self._table = self._data.table
        self._journal = None
        self._read.drop()
        if table is not None:
            path = journal_path(self._folder(), table.sha256, table.format.sheet)
            work: Callable[[], LabelJournal] = partial(
                LabelJournal.read, path, table.path.name, table.sha256, table.num_rows
            )
            self._read.ask(table, work, heard=self._take, refused=self.refused.emit, again=True)
        self.changed.emit()

    def _take(self, journal: LabelJournal) -> None:
        self._journal = journal
        self.changed.emit()


def table_behind(path: Path, known: Iterable[str]) -> Path:
    """Return the table that a labelled copy is of, where it is among the known files; else the path."""
    stem = path.stem.removesuffix("-labelled")
    others = (Path(one) for one in known if Path(one).stem == stem and Path(one).parent.name != COPIES)
    return next(others, path) if path.parent.name == COPIES else path


def journal_path(folder: Path, sha256: str, sheet: str = "") -> Path:
    """Return where the labels of a file's state are kept, of each sheet its own: among the recipes."""
    of_sheet = f"-{hashlib.blake2b(sheet.encode(), digest_size=6).hexdigest()}" if sheet else ""
    return folder / f"{sha256[:16]}{of_sheet}-labels.jsonl"


def _save(
    table: Table,
    entries: tuple[JournalEntry, ...],
    column: str,
    path: Path,
    folder: Path,
    held_out: Collection[int],
) -> Path:
    """Write a table with its labels, and its journal under the hash of that file. Raises: UserError."""
    written: Path = write_labelled(table, folded(entries), column, path)
    if held_out:
        hold_out(written, column, held_out)
    with explained(written), written.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    write_journal(journal_path(folder, sha256), written.name, sha256, entries)
    return written


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # nobody is known by this number here
        return ""


def _nothing(_done: None) -> None:
    """Nothing is to be done: it lies on the disk."""
