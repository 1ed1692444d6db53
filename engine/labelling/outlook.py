"""What some more labels would bring: the accuracy on the random sample, told onwards by a power law.

Each text of the sample is answered by regressions that were fitted without it to a quarter, a half, three
quarters and all of the other labels. Error falls with labels as a power of their number; the power that goes
through these points best is followed onwards. The interval has two parts: the sample is small (its texts are
drawn anew, with weights), and some more labels are these and no others, so that what they bring scatters.

Sources: the power law, Figueroa et al. 2012, "Predicting sample size required for classification
performance"; texts drawn with weights, Rubin 1981, "The Bayesian bootstrap".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.events import Progress, Steps
from engine.train.ways.regression import FOLDS, Floats, Labels, fit, folds_of

# n labelled texts, S of them in the random sample, P parts of the labels, R draws

Numbers = npt.NDArray[np.float64]

MORE = 60  # labels that are told of
LEAST_SAMPLE = 20  # labelled texts drawn at random, below which nothing is told
WIDEST = 0.10  # interval beyond which it cannot be told either
LITTLE = 0.01  # a gain that is hardly worth the labels
PARTS = np.array([0.25, 0.5, 0.75, 1.0])  # of the labels in the other folds
REPEATS = 2  # partitions into folds
POWERS = (0.5, 1.0, 2.0)
DRAWS = 1000
SCATTER = 0.09  # see `_scatter`


@dataclass(frozen=True, slots=True)
class Outlook:
    """What `more` labels would add to the accuracy. low, high: the 95 % interval; may be below 0."""

    more: int
    low: float
    high: float

    @property
    def is_little(self) -> bool:
        """Whether more labels would hardly help."""
        return self.high < LITTLE


def foretold(
    vectors: Floats,
    places: Labels,
    targets: Labels,
    sample: Labels,
    strength: float,
    more: int = MORE,
    seed: int = 0,
) -> Steps[Outlook | None]:
    """Return what more labels would bring; None: that cannot be told. Yields Progress.

    Args: vectors: (E, D) of all texts. places, targets: (n,) which texts have which label. sample: (S,) those
    of the places that were drawn at random.
    """
    if len(sample) < LEAST_SAMPLE:
        return None
    is_in = np.isin(places, sample)
    hits = np.zeros((len(PARTS), len(places)))
    for number in range(REPEATS):
        hits += (yield from _hits(vectors[places], targets, is_in, strength, seed + number)) / REPEATS
    return told(hits[:, is_in], len(places), more, seed)


def told(hits: Numbers, num_labels: int, more: int = MORE, seed: int = 0) -> Outlook | None:
    """Return what the hits say of more labels; None: too little.

    Args: hits: (P, S) how often a text of the sample got its own label, 0 to 1, with each part of the labels.
    """
    rng = np.random.default_rng(seed)
    rising = np.linspace(0, 1, len(PARTS))[:, None]
    seen = np.concatenate([hits, rising, 1 - rising], axis=1)  # a text that is learned, one that is unlearned
    curves = rng.dirichlet(np.ones(seen.shape[1]), DRAWS) @ seen.T
    sizes = PARTS * num_labels * (FOLDS - 1) / FOLDS
    gains = followed(curves, sizes, num_labels, num_labels + more)
    gains += rng.normal(0, _scatter(float(seen[-1].mean()), num_labels, more), DRAWS)
    low, high = map(float, np.quantile(gains, (0.025, 0.975)))
    return Outlook(more, low, high) if high - low <= WIDEST else None


def followed(curves: Numbers, sizes: Numbers, start: int, end: int) -> Numbers:
    """Return (R,) by how much each curve rises from one number of labels to another.

    Args: curves: (R, P) accuracy at `sizes`, (P,). Of a - b m^-c, with b at least 0, the power c of POWERS is
    taken that leaves the least squares.
    """
    gains, least = np.zeros(len(curves)), np.full(len(curves), np.inf)
    centred = curves - curves.mean(1, keepdims=True)
    for power in POWERS:
        left = sizes**-power
        left = left - left.mean()
        slope = np.maximum(-(centred @ left) / (left @ left), 0)
        rest = ((centred + slope[:, None] * left) ** 2).sum(1)
        is_best = rest < least
        gains[is_best] = (slope * (float(start) ** -power - float(end) ** -power))[is_best]
        least = np.minimum(least, rest)
    return gains


def _scatter(accuracy: float, num_labels: int, more: int) -> float:
    """Return the standard deviation of what more labels bring around what they bring on average.

    Measured on film reviews and text messages, it is in proportion to the spread of a hit and to the share of
    labels that come: see bench_label_outlook.py, which tries it on other sets.
    """
    return SCATTER * float(np.sqrt(accuracy * (1 - accuracy))) * more / num_labels


def _hits(
    vectors: Floats, targets: Labels, is_asked: npt.NDArray[np.bool_], strength: float, seed: int
) -> Steps[Numbers]:
    """Return (P, n) 1 where a text that is asked got its own label by the parts of the other folds."""
    folds = folds_of(targets, seed)
    hits, rng = np.zeros((len(PARTS), len(targets))), np.random.default_rng(seed)
    for number in range(FOLDS):
        asked, others = np.flatnonzero((folds == number) & is_asked), np.flatnonzero(folds != number)
        others = rng.permutation(others)
        for place, part in enumerate(PARTS):
            some = others[: max(1, int(part * len(others)))]
            answering = fit(vectors[some], targets[some], strength)
            likely = answering.probabilities(vectors[asked], int(targets.max()) + 1)
            hits[place, asked] = likely.argmax(1) == targets[asked]
        yield Progress(stage=marked("engine", "Measuring"), done=number + 1, total=FOLDS)
    return hits
