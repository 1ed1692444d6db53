"""Where an export goes: a new place, or one that holds nothing but an earlier export."""

from __future__ import annotations

import glob
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.durable import PARTIAL, explained, take_place
from engine.errors import Sentence, UserError, marked
from engine.train.run.lock import is_locked, locked

_LOCK, _ALL = "lock", "all"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What an export came to.

    path: the folder or file. said: what it is and what was checked, for a person.
    """

    path: Path
    num_bytes: int
    said: tuple[Sentence, ...]


def check_new(out: Path, known: Collection[str] = ()) -> None:
    """Refuse to write a folder over anything. Args: known: files that may be there. Raises: UserError."""
    with explained(out):
        is_free = not out.exists() or (out.is_dir() and {one.name for one in out.iterdir()} <= set(known))
    if not is_free:
        raise UserError(marked("engine", "{path} already exists. Choose a new folder."), path=out)


@contextmanager
def workshop(out: Path) -> Iterator[Path]:
    """Give an empty folder beside `out` to work in, which is gone at the end. Raises: UserError.

    It is locked as long as somebody works there, so those that killed exports have left are told from others'
    and removed.
    """
    with explained(out):
        for left in out.parent.glob(f".{glob.escape(out.name)}.*{PARTIAL}"):
            if (left / _LOCK).is_file() and not is_locked(left / _LOCK):
                shutil.rmtree(left, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=PARTIAL, dir=out.parent))
    try:
        with locked(place / _LOCK), explained(out):
            (place / _ALL).mkdir()
            yield place / _ALL
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def exported_folder(out: Path) -> Iterator[Path]:
    """Give an empty folder to fill; on leaving, it takes the place of `out`. Raises: UserError."""
    with workshop(out) as place:
        yield place
        take_place(place, out)


def folder_bytes(folder: Path) -> int:
    """Return what the files of a folder take."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
