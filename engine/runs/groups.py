"""Runs of the same settings taken together, whatever their seed: what varies, and what they reach."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.runs.facts import CROSS_VALIDATION, RunFacts, RunScore, interval_of
from engine.settings.setting import settings_of
from engine.settings.shared import DeviceConfig
from engine.text.roles import ROLE_NAMES

# what does not change what is learned, and the seed, which is what runs of a group differ in
UNCOMPARED = {"kept_weights", "checkpoint_every_steps", *settings_of(DeviceConfig)} - {"precision"}


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """Which score is looked at: of which part of the data, by which metric; "" for each run's own."""

    split: str = "validation"
    metric: str = ""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run and what all runs of the same settings have alike."""

    facts: RunFacts
    key: str


@dataclass(frozen=True, slots=True)
class GroupScore:
    """What runs of the same settings reached. values: by run. spread: over the seeds, None for one.

    interval: 95 %, of the texts, around the mean; None where it is not known.
    """

    metric: str
    values: tuple[float, ...]
    mean: float
    spread: float | None
    interval: tuple[float, float] | None
    rows: int


def listed(runs: Iterable[RunFacts]) -> tuple[ListedRun, ...]:
    """Return runs with what tells their groups apart."""
    known: dict[int, str] = {}  # of settings that several runs share
    found = []
    for facts in runs:
        place = id(facts.settings)
        if place not in known or not facts.settings:
            known[place] = key_of(facts)
        found.append(ListedRun(facts, known[place]))
    return tuple(found)


def key_of(facts: RunFacts) -> str:
    """Return what runs that differ in their seed alone have alike."""
    own = sorted((name, value) for name, value in facts.settings.items() if name not in UNCOMPARED)
    return f"{facts.kind} {own}" if own else facts.folder


def score_of(facts: RunFacts, measure: ScoreColumn) -> RunScore | None:
    """Return what a run reached by a measure; None where it was not measured so."""
    score = facts.score(measure.split)
    if score is None or not measure.metric or measure.metric == score.metric:
        return score
    value = facts.metrics.get(measure.split, {}).get(measure.metric)
    if value is None:
        return None
    interval = interval_of(measure.metric, value, score.rows)
    return RunScore(
        split=measure.split,
        metric=measure.metric,
        value=value,
        interval=interval,
        rows=score.rows,
        step=score.step,
    )


def reached(runs: Sequence[RunFacts], measure: ScoreColumn) -> GroupScore | None:
    """Return what runs of the same settings reached together; None where none was measured so."""
    scores = [score for facts in runs if (score := score_of(facts, measure)) is not None]
    if not scores or len({score.metric for score in scores}) > 1:
        return None
    values = tuple(score.value for score in scores)
    mean, rows = statistics.fmean(values), min(score.rows for score in scores)
    own = scores[0].interval if len(scores) == 1 else interval_of(scores[0].metric, mean, rows)
    if len(scores) > 1 and measure.split == CROSS_VALIDATION:
        own = None  # its rows tell less than their number, for their folds overlap
    spread = (
        math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) if values[1:] else None
    )
    return GroupScore(scores[0].metric, values, mean, spread, own, rows)


def measures_of(runs: Iterable[RunFacts]) -> list[ScoreColumn]:
    """Return by what runs can be compared: their own scores first, then every metric of each part."""
    found: dict[ScoreColumn, None] = {}
    for facts in runs:
        for score in facts.scores:
            found.setdefault(ScoreColumn(score.split))
    for facts in runs:
        for split, metrics in facts.metrics.items():
            for metric in metrics:
                found.setdefault(ScoreColumn(split, metric))
    return list(found)


def commonest(runs: Sequence[RunFacts], names: Iterable[str]) -> dict[str, Any]:
    """Return the value that each of some settings has most often among runs."""
    found: dict[str, Any] = {}
    times = Counter(id(facts.settings) for facts in runs)  # runs of the same settings hold one dict
    shared = {id(facts.settings): facts.settings for facts in runs}
    for name in names:
        counts, values = Counter[str](), dict[str, Any]()
        for place, settings in shared.items():
            value = settings.get(name)
            counts[repr(value)] += times[place]
            values[repr(value)] = value
        found[name] = values[counts.most_common(1)[0][0]]
    return found


def varied(runs: Sequence[RunFacts]) -> list[str]:
    """Return the settings that are not the same in all runs, in the order in which a form has them."""
    different = list({id(facts.settings): facts.settings for facts in runs}.values())
    return [
        name
        for name in _names(runs)
        if name not in UNCOMPARED and _differ([settings.get(name) for settings in different])
    ]


def _differ(values: Sequence[Any]) -> bool:
    """Whether values are not all the same; 1, 1.0 and True are not."""
    first = values[0]
    return any(value != first or type(value) is not type(first) for value in values)


def differences(a: RunFacts, b: RunFacts) -> list[tuple[str, Any, Any]]:
    """Return (setting, of a, of b) of what two runs do not have alike, their seeds left out."""
    return [(name, a.settings.get(name), b.settings.get(name)) for name in varied([a, b])]


def pair_of(first: Sequence[RunFacts], second: Sequence[RunFacts]) -> tuple[RunFacts, RunFacts]:
    """Return a run of each that have the same seed, where there are such; else the first of each."""
    by_seed = {run.seed: run for run in second}
    pairs = [(run, by_seed[run.seed]) for run in first if run.seed in by_seed]
    return pairs[0] if pairs else (first[0], second[0])


def same_texts(a: RunFacts, b: RunFacts, split: str) -> bool:
    """Whether two runs were scored on the same rows, as far as their settings tell."""
    drawn = ("data", *ROLE_NAMES, "task", "validation_share", "test_share", "split_seed")
    apart = "validation_data" if split == "validation" else "test_data"
    names = (apart,) if a.settings.get(apart) else (*drawn, apart)
    alike = all(a.settings.get(name) == b.settings.get(name) for name in names)
    return alike and a.rows.get(split, 0) == b.rows.get(split, 0) > 0


def _names(runs: Sequence[RunFacts]) -> list[str]:
    kinds = {facts.kind: facts for facts in runs if facts.settings}  # all of a kind have the same
    return list(dict.fromkeys(name for facts in kinds.values() for name in facts.settings))
