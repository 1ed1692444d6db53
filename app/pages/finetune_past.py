"""What a resumed run was before it was resumed, read back from its files on a worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.study import Answer
from engine.events import Evaluated, Event, Step
from engine.train.runs import event_from_record, read_metrics

CHUNK = 2_000  # events in one answer


def past_events(run_dir: Path, first_step: int) -> Iterator[Event]:
    """Answer with lists of the steps and evaluations before `first_step`, in order.

    The run may append to the file meanwhile; what it adds is at `first_step` or after, and is heard live.
    """
    chunk: list[Event] = []
    for record in read_metrics(run_dir):
        event = event_from_record(record)
        if isinstance(event, Step | Evaluated) and event.step < first_step:
            chunk.append(event)
        if len(chunk) == CHUNK:
            yield Answer(value=chunk)
            chunk = []
    yield Answer(value=chunk)
