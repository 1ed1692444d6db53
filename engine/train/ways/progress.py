"""How far work of several parts is as a whole, and how long the rest of it takes."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from engine.events import Progress, Steps

SCALE = 10_000  # of the whole, in which shares of it are told
LEAST_S = 3.0  # of work, before which its pace says nothing
LAST = 0.15  # of the whole, at whose pace the rest is taken to go on: parts differ from what they should cost
TAUGHT = 3.0  # what a text costs that a model learns from, next to one that it reads
T = TypeVar("T")


def bounds_of(costs: Sequence[float]) -> list[tuple[float, float]]:
    """Return where each of several parts begins and ends in the whole, 0 to 1. Args: costs: of each."""
    sums = [sum(costs[:count]) / sum(costs) for count in range(len(costs) + 1)]
    return [*pairwise(sums)]


def as_part(steps: Steps[T], bounds: tuple[float, float]) -> Steps[T]:
    """Have work tell how far the whole is of which it is a part. Args: bounds: where it begins and ends."""
    begin, end = bounds
    try:
        while True:
            event = next(steps)
            if isinstance(event, Progress) and event.total:
                done = begin + (end - begin) * event.done / event.total
                event = replace(event, done=round(SCALE * done), total=SCALE)
            yield event
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]
    finally:
        steps.close()


def timed(steps: Steps[T], stage: str) -> Steps[T]:
    """Have work tell under one word how far it is, and how long the rest takes at the pace of the last LAST.

    Args: stage: the word, a marked one. Time that it waits to be asked on does not count: it may be paused.
    """
    worked, marks = 0.0, deque([(0.0, 0.0)])  # how far it was after how many seconds
    try:
        while True:
            began = time.perf_counter()
            event = next(steps)
            worked += time.perf_counter() - began
            if isinstance(event, Progress) and event.total:
                share = event.done / event.total
                marks.append((share, worked))
                while marks[1][0] <= share - LAST:
                    marks.popleft()
                done, took = share - marks[0][0], worked - marks[0][1]
                left = took * (1 - share) / done if done and worked >= LEAST_S else math.nan
                event = replace(event, stage=stage, remaining_s=left)
            yield event
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]
    finally:
        steps.close()
