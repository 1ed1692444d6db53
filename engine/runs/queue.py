"""A queue of runs that is worked off by a process of its own, whatever becomes of the window.

<runs>/.queue/
    00001.json     a job: settings, the folder of its run, how far it has come; the worker alone changes it
    00001.cancel   somebody wants this job to end
    paused         nobody is to work; the run under way stops and is kept
    lock           held by the one process that works
    log.txt        what the last worker said

The files are the truth. A worker that was killed left a job that says "running": the next worker goes on with
its run from its folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import engine
from engine.durable import explained, write_text
from engine.errors import RunError, UserError, marked
from engine.events import Event, Noted, Step
from engine.files import read_json_object
from engine.runs.facts import read_facts
from engine.runs.marks import set_marks
from engine.runs.turn import COMPUTING, in_turn
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.lock import holder, is_locked, locked
from engine.train.run.runs import CONFIG, LOCK, AnyConfig, new_run_dir, read_status

QUEUE, PAUSED, LOG = ".queue", "paused", "log.txt"
WAITING, RUNNING, DONE, FAILED, CANCELLED, DROPPED = (
    "waiting",
    "running",
    "done",
    "failed",
    "cancelled",
    "dropped",
)
STATES = (WAITING, RUNNING, DONE, FAILED, CANCELLED, DROPPED)
OPEN = (WAITING, RUNNING)
MOST_TRIES = 3  # of a job whose worker is killed each time before the run has come any further
LOOK_S = 0.3  # between two looks at what is wanted
TAKE_S = 5.0  # that a worker waits for another one that is about to end
SHARES, KEPT = (1 / 9, 1 / 3, 1.0), 3  # of halving: of a run's steps, and one of so many goes on


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A run to be made. until: the share of its steps after which it stops; 1.0: all.

    sweep: of halving, what all jobs that are ranked together have alike; rung: how often it has stayed in.
    """

    number: int
    name: str
    run: str  # the name of the run's folder; "" until it is begun
    kind: str
    values: dict[str, Any]
    state: str = WAITING
    why: str = ""
    tags: list[str] = field(default_factory=list)
    sweep: str = ""
    rung: int = 0
    tries: int = 0
    reached: int = 0  # the step at which a worker took it up the last time
    added: float = 0.0

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def until(self) -> float:
        return SHARES[min(self.rung, len(SHARES) - 1)] if self.sweep else 1.0

    @property
    def config(self) -> AnyConfig:
        """Return the settings. Raises: ConfigError."""
        return with_values(
            PretrainConfig() if self.kind == "pretrain" else FineTuneConfig(), dict(self.values)
        )


def folder_of(root: Path) -> Path:
    """Return where the queue of runs under a root lies."""
    return root / QUEUE


def jobs_in(root: Path) -> list[Job]:
    """Return all jobs, the first first; a file that is none is passed over."""
    found = []
    for path in sorted(folder_of(root).glob("*.json")):
        with suppress(UserError, TypeError, ValueError):
            job = Job(**read_json_object(path))
            if job.state in STATES and path.stem == _stem(job.number):
                found.append(job)
    return found


def add(
    root: Path, configs: Sequence[AnyConfig], name: str, *, tags: Iterable[str] = (), halving: bool = False
) -> list[Job]:
    """Put runs at the end of the queue; nobody works on them yet. Raises: UserError."""
    folder = folder_of(root)
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    made = []
    sweep = f"{time.time_ns()}" if halving else ""
    for config in configs:
        kind = "pretrain" if isinstance(config, PretrainConfig) else "finetune"
        values, now = values_of(config), time.time()
        job = Job(
            number=0, name=name, run="", kind=kind, values=values, tags=list(tags), sweep=sweep, added=now
        )
        made.append(_create(root, job))
    return made


def _create(root: Path, job: Job) -> Job:
    """Write a job under the next number that nobody has."""
    number = max((one.number for one in jobs_in(root)), default=0)
    while True:
        number += 1
        path = folder_of(root) / f"{_stem(number)}.json"
        try:
            with explained(path), path.open("x"):
                pass
        except UserError as error:
            if isinstance(error.__cause__, FileExistsError):
                continue
            raise
        job = replace(job, number=number)
        _save(root, job)
        return job


def cancel(root: Path, number: int) -> None:
    """Let a job end: one that waits at once, the one under way when its run has stopped. Raises: RunError."""
    job = next((one for one in jobs_in(root) if one.number == number), None)
    if job is None or not job.is_open:
        raise RunError(
            marked("engine", "There is no job {number} in the queue of {path} that waits or runs."),
            number=number,
            path=root,
        )
    path = folder_of(root) / f"{_stem(number)}.cancel"
    with explained(path):
        path.touch()
    if job.state == WAITING and not is_working(root):
        _save(root, replace(job, state=CANCELLED))
        path.unlink(missing_ok=True)


def clear(root: Path) -> None:
    """Forget the jobs that have ended; their runs stay."""
    for job in jobs_in(root):
        if not job.is_open:
            for ending in ("json", "cancel"):
                (folder_of(root) / f"{_stem(job.number)}.{ending}").unlink(missing_ok=True)


def pause(root: Path) -> None:
    """Let nobody work: the run under way is stopped and kept."""
    path = folder_of(root) / PAUSED
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def go_on(root: Path) -> None:
    """Let the queue be worked off again."""
    (folder_of(root) / PAUSED).unlink(missing_ok=True)


def is_paused(root: Path) -> bool:
    return (folder_of(root) / PAUSED).exists()


def is_working(root: Path) -> bool:
    """Whether a process works on the queue."""
    return is_locked(folder_of(root) / LOCK)


def needs_worker(root: Path) -> bool:
    """Whether there is work that nobody does, though somebody should."""
    return not is_paused(root) and any(job.is_open for job in jobs_in(root)) and not is_working(root)


def waits_its_turn(root: Path) -> bool:
    """Whether the process that works waits for a training that is none of the queue."""
    worker, computing = holder(folder_of(root) / LOCK), holder(root / COMPUTING)
    return bool(worker and computing) and worker != computing


def start_worker(root: Path) -> subprocess.Popen[bytes]:
    """Start a process that works the queue off, and does not end with this one. Raises: UserError."""
    folder = folder_of(root)
    places = [str(Path(engine.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    apart: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        apart = {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / LOG).open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "engine", "queue", "run", "--runs", str(root)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                close_fds=True,
                **apart,
            )


def work(root: Path, train: Callable[[Job, Path], Iterator[Event]]) -> Generator[Event, None, int]:
    """Work the queue off, job by job, until nothing waits or it is paused; return how many runs were made.

    Args:   train: trains a job in its run's folder, or goes on there.
    Raises: RunError if another process works.
    """
    folder, count = folder_of(root), 0
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    _await_turn(root)
    with locked(folder / LOCK):
        while (job := _next(root)) is not None:
            count += 1
            yield from _do(root, job, train)
    return count


def _await_turn(root: Path) -> None:
    """Wait a little for a worker that is about to end: it may not have seen what was added."""
    end = time.monotonic() + TAKE_S
    while is_working(root) and time.monotonic() < end:
        time.sleep(LOOK_S)


def _next(root: Path) -> Job | None:
    """Return the job to do now; one that was cut off comes first."""
    if is_paused(root):
        return None
    for job in jobs_in(root):
        if job.is_open and _is_cancelled(root, job):
            _end(root, job, CANCELLED)
    _drop_the_worse(root)
    left = [job for job in jobs_in(root) if job.is_open]
    left.sort(key=lambda job: (job.state != RUNNING, job.rung, job.number))
    return left[0] if left else None


def _do(root: Path, job: Job, train: Callable[[Job, Path], Iterator[Event]]) -> Generator[Event, None, None]:
    if not job.run:
        job = replace(job, run=new_run_dir(root, job.name).name)
    place = root / job.run
    step = _step_of(place)
    tries = job.tries + 1 if job.state == RUNNING and step == job.reached else 1
    if tries > MOST_TRIES:
        why = marked("engine", "It ended {count} times in the middle without telling why.").format(
            count=MOST_TRIES
        )
        _save(root, replace(job, state=FAILED, why=why))
        return
    if read_status(place).get("state") == "finished":  # it was killed before it could write that down
        _end(root, job, DONE)
        return
    job = replace(job, state=RUNNING, tries=tries, reached=step)
    _save(root, job)
    outcome, why, num_steps, looked = DONE, "", 0, 0.0
    has_marks = not job.tags
    try:
        with closing(in_turn(root, partial(train, job, place))) as events:  # type: ignore[type-var]
            for event in events:
                yield event
                num_steps = getattr(event, "num_steps", num_steps)
                if not has_marks and (place / CONFIG).is_file():
                    set_marks(place, tags=tuple(job.tags))
                    has_marks = True
                if (
                    isinstance(event, Step)
                    and job.until < 1
                    and num_steps
                    and event.step >= job.until * num_steps
                ):
                    outcome = WAITING
                    break
                if time.monotonic() - looked > LOOK_S:
                    looked = time.monotonic()
                    if _is_cancelled(root, job):
                        outcome = CANCELLED
                        break
                    if is_paused(root):
                        outcome = WAITING
                        break
    except UserError as error:
        outcome, why = FAILED, str(error)
        yield Noted(sentence=error.sentence, level="wrong")
    except Exception as error:  # a fault of ours: told in the log, and the next job is not to blame
        import traceback

        traceback.print_exc()
        outcome, why = FAILED, repr(error)
    was_stopped_early = outcome == WAITING and not is_paused(root)
    rung = job.rung + 1 if was_stopped_early else job.rung
    _save(root, replace(job, state=outcome, why=why, rung=rung, tries=0))
    if outcome != WAITING:
        (folder_of(root) / f"{_stem(job.number)}.cancel").unlink(missing_ok=True)


def _drop_the_worse(root: Path) -> None:
    """Of each sweep by halving whose runs all stand at one rung, let the best third go on."""
    jobs = jobs_in(root)
    for sweep in {job.sweep for job in jobs if job.sweep and job.state == WAITING and job.rung > 0}:
        own = [job for job in jobs if job.sweep == sweep and job.is_open]
        rung = min(job.rung for job in own)
        beside = [job for job in jobs if job.sweep == sweep and job.state == DROPPED and job.rung == rung]
        if rung == 0 or len({job.rung for job in own}) > 1 or beside or len(own) < 2:
            continue
        marker = folder_of(root) / f"{sweep}-{rung}.ranked"
        if marker.exists():
            continue
        ranked = sorted(own, key=lambda job: goodness(root / job.run), reverse=True)
        kept = max(1, len(ranked) // KEPT)
        for place, job in enumerate(ranked[kept:], start=kept + 1):
            _leave_out(root, job, place, len(ranked))
        marker.touch()


def _leave_out(root: Path, job: Job, place: int, count: int) -> None:
    """End a run of a sweep that others have left behind, and write into its folder why."""
    from engine.train.run.folder import Run  # here: it brings torch with it, and a window needs none

    template = marked(
        "engine", "Left out by halving: number {place} of {count} after {share:.0%} of its steps."
    )
    why = template.format(place=place, count=count, share=SHARES[job.rung - 1])
    with Run.reopen(root / job.run) as run:
        run.set_status("stopped", reason=why)
    _end(root, replace(job, why=why), DROPPED)


def goodness(run_dir: Path) -> tuple[int, float]:
    """Return how good a run is so far: its best score, else how small its loss."""
    facts = read_facts(run_dir, run_dir.parent)
    score = facts.score()
    if score is not None:
        return 1, score.value
    return 0, -facts.loss if facts.loss is not None and facts.loss == facts.loss else float("-inf")


def _end(root: Path, job: Job, state: str) -> None:
    _save(root, replace(job, state=state))
    (folder_of(root) / f"{_stem(job.number)}.cancel").unlink(missing_ok=True)


def _is_cancelled(root: Path, job: Job) -> bool:
    return (folder_of(root) / f"{_stem(job.number)}.cancel").exists()


def _step_of(run_dir: Path) -> int:
    step = read_status(run_dir).get("step", 0)
    return step if type(step) is int else 0


def _save(root: Path, job: Job) -> None:
    write_text(
        folder_of(root) / f"{_stem(job.number)}.json", json.dumps(asdict(job), indent=1, ensure_ascii=False)
    )


def _stem(number: int) -> str:
    return f"{number:05d}"
