"""From which score on a question is left without an answer: chosen on one half, reported on the other.

Both halves come from what was kept apart from training. Chosen and reported on the same questions, the
threshold would flatter itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A difference of scores above which no answer is given, and what it is worth on the two halves.

    chosen, reported: the mean score, 0..1, of the half it was chosen on and of the other. at_zero: of the
    other half, with a threshold of 0. num_chosen, num_reported: questions of each.
    """

    value: float
    chosen: float
    reported: float
    at_zero: float
    num_chosen: int
    num_reported: int


def choose_threshold(
    differences: Values, answered: Values, unanswered: Values, chosen: npt.NDArray[np.bool_]
) -> Threshold:
    """Return the threshold that is best on the chosen half, and what it is worth on the other.

    Between two differences it lies in the middle; of equally good ones it is the one nearest to 0.

    Args: differences: (Q,), of "no answer" to the best answer. answered, unanswered: (Q,), the score of each
    question, such as its F1, if it is answered, and if it is not. chosen: (Q,) bool, the half.
    """

    def worth(value: float, half: npt.NDArray[np.bool_]) -> float:
        scores = np.where(differences[half] > value, unanswered[half], answered[half])
        return float(scores.mean()) if len(scores) else 0.0

    order = np.argsort(differences[chosen], kind="stable")
    ordered = np.asarray(differences[chosen], np.float64)[order]
    gains = (answered[chosen] - unanswered[chosen])[order]
    totals = np.concatenate([[0.0], np.cumsum(gains)])  # of answering the first so many
    usable = np.ones(len(totals), bool)  # equal differences are answered together or not at all
    usable[1:-1] = ordered[1:] > ordered[:-1]
    fitting = _between(ordered)[usable & (totals >= totals[usable].max() - 1e-9)]
    value = float(fitting[np.argmin(np.abs(fitting))])
    return Threshold(
        value,
        worth(value, chosen),
        worth(value, ~chosen),
        worth(0.0, ~chosen),
        int(chosen.sum()),
        int((~chosen).sum()),
    )


def _between(values: Values) -> Values:
    """Return (n + 1,) numbers below, between and above sorted values; below and above 0 where that fits."""
    if not len(values):
        return np.zeros(1)
    finite = np.clip(values, -1e30, 1e30)
    below, above = finite[:1] - 1.0, finite[-1:] + 1.0
    return np.concatenate([np.minimum(below, 0.0), (finite[1:] + finite[:-1]) / 2, np.maximum(above, 0.0)])
