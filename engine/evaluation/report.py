"""What a scored file came to: its score with an interval, each class, calibration, and what repeats in it.

All of it follows from the answers, so it is the same from a file, from a run's folder, and opened again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.errors import UserError, marked
from engine.evaluation.calibration import (
    LEAST_TO_FIT,
    Abstaining,
    Calibration,
    Temperature,
    abstaining,
    calibration,
    temperature_of,
    temperature_on_halves,
)
from engine.evaluation.statistics import (
    Numbers,
    Score,
    TallyTable,
    bounded_interval,
    correlation_interval,
    f1_of,
    is_single,
    mean_f1_of,
    pearson_of,
    share_interval,
    share_of,
)
from engine.events import Beat, Steps
from engine.model.info import HOTTEST, keep_temperature
from engine.text.listed import ListedRows, folded
from engine.train.learned import LEAST_UNSEEN
from engine.train.metrics import ClassScores, score_classes, wilson_interval
from engine.train.scored import F1, PEARSON, SHARE, ScoredTable, ScoreRows
from engine.train.tasks.regression.scores import pearson_interval

SCORES: dict[str, Score] = {SHARE: share_of, F1: f1_of, PEARSON: pearson_of}
_MOST_SUMS = 2e7  # numbers, of which the interval of a mean over classes is made
Groups = npt.NDArray[np.int64]


def groups_of(texts: Sequence[str], pairs: Sequence[str] | None = None) -> Groups:
    """Return (E,), the same number for texts that are the same but for case and white space."""
    places: dict[object, int] = {}
    found = np.empty(len(texts), np.int64)
    for place in range(len(texts)):
        key: object = folded(texts[place])
        key = key if pairs is None else (key, folded(pairs[place]))
        found[place] = places.setdefault(key, len(places))
    return found


def repeating(listed: ListedRows) -> Groups | None:
    """Return which texts of a set repeat each other; None where none does, or they were not kept."""
    if len(listed.texts) != len(listed):
        return None
    found = groups_of(listed.texts, listed.pairs)
    return None if is_single(found) else found


@dataclass(frozen=True)
class ScoreReport:
    """What scored texts came to. All shares are 0 to 1; computed when asked for, each once.

    kept: the temperature that was kept with the model, which the probabilities have been divided by; 1: none.
    kept_from: the texts on a half of which it was fitted: what they are called, and their digest; "" where
    that is not known. fitting: what the model answered to the validation rows of its run, where these are
    other texts: a temperature is fitted on them, and never on what tests it; None: on one half of these.
    near: (E,), equal for texts that nearly repeat one another; None: those are equal that repeat exactly.
    """

    scored: ScoredTable
    kept: float = 1.0
    near: Groups | None = None
    kept_from: tuple[str, str] = ("", "")
    fitting: ScoredTable | None = None

    @property
    def count(self) -> int:
        return len(self.scored.each)

    @cached_property
    def value(self) -> float:
        """The task's metric."""
        each = self.scored.each
        return float(SCORES[each.score](each.adds.sum(0))) if self.count else 0.0

    @cached_property
    def groups(self) -> Groups | None:
        """Which texts repeat each other; None where none does, or they were not kept."""
        if self.near is not None:
            return None if is_single(self.near) else self.near
        return repeating(self.scored.listed)

    @cached_property
    def num_repeating(self) -> int:
        """How many texts repeat one that stands above them."""
        return 0 if self.groups is None else self.count - len(np.unique(self.groups))

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the metric: of a share of texts Wilson's, of a correlation Fisher's, else that
        of `bounded_interval`.

        Texts that repeat each other are drawn together, but for Wilson's. None where it cannot be told.
        """
        return interval_over(self.scored.each, self.groups)

    @cached_property
    def interval_by_group(self) -> tuple[float, float] | None:
        """The same of a share with texts that repeat each other drawn together; None where none does."""
        each = self.scored.each
        if self.groups is None or not self.is_of_hits:
            return None
        return share_interval(float(each.right.sum()), self.count, each.adds, self.groups)

    @cached_property
    def unseen(self) -> ScoreReport | None:
        """The same over the texts that the model has not learned from; None where it knows none of all, or
        fewer than `LEAST_UNSEEN` are new to it. Of these the value and its intervals are meant.
        """
        scored = self.scored
        new = ~scored.seen
        if not scored.num_seen or new.sum() < LEAST_UNSEEN:
            return None
        near = None if self.near is None else self.near[new]
        scored = replace(
            scored, each=scored.each.take(new), listed=scored.listed.take(new), seen=scored.seen[new]
        )
        return ScoreReport(scored, self.kept, near)

    @cached_property
    def is_of_hits(self) -> bool:
        """Whether the metric is the share of texts that are right."""
        each = self.scored.each
        return each.score == SHARE and are_hits(each.adds)

    # of one label a text

    @property
    def is_of_classes(self) -> bool:
        """Whether each text has one label of several, with its probability."""
        each = self.scored.each
        has_all = each.probabilities.shape == (self.count, len(each.names)) and self.count > 0
        return self.is_of_hits and has_all and each.names == self.scored.labels

    @cached_property
    def classes(self) -> ClassScores:
        """The scores of every class."""
        each = self.scored.each
        return score_classes(each.true.astype(np.int64), each.predicted, len(each.names))

    @cached_property
    def majority(self) -> tuple[int, float]:
        """The commonest class of these texts, and the accuracy of always answering it."""
        return self.classes.majority

    @cached_property
    def mean_f1_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean F1 over classes; None where there are too many of them."""
        each, size = self.scored.each, len(self.scored.each.names)
        cells, counts = np.unique(each.true.astype(np.int64) * size + each.predicted, return_counts=True)
        if len(cells) * 3 * size > _MOST_SUMS:
            return None
        if self.groups is not None and self.count * 3 * size <= _MOST_SUMS:
            tallies = TallyTable.of(_adds(each.true, each.predicted, size), self.groups)
        else:
            tallies = TallyTable(_adds(cells // size, cells % size, size), counts)
        return bounded_interval(tallies, mean_f1_of)

    def f1_interval(self, label: int) -> tuple[float, float]:
        """Return the 95 % interval of a class's F1."""
        each = self.scored.each
        if self.groups is None:
            return self._f1_interval_of_counts(label)
        true, predicted = each.true == label, each.predicted == label
        columns = np.stack([true & predicted, predicted, true], 1).astype(np.float64)
        return bounded_interval(TallyTable.of(columns, self.groups), f1_of)

    def _f1_interval_of_counts(self, label: int) -> tuple[float, float]:
        found = self.classes
        hits, answered = int(found.hits[label]), int(found.num_predicted[label])
        true = int(found.support[label])
        adds = np.array([[1, 1, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0]], np.float64)
        counts = np.array([hits, answered - hits, true - hits, self.count - answered - true + hits])
        return bounded_interval(TallyTable(adds[counts > 0], counts[counts > 0]), f1_of)

    @cached_property
    def calibration(self) -> Calibration:
        """How far confidence and accuracy lie apart."""
        each = self.scored.each
        return calibration(each.sure, each.right > 0.5, self.groups)

    @cached_property
    def temperature(self) -> Temperature | None:
        """What one temperature for all texts would do; None where there are too few."""
        found = None if self.fitting is None else temperature_of(self.fitting, self.scored)
        each = self.scored.each
        return found or temperature_on_halves(each.probabilities, each.true)

    @cached_property
    def has_chosen(self) -> bool:
        """Whether half of these texts chose the temperature that is kept, so that they are no test of it."""
        return self.kept != 1.0 and self.kept_from[1] == digest_of(self.scored.listed)

    @cached_property
    def abstaining(self) -> Abstaining:
        """What is left if the model answers only where it is sure."""
        each = self.scored.each
        return abstaining(each.sure, each.right > 0.5)


def f1_intervals(report: ScoreReport) -> Steps[tuple[tuple[float, float], ...]]:
    """Return the interval of each class's F1."""
    found = []
    for label in range(len(report.scored.each.names)):
        found.append(report.f1_interval(label))
        yield Beat()
    return tuple(found)


def interval_over(each: ScoreRows, groups: Groups | None = None) -> tuple[float, float] | None:
    """Return the 95 % interval of what some texts came to, as `ScoreReport.interval` says.

    Args: groups: (E,), equal for texts that are drawn together.
    """
    if each.score == SHARE and are_hits(each.adds):
        return wilson_interval(float(each.right.sum()), len(each))
    if each.score == PEARSON and groups is None:
        return pearson_interval(float(pearson_of(each.adds.sum(0))), len(each))
    tallies = TallyTable.of(each.adds, groups)
    if each.score == PEARSON:
        return correlation_interval(tallies)
    return bounded_interval(tallies, SCORES[each.score])


def digest_of(listed: ListedRows) -> str:
    """Return what tells texts from others: the same for the same texts in the same order."""
    hasher = sha256()
    for side in (listed.texts, listed.pairs or ()):
        for text in side:
            hasher.update(text.encode("utf-8", "surrogatepass") + b"\x00")
        hasher.update(b"\x01")
    return hasher.hexdigest()


def keep_fitted(report: ScoreReport, folder: Path, name: str = "") -> None:
    """Write the temperature that was fitted into the model's cloze.json, and on which texts it was.

    One that was kept before is part of it. Args: name: what the texts are called. Raises: UserError where
    there is none to keep; ModelError.
    """
    warmth = report.temperature if report.is_of_classes else None
    if warmth is None:
        template = marked(
            "engine",
            "No temperature can be fitted. That takes {least} texts, each with one of several labels.",
        )
        raise UserError(template, least=LEAST_TO_FIT)
    value = float(np.clip(report.kept * warmth.value, 1 / HOTTEST, HOTTEST))
    fitted = report.scored
    if warmth.fitted_on and report.fitting is not None:
        fitted, name = report.fitting, warmth.fitted_on
    keep_temperature(folder, value, warmth.num_fitted, name, digest_of(fitted.listed))


def are_hits(adds: Numbers) -> bool:
    """Whether each text adds 1 or 0 to the hits, and 1 to the texts. Args: adds: (E, 2)."""
    return bool((adds[:, 1] == 1).all() and np.isin(adds[:, 0], (0, 1)).all())


def _adds(true: npt.NDArray[np.int64], predicted: npt.NDArray[np.int64], size: int) -> Numbers:
    """Return (P, 3C), what answers add to (hits, answered, true) of each class."""
    found = np.zeros((len(true), size, 3))
    rows = np.arange(len(true))
    found[rows, predicted, 1] += 1
    found[rows, true, 2] += 1
    found[rows[true == predicted], true[true == predicted], 0] += 1
    return found.reshape(len(true), -1)
