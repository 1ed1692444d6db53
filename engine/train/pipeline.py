"""Domain text, task text, table: one command pretrains a model further, stage by stage, and shows the gains.

folder/
    pipeline.toml                  all settings
    data.json                      hashes of the tables, so that all stages are measured on the same rows
    task.txt                       the texts of the rows to train on, where no other task text is named
    held-out.json                  how many held-out texts are pretrained on, where a person has named a text
    domain/ task/                  run folders of pretraining
    finetune-<stage>-seed<seed>/   run folders of fine-tuning: the same rows and settings, other seeds
    report.json                    the gains, once all is done

The run folders are the truth: the same command goes on where an earlier one ended.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.durable import PARTIAL, check_place, explained, sweep_partials, write_text
from engine.errors import ConfigError, DataError, RunError, Sentence, marked
from engine.events import Event, Finished, Noted, Progress, Steps
from engine.files import MOST_JSON, read_regular
from engine.own_process import command_words
from engine.settings.config import absolute, from_toml, to_toml, values_of, with_values
from engine.settings.pipeline import PipelineConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.finetune import fine_tune
from engine.train.gains import StageResult, fine_tuned, pretrained, report_of
from engine.train.held_out import count_read, said_of, texts_named
from engine.train.pretrain import pretrain
from engine.train.ranks import check_alone
from engine.train.resume import resume as resume_run
from engine.train.run.lock import locked
from engine.train.run.runs import CHECKPOINTS, CONFIG, LOCK, PIPELINE, read_status
from engine.train.stages import (
    TASK_TEXT,
    check,
    fine_tuning,
    read_tables,
    stages_of,
    with_next_sentences,
)
from engine.train.ways.names import AUTO

SETTINGS, TABLES, REPORT = PIPELINE, "data.json", "report.json"
HELD_OUT = "held-out.json"


def pipeline(config: PipelineConfig, folder: Path) -> Iterator[Event]:
    """Pretrain on domain text, then on task text, fine-tune after each; the result is folder/report.json.

    Several runs follow one another, so there are several `Started`; `Gained` comes after each run, one
    `Finished` at the end. In a folder where it was begun, runs that are finished are kept.
    Raises: UserError in one sentence, as `pretrain` and `fine_tune`; RunError if the folder holds other work.
    """
    check_alone()
    folder, config = Path(folder).absolute(), absolute(config)
    _check_folder(folder, config)
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    check(folder, config)
    read = yield from read_tables(config)
    _check_same(folder, config, list(read.hashes))
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / LOCK):
        sweep_partials(folder)
        write_text(folder / SETTINGS, to_toml(config))
        write_text(folder / TABLES, json.dumps(read.hashes))
        if read.texts:
            write_text(folder / TASK_TEXT, "\n".join(read.texts) + "\n")
        notes = yield from _tell_held_out(folder, config, read.held_out)
        yield from _work(folder, config, notes)


def resume(folder: Path) -> Iterator[Event]:
    """Go on with a pipeline from its folder alone. Raises: RunError if it is none."""
    return pipeline(read_pipeline(folder), folder)


def is_pipeline(folder: Path) -> bool:
    """Whether a folder holds a pipeline."""
    return (Path(folder) / SETTINGS).is_file()


def read_pipeline(folder: Path) -> PipelineConfig:
    """Return the settings of a pipeline. Raises: RunError, ConfigError."""
    if not is_pipeline(folder):
        raise RunError(
            marked("engine", "{path} is not a pipeline: it has no {name}."), path=folder, name=SETTINGS
        )
    return with_values(PipelineConfig(), from_toml(Path(folder) / SETTINGS))


def _check_folder(folder: Path, config: PipelineConfig) -> None:
    """Refuse a folder of other work, or of a pipeline with other settings; more seeds are welcome.

    Raises: ConfigError where the way is chosen by cross-validation, for stages are compared on held-out rows.
    """
    if config.adapt.way == AUTO:
        template = marked("engine", "{field}: stages are compared on held-out rows. Name a method.")
        raise ConfigError(template, field="way")
    check_place(folder)
    if _is_begun(folder):
        before, now = values_of(read_pipeline(folder)), values_of(config)
        other = [name for name, value in now.items() if value != before[name] and name != "seeds"]
        if other:
            raise RunError(
                marked(
                    "engine",
                    "The pipeline in {path} was begun with other settings ({names}). Name a new "
                    "folder, or continue it unchanged: {command} resume {path}",
                ),
                path=folder,
                command=" ".join(command_words()),
                names=other,
            )
        return
    ours = (SETTINGS, TABLES, TASK_TEXT, HELD_OUT, LOCK)  # of one that was refused before its first run
    if any(entry.name not in ours and not entry.name.endswith(PARTIAL) for entry in folder.glob("*")):
        raise RunError(
            marked("engine", "The folder {path} is not empty. Name a new one for the pipeline."), path=folder
        )


def _is_begun(folder: Path) -> bool:
    return is_pipeline(folder) and any(entry.is_dir() for entry in folder.iterdir())


def _check_same(folder: Path, config: PipelineConfig, hashes: list[str]) -> None:
    """Refuse tables that are not those that finished runs were measured on. Raises: DataError."""
    if _is_begun(folder) and _read_hashes(folder / TABLES) != hashes:
        raise DataError(
            marked(
                "engine",
                "{path} or a table with it has changed since the pipeline in {folder} began, so "
                "its runs could not be compared. Restore it, or name a new folder.",
            ),
            path=config.data.data,
            folder=folder,
        )


def _read_hashes(path: Path) -> Any:
    """Return what a file of hashes or counts says; None where it is damaged, which equals none."""
    try:
        return json.loads(read_regular(path, most=MOST_JSON, kind=RunError))
    except (ValueError, RecursionError):
        return None


def _tell_held_out(folder: Path, config: PipelineConfig, held_out: frozenset[str]) -> Steps[list[str]]:
    """Say, of texts that a person has named, how many held-out texts they hold; return it as a note."""
    named = texts_named(config, stages_of(folder, config))
    if not named or not held_out:
        return []
    is_known = _is_begun(folder) and (folder / HELD_OUT).is_file()
    counts = _read_hashes(folder / HELD_OUT) if is_known else None
    if not isinstance(counts, list) or [type(count) for count in counts] != [int, int]:
        counts = [(yield from count_read(named, held_out)), len(held_out)]
        write_text(folder / HELD_OUT, json.dumps(counts))
    said = said_of(*counts)
    yield Noted(sentence=said, level="look" if counts[0] else "fine")
    return [str(said)]


def _work(folder: Path, config: PipelineConfig, notes: Sequence[str]) -> Iterator[Event]:
    """Do what is not done yet, stage by stage, and write the report."""
    with explained(folder):
        (folder / REPORT).unlink(missing_ok=True)
    told: set[str] = set()
    found: list[StageResult] = []
    for stage in stages_of(folder, config):
        known = StageResult(stage.name, stage.model)
        values: dict[str, Any] = {"stage": stage.name}
        if stage.pretraining is not None:
            place = folder / stage.name
            note = Sentence(marked("engine", "Stage {stage}: pretraining."), values)
            begin = partial(_pretrain, stage.pretraining, config, place)
            yield from finished_run(place, begin, Noted(sentence=note, level="fine"), told)
            known = replace(known, pretrained=pretrained(place))
            yield known.event()
        for seed in range(config.training.seed, config.training.seed + config.stages.seeds):
            place = folder / f"finetune-{stage.name}-seed{seed}"
            template = marked("engine", "Stage {stage}: fine-tuning with seed {seed}.")
            note = Sentence(template, {**values, "seed": seed})
            settings = fine_tuning(config, stage.model, seed)
            begin = partial(fine_tune, settings, place)
            yield from finished_run(place, begin, Noted(sentence=note, level="fine"), told)
            known = replace(known, runs=(*known.runs, fine_tuned(place, seed)))
            yield known.event()
        found.append(known)
    report = report_of(found, notes)
    write_text(folder / REPORT, json.dumps(report, indent=1, ensure_ascii=False))
    means = {stage["stage"]: stage["mean"] for stage in report["stages"]}
    yield Finished(path=folder / REPORT, seconds=sum(stage.seconds for stage in found), metrics=means)


def _pretrain(settings: PretrainConfig, config: PipelineConfig, place: Path) -> Iterator[Event]:
    return pretrain(with_next_sentences(settings, config.stages), place)


def finished_run(
    place: Path,
    begin: Callable[[], Iterator[Event]],
    note: Noted,
    told: set[str] | None = None,
    go_on: Callable[[Path], Iterator[Event]] = resume_run,
) -> Steps[float]:
    """Bring one run of several to its end, whatever was done of it, and drop its checkpoints, which nobody
    needs then; return the seconds that it learned now.

    Args: note: said before it goes on. told: what was said already; the same is not said again, where all
    runs stand on the same rows.
    """
    seconds = 0.0
    if read_status(place).get("state") != "finished":
        yield note
        task = go_on(place) if (place / CONFIG).is_file() else begin()
        assert isinstance(task, Generator)
        with closing(task):
            for event in task:
                if isinstance(event, Noted) and told is not None:
                    if str(event.sentence) in told:
                        continue
                    told.add(str(event.sentence))
                if isinstance(event, Finished):  # there is one, at the end of all
                    seconds = event.seconds
                else:
                    yield event
    shutil.rmtree(place / CHECKPOINTS, ignore_errors=True)
    return seconds
