"""Writing files so that a crash, a full disk or a power cut leaves either the old or the new, whole.

Written beside, synced, renamed, folder synced: every file of ours that matters goes through here.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import DataError, UserError, marked

PARTIAL = ".partial"  # the ending of what is still being written; see sweep_partials
_SET_ASIDE = re.compile(r"\.(.+)\.\d+\.old\.partial")  # a whole folder, while its successor takes its name


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; on leaving, it is synced and takes the place of `path`.

    Raises: UserError in one sentence if the disk is full or the folder cannot be written; `path` is then as
    it was.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    try:
        with explained(path):
            yield beside
            sync(beside)
            os.replace(beside, path)
            sync(path.parent)
    finally:
        with suppress(OSError):
            beside.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a file of UTF-8, its line ends as they stand, whole or not at all. Raises: UserError."""
    with replaced_file(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder to fill; on leaving, its files are synced and it takes the place of `path`."""
    beside = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    try:
        with explained(path):
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir(parents=True)
            yield beside
            take_place(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def take_place(folder: Path, path: Path) -> None:
    """Sync a whole folder that lies beside `path`, and put it in the place of what is there. Raises: OSError,
    with both where they were.
    """
    old = path.with_name(f".{path.name}.{os.getpid()}.old{PARTIAL}")
    for file in sorted(folder.rglob("*")):
        sync(file)
    sync(folder)
    try:
        if path.exists():
            os.replace(path, old)
        os.replace(folder, path)
        sync(path.parent)
    finally:
        if old.exists() and not path.exists():
            os.replace(old, path)  # the new one could not take its place
        shutil.rmtree(old, ignore_errors=True)


def check_place(path: Path) -> None:
    """Refuse a path below which nothing can be written, by trying. Raises: UserError."""
    with explained(path):
        there = next(place for place in (path, *path.absolute().parents) if place.exists())
        with explained(there), tempfile.TemporaryFile(dir=there):
            pass


def check_writable(path: Path, data: Path | None = None) -> None:
    """Refuse a file that cannot be written, before time is spent. Raises: DataError; UserError: read-only.

    Args: data: what it is made from, which it may not be.
    """
    folder = path.parent
    with explained(path):
        if data is not None and path.exists() and data.exists() and path.samefile(data):
            raise DataError(marked("engine", "{path} is the data itself. Name another file."), path=path)
        if path.is_dir():
            raise DataError(marked("engine", "{path} is a folder. Name a file."), path=path)
        if not folder.is_dir():
            raise DataError(marked("engine", "There is no folder {folder} to write to."), folder=folder)
    check_place(folder)


def sync(path: Path) -> None:
    """Force a file, or a folder's list of names, onto the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot sync a folder, and does not need to
    handle = os.open(path, os.O_RDONLY if path.is_dir() or os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep_partials(folder: Path) -> None:
    """Remove what a killed process left half written in `folder`, and put back a folder it had set aside.

    Only call where nobody else writes.
    """
    for leftover in sorted(folder.glob(f".*{PARTIAL}")):
        aside = _SET_ASIDE.fullmatch(leftover.name)
        if aside and not (folder / aside[1]).exists():
            os.replace(leftover, folder / aside[1])
        elif leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals into a sentence that names the place. Raises: UserError."""
    try:
        yield
    except OSError as error:
        folder = path if path.is_dir() else path.parent
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise UserError(
                marked(
                    "engine", "The disk is full: {path} could not be written. Free some space and try again."
                ),
                path=path,
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise UserError(
                marked("engine", "{folder} cannot be written to: it is read-only. Choose another folder."),
                folder=folder,
            ) from error
        raise UserError(
            marked("engine", "{path} could not be written: {reason}."),
            path=path,
            reason=error.strerror or str(error),
        ) from error
    except Exception as error:
        # safetensors reports a full disk as its own kind of error
        if "No space left" in str(error) or "File too large" in str(error):
            raise UserError(
                marked(
                    "engine", "The disk is full: {path} could not be written. Free some space and try again."
                ),
                path=path,
            ) from error
        raise
