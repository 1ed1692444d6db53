"""Events as lines of metrics.jsonl, and back: what is read is held to the kinds that its event declares.

A run folder may have been edited, cut or made up by somebody. A line that is no event of ours is left out and
counted; no line makes a reader fail, wait or take more memory than it has bytes.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine import events
from engine.errors import RunError
from engine.events import Event
from engine.files import open_regular
from engine.settings.values import LARGEST, kinds_of, plain

MOST_METRICS = 2 * 2**30  # bytes of a run's metrics.jsonl: some five million steps
MOST_DAMAGED = 1000  # lines that are none of ours, after which the rest is not looked at
_LONGEST_LINE = 16 * 2**20  # bytes; a confusion matrix of a thousand labels has some three million


def record_of(event: Event) -> dict[str, Any]:
    """Return an event as JSON can hold it."""
    record: dict[str, Any] = {"event": type(event).__name__.lower()}
    for field in dataclasses.fields(event):
        record[field.name] = plain(getattr(event, field.name))
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


def event_in(line: bytes) -> Event | None:
    """Return the event that a line holds, or None."""
    record = record_in(line)
    return None if record is None else event_from_record(record)


def record_in(line: bytes) -> dict[str, Any] | None:
    """Return the record that a line holds, or None."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def whole_number(value: Any) -> int | None:
    """Return a count that somebody wrote, or None where it is none that can be."""
    return value if type(value) is int and 0 <= value < LARGEST else None


def count_of(details: Mapping[str, Any], name: str) -> int:
    """Return a count that an evaluation tells; 0 where there is none."""
    return whole_number(details.get(name)) or 0


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
    if isinstance(event, events.Judged):
        shares = [event.accuracy, *(event.interval or ())]
        shares += [share for one in event.ways for share in (one.accuracy, *(one.interval or ()))]
        return event.rows >= 0 and all(share is None or 0 <= share <= 1 for share in shares)
    return True
