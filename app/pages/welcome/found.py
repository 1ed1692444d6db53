"""What the Welcome page lists of runs and tables, looked for on a worker; and each in words."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from app import words
from app.shipped import ShippedLecture
from app.work.later import later
from app.work.titles import run_title
from engine.errors import Sentence, UserError, marked
from engine.events import Event, Progress
from engine.runs.facts import CROSS_VALIDATION, RunFacts, read_facts
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import RunState, list_runs
from engine.train.run.runs import read_config as read_run_config

if TYPE_CHECKING:
    from app.pages.tasks.known import metric_words
else:
    metric_words = later("app.pages.tasks.known", "metric_words")  # it stands on torch

MOST_RUNS, MOST_TABLES = 6, 6
LONGEST_NAME = 60
PER_CENT = ("accuracy",)  # shares of rows, told as per cent


@dataclass(frozen=True, slots=True)
class LookPlaces:
    """Where to look. kept_run, lecture: what ships with Cloze; None where it is missing."""

    runs_root: Path
    tables: tuple[str, ...]
    kept_run: Path | None
    lecture: ShippedLecture | None = None


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run folder and its settings. facts: what its files say of it; None where they were not read."""

    info: RunState
    config: FineTuneConfig | PretrainConfig
    facts: RunFacts | None = None

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

    tables: each with its size in bytes and when it was written. num_runs: all there are. kept_run: the one
    that ships with Cloze. lecture: how many scenes the first has, and minutes. problem: why runs, or some,
    are not listed.
    """

    runs: tuple[FoundRun, ...] = ()
    num_runs: int = 0
    tables: tuple[tuple[Path, int, float], ...] = ()
    kept_run: FoundRun | None = None
    lecture: tuple[int, int] = (0, 0)
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
    tables = [found for path in map(Path, wanted.tables) if (found := _table(path)) is not None]
    return RecentWork(
        runs=runs,
        num_runs=num_runs,
        tables=tuple(tables[:MOST_TABLES]),
        kept_run=_kept_run(wanted.kept_run) if wanted.kept_run else None,
        lecture=wanted.lecture.length() if wanted.lecture else (0, 0),
        problem=problem,
    )


def _table(path: Path) -> tuple[Path, int, float] | None:
    """Return a file with its size and when it was written; None where it is gone."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return (path, facts.st_size, facts.st_mtime) if S_ISREG(facts.st_mode) else None


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
            found.append(FoundRun(info, read_run_config(info.path), read_facts(info.path, root)))
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


def state_of(run: FoundRun) -> tuple[str, str]:
    """Return what became of a run in a word, and the colour of that word."""
    info = run.info
    if info.problem is not None:
        return words.translate("WelcomePage", "damaged"), "wrong"
    return {
        "running": (words.translate("WelcomePage", "running"), "accent"),
        "finished": (words.translate("WelcomePage", "finished"), "fine"),
        "stopped": (words.translate("WelcomePage", "stopped"), "muted"),
        "crashed": (words.translate("WelcomePage", "interrupted"), "look"),
    }.get(info.state, (words.translate("WelcomePage", "failed"), "wrong"))


def run_words(run: FoundRun) -> str:
    """Return in a line how far a run came, or how good its model is."""
    info = run.info
    step, count = words.number(info.step), words.number(info.num_steps)
    if info.state == "finished" and info.problem is None and (reached := _reached(run)):
        return reached
    if not info.step and info.state != "finished":
        return words.translate("WelcomePage", "before its first step")
    if info.num_steps > info.step:
        return words.translate("WelcomePage", "step {step} of {count}").format(step=step, count=count)
    return words.translate("WelcomePage", "step {step}").format(step=step)


def verb_of(run: FoundRun) -> str:
    """Return what can be done with a run, in a word."""
    if run.info.problem is not None:
        return words.translate("WelcomePage", "Open…")
    if run.info.state == "running":
        return words.translate("WelcomePage", "Watch")
    if run.info.state != "finished":
        return words.translate("WelcomePage", "Resume")
    if run.page == "finetune":
        return words.translate("WelcomePage", "Evaluate")
    return words.translate("WelcomePage", "Open…")


def day_of(run: FoundRun) -> str:
    """Return the day on which a run ended, or began."""
    facts = run.facts
    moment = 0.0 if facts is None else facts.ended or facts.began
    return words.day(moment) if moment else ""


def _reached(run: FoundRun) -> str:
    """Return how good a finished run's model is, with the interval and the rows where they are known."""
    info, score = run.info, None if run.facts is None else run.facts.score()
    if score is None:
        return "" if info.best_metric is None else _score_words(info.metric_name, info.best_metric)
    said = _score_words(score.metric, score.value)
    if score.interval is None or score.metric not in PER_CENT:
        return said
    low, high = (words.share(x).removesuffix(words.per_cent("")) for x in score.interval)
    parts = {
        "validation": words.translate("WelcomePage", "{share} ({low} to {high}), {count} validation rows"),
        "test": words.translate("WelcomePage", "{share} ({low} to {high}), {count} test rows"),
        CROSS_VALIDATION: words.translate(
            "WelcomePage", "{share} ({low} to {high}), cross-validated on {count} rows"
        ),
    }
    count = words.number(score.rows)
    return parts[score.split].format(share=words.share(score.value), low=low, high=high, count=count)


def _score_words(metric: str, value: float) -> str:
    if metric == "accuracy":
        return words.translate("WelcomePage", "{share} right").format(share=words.share(value))
    if metric == "mlm_accuracy":
        said = words.translate("WelcomePage", "guesses {share} of hidden words right")
        return said.format(share=words.share(value))
    return metric_words(metric, value)
