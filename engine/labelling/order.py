"""Which text to label next: the first ones spread over all texts, then uncertain and different ones in turn,
and a share at random.

The random ones come from one shuffled list of all texts, from its beginning on: the texts up to where it has
been followed are a simple random sample of the table, whatever else was labelled, and only they say how good
a model is on the table. Nothing here is drawn anew: the same labels lead to the same next text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.train.ways.regression import Floats

# n labelled texts, E all texts, D width of the vectors, C labels

SPREAD, UNCERTAIN, DIFFERENT, RANDOM = "spread", "uncertain", "different", "random"
WHY = {
    SPREAD: marked("engine", "One of the first texts, which are spread over the whole table."),
    UNCERTAIN: marked("engine", "The model is uncertain about this text."),
    DIFFERENT: marked("engine", "This text differs from those that have a label."),
    RANDOM: marked("engine", "Drawn at random, to measure how good the labels make the model."),
}
RANDOM_SHARE = 0.25
NUM_SPREAD = 20  # texts that are labelled before a model chooses; no number is shown before, either
MOST_CANDIDATES = 50  # of the most uncertain texts, among which a different one is looked for
MOST_CLUSTERED = 5000  # texts that clusters are made from


@dataclass(frozen=True, slots=True)
class Choice:
    """A text to label, and why it comes now: one of WHY."""

    place: int
    why: str


class LabelOrder:
    """The order of one table's texts. Args: vectors: (E, D), standardized. random_share: 1: all at random."""

    def __init__(self, vectors: Floats, seed: int = 0, random_share: float = RANDOM_SHARE) -> None:
        if not 0 <= random_share <= 1:
            raise ValueError(random_share)
        self._vectors, self._seed, self._share = vectors, seed, random_share
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.directions: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        self.shuffled: npt.NDArray[np.int64] = np.random.default_rng(seed).permutation(len(vectors))
        self._spread = None if random_share == 1 else self._centres()

    def next(
        self,
        labelled: Sequence[int],
        probabilities: npt.NDArray[np.float64] | None,
        skipped: Sequence[int] = (),
    ) -> Choice | None:
        """Return the next text; None where all are done.

        Args: labelled: places that have a label, in any order. probabilities: (E, C) of the model that has
        learned from them; None: there is none yet. skipped: places that are not asked again.
        """
        is_open = np.ones(len(self._vectors), bool)
        is_open[list(labelled)] = is_open[list(skipped)] = False
        if not is_open.any():
            return None
        number = len(labelled)
        if self._is_random_turn(number):
            return Choice(int(self.shuffled[is_open[self.shuffled]][0]), RANDOM)
        spread = self._spread
        if spread is not None and (number < NUM_SPREAD or probabilities is None):
            left = spread[is_open[spread]]
            if len(left):
                return Choice(int(left[0]), SPREAD)
        if probabilities is None:
            return Choice(self._most_different(np.flatnonzero(is_open), labelled), DIFFERENT)
        places = np.flatnonzero(is_open)
        margins = margins_of(probabilities[places])
        if self._active_number(number) % 2 == 0:
            return Choice(int(places[margins.argmin()]), UNCERTAIN)
        candidates = places[np.argsort(margins, kind="stable")[:MOST_CANDIDATES]]
        return Choice(self._most_different(candidates, labelled), DIFFERENT)

    def sample(self, labelled: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the places of the longest beginning of the shuffled list that is labelled throughout: a
        simple random sample of all texts, apart from those that were skipped.
        """
        has_label = np.zeros(len(self._vectors), bool)
        has_label[list(labelled)] = True
        open_ones = np.flatnonzero(~has_label[self.shuffled])
        return self.shuffled[: int(open_ones[0]) if len(open_ones) else len(self.shuffled)]

    def _is_random_turn(self, number: int) -> bool:
        return int((number + 1) * self._share) > int(number * self._share)

    def _active_number(self, number: int) -> int:
        """Return how many of so many texts were not drawn at random."""
        return number - int(number * self._share)

    def _most_different(self, candidates: npt.NDArray[np.int64], labelled: Sequence[int]) -> int:
        """Return the candidate that is least similar to the labelled text most similar to it."""
        if not len(labelled):
            return int(candidates[0])
        likeness = self.directions[candidates] @ self.directions[list(labelled)].T
        return int(candidates[likeness.max(1).argmin()])

    def _centres(self) -> npt.NDArray[np.int64]:
        """Return the texts nearest to the middles of NUM_SPREAD clusters, the largest cluster first."""
        from sklearn.cluster import MiniBatchKMeans

        count = min(NUM_SPREAD, len(self._vectors))
        some = np.sort(self.shuffled[:MOST_CLUSTERED])
        made = MiniBatchKMeans(count, n_init=1, random_state=self._seed).fit(self.directions[some])
        sizes = np.bincount(made.labels_, minlength=count)
        found = list[int]()
        for cluster in np.argsort(-sizes, kind="stable"):
            far = ((self.directions[some] - made.cluster_centers_[cluster]) ** 2).sum(1)
            place = next(int(some[at]) for at in np.argsort(far, kind="stable") if int(some[at]) not in found)
            found.append(place)
        return np.array(found, np.int64)


def margins_of(probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return (E,) by how much the most probable label leads before the second, 0 to 1."""
    if probabilities.shape[1] < 2:
        return np.ones(len(probabilities))
    top = np.partition(probabilities, -2, axis=1)[:, -2:]
    return np.asarray(np.abs(top[:, 1] - top[:, 0]))
