"""What is known of one run, read from its settings, its status and the ends of its metrics.jsonl.

The steps between are never read here: a run of a day has a hundred megabytes of them. No file makes it fail:
of a damaged run what can be read is told, and what cannot.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from engine.errors import UserError, marked
from engine.events import Evaluated, Event, Finished, Judged, Noted, Started, Step
from engine.files import open_regular
from engine.language import spoken
from engine.runs.marks import MARKS, read_marks
from engine.settings.config import values_of
from engine.train.metrics import SHARES, wilson_interval
from engine.train.run.answers import answers_path, load_answers
from engine.train.run.mirrored import MIRROR, host_of, mirrored_state
from engine.train.run.records import event_in, record_of
from engine.train.run.runs import CONFIG, METRICS, STATUS, kind_of, read_any_config, read_status, run_info

HEAD = 2**17  # bytes at the beginning of metrics.jsonl, in which a run says what it is
TAILS = (2**16, 2**20, 2**26)  # bytes at its end, more where the best evaluation is not among them
MOST_REMARKS = 20
_HEADS = tuple(f'{{"event": "{name}"'.encode() for name in ("started", "noted", "judged"))
FILES = (CONFIG, STATUS, METRICS, MARKS, MIRROR)  # what tells that a run has changed
CROSS_VALIDATION = "cross-validation"
_TASKS = {"pretrain": "pretraining", "family": "family"}  # where the settings name none

STATES = (  # of runs and jobs
    marked("state", "running"),
    marked("state", "finished"),
    marked("state", "stopped"),
    marked("state", "failed"),
    marked("state", "crashed"),
    marked("state", "waiting"),
    marked("state", "cancelled"),
    marked("state", "done"),
    marked("state", "dropped"),
)
TASKS = (  # what runs are of
    marked("task", "classification"),
    marked("task", "multi-label"),
    marked("task", "regression"),
    marked("task", "token-labels"),
    marked("task", "questions"),
    marked("task", "multiple-choice"),
    marked("task", "correction"),
    marked("task", "pretraining"),
    marked("task", "family"),
    marked("task", "pipeline"),
)


def state_word(state: str) -> str:
    """Return what the state of a run or job is called."""
    return spoken(state, "state")


def task_word(task: str) -> str:
    """Return what a run’s task is called in a list."""
    return spoken(task, "task")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """What a run reached on one part of its data. interval: 95 %, of the rows; None where it is not known."""

    split: str  # "validation" or "test"; CROSS_VALIDATION: on rows that others of the table have taught
    metric: str
    value: float
    interval: tuple[float, float] | None = None
    rows: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """One run. path: its folder. folder: the same from where runs are kept, as it is listed.

    state: running, finished, stopped, failed or crashed; why: what is known of the reason. began, ended:
    seconds since 1970. size: bytes that deleting it sets free. remarks: records of what it was told.
    """

    path: str
    folder: str
    kind: str = "finetune"
    state: str = "crashed"
    why: str = ""
    problem: dict[str, Any] | None = None
    name: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    data: str = ""
    model: str = ""
    task: str = ""
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)  # all but the seed
    labels: tuple[str, ...] = ()
    rows: dict[str, int] = field(default_factory=dict)  # of train, validation, test
    parameters: int = 0
    device: str = ""
    metric: str = ""
    scores: tuple[RunScore, ...] = ()
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)  # all that was measured, by part
    step: int = 0
    num_steps: int = 0
    best_step: int | None = None
    loss: float | None = None  # of the last step
    seconds: float | None = None
    began: float = 0.0
    ended: float = 0.0
    size: int = 0
    remarks: tuple[dict[str, Any], ...] = ()
    way: str = ""  # that was taken, in words, where ways were compared
    host: str = ""  # on which it is trained; "": this computer

    def score(self, split: str = "") -> RunScore | None:
        """Return what it reached on a part of its data; "": on validation, else cross-validated, else on the
        test part.
        """
        wanted = (split,) if split else ("validation", CROSS_VALIDATION, "test")
        return next((one for part in wanted for one in self.scores if one.split == part), None)


def facts_from(document: Mapping[str, Any]) -> RunFacts:
    """Return facts from what `document_of` made of them. Raises: TypeError, ValueError, KeyError."""
    scores = tuple(
        RunScore(**{**one, "interval": tuple(one["interval"]) if one["interval"] else None})
        for one in document["scores"]
    )
    lists = {name: tuple(document[name]) for name in ("tags", "labels", "remarks")}
    return RunFacts(**{**document, **lists, "scores": scores})


def document_of(facts: RunFacts) -> dict[str, Any]:
    """Return facts as JSON can hold them."""
    return asdict(facts)


FIELDS = tuple(one.name for one in fields(RunFacts))


def stamp_of(run_dir: Path | str) -> str:
    """Return what changes when a run's files do: when each was written, and how long it is."""
    parts, folder = list[str](), os.fspath(run_dir)
    for name in FILES:
        try:
            about = os.stat(f"{folder}/{name}")  # a thousand runs are asked: making paths would take longer
            parts.append(f"{about.st_mtime_ns}:{about.st_size}")
        except OSError:
            parts.append("")
    return " ".join(parts)


def read_facts(run_dir: Path, root: Path) -> RunFacts:
    """Return what a run's files say. Args: root: where runs are kept."""
    info, marks, status = run_info(run_dir), read_marks(run_dir), read_status(run_dir)
    problem, values, kind = info.problem, dict[str, Any](), "finetune"
    try:
        config = read_any_config(run_dir)
        values, kind = values_of(config), kind_of(config)
    except UserError as error:
        problem = problem or error.sentence
    told = _MetricsEnds(run_dir / METRICS)
    started, finished = told.started, told.finished
    if started is not None and values.get("learning_rate", 0) is None:
        values["learning_rate"] = started.learning_rate  # what the default of the model's size was
    metric = started.metric if started else info.metric_name
    best = status.get("best_step")
    found = dict[str, Any]()
    if finished is not None:
        found["seconds"] = finished.seconds
    elif told.step is not None:
        found["seconds"] = told.step.elapsed_s
    if started is not None:
        parts = {"train": started.num_train, "validation": started.num_validation, "test": started.num_test}
        found |= {
            "task": started.task,
            "labels": started.labels,
            "rows": parts,
            "parameters": started.num_parameters,
            "device": started.device,
        }
    scores = tuple(_scores(run_dir, told, metric, found.get("rows", {}), info.best_metric, best))
    measured = {split: dict(event.metrics) for split, event in told.evaluated.items()}
    for score in scores:
        measured.setdefault(score.split, {})[metric] = score.value
    state = mirrored_state(run_dir) or status.get(
        "state", "running"
    )  # crashed is found out anew each time: it hangs on a process
    return RunFacts(
        **{"task": str(values.get("task", "")) or _TASKS.get(kind, ""), **found},
        path=str(run_dir.absolute()),
        folder=run_dir.relative_to(root).as_posix() if run_dir.is_relative_to(root) else run_dir.name,
        kind=kind,
        state=state if state in ("running", "finished", "stopped", "failed") else "crashed",
        why=str(status.get("reason", ""))[:2000],
        problem=None if problem is None else {"template": problem.template, "text": str(problem)},
        name=marks.name,
        note=marks.note,
        tags=marks.tags,
        data=str(values.get("data" if kind == "finetune" else "text", "")),
        model=str(values.get("members" if kind == "family" else "model", "")),
        seed=int(values.pop("seed", 0)),
        settings=values,
        metric=metric,
        scores=scores,
        metrics=measured,
        step=info.step,
        num_steps=info.num_steps,
        best_step=best if type(best) is int else None,
        loss=told.step.loss if told.step else None,
        began=began(run_dir),
        ended=_written(run_dir / STATUS),
        size=size_of(run_dir),
        remarks=tuple(record_of(note) for note in told.notes.values()),
        way=_way_taken(told.judged),
        host=host_of(run_dir),
    )


def began(run_dir: Path) -> float:
    """Return when a run was begun: its folder's name says it, else the file of its settings."""
    try:
        return time.mktime(time.strptime(run_dir.name[:15], "%Y%m%d-%H%M%S"))
    except (ValueError, OverflowError):
        return _written(run_dir / CONFIG)


def size_of(folder: Path) -> int:
    """Return how many bytes deleting a folder sets free: what other folders hold too, by links, is not."""
    total, folders = 0, [str(folder)]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    about = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif about.st_nlink < 2:
                        total += about.st_size
    return total


def interval_of(metric: str, value: float, rows: int) -> tuple[float, float] | None:
    """Return the 95 % interval that follows from a share of right rows and their number (Wilson 1927)."""
    return wilson_interval(value * rows, rows) if metric in SHARES and rows and 0 <= value <= 1 else None


def _of_answers(run_dir: Path, split: str, step: int) -> tuple[float, float] | None:
    """Return the interval of a score that is no share of the rows: from the answers it kept."""
    if not answers_path(run_dir, split).is_file():
        return None
    from engine.evaluation.report import interval_over  # here: it brings torch, and most runs need none

    each = load_answers(run_dir, split, step)
    return interval_over(each) if each is not None and len(each) else None


def _scores(
    run_dir: Path,
    told: _MetricsEnds,
    metric: str,
    rows: Mapping[str, int],
    best: float | None,
    best_step: Any,
) -> Iterator[RunScore]:
    judged = told.judged
    if judged is not None and judged.accuracy is not None:
        yield RunScore(
            split=CROSS_VALIDATION,
            metric="accuracy",
            value=judged.accuracy,
            interval=judged.interval,
            rows=judged.rows,
        )
    for split in ("validation", "test"):
        event = told.evaluated.get(split)
        value = None if event is None else event.metrics.get(metric)
        if split == "validation" and best is not None:
            value = best  # at the end, with the thresholds that the result answers with
        if value is None:
            continue
        count = rows.get(split, 0)
        if event is not None and event.confusion is not None:
            count = int(event.confusion.sum())
        step = event.step if event is not None else best_step if type(best_step) is int else 0
        interval = interval_of(metric, value, count) or _of_answers(run_dir, split, step)
        yield RunScore(split=split, metric=metric, value=value, interval=interval, rows=count, step=step)


def _way_taken(judged: Judged | None) -> str:
    """Return what the way is called that a run has taken; "" where none were compared."""
    taken = None if judged is None else judged.one_taken
    return "" if taken is None else taken.said


class _MetricsEnds:
    """What the two ends of a metrics.jsonl tell. evaluated: by part, of validation the best."""

    def __init__(self, path: Path) -> None:
        self.started: Started | None = None
        self.finished: Finished | None = None
        self.judged: Judged | None = None
        self.step: Step | None = None
        self.evaluated: dict[str, Evaluated] = {}
        self.notes: dict[str, Noted] = {}
        with suppress(UserError, OSError), open_regular(path) as file:
            length = os.fstat(file.fileno()).st_size
            self._take_head(file.read(HEAD))
            before = -1
            for size in TAILS:
                begin = max(0, length - size)
                if begin == before:
                    break
                file.seek(begin)
                self._take_tail(file.read(length - begin))
                best = self.evaluated.get("validation")
                if begin == 0 or (best is not None and best.is_best) or not self._has_validation:
                    break
                before = begin

    @property
    def _has_validation(self) -> bool:
        return self.started is None or self.started.num_validation > 0

    def _take_head(self, data: bytes) -> None:
        for line in data.split(b"\n"):
            event = event_in(line) if line.startswith(_HEADS) else None
            if isinstance(event, Started):
                self.started = event
            elif isinstance(event, Judged):
                self.judged = event
            elif isinstance(event, Noted):
                self._note(event)
            elif line.startswith(b'{"event": "step"'):
                return

    def _take_tail(self, data: bytes) -> None:
        lines = data.split(b"\n")[:-1]  # the last one is cut off or nothing
        self.step = self.finished = None
        self.evaluated = {}
        for line in reversed(lines):
            if line.startswith(b'{"event": "step"'):
                if self.step is None:
                    event = event_in(line)
                    self.step = event if isinstance(event, Step) else None
                continue
            if line.startswith((b'{"event": "evaluated"', b'{"event": "finished"', b'{"event": "noted"')):
                self._take(event_in(line))

    def _take(self, event: Event | None) -> None:
        """Take an event, the last first."""
        if isinstance(event, Finished):
            self.finished = self.finished or event
        elif isinstance(event, Noted):
            self._note(event)
        elif isinstance(event, Evaluated):
            known = self.evaluated.get(event.split)
            if known is None or (event.is_best and not known.is_best):
                self.evaluated[event.split] = event

    def _note(self, note: Noted) -> None:
        if len(self.notes) < MOST_REMARKS:
            self.notes.setdefault(str(note.sentence), note)


def _written(path: Path) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
