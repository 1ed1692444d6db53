"""A regularised logistic regression on the vectors of a frozen encoder: what few labels teach best.

Fitted by L-BFGS to its end. How strongly it is regularised is chosen by cross-validation over the labelled
texts alone, by the mean log probability of the right label: with few labels, accuracy is too coarse to choose
by.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

# n labelled texts, E all texts, D width of the vectors, C labels

Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)  # of scikit-learn's C, on standardized vectors of mean length 1
USUAL_STRENGTH = 10.0  # while there are too few labels to choose by
LEAST_A_LABEL = 2  # examples of each of two labels, so that one can be held out
FOLDS = 5
LEAST_SQUARE = 1e-12  # of a direction's length, beside the longest one's, that is more than rounding
MOST_STEPS = 1000  # of L-BFGS; it ends by itself long before


@dataclass(frozen=True, eq=False)
class Scaling:
    """How vectors are brought to mean 0, equal spread and a mean squared length of 1. mean, factor: (D,)."""

    mean: npt.NDArray[np.float64]
    factor: npt.NDArray[np.float64]

    @classmethod
    def of(cls, vectors: Floats) -> Scaling:
        """Return what standardizes (E, D) vectors."""
        mean, spread = vectors.mean(0), vectors.std(0)
        return cls(mean, 1 / np.where(spread > 0, spread, 1) / np.sqrt(max(1, vectors.shape[1])))

    def applied(self, vectors: Floats) -> Floats:
        """Return (E, D) vectors at that scale."""
        found: Floats = ((vectors - self.mean) * self.factor).astype(np.float32)
        return found


def standardized(vectors: Floats) -> Floats:
    """Return (E, D) vectors whose dimensions have mean 0 and equal spread, at a mean squared length of 1."""
    return Scaling.of(vectors).applied(vectors)


@dataclass(frozen=True, eq=False)
class Regression:
    """A fitted one. labels: (K,) those it has seen, ascending. weights (K or 1, D), biases (K or 1,)."""

    labels: Labels
    weights: npt.NDArray[np.float64]
    biases: npt.NDArray[np.float64]

    def probabilities(self, vectors: Floats, num_labels: int) -> npt.NDArray[np.float64]:
        """Return (E, C) the probability of each label; 0 for one that it has not seen."""
        found = np.zeros((len(vectors), num_labels))
        if len(self.labels) == 1:
            found[:, self.labels[0]] = 1.0
            return found
        logits = vectors @ self.weights.T + self.biases
        if logits.shape[1] == 1:
            logits = np.concatenate([-logits, logits], axis=1) / 2
        logits -= logits.max(1, keepdims=True)
        likely = np.exp(logits)
        found[:, self.labels] = likely / likely.sum(1, keepdims=True)
        return found


def fit(vectors: Floats, targets: Labels, strength: float = USUAL_STRENGTH) -> Regression:
    """Fit a regression to (n, D) vectors of labelled texts and their (n,) labels; n may not be 0."""
    from sklearn.linear_model import LogisticRegression

    labels = np.unique(targets)
    if len(labels) == 1:
        return Regression(labels, np.zeros((1, vectors.shape[1])), np.zeros(1))
    with _one_thread(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")  # there are many, at first
        reduced, back = _turned(vectors)
        fitted: Any = LogisticRegression(C=strength, max_iter=MOST_STEPS).fit(reduced, targets)
        return Regression(labels, fitted.coef_ @ back, fitted.intercept_)


_lock, _inside = threading.Lock(), list[Any]()  # one entry for each fit under way; the first holds the limit


@contextmanager
def _one_thread() -> Iterator[None]:
    """Have matrices multiplied on one thread while any fit is under way.

    A fit is hundreds of small products. Where others use the cores, too, threads that wait for one another
    made it 30 to 90 times as slow. The limit is the process's own, so the last fit takes it back.
    """
    with _lock:
        _inside.append(None if _inside else _threadpools().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _inside.pop(0)
            if _inside:
                _inside[0] = limit
            else:
                limit.restore_original_limits()


@cache
def _threadpools() -> Any:
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()


def _turned(vectors: Floats) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the vectors in the directions that they span, (n, R), and the way back, (R, D).

    The fit is the same there, for its penalty does not change by a rotation, and with few texts it is
    quicker.
    """
    whole = vectors.astype(np.float64)
    if len(whole) >= whole.shape[1] or not whole.any():
        return whole, np.eye(whole.shape[1])
    squares, left = np.linalg.eigh(whole @ whole.T)  # an SVD, in half of its time
    spanned = squares > LEAST_SQUARE * squares[-1]
    sizes, left = np.sqrt(squares[spanned]), left[:, spanned]
    return left * sizes, (left / sizes).T @ whole


def folds_of(targets: Labels, seed: int, folds: int = FOLDS) -> npt.NDArray[np.int64]:
    """Return (n,) the fold of each labelled text; the examples of each label are spread evenly over them."""
    rng, found = np.random.default_rng(seed), np.zeros(len(targets), np.int64)
    start = 0
    for label in np.unique(targets):
        places = rng.permutation(np.flatnonzero(targets == label))
        found[places] = (start + np.arange(len(places))) % folds
        start += len(places)
    return found


def held_out(
    vectors: Floats, targets: Labels, num_labels: int, strength: float, seed: int, folds: int = FOLDS
) -> npt.NDArray[np.float64]:
    """Return (n, C) probabilities of each labelled text by a regression that was not fitted to it."""
    found = np.zeros((len(targets), num_labels))
    fold = folds_of(targets, seed, min(folds, len(targets)))
    for number in np.unique(fold):
        held = fold == number
        if held.all():
            found[held] = 1 / num_labels
            continue
        found[held] = fit(vectors[~held], targets[~held], strength).probabilities(vectors[held], num_labels)
    return found


def can_choose(targets: Labels) -> bool:
    """Whether there are enough labels to choose a strength by."""
    return int((np.bincount(targets) >= LEAST_A_LABEL).sum()) >= 2


def chosen_strength(vectors: Floats, targets: Labels, num_labels: int, seed: int = 0) -> float:
    """Return the strength of STRENGTHS under which held-out labels are most probable.

    The usual one stays where it is within one standard error of that: few labels tell little of it. Source
    of the rule: Breiman et al. 1984.
    """
    if not can_choose(targets):
        return USUAL_STRENGTH
    rows = np.arange(len(targets))
    floor = 1 / (10 * num_labels)  # of a label that the other folds have not seen
    gains = {}
    for strength in STRENGTHS:
        likely = held_out(vectors, targets, num_labels, strength, seed)[rows, targets]
        gains[strength] = np.log(np.maximum(likely, floor))
    best = max(STRENGTHS, key=lambda strength: float(gains[strength].mean()))
    short = gains[best] - gains[USUAL_STRENGTH]
    return USUAL_STRENGTH if short.mean() <= short.std() / np.sqrt(len(short)) else best
