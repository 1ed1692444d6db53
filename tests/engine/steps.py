"""The steps of some work: all of them with what they say, so many of them, or up to a training step."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any, TypeVar

from engine.events import Event

T = TypeVar("T")


def drained(steps: Generator[Event, None, T]) -> tuple[list[Event], T]:
    """Do some work to its end; return what it said, and what it found."""
    events = list[Event]()
    while True:
        try:
            events.append(next(steps))
        except StopIteration as end:
            return events, end.value


def advance(events: Iterator[Event], count: int) -> Event | None:
    """Take so many steps; return the last."""
    event = None
    for _ in range(count):
        event = next(events)
    return event


def stop_at(events: Iterator[Any], step: int) -> None:
    """Stop a run when it has told of this training step, as a person does."""
    next(event for event in events if getattr(event, "step", 0) == step)
    events.close()  # type: ignore[attr-defined]


class Clock:
    """A clock that goes on by a tenth of a second whenever it is asked."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 0.1
        return self.now
