"""Rows that were scored: what a model answered to each, what is right, and what that adds to the score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.events import Evaluated
from engine.text.listed import ListedRows

# E texts, C labels, K sums

SHARE, F1, PEARSON = "share", "f1", "pearson"  # how a metric is made of what the texts add to it
# What a mark says: a type that is true or answered somewhere; a kind of error; which type was taken for
# which, "" for none; a question's word; whether it has an answer, SOME or NONE; whether it is exactly right.
TYPE, ERROR, TAKEN, WORD, ANSWER, EXACT = "type", "error", "taken", "word", "answer", "exact"
SOME, NONE, YES, NO = "some", "none", "yes", "no"


@dataclass(frozen=True, slots=True, eq=False)
class MarkColumns:
    """What texts have in common beside their answer: a type of entity, a kind of error, a question word.

    names: what each mark is, such as ("type", "PER"). texts, which: (M,) a text has a mark: their places.
    """

    names: tuple[tuple[str, ...], ...]
    texts: np.ndarray
    which: np.ndarray

    @classmethod
    def of(cls, found: Iterable[tuple[int, tuple[str, ...]]]) -> MarkColumns:
        """Return marks of pairs of a text's place and what it has, each pair once."""
        places: dict[tuple[str, ...], int] = {}
        pairs = sorted({(text, places.setdefault(name, len(places))) for text, name in found})
        texts, which = np.array(pairs, np.int32).reshape(-1, 2).T
        return cls(tuple(places), np.ascontiguousarray(texts), np.ascontiguousarray(which))

    def texts_with(self, name: tuple[str, ...]) -> np.ndarray:
        """Return the places of the texts that have a mark, ascending."""
        place = self.names.index(name) if name in self.names else -1
        found: np.ndarray = self.texts[self.which == place]
        return found

    def fits(self, count: int) -> bool:
        """Whether the arrays belong together, and to so many texts; they may have come from a stranger."""
        if len(self.texts) != len(self.which):
            return False
        for one, most in ((self.texts, count), (self.which, len(self.names))):
            if one.dtype.kind not in "iu" or one.ndim != 1:
                return False
            if len(one) and not 0 <= one.min() <= one.max() < most:
                return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class ScoreRows:
    """What each of E texts got, in the order of the data.

    names: what can be true or answered, as a person reads it; of one label a text these are the labels.
    true, predicted: (E,) places in them. right: (E,) 0 to 1, how much of the answer is right; NaN for a
    number. sure: (E,) 0 to 1, the probability of the answer; of a number, how far off it is. adds: (E, K),
    what each adds to the sums of the task's metric. score: how it is made of them. probabilities: (E, C), of
    labels, else (0, 0). marks: what texts have in common, where the task tells of it.
    """

    names: tuple[str, ...]
    true: np.ndarray
    predicted: np.ndarray
    right: np.ndarray
    sure: np.ndarray
    adds: np.ndarray
    score: str
    probabilities: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    marks: MarkColumns | None = None

    def __len__(self) -> int:
        return len(self.true)

    def take(self, places: np.ndarray) -> ScoreRows:
        """Return what some of the texts got, without marks. Args: places: of them, or (E,) bool."""
        kept = self.probabilities[places] if len(self.probabilities) else self.probabilities
        return ScoreRows(
            self.names,
            self.true[places],
            self.predicted[places],
            self.right[places],
            self.sure[places],
            self.adds[places],
            self.score,
            kept,
        )

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
        if self.marks is not None and not self.marks.fits(count):
            return False
        return inside and kept.ndim == 2 and len(kept) in (0, count) and bool(np.isfinite(self.adds).all())


@dataclass(frozen=True, slots=True, eq=False)
class ScoredTable:
    """Rows of a file or of a run's part with their answers, and what the whole came to.

    seen: (E,) bool, which of them the model has learned from, as far as anybody knows; () where nobody asked.
    """

    task: str
    metric: str
    evaluated: Evaluated
    listed: ListedRows
    each: ScoreRows
    seen: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @property
    def labels(self) -> tuple[str, ...]:
        return self.evaluated.labels

    @property
    def num_seen(self) -> int:
        return int(self.seen.sum())


def coded(*sides: Sequence[str]) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """Return all different words of some lists, and for each list the (E,) places of its own in them."""
    places = {
        name: place for place, name in enumerate(dict.fromkeys(name for side in sides for name in side))
    }
    found = [np.fromiter((places[name] for name in side), np.int32, len(side)) for side in sides]
    return tuple(places), found
