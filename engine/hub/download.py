"""A published model becomes a folder on this computer: whole, checked and opened once, or not at all.

What has come so far lies beside it in `.<name>.download`, where the same call goes on. The commit it is at is
recorded in its cloze.json.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.child import Silent
from engine.durable import check_place, explained, take_place
from engine.errors import ModelError, Sentence, UserError, marked, renamed
from engine.events import Event, Fetched, Finished, Noted, Steps
from engine.hub.asked import HubSettings
from engine.hub.files import FETCHED, START
from engine.hub.kept import HUB, INFO, LOCK, hub_record, is_here, part_of, unfinished
from engine.hub.look import PublishedModel, looking, published
from engine.hub.process import asking
from engine.model.folder import write_json
from engine.model.inventory import take_stock
from engine.model.weights import load_encoder
from engine.text.read_tokenizer import read_tokenizer
from engine.train.run.lock import locked

_RECORDED = ("name", "revision", "commit", "licence", "host")
SPEED_S = 3.0  # over which the speed is measured
XET_SILENT_S = 30.0  # after which Xet is taken to hang
_SPARE = 50 * 2**20  # bytes of disk that are left free


def downloading(
    name: str,
    out: Path,
    *,
    revision: str = "",
    settings: HubSettings | None = None,
    look: PublishedModel | None = None,
) -> Iterator[Event]:
    """Fetch a published model into a new folder; closing it keeps what has come.

    Args:   look: what was found before, at whose commit it is fetched.
    Raises: UserError: why it cannot be had; `out` is then as it was.
    """
    began, settings = time.monotonic(), settings or HubSettings()
    out = Path(os.path.realpath(out))
    _check_place(out)
    if look is None:
        look = yield from looking(name, revision, settings, out)
    if look.problem is not None:
        raise look.problem
    if is_here(out, look.name, look.commit, look.sizes):
        yield Noted(
            sentence=Sentence(marked("engine", "{path} already holds it."), {"path": out}), level="fine"
        )
        yield Finished(path=out, seconds=time.monotonic() - began)
        return
    _check_empty(out, look)
    part = part_of(out)
    _check_room(out, look)
    with explained(part):
        part.mkdir(parents=True, exist_ok=True)
    with locked(part / LOCK):
        _write_starts(look, part)
        files = yield from _fetching(look, part, settings)
        notes = _open_once(part, look)
        record: dict[str, Any] = {key: getattr(look, key) for key in _RECORDED}
        record["files"] = {one: {"bytes": size, "digest": digest} for one, (size, digest) in files.items()}
        with explained(part):
            write_json(part / INFO, {HUB: record})
            (part / FETCHED).unlink(missing_ok=True)
    with explained(out):
        (part / LOCK).unlink(missing_ok=True)
        take_place(part, out)
    for note in notes:
        yield Noted(sentence=note)
    yield Finished(path=out, seconds=time.monotonic() - began)


def _write_starts(look: PublishedModel, part: Path) -> None:
    """Put the beginnings that a look has read where the transfer goes on with them."""
    for name, data in look.starts.items():
        start = part / f"{name}{START}"
        with explained(start):
            start.parent.mkdir(parents=True, exist_ok=True)
            start.write_bytes(data)


def _fetching(look: PublishedModel, part: Path, settings: HubSettings) -> Steps[dict[str, Any]]:
    """Fetch all files; where Xet hangs, go on by plain HTTP. Return their sizes and digests."""
    question = {
        "what": "fetch",
        "name": look.name,
        "revision": look.revision,
        "commit": look.commit,
        "files": {name: [size, list(digests)] for name, (size, digests) in look.files.items()},
        "cache": look.cache,
        "folder": str(part),
    }
    silent = XET_SILENT_S if settings.transport == "xet" else 0.0
    steps, clock = asking(settings, question, most_silent_s=silent), _Clock(look.num_bytes)
    while True:
        try:
            said = next(steps)
        except StopIteration as end:
            files: dict[str, Any] = end.value
            return files
        except Silent:
            template = marked("engine", "Xet sends nothing more. Plain HTTP to {host} is used instead.")
            yield Noted(sentence=Sentence(template, {"host": look.host}))
            settings = replace(settings, transport="http")
            steps = asking(settings, question)
            continue
        try:
            yield clock.event(*said["moved"]) if isinstance(said, dict) else clock.later() or said
        except GeneratorExit:
            steps.close()
            raise


class _Clock:
    """Measures the speed of a transfer over its last seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._last: tuple[str, int, int] | None = None
        self._told: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])

    def event(self, file: str, done: int, fetched: int) -> Fetched:
        """Return what to tell of so many bytes."""
        now = time.monotonic()
        self._last = (file, done, fetched)
        self._told.append((now, fetched))
        while len(self._told) > 2 and now - self._told[1][0] > SPEED_S:
            self._told.popleft()
        then, before = self._told[0]
        speed = (fetched - before) / (now - then) if now > then else 0.0
        return Fetched(file=file, done=done, total=max(done, self._total), fetched=fetched, speed=speed)

    def later(self) -> Fetched | None:
        """Return what to tell where nothing has come for a second: the speed falls."""
        is_silent = time.monotonic() - self._told[-1][0] > 1.0
        return self.event(*self._last) if is_silent and self._last is not None else None


def _open_once(part: Path, look: PublishedModel) -> list[Sentence]:
    """Open what was fetched, which refuses what is no model; return what is to be told of it."""
    try:
        inventory = take_stock(part, thorough=False)
        vocabulary = read_tokenizer(part)
        load_encoder(part)  # values that are no numbers are found by reading alone
    except UserError as error:
        shutil.rmtree(part, ignore_errors=True)  # it is what its hub has: another try would bring the same
        raise renamed(error, part, partial(published, look.name)) from error
    left = [str(one.what) for one in inventory.leftovers]
    template = marked("engine", "Ignored when opened, because BERT has no use for them here: {names}.")
    return [*([Sentence(template, {"names": left})] if left else []), *vocabulary.notes]


def _check_place(out: Path) -> None:
    check_place(out.parent)
    if out.exists() and not out.is_dir():
        raise ModelError(marked("engine", "{path} is a file; a model is saved as a folder."), path=out)


def _check_empty(out: Path, look: PublishedModel) -> None:
    """Refuse a folder that holds anything but an earlier version of the model. Raises: ModelError."""
    if not out.is_dir() or hub_record(out).get("name") == look.name:
        return
    other = next(out.iterdir(), None)
    if other is not None:
        template = marked(
            "engine", "{folder} already holds {name}. Choose a new folder, or move what is there."
        )
        raise ModelError(template, folder=out, name=other.name)


def _check_room(out: Path, look: PublishedModel) -> None:
    """Refuse what does not fit on the disk, before any of it is fetched. Raises: UserError."""
    with explained(out):
        there = next(place for place in out.parents if place.exists())
        free = shutil.disk_usage(there).free
    wanted = max(0, look.num_bytes - unfinished(out))
    if wanted + _SPARE > free:
        raise UserError(
            marked(
                "engine", "{name} takes {wanted} MB, and {path} has {free} MB left. Free some space first."
            ),
            name=look.name,
            wanted=f"{wanted / 2**20:.0f}",
            path=there,
            free=f"{free / 2**20:.0f}",
        )
