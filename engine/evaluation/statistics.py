"""How sure a score is, and a difference of two: pure functions over what each text adds to a score.

A score is a function of sums over texts: of (hits, texts) for accuracy, of (hits, answered, true) for F1. So
a resample is a draw of how often each kind of text is taken, and all resamples are one matrix product. The
same numbers give the same interval: the draws follow from a fixed seed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.train.metrics import NORMAL_95, student_interval, wilson_interval

# E texts, G groups of them (single texts where there are none), P kinds of groups, K sums, R resamples

Numbers = npt.NDArray[np.float64]
Score = Callable[[Numbers], Numbers]  # (..., K) sums -> (...) scores
LEVEL = 0.95
MOST_RESAMPLES, LEAST_RESAMPLES = 9999, 1000
_DRAWS = 1e7  # of kinds of groups, over all resamples
_DRAWS_AT_ONCE = 2e6
MOST_KINDS = 20_000  # above it a score is as good as normal, and its error follows from leaving groups out
SURE = 0.05  # below it a difference is called one


def share_of(sums: Numbers) -> Numbers:
    """Return the first sum by the second, such as hits by texts; 0 of nothing."""
    return _by(sums[..., 0], sums[..., 1])


def f1_of(sums: Numbers) -> Numbers:
    """Return F1 of (hits, answered, true); 0 of nothing."""
    return _by(2 * sums[..., 0], sums[..., 1] + sums[..., 2])


def mean_f1_of(sums: Numbers) -> Numbers:
    """Return the mean F1 over the classes that occur or are answered. Args: sums: (..., 3C), by class."""
    by_class = sums.reshape(*sums.shape[:-1], -1, 3)
    f1, present = f1_of(by_class), (by_class[..., 1] + by_class[..., 2]) > 0
    return _by(f1.sum(-1), present.sum(-1).astype(np.float64))


def pearson_of(sums: Numbers) -> Numbers:
    """Return the correlation from the sums of (x, y, xx, yy, xy, 1); 0 where a side has no spread."""
    x, y, xx, yy, xy, count = np.moveaxis(sums, -1, 0)
    spread = np.maximum(count * xx - x * x, 0.0) * np.maximum(count * yy - y * y, 0.0)
    return np.clip(_by(count * xy - x * y, np.sqrt(spread)), -1.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """What each kind of group of texts adds to the sums of a score, and how many groups are of that kind.

    adds: (P, K). counts: (P,).
    """

    adds: Numbers
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, columns: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> Tallies:
        """Return what texts add. Args: columns: (E, K). groups: (E,), equal where texts belong together."""
        adds = np.asarray(columns, np.float64)
        if groups is not None:
            adds = in_groups(adds, groups)
        if not len(adds):
            return cls(adds, np.zeros(0, np.int64))
        codes = _codes(adds)
        order = np.lexsort(adds.T[::-1]) if codes is None else np.argsort(codes, kind="stable")
        adds = adds[order]
        is_new = (adds[1:] != adds[:-1]).any(1) if codes is None else np.diff(codes[order]) != 0
        firsts = np.flatnonzero(np.append(True, is_new))
        return cls(adds[firsts], np.diff(np.append(firsts, len(adds))))

    @property
    def total(self) -> Numbers:
        """(K,) the sums over all groups."""
        return np.asarray(self.counts @ self.adds)

    @property
    def num_groups(self) -> int:
        return int(self.counts.sum())

    def resampled(self, score: Score, seed: int = 0) -> Numbers:
        """Return (R,) scores of as many groups, drawn with replacement."""
        num_kinds, num_groups = self.adds.shape[0], self.num_groups
        count = int(np.clip(_DRAWS / num_kinds, LEAST_RESAMPLES, MOST_RESAMPLES))
        rng, found = np.random.default_rng(seed), np.empty(count)
        at_once = max(1, int(_DRAWS_AT_ONCE / num_kinds))
        shares = self.counts / num_groups
        for start in range(0, count, at_once):
            size = min(at_once, count - start)
            found[start : start + size] = score(rng.multinomial(num_groups, shares, size) @ self.adds)
        return found

    def left_out(self, score: Score) -> Numbers:
        """Return (P,) the scores without one group of each kind."""
        return score(self.total - self.adds)


def _codes(adds: Numbers) -> npt.NDArray[np.int64] | None:
    """Return (E,) a number for each row, equal where rows are; None where they are no small whole numbers."""
    most = adds.max(0)
    if adds.min() < 0 or float(np.log2(most + 1).sum()) > 60 or (adds != np.floor(adds)).any():
        return None
    codes = np.zeros(len(adds), np.int64)
    for column, largest in zip(adds.T, most, strict=True):
        codes = codes * (int(largest) + 1) + column.astype(np.int64)
    return codes


def in_groups(columns: Numbers, groups: npt.ArrayLike) -> Numbers:
    """Return (G, K) sums over the texts of each group."""
    names = np.asarray(groups)
    places = np.unique(names, return_inverse=True)[1]
    count = int(places.max(initial=-1)) + 1
    sums = [np.bincount(places, column, count) for column in columns.T]
    return np.stack(sums, 1) if sums else np.zeros((count, 0))


def interval_of(tallies: Tallies, score: Score, seed: int = 0) -> tuple[float, float] | None:
    """Return the 95 % interval of a score by resampling: Efron's bias-corrected and accelerated bootstrap.

    None below two groups, and where no resample differs from another: the texts then do not tell. Source:
    Efron 1987; scipy.stats.bootstrap(method="BCa").
    """
    if tallies.num_groups < 2:
        return None
    point, without = float(score(tallies.total)), tallies.left_out(score)
    if len(tallies.counts) > MOST_KINDS:
        half = NORMAL_95 * _jackknife_error(without, tallies.counts)
        return point - half, point + half
    return bca(point, tallies.resampled(score, seed), without, tallies.counts)


def bca(
    point: float, draws: Numbers, without: Numbers, counts: npt.NDArray[np.int64] | None = None
) -> tuple[float, float] | None:
    """Return the 95 % interval that the bootstrap draws of a score give; None where they are all equal.

    Args: draws: (R,). without: (P,) scores without one group. counts: (P,), groups of each kind; None: 1.
    """
    from scipy.special import ndtr, ndtri  # here: it takes long to import

    if draws.min() == draws.max():
        return None
    weights = np.ones(len(without)) if counts is None else counts.astype(np.float64)
    below = (np.mean(draws < point) + np.mean(draws <= point)) / 2
    least = 1 / (2 * len(draws))
    bias = ndtri(np.clip(below, least, 1 - least))
    apart = float(np.average(without, weights=weights)) - without
    squares, cubes = float(weights @ apart**2), float(weights @ apart**3)
    acceleration = cubes / (6 * squares**1.5) if squares else 0.0
    ends = []
    for z in (-NORMAL_95, NORMAL_95):
        shifted = bias + z
        ends.append(float(ndtr(bias + shifted / (1 - acceleration * shifted))))
    low, high = np.quantile(draws, ends)
    return float(low), float(high)


def share_interval(
    hits: float, total: int, columns: Numbers | None = None, groups: npt.ArrayLike | None = None
) -> tuple[float, float]:
    """Return the 95 % interval of a share such as accuracy: Wilson's; by group where texts belong together.

    Args: columns: (E, 2) hits and ones, for groups.
    """
    if columns is None or groups is None or is_single(groups):
        return wilson_interval(hits, total)
    return bounded_interval(Tallies.of(columns, groups), share_of)


def bounded_interval(tallies: Tallies, score: Score, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % interval of a score from 0 to 1: `interval_of`, else, as of a share of the groups.

    Where all is right, resampling sees no spread, though few texts do not tell that nothing is ever wrong.
    """
    found = interval_of(tallies, score, seed)
    if found is None:
        point = float(score(tallies.total)) if tallies.num_groups else 0.0
        return wilson_interval(point * tallies.num_groups, tallies.num_groups)
    return max(0.0, found[0]), min(1.0, found[1])


def is_single(groups: npt.ArrayLike) -> bool:
    """Whether no two texts belong together."""
    return len(np.unique(np.asarray(groups))) == np.asarray(groups).size


def mcnemar(only_first: int, only_second: int) -> float:
    """Return how often chance alone gives such a difference of two classifiers on the same texts.

    The exact, two-sided test of the texts that one of them alone gets right. 1 where there are none.

    Source: McNemar 1947; statsmodels' mcnemar(exact=True).
    """
    total = only_first + only_second
    from scipy import stats  # here: it takes long to import

    return float(stats.binomtest(only_first, total).pvalue) if total else 1.0


@dataclass(frozen=True, slots=True)
class Difference:
    """The second's score less the first's on the same texts, its 95 % interval, and chance's part in it.

    interval: None below two texts. p_value: how often two that are equally good differ as much.
    test: "mcnemar" or "bootstrap". only_first, only_second: texts that one of them alone gets right.
    """

    value: float
    interval: tuple[float, float] | None
    p_value: float
    test: str
    only_first: int = 0
    only_second: int = 0

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance: the level is SURE."""
        return self.p_value < SURE


def compared_hits(
    first: npt.ArrayLike, second: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> Difference:
    """Compare two classifiers on the same texts. Args: first, second: (E,) bool, where each is right."""
    one, other = np.asarray(first, bool), np.asarray(second, bool)
    ones = np.ones(len(one))
    columns = np.stack([one, ones], 1), np.stack([other, ones], 1)
    found = compared(columns[0], columns[1], share_of, groups)
    only_first, only_second = int((one & ~other).sum()), int((other & ~one).sum())
    is_paired = groups is None or is_single(groups)
    p_value = mcnemar(only_first, only_second) if is_paired else found.p_value
    test = "mcnemar" if is_paired else "bootstrap"
    interval = found.interval
    if interval is None and len(one) > 1:  # the same everywhere, or the other way round everywhere
        interval = found.value, found.value
    return Difference(found.value, interval, p_value, test, only_first, only_second)


def compared(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    score: Score,
    groups: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Difference:
    """Compare two scores on the same texts by resampling both together.

    p_value: how often a resample's difference is as far from this one as this one is from none, which is how
    far chance goes; one is added to both counts, so that it is never 0.

    Args: first, second: (E, K), what the texts add to each score.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    width = one.shape[1]
    tallies = Tallies.of(np.concatenate([one, other], 1), groups)

    def difference(sums: Numbers) -> Numbers:
        return score(sums[..., width:]) - score(sums[..., :width])

    value = float(difference(tallies.total)) if tallies.num_groups else 0.0
    if tallies.num_groups < 2:
        return Difference(value, None, 1.0, "bootstrap")
    without = tallies.left_out(difference)
    if len(tallies.counts) > MOST_KINDS:
        from scipy.special import ndtr  # here: it takes long to import

        error = _jackknife_error(without, tallies.counts)
        p_value = float(2 * ndtr(-abs(value) / error)) if error else 1.0
        return Difference(value, (value - NORMAL_95 * error, value + NORMAL_95 * error), p_value, "bootstrap")
    draws = tallies.resampled(difference, seed)
    as_far = np.abs(draws - value) >= abs(value) * (1 - 1e-12)
    p_value = float((as_far.sum() + 1) / (len(draws) + 1))
    interval = bca(value, draws, without, tallies.counts)
    if interval is None:  # every resample says the same: of one kind of text nobody can tell more
        interval, p_value = (value, value), 1.0
    return Difference(value, interval, p_value, "bootstrap")


@dataclass(frozen=True, slots=True)
class SeedDifference:
    """The second's scores less the first's, seed by seed: mean, its 95 % interval, and how many agree.

    interval, spread: None below two seeds. sign: how often chance alone has as many seeds on one side.
    """

    mean: float
    interval: tuple[float, float] | None
    spread: float | None
    higher: int
    lower: int
    sign: float
    p_value: float | None  # of Student's paired test

    @property
    def count(self) -> int:
        return self.higher + self.lower


def over_seeds(first: Sequence[float], second: Sequence[float]) -> SeedDifference:
    """Compare the scores of two ways to train, each pair of one seed. Raises: ValueError if there is none."""
    apart = [other - one for one, other in zip(first, second, strict=True)]
    if not apart:
        raise ValueError("no seeds")
    higher, lower = sum(one > 0 for one in apart), sum(one < 0 for one in apart)
    mean = statistics.fmean(apart)
    sign = mcnemar(lower, higher)
    if len(apart) < 2:
        return SeedDifference(mean, None, None, higher, lower, sign, None)
    spread = statistics.stdev(apart)
    error = spread / math.sqrt(len(apart))
    if not error:
        return SeedDifference(mean, (mean, mean), spread, higher, lower, sign, 1.0 if not mean else 0.0)
    from scipy import stats  # here: it takes long to import

    p_value = float(2 * stats.t.sf(abs(mean) / error, len(apart) - 1))
    interval = student_interval(mean, error, len(apart))
    return SeedDifference(mean, interval, spread, higher, lower, sign, p_value)


def holm(p_values: npt.ArrayLike) -> Numbers:
    """Return p-values corrected for how many were tried, so that one false alarm in all stays as rare.

    Source: Holm 1979; statsmodels' multipletests(method="holm").
    """
    found = np.asarray(p_values, np.float64)
    order, count = np.argsort(found, kind="stable"), len(found)
    corrected = np.empty(count)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(found[order] * (count - np.arange(count))))
    return corrected


def _jackknife_error(without: Numbers, counts: npt.NDArray[np.int64]) -> float:
    """Return the standard error of a score from its values without one group."""
    total = int(counts.sum())
    mean = float(np.average(without, weights=counts))
    return math.sqrt((total - 1) / total * float(counts @ (without - mean) ** 2))


def _by(part: Numbers, whole: Numbers) -> Numbers:
    part, whole = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
