"""What members reached on the same questions: scores with their intervals, and which is best or tied with it.

Who is tied is told by a paired test over the questions, never by whether two intervals overlap: the same hard
questions lower all scores. A score that is not above chance is never best, nor one that the member had before
it was trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.evaluation.statistics import (
    SURE,
    Difference,
    TallyTable,
    compared,
    compared_hits,
    holm,
    interval_of,
    pearson_of,
    share_of,
)
from engine.train.metrics import NORMAL_95, wilson_interval

# E questions

LEAST_SHARE, LEAST_LOG, LEAST_RANK = 0.01, 0.05, 0.02  # a smaller difference is none to speak of


@dataclass(frozen=True, slots=True)
class ReachedScore:
    """What a member reached, its 95 % interval and over how many questions. is_best: it is above chance and
    above its start, and no other member is surely better on the same questions. start: what it reached before
    it was trained, None where that is not known. is_learned: surely more than that and enough to speak of,
    or that is not known. trainings: what each training of it reached, () of one.
    """

    value: float
    low: float
    high: float
    count: int
    is_best: bool = False
    start: float | None = None
    is_learned: bool = True
    trainings: tuple[float, ...] = ()


def share(hits: np.ndarray) -> ReachedScore:
    """Return the share of hits, with Wilson's interval."""
    count = len(hits)
    low, high = wilson_interval(int(hits.sum()), count)
    return ReachedScore(float(hits.mean()) if count else 0.0, low, high, count)


def perplexity(logs: np.ndarray, groups: np.ndarray) -> ReachedScore:
    """Return exp of minus the mean log; its interval is of sentences drawn anew. Args: groups: (N,)."""
    tallies = TallyTable.of(_columns(-logs), groups)
    interval = interval_of(tallies, share_of)
    mean = float(share_of(tallies.total))
    low, high = interval or (mean, mean)
    value, low, high = (float(np.exp(min(one, 700.0))) for one in (mean, low, high))
    return ReachedScore(value, low, high, len(logs))


def rank_score(x: np.ndarray, y: np.ndarray) -> ReachedScore | None:
    """Return the rank correlation with Fisher's interval, or None of fewer than three.

    Source of the error of its z: Bonett and Wright 2000. Of ranks that agree wholly the lower end is that of
    the nearest ones that do not: two neighbours changed.
    """
    if len(x) < 3:
        return None
    count, value = len(x), float(pearson_of(ranked(x, y).sum(0)))
    if count < 4:
        return ReachedScore(value, -1.0, 1.0, count)
    inner = math.copysign(min(abs(value), 1 - 12 / (count**3 - count)), value)
    half = NORMAL_95 * math.sqrt((1 + inner**2 / 2) / (count - 3))
    low, high = (math.tanh(math.atanh(inner) + side) for side in (-half, half))
    return ReachedScore(value, min(low, value), max(high, value), count)


Arrays = Mapping[str, np.ndarray]
UNKNOWN: Arrays = {}  # starts


def shares(hits: Arrays, chance: float = 0.0, starts: Arrays = UNKNOWN) -> dict[str, ReachedScore]:
    """Return the share of hits of each member on the same questions. Args: hits: (E,) bool each. starts: the
    same before training.
    """
    found = {name: share(one) for name, one in hits.items() if len(one)}
    begun = {name: (share(starts[name]).value, learned_hits(starts[name], hits[name])) for name in starts}
    return _with_best(
        _beside_starts(found, begun),
        lambda best, other: compared_hits(hits[other], hits[best]),
        {name for name, one in found.items() if one.low > chance},
    )


def perplexities(
    logs: Arrays, groups: np.ndarray, chance: np.ndarray | None = None, starts: Arrays = UNKNOWN
) -> dict[str, ReachedScore]:
    """Return the perplexity of each member on the same words.

    Args: logs: (N,) of each word's probability. groups: (N,), whose sentence it is. chance: (N,) logs of the
    words' shares of the text: who is not surely better guesses by frequency. starts: logs before training.
    """
    found = {name: perplexity(one, groups) for name, one in logs.items() if len(one)}
    begun = {
        name: (float(np.exp(min(700.0, -one.mean()))), beats(logs[name], one, groups, LEAST_LOG))
        for name, one in starts.items()
        if len(one)
    }
    above = {name for name in found if chance is None or beats(logs[name], chance, groups)}

    def compare(best: str, other: str) -> Difference:
        return compared(_columns(logs[other]), _columns(logs[best]), share_of, groups)

    return _with_best(_beside_starts(found, begun), compare, above, is_less_better=True)


def correlations(x: Arrays, y: np.ndarray, starts: Arrays = UNKNOWN) -> dict[str, ReachedScore]:
    """Return each member's rank correlation with the same numbers; none of fewer than three. Args: starts:
    the same before training.
    """
    scores = {name: rank_score(one, y) for name, one in x.items()}
    found = {name: one for name, one in scores.items() if one is not None}
    begun = {
        name: (before.value, _is_gain(correlated(one, x[name], y), LEAST_RANK))
        for name, one in starts.items()
        if (before := rank_score(one, y)) is not None
    }
    return _with_best(
        _beside_starts(found, begun),
        lambda best, other: correlated(x[other], x[best], y),
        {name for name, one in found.items() if one.low > 0.0},
    )


def correlated(first: np.ndarray, second: np.ndarray, y: np.ndarray) -> Difference:
    """Return by how much the second has the higher rank correlation with the same numbers."""
    return compared(ranked(first, y), ranked(second, y), pearson_of)


def beats(logs: np.ndarray, others: np.ndarray, groups: np.ndarray, least: float = 0.0) -> bool:
    """Whether the logs of one are surely the higher on the same words, and by so much on average."""
    return _is_gain(compared(_columns(others), _columns(logs), share_of, groups), least)


def learned_hits(before: np.ndarray, now: np.ndarray) -> bool:
    """Whether surely more questions are answered rightly than before. Args: (E,) bool each."""
    return _is_gain(compared_hits(before, now), LEAST_SHARE)


def _is_gain(found: Difference, least: float) -> bool:
    return found.value > 0 and found.value >= least and found.is_sure


def _beside_starts(
    found: Mapping[str, ReachedScore], begun: Mapping[str, tuple[float, bool]]
) -> dict[str, ReachedScore]:
    """Return scores with what there was before training, and whether they are surely more."""
    return {
        name: replace(one, start=begun[name][0], is_learned=begun[name][1]) if name in begun else one
        for name, one in found.items()
    }


def over_trainings(found: Sequence[Mapping[str, ReachedScore]]) -> dict[str, ReachedScore]:
    """Return the scores of the first training with what each reached. Args: found: a mapping a training."""
    if len(found) < 2:
        return dict(found[0])
    return {
        name: replace(one, trainings=tuple(each[name].value for each in found if name in each))
        for name, one in found[0].items()
    }


def _with_best(
    found: Mapping[str, ReachedScore],
    compare: Callable[[str, str], Difference],
    above: set[str],
    *,
    is_less_better: bool = False,
) -> dict[str, ReachedScore]:
    """Return scores with those marked that are best or tied with it. Args: above: who is above chance."""
    names = [name for name, one in found.items() if name in above and one.is_learned]
    if len(found) < 2 or not names:
        return dict(found)
    best = (min if is_less_better else max)(names, key=lambda name: found[name].value)
    others = [name for name in names if name != best]
    tests = [compare(best, name).p_value for name in others]
    tied = {best, *(name for name, p in zip(others, holm(tests), strict=True) if p >= SURE)}
    return {name: replace(one, is_best=name in tied) for name, one in found.items()}


def _columns(values: np.ndarray) -> np.ndarray:
    return np.stack([values, np.ones(len(values))], 1).astype(np.float64)


def ranked(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return (E, 6) what each pair adds to the sums of `pearson_of`, of ranks."""
    from scipy.stats import rankdata  # here: it takes long to import

    a, b = rankdata(x), rankdata(y)
    found: np.ndarray = np.stack([a, b, a * a, b * b, a * b, np.ones(len(a))], 1)
    return found
