"""A queue of runs that is worked off by a process of its own, whatever becomes of the window.

<runs>/.queue/
    00001.json     a job: settings, the folder of its run, how far it has come; the worker alone changes it
    00001.cancel   somebody wants this job to end
    paused         nobody is to work; the run under way stops and is kept
    lock           held by the one process that works
    log.txt        what the last worker said

The files are the truth. A worker that was killed left a job that says "running": the next worker goes on with
its run from its folder.

A folder of runs may come from somebody else. Every field of a job is held to what it can be; one that cannot
be done counts as failed, with its reason, and the others go on. A job bears a seal (see origin.py): one that
was not put here on this computer is begun by nobody until a person has said so.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from engine.durable import explained, write_text
from engine.errors import RunError, Sentence, UserError, marked
from engine.events import Event, Noted, Step
from engine.files import is_bare_name, open_regular, read_json_object
from engine.own_process import command_of, environment_of
from engine.runs.facts import read_facts
from engine.runs.marks import RunMarks, set_marks, tidy
from engine.runs.origin import is_sealed, seal_of
from engine.runs.turn import COMPUTING, in_turn
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pipeline import PipelineConfig
from engine.settings.pretrain import PretrainConfig
from engine.settings.values import kinds_of
from engine.train.run.lock import holder, is_locked, locked
from engine.train.run.runs import CONFIG, LOCK, PIPELINE, AnyConfig, new_run_dir, read_status

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
QueuedConfig = AnyConfig | PipelineConfig
CONFIGS: dict[str, type[QueuedConfig]] = {
    "finetune": FineTuneConfig,
    "pretrain": PretrainConfig,
    "pipeline": PipelineConfig,
}
MOST_TRIES = 3  # of a job whose worker is killed each time before the run has come any further
LOOK_S = 0.3  # between two looks at what is wanted
TAKE_S = 5.0  # that a worker waits for another one that is about to end
SHARES, KEPT = (1 / 9, 1 / 3, 1.0), 3  # of halving: of a run's steps, and one of so many goes on
MOST_JOBS = 5_000  # that a queue may hold, those that have ended among them
MOST_JOB, MOST_JOB_VALUES = 2**20, 20_000  # bytes of a job's file; values in it
LONGEST_WHY, LONGEST_TEXT, MOST_TAGS = 1000, 300, 100
LAST_BYTES = 4096  # of the log, in which the last line is looked for
_JOB_FILE = re.compile(r"\d{5,9}")
_SEAL = "seal"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueJob:
    """A run to be made. until: the share of its steps after which it stops; 1.0: all.

    on: the host that trains it; "" for this computer. slurm: options of sbatch there; "": those remembered.
    sweep: of halving, what all jobs that are ranked together have alike; rung: how often it has stayed in.
    begun: its run's folder was there. is_own: it was put here on this computer, or a person has allowed it.
    """

    number: int
    name: str
    run: str = ""  # the name of the run's folder; "" until it is begun
    kind: str = "finetune"
    values: dict[str, Any] = field(default_factory=dict)
    state: str = WAITING
    why: str = ""
    tags: tuple[str, ...] = ()
    on: str = ""
    slurm: str = ""
    sweep: str = ""
    rung: int = 0
    begun: bool = False
    tries: int = 0
    reached: int = 0  # the step at which a worker took it up the last time
    added: float = 0.0
    is_own: bool = True

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def until(self) -> float:
        return SHARES[min(self.rung, len(SHARES) - 1)] if self.sweep else 1.0

    @property
    def seed(self) -> str:
        seed = self.values.get("seed")
        return str(seed) if type(seed) is int else ""

    @property
    def config(self) -> QueuedConfig:
        """Return the settings. Raises: ConfigError."""
        return with_values(CONFIGS[self.kind](), dict(self.values))


_CAN_BE: dict[str, Callable[[Any], bool]] = {  # what a field may say, where its type is right
    "number": lambda number: number > 0,
    "name": lambda name: len(name) <= LONGEST_TEXT,
    "run": lambda run: not run or is_bare_name(run),
    "kind": lambda kind: kind in CONFIGS,
    "values": lambda values: "\\u0000" not in json.dumps(values),
    "state": lambda state: state in STATES,
    "why": lambda why: len(why) <= LONGEST_WHY,
    "tags": lambda tags: len(tags) <= MOST_TAGS and all(len(tag) <= LONGEST_TEXT for tag in tags),
    "on": lambda on: len(on) <= LONGEST_TEXT and not on.startswith("-") and on.isprintable(),
    "slurm": lambda slurm: len(slurm) <= LONGEST_WHY and slurm.isprintable(),
    "sweep": lambda sweep: not sweep or is_bare_name(sweep),
    "rung": lambda rung: 0 <= rung < len(SHARES),
    "begun": lambda _: True,
    "tries": lambda tries: 0 <= tries <= MOST_TRIES,
    "reached": lambda reached: reached >= 0,
    "added": lambda added: math.isfinite(added),
}


def folder_of(root: Path) -> Path:
    """Return where the queue of runs under a root lies."""
    return root / QUEUE


def jobs_in(root: Path) -> list[QueueJob]:
    """Return all jobs, the first first; one that cannot be done, for its file or its settings, has failed."""
    found = []
    for number in _numbers(root)[:MOST_JOBS]:
        path = _file(root, number)
        with suppress(OSError):  # it was forgotten this moment
            about = path.lstat()
            found.append(_read(path, (about.st_ino, about.st_ctime_ns, about.st_mtime_ns, about.st_size)))
    return found


def _numbers(root: Path) -> list[int]:
    """Return the numbers of all jobs."""
    stems = (path.stem for path in folder_of(root).glob("*.json"))
    return sorted({int(stem) for stem in stems if _JOB_FILE.fullmatch(stem) and stem == _stem(int(stem))})


@lru_cache(MOST_JOBS)  # a window looks every second
def _read(path: Path, _version: tuple[int, ...]) -> QueueJob:
    """Return the job in a file, as it is in one version of it."""
    number, name = int(path.stem), path.name
    try:
        document = read_json_object(path, most=MOST_JOB, most_values=MOST_JOB_VALUES)
        seal = document.pop(_SEAL, None)
        job = _job(document, path)
        number, name = job.number, job.name
        if job.is_open:  # those that have ended may be of an older version
            _ = job.config
        return replace(job, is_own=is_sealed(document, path.parent, seal))
    except UserError as error:
        return QueueJob(number=number, name=name, state=FAILED, why=str(error))


def _job(document: dict[str, Any], path: Path) -> QueueJob:
    """Return the job that a file holds, each of its fields held to what it can be. Raises: RunError."""
    values = {"number": None, "name": None, **document}
    for name in values:
        try:
            values |= kinds_of(QueueJob, {name: values[name]})
            fits = name in _CAN_BE and _CAN_BE[name](values[name])
        except (KeyError, TypeError, ValueError, OverflowError):
            fits = False
        if not fits:
            raise RunError(
                marked(
                    "engine", "The job {path} did not begin, because its “{field}” is missing or invalid."
                ),
                path=path.name,
                field=name,
            )
    job = QueueJob(**values)
    if int(path.stem) != job.number or ((job.rung or job.begun) and not job.run):
        template = marked("engine", "The job {path} did not begin, because its fields contradict each other.")
        raise RunError(template, path=path.name)
    return job


def add(
    root: Path,
    configs: Sequence[QueuedConfig],
    name: str,
    *,
    tags: Iterable[str] = (),
    halving: bool = False,
    on: str = "",
    slurm: str = "",
) -> list[QueueJob]:
    """Put runs at the end of the queue; nobody works on them yet. Args: on, slurm: as a QueueJob has them.

    Raises: UserError.
    """
    folder = folder_of(root)
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    if len(_numbers(root)) + len(configs) > MOST_JOBS:
        raise RunError(
            marked("engine", "A queue holds at most {most} jobs. Clear those that have ended first."),
            most=MOST_JOBS,
        )
    called = tidy(RunMarks(name=name, tags=tuple(tags)))
    sweep = f"{time.time_ns()}" if halving else ""
    job = QueueJob(number=0, name=called.name, tags=called.tags, sweep=sweep, on=on, slurm=slurm)
    kinds = {made: kind for kind, made in CONFIGS.items()}
    return [
        _create(root, replace(job, kind=kinds[type(config)], values=values_of(config), added=time.time()))
        for config in configs
    ]


def _create(root: Path, job: QueueJob) -> QueueJob:
    """Write a job under the next number that nobody has."""
    number = max(_numbers(root), default=0)
    while True:
        number += 1
        claim = _file(root, number, "new")  # held by whoever is about to write under this number
        try:
            with explained(claim), claim.open("x"):
                pass
        except UserError as error:
            if isinstance(error.__cause__, FileExistsError):
                continue
            raise
        try:
            if not os.path.lexists(_file(root, number)):
                job = replace(job, number=number)
                _save(root, job)
                return job
        finally:
            claim.unlink(missing_ok=True)


def accept(root: Path) -> None:
    """Let all jobs be done that wait here, wherever they were put into the queue. Raises: UserError."""
    folder = folder_of(root)
    seal_of({}, folder)  # where no key can be kept, that is said
    for job in jobs_in(root):
        if job.is_open and not job.is_own:
            _save(root, job)


def cancel(root: Path, number: int) -> None:
    """Let a job end: one that waits at once, the one under way when its run has stopped. Raises: RunError."""
    job = next((one for one in jobs_in(root) if one.number == number), None)
    if job is None or not job.is_open:
        raise RunError(
            marked("engine", "No job {number} is waiting or running in the queue of {path}."),
            number=number,
            path=root,
        )
    path = _file(root, number, "cancel")
    with explained(path):
        path.touch()
    if job.state == WAITING and not is_working(root):
        _save(root, replace(job, state=CANCELLED))
        path.unlink(missing_ok=True)


def clear(root: Path) -> None:
    """Forget the jobs that have ended; their runs stay."""
    for job in jobs_in(root):
        if not job.is_open:
            for path in (_file(root, job.number), _file(root, job.number, "cancel")):
                with suppress(OSError):  # it is gone, or a folder
                    path.unlink()


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
    """Whether there is work of this computer's own that nobody does, though somebody should."""
    has_work = any(job.is_open and job.is_own for job in jobs_in(root))
    return has_work and not is_paused(root) and not is_working(root)


def waits_its_turn(root: Path) -> bool:
    """Whether the process that works waits for a training that is none of the queue."""
    worker, computing = holder(folder_of(root) / LOCK), holder(root / COMPUTING)
    return bool(worker and computing) and worker != computing


def start_worker(root: Path) -> subprocess.Popen[bytes]:
    """Start a process that works off what is this computer's own, and does not end with this one.

    Raises: UserError.
    """
    folder = folder_of(root)
    apart: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        apart = {"creationflags": 0x00000008 | 0x00000200}  # DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LOG).unlink(missing_ok=True)  # a link would be followed
        with (folder / LOG).open("xb") as log:
            return subprocess.Popen(
                command_of("engine", "queue", "run", "--own", "--runs", str(root)),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment_of(),
                close_fds=True,
                **apart,
            )


def last_words(root: Path) -> str:
    """Return the last line that the last worker said; "" for none."""
    try:
        with open_regular(folder_of(root) / LOG) as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - LAST_BYTES))
            lines = log.read(LAST_BYTES).decode(errors="replace").split("\n")
    except (UserError, OSError):
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def work(
    root: Path, train: Callable[[QueueJob, Path], Iterator[Event]], *, only_own: bool = False
) -> Generator[Event, None, int]:
    """Work the queue off, job by job, until nothing waits or it is paused; return how many runs were made.

    Args:   train: trains a job in its run's folder, or goes on there. only_own: leave others' jobs waiting.
    Raises: RunError if another process works.
    """
    folder, count = folder_of(root), 0
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    _await_turn(root)
    with locked(folder / LOCK):
        while (job := _next(root, only_own)) is not None:
            count += 1
            yield from _do(root, job, train)
    return count


def _await_turn(root: Path) -> None:
    """Wait a little for a worker that is about to end: it may not have seen what was added."""
    end = time.monotonic() + TAKE_S
    while is_working(root) and time.monotonic() < end:
        time.sleep(LOOK_S)


def _next(root: Path, only_own: bool) -> QueueJob | None:
    """Return the job to do now; one that was cut off comes first."""
    if is_paused(root):
        return None
    for job in _left(root, only_own):
        if _is_cancelled(root, job):
            _end(root, job, CANCELLED)
        elif why := _unfit(root, job):
            _end(root, job, FAILED, why)
    _drop_the_worse(root, only_own)
    return min(
        _left(root, only_own), key=lambda job: (job.state != RUNNING, job.rung, job.number), default=None
    )


def _left(root: Path, only_own: bool) -> list[QueueJob]:
    """Return the jobs that are to be done."""
    return [job for job in jobs_in(root) if job.is_open and (job.is_own or not only_own)]


def _unfit(root: Path, job: QueueJob) -> str:
    """Return why a job's run cannot be gone on with, as far as its folder tells; "" where it can."""
    place = root / job.run
    if job.run and Path(os.path.realpath(place)).parent != Path(os.path.realpath(root)):
        template = marked("engine", "Its run {run} is a link to another place, and was not touched.")
        return str(Sentence(template, {"run": job.run}))
    if (job.begun or job.rung) and not is_begun(place):
        return str(Sentence(marked("engine", "Its run {run} was deleted or moved."), {"run": job.run}))
    return ""


def _do(
    root: Path, job: QueueJob, train: Callable[[QueueJob, Path], Iterator[Event]]
) -> Generator[Event, None, None]:
    if not job.run:
        job = replace(job, run=new_run_dir(root, job.name).name)
    place = root / job.run
    step = _step_of(place)
    tries = job.tries + 1 if job.state == RUNNING and step == job.reached else 1
    if tries > MOST_TRIES:
        why = marked("engine", "It ended {count} times in the middle without giving a reason.")
        _end(root, job, FAILED, str(Sentence(why, {"count": MOST_TRIES})))
        return
    if read_status(place).get("state") == "finished":  # it was killed before it could write that down
        _end(root, job, DONE)
        return
    job = replace(job, state=RUNNING, tries=tries, reached=step)
    _save(root, job)
    outcome, why, num_steps, looked = DONE, "", 0, 0.0
    try:
        task = partial(train, job, place)  # elsewhere it takes nobody's turn
        with closing(task() if job.on else in_turn(root, task)) as events:  # type: ignore[type-var]
            for event in events:
                yield event
                num_steps = getattr(event, "num_steps", num_steps)
                if not job.begun and is_begun(place):
                    job = replace(job, begun=True)
                    _save(root, job)
                    if job.kind != "pipeline":  # whose folder is no run
                        set_marks(place, tags=job.tags)
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
    job = replace(job, rung=job.rung + 1 if was_stopped_early else job.rung, tries=0)
    if outcome == WAITING:
        _save(root, replace(job, state=WAITING))
    else:
        _end(root, job, outcome, why)


def _drop_the_worse(root: Path, only_own: bool) -> None:
    """Of each sweep by halving whose runs all stand at one rung, let the best third go on."""
    jobs, left = jobs_in(root), _left(root, only_own)
    for sweep in {job.sweep for job in left if job.sweep}:
        own = [job for job in left if job.sweep == sweep]
        rung = min(job.rung for job in own)
        marker = folder_of(root) / f"{sweep}-{rung}.ranked"
        if rung == 0 or any(job.rung > rung for job in own) or marker.exists():
            continue
        # a worker that was killed in the middle of this has left some out already
        gone = sum(job.sweep == sweep and job.state == DROPPED and job.rung == rung for job in jobs)
        count = len(own) + gone
        ranked = sorted(own, key=lambda job: goodness(root / job.run), reverse=True)
        for place in range(len(own), max(1, count // KEPT), -1):
            _leave_out(root, ranked[place - 1], place, count)
        with explained(marker):
            marker.touch()


def _leave_out(root: Path, job: QueueJob, place: int, count: int) -> None:
    """End a run of a sweep that others have left behind, and write into its folder why."""
    from engine.train.run.folder import Run  # here: it brings torch with it, and a window needs none

    template = marked(
        "engine", "Stopped by halving: number {place} of {count} after {share:.0%} of its steps."
    )
    why = str(Sentence(template, {"place": place, "count": count, "share": SHARES[job.rung - 1]}))
    with suppress(UserError), Run.reopen(root / job.run) as run:  # where that says no, the queue still knows
        run.set_status("stopped", reason=why)
    _end(root, job, DROPPED, why)


def goodness(run_dir: Path) -> tuple[int, float]:
    """Return how good a run is so far: its best score, else how small its loss."""
    facts = read_facts(run_dir, run_dir.parent)
    score = facts.score()
    if score is not None:
        return 1, score.value
    return 0, -facts.loss if facts.loss is not None and facts.loss == facts.loss else float("-inf")


def _end(root: Path, job: QueueJob, state: str, why: str = "") -> None:
    _save(root, replace(job, state=state, why=why[:LONGEST_WHY]))
    _file(root, job.number, "cancel").unlink(missing_ok=True)


def _is_cancelled(root: Path, job: QueueJob) -> bool:
    return _file(root, job.number, "cancel").exists()


def is_begun(place: Path) -> bool:
    """Whether a folder holds a run, or several that follow one another, which can be gone on with."""
    return (place / CONFIG).is_file() or (place / PIPELINE).is_file()


def _step_of(place: Path) -> int:
    """Return how far a run has come; several runs: all of them together."""
    if (place / PIPELINE).is_file():
        return sum(_step_of(run) for run in place.iterdir() if (run / CONFIG).is_file())
    step = read_status(place).get("step", 0)
    return step if type(step) is int else 0


def _save(root: Path, job: QueueJob) -> None:
    """Write a job with the seal of this computer; without one where no key can be kept."""
    document = json.loads(json.dumps(asdict(job)))
    del document["is_own"]
    with suppress(UserError):
        document[_SEAL] = seal_of(document, folder_of(root))
    write_text(_file(root, job.number), json.dumps(document, indent=1))


def _file(root: Path, number: int, ending: str = "json") -> Path:
    return folder_of(root) / f"{_stem(number)}.{ending}"


def _stem(number: int) -> str:
    return f"{number:05d}"
