"""Whether one way to train is better than another, and whether that is sure.

The best evidence there is is taken: the answers that runs have kept, text by text, with several seeds of
each; else the seeds' scores; else the two scores alone. Which it was is said with what was found. Of one run
each the answer is about these two runs, not about how they were trained; below LEAST_SEEDS seeds of each
there is none.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.evaluation.report import SCORES as SCORES_OF
from engine.evaluation.statistics import SURE, compared, compared_hits, over_seeds, student, text_error
from engine.runs.answers import KeptAnswers, are_alike, kept_answers
from engine.runs.facts import CROSS_VALIDATION, RunFacts
from engine.runs.groups import ScoreColumn, same_texts, score_of
from engine.train.metrics import LEAST_SEEDS, NORMAL_95, SHARES, wilson_interval

TEXTS_AND_SEEDS, TEXTS, SEEDS, SCORES = "texts and seeds", "texts", "seeds", "scores"
_MOST_Z = 40.0  # standard errors, beyond which nothing lies

Values = npt.NDArray[np.float64]
Found = tuple[float, tuple[float, float] | None, float | None]  # a difference, its interval, chance's part


@dataclass(frozen=True, slots=True)
class Versus:
    """What the second is better by. value, interval: of the score, 0.012 being 1.2 points of a share.

    seeds: (seed, difference) of those that both have. basis: what it rests on. rows: texts; differ: those
    that one of the two answers rightly and the other does not (of several seeds: most of them), None where
    answers are more or less right, or not known.
    p_value: how often chance alone shows as much; None where nothing can be said of that, and then there is
    no interval either. runs: how many each side has.
    """

    metric: str
    split: str
    value: float
    interval: tuple[float, float] | None
    p_value: float | None
    seeds: tuple[tuple[int, float], ...]
    basis: str
    rows: int
    are_same_texts: bool
    differ: int | None = None
    runs: tuple[int, int] = (1, 1)

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance."""
        return self.p_value is not None and self.p_value < SURE

    @property
    def num_better(self) -> int:
        """Seeds with which the second is better."""
        return sum(value > 0 for _, value in self.seeds)


def versus(first: Sequence[RunFacts], second: Sequence[RunFacts], measure: ScoreColumn) -> Versus | None:
    """Compare runs of one way to train with those of another; None where they were not measured alike, or by
    cross-validation, each on folds of its own.
    """
    if measure.split == CROSS_VALIDATION:
        return None
    ours, theirs = _scored(first, measure), _scored(second, measure)
    if not ours or not theirs:
        return None
    metric = score_of(ours[0], measure).metric  # type: ignore[union-attr]
    if any(score_of(run, measure).metric != metric for run in (*ours, *theirs)):  # type: ignore[union-attr]
        return None
    pairs = _pairs(ours, theirs)
    seeds = tuple((a.seed, _value(b, measure) - _value(a, measure)) for a, b in pairs)
    alike = all(same_texts(ours[0], run, measure.split) for run in (*ours, *theirs))
    value = statistics.fmean(_value(run, measure) for run in theirs) - statistics.fmean(
        _value(run, measure) for run in ours
    )
    rows = min(score_of(run, measure).rows for run in (*ours, *theirs))  # type: ignore[union-attr]
    counts = len(ours), len(theirs)
    differ: int | None = None
    found, basis = None, SCORES
    if alike and metric == ours[0].metric:
        found, differ, basis = _by_texts(ours, theirs, pairs, measure.split)
    if found is None and len(seeds) > 1 and len(seeds) == max(counts):
        by_seed = over_seeds(
            [_value(a, measure) for a, _ in pairs], [_value(b, measure) for _, b in pairs], rows
        )
        found, basis = (by_seed.mean, by_seed.interval, by_seed.p_value), SEEDS
    if found is None:
        basis, (interval, p_value) = SCORES, (None, None)
        if metric in SHARES and rows and max(counts) == 1:
            interval, p_value = _two_shares(_value(ours[0], measure), _value(theirs[0], measure), rows)
        found = value, interval, p_value
    return Versus(metric, measure.split, *found, seeds, basis, rows, alike, differ, counts)


def _scored(runs: Sequence[RunFacts], measure: ScoreColumn) -> list[RunFacts]:
    return [run for run in runs if score_of(run, measure) is not None]


def _value(run: RunFacts, measure: ScoreColumn) -> float:
    score = score_of(run, measure)
    assert score is not None
    return score.value


def _pairs(ours: Sequence[RunFacts], theirs: Sequence[RunFacts]) -> list[tuple[RunFacts, RunFacts]]:
    """Return the runs of both that have one seed, the newest of each."""
    first, second = (
        {run.seed: run for run in sorted(runs, key=lambda one: one.began)} for runs in (ours, theirs)
    )
    return [(first[seed], second[seed]) for seed in first if seed in second]


def _by_texts(
    ours: Sequence[RunFacts],
    theirs: Sequence[RunFacts],
    pairs: Sequence[tuple[RunFacts, RunFacts]],
    split: str,
) -> tuple[Found | None, int | None, str]:
    """Compare by the answers that runs have kept; None where one has none, or has answered other texts."""
    kept = [[_answers(run, split) for run in side] for side in (ours, theirs)]
    first, second = ([one for one in side if one is not None] for side in kept)
    if len(first) < len(ours) or len(second) < len(theirs) or not are_alike([*first, *second]):
        return None, None, SCORES
    differ: int | None = None
    if all(one.is_of_hits for one in (*first, *second)):
        hits = [np.mean([one.hits for one in side], 0) >= 0.5 for side in (first, second)]
        differ = int((hits[0] != hits[1]).sum())
    if len(first) == len(second) == 1:
        return _one_each(first[0], second[0]), differ, TEXTS
    order = list(range(len(first))), list(range(len(second)))
    paired = len(pairs) == len(first) == len(second)
    if paired:
        order = [ours.index(a) for a, _ in pairs], [theirs.index(b) for _, b in pairs]
    sides = [
        np.array([side[place].values(first[0].groups) for place in places])
        for side, places in zip((first, second), order, strict=True)
    ]
    return texts_and_seeds(sides[0], sides[1], paired=paired), differ, TEXTS_AND_SEEDS


def _one_each(first: KeptAnswers, second: KeptAnswers) -> Found:
    """Compare the answers of one run with those of another; texts that repeat each other count once."""
    if first.is_of_hits and second.is_of_hits:
        found = compared_hits(first.hits, second.hits, first.groups)
    else:
        found = compared(first.adds, second.adds, SCORES_OF[first.score], first.groups)
    return found.value, found.interval, found.p_value


def _answers(run: RunFacts, split: str) -> KeptAnswers | None:
    score = run.score(split)
    return None if score is None else kept_answers(Path(run.path), split, score.step)


def texts_and_seeds(first: Values, second: Values, *, paired: bool) -> Found:
    """Return the mean difference, its 95 % interval and chance's part, over other texts and other seeds.

    Both sources of chance add up: that of the texts, of the mean over seeds; that of the seeds, of the mean
    over texts, which is never less than what the rounding to whole texts hides. Student's t, with the degrees
    of freedom of Satterthwaite 1946. Below LEAST_SEEDS of a side the difference alone.

    Args: first, second: (S, E) what each text makes of the score with each seed, such as whether it is right.
          paired: seed by seed.
    """
    one, other = np.asarray(first, np.float64), np.asarray(second, np.float64)
    apart = other.mean(0) - one.mean(0)
    value, count = float(apart.mean()), len(apart)
    if min(len(one), len(other)) < LEAST_SEEDS or count < 2:
        return value, None, None
    error, freedom = text_error(value, apart / count)
    parts = [(error**2, freedom)]
    rounding = 1 / (12 * count**2)
    if paired:
        by_seed = other.mean(1) - one.mean(1)
        spread = max(float(by_seed.var(ddof=1)), 2 * rounding)
        parts.append((spread / len(by_seed), len(by_seed) - 1.0))
    else:
        for side in (one, other):
            spread = max(float(side.mean(1).var(ddof=1)), rounding)
            parts.append((spread / len(side), len(side) - 1.0))
    total = sum(part for part, _ in parts)
    freedom = total**2 / sum(part**2 / own for part, own in parts)
    interval, p_value = student(value, math.sqrt(total), freedom)
    return value, interval, p_value


def _two_shares(one: float, other: float, rows: int) -> tuple[tuple[float, float], float]:
    """Return interval and chance's part of a difference of two shares, as if of different texts.

    The interval is Newcombe's tenth (1998), whose ends are Wilson's; the p-value is that of the level at
    which it first holds 0, so that the two never contradict each other.
    """

    def ends(z: float) -> tuple[float, float]:
        (low_a, high_a), (low_b, high_b) = (wilson_interval(x * rows, rows, z) for x in (one, other))
        value = other - one
        return (
            value - math.hypot(other - low_b, high_a - one),
            value + math.hypot(high_b - other, one - low_a),
        )

    def holds(z: float) -> bool:
        low, high = ends(z)
        return low <= 0 <= high

    few, many = 0.0, _MOST_Z
    for _ in range(60):  # halved until nothing is left between
        middle = (few + many) / 2
        few, many = (few, middle) if holds(middle) else (middle, many)
    return ends(NORMAL_95), 1.0 if one == other else math.erfc(many / math.sqrt(2))
