"""The other end of the line: started by ssh on the computer that trains, it answers one question at a time.

It ends with the line, or when nothing was asked for IDLE_S: a connection may die without a word. What trains
does not hang on it (see jobs.py), so it may be killed at any moment.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import select
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import RunError, UserError, marked
from engine.files import is_bare_name, open_regular
from engine.remote import frames
from engine.remote.computer import this_computer
from engine.remote.frames import BLOCK, Frame
from engine.remote.jobs import Job, JobOrder
from engine.remote.store import Store
from engine.train.run.runs import CHECKPOINTS, CONFIG, HISTORY, METRICS, MODEL, SETUP, STATUS

IDLE_S = 120.0
LOOK_S, STATE_S = 0.02, 0.2  # between two looks whether a run has said more; whether it still lives
MOST_WAIT_S = 30.0
MOST_PUT = 2**50  # bytes of one content
MOST_FILES = 5_000  # that are listed of a run
FOLLOWED = (METRICS, STATUS, CONFIG)
FETCHED = (MODEL, "answers", SETUP, "dynamics.safetensors")  # what a run is looked at by, when it has ended
KEPT = (HISTORY, CHECKPOINTS)  # and what it kept along the way
ENDINGS = (".json", ".jsonl", ".toml", ".txt", ".md", ".safetensors", ".model", ".npy")
_STORES = ("tokens", "validation")  # in the setup of a pretraining: the text again

Answer = tuple[Frame, bytes]


class Agent:
    """Answers over a folder of Cloze's."""

    def __init__(self, root: Path, source: BinaryIO) -> None:
        self.root, self.store, self._source = root, Store(root), source
        self._jobs: dict[str, Job] = {}
        self._actions: dict[str, Callable[..., Answer]] = {
            "check": self._check,
            "have": self._have,
            "put": self._put,
            "place": self._place,
            "start": self._start,
            "look": self._look,
            "read": self._read,
            "digest": self._digest,
            "list": self._list,
            "want": self._want,
            "log": self._log,
        }

    def answer(self, frame: Frame, count: int) -> Answer:
        """Return the answer to a question. Args: count: bytes that follow it on the line."""
        name = frame.pop("do", "")
        if name == "put":
            frame["count"] = count
        elif count:
            raise frames.Garbled("bytes that nobody asked for")
        try:
            return self._actions[name](**frame)
        except UserError as error:
            return {"refused": str(error)}, b""
        except (KeyError, TypeError, ValueError, OSError) as error:
            return {"refused": f"{type(error).__name__}: {error}"}, b""

    def _job(self, key: str) -> Job:
        """Return the run of a key; one line asks again and again for the same."""
        if key not in self._jobs:
            self._jobs[key] = Job(self.root, key)
        return self._jobs[key]

    def _check(self) -> Answer:
        return {"computer": this_computer(self.root).document()}, b""

    def _have(self, sizes: dict[str, int]) -> Answer:
        return {"have": self.store.have(sizes)}, b""

    def _put(self, sha256: str, size: int, offset: int, count: int) -> Answer:
        return {"here": self.store.put(sha256, size, offset, self._source, count)}, b""

    def _place(self, name: str, files: list[list[str]]) -> Answer:
        return {"path": str(self.store.place(name, [(inner, sha256) for inner, sha256 in files]))}, b""

    def _start(self, key: str, order: dict[str, Any], settings: str) -> Answer:
        self._job(key).start(JobOrder(**order), settings)
        return {}, b""

    def _want(self, key: str, what: str) -> Answer:
        self._job(key).want(what)
        return {}, b""

    def _log(self, key: str) -> Answer:
        with open_regular(self._job(key).home / "log.txt") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - BLOCK))
            return {}, file.read(BLOCK)

    def _look(self, key: str, known: dict[str, Any], wait_s: float) -> Answer:
        """Return how a run stands, as soon as that is not what is known."""
        job, until = self._job(key), time.monotonic() + min(wait_s, MOST_WAIT_S)
        looked, state, why = -math.inf, "", ""
        while True:
            now = time.monotonic()
            if now - looked > STATE_S:
                looked, (state, why) = now, job.state()
            sizes = _sizes(job)  # after the state: what is said at the end is then heard
            found = {"state": state, "why": why, **sizes}
            if found != known or now >= until:
                return found, b""
            time.sleep(LOOK_S)

    def _read(self, key: str, name: str, offset: int, most: int) -> Answer:
        with self._open(key, name) as file:
            file.seek(offset)
            return {}, file.read(min(most, BLOCK))

    def _digest(self, key: str, name: str, length: int) -> Answer:
        whole, left = hashlib.sha256(), length
        with self._open(key, name) as file:
            while left and (data := file.read(min(left, BLOCK))):
                whole.update(data)
                left -= len(data)
        return {"sha256": whole.hexdigest(), "length": length - left}, b""

    def _list(self, key: str, everything: bool) -> Answer:
        run_dir = self._job(key).run_dir
        names = [*FETCHED, *KEPT] if everything else list(FETCHED)
        files = [one for name in names for one in _files(run_dir / name, run_dir)]
        if not everything:
            files = [one for one in files if not one[0].startswith(tuple(f"{SETUP}/{s}/" for s in _STORES))]
        return {"files": files[:MOST_FILES]}, b""

    def _open(self, key: str, name: str) -> BinaryIO:
        """Open a file of a run; one that has gone since it was seen, as with a run that fails as it begins,
        is empty. Raises: UserError.
        """
        run_dir = self._job(key).run_dir
        if name not in FOLLOWED and not is_fetched(name):
            raise RunError(marked("engine", "{name!r} is no file of a run that is downloaded."), name=name)
        try:
            return open_regular(run_dir / name)
        except UserError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return io.BytesIO()
            raise


def is_fetched(name: str) -> bool:
    """Whether a name is that of a file in a run folder that may be fetched, and leads nowhere else."""
    parts = name.split("/")
    return (
        parts[0] in (*FETCHED, *KEPT)
        and (len(parts) > 1) == (parts[0] != FETCHED[-1])
        and len(parts) <= 4
        and all(map(is_bare_name, parts))
        and (name.endswith(ENDINGS))
    )


def serve(source: BinaryIO, sink: BinaryIO, root: Path) -> None:
    """Answer until the line ends, or nothing is asked any more."""
    agent = Agent(root, source)
    sink.write(f"\n{frames.MARK}agent\n".encode())
    sink.flush()
    while select.select([source], [], [], IDLE_S)[0]:
        heard = frames.heard(source, MOST_PUT)
        if heard is None:
            return
        frame, data = agent.answer(*heard)
        sink.write(frames.said(frame, len(data)) + data)
        sink.flush()


def _sizes(job: Job) -> dict[str, Any]:
    """Return how long metrics.jsonl is, and what changes with the other files that are followed."""
    found: dict[str, Any] = {"metrics": 0, "status": "", "config": ""}
    if job.order is None:
        return found
    with suppress(OSError):
        found["metrics"] = os.stat(job.run_dir / METRICS).st_size
    for key, name in (("status", STATUS), ("config", CONFIG)):
        with suppress(OSError):
            about = os.stat(job.run_dir / name)
            found[key] = f"{about.st_mtime_ns}:{about.st_size}"
    return found


def _files(place: Path, run_dir: Path) -> Iterator[list[Any]]:
    """Yield name, size and time of the ordinary files of a place in a run, which may train on meanwhile."""
    inner = sorted(Path(folder) / name for folder, _, names in os.walk(place) for name in names)
    for path in [] if place.is_symlink() else inner or [place]:
        name = path.relative_to(run_dir).as_posix()
        if not is_fetched(name):
            continue
        with suppress(OSError):  # a checkpoint may have given way to the next
            about = path.lstat()
            if stat.S_ISREG(about.st_mode):
                yield [name, about.st_size, about.st_mtime_ns]
