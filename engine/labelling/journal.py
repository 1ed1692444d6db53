"""What a person labels, written as it is done: a file of JSON lines that is only ever appended to.

Each line is whole in one write, so a program that is killed loses at most the line it was writing: the
beginning of a last line is ignored, and cut off before the next one. Nothing is changed later: what is taken
back is a line more. A journal belongs to one state of one file, by its hash: rows are numbers, which another
state has others for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from engine.durable import explained, sync, write_text
from engine.errors import DataError, UserError, marked
from engine.files import parse_json_object, read_regular

DEFINE, MERGE, GIVE, SKIP, NOTE, UNDO = "define", "merge", "give", "skip", "note", "undo"
DOES = DEFINE, MERGE, GIVE, SKIP, NOTE, UNDO
_FORMAT = 1
_MOST_BYTES = 2**30
_MOST_NUMBER = 2**40
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)  # the latter on Windows


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One thing that was done. do: DEFINE a label anew or otherwise, MERGE it `into` another, GIVE it to a
    row, SKIP a row, NOTE something on it, UNDO the newest entry that was not taken back.

    label, into: numbers of labels. row: 0-based, of the file. text: a label's name, or a note. rule: when a
    label is to be given. suggested: whether a suggestion was in view. why: the text was shown, one of WHY of
    engine/labelling/order.py. who, when: its author, and the moment in ISO 8601.
    """

    do: str
    label: int = -1
    into: int = -1
    row: int = -1
    text: str = ""
    rule: str = ""
    suggested: bool = False
    why: str = ""
    who: str = ""
    when: str = ""


@dataclass(slots=True)
class Labelled:
    """What all entries together come to.

    names, rules: of labels by their numbers, in the order in which they were made. given: row -> the entry
    that gave its label, in that order; its label is one of `names`. skipped: rows. notes: by row.
    """

    names: dict[int, str] = field(default_factory=dict)
    rules: dict[int, str] = field(default_factory=dict)
    given: dict[int, JournalEntry] = field(default_factory=dict)
    skipped: dict[int, None] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    num_made: int = 0  # labels, those merged into others, too

    def take(self, entry: JournalEntry) -> None:
        """Add an entry other than UNDO. Raises: ValueError, as `check`."""
        self.check(entry)
        match entry.do:
            case "define":
                self._define(entry)
            case "merge":
                self._merge(entry)
            case "give":
                self.given.pop(entry.row, None)  # the newest is the last
                self.skipped.pop(entry.row, None)
                self.given[entry.row] = entry
            case "skip":
                self.given.pop(entry.row, None)
                self.skipped[entry.row] = None
            case "note" if entry.text:
                self.notes[entry.row] = entry.text
            case "note":
                self.notes.pop(entry.row, None)

    def count(self) -> dict[int, int]:
        """Return how many rows have each label."""
        found = dict.fromkeys(self.names, 0)
        for entry in self.given.values():
            found[entry.label] += 1
        return found

    def check(self, entry: JournalEntry) -> None:
        """Refuse an entry of a label that there is not. Raises: ValueError."""
        named = {GIVE: (entry.label,), MERGE: (entry.label, entry.into)}.get(entry.do, ())
        is_new = entry.do == DEFINE and entry.label == self.num_made
        is_known = entry.do != DEFINE or is_new or entry.label in self.names
        if not is_known or any(one not in self.names for one in named) or len({*named}) < len(named):
            raise ValueError(entry)

    def _define(self, entry: JournalEntry) -> None:
        self.num_made = max(self.num_made, entry.label + 1)
        self.names[entry.label], self.rules[entry.label] = entry.text, entry.rule

    def _merge(self, entry: JournalEntry) -> None:
        del self.names[entry.label], self.rules[entry.label]
        for row, given in self.given.items():
            if given.label == entry.label:
                self.given[row] = replace(given, label=entry.into)


class LabelJournal:
    """The journal of one table: read by `read`, written by `add`.

    Args: name, sha256: of the table's file. path: where it lies, or will: it is made with its first entry.
    """

    def __init__(self, path: Path, name: str, sha256: str) -> None:
        self.path, self.name, self.sha256 = path, name, sha256
        self.labelled = Labelled()
        self._done: list[JournalEntry] = []  # that were not taken back
        self._whole = 0  # bytes of whole lines
        self._size = 0  # bytes, with the beginning of a line that was never finished

    @classmethod
    def read(cls, path: Path, name: str, sha256: str, num_rows: int) -> LabelJournal:
        """Return the journal in a file, a new one where there is none.

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
        self._append(_line(entry) if self._whole else self.head() + _line(entry))
        if entry.do == UNDO:
            self._done.pop()
            self.labelled = folded(self._done)
        else:
            self._done.append(entry)
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
            handle = os.open(
                self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644
            )
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
        return _json({"labels": _FORMAT, "name": self.name, "sha256": self.sha256})

    def _check_head(self, line: bytes) -> None:
        try:
            found = parse_json_object(line, self.path, kind=DataError)
        except DataError as error:
            raise self._damaged(1) from error
        version = found.get("labels")
        if type(version) is int and version > _FORMAT:
            template = marked("engine", "{path} was written by a newer version of Cloze. Update Cloze.")
            raise DataError(template, path=self.path)
        if version != _FORMAT or found.get("sha256") != self.sha256:
            raise self._damaged(1)

    def _damaged(self, line: int) -> DataError:
        return DataError(_DAMAGED, path=self.path, line=line)

    def _take_lines(self, lines: Iterable[bytes], num_rows: int) -> None:
        """Take what lines say, the first of which is the second of the file. Raises: DataError."""
        done: list[tuple[int, JournalEntry]] = []
        number = 1
        try:
            for number, line in enumerate(lines, start=2):
                entry = _entry(line, self.path, num_rows)
                if entry.do == UNDO:
                    done.pop()
                else:
                    done.append((number, entry))
            for place, entry in done:
                number = place
                self.labelled.take(entry)
        except (DataError, ValueError, IndexError) as error:
            raise self._damaged(number) from error
        self._done = [entry for _number, entry in done]


def write_journal(path: Path, name: str, sha256: str, entries: Iterable[JournalEntry]) -> None:
    """Write a journal whole, of a file with the same rows as another. Raises: UserError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = LabelJournal(path, name, sha256).head()
    write_text(path, (head + b"".join(map(_line, entries))).decode("ascii"))


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


def folded(entries: Iterable[JournalEntry]) -> Labelled:
    """Return what entries come to, UNDO not among them. Raises: ValueError: they do not go together."""
    made = Labelled()
    for entry in entries:
        made.take(entry)
    return made


def _json(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values).encode("ascii") + b"\n"


def _line(entry: JournalEntry) -> bytes:
    found = {one.name: getattr(entry, one.name) for one in fields(entry)}
    usual = {one.name: one.default for one in fields(entry)}
    return _json({name: value for name, value in found.items() if value != usual[name]})


def _entry(line: bytes, path: Path, num_rows: int) -> JournalEntry:
    """Return what a line says. Raises: DataError, ValueError: it says nothing that can be."""
    found = parse_json_object(line, path, most_number=_MOST_NUMBER, kind=DataError)
    values: dict[str, Any] = {}
    for one in fields(JournalEntry):
        usual = "" if one.name == "do" else one.default
        value = found.get(one.name, usual)
        if type(value) is not type(usual):
            raise ValueError(one.name)
        values[one.name] = value
    entry = JournalEntry(**values)
    if entry.do not in DOES or (entry.do in (GIVE, SKIP, NOTE) and not 0 <= entry.row < num_rows):
        raise ValueError(entry)
    return entry
