"""One thing that a person did while labelling, and the line of JSON that keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from engine.errors import DataError
from engine.files import parse_json_object

KIND, DEFINE, MERGE, SPLIT, SHARE = "kind", "define", "merge", "split", "share"
TAKE_OVER, GIVE, SKIP, NOTE, UNDO = "take over", "give", "skip", "note", "undo"
DOES = KIND, DEFINE, MERGE, SPLIT, SHARE, TAKE_OVER, GIVE, SKIP, NOTE, UNDO
COLUMN = "column"  # why a row has a label that nobody gave it here: a column of the table has it
Span = tuple[int, int, int]  # characters start to stop - 1 of a text, and the label that they have
OPEN = -1  # in the place of a label that is to be given anew

_MOST_NUMBER, _MOST_VALUES = 2**40, 2**24
_ITEMS: Mapping[str, type] = {"names": str, "labels": int, "rows": int}  # of fields that hold several
_NESTED = ("spans", "sets")


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One thing that was done. do: choose the KIND of what is given; DEFINE a label anew or otherwise, MERGE
    it `into` another, SPLIT it into labels called `names`; draw another SHARE of what comes next at random;
    TAKE_OVER what a column of the table has; GIVE a
    row its label, SKIP a row, NOTE something on it; UNDO the newest entry that was not taken back.

    label, into: numbers of labels. row: 0-based, of the file. text: the name of a kind, a label or a column;
    a note; a number that was given, or a share; the text whose words have tags. rule: when a label is to be
    given. labels: several that are given. spans: tags that are given. suggested: whether a suggestion was in
    view. why: the text was shown, one of WHY of engine/labelling/order.py, or COLUMN. who, when: its author,
    and the moment in ISO 8601. rows, sets: of what is taken over, for each row the places in `names` that it
    has.
    """

    do: str
    label: int = -1
    into: int = -1
    row: int = -1
    text: str = ""
    rule: str = ""
    labels: tuple[int, ...] = ()
    spans: tuple[Span, ...] = ()
    suggested: bool = False
    why: str = ""
    who: str = ""
    when: str = ""
    names: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()

    def line(self) -> bytes:
        """Return it as a line of JSON, without what is as usual."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "do"}
        usual = {one.name: one.default for one in fields(self)}
        kept = {name: value for name, value in found.items() if value != usual[name]}
        return json_line({"do": self.do, **kept})


def json_line(values: Mapping[str, Any]) -> bytes:
    """Return values as a line of JSON, all of it ASCII."""
    return json.dumps(values).encode("ascii") + b"\n"


def entry_of(line: bytes, path: Path, num_rows: int) -> JournalEntry:
    """Return what a line says. Raises: DataError, ValueError: it says nothing that can be."""
    found = parse_json_object(line, path, most_values=_MOST_VALUES, most_number=_MOST_NUMBER, kind=DataError)
    values: dict[str, Any] = {}
    for one in fields(JournalEntry):
        usual = "" if one.name == "do" else one.default
        values[one.name] = _value(one.name, found.get(one.name, usual), usual)
    entry = JournalEntry(**values)
    rows = (entry.row,) if entry.do in (GIVE, SKIP, NOTE) else entry.rows
    if entry.do not in DOES or any(not 0 <= row < num_rows for row in rows):
        raise ValueError(entry)
    return entry


def _value(name: str, value: Any, usual: Any) -> Any:
    """Return the value of a field, lists as tuples. Raises: ValueError: it is of another type."""
    if usual != ():
        if type(value) is not type(usual):
            raise ValueError(name)
        return value
    if not isinstance(value, list | tuple):
        raise ValueError(name)
    parts = value if name in _NESTED else [value]
    kind = _ITEMS.get(name, int)
    if any(
        not isinstance(part, list | tuple) or any(type(one) is not kind for one in part) for part in parts
    ):
        raise ValueError(name)
    return tuple(map(tuple, value)) if name in _NESTED else tuple(value)
