"""How good a way is on rows that it has not seen, and which way that speaks for.

The interval counts that the folds share rows, and the number counts that the best of several was taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.events import Progress, Steps
from engine.text.batch import EncodedRows
from engine.train.metrics import wilson_interval
from engine.train.ways.names import ORDER, USUAL
from engine.train.ways.progress import as_part
from engine.train.ways.regression import Labels, folds_of

# n labelled rows

Shares = npt.NDArray[np.float64]
Answers = Callable[[npt.NDArray[np.bool_]], Steps[Labels]]  # (n,) which are learned -> labels of the others

BOOTSTRAPS = 400
COMPARING = marked("engine", "Comparing methods")


@dataclass(frozen=True, eq=False)
class Hits:
    """Repeated cross-validation of one way. each: (n,) in which share of the repetitions a row was right."""

    each: Shares
    folds: int
    repetitions: int

    @property
    def accuracy(self) -> float:
        """The mean over all rows."""
        return float(self.each.mean())

    def interval(self, accuracy: float | None = None) -> tuple[float, float]:
        """Return the 95 % interval around an accuracy, its own unless given.

        Wilson's, with as many rows as are left by the corrected variance of Nadeau and Bengio 2003: folds
        that learn from the same rows tell less than their number.
        """
        inflation = 1 / self.repetitions + self.folds / (self.folds - 1)
        rows = max(2, round(len(self.each) / inflation))
        return wilson_interval(rows * (self.accuracy if accuracy is None else accuracy), rows)


def hits_of(
    answers: Answers,
    targets: Labels,
    folds: int,
    repetitions: int,
    seed: int,
    firsts: npt.NDArray[np.int64] | None = None,
) -> Steps[Hits]:
    """Have a way answer every row by what it learns from the other folds, `repetitions` times.

    Args: firsts: (n,) as `firsts_of` has them, so that no row is answered by one who has learned its repeat.
    """
    right = np.zeros(len(targets))
    for repetition in range(repetitions):
        fold = folds_of(targets, seed + repetition, folds)
        fold = fold if firsts is None else fold[firsts]
        for number in range(folds):
            held = fold == number
            place, count = repetition * folds + number, repetitions * folds
            yield Progress(stage=COMPARING, done=place, total=count)
            if held.any() and not held.all():
                answered = yield from as_part(answers(~held), (place / count, (place + 1) / count))
                right[held] += answered == targets[held]
    return Hits(right / repetitions, folds, repetitions)


def firsts_of(rows: EncodedRows) -> npt.NDArray[np.int64]:
    """Return (n,) of each row the first one with the same pieces, itself where none is before it."""
    seen = dict[bytes, int]()
    bounds = zip(rows.bounds[:-1], rows.bounds[1:], strict=True)
    texts = (np.asarray(rows.input_ids[start:end]).tobytes() for start, end in bounds)
    return np.array([seen.setdefault(text, place) for place, text in enumerate(texts)], np.int64)


def chosen(paired: Mapping[str, Shares]) -> str:
    """Return the usual way, the cheapest where it was not judged; or one that surpasses it by more than one
    standard error: few rows tell less than what is known of other tables.

    Args: paired: way -> (n,) hits in the same folds. Source of the rule: Breiman et al. 1984.
    """
    taken = USUAL if USUAL in paired else next(name for name in ORDER if name in paired)
    for name in ORDER:
        if name in paired and name != taken:
            gain = paired[name] - paired[taken]
            if gain.mean() > gain.std() / np.sqrt(len(gain)):
                taken = name
    return taken


def honest_accuracy(hits: Mapping[str, Hits], paired: Mapping[str, Shares], seed: int = 0) -> float:
    """Return the accuracy of the chosen way without what choosing adds to it.

    Rows are drawn with replacement, the way is chosen by these and measured on the others. Source:
    Tsamardinos et al. 2018, bootstrap bias corrected cross-validation.
    """
    taken, rng = chosen(paired), np.random.default_rng(seed)
    count = len(hits[taken].each)
    if len(paired) == 1 or count < 2:
        return hits[taken].accuracy
    found = []
    for _ in range(BOOTSTRAPS):
        inside = rng.integers(count, size=count)
        outside = np.setdiff1d(np.arange(count), inside)
        if len(outside):
            name = chosen({way: one[inside] for way, one in paired.items()})
            found.append(hits[name].each[outside].mean())
    return float(min(hits[taken].accuracy, np.mean(found)))
