"""Whether one way to train is better than another, and whether that is sure.

The best evidence there is is taken: the answers that runs have kept, text by text, with several seeds of
each; else the seeds' scores; else the two scores alone. Which it was is said with what was found.
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
from engine.evaluation.statistics import compared, compared_hits, over_seeds
from engine.runs.answers import KeptAnswers, kept_answers
from engine.runs.facts import SHARES, RunFacts
from engine.runs.groups import Measure, same_texts, score_of
from engine.train.metrics import wilson_interval
from engine.train.scored import SHARE

TEXTS_AND_SEEDS, TEXTS, SEEDS, SCORES = "texts and seeds", "texts", "seeds", "scores"
SURE = 0.05  # chance shows such a difference less often

Hits = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Versus:
    """What the second is better by. value, interval: of the score, 0.012 being 1.2 points of a share.

    seeds: (seed, difference) of those that both have. basis: what it rests on. rows: texts; differ: those
    that one of the two answers rightly and the other does not (of several seeds: most of them), if known.
    p_value: how often chance alone shows as much; None where nothing can be said of that.
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

    @property
    def is_sure(self) -> bool:
        """Whether it is more than chance."""
        return self.p_value is not None and self.p_value < SURE

    @property
    def num_better(self) -> int:
        """Seeds with which the second is better."""
        return sum(value > 0 for _, value in self.seeds)


def versus(first: Sequence[RunFacts], second: Sequence[RunFacts], measure: Measure) -> Versus | None:
    """Compare runs of one way to train with those of another; None where they were not measured alike."""
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
    if alike and metric == ours[0].metric:
        found = _by_texts(ours, theirs, pairs, measure.split)
        if found is not None:
            value, interval, p_value, differ, basis = found
            return Versus(metric, measure.split, value, interval, p_value, seeds, basis, rows, True, differ)
    if len(seeds) > 1 and len(seeds) == max(len(ours), len(theirs)):
        by_seed = over_seeds([_value(a, measure) for a, _ in pairs], [_value(b, measure) for _, b in pairs])
        return Versus(
            metric, measure.split, by_seed.mean, by_seed.interval, by_seed.p_value, seeds, SEEDS, rows, alike
        )
    by_scores: tuple[tuple[float, float] | None, float | None] = (None, None)
    if metric in SHARES and rows:
        by_scores = _two_shares(ours, theirs, measure, rows)
    return Versus(metric, measure.split, value, *by_scores, seeds, SCORES, rows, alike)


def _scored(runs: Sequence[RunFacts], measure: Measure) -> list[RunFacts]:
    return [run for run in runs if score_of(run, measure) is not None]


def _value(run: RunFacts, measure: Measure) -> float:
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
) -> tuple[float, tuple[float, float] | None, float, int, str] | None:
    """Compare by the answers that runs have kept; None where one has none, or has answered other texts."""
    kept = [[_answers(run, split) for run in side] for side in (ours, theirs)]
    every = [one for side in kept for one in side if one is not None]
    if len(every) < len(ours) + len(theirs) or len({(one.texts, one.score) for one in every}) > 1:
        return None
    if every[0].score != SHARE:
        return _by_sums(every) if len(every) == 2 else None
    first, second = (np.array([one.hits for one in side if one is not None], bool) for side in kept)
    if len(first) == len(second) == 1:
        found = compared_hits(first[0], second[0])
        differ = int((first[0] != second[0]).sum())
        return found.value, found.interval, found.p_value, differ, TEXTS
    differ = int(((first.mean(0) >= 0.5) != (second.mean(0) >= 0.5)).sum())
    if len(first) < 2 or len(second) < 2:  # of one side nobody knows what another seed would do
        apart = second.mean(0) - first.mean(0)
        value, error, freedom = (
            float(apart.mean()),
            float(apart.std(ddof=1)) / math.sqrt(len(apart)),
            len(apart) - 1,
        )
        return value, *_student(value, error, freedom), differ, TEXTS
    if len(pairs) == len(first) == len(second):
        order = [ours.index(a) for a, _ in pairs], [theirs.index(b) for _, b in pairs]
        return *texts_and_seeds(first[order[0]], second[order[1]], paired=True), differ, TEXTS_AND_SEEDS
    return *texts_and_seeds(first, second, paired=False), differ, TEXTS_AND_SEEDS


def _by_sums(two: Sequence[KeptAnswers]) -> tuple[float, tuple[float, float] | None, float, int, str]:
    """Compare a score that is no share of texts, such as F1, of one run each."""
    first, second = two
    found = compared(first.adds, second.adds, SCORES_OF[first.score])
    return found.value, found.interval, found.p_value, int((first.hits != second.hits).sum()), TEXTS


def _answers(run: RunFacts, split: str) -> KeptAnswers | None:
    score = run.score(split)
    return None if score is None else kept_answers(Path(run.path), split, score.step)


def texts_and_seeds(first: Hits, second: Hits, *, paired: bool) -> tuple[float, tuple[float, float], float]:
    """Return the mean difference, its 95 % interval and chance's part, over other texts and other seeds.

    Both sources of chance add up: that of the texts, of the mean over seeds; that of the seeds, of the mean
    over texts. Student's t, with the degrees of freedom of Satterthwaite 1946.

    Args: first, second: (S, E) of each seed where it is right, S at least 2. paired: seed by seed.
    """
    apart = second.mean(0) - first.mean(0)
    value, count = float(apart.mean()), len(apart)
    parts = [(float(apart.var(ddof=1)) / count, count - 1)] if count > 1 else []
    if paired:
        by_seed = second.mean(1) - first.mean(1)
        parts.append((float(by_seed.var(ddof=1)) / len(by_seed), len(by_seed) - 1))
    else:
        parts += [(float(side.mean(1).var(ddof=1)) / len(side), len(side) - 1) for side in (first, second)]
    total = sum(part for part, _ in parts)
    below = sum(part**2 / freedom for part, freedom in parts)
    freedom = total**2 / below if below else float(count)
    interval, p_value = _student(value, math.sqrt(total), freedom)
    return value, interval, p_value


def _student(value: float, error: float, freedom: float) -> tuple[tuple[float, float], float]:
    from scipy import stats

    if not error:
        return (value, value), 1.0 if not value else 0.0
    half = float(stats.t.ppf(0.975, freedom)) * error
    return (value - half, value + half), float(2 * stats.t.sf(abs(value) / error, freedom))


def _two_shares(
    ours: Sequence[RunFacts], theirs: Sequence[RunFacts], measure: Measure, rows: int
) -> tuple[tuple[float, float], float]:
    """Return interval and chance's part of a difference of two shares, as if of different texts.

    Source: Newcombe 1998, his tenth; the test with a pooled share.
    """
    one, other = (statistics.fmean(_value(run, measure) for run in side) for side in (ours, theirs))
    (low_a, high_a), (low_b, high_b) = wilson_interval(one * rows, rows), wilson_interval(other * rows, rows)
    value = other - one
    low = value - math.sqrt((other - low_b) ** 2 + (high_a - one) ** 2)
    high = value + math.sqrt((high_b - other) ** 2 + (one - low_a) ** 2)
    pooled = (one + other) / 2
    error = math.sqrt(2 * pooled * (1 - pooled) / rows)
    return (low, high), math.erfc(abs(value) / error / math.sqrt(2)) if error else 1.0
