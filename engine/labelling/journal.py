"""What a person labels, written as it is done: a file of JSON lines that is only ever appended to.

Each line is whole in one write, so a program that is killed loses at most the line it was writing: the
beginning of a last line is ignored, and cut off before the next one. Nothing is changed later: what is taken
back is a line more. A journal belongs to one state of one file, by its hash: rows are numbers, which another
state has others for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from engine.durable import explained, sync, write_text
from engine.errors import DataError, UserError, marked
from engine.files import parse_json_object, read_regular
from engine.labelling.entry import TAKE_OVER, UNDO, JournalEntry, entry_of, json_line
from engine.labelling.labelled import Labelled

_FORMAT = 3  # before, there were fewer things to do
_MOST_BYTES = 2**30
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)  # the latter on Windows


class LabelJournal:
    """The journal of one table: read by `read`, written by `add`.

    Args: name, sha256: of the table's file. path: where it lies, or will: it is made with its first entry.
    of: the sha256 of the table that the file is a labelled copy of, whose rows are the same; "": of none.
    """

    def __init__(self, path: Path, name: str, sha256: str, of: str = "") -> None:
        self.path, self.name, self.sha256, self.of = path, name, sha256, of
        self.hashes = frozenset({sha256, of}) - {""}  # of the files whose rows these are
        self.labelled = Labelled()
        self._done: list[JournalEntry] = []  # that were not taken back
        self._kept: list[tuple[int, Labelled]] = []  # what the first ones come to, where one of them is large
        self._whole = 0  # bytes of whole lines
        self._size = 0  # bytes, with the beginning of a line that was never finished

    @classmethod
    def read(cls, path: Path, name: str, sha256: str, num_rows: int) -> LabelJournal:
        """Return the journal in a file, a new one where there is none.

        Args: sha256: of the table, or of the one that it is a labelled copy of.
        Raises: DataError: it is damaged elsewhere than at its end, or of another table.
        """
        made = cls(path, name, sha256)
        if not path.is_file():
            return made
        data = read_regular(path, most=_MOST_BYTES, kind=DataError)
        made._size, made._whole = len(data), data.rfind(b"\n") + 1
        head, *lines = data[: made._whole].split(b"\n")[:-1] or [b""]
        if not head:
            return made
        made._check_head(head)
        made._take_lines(lines, num_rows)
        return made

    @property
    def can_undo(self) -> bool:
        """Whether there is an entry to take back."""
        return bool(self._done)

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All that was not taken back."""
        return tuple(self._done)

    @property
    def newest(self) -> JournalEntry | None:
        """The newest entry that was not taken back."""
        return self._done[-1] if self._done else None

    def add(self, entry: JournalEntry) -> None:
        """Write an entry, in one write that a kill cannot tear from what is there, and take it.

        Raises: UserError: it cannot be written, or somebody else has written there; nothing has changed then.
        """
        self.labelled.check(entry)
        self._append(entry.line() if self._whole else self.head() + entry.line())
        if entry.do == UNDO:
            self._take_back()
        else:
            self._take(entry)

    def _take(self, entry: JournalEntry) -> None:
        self.labelled.take(entry)
        self._done.append(entry)
        if entry.do == TAKE_OVER:
            self._kept.append((len(self._done), self.labelled.copy()))

    def _take_back(self) -> None:
        self._done.pop()
        while self._kept and self._kept[-1][0] > len(self._done):
            self._kept.pop()
        count, before = self._kept[-1] if self._kept else (0, Labelled())
        self.labelled = before.copy()
        for entry in self._done[count:]:
            self.labelled.take(entry)

    def sync(self) -> None:
        """Force what was written onto the disk, for a power cut. Raises: UserError."""
        with explained(self.path):
            sync(self.path)
            sync(self.path.parent)

    # ---- the file

    def _append(self, data: bytes) -> None:
        with explained(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, _FLAGS, 0o644)
            try:
                if os.fstat(handle).st_size != self._size:
                    raise UserError(_OTHERS, path=self.path)
                if self._size != self._whole:
                    os.ftruncate(handle, self._whole)
                    self._size = self._whole
                written = os.write(handle, data)
                if written != len(data):  # the disk is full
                    os.ftruncate(handle, self._whole)
                    raise UserError(_FULL, path=self.path)
            finally:
                os.close(handle)
        self._size = self._whole = self._whole + len(data)

    def head(self) -> bytes:
        """Return the first line of the file."""
        about = {"labels": _FORMAT, "name": self.name, "sha256": self.sha256}
        return json_line({**about, "of": self.of} if self.of else about)

    def _check_head(self, line: bytes) -> None:
        try:
            found = parse_json_object(line, self.path, kind=DataError)
        except DataError as error:
            raise self._damaged(1) from error
        version = found.get("labels")
        if type(version) is int and version > _FORMAT:
            template = marked("engine", "{path} was written by a newer version of Cloze. Update Cloze.")
            raise DataError(template, path=self.path)
        of = found.get("of", "")
        if version not in (1, 2, _FORMAT) or self.sha256 not in (found.get("sha256"), of):
            raise self._damaged(1)
        self.of = of if isinstance(of, str) else ""
        self.hashes = frozenset({self.sha256, self.of, str(found.get("sha256"))}) - {""}

    def _damaged(self, line: int) -> DataError:
        return DataError(_DAMAGED, path=self.path, line=line)

    def _take_lines(self, lines: Iterable[bytes], num_rows: int) -> None:
        """Take what lines say, the first of which is the second of the file. Raises: DataError."""
        done: list[tuple[int, JournalEntry]] = []
        number = 1
        try:
            for number, line in enumerate(lines, start=2):
                entry = entry_of(line, self.path, num_rows)
                if entry.do == UNDO:
                    done.pop()
                else:
                    done.append((number, entry))
            for place, entry in done:
                number = place
                self._take(entry)
        except (DataError, ValueError, IndexError) as error:
            raise self._damaged(number) from error


def write_journal(path: Path, name: str, sha256: str, entries: Iterable[JournalEntry], of: str) -> None:
    """Write a journal whole, of a file with the same rows as another. Args: of: the sha256 of that one.

    Raises: UserError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    head = LabelJournal(path, name, sha256, of).head()
    write_text(path, (head + b"".join(entry.line() for entry in entries)).decode("ascii"))


_DAMAGED = marked(
    "engine",
    "The labels in {path} cannot be read: line {line} is damaged. Restore the file, or move it away to begin "
    "again.",
)
_OTHERS = marked(
    "engine",
    "Another window has labelled this table meanwhile. Open the table again to see its labels.",
)
_FULL = marked("engine", "The disk is full: {path} could not be written. Free some space and try again.")
