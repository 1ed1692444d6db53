"""Rows that were scored: what a model answered to each, what is right, and what that adds to the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.events import Evaluated
from engine.text.listed import Listed

# E texts, C labels, K sums

SHARE, F1, PEARSON = "share", "f1", "pearson"  # how a metric is made of what the texts add to it


@dataclass(frozen=True, slots=True, eq=False)
class Each:
    """What each of E texts got, in the order of the data.

    names: what can be true or answered, as a person reads it; of one label a text these are the labels.
    true, predicted: (E,) places in them. right: (E,) 0 to 1, how much of the answer is right; NaN for a
    number. sure: (E,) 0 to 1, the probability of the answer; of a number, how far off it is. adds: (E, K),
    what each adds to the sums of the task's metric. score: how it is made of them. probabilities: (E, C), of
    labels, else (0, 0).
    """

    names: tuple[str, ...]
    true: np.ndarray
    predicted: np.ndarray
    right: np.ndarray
    sure: np.ndarray
    adds: np.ndarray
    score: str
    probabilities: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def __len__(self) -> int:
        return len(self.true)

    def fits(self, count: int) -> bool:
        """Whether the arrays belong together, and to so many texts; they may have come from a stranger."""
        places = (self.true, self.predicted)
        if any(len(one) != count for one in (*places, self.right, self.sure, self.adds)):
            return False
        if any(one.dtype.kind not in "iu" or one.ndim != 1 for one in places) or self.adds.ndim != 2:
            return False
        if any(one.dtype.kind != "f" for one in (self.right, self.sure, self.adds, self.probabilities)):
            return False
        if self.adds.shape[1] != {SHARE: 2, F1: 3, PEARSON: 6}.get(self.score):
            return False
        inside = all(count == 0 or 0 <= one.min() <= one.max() < len(self.names) for one in places)
        kept = self.probabilities
        return inside and kept.ndim == 2 and len(kept) in (0, count) and bool(np.isfinite(self.adds).all())


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Rows of a file or of a run's part with their answers, and what the whole came to."""

    task: str
    metric: str
    evaluated: Evaluated
    listed: Listed
    each: Each

    @property
    def labels(self) -> tuple[str, ...]:
        return self.evaluated.labels


def coded(*sides: Sequence[str]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """Return all different words of some lists, and for each list the (E,) places of its own in them."""
    places = {
        name: place for place, name in enumerate(dict.fromkeys(name for side in sides for name in side))
    }
    found = [np.fromiter((places[name] for name in side), np.int32, len(side)) for side in sides]
    return tuple(places), found
