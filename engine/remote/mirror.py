"""The files of a run there, here: metrics.jsonl byte for byte, small files whole, weights when asked for.

What comes is never trusted. metrics.jsonl is only ever appended to, or cut back to the longest beginning that
both have, which hashes find; every other file is one of a known name, of a size that has room, made anew
beside and then put in place.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.durable import PARTIAL, explained, replaced_file, sync, take_place, write_text
from engine.errors import RunError, UserError, marked
from engine.events import Event, Fetched, Steps
from engine.files import open_regular, parse_json_object
from engine.remote.agent import FETCHED, KEPT, is_fetched
from engine.remote.connection import Connection
from engine.remote.frames import BLOCK
from engine.remote.record import RemoteRun
from engine.remote.sending import path_settings
from engine.settings.config import MOST_TOML, from_toml, values_of, with_values
from engine.train.run.records import MOST_METRICS, event_in
from engine.train.run.runs import (
    CONFIG,
    METRICS,
    MOST_STATUS,
    STATUS,
    document_of,
    kind_of,
    plain_config,
    read_config,
)

OVERLAP = 4096  # bytes before what is new that have to be as they are here
MOST_LINE = 16 * 2**20  # bytes of what a run says at once
MOST_FILES, MOST_BYTES = 5_000, 2**42  # that are fetched
SPARE = 100 * 2**20  # bytes that stay free on the disk
FETCHING = "fetching"  # where files are until all are here


@dataclass
class Mirror:
    """A run's folder here. told: bytes of metrics.jsonl whose events are known."""

    run_dir: Path
    remote: RemoteRun
    told: int = 0

    # --- metrics.jsonl ----------------------------------------------------------------------------

    def catch_up(self, line: Connection, size: int, *, whole: bool) -> Steps[None]:
        """Have metrics.jsonl as it is there, where it has `size` bytes. Args: whole: compare all that is here
        first, for anything may have happened meanwhile. Raises: RunError, Lost.
        """
        if size > MOST_METRICS:
            raise RunError(
                marked(
                    "engine", "{path} is larger on {host} than such a file can be, so it is not mirrored."
                ),
                path=METRICS,
                host=self.remote.host,
            )
        path = self.run_dir / METRICS
        with explained(path):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o644)
        with os.fdopen(handle, "r+b", buffering=0) as file:
            while True:
                here = os.fstat(handle).st_size
                if whole or here > size:
                    common = yield from self._common(line, file, min(here, size))
                    with explained(path):
                        os.ftruncate(handle, common)
                    here, whole = common, False
                    if self.told > here:  # a line is told once it is whole
                        self.told = _line_begin(file, here)
                while here < size:
                    begin = max(0, here - OVERLAP)
                    _, data = yield from self._ask(line, "read", name=METRICS, offset=begin, most=BLOCK)
                    file.seek(begin)
                    new = data[here - begin :]
                    if data[: here - begin] != file.read(here - begin) or not new:
                        whole = True  # it was cut back there, as when a run goes on from its checkpoint
                        break
                    with explained(path):
                        here += os.write(handle, new)
                if whole:
                    frame, _ = yield from self._ask(line, "digest", name=METRICS, length=size)
                    size = frame["length"] if type(frame.get("length")) is int else 0
                    continue
                return

    def _common(self, line: Connection, file: Any, most: int) -> Steps[int]:
        """Return how many bytes both files begin with alike, at most `most`."""
        alike, differs = 0, most + 1
        looked = most  # mostly all of it
        while differs - alike > 1:
            frame, _ = yield from self._ask(line, "digest", name=METRICS, length=looked)
            if frame.get("length") == looked and frame.get("sha256") == _digest(file, looked):
                alike = looked
            else:
                differs = looked
            looked = (alike + differs) // 2
        return alike

    def news(self) -> Iterator[Event]:
        """Yield what the run has said that is not told yet, with paths of here; whole lines only."""
        with suppress(UserError), open_regular(self.run_dir / METRICS) as file:
            file.seek(self.told)
            while (line := file.readline(MOST_LINE)).endswith(b"\n"):
                self.told += len(line)
                event = event_in(line)
                if event is not None:
                    yield self._here(event)

    def _here(self, event: Event) -> Event:
        """Return an event with its path as it is here."""
        there = f"/runs/{self.remote.key}/{self.remote.name}"
        for name in ("path", "run_dir"):
            path = getattr(event, name, None)
            if path is not None:
                _before, found, inner = str(path).partition(there)
                event = replace(event, **{name: Path(f"{self.run_dir}{inner}") if found else self.run_dir})
        return event

    # --- small files ------------------------------------------------------------------------------

    def take_status(self, line: Connection) -> Steps[None]:
        """Have status.json as it is there. Raises: Lost; one that is damaged or gone is left out."""
        data = yield from self._small(line, STATUS, MOST_STATUS)
        with suppress(UserError):
            parse_json_object(data, self.run_dir / STATUS, kind=UserError)
            with replaced_file(self.run_dir / STATUS) as beside:
                beside.write_bytes(data)

    def take_config(self, line: Connection) -> Steps[bool]:
        """Have the settings as the run has settled them, with the places of here; return whether it has any.

        Raises: Lost, UserError.
        """
        data = yield from self._small(line, CONFIG, MOST_TOML)
        if not data:
            return False
        mine = read_config(self.run_dir)
        beside = self.run_dir / f".{CONFIG}.there{PARTIAL}"
        try:
            with explained(beside):
                beside.write_bytes(data)
            values = from_toml(beside)
        finally:
            beside.unlink(missing_ok=True)
        if values.pop("kind", "finetune") == kind_of(mine):
            theirs = with_values(plain_config(kind_of(mine)), values)
            places = {name: values_of(mine)[name] for name in path_settings(mine)}
            write_text(self.run_dir / CONFIG, document_of(with_values(theirs, places)))
        return True

    def _small(self, line: Connection, name: str, most: int) -> Steps[bytes]:
        found, data = b"", b"?"
        while data and len(found) <= most:
            _, data = yield from self._ask(line, "read", name=name, offset=len(found), most=BLOCK)
            found += data
        return found[:most]

    # --- what is fetched --------------------------------------------------------------------------

    def fetch(self, line: Connection, *, everything: bool = False) -> Steps[None]:
        """Have the weights, and all that a run is looked at by, as they are there; in the place of what was
        here, when all of it has come. Raises: Lost, UserError.
        """
        frame, _ = yield from self._ask(line, "list", everything=everything)
        files = _checked(frame.get("files"))
        beside = self.run_dir / FETCHING
        with explained(beside):
            beside.mkdir(exist_ok=True)
            free = shutil.disk_usage(beside).free - SPARE
        total = sum(size for _, size in files)
        if total > free:
            raise UserError(
                marked(
                    "engine",
                    "The disk has too little room: {needed} MB are downloaded to {path}, {free} are free.",
                ),
                needed=total // 10**6,
                free=max(0, free) // 10**6,
                path=self.run_dir,
            )
        for name, size in files:
            yield from self._fetch_file(line, beside / name, name, size)
        self._put_in_place(beside, everything)

    def _fetch_file(self, line: Connection, path: Path, name: str, size: int) -> Steps[None]:
        """Have one file, from where it was broken off. Raises: Lost, UserError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        began, came = time.monotonic(), 0
        for _ in range(3):
            with explained(path), path.open("ab") as file:
                here = file.tell()
                while here < size:
                    _, data = yield from self._ask(line, "read", name=name, offset=here, most=BLOCK)
                    if not data:
                        break
                    data = data[: size - here]
                    file.write(data)
                    here, came = here + len(data), came + len(data)
                    speed = came / max(1e-3, time.monotonic() - began)
                    yield Fetched(file=name, done=here, total=size, fetched=came, speed=speed)
            frame, _ = yield from self._ask(line, "digest", name=name, length=size)
            with path.open("rb") as file:
                if path.stat().st_size == size and frame.get("sha256") == _digest(file, size):
                    return
            path.unlink()  # it has changed there meanwhile, or was broken off in another one
        raise UserError(
            marked("engine", "{name} changes on {host} while it is downloaded."),
            name=name,
            host=self.remote.host,
        )

    def _put_in_place(self, beside: Path, everything: bool) -> None:
        for name in [*FETCHED, *(KEPT if everything else ())]:
            made = beside / name
            if made.is_dir():
                take_place(made, self.run_dir / name)
            elif made.is_file():
                sync(made)
                os.replace(made, self.run_dir / name)
        shutil.rmtree(beside, ignore_errors=True)

    def _ask(self, line: Connection, do: str, **more: Any) -> Steps[tuple[dict[str, Any], bytes]]:
        return (yield from line.ask(do, key=self.remote.key, **more))


def _checked(files: Any) -> list[tuple[str, int]]:
    """Return names and sizes of files that a host offers: those that a run can have. Raises: UserError."""
    found: dict[str, int] = {}
    for one in files if isinstance(files, list) else []:
        name, size = (one[0], one[1]) if isinstance(one, list) and len(one) >= 2 else ("", 0)
        if isinstance(name, str) and is_fetched(name) and type(size) is int and 0 <= size <= MOST_BYTES:
            found[name] = size
    lower = {name.lower() for name in found}  # two names that are one on some disks
    if len(found) > MOST_FILES or len(lower) < len(found) or sum(found.values()) > MOST_BYTES:
        raise UserError(
            marked("engine", "The files that are offered cannot be those of a run, so none is downloaded.")
        )
    return sorted(found.items())


def _line_begin(file: Any, length: int) -> int:
    """Return where the last line of a file's first bytes begins."""
    begin = max(0, length - MOST_LINE)
    file.seek(begin)
    return begin + int(file.read(length - begin).rfind(b"\n")) + 1


def _digest(file: Any, length: int) -> str:
    """Return the sha256 of a file's first bytes."""
    file.seek(0)
    whole, left = hashlib.sha256(), length
    while left and (data := file.read(min(left, BLOCK))):
        whole.update(data)
        left -= len(data)
    return whole.hexdigest()
