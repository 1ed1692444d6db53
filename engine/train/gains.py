"""What the stages of a pipeline gained: read from finished run folders, put together, laid out as a table.

Nothing is measured here. A figure of a stage is the mean over its fine-tuning runs, which differ in the seed
alone; gains are differences seed by seed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import WORD, RunError, Sentence, listed, marked
from engine.events import Evaluated, Finished, Gained, Started
from engine.language import heads, metric_name, said, spoken
from engine.model.folder import open_weights
from engine.model.source import StoredModel
from engine.model.weights import read_config
from engine.train.clusters import f1_interval_of, share_interval_of
from engine.train.metrics import (
    CORRELATIONS,
    LEAST_SEEDS,
    SHARES,
    error_over_seeds,
    mean_interval,
    student_interval,
    wilson_interval,
)
from engine.train.run.answers import load_answers
from engine.train.run.runs import MODEL, chain_of, read_events
from engine.train.scored import F1
from engine.train.tasks.regression.scores import pearson_interval

SCHEMA_VERSION = 1
TOO_FEW_SEEDS = marked(
    "engine",
    "Number of seeds: {seeds}. From {least} seeds on, a 95 % interval separates a difference from chance.",
)


@dataclass(frozen=True)
class FineTuningResult:
    """What a finished fine-tuning run found.

    value: of `split`, at the run's best checkpoint. interval: its 95 % interval over the rows, by what the
    metric is; None where that is not known. num_looks: evaluations of which that checkpoint's was the best.
    """

    run: str
    seed: int
    metric: str
    split: str
    value: float
    validation: float
    num_rows: Mapping[str, int]  # by split
    best_step: int | None
    num_steps: int
    seconds: float
    interval: tuple[float, float] | None = None
    num_looks: int = 0

    @property
    def rows(self) -> int:
        """How many rows the figure was measured on."""
        return self.num_rows[self.split]


@dataclass(frozen=True)
class PretrainingResult:
    """What a finished pretraining run found; losses are of masked words in held-out text, None without it."""

    run: str
    loss_before: float | None
    loss_after: float | None
    steps: int
    tokens: int
    seconds: float
    text: tuple[str, ...]  # names of the files


@dataclass(frozen=True)
class SeedRuns:
    """Fine-tuning runs that differ in the seed alone."""

    name: str
    runs: tuple[FineTuningResult, ...] = field(default=(), kw_only=True)

    @property
    def values(self) -> tuple[float, ...]:
        """The figure of each run."""
        return tuple(run.value for run in self.runs)

    @property
    def seconds(self) -> float:
        """What its runs took together, pauses left out."""
        return sum(run.seconds for run in self.runs)

    def event(self, shared: float = 0.0) -> Gained:
        """Return what they have reached so far. Args: shared: as `error_over_seeds` has it."""
        return Gained(
            stage=self.name,
            seeds_done=len(self.runs),
            metric=self.runs[0].metric if self.runs else "",
            values=self.values,
            mean=statistics.fmean(self.values) if self.runs else None,
            spread=spread(self.values),
            split=self.runs[0].split if self.runs else "",
            rows=self.runs[0].rows if self.runs else 0,
            shared=shared,
        )


@dataclass(frozen=True)
class StageResult(SeedRuns):
    """What is known of a stage; model: the folder that its fine-tuning runs begin with."""

    model: str
    pretrained: PretrainingResult | None = None

    @property
    def seconds(self) -> float:
        return (self.pretrained.seconds if self.pretrained else 0.0) + super().seconds

    def event(self, shared: float = 0.0) -> Gained:
        before, found = self.pretrained, super().event(shared)
        if before is None:
            return found
        return replace(found, mlm_loss_before=before.loss_before, mlm_loss_after=before.loss_after)


def fine_tuned(run_dir: Path, seed: int) -> FineTuningResult:
    """Read a finished fine-tuning run. The figure is the test set's where there is one.

    Raises: RunError if its files do not tell.
    """
    events = list(read_events(run_dir))
    started = next((event for event in events if isinstance(event, Started)), None)
    finished = next((event for event in reversed(events) if isinstance(event, Finished)), None)
    if started is None or finished is None:
        raise _untold(run_dir)
    metric, validation = started.metric, finished.best_metric
    tested = (finished.metrics or {}).get(metric)
    measured = [event for event in events if isinstance(event, Evaluated) and event.split == "validation"]
    if validation is None:  # the best checkpoint was damaged: the last one is the result
        validation = measured[-1].metrics.get(metric) if measured else None
    value = tested if started.num_test else validation
    if value is None or validation is None:
        raise _untold(run_dir)
    split = "test" if started.num_test else "validation"
    rows = started.num_test or started.num_validation
    step = finished.best_step if finished.best_step is not None else measured[-1].step if measured else 0
    return FineTuningResult(
        run=run_dir.name,
        seed=seed,
        metric=metric,
        split=split,
        value=value,
        validation=validation,
        num_rows={
            "train": started.num_train,
            "validation": started.num_validation,
            "test": started.num_test,
        },
        best_step=finished.best_step,
        num_steps=started.num_steps,
        seconds=finished.seconds,
        interval=_over_rows(metric, value, rows) or _of_answers(run_dir, split, step),
        num_looks=len(measured),
    )


def _over_rows(metric: str, value: float, rows: int) -> tuple[float, float] | None:
    """Return the 95 % interval that follows from a score and the number of rows; None where none does."""
    if metric in SHARES and rows:
        return wilson_interval(value * rows, rows)
    return pearson_interval(value, rows) if metric in CORRELATIONS else None


def _of_answers(run_dir: Path, split: str, step: int) -> tuple[float, float] | None:
    """Return the 95 % interval of an F1, or of a share of words, from the answers that a run has kept."""
    each = load_answers(run_dir, split, step)
    if each is None or not len(each):
        return None
    ones = np.ones(len(each), np.int64)
    return (f1_interval_of if each.score == F1 else share_interval_of)(each.adds.astype(np.float64), ones)


def _untold(run_dir: Path) -> RunError:
    return RunError(
        marked(
            "engine",
            "The run in {path} is finished, but its files do not show what it reached. "
            "Remove the folder, and it is run again.",
        ),
        path=run_dir,
    )


def pretrained(run_dir: Path) -> PretrainingResult:
    """Read a finished pretraining run. Raises: RunError if its files do not tell."""
    measured = [event.metrics for event in read_events(run_dir) if isinstance(event, Evaluated)]
    losses = [metrics["mlm_loss"] for metrics in measured if "mlm_loss" in metrics]
    stage = (chain_of(str(run_dir / MODEL)) or [{}])[-1]
    if any(name not in stage for name in ("steps", "tokens", "seconds", "text")):
        raise _untold(run_dir)
    return PretrainingResult(
        run=run_dir.name,
        loss_before=losses[0] if losses else None,
        loss_after=losses[-1] if losses else None,
        steps=int(stage["steps"]),
        tokens=int(stage["tokens"]),
        seconds=float(stage["seconds"]),
        text=tuple(str(file["name"]) for file in stage["text"]),
    )


def spread(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation, or None below two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def gain(stage: StageResult, base: StageResult) -> tuple[float, float | None]:
    """Return the mean difference from the base, seed by seed, and its standard error; None where the seeds
    do not tell, as `error_over_seeds` has it.

    Both runs of a seed have the same new head, order and dropout, so what these do to both cancels.
    """
    known = {run.seed: run.value for run in base.runs}
    differences = [run.value - known[run.seed] for run in stage.runs]
    return statistics.fmean(differences), error_over_seeds(differences, base.runs[0].rows, num_scores=2)


def report_of(found: Sequence[StageResult], about_texts: Sequence[str] = ()) -> dict[str, Any]:
    """Return what report.json holds; every stage has the same seeds. The first stage is the base.

    Args: about_texts: what must be known of the texts that were pretrained on.
    """
    base, first = found[0], found[0].runs[0]
    mean, rows, is_share = statistics.fmean(base.values), first.rows, first.metric in SHARES
    interval = _over_rows(first.metric, mean, rows) or first.interval
    return {
        "schema_version": SCHEMA_VERSION,
        "metric": first.metric,
        "split": first.split,
        "rows": dict(first.num_rows),
        "standard_error_of_rows": math.sqrt(mean * (1 - mean) / rows) if is_share else None,
        "interval_of_rows": None if interval is None else list(interval),
        "seeds": [run.seed for run in base.runs],
        "stages": [_stage(stage, base) for stage in found],
        "notes": [
            *map(str, _notes_on_figures(found, rows, interval)),
            *about_texts,
            *map(str, _notes_on_models(found)),
        ],
    }


def _stage(stage: StageResult, base: StageResult) -> dict[str, Any]:
    difference, error = gain(stage, base)
    around = None if error is None else student_interval(difference, error, len(stage.runs))
    interval = mean_interval(stage.values, stage.runs[0].rows, stage.runs[0].metric)
    before = stage.pretrained
    return {
        "stage": stage.name,
        "model": stage.model,
        "vocab_size": read_config(Path(stage.model)).vocab_size,
        "pretraining": None if before is None else {**vars(before), "text": list(before.text)},
        "mlm_loss_before": before.loss_before if before else None,
        "mlm_loss_after": before.loss_after if before else None,
        "mean": statistics.fmean(stage.values),
        "spread": spread(stage.values),
        "interval": None if interval is None else list(interval),
        "gain": None if stage is base else difference,
        "gain_standard_error": None if stage is base else error,
        "gain_interval": None if stage is base or around is None else list(around),
        "values": list(stage.values),
        "runs": [{**vars(run), "num_rows": dict(run.num_rows)} for run in stage.runs],
    }


def _notes_on_figures(
    found: Sequence[StageResult], rows: int, interval: tuple[float, float] | None
) -> list[Sentence]:
    """Return what a person must know to judge scores and gains."""
    first, num_seeds = found[0].runs[0], len(found[0].runs)
    values: dict[str, Any] = {"rows": f"{rows:,}", "split": first.split, "metric": first.metric}
    template = marked("engine", "Measured on {rows} {split} rows.")
    if interval is not None:
        template = marked(
            "engine",
            "Measured on {rows} {split} rows. With so many, the 95 % interval of the base’s "
            "{metric} is {low:.4f} to {high:.4f}, whatever the seeds do.",
        )
        if first.metric not in (*SHARES, *CORRELATIONS):
            template = marked(
                "engine",
                "Measured on {rows} {split} rows. With so many, the 95 % interval of the "
                "{metric} of the base’s first run is {low:.4f} to {high:.4f}, whatever the seeds "
                "do.",
            )
        values |= {"low": interval[0], "high": interval[1]}
    notes = [Sentence(template, values)]
    if first.split == "validation":
        template = marked(
            "engine",
            "These rows were also used to pick each run’s checkpoint, so every figure is a little "
            "too good, equally in all stages.",
        )
    else:
        template = marked(
            "engine",
            "{rows} validation rows were also used to pick each run’s checkpoint. The test "
            "rows were measured once.",
        )
    notes.append(Sentence(template, {"rows": f"{first.num_rows['validation']:,}"}))
    template = marked(
        "engine",
        "The 95 % intervals are over {seeds} seeds of fine-tuning (Student’s t). Those "
        "of a gain are over the differences seed by seed. Each stage was pretrained "
        "once, so they do not cover another pretraining.",
    )
    if num_seeds < LEAST_SEEDS:
        template = TOO_FEW_SEEDS
    return [*notes, Sentence(template, {"seeds": num_seeds, "least": LEAST_SEEDS})]


def _notes_on_models(found: Sequence[StageResult]) -> list[Sentence]:
    """Return what the models of the stages do not have alike."""
    notes = []
    first_stage = next((stage for stage in found if stage.pretrained), None)
    if first_stage is not None and not _has_masked_word_head(Path(found[0].model)):
        template = marked(
            "engine",
            "The model came without a masked-word head. The loss before {stage} text is that "
            "of a new head and says little about the model.",
        )
        notes.append(Sentence(template, {"stage": first_stage.name}))
    sizes = [read_config(Path(stage.model)).vocab_size for stage in found]
    if sizes[0] != sizes[-1]:
        template = marked(
            "engine",
            "The base stage has the model’s own vocabulary of {own} pieces, later stages {kept} of them.",
        )
        notes.append(Sentence(template, {"own": f"{sizes[0]:,}", "kept": f"{sizes[-1]:,}"}))
    return notes


def _has_masked_word_head(folder: Path) -> bool:
    with open_weights(folder) as stored:
        return StoredModel(stored, read_config(folder)).has("masked_word")


def table(report: Mapping[str, Any]) -> list[str]:
    """Return a report as lines for a terminal: a row for each stage, then what must be known to judge it."""
    stage, loss, gain = heads(
        marked("table", "stage"), marked("table", "masked-word loss"), marked("table", "gain over base")
    )
    reached = f"{spoken(report['split'], WORD)} {metric_name(report['metric'])}"
    rows = [(stage, loss, reached, gain, seeds_words(report["seeds"]))]
    for stage in report["stages"]:
        before, after = stage["mlm_loss_before"], stage["mlm_loss_after"]
        rows.append(
            (
                spoken(stage["stage"], WORD),
                "" if before is None else f"{before:.4f} -> {after:.4f}",
                with_interval(stage["mean"], stage["interval"], ""),
                "" if stage["gain"] is None else with_interval(stage["gain"], stage["gain_interval"], "+"),
                "  ".join(f"{value:.4f}" for value in stage["values"]),
            )
        )
    return [*aligned(rows), "", *report["notes"]]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines, their columns under each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in lines]


def with_interval(figure: float, interval: Sequence[float] | None, sign: str) -> str:
    """Return a figure with its 95 % interval. Args: sign: "+" to show the sign of one above nought too."""
    value = f"{figure:{sign}.4f}"
    if interval is None:
        return value
    low, high = interval
    between = spoken(marked("engine", "{value} (95 %: {low} to {high})"))
    return between.format(value=value, low=f"{low:{sign}.4f}", high=f"{high:{sign}.4f}")


def seeds_words(seeds: Iterable[int]) -> str:
    """Return which seeds the runs of a table had."""
    return said(marked("engine", "seeds {seeds}"), seeds=listed(map(str, seeds)))
