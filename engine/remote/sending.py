"""What a run's settings name is sent to where it trains: each content once, only what is missing there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import UserError, marked
from engine.events import Beat, Progress, Steps
from engine.files import open_regular
from engine.remote.connection import Connection
from engine.remote.frames import BLOCK
from engine.remote.store import MOST_FILES
from engine.settings.config import values_of, with_values
from engine.settings.setting import settings_of
from engine.train.run.kept import is_kept
from engine.train.run.runs import MODEL, AnyConfig

CHECKING, SENDING = marked("engine", "Checking {name}"), marked("engine", "Sending {name}")
AT_ONCE = 500  # hashes that are asked for
_BESIDE = (
    ".h5",
    ".msgpack",
    ".onnx",
    ".ot",
    ".tflite",
    ".gguf",
)  # a model in formats that nothing here reads
_PICKLES, _WEIGHTS = (".bin", ".pt", ".pth"), ".safetensors"


@dataclass(frozen=True, slots=True)
class Content:
    """A file. inner: its name within what a setting names; "" for that itself."""

    path: Path
    inner: str
    sha256: str
    size: int


def path_settings(config: AnyConfig) -> dict[str, str]:
    """Return the settings that name files or folders, those that are set; several are lines."""
    groups = [settings_of(group) for group in vars(config).values()]
    names = {
        name for group in groups for name, about in group.items() if about.kind == "path" or name == "recipe"
    }
    values = {name: str(value) for name, value in values_of(config).items() if name in names and value}
    return {name: value for name, value in values.items() if not value.startswith("new:")}


def sent(connection: Connection, config: AnyConfig) -> Steps[AnyConfig]:
    """Send what settings name; return the settings with the places that it has there.

    Raises: UserError: it cannot be read here, or has no room there; Lost.
    """
    there: dict[str, Any] = {}
    for name, value in path_settings(config).items():
        places = []
        for line in filter(None, map(str.strip, value.split("\n"))):
            places.append((yield from _sent_place(connection, Path(line))))
        there[name] = "\n".join(places)
    return with_values(config, there)


def _sent_place(connection: Connection, place: Path) -> Steps[str]:
    contents = yield from _contents(place)
    sizes = {one.sha256: one.size for one in contents}
    here: dict[str, Any] = {}
    for begin in range(0, len(sizes), AT_ONCE):
        part = dict(list(sizes.items())[begin : begin + AT_ONCE])
        frame, _ = yield from connection.ask("have", sizes=part)
        here |= frame["have"] if isinstance(frame.get("have"), dict) else {}
    for one in contents:
        if here.get(one.sha256) != one.size:
            yield from _sent_content(connection, one, here.get(one.sha256, 0))
            here[one.sha256] = one.size
    files = [[one.inner, one.sha256] for one in contents]
    frame, _ = yield from connection.ask("place", name=_tail(place), files=files)
    return str(frame.get("path", ""))


def _sent_content(connection: Connection, one: Content, here: Any) -> Steps[None]:
    """Send a file from where it ends there; once more from its beginning where what was there was wrong."""
    offset = here if type(here) is int and 0 <= here < one.size else 0
    for _ in range(3):
        with open_regular(one.path) as file:
            file.seek(offset)
            about = {"sha256": one.sha256, "size": one.size, "offset": offset}
            sending = connection.send(file, one.size - offset, **about)
            while True:
                try:
                    event = next(sending)
                except StopIteration as end:
                    frame = end.value
                    break
                if isinstance(event, int):
                    yield Progress(stage=SENDING, name=one.path.name, done=offset + event, total=one.size)
                else:
                    yield event
        if frame.get("here") == one.size:
            return
        offset = frame.get("here", 0) if type(frame.get("here")) is int else 0
    raise UserError(
        marked("engine", "{path} has changed while it was sent. Try again when it is left alone."),
        path=one.path,
    )


def _contents(place: Path) -> Steps[list[Content]]:
    """Return the files of a place, hashed. Raises: UserError."""
    paths = sorted(_files(place)) if place.is_dir() else [place]
    if len(paths) > MOST_FILES:
        raise UserError(
            marked("engine", "{path} holds more than {most} files, too many to be sent."),
            path=place,
            most=MOST_FILES,
        )
    found = []
    for path in paths:
        inner = path.relative_to(place).as_posix() if place.is_dir() else ""
        with open_regular(path) as file:
            size, whole = os.fstat(file.fileno()).st_size, hashlib.sha256()
            done = 0
            while data := file.read(BLOCK):
                whole.update(data)
                done += len(data)
                yield Progress(stage=CHECKING, name=path.name, done=done, total=size)
        found.append(Content(path, inner, whole.hexdigest(), done))
        yield Beat()
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that are of use: nothing hidden, no model twice in other formats."""
    is_model = (folder / "config.json").is_file()
    found = [path for path in folder.rglob("*") if path.is_file() and not _is_hidden(path, folder)]
    has_weights = any(path.suffix == _WEIGHTS for path in found)
    for path in found:
        is_twice = path.suffix in _BESIDE or (has_weights and path.suffix in _PICKLES)
        if not (is_model and is_twice):
            yield path


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _tail(place: Path) -> str:
    """Return the end of a path by which a model or a file is called; see engine/train/run/kept.py."""
    place = place.absolute()
    count = 3 if is_kept(place) else 2 if place.name == MODEL else 1
    return "/".join(place.parts[1:][-count:])
