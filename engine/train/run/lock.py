"""A lock that tells a crashed run from a running one: it dies with its process, also on kill -9."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.durable import explained
from engine.errors import RunError, UserError, marked
from engine.files import open_regular, read_regular

MOST_LOCK = 64  # bytes: a process's id

if os.name == "nt":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]

else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`, with this process's id in it. Raises: RunError if somebody else holds it."""
    if os.path.lexists(path):
        open_regular(path, most=MOST_LOCK, kind=RunError).close()  # a pipe or a device is no lock
    with explained(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            _take(handle)
        except OSError as error:
            raise RunError(
                marked("engine", "Another process (id {pid}) is working in {path}. Wait until it ends."),
                path=path.parent,
                pid=_owner(path),
            ) from error
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        os.close(handle)


def is_locked(path: Path) -> bool:
    """Whether a living process holds the lock file."""
    try:
        open_regular(path, most=MOST_LOCK).close()
        handle = os.open(path, os.O_RDWR)
    except (OSError, UserError):
        return False  # no lock file, or not ours to ask
    try:
        _take(handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def holder(path: Path) -> str:
    """Return the id of the process that holds the lock file; "" where nobody does."""
    return _owner(path) if is_locked(path) else ""


def _owner(path: Path) -> str:
    try:
        owner = read_regular(path, most=MOST_LOCK).decode().strip()
    except (UserError, UnicodeDecodeError):
        return "unknown"
    return owner if owner.isdecimal() else "unknown"
