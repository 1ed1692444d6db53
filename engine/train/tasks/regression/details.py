"""What an evaluation of numbers keeps for its views, read again from what a run's file holds.

It has come from JSON that somebody may have edited: what cannot be is left out, and nothing is raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.train.run.records import count_of, real_numbers

MOST_POINTS = 1000  # that are kept for the picture, evenly from all
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # of the errors


@dataclass(frozen=True, slots=True)
class NumberDetails:
    """no_spread: "", "predicted" or "true". intervals: of correlations. points: (true, predicted).

    spreads: standard deviations of true and predicted numbers; [] of evaluations of before.
    residuals: errors, predicted less true, at QUANTILES; empty where there are none.
    """

    num_examples: int
    no_spread: str
    spreads: list[float]
    intervals: Mapping[str, tuple[float, float]]
    points: list[tuple[float, float]]
    residuals: list[float]


def places_of_points(count: int) -> np.ndarray:
    """Return the places of the points that are kept among so many rows, ascending."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).round().astype(int))


def number_details(details: Mapping[str, Any]) -> NumberDetails:
    """Return what the details of an evaluation say."""
    no_spread, intervals = details.get("no_spread"), details.get("intervals")
    ends = {
        name: real_numbers(intervals.get(name) if isinstance(intervals, dict) else None, 2)
        for name in ("pearson", "spearman")
    }
    points = details.get("points")
    pairs = [real_numbers(one, 2) for one in points] if isinstance(points, list) else []
    return NumberDetails(
        count_of(details, "num_examples"),
        no_spread if no_spread in ("predicted", "true") else "",
        real_numbers(details.get("spreads"), 2),
        {name: (two[0], two[1]) for name, two in ends.items() if two},
        [(two[0], two[1]) for two in pairs if two],
        real_numbers(details.get("residuals"), len(QUANTILES)),
    )
