"""Run folders: everything a run needs to be read, resumed or repeated, whole on disk at every moment.

runs/<time>-<name>/
    config.toml        all settings, with a schema version
    setup/             what was prepared once: config.json, the tokenizer's files, encoded data, setup.json
    metrics.jsonl      append-only truth; on resume it is cut back to the checkpoint's byte offset. What was
                       noted stands in it too, that of preparing before all else
    checkpoints/       step-00000120/: weights, optimizer, state.json and, last, manifest.json with sha256
    history/           copies of the weights along the way, each a model folder; see history.py
    model/             the result
    status.json        running, stopped, finished or failed; `lock` is held while a process works here
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import platformdirs
from torch import Tensor

from engine.durable import (
    PARTIAL,
    check_place,
    explained,
    replaced_file,
    replaced_folder,
    sweep_partials,
)
from engine.errors import ModelError, RunError, Sentence, UserError, marked
from engine.events import Event, Noted
from engine.files import open_regular, read_json_object
from engine.model.folder import read_json
from engine.model.weights import save_tensors
from engine.settings.config import from_toml, to_toml, with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.checkpoint import MANIFEST, Checkpoint, manifest, state_in
from engine.train.run.lock import is_locked, locked
from engine.train.run.records import (
    MOST_DAMAGED,
    event_from_record,
    real_number,
    record_in,
    record_of,
    records_in,
    whole_number,
)

CONFIG, METRICS, STATUS, LOCK = "config.toml", "metrics.jsonl", "status.json", "lock"
AnyConfig = FineTuneConfig | PretrainConfig
SETUP, CHECKPOINTS, MODEL = "setup", "checkpoints", "model"
HISTORY = "history"  # see train/history.py
STATES = ("running", "finished", "stopped", "failed")  # a run that says "running" and is not, has crashed
MOST_STATUS = 2**20  # bytes of status.json, of a checkpoint's state and its manifest
LONGEST_METRIC = 80  # characters of a metric's name
_END = 65536  # bytes of metrics.jsonl in which the last step is looked for


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a list of runs shows. state: running, finished, stopped, failed or crashed.

    problem: what its files say that cannot be.
    """

    path: Path
    name: str
    state: str
    step: int
    num_steps: int
    metric_name: str
    best_metric: float | None
    problem: Sentence | None = None


def default_root() -> Path:
    """Return where runs are kept unless a person chooses another folder."""
    return Path(platformdirs.user_data_dir("cloze", appauthor=False)) / "runs"


def new_run_dir(root: Path, name: str) -> Path:
    """Return a folder name `<time>-<name>` under root that does not exist yet."""
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-")[:60] or "run"
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{plain}"
    path, count = root / stem, 1
    while path.exists():
        count += 1
        path = root / f"{stem}-{count}"
    return path


class Run:
    """One run folder, held by this process. Make it with `create` or `reopen`, in a `with`."""

    def __init__(self, path: Path, config: AnyConfig) -> None:
        self.path = path
        self.config = config
        self.notes: list[Noted] = []  # told so far, each once
        self._told: set[str] = set()  # their words, and those of the notes in metrics.jsonl
        self._metrics: int | None = None

    @classmethod
    @contextmanager
    def create(cls, path: Path, config: AnyConfig) -> Iterator[Run]:
        """Make a new run folder. Raises: RunError if `path` is not empty; UserError if it cannot be
        written.
        """
        check_new(path)
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
        with cls(path, config)._held() as run:
            check_new(path)  # now that nobody else can take it
            with replaced_file(path / CONFIG) as beside:
                beside.write_text(document_of(config), encoding="utf-8")
            yield run

    @classmethod
    @contextmanager
    def reopen(cls, path: Path) -> Iterator[Run]:
        """Hold an existing run folder. Raises: RunError if it is none, or another process works in it."""
        with cls(path, read_config(path))._held() as run:
            yield run

    @contextmanager
    def _held(self) -> Iterator[Run]:
        with locked(self.path / LOCK):
            for folder in (self.path, self.path / CHECKPOINTS, self.path / HISTORY):
                sweep_partials(folder)
            try:
                yield self
            finally:
                if self._metrics is not None:
                    os.close(self._metrics)
                    self._metrics = None

    # --- metrics ---------------------------------------------------------------------------------

    def open_metrics(self, offset: int) -> Sentence | None:
        """Cut metrics.jsonl back to `offset` bytes and append from there; return what is amiss with it.

        Where it is shorter, lines were lost: what is whole of it is kept. Raises: UserError.
        """
        path, lost = self.path / METRICS, None
        with explained(path):
            if os.path.lexists(path):
                with open_regular(path, kind=RunError) as file:  # refuses a pipe before it is waited for
                    length = _whole_lines(file, offset)
            else:
                length = 0
            self._metrics = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._metrics, length)
        if length < offset:
            template = marked(
                "engine",
                "{path} is not whole: the curves of the steps before this one are lost, in part or all. The "
                "training itself goes on as it was.",
            )
            lost = Sentence(template, {"path": path})
        told = _texts_noted(path)
        for note in self.notes:
            if str(note.sentence) not in told:
                self.log(note)
        self._told |= told
        return lost

    def note(self, note: Noted) -> None:
        """Keep what a person was told in metrics.jsonl, once; what comes before that is open, when it is."""
        if (said := str(note.sentence)) not in self._told:
            self._told.add(said)
            self.notes.append(note)
            if self._metrics is not None:
                self.log(note)

    def log(self, event: Event) -> None:
        """Append one event to metrics.jsonl."""
        assert self._metrics is not None
        if (removed := self.removed()) is not None:
            raise removed
        with explained(self.path / METRICS):
            os.write(self._metrics, json.dumps(record_of(event), ensure_ascii=False).encode() + b"\n")

    def removed(self) -> RunError | None:
        """Return the refusal to go on where the file that is written to is no longer the folder's."""
        if self._metrics is None:
            return None
        try:
            if os.path.samestat(os.fstat(self._metrics), os.stat(self.path / METRICS)):
                return None
        except OSError:
            pass
        return RunError(
            marked(
                "engine",
                "{path} was removed or moved while the run wrote to it, so the run ended. Put it back and "
                "go on with the run, or start a new one.",
            ),
            path=self.path / METRICS if self.path.is_dir() else self.path,
        )

    # --- status ----------------------------------------------------------------------------------

    def set_status(self, state: str, **more: Any) -> None:
        """Write status.json, keeping what it said and is not said again."""
        before = {name: value for name, value in read_status(self.path).items() if name != "reason"}
        document = {**before, "state": state, **more}
        text = json.dumps(document, indent=1, ensure_ascii=False)
        try:
            with replaced_file(self.path / STATUS) as beside:
                beside.write_text(text, encoding="utf-8")
        except UserError:
            if not self._write_over_status(text.encode()):
                raise

    def _write_over_status(self, data: bytes) -> bool:
        """Write into the status.json that is there, for which a full disk has room; return if it went."""
        try:
            open_regular(self.path / STATUS, most=MOST_STATUS).close()
            with open(self.path / STATUS, "r+b") as file:
                file.write(data)
                file.truncate()
                os.fsync(file.fileno())
        except (OSError, UserError):
            return False
        return True

    # --- checkpoints -----------------------------------------------------------------------------

    def save_checkpoint(
        self,
        step: int,
        weights: Mapping[str, Tensor],
        optimizer: Mapping[str, Tensor],
        state: Mapping[str, Any],
        keep: set[int],
    ) -> Path:
        """Write a checkpoint, then remove the others except the steps in `keep`. Returns its folder.

        metrics.jsonl is synced first and its length becomes part of the state.
        """
        folder = self.path / CHECKPOINTS
        with explained(folder):
            folder.mkdir(exist_ok=True)
            assert self._metrics is not None
            os.fsync(self._metrics)
            offset = os.fstat(self._metrics).st_size
        path = folder / f"step-{step:08d}"
        with replaced_folder(path) as beside:
            save_tensors(beside / "weights.safetensors", dict(weights))
            save_tensors(beside / "optimizer.safetensors", dict(optimizer))
            document = {**state, "step": step, "metrics_bytes": offset}
            (beside / "state.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
            (beside / MANIFEST).write_text(json.dumps(manifest(beside), indent=1), encoding="utf-8")
        self.keep_only({step, *keep})
        return path

    def keep_only(self, steps: Collection[int]) -> None:
        """Remove all checkpoints but those of `steps`."""
        for path in (self.path / CHECKPOINTS).glob("step-*"):
            if path.name not in {f"step-{step:08d}" for step in steps}:
                shutil.rmtree(path, ignore_errors=True)

    def newest_checkpoint(self) -> Checkpoint | None:
        """Return the newest checkpoint whose manifest holds, or None."""
        for path in sorted((self.path / CHECKPOINTS).glob("step-*"), reverse=True):
            state = state_in(path)
            if state is not None:
                return Checkpoint(path, state["step"], state)
        return None

    def checkpoint(self, step: int) -> Checkpoint | None:
        """Return the checkpoint of a step if it is there and whole."""
        path = self.path / CHECKPOINTS / f"step-{step:08d}"
        state = state_in(path)
        return None if state is None else Checkpoint(path, step, state)


class FollowedRun(Run):
    """The run folder of another process, the first of many ranks: read here, never written."""

    def open_metrics(self, offset: int) -> Sentence | None:
        """Do nothing."""
        return None

    def note(self, note: Noted) -> None:
        """Do nothing."""

    def log(self, event: Event) -> None:
        """Do nothing."""

    def set_status(self, state: str, **more: Any) -> None:
        """Do nothing."""

    def save_checkpoint(self, step: int, *args: Any, **kwargs: Any) -> Path:
        """Do nothing."""
        return self.path / CHECKPOINTS / f"step-{step:08d}"

    def keep_only(self, steps: Collection[int]) -> None:
        """Do nothing."""


def check_new(path: Path) -> None:
    """Refuse a path that is not free for a new run. Raises: RunError; UserError if it is read-only."""
    check_place(path)
    # what a process leaves that was killed before it wrote its settings is not in the way
    if any(entry.name != LOCK and not entry.name.endswith(PARTIAL) for entry in path.glob("*")):
        raise RunError(
            marked("engine", "The run folder {path} is not empty. Name a new one, or resume the run in it."),
            path=path,
        )


def discard(path: Path, keep_folder: bool) -> None:
    """Remove what `Run.create` made, and the folder unless it was there before; nobody may hold it."""
    for name in (CONFIG, STATUS, LOCK):
        (path / name).unlink(missing_ok=True)
    if not keep_folder:
        with suppress(OSError):
            path.rmdir()


def read_config(path: Path) -> AnyConfig:
    """Return the settings of a run. Raises: RunError if `path` is not a run folder; ConfigError."""
    if not (path / CONFIG).is_file():
        raise RunError(
            marked("engine", "{path} is not a run folder: it has no config.toml. Start the run again."),
            path=path,
        )
    values = from_toml(path / CONFIG)
    is_pretraining = values.pop("task", "finetune") == "pretrain"
    return with_values(PretrainConfig() if is_pretraining else FineTuneConfig(), values)


def chain_of(model: str) -> list[dict[str, Any]]:
    """Return the stages of training that a model folder tells of, oldest first; [] for a new model."""
    try:
        document = read_json(Path(model) / "cloze.json")
    except (ModelError, OSError):
        return []
    chain = document.get("chain")
    return [stage for stage in chain if isinstance(stage, dict)] if isinstance(chain, list) else []


def origin_of(model: str) -> str:
    """Return what a chain calls a model that a stage began from: its folder's name, or that of its run."""
    path = Path(model)
    return model if model.startswith("new:") else path.parent.name if path.name == MODEL else path.name


def document_of(config: AnyConfig) -> str:
    """Return config.toml as `read_config` reads it."""
    kind = "pretrain" if isinstance(config, PretrainConfig) else "finetune"
    return f'task = "{kind}"\n' + to_toml(config)


def read_status(path: Path) -> dict[str, Any]:
    """Return what status.json says, or nothing."""
    try:
        return read_json_object(path / STATUS, most=MOST_STATUS)
    except UserError:
        return {}


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the records of metrics.jsonl; lines that are none, and a last one cut off, are left out.

    Raises: RunError if it is no ordinary file, or far too large.
    """
    return [record for record in _records(path) if record is not None]


def read_events(path: Path) -> Iterator[Event]:
    """Yield what a run said, read from metrics.jsonl; at the end, what of it could not be read.

    Only what a person should see comes, and no exception: a damaged history is told as a `Noted`.
    """
    num_damaged = 0
    try:
        for record in _records(path):
            event = event_from_record(record) if record is not None else None
            if event is not None:
                yield event
            else:
                num_damaged += 1
    except RunError as error:
        yield Noted(sentence=error.sentence, level="wrong")
    if num_damaged:
        template = marked("engine", "{count} lines of {path} cannot be read and are left out.")
        if num_damaged == 1:
            template = marked("engine", "One line of {path} cannot be read and is left out.")
        values = {"count": f"{num_damaged} +" if num_damaged >= MOST_DAMAGED else num_damaged}
        yield Noted(sentence=Sentence(template, {**values, "path": path / METRICS}), level="wrong")


def _records(path: Path) -> Iterator[dict[str, Any] | None]:
    file = path / METRICS
    return records_in(file) if os.path.lexists(file) else iter(())


def notes_document(notes: Iterable[Noted]) -> list[dict[str, Any]]:
    """Return notes as JSON can hold them: what was said in English, and what it was made of."""
    return [{name: value for name, value in record_of(note).items() if name != "event"} for note in notes]


def notes_from(document: Any) -> list[Noted]:
    """Return the notes that `notes_document` was made from; what is none of them is left out."""
    records = document if isinstance(document, list) else []
    found = (event_from_record({**one, "event": "noted"}) for one in records if isinstance(one, dict))
    return [event for event in found if isinstance(event, Noted)]


def _texts_noted(path: Path) -> set[str]:
    """Return what metrics.jsonl says was noted."""
    notes = (record for record in records_in(path) if record and record.get("event") == "noted")
    events = (event_from_record(record) for record in notes)
    return {str(event.sentence) for event in events if isinstance(event, Noted)}


def list_runs(root: Path) -> list[RunInfo]:
    """Return the runs under a root, newest first. Folders that are not runs are passed over.

    A damaged run is listed with what can be read of it, and `problem` says what cannot.
    """
    if not root.is_dir():
        return []
    entries = sorted(root.iterdir(), key=lambda entry: entry.name, reverse=True)
    return [_info(path) for path in entries if _is_run(path)]


def _is_run(path: Path) -> bool:
    try:
        return (path / CONFIG).is_file()
    except OSError:  # a folder that this person may not enter
        return False


def _info(path: Path) -> RunInfo:
    """Return what a run's files say, each held to what it can be."""
    status, problem = dict[str, Any](), None
    try:
        if os.path.lexists(path / STATUS):  # without one it was cut off as it began
            status = read_json_object(path / STATUS, most=MOST_STATUS)
    except UserError as error:
        problem = error.sentence
    state, metric = status.get("state", "running"), status.get("metric", "accuracy")
    step, num_steps = (whole_number(status.get(name, 0)) for name in ("step", "num_steps"))
    best = real_number(status.get("best_metric"))
    wrong = {
        "state": state not in STATES,
        "step": step is None,
        "num_steps": num_steps is None,
        "metric": not isinstance(metric, str) or len(metric) > LONGEST_METRIC,
        "best_metric": best is None and status.get("best_metric") is not None,
    }
    if any(wrong.values()):
        template = marked(
            "engine", "{path} is damaged: {names} cannot be what it says. The rest of the run is shown."
        )
        names = ", ".join(name for name, is_wrong in wrong.items() if is_wrong)
        problem = Sentence(template, {"path": path / STATUS, "names": names})
    if state not in STATES or (state == "running" and not is_locked(path / LOCK)):
        state = "crashed"
    return RunInfo(
        path=path,
        name=path.name,
        state=state,
        step=_last_step(path, step or 0),
        num_steps=num_steps or 0,
        metric_name="accuracy" if wrong["metric"] else metric,
        best_metric=best,
        problem=problem,
    )


def _last_step(path: Path, fallback: int) -> int:
    """Return the last step in metrics.jsonl, read from its end."""
    try:
        with open_regular(path / METRICS) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _END))
            lines = file.read(_END).split(b"\n")[:-1]
    except (OSError, UserError):
        return fallback
    for line in reversed(lines):
        record = record_in(line)
        step = whole_number(record.get("step")) if record and record.get("event") == "step" else None
        if step is not None:
            return step
    return fallback


def _whole_lines(file: BinaryIO, offset: int) -> int:
    """Return `offset`, or where the last whole line before it ends if the file is shorter."""
    length = os.fstat(file.fileno()).st_size
    if length >= offset:
        return offset
    start = max(0, length - _END)
    file.seek(start)
    return start + file.read(_END).rfind(b"\n") + 1
