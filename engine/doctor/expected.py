"""How many labels are expected to be wrong, beyond what a classifier gets wrong by itself.

What it answers of rows that it has not learned from is taken as right up to its sharpness; then a share of
the labels is exchanged for another one, evenly. Both are chosen together, by what fits the labels best: an
error of the classifier is one where it is unsure, a wrong label is as frequent where it is sure. What it
answers is weighed so that each label is as frequent as among the rows. A label that is rare beside others
tells nothing of how many are exchanged, for hardly any is exchanged for it: its rows are not asked. Planted
shares of 0, 5 and 10 % came back so on questions, news, reviews, messages and Chinese titles
(benchmarks/README.md), where the joint of Confident Learning told 1.1 to 5 times as many.

Source: Northcutt et al. 2021, Confident Learning, for the question; Natarajan et al. 2013, Learning with
Noisy Labels, for labels exchanged at a rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.events import Beat, Steps

Shares = npt.NDArray[np.float64]

_RATES: Shares = np.concatenate(
    (np.arange(0, 0.02, 0.001), np.arange(0.02, 0.1, 0.0025), np.arange(0.1, 0.5, 0.01))
)
_SHARPNESS: Shares = np.geomspace(0.1, 4, 48)
_WEIGHED = 2  # times at each sharpness, begun at the weights of the one before
_RARE_BESIDE = 0.05  # of the rows of the second largest label
_MOST = 20_000  # rows that are asked
_WITHIN = 1.92  # of the best log likelihood: a 95 % interval
_TELLS = 10.0  # by so much likelier than by the shares of the labels alone, else nothing is told


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedErrors:
    """How many labels are expected to be wrong, with a 95 % interval. wrong: (E,) how likely each is."""

    count: int
    low: int
    high: int
    wrong: Shares


def expecting(probabilities: Shares, labels: npt.NDArray[Any]) -> Steps[ExpectedErrors | None]:
    """Return how many labels are expected to be wrong; None where the classifier tells nothing of them.

    Args: probabilities: (E, C) of each label, by what has not learned from the row. labels: (E,).
    """
    total = len(labels)
    logs = np.log(np.maximum(probabilities, 1e-12))
    counts = np.bincount(labels, minlength=logs.shape[1])
    is_common = counts >= max(1.0, _RARE_BESIDE * np.sort(counts)[-2])
    num_labels = int(is_common.sum())
    places = np.flatnonzero(is_common[labels])
    some = places[np.linspace(0, len(places) - 1, min(len(places), _MOST)).astype(np.int64)]
    own = (np.cumsum(is_common) - 1)[labels[some]]
    shares = np.bincount(own, minlength=num_labels) / len(own)
    asked = logs[np.ix_(some, np.flatnonzero(is_common))]
    fits = np.zeros((len(_SHARPNESS), len(_RATES)))
    weights = np.zeros((len(_SHARPNESS), num_labels))
    for place, sharp in enumerate(_SHARPNESS):
        weight = weights[max(0, place - 1)]
        for _ in range(_WEIGHED):
            weight = weight + np.log(shares) - np.log(_answers(asked, sharp, weight).mean(0))
            yield Beat()
        right = _answers(asked, sharp, weight)[np.arange(len(own)), own]
        fits[place] = [np.log(_seen(right, rate, num_labels) + 1e-12).sum() for rate in _RATES]
        weights[place] = weight
        yield Beat()
    if fits.max() - np.log(shares[own]).sum() < _TELLS:
        return None
    best = fits.max(0)
    within = _RATES[best >= best.max() - _WITHIN]
    chosen, rate = int(fits[:, best.argmax()].argmax()), _RATES[best.argmax()]
    weight = np.zeros(len(counts))
    weight[is_common] = weights[chosen]
    right = _answers(logs, _SHARPNESS[chosen], weight)[np.arange(total), labels]
    wrong = rate * (1 - right) / (num_labels - 1) / np.maximum(_seen(right, rate, num_labels), 1e-12)
    low, count, high = (round(float(each) * total) for each in (within[0], rate, within[-1]))
    return ExpectedErrors(count, low, high, wrong)


def _answers(logs: Shares, sharp: float, weight: Shares) -> Shares:
    """Return (E, C), how likely each label is, as sharp as that and weighed. Args: weight: (C,), a log."""
    scores = sharp * (logs - logs.max(1, keepdims=True)) + weight
    shares = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(shares / shares.sum(1, keepdims=True))


def _seen(right: Shares, rate: float, num_labels: int) -> Shares:
    """Return (E,), how likely each label is to be seen where a share of them is exchanged evenly."""
    return np.asarray((1 - rate) * right + rate * (1 - right) / (num_labels - 1))
