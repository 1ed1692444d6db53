"""The share of each label in a table that nobody has labelled, corrected for the model's errors.

What a model counts is biased: of each label it misses some texts and takes others for it. How often it takes
which label for which is known from labelled texts that it has not learned from; the shares that are told are
those that agree with both, with the doubt that few such texts leave. It rests on one assumption, which is
told with it: a text of a label looks in the table as it looks among the labelled ones, only the shares differ
(label shift).

Sources: the confusion matrix, Gart and Buck 1966; shares and errors drawn in turn from what is known of them,
all shares as probable before, Joseph, Gyorkos and Coupal 1995; the most probable shares, where the draws
begin, Saerens, Latinne and Decaestecker 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# C labels, H held-out texts, E texts of the table, R draws

Counts = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]

CHAINS, CELLS = 200, 200_000  # that draw side by side; of all their confusion matrices together, at most
STEPS, LEFT_OUT = 200, 50  # of each chain; the first ones, in which it finds its way
PRIOR = 1.0  # texts added to each row of the confusion matrix: what was not seen may happen
ENDS = 0.015, 0.985  # of the draws; in simulated surveys of four sets these held the truth in 0.95 to 0.97
LEAST = 1e-9  # of what is drawn, so that nothing is divided by 0
MOST_ROUNDS = 1000
CLOSE = 1e-6  # a round that moves no share further is the last


@dataclass(frozen=True, eq=False)
class Prevalence:
    """The shares of C labels in E texts.

    counted: (C,) what the model answers. shares: (C,) corrected. low, high: (C,) a 95 % interval of
    the latter, which counts that only H texts say how the model errs, and that E texts are finite.
    """

    counted: Shares
    shares: Shares
    low: Shares
    high: Shares
    num_texts: int
    num_held_out: int


def prevalence(confusion: Counts, answers: Counts, seed: int = 0) -> Prevalence:
    """Return the shares of labels in a table.

    Args: confusion: (C, C), how many held-out texts of a label (row) got which answer (column). answers: (C,)
    how many texts of the table got which answer; at least one did.
    """
    rng, total = np.random.default_rng(seed), int(answers.sum())
    drawn = _drawn(confusion, answers, rng) / total
    low, high = np.quantile(drawn, ENDS, axis=0)
    return Prevalence(answers / total, drawn.mean(0), low, high, total, int(confusion.sum()))


def _drawn(confusion: Counts, answers: Counts, rng: np.random.Generator) -> Shares:
    """Return (R, C) how many texts of the table may have each label."""
    known, kept = _smoothed(confusion), list[Counts]()
    chains = int(np.clip(CELLS // known.size, 1, CHAINS))
    rates = _simplex(np.broadcast_to(known, (chains, *known.shape)), rng)
    shares = most_likely(rates, np.tile(answers / answers.sum(), (chains, 1)))
    for step in range(STEPS):
        likely = np.maximum(shares[:, :, None] * rates, LEAST)
        likely /= likely.sum(1, keepdims=True)  # (R, C, C): of an answer (last), that a text has the label
        texts = np.stack(
            [rng.multinomial(count, likely[:, :, answer]) for answer, count in enumerate(answers)], axis=2
        )
        shares, rates = _simplex(1 + texts.sum(2), rng), _simplex(known + texts, rng)
        if step >= LEFT_OUT:
            kept.append(texts.sum(2))
    return np.concatenate(kept)


def _simplex(counts: npt.NDArray[Any], rng: np.random.Generator) -> Shares:
    """Return shares that counts leave possible, drawn along the last axis (Dirichlet)."""
    drawn = np.maximum(rng.standard_gamma(counts), LEAST)
    return np.asarray(drawn / drawn.sum(-1, keepdims=True))


def _smoothed(confusion: Counts) -> Shares:
    """Return (C, C) counts with PRIOR more in each row, spread over its cells as the columns are."""
    columns = (confusion.sum(0) + 1) / (confusion.sum() + len(confusion))
    return np.asarray(confusion + PRIOR * columns)


def most_likely(rates: Shares, counted: Shares) -> Shares:
    """Return (R, C) the shares under which what was counted is most probable.

    Args: rates: (R, C, C), how often a text of a label gets which answer. counted: (R, C), 1 together.
    """
    shares = np.full(counted.shape, 1 / counted.shape[1])
    for _ in range(MOST_ROUNDS):
        expected = np.einsum("rc,rca->ra", shares, rates)
        ratio = counted / np.maximum(expected, 1e-300)
        moved = shares * np.einsum("rca,ra->rc", rates, ratio)
        moved /= moved.sum(1, keepdims=True)
        furthest = np.abs(moved - shares).max()
        shares = moved
        if furthest < CLOSE:
            break
    return shares
