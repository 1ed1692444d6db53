"""What an evaluation of several labels a row keeps for its views, read again from what a run's file holds.

It has come from JSON that somebody may have edited: what cannot be is left out, and nothing is raised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.train.run.records import count_of, real_number, real_numbers, whole_number

USUAL = 0.5  # the threshold of a label for which none was chosen


@dataclass(frozen=True, slots=True)
class Curve:
    """Precision and recall at falling thresholds, and the area under them."""

    precision: list[float]
    recall: list[float]
    threshold: list[float]
    average_precision: float


@dataclass(frozen=True, slots=True)
class ChosenThresholds:
    """Thresholds that were chosen on half of the rows, and micro F1 on the others, with them and at 0.5.

    count: of labels with enough rows to choose one. helps: whether they do better on the others.
    """

    thresholds: list[float]
    count: int
    helps: bool
    micro_f1: float
    micro_f1_at_half: float


@dataclass(frozen=True, slots=True)
class SetDetails:
    """predicted, thresholds: of each label. num_without: rows that have none."""

    num_examples: int
    num_without: int
    predicted: list[int]
    thresholds: list[float]
    curves: Mapping[str, Curve] = field(default_factory=dict)
    chosen: ChosenThresholds | None = None


def set_details(details: Mapping[str, Any], labels: Sequence[str]) -> SetDetails:
    """Return what the details of an evaluation say."""
    count = len(labels)
    predicted = real_numbers(details.get("predicted"), count) or [0.0] * count
    curves = details.get("curves")
    found = curves if isinstance(curves, dict) else {}
    return SetDetails(
        count_of(details, "num_examples"),
        count_of(details, "num_without"),
        [int(number) for number in predicted],
        _shares(details.get("thresholds"), count) or [USUAL] * count,
        {label: curve for label in labels if (curve := _curve(found.get(label))) is not None},
        _chosen(details.get("chosen"), count),
    )


def _curve(value: Any) -> Curve | None:
    if not isinstance(value, dict):
        return None
    precision, recall, threshold = (_shares(value.get(name)) for name in ("precision", "recall", "threshold"))
    if not precision or not len(precision) == len(recall) == len(threshold):
        return None
    return Curve(precision, recall, threshold, real_number(value.get("average_precision")) or 0.0)


def _chosen(value: Any, count: int) -> ChosenThresholds | None:
    if not isinstance(value, dict):
        return None
    thresholds, chosen = _shares(value.get("thresholds"), count), whole_number(value.get("count"))
    scores = [real_number(value.get(name)) for name in ("micro_f1", "micro_f1_at_half")]
    if not thresholds or not chosen or scores[0] is None or scores[1] is None:
        return None
    return ChosenThresholds(thresholds, chosen, value.get("helps") is True, scores[0], scores[1])


def _shares(value: Any, count: int | None = None) -> list[float]:
    """Return numbers of 0 to 1, none if any is not."""
    found = real_numbers(value, count)
    return found if all(0 <= number <= 1 for number in found) else []
