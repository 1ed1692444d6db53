"""What mere counting tells of words: a vector for each, alike where words have the same neighbours.

The positive pointwise mutual information of words that stand near each other, cut down to its largest
dimensions: what word2vec's vectors come to. Source: Levy and Goldberg 2014, Neural Word Embedding as Implicit
Matrix Factorization; Levy et al. 2015 for weights by distance and the exponent 0.75.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import torch
from torch import Tensor

from engine.errors import marked
from engine.events import Event, Progress

WINDOW = 3  # words to each side, counted 1, 1/2, 1/3
MOST_WORDS = 8192  # the most frequent ones; rarer ones have no vector
MOST_TOKENS = 2**24  # of the text are counted
_AT_ONCE = 2**21  # 0.2 s
_ROUNDS, _MORE = 5, 32  # of the subspace iteration, and dimensions beyond those kept

# V words of the vocabulary, W of them counted, D dimensions


def neighbour_vectors(
    ids: np.ndarray, counts: np.ndarray, width: int, seed: int
) -> Generator[Event, None, Tensor]:
    """Return (V, D) float32 of rows of length 1; zeros for special tokens and words too rare.

    A generator of events whose return value is the vectors. Takes some 20 s and 0.6 GB at most.

    Args: ids: (N,) tokens of the text. counts: (V,) how often each is there, 0 for special tokens.
    """
    frequent = np.argsort(-counts, kind="stable")[:MOST_WORDS]
    frequent = np.sort(frequent[counts[frequent] > 0])
    number = np.full(len(counts), -1, np.int64)  # id -> its row
    number[frequent] = np.arange(len(frequent))
    near = yield from _near(ids, number, len(frequent))
    shared = _information(torch.from_numpy(near))
    kept = min(width, len(frequent))
    found = yield from _largest(shared, kept, seed)
    vectors = torch.zeros(len(counts), width)
    vectors[torch.from_numpy(frequent), : found.shape[1]] = found - found.mean(0)
    turn, _ = torch.linalg.qr(torch.randn(width, width, generator=torch.Generator().manual_seed(seed)))
    turned: Tensor = torch.nn.functional.normalize(vectors, dim=1) @ turn
    return turned  # so that no dimension says more than another


def _near(ids: np.ndarray, number: np.ndarray, size: int) -> Generator[Event, None, np.ndarray]:
    """Return (W, W) float32: how often the first stands a little before the second, weighted by nearness."""
    table = np.zeros(size * size, np.float32)
    total = min(len(ids), MOST_TOKENS)
    stage = marked("engine", "Counting neighbours")
    for distance in range(1, WINDOW + 1):
        for start in range(0, total - distance, _AT_ONCE):
            yield Progress(stage=stage, done=(distance - 1) * total + start, total=WINDOW * total)
            stop = min(start + _AT_ONCE, total - distance)
            first = number[ids[start:stop]]
            second = number[ids[start + distance : stop + distance]]
            known = (first >= 0) & (second >= 0)
            pairs, times = np.unique(first[known] * size + second[known], return_counts=True)
            table[pairs] += (times / distance).astype(np.float32)
    return table.reshape(size, size)


def _information(near: Tensor) -> Tensor:
    """Return the positive pointwise mutual information, (W, W), symmetric, in the place of the counts."""
    near.add_(near.t().clone())  # both sides; never more than two such tables in memory
    sums = near.sum(1)
    common = sums**0.75 / (sums**0.75).sum()
    near.div_(sums.clamp_min(1e-12)[:, None]).div_(common.clamp_min(1e-12)[None, :])
    near.log_().clamp_(min=0.0)  # also where nothing was counted, whose logarithm is -inf
    return near.add_(near.t().clone()).mul_(0.5)


def _largest(matrix: Tensor, kept: int, seed: int) -> Generator[Event, None, Tensor]:
    """Return the `kept` largest dimensions of a symmetric matrix, those with a positive eigenvalue."""
    rng = torch.Generator().manual_seed(seed)
    basis = torch.randn(len(matrix), min(kept + _MORE, len(matrix)), generator=rng)
    for round_ in range(_ROUNDS):
        yield Progress(stage=marked("engine", "Finding word vectors"), done=round_, total=_ROUNDS)
        basis, _ = torch.linalg.qr(matrix @ basis)
    values, turns = torch.linalg.eigh(basis.t() @ matrix @ basis)
    order = torch.argsort(values, descending=True)[:kept]
    order = order[values[order] > 0]
    found: Tensor = (basis @ turns[:, order]) * values[order].sqrt()
    return found
