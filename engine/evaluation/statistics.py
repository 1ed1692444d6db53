"""How sure a score is, and a difference of two: pure functions over what each text adds to a score.

A score is a function of sums over texts: of (hits, texts) for accuracy, of (hits, answered, true) for F1. So
a resample is a draw of how often each kind of text is taken, and all resamples are one matrix product. The
same numbers give the same interval: the draws follow from a fixed seed.

Of shares and of F1, and of differences, no draws are asked: few texts, or few groups of them, do not show how
far chance goes. A difference's interval and its p-value are two sides of one thing: the interval holds 0 just
where the p-value is above SURE.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from engine.train.clusters import (
    exact_interval,
    f1_by_share,
    f1_interval_of,
    share_interval_of,
    share_intervals,
    union_of,
)
from engine.train.metrics import NORMAL_95, error_over_seeds, wilson_interval

# E texts, G groups of them (single texts where there are none), P kinds of groups, K sums, R resamples

Numbers = npt.NDArray[np.float64]
Score = Callable[[Numbers], Numbers]  # (..., K) sums -> (...) scores
MOST_RESAMPLES, LEAST_RESAMPLES = 9999, 1000
_DRAWS = 1e7  # of kinds of groups, over all resamples
_DRAWS_AT_ONCE = 2e6
MOST_KINDS = 20_000  # above it a score is as good as normal, and its error follows from leaving groups out
SURE = 0.05  # below it a difference is called one
MCNEMAR, STUDENT = "mcnemar", "student"  # what a difference was tested by


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
class TallyTable:
    """What each kind of group of texts adds to the sums of a score, and how many groups are of that kind.

    adds: (P, K). counts: (P,).
    """

    adds: Numbers
    counts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, columns: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> TallyTable:
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


def interval_of(tallies: TallyTable, score: Score, seed: int = 0) -> tuple[float, float] | None:
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
    return bounded_interval(TallyTable.of(columns, groups), share_of)


def bounded_interval(tallies: TallyTable, score: Score) -> tuple[float, float]:
    """Return the 95 % interval of a score from 0 to 1: of `share_of`, `f1_of` or `mean_f1_of`."""
    adds, counts = tallies.adds, tallies.counts
    if not tallies.num_groups:
        return 0.0, 1.0
    if score is mean_f1_of:
        return _mean_f1_interval(adds, counts)
    return (f1_interval_of if score is f1_of else share_interval_of)(adds, counts)


def _mean_f1_interval(adds: Numbers, counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the 95 % interval of a mean of F1 from those of its classes and how these go together.

    An end's distance is put together from those of the classes (the method of variance estimates recovery,
    Zou and Donner 2008), but never from less than the error of a class with a hit and a miss more (Agresti
    and Coull 1998), for a class that is all right by chance has no distance. F1 bends, so that that of few
    texts is too low on average, by its second derivative: this is taken off. The value itself is within.

    Args: adds: (P, 3C).
    """
    total = counts @ adds
    present = np.repeat((total.reshape(-1, 3)[:, 1:] > 0).any(1), 3)
    if not present.any():
        return 0.0, 1.0
    by_class = adds[:, present].reshape(len(adds), -1, 3)
    low, high, size = share_intervals(by_class[..., 0], union_of(by_class), counts)
    low, high = f1_by_share(low), f1_by_share(high)
    sums = total[present].reshape(-1, 3)
    f1, share = f1_of(sums), _by(sums[:, 0], union_of(sums))
    effects = (2 * by_class[..., 0] - f1 * (by_class[..., 1] + by_class[..., 2])) / (sums[:, 1] + sums[:, 2])
    together = (effects * counts[:, None]).T @ effects
    errors = np.sqrt(np.diag(together))
    together = _by(together, np.outer(errors, errors))
    np.fill_diagonal(together, 1.0)

    eased = (share * size + 1) / (size + 2)
    spread = eased * (1 - eased)
    bias = -2 / (1 + eased) ** 3 * spread / np.maximum(size, 1.0)
    least = NORMAL_95 * 2 / (1 + eased) ** 2 * np.sqrt(spread / (size + 1))
    value, middle = float(f1.mean()), float((f1 - bias).mean())
    below, above = (
        math.sqrt(max(0.0, float(apart @ together @ apart))) / len(f1)
        for apart in (np.maximum(f1 - low, least), np.maximum(high - f1, least))
    )
    return max(0.0, min(value, middle - below)), min(1.0, max(value, middle + above))


def correlation_interval(tallies: TallyTable) -> tuple[float, float] | None:
    """Return the 95 % interval of a correlation by groups: Fisher's z, its error by leaving groups out, and
    Student's t; None below three groups, and where one side has no spread.

    Source: Fisher 1921; the jackknife, Tukey 1958.
    """
    if tallies.num_groups < 3:
        return None
    value, without = float(pearson_of(tallies.total)), tallies.left_out(pearson_of)
    if not np.abs([value, *without]).max() < 1:
        return None
    error = _jackknife_error(np.arctanh(without), tallies.counts)
    (low, high), _ = student(math.atanh(value), error, tallies.num_groups - 1)
    return math.tanh(low), math.tanh(high)


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

    interval: None below two texts; without 0 just where it is sure. p_value: how often two that are equally
    good differ as much. test: MCNEMAR or STUDENT. only_first, only_second: texts that one of them alone gets
    right, None of a score that is no share of right texts.
    """

    value: float
    interval: tuple[float, float] | None
    p_value: float
    test: str
    only_first: int | None = None
    only_second: int | None = None

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance: the level is SURE."""
        return self.p_value < SURE


def compared_hits(
    first: npt.ArrayLike, second: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> Difference:
    """Compare two classifiers on the same texts: by McNemar's test; by group where texts belong together.

    The interval without groups is that of the share of texts that one alone gets right (Wilson), times that
    of how much more of these are the second's (exact, as the test), which alone decides its sign.

    Args: first, second: (E,) bool, where each is right.
    """
    one, other = np.asarray(first, bool), np.asarray(second, bool)
    only = int((one & ~other).sum()), int((other & ~one).sum())
    if groups is not None and not is_single(groups):
        ones = np.ones(len(one))
        found = compared(np.stack([one, ones], 1), np.stack([other, ones], 1), share_of, groups)
        return replace(found, only_first=only[0], only_second=only[1])
    total, count = sum(only), len(one)
    value = (only[1] - only[0]) / count if count else 0.0
    interval = None
    if count > 1:
        share, ends = total / count, wilson_interval(total, count)
        lean = (only[1] - only[0]) / total if total else 0.0
        lows, highs = exact_interval(only[1], total)
        low, high = 2 * float(lows) - 1, 2 * float(highs) - 1
        fewer, more = share - ends[0], ends[1] - share
        below = math.hypot(share * (lean - low), low * (fewer if low > 0 else more))
        above = math.hypot(share * (high - lean), high * (more if high > 0 else fewer))
        interval = max(-1.0, value - below), min(1.0, value + above)
    return Difference(value, interval, mcnemar(*only), MCNEMAR, *only)


def compared(
    first: npt.ArrayLike, second: npt.ArrayLike, score: Score, groups: npt.ArrayLike | None = None
) -> Difference:
    """Compare two scores on the same texts, by what each text, or each group of them, adds to the difference.

    Args: first, second: (E, K), what the texts add to each score.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    width = one.shape[1]
    tallies = TallyTable.of(np.concatenate([one, other], 1), groups)

    def difference(sums: Numbers) -> Numbers:
        return score(sums[..., width:]) - score(sums[..., :width])

    value = float(difference(tallies.total)) if tallies.num_groups else 0.0
    tells = (tallies.adds != 0).any(1) if tallies.num_groups else np.zeros(0, bool)
    counts = tallies.counts[tells]
    num_groups = int(counts.sum())
    if num_groups < 2:
        return Difference(value, None, 1.0, STUDENT)
    effects = value - tallies.left_out(difference)[tells]
    interval, p_value = student(
        value, *text_error(value, effects, counts), most=2.0 if score is pearson_of else 1.0
    )
    return Difference(value, interval, p_value, STUDENT)


def text_error(
    value: float, effects: Numbers, counts: npt.NDArray[np.int64] | None = None
) -> tuple[float, float]:
    """Return the standard error of a difference over texts, or groups of them, and its degrees of freedom.

    Two groups more are thought of, one that adds to each side as much as the group that adds most: of few
    groups all may lean to one side by chance, and then show no spread at all. Source: the jackknife (Tukey
    1958); for pairs, the answer more on each side of Agresti and Min 2005.

    Args: effects: (P,), by how much each group changes it. counts: (P,), groups of each kind; None: 1.
    """
    weights = np.ones(len(effects)) if counts is None else counts.astype(np.float64)
    total = float(weights.sum())
    mean = float(weights @ effects) / total
    parts = (total - 1) / total * (effects - mean) + value / total  # what each adds: together the value
    most = float(np.abs(parts).max()) or 1 / total
    squares = float(weights @ parts**2) + 2 * most**2 - value**2 / (total + 2)
    return total * math.sqrt(max(0.0, squares) / (total + 1) / (total + 2)), total - 1


def student(
    value: float, error: float, freedom: float, *, most: float = math.inf
) -> tuple[tuple[float, float], float]:
    """Return the 95 % interval of a value with an error, and how often chance goes as far: Student's t.

    Args: most: what the value cannot be above, on either side.
    """
    from scipy.special import stdtr, stdtrit  # here: it takes long to import

    half = float(stdtrit(freedom, 0.975)) * error
    p_value = float(2 * stdtr(freedom, -abs(value) / error)) if error else 1.0
    return (max(-most, value - half), min(most, value + half)), p_value


@dataclass(frozen=True, slots=True)
class SeedDifference:
    """The second's scores less the first's, seed by seed: mean, its 95 % interval, and how many agree.

    interval, p_value: of Student's paired test; None below LEAST_SEEDS, and where the seeds do not tell.
    spread: None below two. sign: how often chance alone has as many seeds on one side.
    """

    mean: float
    interval: tuple[float, float] | None
    spread: float | None
    higher: int
    lower: int
    sign: float
    p_value: float | None

    @property
    def count(self) -> int:
        return self.higher + self.lower


def over_seeds(first: Sequence[float], second: Sequence[float], rows: int = 0) -> SeedDifference:
    """Compare the scores of two ways to train, each pair of one seed. Raises: ValueError if there is none.

    Args: rows: what the scores were measured on, as `error_over_seeds` has it; 0 where nobody knows.
    """
    apart = [other - one for one, other in zip(first, second, strict=True)]
    if not apart:
        raise ValueError("no seeds")
    higher, lower = sum(one > 0 for one in apart), sum(one < 0 for one in apart)
    mean, count = statistics.fmean(apart), len(apart)
    sign = mcnemar(lower, higher)
    spread = statistics.stdev(apart) if count > 1 else None
    error = error_over_seeds(apart, rows, num_scores=2)
    if error is None:
        return SeedDifference(mean, None, spread, higher, lower, sign, None)
    interval, p_value = student(mean, error, count - 1)
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


def p_words(p: float) -> str:
    """Return a p-value in as many digits as matter: "= 0.12", "= 0.004", "< 0.001"."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}" if p < 0.1 else f"= {p:.2f}"


def _jackknife_error(without: Numbers, counts: npt.NDArray[np.int64]) -> float:
    """Return the standard error of a score from its values without one group."""
    total = int(counts.sum())
    mean = float(np.average(without, weights=counts))
    return math.sqrt((total - 1) / total * float(counts @ (without - mean) ** 2))


def _by(part: Numbers, whole: Numbers) -> Numbers:
    part, whole = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)
