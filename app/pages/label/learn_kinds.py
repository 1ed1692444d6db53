"""Learning along from every kind of label: plain functions for a worker, without Qt.

One label is `learn` of requests.py. From several labels, and from numbers, a model learns the same way; how
good it is, is not measured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.pages.label.requests import GivenLabels, KnownTexts, Learned, learn, next_ahead
from engine.labelling.entry import JournalEntry
from engine.labelling.kinds import A_NUMBER, ONE_LABEL, SEVERAL_LABELS, LabelKind
from engine.labelling.learning import each_label, each_number, most_doubtful
from engine.labelling.order import NUM_SPREAD, Choice
from engine.text.numbers import number_in


@dataclass(frozen=True, eq=False)
class GivenSets(GivenLabels):
    """Several labels. targets: (n, C), 1 where a text has a label."""

    @property
    def can_teach(self) -> bool:
        return len(self.places) >= NUM_SPREAD and len(np.unique(self.targets, axis=0)) > 1


@dataclass(frozen=True, eq=False)
class GivenNumbers(GivenLabels):
    """Numbers. numbers: (n,); there are no targets."""

    numbers: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def can_teach(self) -> bool:
        return len(self.places) >= NUM_SPREAD and len(np.unique(self.numbers)) > 1


@dataclass(frozen=True, eq=False)
class LearnedNumbers(Learned):
    """numbers: (E,) what the model says of each text."""

    numbers: npt.NDArray[np.float64] | None = None


def given_labels(
    kind: LabelKind,
    entries: Sequence[JournalEntry],
    places: npt.NDArray[np.int64],
    skipped: tuple[int, ...],
    labels: tuple[int, ...],
    turns: int,
) -> GivenLabels:
    """Return what was given as a model takes it. Args: places: (n,) of the entries, -1: the text is empty."""
    kept = [entry for entry, place in zip(entries, places.tolist(), strict=True) if place >= 0]
    there = tuple(places[places >= 0].tolist())
    if kind is SEVERAL_LABELS:
        sets = np.array([[label in entry.labels for label in labels] for entry in kept], np.int64)
        return GivenSets(there, sets.reshape(len(kept), len(labels)), skipped, labels, turns)
    if kind is A_NUMBER:
        numbers = np.array([number_in(entry.text) for entry in kept], np.float64)
        return GivenNumbers(there, np.zeros(len(kept), np.int64), skipped, labels, turns, numbers)
    number = {label: at for at, label in enumerate(labels)} if kind is ONE_LABEL else {}
    targets = np.array([number.get(entry.label, 0) for entry in kept], np.int64)
    return GivenLabels(there, targets, skipped, labels, turns)


def learn_kind(
    known: KnownTexts, given: GivenLabels, shown: Sequence[Choice], random_share: float
) -> Learned:
    """Learn from what was given, and choose what comes after the texts that are shown, as `learn`."""
    if isinstance(given, GivenSets):
        if not given.can_teach:
            return Learned(given, None, next_ahead(known, given, shown, None, random_share))
        likely = each_label(known.vectors, given.places, given.targets)
        return Learned(given, likely, next_ahead(known, given, shown, most_doubtful(likely), random_share))
    if isinstance(given, GivenNumbers):
        said = each_number(known.vectors, given.places, given.numbers) if given.can_teach else None
        ahead = next_ahead(known, given, shown, None, random_share)
        return LearnedNumbers(given, None, ahead, numbers=said)
    return learn(known, given, shown, random_share)
