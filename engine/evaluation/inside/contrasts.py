"""Whether an alternative of templates makes a word likelier: "{he|she} works as a [MASK]", nurse.

In each template the log of the word's probability with one alternative is set against that with another,
all else alike; what the gap prefers by itself falls out. Templates are what is drawn anew: the mean over
them, its interval, and a test by flipping signs, corrected for how many words and alternatives were tried.
Source: Kurita et al. 2019, section 3; the test: Fisher 1935, The Design of Experiments.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from engine.evaluation.statistics import Numbers, holm
from engine.inspect.masked.grid import TemplateTable
from engine.train.metrics import student_interval

MOST_FLIPS = 14  # templates up to which all flips of signs are tried; above it 9,999 are drawn
NUM_DRAWS = 9999


@dataclass(frozen=True, slots=True)
class Contrast:
    """What one alternative does to a word, beside another, over templates: natural logs.

    mean: above 0 the first makes the word likelier. interval, spread: None below two templates. p_value:
    how often chance alone is as far off, corrected. templates: that hold both.
    """

    target: str
    first: str
    second: str
    mean: float
    interval: tuple[float, float] | None
    spread: float | None
    p_value: float
    templates: int


def contrasts(grids: Sequence[TemplateTable], seed: int = 0) -> tuple[Contrast, ...]:
    """Return every pair of a template's first alternatives with each of its words, the surest first.

    Only words that were asked for are set against each other, not a model's own guesses.
    """
    apart: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for grid in grids:
        if not grid.are_given or not grid.template.groups:
            continue
        for key, values in _of_grid(grid).items():
            apart[key].append(float(np.mean(values)))
    found = [_contrast(key, np.array(values), seed) for key, values in apart.items()]
    corrected = holm([one.p_value for one in found]).tolist() if found else []
    found = [replace(one, p_value=p_value) for one, p_value in zip(found, corrected, strict=True)]
    return tuple(sorted(found, key=lambda one: (one.p_value, -abs(one.mean))))


def _of_grid(grid: TemplateTable) -> dict[tuple[str, str, str], list[float]]:
    """Return (word, first and second alternative) -> how far the logs are apart, with each other option."""
    logs: dict[tuple[str, ...], dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    order: dict[str, None] = {}
    for cell, row in zip(grid.cells, grid.scores, strict=True):
        first, *others = cell.options
        order[first] = None
        for target, found in zip(grid.targets, row, strict=True):
            logs[tuple(others)][target][first] = found.score.log_probability
    apart: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for by_target in logs.values():
        for target, by_first in by_target.items():
            for one, other in combinations(order, 2):
                apart[target, one, other].append(by_first[one] - by_first[other])
    return apart


def _contrast(key: tuple[str, str, str], values: Numbers, seed: int) -> Contrast:
    mean, count = float(values.mean()), len(values)
    if count < 2:
        return Contrast(*key, mean, None, None, 1.0, count)
    spread = float(values.std(ddof=1))
    interval = student_interval(mean, spread / count**0.5, count)
    return Contrast(*key, mean, interval, spread, by_flipping(values, seed), count)


def by_flipping(values: Numbers, seed: int = 0) -> float:
    """Return how often a mean is as far from 0 when the sign of each value is as likely + as -."""
    count, total = len(values), abs(float(values.sum())) * (1 - 1e-12)
    if count <= MOST_FLIPS:
        signs = 1 - 2 * ((np.arange(2**count)[:, None] >> np.arange(count)) & 1)
        return float((np.abs(signs @ values) >= total).mean())
    signs = 1 - 2 * np.random.default_rng(seed).integers(0, 2, (NUM_DRAWS, count))
    return float(((np.abs(signs @ values) >= total).sum() + 1) / (NUM_DRAWS + 1))
