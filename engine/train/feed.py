"""Where the batches of each step come from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import Batch, EncodedRows, collate, epoch_batches, split_by_tokens
from engine.train.ranks import ALONE, Ranks


class Feed(Protocol):
    """What the loop asks of it. `taken` stands for the examples of one step, whatever memory there is.

    `parts` and `lengths` follow from `taken` alone, also when later steps have been taken.
    """

    def take(self, step: int, progress: float) -> Any:
        """Return the examples of a step; steps are taken in order, from the one after `restore`."""

    def parts(self, taken: Any, num_tokens: int) -> Sequence[Any]:
        """Return a step's batches on the host, each of at most `num_tokens` and at least one example."""

    def lengths(self, taken: Any) -> np.ndarray:
        """Return the tokens of each example of a step."""

    def length_at(self, progress: float) -> int:
        """Return what length examples have at a progress: all of it that decides on a step; 0 for any."""

    def epoch(self, step: int) -> float:
        """Return how often all the data has been seen after `step`, which was the last one taken."""

    def state(self) -> Mapping[str, Any]:
        """Return its position in the data as plain values, for a checkpoint."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a position."""


@dataclass
class EpochFeed:
    """Every example once an epoch, near-equal lengths together; its position follows from the step.

    Args: batch_size: examples of all ranks together, at least one for each. order: the places of an epoch's
        examples in the data, some of them several times; None: every example once.
    """

    data: EncodedRows
    batch_size: int
    gathered: int  # batches a step
    seed: int
    ranks: Ranks = ALONE
    order: np.ndarray | None = None
    steps_per_epoch: int = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.data if self.order is None else self.order)
        self.steps_per_epoch = math.ceil(math.ceil(count / self.batch_size) / self.gathered)
        self._epoch, self._steps = -1, list[np.ndarray]()

    def take(self, step: int, progress: float) -> np.ndarray:
        """Return the indices of this rank's examples of a step, longest first."""
        epoch, place = divmod(step - 1, self.steps_per_epoch)
        if epoch != self._epoch:
            self._steps, self._epoch = self._steps_of(epoch), epoch
        indices = self._steps[place]
        return self.ranks.share(indices, self.data.lengths[indices])

    def _steps_of(self, epoch: int) -> list[np.ndarray]:
        lengths = self.data.lengths if self.order is None else self.data.lengths[self.order]
        batches = epoch_batches(lengths, self.batch_size, self.seed, epoch)
        if self.order is not None:
            batches = [self.order[batch] for batch in batches]
        starts = range(0, len(batches), self.gathered)
        steps = [np.concatenate(batches[start : start + self.gathered]) for start in starts]
        missing = self.ranks.world_size - len(steps[-1])
        if missing > 0 and len(steps) > 1:  # something for each: the step before gives some of its own
            steps[-1] = np.concatenate([steps[-2][-missing:], steps[-1]])
            steps[-2] = steps[-2][:-missing]
        return steps

    def parts(self, taken: np.ndarray, num_tokens: int) -> list[Batch]:
        """Return packed batches."""
        parts = split_by_tokens(taken, self.data.lengths, num_tokens)
        return [collate(self.data, part, "cpu", ROW_MULTIPLE) for part in parts]

    def lengths(self, taken: np.ndarray) -> np.ndarray:
        """Return the tokens of each example."""
        lengths: np.ndarray = self.data.lengths[taken]
        return lengths

    def length_at(self, progress: float) -> int:
        """Return 0: examples are what they are."""
        return 0

    def epoch(self, step: int) -> float:
        """Return steps / steps an epoch."""
        return step / self.steps_per_epoch

    def state(self) -> Mapping[str, Any]:
        """Return nothing: the step says it all."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Do nothing."""
