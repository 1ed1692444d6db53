"""The 95 % interval of a share, and of an F1, over texts that may belong together: pure functions of counts.

F1 is 2 J / (1 + J), where J is the share of hits among all that is true or answered. So whoever has the
interval of a share has that of an F1, and what is neither true nor answered tells nothing of either.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# P kinds of groups of texts, C shares

Numbers = npt.NDArray[np.float64]
TAIL = 0.025  # what lies outside on either side
FEW = 30  # groups, below which a spread that is less than that of hits is taken for chance
_DOUBT = 0.5  # of a group more that goes wholly the rarer way, which few groups may just not have shown


def exact_interval(hits: npt.ArrayLike, total: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Return the 95 % intervals of shares; 0 to 1 where nothing was seen. Both may be fractions.

    It holds the truth at least as often as it says, however few there are. Source: Clopper and Pearson 1934;
    scipy's binomtest(...).proportion_ci(method="exact").
    """
    from scipy.special import betaincinv  # here: it takes long to import

    seen, whole = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(total, np.float64))
    missed = np.maximum(whole - seen, 0.0)
    low, high = np.zeros(seen.shape), np.ones(seen.shape)
    some, short = seen > 0, missed > 0
    low[some] = betaincinv(seen[some], missed[some] + 1, TAIL)
    high[short] = betaincinv(seen[short] + 1, missed[short], 1 - TAIL)
    return low, high


def effective_size(hits: Numbers, of: Numbers, counts: npt.NDArray[np.int64]) -> Numbers:
    """Return (C,) how many independent texts would tell as much of each share as these groups do.

    The spread over groups tells (Kish 1965); few of them show too little of it now and then, so a half of a
    group more is thought of that goes the rarer way, and Student's t stands in for the normal (Korn and
    Graubard 1998). Where all is right or all wrong there is no spread: each group is one text, weighed.

    Args: hits, of: (P, C). counts: (P,), groups of each kind.
    """
    from scipy.special import stdtrit

    whole, squares = counts @ of, counts @ of**2
    share = _by(counts @ hits, whole)
    num_groups, kish = counts @ (of > 0), np.maximum(_by(whole**2, squares), 1.0)
    spread, errors = share * (1 - share), counts @ (hits - share * of) ** 2
    scaled = spread * whole**2 * np.maximum(num_groups - 1, 0) / np.maximum(num_groups, 1)
    doubt = _DOUBT * (np.maximum(share, 1 - share) * _by(squares, whole)) ** 2
    plain = 1 + np.divide(scaled, errors, out=np.full(len(whole), np.inf), where=errors > 0)
    doubted = np.maximum(1 + _by(scaled, errors + doubt), np.minimum(plain, kish))
    are_alone = kish > whole * (1 - 1e-9)  # every group is one text, and so no guess
    found = np.where(are_alone, plain, doubted)
    are_whole = (hits == np.floor(hits)).all(0)
    found = np.where(are_whole | (num_groups < FEW), np.minimum(found, np.maximum(whole, 1.0)), found)
    width = stdtrit(np.maximum(whole - 1, 1), 1 - TAIL) / stdtrit(np.maximum(kish - 1, 1), 1 - TAIL)
    found = np.where(are_alone, found, found * np.minimum(width, 1.0) ** 2)
    return np.where((spread <= 0) | (num_groups < 2), kish, found)


def share_intervals(
    hits: Numbers, of: Numbers, counts: npt.NDArray[np.int64]
) -> tuple[Numbers, Numbers, Numbers]:
    """Return (C,) low and high ends of the 95 % intervals of shares, and their effective sizes.

    Args: hits, of: (P, C), such as right words and words of a text, or of texts that belong together.
    """
    size = np.where(counts @ of > 0, effective_size(hits, of, counts), 0.0)
    low, high = exact_interval(np.clip(_by(counts @ hits, counts @ of), 0.0, 1.0) * size, size)
    return low, high, size


def f1_by_share(share: Numbers) -> Numbers:
    """Return F1 of the share of hits among all that is true or answered."""
    return np.asarray(2 * share / (1 + share))


def union_of(adds: Numbers) -> Numbers:
    """Return how much is true or answered. Args: adds: (..., 3), hits, answered and true."""
    return np.asarray(adds[..., 1] + adds[..., 2] - adds[..., 0])


def share_interval_of(adds: Numbers, counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the 95 % interval of one share. Args: adds: (P, 2), hits and what they are of."""
    low, high, _ = share_intervals(adds[:, :1], adds[:, 1:2], counts)
    return float(low[0]), float(high[0])


def f1_interval_of(adds: Numbers, counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the 95 % interval of one F1. Args: adds: (P, 3), hits, answered and true."""
    low, high, _ = share_intervals(adds[:, :1], union_of(adds)[:, None], counts)
    return float(f1_by_share(low)[0]), float(f1_by_share(high)[0])


def _by(part: Numbers, whole: Numbers) -> Numbers:
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
