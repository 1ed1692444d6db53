"""The labels that a person gives to the open table: read with it, written as they are given, taken back here.

Each is written before the next text is shown, in microseconds; that it lies on the disk, for a power cut, is
seen to on a worker.
"""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.work.later import later
from app.work.mends import keep_recipe, newest_recipe
from app.work.open_data import OpenData
from app.work.worker import Channel, Workers
from engine.durable import explained
from engine.errors import UserError
from engine.labelling.entry import JournalEntry
from engine.labelling.journal import LabelJournal, write_journal
from engine.labelling.kinds import ONE_LABEL, LabelKind
from engine.labelling.labelled import Labelled, folded

if TYPE_CHECKING:
    from engine.labelling.columns import ColumnLabels
    from engine.labelling.labelled_table import mends_of_labels, write_labelled, write_tagged
    from engine.labelling.random_sample import hold_out
    from engine.text.recipe import Recipe
    from engine.text.table import Table
else:
    mends_of_labels, write_labelled, write_tagged = (
        later("engine.labelling.labelled_table", name)
        for name in ("mends_of_labels", "write_labelled", "write_tagged")
    )
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

    @property
    def kind(self) -> LabelKind:
        """What can be given to a text of the open table."""
        return self._journal.labelled.kind if self._journal is not None else ONE_LABEL

    # ---- what a person does

    def choose_kind(self, kind: LabelKind) -> bool:
        """Say what is given to each text; nothing may be given yet."""
        return self._add("kind", text=kind.name)

    def define(self, name: str, rule: str = "", label: int | None = None) -> int:
        """Make a label, or give one another name and rule; return its number. -1: it cannot be written."""
        assert self._journal is not None
        number = self._journal.labelled.num_made if label is None else label
        return number if self._add("define", label=number, text=name, rule=rule) else -1

    def merge(self, label: int, into: int) -> bool:
        """Give all rows of a label another one, and forget the first."""
        return self._add("merge", label=label, into=into)

    def split(self, label: int, names: Sequence[str]) -> bool:
        """Ask all rows of a label again, which of some labels they have, and forget the first."""
        return self._add("split", label=label, names=tuple(names))

    def take_over(self, found: ColumnLabels) -> bool:
        """Give rows what a column of the table has, where nobody has labelled them."""
        if self.kind is not found.kind and not self.choose_kind(found.kind):
            return False
        return self._add("take over", text=found.column, names=found.names, rows=found.rows, sets=found.sets)

    def draw_at_random(self, share: float) -> bool:
        """Draw another share of the texts that come next at random. Args: share: above 0, at most 1."""
        return self._add("share", text=f"{share:g}")

    def give(self, row: int, *, suggested: bool, why: str, **answer: Any) -> bool:
        """Give a row what the kind can give. Args: suggested: whether a suggestion was in view. why: it was
        shown. answer: fields of `JournalEntry`: a label, several, spans or a number.
        """
        return self._add("give", row=row, suggested=suggested, why=why, **answer)

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
        return self._journal.labelled.number_of(name) if self._journal is not None else None

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
        """Return work for a worker: write what was labelled, and go on with it in that file, with the mends
        of the open table.

        Args: column: of the labels, where there are columns. held_out: rows whose labels stand in a file of
        their own instead, for the test.
        """
        assert self._journal is not None and self._table is not None
        recipe, journal = self._data.mends.recipe, self._journal
        of = journal.of or journal.sha256
        return partial(
            _save, self._table, journal.entries, of, column, path, self._folder(), recipe, held_out
        )

    def given_to(self, table: Table) -> dict[str, Path]:
        """Return the files of the labels that were given to a table as `predict` names them: the journal, and
        the recipe of what was changed since; {}: none were given. Of a table whose labelled copy is open,
        they are those of the copy: who goes on, goes on there.
        """
        journal, own, sha256 = self._journal, self._table, table.sha256
        path, sheet = journal_path(self._folder(), sha256, table.format.sheet), table.format.sheet
        is_open = journal is not None and sha256 in (journal.sha256, journal.of)
        if is_open and journal is not None and own is not None and own.format.sheet in ("", sheet):
            path, sha256 = journal.path, journal.sha256
        found = {"journal": path, "recipe": newest_recipe(self._folder(), sha256)} if path.is_file() else {}
        return {name: one for name, one in found.items() if one.is_file()}

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


def copy_folder(root: Path, table: Path, sheet: str = "") -> Path:
    """Return the folder of a table's labelled copy, each table's own, whatever it is called; of such a copy,
    that where it lies. Args: root: of the runs. sheet: of a workbook.
    """
    copies = root / COPIES
    if copies in table.parents:
        return table.parent
    return copies / "-".join(_digest(one) for one in (str(table), sheet) if one)


def table_behind(path: Path, known: Iterable[str]) -> Path:
    """Return the table that a labelled copy is of, where it is among the known files; else the path."""
    if path.parent.parent.name != COPIES:
        return path
    of = path.parent.name.partition("-")[0]
    return next((Path(one) for one in known if _digest(one) == of), path)


def journal_path(folder: Path, sha256: str, sheet: str = "") -> Path:
    """Return where the labels of a file's state are kept, of each sheet its own: among the recipes."""
    of_sheet = f"-{_digest(sheet)}" if sheet else ""
    return folder / f"{sha256[:16]}{of_sheet}-labels.jsonl"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _save(
    table: Table,
    entries: tuple[JournalEntry, ...],
    of: str,
    column: str,
    path: Path,
    folder: Path,
    recipe: Recipe | None,
    held_out: Collection[int],
) -> Path:
    """Write what was labelled; of a table, its journal and recipe under the hash of that file, too.

    Args: of: the sha256 of the table that a person labelled first. Raises: UserError.
    """
    labelled = folded(entries)
    if not labelled.kind.is_of_rows:
        tagged: Path = write_tagged(table, labelled, path, recipe.left_out() if recipe is not None else ())
        return tagged
    written: Path = write_labelled(table, labelled, column, path)
    recipe = mends_of_labels(recipe, labelled, column) if recipe is not None else None
    if held_out:
        hold_out(written, column, held_out, recipe)
        recipe = recipe.sparing(held_out, column) if recipe is not None else None
    with explained(written), written.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    write_journal(journal_path(folder, sha256), written.name, sha256, entries, of)
    if recipe is not None:  # rows and columns stay what they are
        keep_recipe(folder, replace(recipe, name=written.name, sha256=sha256))
    return written


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # nobody is known by this number here
        return ""


def _nothing(_done: None) -> None:
    """Nothing is to be done: it lies on the disk."""
