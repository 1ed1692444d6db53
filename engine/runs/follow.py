"""What a run says while another process trains it: its metrics.jsonl from where it was read before."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import UserError
from engine.events import Beat, Event
from engine.files import open_regular
from engine.train.run.records import event_in
from engine.train.run.runs import METRICS, run_info

BLOCK = 2**20  # bytes that are read at once
LOOK_S = 0.2  # between two looks


@dataclass(frozen=True, slots=True)
class News:
    """offset: where to read on. state: of the run at this moment. is_anew: its file was cut back, as when a
    run is gone on with, and is read from its beginning. has_more: there is more to read at once.
    """

    events: tuple[Event, ...]
    offset: int
    state: str
    is_anew: bool = False
    has_more: bool = False


def news(run_dir: Path, offset: int) -> News:
    """Return what a run has said since `offset` bytes of its file; a line that is not whole yet is left."""
    state = run_info(run_dir).state  # before its file is read: what it says at its end is then heard
    try:
        with open_regular(run_dir / METRICS) as file:
            length = os.fstat(file.fileno()).st_size
            is_anew = length < offset
            begin = 0 if is_anew else offset
            file.seek(begin)
            data = file.read(BLOCK)
    except (UserError, OSError):
        return News((), offset, state)
    whole = data.rfind(b"\n") + 1
    found = (event_in(line) for line in data[:whole].split(b"\n") if line)
    events = tuple(event for event in found if event is not None)
    return News(events, begin + whole, state, is_anew, whole > 0 and begin + len(data) < length)


def following(run_dir: Path) -> Iterator[Event]:
    """Yield what a run of this computer has said and says, until nobody trains it any more."""
    heard = news(run_dir, 0)
    while True:
        yield from heard.events
        if not heard.has_more:
            if heard.state != "running":
                return
            yield Beat()
            time.sleep(LOOK_S)
        heard = news(run_dir, heard.offset)
