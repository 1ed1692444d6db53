"""Opening files that others wrote: an ordinary file, of a size that it may have, without waiting for anybody.

A pipe, a device or a file without end in the place of an ordinary one is refused in a sentence, at once.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import UserError, marked

MOST_JSON = 10 * 2**20  # of a document that people and programs exchange; real ones stay under 1 MB
_OPENING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # no pipe makes it wait


def open_regular(path: Path, *, most: int | None = None, kind: type[UserError] = UserError) -> BinaryIO:
    """Open an ordinary file for reading. Args: most: bytes it may have; None: any number.

    Raises: `kind`: it is not there, cannot be read, is a folder, pipe or device, or larger than `most`.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened, for opening a device may do things
            raise _not_ordinary(path, kind)
        handle = os.open(path, _OPENING)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise kind(
            marked("engine", "{path} could not be read: {reason}."),
            path=path,
            reason=getattr(error, "strerror", None) or str(error),
        ) from error
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise _not_ordinary(path, kind)
    if most is not None and about.st_size > most:
        os.close(handle)
        raise _too_large(path, most, kind)
    return os.fdopen(handle, "rb")


def read_regular(path: Path, *, most: int, kind: type[UserError] = UserError) -> bytes:
    """Return all bytes of an ordinary file of at most `most` bytes. Raises: `kind`, as `open_regular`."""
    with open_regular(path, most=most, kind=kind) as file:
        try:
            data = file.read(most + 1)
        except OSError as error:
            raise kind(
                marked("engine", "{path} could not be read: {reason}."),
                path=path,
                reason=error.strerror or str(error),
            ) from error
    if len(data) > most:  # it grows as it is read
        raise _too_large(path, most, kind)
    return data


def read_json_object(
    path: Path, *, most: int = MOST_JSON, kind: type[UserError] = UserError
) -> dict[str, Any]:
    """Return the object that a JSON file holds. Raises: `kind`: as `open_regular`, or it holds no object."""
    data = read_regular(path, most=most, kind=kind)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise kind(marked("engine", "{path} is damaged: its JSON cannot be read."), path=path) from error
    if not isinstance(document, dict):
        raise kind(marked("engine", "{path} is damaged: its JSON is not an object."), path=path)
    return document


def _not_ordinary(path: Path, kind: type[UserError]) -> UserError:
    template = marked("engine", "{path} is a folder, a pipe or a device, not an ordinary file.")
    return kind(template, path=path)


def _too_large(path: Path, most: int, kind: type[UserError]) -> UserError:
    return kind(
        marked("engine", "{path} is larger than {most} MB, too large for what it should hold."),
        path=path,
        most=max(1, most // 2**20),
    )
