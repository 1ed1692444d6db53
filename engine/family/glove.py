"""GloVe: vectors whose products are the logs of how often two words stand near each other.

    J = sum_ij f(X_ij) (w_i . w~_j + b_i + b~_j - log X_ij)^2,   f(x) = min(1, (x / x_max)^alpha)

X is counted once over the text, a neighbour at a distance d as 1 / d; J goes down by AdaGrad.
Source: Pennington et al. 2014, equations 8 and 9; the vector of a word is w + w~, as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.family.members import NUM_SPECIALS, SEP
from engine.family.word2vec import likeness

if TYPE_CHECKING:
    from scipy import sparse

# V words, D width, E pairs of words of a part of X

WINDOW, X_MAX, ALPHA, RATE = 10, 100.0, 0.75, 0.05
PART = 2**15  # pairs that are learned from at once


def cooccurrences(words: np.ndarray, num_words: int, window: int = WINDOW) -> sparse.csr_array:
    """Return X, (V, V), of a stream: both ways, within a sentence; unknown words are left out of it, so that
    those at their sides stand next to each other, as word2vec has it.
    """
    from scipy import sparse  # here: it takes long to import

    is_word = words >= NUM_SPECIALS
    sentence = np.cumsum(words == SEP)[is_word]
    words = words[is_word]
    total = sparse.csr_array((num_words, num_words))
    for d in range(1, window + 1):
        near = sentence[:-d] == sentence[d:]
        pairs = words[:-d][near], words[d:][near]
        total += sparse.coo_array(
            (np.full(len(pairs[0]), 1.0 / d), pairs), shape=(num_words, num_words)
        ).tocsr()
    return total + total.T


def f(x: np.ndarray) -> np.ndarray:
    """Return the weight of a count: rare pairs count less, frequent ones no more than the rest."""
    found: np.ndarray = np.minimum(1.0, (x / X_MAX) ** ALPHA)
    return found


@dataclass
class GloVe:
    """w, w_out: (V, D), w and w~; b, b_out: (V,)."""

    w: np.ndarray
    w_out: np.ndarray
    b: np.ndarray
    b_out: np.ndarray

    @classmethod
    def new(cls, num_words: int, width: int, seed: int) -> GloVe:
        """Return one with random weights, as the paper's program draws them."""
        rng = np.random.default_rng(seed)
        w = ((rng.random((2, num_words, width)) - 0.5) / width).astype(np.float32)
        return cls(w[0], w[1], np.zeros(num_words, np.float32), np.zeros(num_words, np.float32))

    def residuals(self, i: np.ndarray, j: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return (E,) w_i . w~_j + b_i + b~_j - log X_ij."""
        product = np.einsum("ed,ed->e", self.w[i], self.w_out[j])
        found: np.ndarray = product + self.b[i] + self.b_out[j] - np.log(x)
        return found

    def loss(self, i: np.ndarray, j: np.ndarray, x: np.ndarray) -> float:
        """Return J of some pairs."""
        return float((f(x) * self.residuals(i, j, x) ** 2).sum())

    def gradients(
        self, i: np.ndarray, j: np.ndarray, x: np.ndarray
    ) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Return J of some pairs and its gradients of w, w~, b, b~."""
        from scipy import sparse  # here: it takes long to import

        r = self.residuals(i, j, x)
        slopes = 2.0 * f(x) * r
        R = sparse.csr_array((slopes.astype(np.float32), (i, j)), shape=(len(self.w), len(self.w)))  # noqa: N806
        return float((slopes * r).sum() / 2), (
            R @ self.w_out,
            R.T @ self.w,
            np.bincount(i, weights=slopes, minlength=len(self.b)),
            np.bincount(j, weights=slopes, minlength=len(self.b)),
        )

    @property
    def weights(self) -> tuple[np.ndarray, ...]:
        return (self.w, self.w_out, self.b, self.b_out)

    @property
    def num_weights(self) -> int:
        return sum(weight.size for weight in self.weights)

    def vectors(self) -> np.ndarray:
        found: np.ndarray = self.w + self.w_out
        return found

    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        """Return (V,) the likeness of every word to the mean of all others' vectors: their cosine."""
        vectors = self.vectors()
        known = [word for word in [*words[:place], *words[place + 1 :]] if word >= NUM_SPECIALS]
        return likeness(vectors[known].mean(0) if known else np.zeros(vectors.shape[1]), vectors)


class AdaGrad:
    """Each number is moved by its gradient over the root of the sum of all its squares so far."""

    def __init__(self, model: GloVe, rate: float = RATE) -> None:
        self.model, self.rate = model, rate
        self.squares = [np.ones_like(weight) for weight in model.weights]

    def step(self, i: np.ndarray, j: np.ndarray, x: np.ndarray) -> float:
        """Go down once for some pairs; return their J before."""
        loss, gradients = self.model.gradients(i, j, x)
        for weight, square, gradient in zip(self.model.weights, self.squares, gradients, strict=True):
            weight -= (self.rate * gradient / np.sqrt(square)).astype(np.float32)
            square += (gradient * gradient).astype(np.float32)
        return loss
