"""Feature-based against fine-tuned: the same rows, split and seeds, learned from in several ways.

folder/
    comparison.toml         all settings
    <way>-seed<seed>/       run folders of fine-tuning, without their weights: they are there to be compared
    report.json             what each way reached, once all is done

The run folders are the truth: the same command goes on where an earlier one ended. The ways take turns, seed
by seed, so that what is known so far compares all of them.
"""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.durable import check_place, explained, sweep_partials, write_text
from engine.errors import WORD, ConfigError, RunError, Sentence, marked
from engine.events import Event, Finished, Noted
from engine.files import read_json_object
from engine.language import heads, metric_name, spoken
from engine.model.info import read_info
from engine.model.weights import read_config as read_shape
from engine.own_process import command_words
from engine.settings.config import from_toml, to_toml, with_values
from engine.settings.finetune import SEEDS, AdaptConfig, FineTuneConfig
from engine.train.adapt import FEATURE_RATE
from engine.train.finetune import fine_tune
from engine.train.gains import (
    TOO_FEW_SEEDS,
    FineTuningResult,
    SeedRuns,
    aligned,
    fine_tuned,
    seeds_words,
    spread,
    with_interval,
)
from engine.train.metrics import (
    LEAST_SEEDS,
    error_over_seeds,
    mean_interval,
    score_classes,
    student_interval,
)
from engine.train.pipeline import finished_run
from engine.train.ranks import check_alone
from engine.train.run.lock import locked
from engine.train.run.runs import LOCK, MODEL, SETUP
from engine.train.tasks.classification.kind import Classifying
from engine.train.tasks.known import guess_task, kept_part
from engine.train.ways.choose import SETTLED
from engine.train.ways.names import LEAST_STEPS, SAID
from engine.train.ways.words import predicted_by_words

SETTINGS, REPORT = "comparison.toml", "report.json"
FINE_TUNED, TFIDF = "fine-tuned", "tfidf"
LEAST_EPOCHS, LEAST_HEAD_STEPS = 10, 100  # of what stands on a frozen encoder
FEW_MEASURED = 100  # held-out rows, below which a row is worth more than a point
FEW_ROWS = 1000  # labelled, below which each seed draws its own split, for one says little


@dataclass(frozen=True, slots=True)
class Way:
    """A way to use a pretrained model. said: what a person calls it. settings: what is set for it."""

    name: str
    said: str
    settings: dict[str, Any] = field(default_factory=dict)


FROZEN, REGRESSION, CONTRASTIVE = {"encoder": "frozen"}, "regression", "contrastive"
WAYS = (
    Way(FINE_TUNED, marked("engine", "Fine-tuned, all weights")),
    Way(REGRESSION, marked("engine", "Frozen encoder, regression on the mean"), {"way": REGRESSION}),
    Way(CONTRASTIVE, SAID[CONTRASTIVE], {"way": CONTRASTIVE}),
    Way(TFIDF, SAID[TFIDF]),
    Way("cls", marked("engine", "Frozen encoder, [CLS]"), FROZEN),
    Way("mean", marked("engine", "Frozen encoder, mean of all tokens"), {**FROZEN, "pooling": "mean"}),
    Way("mix", marked("engine", "Frozen encoder, mix of layers"), {**FROZEN, "layer_mix": True}),
)


@dataclass(frozen=True)
class WayResult(SeedRuns):
    """What is known of a way. mixes: the learned shares of the layers, of each seed's mix."""

    said: str
    mixes: tuple[tuple[float, ...], ...] = ()

    @property
    def num_looks(self) -> int:
        """Of how many evaluations a run's figure is the best, at most."""
        return max(run.num_looks for run in self.runs)


def compare(config: FineTuneConfig, folder: Path, seeds: int = SEEDS) -> Iterator[Event]:
    """Learn from the same rows in each of the ways, with several seeds; the result is folder/report.json.

    Several runs follow one another, so there are several `Started`; `Gained` comes after each, one `Finished`
    at the end. In a folder where it was begun, runs that are finished are kept.
    Raises: UserError in one sentence, as `fine_tune`; RunError if the folder holds other work.
    """
    check_alone()
    folder = Path(folder).absolute()
    _check(config, folder)
    ways = ways_for(config)
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / LOCK):
        sweep_partials(folder)
        write_text(folder / SETTINGS, f"seeds = {seeds}\n" + to_toml(config))
        yield from _work(config, folder, ways, seeds)


def resume(folder: Path) -> Iterator[Event]:
    """Go on with a comparison from its folder alone. Raises: RunError if it is none."""
    config, seeds = read_comparison(folder)
    return compare(config, folder, seeds)


def is_comparison(folder: Path) -> bool:
    """Whether a folder holds a comparison."""
    return (Path(folder) / SETTINGS).is_file()


def read_comparison(folder: Path) -> tuple[FineTuneConfig, int]:
    """Return the settings of a comparison, and how many seeds. Raises: RunError, ConfigError."""
    if not is_comparison(folder):
        raise RunError(
            marked("engine", "{path} is not a comparison: it has no {name}."), path=folder, name=SETTINGS
        )
    values = from_toml(Path(folder) / SETTINGS)
    seeds = values.pop("seeds", SEEDS)
    return with_values(FineTuneConfig(), values), seeds if type(seeds) is int and seeds > 0 else SEEDS


def read_report(folder: Path) -> dict[str, Any]:
    """Return the report of a comparison that has come to its end. Raises: RunError if it has not."""
    return read_json_object(Path(folder) / REPORT, kind=RunError)


def table(report: Mapping[str, Any]) -> list[str]:
    """Return a report as lines for a terminal: a row for each way."""
    way, against, seconds = heads(
        marked("table", "way"), marked("table", "against fine-tuned"), marked("table", "s a run")
    )
    reached = f"{spoken(report['split'], WORD)} {metric_name(report['metric'])}"
    rows = [(way, reached, against, seconds, seeds_words(report["seeds"]))]
    for one in report["ways"]:
        difference = one["difference"]
        beside = "" if difference is None else with_interval(difference, one["difference_interval"], "+")
        values = "  ".join(f"{value:.4f}" for value in one["values"])
        mean = with_interval(one["mean"], one["interval"], "")
        rows.append((one["way"], mean, beside, f"{one['seconds']:.1f}", values))
    return [*aligned(rows), "", *report.get("notes", ())]  # reports of before have none


def ways_for(config: FineTuneConfig) -> tuple[Way, ...]:
    """Return the ways that there are for what the data are for: of tokens there is no mean to read, a
    regression answers with one label, and some tasks know no mix of layers, or no frozen encoder.
    """
    kind, _ = guess_task(config.data)
    lacking = set() if kind.head.reads_firsts else {"cls", "mean"}
    lacking |= {way.name for way in WAYS if set(way.settings) & set(kind.without)}
    if kind.name != Classifying.name:
        lacking |= {REGRESSION, CONTRASTIVE, TFIDF}
    return tuple(way for way in WAYS if way.name not in lacking)


def config_of(config: FineTuneConfig, way: Way, seed: int, *, is_few: bool = False) -> FineTuneConfig:
    """Return the settings of one run: a person's own, but for what the way is.

    What stands on a frozen encoder is little and new: it learns at a rate of its own, and for longer. Of few
    rows an epoch has next to no steps, so each way that steps is given as many as teach.

    Args: is_few: whether each seed splits the rows anew.
    """
    values: dict[str, Any] = {**way.settings, "seed": seed, "kept_weights": 0}
    if is_few:
        values["split_seed"] = config.data.split_seed + seed - config.training.seed
    if "way" in way.settings:
        values |= {name: getattr(AdaptConfig(), name) for name in SETTLED}
    if way.name == FINE_TUNED:
        values["least_steps"] = max(LEAST_STEPS, config.training.least_steps)
    if "encoder" in way.settings:
        values |= {
            "learning_rate": FEATURE_RATE,
            "num_epochs": max(LEAST_EPOCHS, config.training.num_epochs),
            "least_steps": max(LEAST_HEAD_STEPS, config.training.least_steps),
            "frozen_layers": 0,
            "new_layers": 0,
        }
    return with_values(config, values)


def _check(config: FineTuneConfig, folder: Path) -> None:
    check_place(folder)
    if config.model.model.startswith("new:"):
        raise ConfigError(
            marked(
                "engine",
                "{field}: a model with random weights has no features to compare with. Choose a trained one.",
            ),
            field="model",
        )
    if len(ways_for(config)) < 2:
        template = marked(
            "engine", "The task {task} is learned in one way alone, so there are no methods to compare."
        )
        raise ConfigError(template, field="task", task=guess_task(config.data)[0].name)
    for name in ("way", "encoder", "layer_mix", "pooling"):
        if getattr(config.adapt, name) != getattr(FineTuneConfig().adapt, name):
            raise ConfigError(
                marked("engine", "{field} is what is compared, so leave it unchanged."), field=name
            )
    begun = is_comparison(folder) and any(folder.glob("*-seed*"))  # else it was refused before its first run
    if begun and read_comparison(folder)[0] != config:
        raise RunError(
            marked(
                "engine",
                "The comparison in {path} was begun with other settings. Name a new folder, or "
                "continue it unchanged: {command} resume {path}",
            ),
            path=folder,
            command=" ".join(command_words()),
        )
    if not is_comparison(folder) and folder.is_dir() and any(one.name != LOCK for one in folder.iterdir()):
        raise RunError(
            marked("engine", "The folder {path} is not empty. Name a new one for the comparison."),
            path=folder,
        )


def _work(config: FineTuneConfig, folder: Path, ways: Sequence[Way], seeds: int) -> Iterator[Event]:
    told: set[str] = set()
    found = {way.name: WayResult(way.name, way.said) for way in ways}
    first = config.training.seed
    for seed in range(first, first + seeds):
        for way in ways:
            if way.name == TFIDF:
                base = found[FINE_TUNED].runs[-1]
                run = _counted(folder / base.run, base)
                found[TFIDF] = replace(found[TFIDF], runs=(*found[TFIDF].runs, run))
                yield found[TFIDF].event(shared_of(config, found[FINE_TUNED].runs))
                continue
            place = folder / f"{way.name}-seed{seed}"
            template = marked("engine", "{way}, seed {seed}.")
            note = Noted(sentence=Sentence(template, {"way": Sentence(way.said), "seed": seed}), level="fine")
            is_few = bool(found[FINE_TUNED].runs) and has_few(config, found[FINE_TUNED].runs[0].num_rows)
            settings = config_of(config, way, seed, is_few=is_few and seed > first)
            yield from finished_run(place, partial(fine_tune, settings, place), note, told)
            known = found[way.name]
            runs, mixes = (*known.runs, fine_tuned(place, seed)), (*known.mixes, *_mix_of(place))
            found[way.name] = replace(known, runs=runs, mixes=mixes)
            yield found[way.name].event(shared_of(config, found[FINE_TUNED].runs))
    runs = found[FINE_TUNED].runs
    report = report_of(
        list(found.values()), has_own_splits=len(runs) > 1 and has_few(config, runs[0].num_rows)
    )
    write_text(folder / REPORT, json.dumps(report, indent=1, ensure_ascii=False))
    for place in folder.glob("*-seed*"):
        shutil.rmtree(place / MODEL, ignore_errors=True)
    seconds = sum(run.seconds for one in found.values() for run in one.runs)
    means = {name: statistics.fmean(one.values) for name, one in found.items()}
    yield Finished(path=folder / REPORT, seconds=seconds, metrics=means)


def _counted(place: Path, beside: FineTuningResult) -> FineTuningResult:
    """Return what TF-IDF reaches on the rows that a run was measured on, learning from those it learned from.

    Args: place: the run. beside: what it reached.
    """
    began = time.perf_counter()
    train, held = (kept_part(place, part) for part in ("train", beside.split))
    labels = read_shape(place / SETUP).id2label
    assert train is not None and held is not None
    scores = score_classes(held.targets, predicted_by_words(train, held), len(labels)).summary()
    seconds = time.perf_counter() - began
    return replace(beside, run="", value=scores[beside.metric], interval=None, seconds=seconds, num_looks=1)


def _mix_of(place: Path) -> Iterator[tuple[float, ...]]:
    """Yield what a finished run's mix of layers has learned, if it has one."""
    shares = read_info(place / MODEL).get("layer_mix")
    if isinstance(shares, list):
        yield tuple(map(float, shares))


def shared_of(config: FineTuneConfig, runs: Sequence[FineTuningResult]) -> float:
    """Return held-out rows for each row to train on, where each seed holds out others; else 0."""
    is_few = bool(runs) and has_few(config, runs[0].num_rows)
    return runs[0].rows / max(1, runs[0].num_rows["train"]) if is_few else 0.0


def has_few(config: FineTuneConfig, rows: Mapping[str, int]) -> bool:
    """Whether a table is so small that each seed is to hold out other rows of it. Args: rows: by part."""
    return not config.data.validation_data and sum(rows.values()) < FEW_ROWS


def report_of(found: Sequence[WayResult], *, has_own_splits: bool = False) -> dict[str, Any]:
    """Return what report.json holds. Differences are from fine-tuning, seed by seed, with 95 % intervals.

    Args: has_own_splits: whether each seed held out other rows.
    """
    base, first = found[0], found[0].runs[0]
    shared = first.rows / max(1, first.num_rows["train"]) if has_own_splits else 0.0
    return {
        "schema_version": 1,
        "metric": first.metric,
        "split": first.split,
        "rows": dict(first.num_rows),
        "seeds": [run.seed for run in base.runs],
        "shared": shared,
        "ways": [_way(one, base, shared) for one in found],
        "learned": {"learning_rate": FEATURE_RATE, "least_epochs": LEAST_EPOCHS},
        "notes": [str(note) for note in _notes(found, has_own_splits)],
    }


def _notes(found: Sequence[WayResult], has_own_splits: bool) -> Iterator[Sentence]:
    """Yield what a person must know to judge the ways."""
    seeds = len(found[0].runs)
    if has_own_splits:
        template = marked(
            "engine",
            "The rows are few, so each seed held out other ones; the intervals count that their training "
            "rows are partly the same.",
        )
        yield Sentence(template)
    if seeds < LEAST_SEEDS:
        yield Sentence(TOO_FEW_SEEDS, {"seeds": seeds, "least": LEAST_SEEDS})
    if (few := note_on_rows(found[0].runs[0].rows)) is not None:
        yield few
    looks = note_on_looks(found[0].runs[0].split, [one.num_looks for one in found])
    if looks is not None:
        yield looks


def note_on_rows(rows: int) -> Sentence | None:
    """Return that scores on so few rows decide little; None where they are not few."""
    if not 0 < rows < FEW_MEASURED:
        return None
    template = marked(
        "engine",
        "Each score is measured on {rows} rows, where one row is {points:.1f} points. So few decide nothing "
        "unless the interval of a difference excludes 0.",
    )
    return Sentence(template, {"rows": rows, "points": 100 / rows})


def note_on_looks(split: str, looks: Sequence[int]) -> Sentence | None:
    """Return that the best of several evaluations is too good, and which way that favours; None where each
    run was measured once, or on other rows than it was chosen by.

    Args: looks: evaluations of a run of each way, fine-tuning's first.
    """
    if split != "validation" or max(looks) < 2:
        return None
    template = marked(
        "engine",
        "Each score is the best of a run’s evaluations on these same rows, so it is a little too good.",
    )
    if max(looks) > looks[0]:
        template = marked(
            "engine",
            "Each score is the best of a run’s evaluations on these same rows, so it is a "
            "little too good. A frozen encoder has the best of up to {most}, training all "
            "weights the best of {own}, which favours the frozen encoder.",
        )
    return Sentence(template, {"most": max(looks), "own": looks[0]})


def beside(
    values: Sequence[float], base: Sequence[float], rows: int = 0, shared: float = 0.0
) -> tuple[float, tuple[float, float] | None]:
    """Return the mean difference of values from others, seed by seed, and its 95 % interval; None where the
    seeds do not tell, as `error_over_seeds` has it.
    """
    differences = [value - other for value, other in zip(values, base, strict=True)]
    mean, error = (
        statistics.fmean(differences),
        error_over_seeds(differences, rows, num_scores=2, shared=shared),
    )
    return mean, None if error is None else student_interval(mean, error, len(differences))


def _way(one: WayResult, base: WayResult, shared: float) -> dict[str, Any]:
    rows = base.runs[0].rows
    interval = mean_interval(one.values, rows, base.runs[0].metric, shared)
    difference, around = (None, None) if one is base else beside(one.values, base.values, rows, shared)
    return {
        "way": one.name,
        "said": one.said,
        "values": list(one.values),
        "mean": statistics.fmean(one.values),
        "spread": spread(one.values),
        "interval": None if interval is None else list(interval),
        "difference": difference,
        "difference_interval": None if around is None else list(around),
        "seconds": one.seconds / len(one.runs),
        "looks": one.num_looks,
        "layer_mix": [statistics.fmean(column) for column in zip(*one.mixes, strict=True)],
    }
