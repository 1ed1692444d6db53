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

import dataclasses
import hashlib
import json
import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from torch import Tensor

from engine import events
from engine.config import FineTuneConfig, from_toml, to_toml, with_values
from engine.durable import (
    PARTIAL,
    check_place,
    explained,
    replaced_file,
    replaced_folder,
    sweep_partials,
)
from engine.errors import ModelError, RunError, Sentence, marked
from engine.events import Event, Noted
from engine.model.folder import read_json
from engine.model.weights import load_tensors, save_tensors
from engine.pretrain_config import PretrainConfig
from engine.train.lock import is_locked, locked

CONFIG, METRICS, STATUS, LOCK = "config.toml", "metrics.jsonl", "status.json", "lock"
AnyConfig = FineTuneConfig | PretrainConfig
SETUP, CHECKPOINTS, MODEL, MANIFEST = "setup", "checkpoints", "model", "manifest.json"
HISTORY = "history"  # see train/history.py


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What a list of runs shows. state: running, finished, stopped, failed or crashed."""

    path: Path
    name: str
    state: str
    step: int
    num_steps: int
    metric_name: str
    best_metric: float | None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A complete checkpoint: its folder, and `state` as it was saved."""

    path: Path
    step: int
    state: Mapping[str, Any]

    def weights(self) -> dict[str, Tensor]:
        """Return the model's tensors."""
        return load_tensors(self.path / "weights.safetensors")

    def optimizer(self) -> dict[str, Tensor]:
        """Return the optimizer's tensors."""
        return load_tensors(self.path / "optimizer.safetensors")


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

    def open_metrics(self, offset: int) -> None:
        """Cut metrics.jsonl back to `offset` bytes and append from there."""
        with explained(self.path / METRICS):
            self._metrics = os.open(self.path / METRICS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._metrics, offset)
        told = _texts_noted(self.path)
        for note in self.notes:
            if str(note.sentence) not in told:
                self.log(note)

    def note(self, note: Noted) -> None:
        """Keep what a person was told in metrics.jsonl, once; what comes before that is open, when it is."""
        if all(str(note.sentence) != str(other.sentence) for other in self.notes):
            self.notes.append(note)
            if self._metrics is not None:
                self.log(note)

    def log(self, event: Event) -> None:
        """Append one event to metrics.jsonl."""
        assert self._metrics is not None
        with explained(self.path / METRICS):
            os.write(self._metrics, json.dumps(_record(event), ensure_ascii=False).encode() + b"\n")

    # --- status ----------------------------------------------------------------------------------

    def set_status(self, state: str, **more: Any) -> None:
        """Write status.json, keeping what it said and is not said again."""
        before = {name: value for name, value in read_status(self.path).items() if name != "reason"}
        document = {**before, "state": state, **more}
        with replaced_file(self.path / STATUS) as beside:
            beside.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")

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
            (beside / MANIFEST).write_text(json.dumps(_manifest(beside), indent=1), encoding="utf-8")
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
            if _holds(path):
                state = json.loads((path / "state.json").read_text(encoding="utf-8"))
                return Checkpoint(path, int(state["step"]), state)
        return None

    def checkpoint(self, step: int) -> Checkpoint | None:
        """Return the checkpoint of a step if it is there and whole."""
        path = self.path / CHECKPOINTS / f"step-{step:08d}"
        if not _holds(path):
            return None
        return Checkpoint(path, step, json.loads((path / "state.json").read_text(encoding="utf-8")))


class FollowedRun(Run):
    """The run folder of another process, the first of many ranks: read here, never written."""

    def open_metrics(self, offset: int) -> None:
        """Do nothing."""

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
        document = json.loads((path / STATUS).read_text(encoding="utf-8"))
        return document if isinstance(document, dict) else {}
    except (OSError, ValueError):
        return {}


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the records of metrics.jsonl; a last line that was cut off by a crash is left out."""
    records = []
    try:
        lines = (path / METRICS).read_bytes().split(b"\n")
    except OSError:
        return []
    for line in lines[:-1]:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def notes_document(notes: Iterable[Noted]) -> list[dict[str, Any]]:
    """Return notes as JSON can hold them: what was said in English, and what it was made of."""
    return [{name: value for name, value in _record(note).items() if name != "event"} for note in notes]


def notes_from(document: Any) -> list[Noted]:
    """Return the notes that `notes_document` was made from; what is none of them is left out."""
    records = document if isinstance(document, list) else []
    found = (event_from_record({**one, "event": "noted"}) for one in records if isinstance(one, dict))
    return [event for event in found if isinstance(event, Noted)]


def _texts_noted(path: Path) -> set[str]:
    """Return what metrics.jsonl says was noted."""
    lines = (path / METRICS).read_bytes().split(b"\n")[:-1]
    events = (event_from_record(json.loads(line)) for line in lines if line.startswith(b'{"event": "noted"'))
    return {str(event.sentence) for event in events if isinstance(event, Noted)}


def list_runs(root: Path) -> list[RunInfo]:
    """Return the runs under a root, newest first. Folders that are not runs are passed over."""
    if not root.is_dir():
        return []
    found = []
    for path in sorted(root.iterdir(), key=lambda entry: entry.name, reverse=True):
        if not (path / CONFIG).is_file():
            continue
        status = read_status(path)
        state = str(status.get("state", "running"))
        if state == "running" and not is_locked(path / LOCK):
            state = "crashed"
        best = status.get("best_metric")
        found.append(
            RunInfo(
                path=path,
                name=path.name,
                state=state,
                step=_last_step(path, int(status.get("step", 0))),
                num_steps=int(status.get("num_steps", 0)),
                metric_name=str(status.get("metric", "accuracy")),
                best_metric=None if best is None else float(best),
            )
        )
    return found


def event_from_record(record: Mapping[str, Any]) -> Event | None:
    """Return the event that a record of metrics.jsonl was made from, or None if this version knows none."""
    values = dict(record)
    kind = getattr(events, str(values.pop("event", "")).title(), None)
    if kind is None or not dataclasses.is_dataclass(kind):
        return None
    try:
        for name in ("run_dir", "path"):
            if values.get(name) is not None:
                values[name] = Path(values[name])
        if "sentence" in values:
            values["sentence"] = _sentence(values["sentence"])
            values.pop("text", None)
        if values.get("confusion") is not None:
            values["confusion"] = np.asarray(values["confusion"], np.int64)
        if "labels" in values:
            values["labels"] = tuple(values["labels"])
        if "per_label" in values:
            values["per_label"] = {label: tuple(scores) for label, scores in values["per_label"].items()}
        if "readings" in values:
            values["readings"] = tuple(_reading(reading) for reading in values["readings"])
        made: Event = kind(**values)  # type: ignore[operator,assignment]
        return made
    except TypeError:
        return None


def _sentence(values: Any) -> Any:
    """Return a sentence, and those inside it, as they were."""
    if not isinstance(values, Mapping) or set(values) != {"template", "values"}:
        return values
    return Sentence(values["template"], {k: _sentence(value) for k, value in values["values"].items()})


def _reading(values: Mapping[str, Any]) -> events.Reading:
    guesses = tuple((str(word), float(share)) for word, share in values["guesses"])
    return events.Reading(**{**values, "guesses": guesses})


def _last_step(path: Path, fallback: int) -> int:
    """Return the last step in metrics.jsonl, read from its end."""
    try:
        with open(path / METRICS, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 65536))
            lines = file.read().split(b"\n")[:-1]
    except OSError:
        return fallback
    for line in reversed(lines):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.get("event") == "step":
            return int(record["step"])
    return fallback


def _record(event: Event) -> dict[str, Any]:
    record: dict[str, Any] = {"event": type(event).__name__.lower()}
    for field in dataclasses.fields(event):
        record[field.name] = _plain(getattr(event, field.name))
    if isinstance(event, Noted):
        record["text"] = str(event.sentence)
    return record


def _plain(value: Any) -> Any:
    if isinstance(value, events.Reading):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Sentence):
        return {"template": value.template, "values": {k: _plain(v) for k, v in value.values.items()}}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _manifest(folder: Path) -> dict[str, Any]:
    return {
        file.name: {"bytes": file.stat().st_size, "sha256": _sha256(file)}
        for file in sorted(folder.iterdir())
        if file.name != MANIFEST
    }


def _holds(path: Path) -> bool:
    try:
        manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        return bool(manifest) and all(
            (path / name).stat().st_size == about["bytes"] and _sha256(path / name) == about["sha256"]
            for name, about in manifest.items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _sha256(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
