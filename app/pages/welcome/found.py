"""What the Welcome page lists of runs and tables, looked for on a worker; and each in words."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from app import words
from app.work.later import later
from app.work.titles import run_title
from engine.errors import Sentence, UserError, marked
from engine.events import Event, Progress
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.kept import history
from engine.train.run.runs import RunState, list_runs
from engine.train.run.runs import read_config as read_run_config

if TYPE_CHECKING:
    from app.pages.tasks.known import metric_words
else:
    metric_words = later("app.pages.tasks.known", "metric_words")  # it stands on torch

MOST_RUNS, MOST_TABLES = 6, 6
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class LookPlaces:
    """Where to look. kept_run: the one that ships with Cloze; None where it is missing."""

    runs_root: Path
    tables: tuple[str, ...]
    kept_run: Path | None


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run folder and its settings."""

    info: RunState
    config: FineTuneConfig | PretrainConfig

    @property
    def page(self) -> str:
        """The page that shows it."""
        return "pretrain" if isinstance(self.config, PretrainConfig) else "finetune"

    @property
    def name(self) -> str:
        """What it is called."""
        return run_title(self.info.path)


@dataclass(frozen=True, slots=True)
class RecentWork:
    """The runs and tables that the page lists.

    num_runs: all there are. kept_run, num_kept: the run that ships with Cloze, and how often it kept its
    weights. problem: why runs, or some, are not listed.
    """

    runs: tuple[FoundRun, ...] = ()
    num_runs: int = 0
    tables: tuple[Path, ...] = ()
    kept_run: FoundRun | None = None
    num_kept: int = 0
    problem: Sentence | None = None


def look(wanted: LookPlaces) -> Generator[Event, None, RecentWork]:
    """Return what is found, step by step: runs that were cut off first, else the newest first; what is gone
    is left out.
    """
    stage = marked("engine", "Reading")
    yield Progress(stage=stage, done=0, total=0)
    runs, num_runs, problem = _runs(wanted.runs_root)
    yield Progress(stage=stage, done=num_runs, total=0)
    if runs:
        import_module("torch")  # here, not on the window's thread: the words for some metrics stand on it
    tables = [path for path in map(Path, wanted.tables) if path.is_file()]
    return RecentWork(
        runs=runs,
        num_runs=num_runs,
        tables=tuple(tables[:MOST_TABLES]),
        kept_run=_kept_run(wanted.kept_run) if wanted.kept_run else None,
        num_kept=len(history(wanted.kept_run)) if wanted.kept_run else 0,
        problem=problem,
    )


def _runs(root: Path) -> tuple[tuple[FoundRun, ...], int, Sentence | None]:
    try:
        infos = list_runs(root)
    except OSError as error:
        template = marked("engine", "The folder for runs cannot be read: {path}: {reason}.")
        return (), 0, Sentence(template, {"path": root, "reason": error.strerror})
    found: list[FoundRun] = []
    unread: list[str] = []
    for info in sorted(infos, key=lambda one: one.state != "crashed"):
        if len(found) == MOST_RUNS:
            break
        try:
            found.append(FoundRun(info, read_run_config(info.path)))
        except UserError:
            unread.append(info.name)
    if not unread:
        return tuple(found), len(infos), None
    template = marked("engine", "The settings of {count} runs cannot be read; the first is {name}.")
    if len(unread) == 1:
        template = marked("engine", "The settings of the run {name} cannot be read.")
    return tuple(found), len(infos), Sentence(template, {"count": len(unread), "name": unread[0]})


def _kept_run(run: Path) -> FoundRun | None:
    try:
        info = next(info for info in list_runs(run.parent) if info.path == run)
        return FoundRun(info, read_run_config(run))
    except (OSError, UserError, StopIteration):
        return None


# ---- in words


def run_words(run: FoundRun) -> str:
    """Return in a line what became of a run; the end may be cut."""
    info = run.info
    step = words.number(info.step)
    if info.state == "crashed":
        said = (
            words.translate("WelcomePage", "interrupted at step {step}").format(step=step)
            if info.step
            else words.translate("WelcomePage", "interrupted as it began")
        )
    elif info.state == "running":
        said = words.translate("WelcomePage", "in training, step {step}").format(step=step)
    elif info.state == "failed":
        said = words.translate("WelcomePage", "failed at step {step}").format(step=step)
    elif info.state == "stopped":
        said = words.translate("WelcomePage", "stopped at step {step}").format(step=step)
    else:
        said = _reached(info) or words.translate("WelcomePage", "finished at step {step}").format(step=step)
    if info.problem is not None:
        said = words.translate("WelcomePage", "its files are damaged; step {step}").format(step=step)
    kind = (
        words.translate("WelcomePage", "pretrained")
        if run.page == "pretrain"
        else words.translate("WelcomePage", "fine-tuned")
    )
    return f"{said} · {kind}"


def _reached(info: RunState) -> str:
    """Return how good a finished run's model is."""
    if info.best_metric is None:
        return ""
    if info.metric_name == "accuracy":
        return words.translate("WelcomePage", "{share} right").format(share=words.share(info.best_metric))
    if info.metric_name == "mlm_accuracy":
        return words.translate("WelcomePage", "guesses {share} right").format(
            share=words.share(info.best_metric)
        )
    return metric_words(info.metric_name, info.best_metric)
