"""A run folder held by this process: made, written to so that it is whole at every moment, gone on with."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from torch import Tensor

from engine.durable import PARTIAL, check_place, explained, replaced_folder, sweep_partials, write_text
from engine.errors import RunError, Sentence, UserError, marked
from engine.events import Event, Noted
from engine.files import open_regular
from engine.model.weights import save_tensors
from engine.train.run.answers import save_answers
from engine.train.run.checkpoint import MANIFEST, Checkpoint, manifest, state_in
from engine.train.run.lock import locked
from engine.train.run.records import record_of
from engine.train.run.runs import (
    CHECKPOINTS,
    CONFIG,
    LOCK,
    METRICS,
    MOST_STATUS,
    STATUS,
    TAIL,
    RunConfig,
    document_of,
    read_any_config,
    read_status,
    texts_noted,
)
from engine.train.scored import ScoreRows


class Run:
    """One run folder, held by this process. Make it with `create` or `reopen`, in a `with`."""

    def __init__(self, path: Path, config: RunConfig) -> None:
        self.path = path
        self.config = config
        self.notes: list[Noted] = []  # told so far, each once
        self._told: set[str] = set()  # their words, and those of the notes in metrics.jsonl
        self._metrics: int | None = None

    @classmethod
    @contextmanager
    def create(cls, path: Path, config: RunConfig) -> Iterator[Run]:
        """Make a new run folder. Raises: RunError if `path` is not empty; UserError if it cannot be
        written.
        """
        check_new(path)
        with explained(path):
            path.mkdir(parents=True, exist_ok=True)
        with cls(path, config)._held() as run:
            check_new(path)  # now that nobody else can take it
            write_text(path / CONFIG, document_of(config))
            yield run

    @classmethod
    @contextmanager
    def reopen(cls, path: Path) -> Iterator[Run]:
        """Hold an existing run folder. Raises: RunError if it is none, or another process works in it."""
        with cls(path, read_any_config(path))._held() as run:
            yield run

    @contextmanager
    def _held(self) -> Iterator[Run]:
        with locked(self.path / LOCK):
            sweep_partials(self.path)
            for place in self.path.iterdir():
                if place.is_dir() and not place.is_symlink():
                    sweep_partials(place)
            try:
                yield self
            finally:
                if self._metrics is not None:
                    os.close(self._metrics)
                    self._metrics = None

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
                "{path} is not complete: the curves of earlier steps are lost, in part or all. "
                "The training itself continues unchanged.",
            )
            lost = Sentence(template, {"path": path})
        told = texts_noted(path)
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

    def metrics_bytes(self) -> int:
        """Return the length of metrics.jsonl."""
        assert self._metrics is not None
        return os.fstat(self._metrics).st_size

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
                "{path} was removed or moved while the run wrote to it, so the run ended. Put it "
                "back and continue the run, or start a new one.",
            ),
            path=self.path / METRICS if self.path.is_dir() else self.path,
        )

    def keep_answers(self, split: str, step: int, each: ScoreRows) -> None:
        """Keep what the weights of a step answered to a part, in the place of what was kept before."""
        save_answers(self.path, split, step, each)

    def set_status(self, state: str, **more: Any) -> None:
        """Write status.json, keeping what it said and is not said again."""
        before = {name: value for name, value in read_status(self.path).items() if name != "reason"}
        document = {**before, "state": state, **more}
        text = json.dumps(document, indent=1, ensure_ascii=False)
        try:
            write_text(self.path / STATUS, text)
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

    def save_checkpoint(
        self,
        step: int,
        weights: Mapping[str, Tensor],
        optimizer: Mapping[str, Tensor],
        state: Mapping[str, Any],
        keep: set[int],
        metrics_bytes: int,
    ) -> Path:
        """Write a checkpoint, then remove the others except the steps in `keep`. Returns its folder.

        Args: metrics_bytes: how much of metrics.jsonl belongs to it, which is synced first.
        """
        folder = self.path / CHECKPOINTS
        with explained(folder):
            folder.mkdir(exist_ok=True)
            assert self._metrics is not None
            os.fsync(self._metrics)
        path = folder / f"step-{step:08d}"
        with replaced_folder(path) as beside:
            save_tensors(beside / "weights.safetensors", dict(weights))
            save_tensors(beside / "optimizer.safetensors", dict(optimizer))
            document = {**state, "step": step, "metrics_bytes": metrics_bytes}
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

    def metrics_bytes(self) -> int:
        """Return 0."""
        return 0

    def keep_answers(self, split: str, step: int, each: ScoreRows) -> None:
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


def _whole_lines(file: BinaryIO, offset: int) -> int:
    """Return `offset`, or where the last whole line before it ends if the file is shorter."""
    length = os.fstat(file.fileno()).st_size
    if length >= offset:
        return offset
    start = max(0, length - TAIL)
    file.seek(start)
    return start + file.read(TAIL).rfind(b"\n") + 1
