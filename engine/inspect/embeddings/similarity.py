"""How alike vectors are: cosines, nearest neighbours, classes apart or together, an order for a matrix.

Everything here is plain numpy on vectors that exist already. Means over all pairs are exact, by one sum over
the vectors, not by a sample of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# E vectors, D hidden_size, C groups

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

ROWS_AT_ONCE = 1024  # of a matrix of similarities that is never held whole


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean cosine similarity of pairs: of one group, of different groups, and of any two vectors.

    within, between: None where there is no such pair.
    """

    within: float | None
    between: float | None
    any_two: float | None


def unit(vectors: Floats) -> Floats:
    """Return the vectors at length 1; a vector of zeros stays one. Args and returns: (..., D)."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Floats = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled


def similarities(vectors: Floats) -> Floats:
    """Return (E, E), the cosine similarity of each two vectors. Args: vectors: (E, D)."""
    scaled = unit(vectors)
    found: Floats = np.clip(scaled @ scaled.T, -1.0, 1.0)
    return found


def neighbours(vectors: Floats, place: int, count: int) -> tuple[Indices, Floats]:
    """Return the `count` vectors most like the one at `place`, itself left out, and their cosines."""
    scaled = unit(vectors)
    cosines = np.clip(scaled @ scaled[place], -1.0, 1.0)
    cosines[place] = -np.inf
    nearest = np.argsort(-cosines, kind="stable")[: min(count, len(vectors) - 1)]
    return nearest, cosines[nearest]


def nearest_of_each(vectors: Floats) -> Indices:
    """Return (E,), the vector most like each one, itself left out; the first of equals."""
    scaled = unit(vectors)
    found = np.zeros(len(scaled), np.int64)
    for start in range(0, len(scaled), ROWS_AT_ONCE):
        cosines = scaled[start : start + ROWS_AT_ONCE] @ scaled.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -np.inf
        found[start : start + ROWS_AT_ONCE] = cosines.argmax(1)
    return found


def spread(vectors: Floats, groups: Sequence[int] | Indices | None = None) -> Spread:
    """Return how alike pairs are. Args: vectors: (E, D). groups: (E,), -1 for a vector of no group."""
    scaled = unit(vectors).astype(np.float64)
    total, num_pairs = _sum_of_pairs(scaled)
    any_two = total / num_pairs if num_pairs else None
    if groups is None:
        return Spread(None, None, any_two)
    numbers = np.asarray(groups)
    total, num_pairs = _sum_of_pairs(scaled[numbers >= 0])
    inside, num_inside = 0.0, 0
    for number in np.unique(numbers[numbers >= 0]):
        sum_here, num_here = _sum_of_pairs(scaled[numbers == number])
        inside, num_inside = inside + sum_here, num_inside + num_here
    num_across = num_pairs - num_inside
    return Spread(
        within=inside / num_inside if num_inside else None,
        between=(total - inside) / num_across if num_across else None,
        any_two=any_two,
    )


def separation(vectors: Floats, groups: Sequence[int] | Indices) -> float:
    """Return how often a pair of one group is more alike than a pair of two groups, 0..1; ties count half.

    The area under the ROC curve of telling such pairs apart by their cosine. Args: vectors: (E, D), a few
    thousand at most, for all pairs are held.
    """
    numbers = np.asarray(groups)
    cosines = similarities(vectors)[np.triu_indices(len(vectors), 1)]
    same = (numbers[:, None] == numbers[None, :])[np.triu_indices(len(vectors), 1)]
    inside, across = cosines[same], np.sort(cosines[~same])
    if not len(inside) or not len(across):
        return 0.5
    below = np.searchsorted(across, inside, "left") + np.searchsorted(across, inside, "right")
    return float(below.mean() / (2 * len(across)))


def order_by_group(vectors: Floats, groups: Sequence[int] | Indices) -> Indices:
    """Return (E,) places, group after group, inside each the vector nearest to its middle first."""
    scaled, numbers = unit(vectors), np.asarray(groups)
    likeness = np.zeros(len(scaled))
    for number in np.unique(numbers):
        here = numbers == number
        likeness[here] = scaled[here] @ unit(scaled[here].mean(0))
    return np.lexsort((-likeness, np.where(numbers < 0, numbers.max(initial=0) + 1, numbers)))


def order_by_likeness(vectors: Floats) -> Indices:
    """Return (E,) places so that like vectors stand together: the leaves of a tree of clusters.

    Source: agglomerative clustering by mean cosine distance (scikit-learn).
    """
    if len(vectors) < 3:
        return np.arange(len(vectors))
    from sklearn.cluster import AgglomerativeClustering  # slow to import

    distances = np.maximum(1.0 - similarities(vectors), 0.0)
    tree = AgglomerativeClustering(n_clusters=1, metric="precomputed", linkage="average").fit(distances)
    leaves: dict[int, list[int]] = {place: [place] for place in range(len(vectors))}
    for number, (left, right) in enumerate(tree.children_.tolist(), start=len(vectors)):
        leaves[number] = _joined(leaves.pop(left), leaves.pop(right), distances)
    return np.asarray(leaves.popitem()[1], np.int64)


def _joined(left: list[int], right: list[int], distances: np.ndarray) -> list[int]:
    """Return two branches in a row, each turned so that their nearest ends meet."""
    turns = [(one, other) for one in (left, left[::-1]) for other in (right, right[::-1])]
    one, other = min(turns, key=lambda pair: distances[pair[0][-1], pair[1][0]])
    return one + other


def _sum_of_pairs(scaled: np.ndarray) -> tuple[float, int]:
    """Return the sum of cosines of all pairs of unit vectors (E, D), and how many pairs there are."""
    total = scaled.sum(0)
    squares = float((scaled**2).sum())  # E, less what is all zeros
    return (float(total @ total) - squares) / 2, len(scaled) * (len(scaled) - 1) // 2
