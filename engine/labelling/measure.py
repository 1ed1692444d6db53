"""How good the labels make a model, and the share of each label in the table: of the random sample alone.

Texts that were chosen say too little of the table, whichever way they were chosen. So each labelled text is
answered by a regression that was not fitted to it, and those drawn at random are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.labelling.double_sampling import doubly_sampled
from engine.labelling.order import LabelOrder
from engine.labelling.prevalence import Prevalence
from engine.train.metrics import wilson_interval
from engine.train.ways.regression import Floats, Labels, held_out

# n labelled texts, E all texts, D width of the vectors, C labels

LEAST_SAMPLE = 20  # labelled texts drawn at random, below which no accuracy is told
LEAST_SHARES = 40  # and below which no shares are


@dataclass(frozen=True, eq=False)
class Sampled:
    """What the random sample says. labels: all that were given. sample: places of the texts in it.

    confusion: (C, C) how many of a label (row) got which answer (column). all_hits: texts that got their own
    label, of all that have one: those were chosen, so they tell nothing of the table.
    """

    labels: int
    sample: npt.NDArray[np.int64]
    confusion: npt.NDArray[np.int64]
    all_hits: int

    @property
    def count(self) -> int:
        """Texts in the sample."""
        return len(self.sample)

    @property
    def hits(self) -> int:
        """Texts in the sample that got their own label."""
        return int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """0 to 1; of an empty sample 0."""
        return self.hits / max(1, self.count)

    @property
    def every(self) -> float:
        """The accuracy on all labelled texts, 0 to 1."""
        return self.all_hits / max(1, self.labels)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy."""
        return wilson_interval(self.hits, self.count)


def sample_of(order: LabelOrder, places: Sequence[int], skipped: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return which labelled places are a random sample of the texts that were not skipped."""
    beginning = order.sample([*places, *skipped])
    return beginning[~np.isin(beginning, np.array([*skipped], np.int64))]


def on_sample(
    vectors: Floats,
    places: Sequence[int],
    targets: Labels,
    num_labels: int,
    sample: npt.NDArray[np.int64],
    strength: float,
    seed: int = 0,
) -> Sampled:
    """Return what the sample says of the labels given so far.

    Args: vectors: (E, D). places, targets: (n,) which texts have which label. sample: some of the places.
    """
    confusion = np.zeros((num_labels, num_labels), np.int64)
    answers = held_out(vectors[list(places)], targets, num_labels, strength, seed).argmax(1)
    is_in = np.isin(np.array(places), sample)
    np.add.at(confusion, (targets[is_in], answers[is_in]), 1)
    return Sampled(len(places), sample, confusion, int((answers == targets).sum()))


def shares_of(
    found: Sampled, probabilities: npt.NDArray[np.float64], places: Sequence[int], targets: Labels
) -> Prevalence | None:
    """Return the share of each label in the table; None: the sample is too small.

    A text with a label counts as that one. Args: probabilities: (E, C) of all texts, by the regression that
    has learned from all labels. places, targets: (n,) of these.
    """
    if found.count < LEAST_SHARES:
        return None
    count = probabilities.shape[1]
    others = np.bincount(np.delete(probabilities.argmax(1), list(places)), minlength=count)
    return doubly_sampled(found.confusion, others, np.bincount(targets, minlength=count))
