"""Whether a word has other vectors where it means something else: from the word table through the layers.

A step is the word table, 0, or a layer, 1 to L. In the word table a word has one vector wherever it stands;
what lies between, its position among the others, is part of the way to layer 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from engine.inspect.embeddings.similarity import nearest_of_each, spread, unit

# E uses of the word, L layers, D hidden_size

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]

MOST_DEALT = 20_000  # labellings that are all gone through
DRAWS, MOST_DRAWN = 9_999, 4_000_000  # labellings that are drawn; fewer of many uses
SURE = 0.05  # a verdict needs a p below this
SAME = 1e-6  # vectors of the word table that differ by no more are one


@dataclass(frozen=True, eq=False)
class Parting:
    """How far groups of vectors lie apart, beside what chance would give.

    within, between: mean cosine of two of one group, of two groups; NaN without such a pair. right: (E,)
    bool, whose nearest neighbour is of their group. nearest: (E,), which that is; -1 for a vector of no
    group. chance: how many would be right, in the mean, were the labels dealt anew. p: how often at least as
    many are right then.
    """

    within: float
    between: float
    right: npt.NDArray[np.bool_]
    nearest: Indices
    num_labelled: int
    chance: float
    p: float

    @property
    def num_right(self) -> int:
        """How many have a nearest neighbour of their own group."""
        return int(self.right.sum())

    @property
    def is_apart(self) -> bool:
        """Whether more neighbours are of one group than chance gives."""
        return self.p < SURE


@dataclass(frozen=True, eq=False)
class Meanings:
    """A word's uses at each step, and whether they part by meaning.

    maps: (L + 1, L + 1, E, 2), for each layer the uses at every step, on the two principal axes of that
    layer: unit vectors, so that distances follow the cosine, less their mean at that step. shares: (L + 1,)
    of the layer's variance that these axes hold; NaN where nothing varies. starts: how many different vectors
    the uses have in the word table. any_two: (L + 1,) the mean cosine of two uses, NaN of one. partings: of
    each step; none where fewer than two meanings are named.
    """

    maps: Floats
    shares: Floats
    starts: int
    any_two: Floats
    partings: tuple[Parting, ...]

    @property
    def num_layers(self) -> int:
        return len(self.maps) - 1

    def is_one_point(self, step: int) -> bool:
        """Whether all uses are one vector there, so that none is nearer to one than to another."""
        return step == 0 and self.starts == 1


def compare_meanings(table: Floats, layers: Floats, groups: Sequence[int] | Indices) -> Meanings:
    """Return what becomes of a word from the word table through the layers.

    Args: table: (E, D), the word's vector in the word table, for each use. layers: (L, E, D), from layer 1
    on. groups: (E,) the meaning of each use, -1 where none is given.
    """
    steps = np.concatenate([table[None], layers])
    numbers = np.asarray(groups, np.int64)
    maps, shares = _maps(steps, numbers)
    named = np.unique(numbers[numbers >= 0])
    partings = tuple(parting(vectors, numbers) for vectors in steps) if len(named) > 1 else ()
    alike = (spread(vectors).any_two for vectors in steps)
    any_two = np.array([np.nan if one is None else one for one in alike], np.float32)
    return Meanings(maps, shares, _num_different(table), any_two, partings)


def parting(vectors: Floats, groups: Sequence[int] | Indices) -> Parting:
    """Return how far groups of vectors lie apart, with its chance level.

    Neighbours are found among the vectors that have a group. Chance is exact: of a group of n among N, each
    neighbour is of it in (n - 1) of (N - 1) labellings. p is of all labellings, or of 9,999 of very many.

    Args: vectors: (E, D). groups: (E,), -1 for none.
    """
    numbers = np.asarray(groups, np.int64)
    inside = np.flatnonzero(numbers >= 0)
    about = spread(vectors, numbers)
    nearest, right = np.full(len(vectors), -1, np.int64), np.zeros(len(vectors), bool)
    chance, p = 0.0, 1.0
    if len(inside) > 1:
        near, own = nearest_of_each(vectors[inside]), numbers[inside]
        nearest[inside], right[inside] = inside[near], own[near] == own
        counts = np.unique(own, return_counts=True)[1]
        chance = float((counts * (counts - 1)).sum() / (len(own) - 1))
        p = _p(near, own, int(right.sum()))
    return Parting(
        within=np.nan if about.within is None else about.within,
        between=np.nan if about.between is None else about.between,
        right=right,
        nearest=nearest,
        num_labelled=len(inside),
        chance=chance,
        p=p,
    )


def _p(near: Indices, own: Indices, num_right: int) -> float:
    """Return the share of labellings with as many right neighbours: of all, or of those that are drawn.

    Where they are drawn, the given one counts among them, so that p is never nought.
    """
    counts = np.unique(own, return_counts=True)[1].tolist()
    places = np.unique(own, return_inverse=True)[1]
    if math.factorial(len(own)) // math.prod(map(math.factorial, counts)) <= MOST_DEALT:
        dealt = np.array(list(_labellings(counts, len(own))), np.int64)
        return float(((dealt[:, near] == dealt).sum(1) >= num_right).mean())
    draws = max(99, min(DRAWS, MOST_DRAWN // len(own)))
    keys = np.random.PCG64(1).random_raw(draws * len(own)).reshape(draws, -1)  # no numpy will change it
    dealt = places[np.argsort(keys, axis=1, kind="stable")]
    as_many = (dealt[:, near] == dealt).sum(1) >= num_right
    return float((1 + as_many.sum()) / (1 + draws))


def _labellings(counts: Sequence[int], total: int) -> Iterator[list[int]]:
    """Yield every way to deal groups of these sizes to `total` vectors."""
    if len(counts) < 2:
        yield [0] * total
        return
    last = len(counts) - 1
    for chosen in combinations(range(total), counts[last]):
        taken = set(chosen)
        for dealt in _labellings(counts[:last], total - counts[last]):
            left = iter(dealt)
            yield [last if place in taken else next(left) for place in range(total)]


def _maps(steps: Floats, numbers: Indices) -> tuple[Floats, Floats]:
    """Return (S, S, E, 2), a map for each step, and (S,) the share of its variance that the map holds.

    A map is turned, or mirrored, so that each use lies where it lies on the map of the next layer as nearly
    as can be; the last one so that its first principal axis goes across, the first group at the left.
    """
    apart = unit(steps).astype(np.float64)
    apart -= apart.mean(1, keepdims=True)
    found, after = np.zeros((len(steps), *apart.shape[:2], 2)), None
    for layer in range(len(steps) - 1, 0, -1):
        points = apart @ _axes(apart[layer]).T
        points = np.pad(points, ((0, 0), (0, 0), (0, 2 - points.shape[-1])))
        after = points[layer] @ _upright(points[layer], numbers) if after is None else after
        left, _sizes, right = np.linalg.svd(points[layer].T @ after)  # Procrustes
        found[layer] = points @ (left @ right)
        after = found[layer, layer]
    found[0] = found[1]
    total = (apart**2).sum((1, 2))
    held = (np.einsum("ssed->sed", found) ** 2).sum((1, 2))
    shares = np.where(total > SAME, held / np.maximum(total, 1e-30), np.nan)
    return found.astype(np.float32), shares.astype(np.float32)


def _axes(apart: np.ndarray) -> np.ndarray:
    """Return (up to 2, D), the principal axes of vectors (E, D) about their mean; of the smaller product."""
    count = min(2, *apart.shape)
    if len(apart) >= apart.shape[1]:
        found: np.ndarray = np.linalg.eigh(apart.T @ apart)[1][:, ::-1][:, :count].T
        return found
    along: np.ndarray = apart.T @ np.linalg.eigh(apart @ apart.T)[1][:, ::-1][:, :count]
    scaled: np.ndarray = along / np.maximum(np.linalg.norm(along, axis=0), 1e-12)
    return scaled.T


def _upright(points: np.ndarray, numbers: Indices) -> np.ndarray:
    """Return (2, 2), what mirrors points (E, 2) so that the first group lies left and above."""
    first = points[numbers == 0] if (numbers == 0).any() else points[:1]
    middle = first.mean(0)
    return np.diag([1.0 if middle[0] <= 0 else -1.0, 1.0 if middle[1] >= 0 else -1.0])


def _num_different(table: Floats) -> int:
    """Return how many of the vectors (E, D) differ."""
    found: list[np.ndarray] = []
    for vector in table:
        if not any(np.abs(vector - other).max() <= SAME for other in found):
            found.append(vector)
    return len(found)
