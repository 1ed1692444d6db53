"""Where an export goes: a new place, or one that holds nothing but an earlier export."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from engine.durable import explained
from engine.errors import Sentence, UserError, marked


@dataclass(frozen=True, slots=True)
class Written:
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
        raise UserError(marked("engine", "{path} is there already. Choose a new folder."), path=out)


def folder_bytes(folder: Path) -> int:
    """Return what the files of a folder take."""
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
