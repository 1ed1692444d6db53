"""Two models on the same texts: how far apart they are, what chance has in it, and where they differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.errors import DataError, Sentence, marked
from engine.evaluation.report import SCORES, are_hits, groups_of
from engine.evaluation.statistics import Difference, compared, compared_hits, is_single, p_words
from engine.text.example_rows import Indices
from engine.train.learned import MANY
from engine.train.scored import SHARE, ScoredTable

_BETTER = marked(
    "engine",
    "{better} is better than {other} by {value:.1f} points ({low:.1f} to {high:.1f}; p {p}).",
)
_UNSURE = marked(
    "engine",
    "No difference can be shown: {better} is {value:.1f} points above {other} ({low:.1f} to {high:.1f}; "
    "p {p}).",
)
_SAME = marked("engine", "{first} and {second} are equally good on these texts.")
_SEEN = marked(
    "engine",
    "{name} was trained on {count:,} of these {total:,} texts, so they cannot show which is better.",
)
_BOTH_SEEN = marked(
    "engine",
    "{first} and {second} were both trained on many of these texts, so they cannot show which is better.",
)
_FEW = marked("engine", "One text says nothing about a difference.")


@dataclass(frozen=True, eq=False)
class ComparedModels:
    """Two models on the texts that both have answered. first_rows, second_rows: (E,) places in each.

    difference: texts that repeat each other are taken together. repeat: whether any do.
    """

    first: ScoredTable
    second: ScoredTable
    first_rows: Indices
    second_rows: Indices
    difference: Difference
    repeat: bool

    def __len__(self) -> int:
        return len(self.first_rows)

    def score(self, which: ScoredTable, rows: Indices) -> float:
        """Return the metric of one of them on these texts."""
        return float(SCORES[which.each.score](which.each.adds[rows].sum(0))) if len(rows) else 0.0

    @property
    def scores(self) -> tuple[float, float]:
        return self.score(self.first, self.first_rows), self.score(self.second, self.second_rows)

    @property
    def num_seen(self) -> tuple[int, int]:
        """How many of these texts each of the two has learned from."""
        sides = ((self.first.seen, self.first_rows), (self.second.seen, self.second_rows))
        ours, theirs = (int(seen[rows].sum()) if len(seen) else 0 for seen, rows in sides)
        return ours, theirs

    @property
    def differing(self) -> Indices:
        """Return (D,) places among these texts where the two answer differently."""
        first, second = self.first.each, self.second.each
        if first.names == second.names:
            return np.flatnonzero(first.predicted[self.first_rows] != second.predicted[self.second_rows])
        ours = np.asarray(first.names, object)[first.predicted[self.first_rows]]
        theirs = np.asarray(second.names, object)[second.predicted[self.second_rows]]
        return np.flatnonzero(ours != theirs)

    def sentence(self, first: str | Sentence, second: str | Sentence) -> Sentence:
        """Return what can be said of the difference. Args: what the two are called."""
        found, total = self.difference, len(self)
        told = zip((first, second), self.num_seen, strict=True)
        if seen := [(name, count) for name, count in told if count and count >= MANY * total]:
            values = {
                "name": seen[0][0],
                "count": seen[0][1],
                "total": total,
                "first": first,
                "second": second,
            }
            return Sentence(_BOTH_SEEN if len(seen) > 1 else _SEEN, values)
        if found.interval is None:
            return Sentence(_FEW)
        if not found.value:
            return Sentence(_SAME, {"first": first, "second": second})
        low, high = found.interval
        better, other = (second, first) if found.value > 0 else (first, second)
        if found.value < 0:
            low, high = -high, -low
        template = _BETTER if found.is_sure else _UNSURE
        numbers = {"value": 100 * abs(found.value), "low": 100 * low, "high": 100 * high}
        return Sentence(template, {"better": better, "other": other, "p": p_words(found.p_value), **numbers})


def compare_scored(first: ScoredTable, second: ScoredTable) -> ComparedModels:
    """Compare two models on the texts of the same file that both have answered.

    Raises: DataError if they are for different things, or share no text.
    """
    if first.task != second.task or first.metric != second.metric:
        template = marked("engine", "The two models do different things: {first} and {second}.")
        raise DataError(template, first=first.task, second=second.task)
    _, ours, theirs = np.intersect1d(first.listed.rows, second.listed.rows, return_indices=True)
    if not len(ours):
        raise DataError(marked("engine", "No text was answered by both models."))
    one, other = first.each, second.each
    groups = None
    if len(first.listed.texts) == len(first.listed):
        texts = [first.listed.texts[place] for place in ours.tolist()]
        pairs = first.listed.pairs
        groups = groups_of(texts, None if pairs is None else [pairs[place] for place in ours.tolist()])
        groups = None if is_single(groups) else groups
    adds, others = one.adds[ours], other.adds[theirs]
    score = SCORES[one.score]
    if one.score == SHARE and are_hits(adds) and are_hits(others):
        found = compared_hits(adds[:, 0] > 0.5, others[:, 0] > 0.5, groups)
    else:
        found = compared(adds, others, score, groups)
    return ComparedModels(first, second, ours, theirs, found, groups is not None)
