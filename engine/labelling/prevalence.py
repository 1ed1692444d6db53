"""The share of each label in a table that nobody has labelled, corrected for the model's errors.

What a model counts is biased: of each label it misses some texts and takes others for it. How often it takes
which label for which is known from labelled texts that it has not learned from; the shares under which its
counts are most probable are those that are told. It rests on one assumption, which is told with it: a text of
a label looks in the table as it looks among the labelled ones, only the shares differ (label shift).

Sources: the confusion matrix, Gart and Buck 1966; most probable shares by expectation and maximisation,
Saerens, Latinne and Decaestecker 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# C labels, H held-out texts, E texts of the table, R draws

Counts = npt.NDArray[np.int64]
Shares = npt.NDArray[np.float64]

DRAWS = 1000
PRIOR = 0.25  # texts added to each row of the confusion matrix: what was not seen may happen
DRAWN_PRIOR = 1.0  # the same in the draws; with the point's own, intervals of rare errors are too narrow
ENDS = 0.02, 0.98  # of the draws; in simulated tables these hold the truth in at least 95 %
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
    counted = answers / total
    rates = _rates(confusion)
    shares = most_likely(rates[None], counted[None])[0]
    texts = rng.multinomial(total, shares)  # of each label
    given = np.stack(
        [rng.multinomial(texts[label], rates[label], size=DRAWS) for label in range(len(shares))]
    )
    found = most_likely(_drawn_rates(confusion, rng), given.sum(0) / total)
    # the larger prior of the draws is to widen them, not to move them
    low, high = np.clip(shares + np.quantile(found, ENDS, axis=0) - np.median(found, axis=0), 0, 1)
    return Prevalence(counted, shares, low, high, total, int(confusion.sum()))


def _smoothed(confusion: Counts, prior: float) -> Shares:
    """Return (C, C) counts with some texts more in each row, spread over its cells as the columns are."""
    columns = (confusion.sum(0) + 1) / (confusion.sum() + len(confusion))
    return np.asarray(confusion + prior * columns)


def _rates(confusion: Counts) -> Shares:
    """Return (C, C) how often a text of a label gets which answer."""
    known = _smoothed(confusion, PRIOR)
    return np.asarray(known / known.sum(1, keepdims=True))


def _drawn_rates(confusion: Counts, rng: np.random.Generator) -> Shares:
    """Return (R, C, C) such rates as the held-out texts leave possible."""
    drawn = rng.standard_gamma(_smoothed(confusion, DRAWN_PRIOR), size=(DRAWS, *confusion.shape))
    return np.asarray(drawn / np.maximum(drawn.sum(2, keepdims=True), 1e-300))


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
