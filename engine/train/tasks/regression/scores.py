"""How well numbers are predicted: correlations with their intervals, and errors.

Where all numbers of a side are equal there is no correlation: it is None here, never NaN.
"""

from __future__ import annotations

import math

import numpy as np

from engine.train.metrics import NORMAL_95

# E examples

_NO_SPREAD = 1e-13  # of the mean: what is left of equal numbers in float64


def pearson(one: np.ndarray, other: np.ndarray) -> float | None:
    """Return the correlation of two (E,) arrays, -1 to 1; None where one has no spread."""
    first, second = _centred(one), _centred(other)
    if first is None or second is None:
        return None
    return float(np.clip(first @ second, -1.0, 1.0))


def spearman(one: np.ndarray, other: np.ndarray) -> float | None:
    """Return the correlation of the ranks of two (E,) arrays, -1 to 1; None as `pearson`."""
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return None
    return pearson(ranks(one), ranks(other))


def ranks(values: np.ndarray) -> np.ndarray:
    """Return (E,), the rank of each value from 1; equal ones have the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    found: np.ndarray = ((2 * last - counts + 1) / 2)[places]
    return found


def pearson_interval(correlation: float, count: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a correlation of so many pairs; None below four.

    Source: Fisher 1921, as scipy's pearsonr(...).confidence_interval().
    """
    return _fisher(correlation, count, 1.0)


def spearman_interval(correlation: float, count: int) -> tuple[float, float] | None:
    """Return the 95 % interval of a correlation of ranks of so many pairs; None below four.

    Source: Bonett and Wright 2000, Fisher's with a larger variance.
    """
    return _fisher(correlation, count, 1.0 + correlation**2 / 2)


def _fisher(correlation: float, count: int, variance: float) -> tuple[float, float] | None:
    if count <= 3:
        return None
    if abs(correlation) >= 1.0:
        return correlation, correlation
    middle, half = math.atanh(correlation), NORMAL_95 * math.sqrt(variance / (count - 3))
    return math.tanh(middle - half), math.tanh(middle + half)


def _centred(values: np.ndarray) -> np.ndarray | None:
    """Return values less their mean, of length 1; None where they have no spread."""
    values = np.asarray(values, np.float64)
    if len(values) < 2 or not np.isfinite(values).all() or values.max() == values.min():
        return None
    mean = values.mean()
    centred: np.ndarray = values - mean
    largest = np.abs(centred).max()
    if largest <= _NO_SPREAD * abs(mean):
        return None
    centred = centred / largest
    found: np.ndarray = centred / np.sqrt(centred @ centred)
    return found
