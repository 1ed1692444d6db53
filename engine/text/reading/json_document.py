"""One JSON document instead of lines: a list of objects is a table, and so are objects one after another.

Any other document is refused in a sentence that says what it holds; one that breaks off is refused whole.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from engine.errors import DataError, marked
from engine.events import Beat, Steps
from engine.text.reading.dialect import Records
from engine.text.reading.encoding import Decoded
from engine.text.reading.json_faults import reason_of
from engine.text.reading.json_lines import AT_ONCE, RowReader
from engine.text.reading.recognise import is_questions, questions_refusal

_SPACE = re.compile(r"[ \t\r\n]*")
_BEGUN = re.compile(rb"[ \t\r\n]*[{\[]")
_SURE = re.compile(r'\s*(\[\s*)?\{\s*("[^"\n]*"\s*:|\})')


def document_records(found: Decoded, path: Path) -> Steps[tuple[Records, list[str]] | None]:
    """Return the rows of a document and the names of their columns; None if the text is no JSON.

    Raises: DataError if it is JSON, but no list of objects, or breaks off.
    """
    if _BEGUN.match(found.utf8) is None:
        return None
    text = found.text
    place = _skip(text, 0)
    sure = path.suffix.lower() == ".json" or _SURE.match(text) is not None
    try:
        if text[place] == "{":
            return (yield from _objects(text, place, path))
        return (yield from _list(text, place, path))
    except RecursionError:
        if not sure:
            return None
        template = marked("engine", "{path} is nested too deep to be read as JSON. Write its rows flat.")
        raise DataError(template, path=path) from None
    except json.JSONDecodeError as error:
        if not sure:
            return None
        template = marked(
            "engine", "{path} is not valid JSON in line {line}: {reason}. Fix it, or get it again."
        )
        raise DataError(template, path=path, line=error.lineno, reason=reason_of(error)) from None


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()


class _Values:
    """The values of a document one after the other, and the line in which each begins."""

    def __init__(self, text: str) -> None:
        self.rows, self.decoder = RowReader(), json.JSONDecoder()
        self._text, self._line, self._counted = text, 1, 0

    def take(self, place: int) -> Steps[tuple[Any, int]]:
        """Take the value at a place, an object as a row; return it and where it ends."""
        value, end = self.decoder.raw_decode(self._text, place)
        self._line += self._text.count("\n", self._counted, place)
        self._counted = place
        if (len(self.rows.found.rows) + 1) % AT_ONCE == 0:
            yield Beat()
        if isinstance(value, dict):
            self.rows.add(self._text[place:end], self._line)
        else:
            self.rows.not_an_object(self._line)
        return value, end


def _list(text: str, place: int, path: Path) -> Steps[tuple[Records, list[str]]]:
    """Read a list's items one by one, so that each keeps its line."""
    values, strangers = _Values(text), 0
    items: list[Any] = []
    place = _skip(text, place + 1)
    while text[place : place + 1] != "]":
        value, end = yield from values.take(place)
        strangers += not isinstance(value, dict)
        if len(items) < 2:
            items.append(value)
        place = _skip(text, end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != "]":
            raise json.JSONDecodeError("a comma or the end of the list is missing", text, place)
    if _skip(text, place + 1) < len(text):
        raise json.JSONDecodeError("more follows the list", text, place + 1)
    if is_questions(items):
        raise questions_refusal(path)
    if strangers and not values.rows.found.rows:
        template = marked(
            "engine",
            "{path} is a JSON list, but not of objects. Write each row as an object, with its columns.",
        )
        raise DataError(template, path=path)
    return (yield from values.rows.finish())


def _objects(text: str, place: int, path: Path) -> Steps[tuple[Records, list[str]]]:
    """Read objects that follow each other, each maybe over several lines."""
    values = _Values(text)
    value, end = values.decoder.raw_decode(text, place)
    if _skip(text, end) == len(text):
        raise _one_object(value, path)
    while place < len(text):
        _, end = yield from values.take(place)
        place = _skip(text, end)
    return (yield from values.rows.finish())


def _one_object(value: dict[str, Any], path: Path) -> DataError:
    if is_questions(value):
        return questions_refusal(path)
    for key, inside in value.items():
        if isinstance(inside, list) and inside and all(isinstance(item, dict) for item in inside):
            template = marked(
                "engine",
                "{path} is one JSON object. Its {key!r} is a list of {count} objects. Save that list alone.",
            )
            return DataError(template, path=path, key=key[:40], count=len(inside))
    columns = list(value.values())
    if len(columns) > 1 and all(isinstance(column, list | dict) and column for column in columns):
        template = marked(
            "engine",
            "{path} is one JSON object with a list for each column. Write an object for each row instead (in "
            "pandas: orient='records').",
        )
        return DataError(template, path=path)
    return DataError(
        marked("engine", "{path} is one JSON object, not a list of rows. Write an object for each row."),
        path=path,
    )


def is_nested_object(line: str) -> bool:
    """Whether a line is one JSON object that holds more than cells, as a document on one line does."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    inside = list(value.values())
    if len(inside) > 1 and all(isinstance(each, list) for each in inside):
        return True
    return any(isinstance(each, dict) or (isinstance(each, list) and _has_objects(each)) for each in inside)


def _has_objects(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, dict | list) for item in items)
