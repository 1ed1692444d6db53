"""Events as lines of metrics.jsonl, and back: what is read is held to the kinds that its event declares.

A run folder may have been edited, cut or made up by somebody. A line that is no event of ours is left out and
counted; no line makes a reader fail, wait or take more memory than it has bytes.
"""

from __future__ import annotations

import dataclasses
import json
import math
import string
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine import events
from engine.errors import RunError, Sentence
from engine.events import Event
from engine.files import open_regular

MOST_METRICS = 2 * 2**30  # bytes of a run's metrics.jsonl: some five million steps
MOST_DAMAGED = 1000  # lines that are none of ours, after which the rest is not looked at
_LONGEST_LINE = 16 * 2**20  # bytes; a confusion matrix of a thousand labels has some three million
_LARGEST = 2**53  # whole numbers beyond it are not exact everywhere
_DEEPEST = 4  # sentences within sentences
_LONGEST_TEMPLATE = 2000


def record_of(event: Event) -> dict[str, Any]:
    """Return an event as JSON can hold it."""
    record: dict[str, Any] = {"event": type(event).__name__.lower()}
    for field in dataclasses.fields(event):
        record[field.name] = _plain(getattr(event, field.name))
    if isinstance(event, events.Noted):
        record["text"] = str(event.sentence)
    return record


def event_from_record(record: Mapping[str, Any]) -> Event | None:
    """Return the event that a record was made from, or None if this version knows none like it."""
    values = dict(record)
    kind = getattr(events, str(values.pop("event", "")).title(), None)
    if not isinstance(kind, type) or not issubclass(kind, Event):
        return None
    if kind is events.Noted:
        values.pop("text", None)  # for people and other programs
    try:
        made = kind(**kinds_of(kind, values))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return made if _is_whole(made) else None


def records_in(path: Path) -> Iterator[dict[str, Any] | None]:
    """Yield the records of a metrics.jsonl, None for a line that is none; a last line cut off is left out.

    After `MOST_DAMAGED` of the latter the rest is not read. Raises: RunError if it is no ordinary file.
    """
    num_damaged = 0
    with open_regular(path, most=MOST_METRICS, kind=RunError) as file:
        while num_damaged < MOST_DAMAGED:
            line = file.readline(_LONGEST_LINE)
            if not line.endswith(b"\n") and len(line) < _LONGEST_LINE:
                return
            record = record_in(line)
            num_damaged += record is None
            yield record


def record_in(line: bytes) -> dict[str, Any] | None:
    """Return the record that a line holds, or None."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def whole_number(value: Any) -> int | None:
    """Return a count that somebody wrote, or None where it is none that can be."""
    return value if type(value) is int and 0 <= value < _LARGEST else None


def real_number(value: Any) -> float | None:
    """Return a measure that somebody wrote, or None where it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return None
    return float(value) if math.isfinite(value) else None


def real_numbers(value: Any, count: int | None = None) -> list[float]:
    """Return measures that somebody wrote, none where any is no finite number. Args: count: how many."""
    if not isinstance(value, list) or (count is not None and len(value) != count):
        return []
    found = [real_number(one) for one in value]
    return [one for one in found if one is not None] if None not in found else []


# --- back ---------------------------------------------------------------------------------------------


def _hints(kind: type) -> dict[str, Any]:
    if kind not in _known_hints:
        _known_hints[kind] = typing.get_type_hints(kind)
    return _known_hints[kind]


_known_hints: dict[type, dict[str, Any]] = {}


def kinds_of(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values, which JSON gave, as the fields of a dataclass declare them. Raises: as `as_kind`."""
    hints = _hints(kind)
    return {name: as_kind(hints[name], value) for name, value in values.items()}


def as_kind(hint: Any, value: Any) -> Any:
    """Return `value`, which JSON gave, as the type `hint` says. Raises: ValueError, TypeError, KeyError."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        wanted = next(one for one in inner if one is not type(None))
        return None if value is None else as_kind(wanted, value)
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(as_kind(one, item) for one, item in zip(kinds, _list(value), strict=True))
    if origin is not None and issubclass(origin, Mapping):
        return {name: as_kind(inner[1], item) for name, item in _object(value).items()}
    if hint is Any:
        return value
    if hint is dict:
        return _object(value)
    if hint is float and not isinstance(value, bool) and isinstance(value, int | float):
        if isinstance(value, int) and abs(value) >= _LARGEST:
            raise ValueError
        return float(value)
    if hint is Path and isinstance(value, str) and "\0" not in value:
        return Path(value)
    if hint is Sentence:
        return _sentence(value)
    if hint is np.ndarray:
        return _matrix(value)
    if hint is events.Reading:
        return events.Reading(**kinds_of(events.Reading, _object(value)))
    if hint is int and (type(value) is not int or abs(value) >= _LARGEST):
        raise ValueError
    if hint not in (int, str, bool) or type(value) is not hint:
        raise ValueError
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _matrix(value: Any) -> np.ndarray:
    """Return (C, C) int64, read-only."""
    rows = _list(value)
    for row in rows:
        if len(_list(row)) != len(rows) or any(whole_number(count) is None for count in row):
            raise ValueError
    matrix = np.array(rows, np.int64).reshape(len(rows), len(rows))
    matrix.setflags(write=False)
    return matrix


def _sentence(value: Any, depth: int = 0) -> Sentence:
    """Return a sentence that can be said: every brace names a value, and none asks for endless room."""
    template, values = _object(value)["template"], _object(value["values"])
    if depth > _DEEPEST or not isinstance(template, str) or len(template) > _LONGEST_TEMPLATE:
        raise ValueError
    for _, name, form, _ in string.Formatter().parse(template):
        if name is not None and (name not in values or len(form or "") > 4 or "{" in (form or "")):
            raise ValueError
    nested = {"template", "values"}
    kept = {
        name: _sentence(item, depth + 1) if isinstance(item, dict) and set(item) == nested else item
        for name, item in values.items()
    }
    made = Sentence(template, kept)
    str(made)
    return made


def _is_whole(event: Event) -> bool:
    """Whether an event's parts fit each other."""
    if isinstance(event, events.Step):
        numbers = (event.loss, event.learning_rate, event.gradient_norm, event.epoch, event.progress)
        return event.step > 0 and all(map(math.isfinite, numbers))
    if isinstance(event, events.Evaluated):
        fits = event.confusion is None or len(event.confusion) == len(event.labels)
        return event.step >= 0 and fits and set(event.per_label) <= set(event.labels)
    if isinstance(event, events.Pinned):
        return event.step >= 0
    return True


# --- there --------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    if isinstance(value, events.Reading):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Sentence):
        return {"template": value.template, "values": {k: _plain(v) for k, v in value.values.items()}}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
