"""JSON lines: one object a line, its keys the columns.

A missing key and null are empty cells, a number stays as it is written, a list or an object stays JSON text.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.errors import Sentence, marked
from engine.events import Beat, Steps
from engine.text.reading.dialect import MAX_COLUMNS, Records
from engine.text.reading.encoding import SURROGATES
from engine.text.reading.json_faults import reason_of
from engine.text.reading.lines import lines_since
from engine.text.reading.rows import Rows

_MANY = 1000  # columns from which on rows wait until all names are known
AT_ONCE = 1000  # objects between two steps
_NO_OBJECT = marked("engine", "Line {line} is not a JSON object. Write each row between braces.")


class _Number(str):
    """A JSON number, as it is written."""


class _NotARow(ValueError):
    """JSON that can be read, but is no row; its message is a marked template."""


def is_json_lines(lines: Sequence[str], path: Path) -> bool:
    """Whether most of the first lines are JSON objects, or the file's name says so."""
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return True
    head = [line for line in lines[:200] if line.strip()][:20]
    return 2 * sum(_is_object(line) for line in head) > len(head)


def json_records(lines: Sequence[str]) -> Steps[tuple[Records, list[str]]]:
    """Return a row for each object, and the names of the columns: all keys in the order they first appear.

    With more than MAX_COLUMNS names it stops there.
    """
    reader = RowReader()
    for number, line in enumerate(lines_since(lines, 0), 1):
        if (line := line.strip(" \t\r\n")) and not reader.add(line, number):
            break
        if number % AT_ONCE == 0:
            yield Beat()
    return (yield from reader.finish())


class RowReader:
    """Takes JSON objects one by one; what is none becomes a fault."""

    def __init__(self) -> None:
        self.found = Records()
        self._names = dict[str, None]()
        self._wide = dict[int, dict[str, str]]()  # rows of many columns, of which there may be too many
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_object, parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )

    def add(self, text: str, number: int) -> bool:
        """Take the object that begins in line `number`; return whether there is room for more columns."""
        try:
            value, end = self._decoder.raw_decode(text)
            if end < len(text):
                raise json.JSONDecodeError("more follows the object", text, end)
            row = _row(value, text)
        except (ValueError, RecursionError) as error:
            self.found.faults.append((number, _fault(number, error)))
            return True
        if not row.keys() <= self._names.keys():
            self._names.update(dict.fromkeys(row))
        if len(self._names) <= _MANY:
            self.found.rows.append([row.get(name, "") for name in self._names])
        else:
            self._wide[len(self.found.rows)] = row
            self.found.rows.append([])
        self.found.starts.append(number)
        return len(self._names) <= MAX_COLUMNS

    def not_an_object(self, number: int) -> None:
        """Note that what begins in line `number` is no row."""
        self.found.faults.append((number, Sentence(_NO_OBJECT, {"line": number})))

    def finish(self) -> Steps[tuple[Records, list[str]]]:
        """Return the rows, all of one width, and the names of the columns."""
        if len(self._names) > MAX_COLUMNS:
            return self.found, list(self._names)
        assert isinstance(self.found.rows, Rows)
        if self._wide:
            rows = Rows()
            for place in range(len(self.found.rows)):
                row = self._wide.get(place)
                rows.append([row.get(name, "") for name in self._names] if row else self.found.rows[place])
                yield Beat()
            self.found.rows = rows
        self.found.rows = self.found.rows.padded(len(self._names))  # keys that came later stand to the right
        return self.found, list(self._names)


def _is_object(line: str) -> bool:
    with contextlib.suppress(ValueError, RecursionError):
        return line.lstrip().startswith("{") and isinstance(json.loads(line), dict)
    return False


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise _NotARow(marked("engine", "Line {line} has the same key twice. Name each key once."))
    return row


def _row(row: Any, line: str) -> dict[str, str]:
    if type(row) is not dict:
        raise _NotARow(_NO_OBJECT)
    for name, value in row.items():
        if type(value) is not str:
            row[name] = "" if value is None else _json_text(value)
    if "\\u" in line and SURROGATES.search("".join([*row, *row.values()])):
        raise _NotARow(
            marked("engine", "Line {line} holds half a character, a lone \\ud800 to \\udfff. Fix it.")
        )
    return row


def _json_text(value: Any) -> str:
    """Return the JSON of a value within a cell, its numbers as they were written."""
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_json_text(key)}: {_json_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _fault(number: int, error: Exception) -> Sentence:
    if isinstance(error, _NotARow):
        return Sentence(str(error), {"line": number})
    if isinstance(error, json.JSONDecodeError):
        template = marked("engine", "Line {line} is not valid JSON at character {at}: {reason}.")
        return Sentence(template, {"line": number, "at": error.colno, "reason": reason_of(error)})
    return Sentence(marked("engine", "Line {line} is nested too deep to be read as JSON."), {"line": number})
