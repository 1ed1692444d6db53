"""What the chain asks of workers: plain functions over the files of a pipeline, none of which knows Qt."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.words import translate
from engine.errors import RunError, UserError
from engine.events import Beat, Event, Gained, Steps
from engine.files import read_json_object
from engine.runs.curves import LOSS, RunCurve, read_curves
from engine.settings.pipeline import PipelineConfig
from engine.train.gains import StageResult, fine_tuned, pretrained
from engine.train.pipeline import REPORT, is_pipeline, read_pipeline
from engine.train.run.lock import is_locked
from engine.train.run.runs import LOCK, MODEL, read_status
from engine.train.stages import stages_of

RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"
Place = tuple[str, int | None]  # a run: its stage, and its seed; None: the pretraining of the stage


@dataclass(frozen=True, slots=True, eq=False)
class ChainFound:
    """What the files of a pipeline tell. reached: by stage. curves: losses of its runs so far."""

    folder: Path
    config: PipelineConfig
    state: str
    stages: tuple[str, ...]
    reached: Mapping[str, Gained] = field(default_factory=dict)
    curves: Mapping[Place, RunCurve] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    model: Path | None = None  # of the last stage, fine-tuned with the first seed


def place_of(run_dir: Path) -> Place:
    """Return which run of a pipeline lies in a folder."""
    _kind, _, rest = run_dir.name.partition("finetune-")
    stage, _, seed = rest.rpartition("-seed")
    return (stage, int(seed)) if stage and seed.isdecimal() else (run_dir.name, None)


def folder_of(folder: Path, place: Place) -> Path:
    """Return the folder of a run of a pipeline."""
    stage, seed = place
    return folder / (stage if seed is None else f"finetune-{stage}-seed{seed}")


def places_of(config: PipelineConfig, stages: Sequence[str]) -> list[Place]:
    """Return all runs in the order in which they are made."""
    first = config.training.seed
    seeds = range(first, first + config.stages.seeds)
    return [
        (stage, seed)
        for number, stage in enumerate(stages)
        for seed in (*([None] if number else []), *seeds)  # the base is not pretrained
    ]


def names_of(config: PipelineConfig) -> tuple[str, ...]:
    """Return the names of the stages, the base first."""
    return tuple(stage.name for stage in stages_of(Path(), config))


def read_chain(folder: Path) -> Steps[ChainFound]:
    """Return what is known of a pipeline. Raises: UserError: it is none, or its files are damaged."""
    config = read_pipeline(folder)
    names, curves = names_of(config), dict[Place, RunCurve]()
    reached = {stage.name: StageResult(stage.name, stage.model) for stage in stages_of(folder, config)}
    for place in places_of(config, names):
        run_dir, known = folder_of(folder, place), reached[place[0]]
        if not run_dir.is_dir():
            continue
        curves[place] = (yield from read_curves(run_dir)).train[LOSS]
        if read_status(run_dir).get("state") == FINISHED:
            seed = place[1]
            runs = known.runs if seed is None else (*known.runs, fine_tuned(run_dir, seed))
            before = pretrained(run_dir) if seed is None else known.pretrained
            reached[place[0]] = replace(known, runs=runs, pretrained=before)
        yield Beat()
    report = _report(folder)
    last = folder_of(folder, (names[-1], config.training.seed)) / MODEL
    return ChainFound(
        folder,
        config,
        state_of(folder),
        names,
        {name: stage.event() for name, stage in reached.items() if stage.runs or stage.pretrained},
        curves,
        tuple(map(str, report.get("notes", ()))),
        last if report and (last / "config.json").is_file() else None,
    )


def _report(folder: Path) -> dict[str, Any]:
    with suppress(RunError):
        return read_json_object(folder / REPORT, kind=RunError)
    return {}


def state_of(folder: Path) -> str:
    """Return whether a pipeline runs, has come to its end or was stopped."""
    if is_locked(folder / LOCK):
        return RUNNING
    return FINISHED if (folder / REPORT).is_file() else STOPPED


def past_chains(root: Path) -> Generator[Event, None, list[tuple[Path, str]]]:
    """Return the pipelines under the folder for runs, the newest first, and what is to be said of each."""
    yield Beat()
    found = [folder for folder in root.iterdir() if is_pipeline(folder)] if root.is_dir() else []
    said = {
        RUNNING: translate("chain", "running"),
        FINISHED: "",
        STOPPED: translate("chain", "not finished"),
    }
    return [(folder, said[state_of(folder)]) for folder in sorted(found, reverse=True)]


def chains_of(root: Path, table: Path) -> Generator[Event, None, list[Path]]:
    """Return the pipelines over a table, the newest first."""
    found = list[Path]()
    for folder, _said in (yield from past_chains(root)):
        with suppress(UserError):
            if Path(read_pipeline(folder).data.data) == table:
                found.append(folder)
        yield Beat()
    return found


def unfinished(root: Path, table: Path) -> Generator[Event, None, Path | None]:
    """Return the newest pipeline over a table, where it was stopped or interrupted."""
    newest = next(iter((yield from chains_of(root, table))), None)
    return newest if newest is not None and state_of(newest) == STOPPED else None


def newest_result(root: Path, table: Path) -> Generator[Event, None, ChainFound | None]:
    """Return the newest pipeline over a table that has come to its end."""
    for folder in (yield from chains_of(root, table)):
        if state_of(folder) == FINISHED:
            with suppress(UserError):
                return (yield from read_chain(folder))
    return None
