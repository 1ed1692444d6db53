"""Which pooling makes the better sentence vector, measured: is a text's nearest neighbour of its own class?

Every pooling is measured on the same texts from one pass, so a difference is a paired one, with an interval.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence, UserError, marked
from engine.events import Event, Progress
from engine.inspect.embeddings.similarity import nearest_of_each, separation, spread
from engine.inspect.embeddings.vectors import PoolingConfig, embed, kinds_of
from engine.inspect.loaded_model import LoadedModel
from engine.train.metrics import NORMAL_95

# E texts, C classes

MOST = 1000  # texts; the interval is then about 3 points wide on either side


@dataclass(frozen=True, eq=False, slots=True)
class PoolingAgreement:
    """What one pooling reaches.

    agreement: 0..1, texts whose nearest neighbour is of their class. right: (E,) bool, which those are.
    separation: 0..1, how often two texts of one class are more alike than two of different classes; 0.5 is
    chance. within, between: mean cosine similarity of these. any_two: of any two texts: near 1 where all
    vectors point the same way.
    """

    pooling: PoolingConfig
    agreement: float
    right: npt.NDArray[np.bool_]
    separation: float
    within: float
    between: float
    any_two: float


@dataclass(frozen=True, slots=True)
class AgreementDifference:
    """How much larger one agreement is than another: of the same texts, with a 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> int:
        """1 for larger, -1 for smaller, 0 where the interval holds nought."""
        return (self.low > 0) - (self.high < 0)


@dataclass(frozen=True, eq=False, slots=True)
class PoolingComparison:
    """All poolings of a model beside each other, the best first.

    chance: 0..1, the agreement of a neighbour that is drawn. places: (E,) the given texts that were taken.
    """

    measured: tuple[PoolingAgreement, ...]
    num_texts: int
    num_classes: int
    chance: float
    places: npt.NDArray[np.int64]
    notes: tuple[Sentence, ...]

    def of(self, kind: str) -> PoolingAgreement | None:
        """Return what a kind of pooling reaches; None where the model has none such."""
        return next((one for one in self.measured if one.pooling.kind == kind), None)

    def difference(self, kind: str, other: str) -> AgreementDifference | None:
        """Return by how much the agreement of `kind` is above that of `other`."""
        one, beside = self.of(kind), self.of(other)
        return None if one is None or beside is None else paired_difference(one.right, beside.right)


def paired_difference(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> AgreementDifference:
    """Return the difference of two shares of the same texts, with its 95 % interval (normal, paired).

    Args: (E,) each. Source: the standard error of matched proportions, as in McNemar's test.
    """
    steps = one.astype(np.float64) - other
    value = float(steps.mean())
    error = float(steps.std(ddof=1)) / math.sqrt(len(steps)) if len(steps) > 1 else math.inf
    return AgreementDifference(value, value - NORMAL_95 * error, value + NORMAL_95 * error)


@dataclass(frozen=True, slots=True)
class Shift:
    """How often a text's nearest neighbour is of its class, by two models.

    before, after, chance: 0..1. difference: of after and before.
    """

    before: float
    after: float
    difference: AgreementDifference
    chance: float
    num_texts: int


def shift(
    texts: Sequence[str],
    groups: Sequence[int],
    before: npt.NDArray[np.float32],
    after: npt.NDArray[np.float32],
) -> Shift:
    """Return what two models make of the same texts; those that count are taken as `compare_poolings` does.

    Args:   groups: the class of each text, -1 for none. before, after: (E, D) each, D may differ.
    Raises: UserError: fewer than two classes of two different texts.
    """
    taken, _notes = _take(texts, groups, MOST)
    numbers = np.asarray(groups, np.int64)[taken]
    right = [numbers[nearest_of_each(vectors[taken])] == numbers for vectors in (before, after)]
    return Shift(
        before=float(right[0].mean()),
        after=float(right[1].mean()),
        difference=paired_difference(right[1], right[0]),
        chance=_chance(numbers),
        num_texts=len(taken),
    )


def compare_poolings(
    subject: LoadedModel,
    texts: Sequence[str],
    groups: Sequence[int],
    *,
    layer: int = -1,
    max_length: int | None = None,
    most: int = MOST,
) -> Generator[Event, None, PoolingComparison]:
    """Measure every pooling of a model: a task whose return value is `PoolingComparison`.

    Repeated texts count once, for a text would be its own neighbour; a class of one text is left out, for it
    has no neighbour of its own.

    Args:   groups: (len(texts),) the class of each, -1 for none. layer: of [CLS], mean and maximum.
            max_length: WordPieces that are read.
    Raises: UserError: fewer than two classes of two different texts.
    """
    taken, notes = _take(texts, groups, most)
    numbers = np.asarray(groups)[taken]
    kinds = [PoolingConfig(kind, layer) for kind in kinds_of(subject.about)]
    found = yield from embed(subject, [texts[place] for place in taken], kinds, max_length=max_length)
    numbers, taken = numbers[found.places], taken[found.places]
    measured = []
    for pooling, vectors in zip(found.poolings, found.vectors, strict=True):
        measured.append(_measured(pooling, vectors, numbers))
        yield Progress(stage=marked("engine", "Measuring"), done=len(measured), total=len(found.poolings))
    return PoolingComparison(
        measured=tuple(sorted(measured, key=lambda one: -one.agreement)),
        num_texts=len(numbers),
        num_classes=len(np.unique(numbers)),
        chance=_chance(numbers),
        places=taken,
        notes=notes,
    )


def _chance(numbers: npt.NDArray[np.int64]) -> float:
    """Return how often a neighbour that is drawn is of the same class."""
    counts, total = np.unique(numbers, return_counts=True)[1], len(numbers)
    return float((counts * (counts - 1)).sum() / (total * (total - 1)))


def _measured(
    pooling: PoolingConfig, vectors: npt.NDArray[np.float32], numbers: npt.NDArray[np.int64]
) -> PoolingAgreement:
    right, about = numbers[nearest_of_each(vectors)] == numbers, spread(vectors, numbers)
    return PoolingAgreement(
        pooling=pooling,
        agreement=float(right.mean()),
        right=right,
        separation=separation(vectors, numbers),
        within=about.within or 0.0,
        between=about.between or 0.0,
        any_two=about.any_two or 0.0,
    )


def _take(
    texts: Sequence[str], groups: Sequence[int], most: int
) -> tuple[npt.NDArray[np.int64], tuple[Sentence, ...]]:
    """Return the places of texts that can be measured, in order, and what was left out."""
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        if groups[place] >= 0 and text.strip():
            first.setdefault(" ".join(text.split()), place)
    num_usable = sum(1 for text, group in zip(texts, groups, strict=True) if group >= 0 and text.strip())
    places = np.fromiter(first.values(), np.int64, len(first))
    notes = list[Sentence]()
    if len(places) < num_usable:
        note = marked("engine", "Repeated texts, counted once: {count:,}.")
        notes.append(Sentence(note, {"count": num_usable - len(places)}))
    if len(places) > most:
        keys = np.random.PCG64(1).random_raw(len(places))
        places = np.sort(places[np.argsort(keys, kind="stable")[:most]])
    numbers = np.asarray(groups, np.int64)[places]
    counts = dict(zip(*np.unique(numbers, return_counts=True), strict=True))
    kept = np.array([counts[number] > 1 for number in numbers], bool)
    if not kept.all():
        note = marked("engine", "Skipped because they are alone in their class: {count:,}.")
        notes.append(Sentence(note, {"count": int((~kept).sum())}))
    if sum(count > 1 for count in counts.values()) < 2:
        raise UserError(
            marked(
                "engine",
                "Comparing poolings takes at least two classes with two different texts each. "
                "Choose a column with classes, or the bundled sentences.",
            )
        )
    return places[kept], tuple(notes)
