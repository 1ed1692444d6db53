"""Opening files that others wrote: an ordinary file, of a size that it may have, without waiting for anybody.

A pipe, a device or a file without end in the place of an ordinary one is refused in a sentence, at once, and
so is JSON that would take much memory, or that could not be written again.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

from engine.errors import ModelError, Sentence, UserError, marked

MOST_JSON = 10 * 2**20  # of a document that people and programs exchange; real ones stay under 1 MB
MOST_VALUES = 300_000  # in such a document; each takes up to 200 bytes of memory
_MOST_DEPTH = 100  # of lists in lists; json.dumps gives up at some 300
_HALF = re.compile("[\ud800-\udfff]")  # lone surrogates: half a character, which no file can hold as text
LONGEST_NAME = 255  # bytes of a name in a folder, on all systems
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')  # on one system or another
_DEVICES = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3]) *(\..*)?", re.IGNORECASE | re.DOTALL
)
_POINTER = b"version https://git-lfs"  # what a clone without Git LFS leaves in the place of a large file
_OPENING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # no pipe makes it wait


def is_bare_name(text: str) -> bool:
    """Whether a text names something in a folder, and nothing elsewhere, on every system: no path, no device,
    nothing hidden.
    """
    try:
        fits = 0 < len(text.encode()) <= LONGEST_NAME
    except UnicodeEncodeError:  # half a character
        return False
    is_plain = not _NOT_IN_NAMES.search(text) and text == text.strip(" .")
    return fits and is_plain and not _DEVICES.fullmatch(text)


def open_regular(path: Path, *, most: int | None = None, kind: type[UserError] = UserError) -> BufferedReader:
    """Open an ordinary file for reading. Args: most: bytes it may have; None: any number.

    Raises: `kind`: it is not there, cannot be read, is a folder, pipe or device, larger than `most`, or only
    stands for a file that was not fetched.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened, for opening a device may do things
            raise _not_ordinary(path, kind)
        handle = os.open(path, _OPENING)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise _unreadable(path, error, kind) from error
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise _not_ordinary(path, kind)
    if most is not None and about.st_size > most:
        os.close(handle)
        raise _too_large(path, most, kind)
    file = os.fdopen(handle, "rb")
    try:
        is_pointer = file.peek(len(_POINTER)).startswith(_POINTER)
    except OSError as error:
        file.close()
        raise _unreadable(path, error, kind) from error
    if is_pointer:
        file.close()
        raise kind(
            marked("engine", "{path} is only a Git LFS pointer. Get the file itself, by git lfs pull."),
            path=path,
        )
    return file


def read_regular(path: Path, *, most: int, kind: type[UserError] = UserError) -> bytes:
    """Return all bytes of an ordinary file of at most `most` bytes. Raises: `kind`, as `open_regular`."""
    with open_regular(path, most=most, kind=kind) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise _unreadable(path, error, kind) from error
    if len(data) > most:  # it grows as it is read
        raise _too_large(path, most, kind)
    return data


def read_json_object(
    path: Path,
    *,
    most: int = MOST_JSON,
    most_values: int = MOST_VALUES,
    writable: bool = False,
    most_number: int | None = None,
    kind: type[UserError] = UserError,
) -> dict[str, Any]:
    """Return the object that a JSON file holds. Args, Raises: as `open_regular` and `parse_json_object`."""
    data = read_regular(path, most=most, kind=kind)
    return parse_json_object(
        data, path, most_values=most_values, writable=writable, most_number=most_number, kind=kind
    )


def parse_json_object(
    data: bytes,
    path: Path,
    *,
    most_values: int = MOST_VALUES,
    writable: bool = False,
    most_number: int | None = None,
    kind: type[UserError] = UserError,
) -> dict[str, Any]:
    """Return the object in JSON that was read from `path`.

    Args:   writable: refuse, too, what could not be written again: NaN, infinities and half characters.
            most_number: how large a whole number may be; None: any.
    Raises: `kind`: it is no object, is nested too deeply or has too many values.
    """
    if sum(map(data.count, (b",", b"[", b"{"))) > most_values:  # one of them stands before every value
        template = marked(
            "engine", "{path} holds more than {most} values, which is too many for such a file."
        )
        raise kind(template, path=path, most=most_values)
    try:
        document = json.loads(data.decode(json.detect_encoding(data)))
    except (ValueError, RecursionError) as error:
        raise kind(marked("engine", "{path} is damaged: its JSON cannot be read."), path=path) from error
    if not isinstance(document, dict):
        raise kind(marked("engine", "{path} is damaged: its JSON is not an object."), path=path)
    depth, odd = _look_over(document, most_number)
    if depth > _MOST_DEPTH:
        raise kind(marked("engine", "{path} is damaged: its JSON cannot be read."), path=path)
    if odd and writable:
        template = marked(
            "engine", "{path} holds {value} at {place}, which cannot be saved again. Remove or correct it."
        )
        raise kind(template, path=path, value=odd[1], place=odd[0])
    return document


def _look_over(document: Any, most_number: int | None) -> tuple[int, tuple[str, Sentence] | None]:
    """Return how deep a document is nested, and where a value stands that no file can hold, and which."""
    odd: tuple[str, Sentence] | None = None
    depth, level = 0, [("", document)]
    while level and depth <= _MOST_DEPTH:
        inner: list[tuple[str, Any]] = []
        for place, outer in level:
            named = outer.items() if isinstance(outer, dict) else ((place, one) for one in outer)
            for name, value in named:
                if isinstance(value, dict | list):
                    inner.append((name, value))
                what = _oddity(value, most_number) or _oddity(name, most_number)
                if what is not None:
                    odd = odd or (_HALF.sub("?", name), what)
        depth, level = depth + 1, inner
    return depth, odd


def _oddity(value: Any, most_number: int | None) -> Sentence | None:
    """Return what it is in a value that no file can hold, or None."""
    if most_number is not None and isinstance(value, int) and abs(value) > most_number:
        return Sentence(marked("engine", "a number out of bounds"))
    if isinstance(value, str):
        if value.isascii() or not _HALF.search(value):
            return None
        return Sentence(marked("engine", "half a character (a lone surrogate)"))
    if isinstance(value, float) and not math.isfinite(value):
        return Sentence("{value}", {"value": json.dumps(value)})
    return None


def file_in(folder: Path, name: str) -> Path | None:
    """Return the path of a file in a model folder, or None where there is none.

    Raises: ModelError: `folder` is no folder, or the file is a link out of it (Hugging Face's cache may).
    """
    with reading(folder):
        is_folder, exists = folder.is_dir(), folder.exists()
        home = Path(os.path.realpath(folder))
        path = Path(os.path.realpath(home / name))
        is_there = path.exists()
    if not is_folder:
        file = marked("engine", "{path} is a file. A model is a folder with config.json and weights.")
        nothing = marked("engine", "There is no folder {path}.")
        raise ModelError(file if exists else nothing, path=folder)
    if not any(path.is_relative_to(root) for root in (home, *_cache_blobs(home))):
        raise ModelError(
            marked(
                "engine", "{name} in {folder} is a link to a place outside that folder, and was not opened."
            ),
            name=name,
            folder=folder,
        )
    return folder / name if is_there else None


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into a sentence. Raises: ModelError."""
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error, ModelError) from error


def _cache_blobs(home: Path) -> list[Path]:
    """Where the Hugging Face cache keeps the files that `models--x/snapshots/<commit>/` links to."""
    return [parent.parent / "blobs" for parent in home.parents if parent.name == "snapshots"]


def damaged(path: Path, reason: str, **values: object) -> ModelError:
    """Return the refusal of a model's file that is not what it should be. Args: reason: as marked."""
    template = marked("engine", "{path} is damaged or is not what its name says: {reason}.")
    return ModelError(template, path=path, reason=Sentence(reason, values))


def _unreadable(path: Path, error: OSError | ValueError, kind: type[UserError]) -> UserError:
    template = marked("engine", "{path} could not be read: {reason}.")
    return kind(template, path=path, reason=getattr(error, "strerror", None) or str(error))


def _not_ordinary(path: Path, kind: type[UserError]) -> UserError:
    template = marked("engine", "{path} is a folder, a pipe or a device, not an ordinary file.")
    return kind(template, path=path)


def _too_large(path: Path, most: int, kind: type[UserError]) -> UserError:
    return kind(
        marked("engine", "{path} is larger than {most} MB, which is too large for such a file."),
        path=path,
        most=max(1, most // 2**20),
    )
