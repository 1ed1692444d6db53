"""The commands on runs as a whole: what there is, and what is to be made. See command_line.py."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.commands.screen import print_json, show
from engine.errors import UserError, marked
from engine.events import Event, result_of
from engine.language import said, spoken
from engine.questions.writing import aligned, percent
from engine.remote.hosts import check_host, slurm_options
from engine.remote.run import resume_there, stopping, train_there
from engine.runs import queue, sweep
from engine.runs.facts import RunFacts, document_of
from engine.runs.index import index_of
from engine.settings.config import from_toml, values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pipeline import PipelineConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.mirrored import is_mirrored
from engine.train.run.runs import CONFIG, AnyConfig, default_root, read_config


def add_run_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    runs = commands.add_parser("runs", help="list all runs, with what each was made of and what it reached")
    runs.add_argument(
        "--runs", type=Path, dest="root", help="the folder that holds them; default: the window’s"
    )
    runs.add_argument("--json", action="store_true", help="print everything known about each as JSON")
    runs.set_defaults(run=_runs)
    queue = commands.add_parser("queue", help="train several runs one after another, in a process of its own")
    inner = queue.add_subparsers(required=True, metavar="WHAT")
    _add_to_queue(inner)
    listing = _add_queue(inner, "list", _queue_list, "list the jobs")
    listing.add_argument("--json", action="store_true", help="print everything known about each as JSON")
    ending = _add_queue(inner, "cancel", _queue_cancel, "end a job; its run is stopped and kept")
    ending.add_argument("number", type=int, metavar="NUMBER", help="its number in the list")
    working = _add_queue(inner, "run", _queue_run, "run the queue, here and now")
    working.add_argument(
        "--own",
        action="store_true",
        help="skip jobs that were not queued on this computer",
    )
    _add_queue(inner, "stop", _queue_stop, "stop and keep the current run; nothing continues until `run`")
    _add_queue(inner, "clear", _queue_clear, "remove ended jobs from the list; their runs stay")


def _add_to_queue(commands: Any) -> None:
    add = _add_queue(commands, "add", _queue_add, "add runs to the end of the queue")
    add.add_argument("base", metavar="RUN|TOML", type=Path, help="a run’s folder, or a file of settings")
    what = add.add_mutually_exclusive_group()
    what.add_argument("--seeds", type=int, help="repeat with so many seeds that the run did not use")
    what.add_argument("--grid", metavar="SETTINGS", help="every combination: 'learning_rate=1e-4,3e-4'")
    what.add_argument(
        "--random", metavar="SETTINGS", help="drawn between two numbers, or from several values"
    )
    add.add_argument("--count", type=int, default=10, help="with --random: how many runs")
    add.add_argument(
        "--halving",
        action="store_true",
        help="stop the worse two thirds after a ninth and after a third of the steps",
    )
    add.add_argument("--on", metavar="HOST", default="", help="train them on this host of ~/.ssh/config")
    add.add_argument("--slurm", metavar="OPTIONS", default="", help="with --on: by sbatch with these options")
    add.add_argument("--name", default="", help="a name for the runs; default: that of their data")


def _add_queue(commands: Any, name: str, run: Any, words: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=words)
    command.add_argument("--runs", type=Path, dest="root", help="the folder that holds the runs")
    command.set_defaults(run=run)
    return command


def _queue_add(options: argparse.Namespace) -> int:
    root, base = _root(options), options.base.absolute()
    config = read_config(base) if base.is_dir() else config_in(base)
    configs: list[AnyConfig]
    if options.grid:
        configs = sweep.grid(config, sweep.choices_in(options.grid))
    elif options.random:
        configs = sweep.drawn(config, sweep.choices_in(options.random), options.count)
    elif options.seeds is not None:
        seed = int(values_of(config)["seed"])
        configs = sweep.repeated(config, sweep.seeds_for([[seed]], options.seeds + 1)[0])
    else:
        configs = [config]
    name = options.name or Path(str(values_of(config).get("data") or "run")).stem
    on = check_host(options.on) if options.on else ""
    slurm_options(options.slurm)
    for job in queue.add(root, configs, name, halving=options.halving, on=on, slurm=options.slurm):
        print(job.number)
    if not queue.is_working(root):
        command = f"python -m engine queue run --runs {shlex.quote(str(root))}"
        print(said(marked("engine", "Work it off with: {command}"), command=command), file=sys.stderr)
    return 0


def _queue_list(options: argparse.Namespace) -> int:
    root = _root(options)
    jobs = queue.jobs_in(root)
    if options.json:
        states = {"is_working": queue.is_working(root), "is_paused": queue.is_paused(root)}
        print_json({**states, "jobs": [asdict(job) for job in jobs]})
    elif jobs:
        rows = [("job", "name", "state", "seed", "run", "why")]
        for job in jobs:
            is_from_elsewhere = job.is_open and not job.is_own
            elsewhere = spoken(marked("engine", "not queued on this computer")) if is_from_elsewhere else ""
            why = job.why or elsewhere
            rows.append((str(job.number), job.name, job.state, job.seed, job.run, why))
        print("\n".join(aligned(rows)))
    else:
        print(spoken(marked("engine", "The queue is empty.")))
    return 0


def _queue_cancel(options: argparse.Namespace) -> int:
    queue.cancel(_root(options), options.number)
    return 0


def _queue_run(options: argparse.Namespace) -> int:
    root = _root(options)
    queue.go_on(root)
    return show(queue.work(root, _train_job, only_own=options.own))


def _train_job(job: queue.QueueJob, place: Path) -> Iterator[Event]:
    """Train a job in its run's folder, or go on there. Raises: UserError."""
    from engine.train.finetune import fine_tune
    from engine.train.pipeline import pipeline
    from engine.train.pretrain import pretrain
    from engine.train.resume import resume

    if is_mirrored(place):
        return stopping(resume_there(place), place)
    if (place / CONFIG).is_file():
        return resume(place)
    config = job.config
    if job.on:
        if isinstance(config, PipelineConfig):
            raise UserError(
                marked("engine", "A pipeline is trained on this computer; its runs cannot be on {host}."),
                host=job.on,
            )
        return stopping(train_there(config, place, job.on, slurm=job.slurm or None), place)
    if isinstance(config, PipelineConfig):
        return pipeline(config, place)  # it goes on where it was
    return pretrain(config, place) if isinstance(config, PretrainConfig) else fine_tune(config, place)


def _queue_stop(options: argparse.Namespace) -> int:
    queue.pause(_root(options))
    return 0


def _queue_clear(options: argparse.Namespace) -> int:
    queue.clear(_root(options))
    return 0


def _root(options: argparse.Namespace) -> Path:
    return (options.root or default_root()).absolute()  # type: ignore[no-any-return]


def config_in(path: Path) -> AnyConfig:
    """Return the settings in a TOML file. Raises: ConfigError."""
    values = from_toml(path)
    is_pretraining = values.pop("kind", "finetune") == "pretrain"
    return with_values(PretrainConfig() if is_pretraining else FineTuneConfig(), values)


def _runs(options: argparse.Namespace) -> int:
    root = _root(options)
    if options.root is not None and not root.is_dir():
        raise UserError(marked("engine", "There is no folder of runs at {path}."), path=root)
    found = result_of(index_of(root))
    if options.json:
        print_json({"runs_folder": str(root), "runs": [run_document(facts) for facts in found]})
    elif found:
        print("\n".join(aligned([*_table(found)])))
    else:
        print(said(marked("engine", "No runs yet in {path}."), path=root))
    return 0


def run_document(facts: RunFacts) -> dict[str, Any]:
    """Return a run for a program: every fact, its scores by part of the data, what it was told in English."""
    document = document_of(facts)
    scores = {
        one.split: {
            "metric": one.metric,
            "value": one.value,
            "interval": list(one.interval) if one.interval else None,
            "rows": one.rows,
            "step": one.step,
            "metrics": facts.metrics.get(one.split, {}),
        }
        for one in facts.scores
    }
    del document["metrics"]
    document["settings"] = {**facts.settings, "seed": facts.seed}
    return {
        **document,
        "name": title_of(facts),
        "given_name": facts.name,
        "scores": scores,
        "problem": facts.problem["text"] if facts.problem else None,
        "remarks": [{"level": one["level"], "text": one["text"]} for one in facts.remarks],
        "when": time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(facts.began)),
    }


def title_of(facts: RunFacts) -> str:
    """Return what a run is called: what a person named it, else its folder."""
    return facts.name or facts.folder


def _table(found: tuple[RunFacts, ...]) -> Iterator[tuple[str, ...]]:
    yield (
        "run",
        "data",
        "model",
        "task",
        "seed",
        "score",
        "95 %",
        "rows",
        "state",
        "on",
        "time",
        "MB",
        "when",
    )
    for facts in found:
        score = facts.score()
        span = score.interval if score else None
        yield (
            title_of(facts)[:60],
            _last(facts.data)[:30],
            _last(facts.model)[:30],
            facts.task,
            str(facts.seed),
            f"{score.metric} {score.value:.4f}" if score else "",
            f"{span[0]:.4f} to {span[1]:.4f}" if span else "",
            f"{score.rows}" if score else "",
            _state(facts),
            facts.host,
            "" if facts.seconds is None else _time(facts.seconds),
            f"{facts.size / 1e6:.1f}",
            time.strftime("%Y-%m-%d %H:%M", time.localtime(facts.began)),
        )


def _state(facts: RunFacts) -> str:
    where = f" at step {facts.step}"
    if facts.state == "running" and facts.num_steps:
        return f"running, {percent(min(1.0, facts.step / facts.num_steps))}"
    why = f": {facts.why}"[:80] if facts.why else ""
    return facts.state if facts.state == "finished" else f"{facts.state}{where}{why}"


def _last(place: str) -> str:
    """Return the file or folder of a path that says most; of several texts the first."""
    first, *others = place.splitlines() or [""]
    path = Path(first)
    name = path.parent.name if path.name == "model" else path.name
    return f"{name} +{len(others)}" if others else name


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
