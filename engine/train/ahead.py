"""Steps made ahead on a thread, while those before them are computed: their examples, masks and batches.

What comes out is what the feed itself would give, bit for bit: a step that was guessed wrong is made anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.train.feed import Feed


@dataclass(frozen=True, slots=True)
class _Made:
    """A step that is ready, and where the feed stood after it."""

    step: int
    taken: Any
    num_tokens: int  # at most, of each part
    parts: Sequence[Any]
    epoch: float
    state: Mapping[str, Any]


class Ahead:
    """A feed whose next `depth` steps are being made on a thread of its own, till it is closed.

    Only how far a run is can be wrong of a step made ahead, and of that only the length of examples counts:
    where it has changed, what was made is dropped and the feed goes back. Between `take` and `close` the feed
    inside belongs to the thread.
    """

    def __init__(self, feed: Feed, num_tokens: int, depth: int) -> None:
        self._feed, self._num_tokens, self._depth = feed, num_tokens, depth
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        self._coming: deque[Future[_Made]] = deque()
        self._length = -1  # of the examples that are being made
        self._begun = feed.state()
        self._now: _Made | None = None

    def take(self, step: int, progress: float) -> Any:
        length = self._feed.length_at(progress)
        if length != self._length:
            self._go_back(self._begun if self._now is None else self._now.state)
            self._length = length
        while len(self._coming) <= self._depth:
            number = step + len(self._coming)
            self._coming.append(self._thread.submit(self._make, number, progress, self._num_tokens))
        self._now = self._coming.popleft().result()
        assert self._now.step == step
        return self._now.taken

    def parts(self, taken: Any, num_tokens: int) -> Sequence[Any]:
        self._num_tokens = num_tokens  # smaller from now on, where memory ran out
        if self._now is not None and self._now.taken is taken and self._now.num_tokens == num_tokens:
            return self._now.parts
        return self._feed.parts(taken, num_tokens)

    def lengths(self, taken: Any) -> np.ndarray:
        return self._feed.lengths(taken)

    def length_at(self, progress: float) -> int:
        return self._feed.length_at(progress)

    def epoch(self, step: int) -> float:
        if self._now is not None and self._now.step == step:
            return self._now.epoch
        return self._feed.epoch(step)

    def state(self) -> Mapping[str, Any]:
        return self._begun if self._now is None else self._now.state

    def restore(self, state: Mapping[str, Any]) -> None:
        self._go_back(state)
        self._begun, self._now, self._length = dict(state), None, -1

    def close(self) -> None:
        """End the thread. What was made and not taken is lost; the last step taken is still told of."""
        self._thread.shutdown(cancel_futures=True)
        self._coming.clear()

    def _go_back(self, state: Mapping[str, Any]) -> None:
        if not self._coming:
            return
        for coming in self._coming:
            coming.cancel()
        wait(self._coming)
        self._coming.clear()
        self._feed.restore(state)

    def _make(self, step: int, progress: float, num_tokens: int) -> _Made:
        taken = self._feed.take(step, progress)
        parts = self._feed.parts(taken, num_tokens)
        return _Made(step, taken, num_tokens, parts, self._feed.epoch(step), dict(self._feed.state()))
