"""Which text to label next: the first ones spread over all texts, then uncertain and different ones in turn,
and a share at random.

The random ones come from one shuffled list of all texts, from its beginning on: the texts up to where it has
been followed are a simple random sample of the table, whatever else was labelled, and only they say how good
a model is on the table. How large the share is says only how soon the list is followed further, so it may
change at any time: no draw needs a weight. Nothing here is drawn anew: the same labels lead to the same next
text.

A text that is the same as one with a label is not chosen for what it teaches: that would be nothing new.
Drawn at random it is asked again: it stands for itself in the table, and to copy an answer that was perhaps
wrong, or to leave it out, would make the sample another one than it is said to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.labelling.labelled import RANDOM_SHARE
from engine.train.ways.regression import Floats

# n labelled texts, E all texts, D width of the vectors, C labels

SPREAD, UNCERTAIN, DIFFERENT, RANDOM, LIKE = "spread", "uncertain", "different", "random", "like"
WHY = {
    SPREAD: marked("engine", "One of the first texts, from all over the table."),
    UNCERTAIN: marked("engine", "The model is uncertain about this text."),
    DIFFERENT: marked("engine", "This text differs from those that have a label."),
    RANDOM: marked("engine", "Drawn at random, to measure the model."),
    LIKE: marked("engine", "One of the most similar to the text you chose."),
}
TURNS = SPREAD, UNCERTAIN, DIFFERENT, RANDOM  # that take turns; the others come between
NUM_LIKE = 5  # texts that are like another
NUM_SPREAD = 20  # texts that are labelled before a model chooses; no number is shown before, either
MOST_CANDIDATES = 50  # of the most uncertain texts, among which a different one is looked for
MOST_CLUSTERED = 5000  # texts that clusters are made from


@dataclass(frozen=True, slots=True)
class Choice:
    """A text to label, and why it comes now: one of WHY."""

    place: int
    why: str


class LabelOrder:
    """The order of one table's texts.

    Args: vectors: (E, D), standardized. same: (E,) one number for texts that are the same; None: all differ.
    """

    def __init__(self, vectors: Floats, seed: int = 0, same: npt.NDArray[np.int64] | None = None) -> None:
        self._seed = seed
        numbers = np.arange(len(vectors)) if same is None else same
        self._same: npt.NDArray[np.int64] = np.unique(numbers, return_inverse=True)[1]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.directions: Floats = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        self.shuffled: npt.NDArray[np.int64] = np.random.default_rng(seed).permutation(len(vectors))

    def next(
        self,
        labelled: Sequence[int],
        probabilities: npt.NDArray[np.float64] | None,
        skipped: Sequence[int] = (),
        *,
        random_share: float = RANDOM_SHARE,
        turn: int | None = None,
    ) -> Choice | None:
        """Return the next text; None where all are done.

        Args: labelled: places that have a label, in any order. probabilities: (E, C) of the model that has
        learned from them; None: there is none yet. skipped: places that are not asked again. random_share:
        of the turns, from this one on; 1: all. turn: how many there were; None: one for each label.
        """
        is_open = np.ones(len(self.directions), bool)
        is_open[list(labelled)] = is_open[list(skipped)] = False
        if not is_open.any():
            return None
        turn, is_new = len(labelled) if turn is None else turn, is_open & ~self.has_label(labelled)
        if int((turn + 1) * random_share) > int(turn * random_share) or not is_new.any():
            return Choice(int(self.shuffled[is_open[self.shuffled]][0]), RANDOM)
        if len(labelled) < NUM_SPREAD or probabilities is None:
            left = self._spread[is_new[self._spread]]
            if len(left):
                return Choice(int(left[0]), SPREAD)
        if probabilities is None:
            return Choice(self._most_different(np.flatnonzero(is_new), labelled), DIFFERENT)
        places = np.flatnonzero(is_new)
        margins = margins_of(probabilities[places])
        if (turn - int(turn * random_share)) % 2 == 0:
            return Choice(int(places[margins.argmin()]), UNCERTAIN)
        candidates = places[np.argsort(margins, kind="stable")[:MOST_CANDIDATES]]
        return Choice(self._most_different(candidates, labelled), DIFFERENT)

    def has_label(self, labelled: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return (E,) whether a text, or one that is the same, has a label."""
        found = np.zeros(len(self.directions), bool)
        found[self._same[list(labelled)]] = True
        return found[self._same]

    def same_as(self, place: int, labelled: npt.NDArray[np.int64]) -> int | None:
        """Return the last of the (n,) labelled places that has the same text as a place; None: none has."""
        found = labelled[self._same[labelled] == self._same[place]]
        return int(found[-1]) if len(found) else None

    def sample(self, labelled: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return the places of the longest beginning of the shuffled list that is labelled throughout: a
        simple random sample of all texts, apart from those that were skipped.
        """
        has_label = np.zeros(len(self.directions), bool)
        has_label[list(labelled)] = True
        open_ones = np.flatnonzero(~has_label[self.shuffled])
        return self.shuffled[: int(open_ones[0]) if len(open_ones) else len(self.shuffled)]

    def like(self, place: int, closed: Sequence[int]) -> tuple[Choice, ...]:
        """Return the texts most similar to one, the most similar first. Args: closed: places that are not
        asked for, or not again.
        """
        cosines = self.directions @ self.directions[place]
        cosines[[place, *closed]] = -np.inf
        best = np.argsort(-cosines, kind="stable")[:NUM_LIKE]
        return tuple(Choice(int(one), LIKE) for one in best if np.isfinite(cosines[one]))

    def _most_different(self, candidates: npt.NDArray[np.int64], labelled: Sequence[int]) -> int:
        """Return the candidate that is least similar to the labelled text most similar to it."""
        if not len(labelled):
            return int(candidates[0])
        likeness = self.directions[candidates] @ self.directions[list(labelled)].T
        return int(candidates[likeness.max(1).argmin()])

    @cached_property
    def _spread(self) -> npt.NDArray[np.int64]:
        """The texts nearest to the middles of NUM_SPREAD clusters, the largest cluster first."""
        from sklearn.cluster import MiniBatchKMeans

        count = min(NUM_SPREAD, len(self.directions))
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
