"""What this computer holds of published models: where a folder is from, and what has come of one so far.

Light: a window asks it before torch is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.durable import explained
from engine.errors import UserError, marked
from engine.files import read_json_object
from engine.hub.files import FETCHED
from engine.train.run.lock import is_locked

INFO, HUB, LOCK = "cloze.json", "hub", "lock"
_PART = ".download"


def part_of(out: Path) -> Path:
    """Return the folder that holds what has come so far of the model that is to become `out`."""
    return out.with_name(f".{out.name}{_PART}")


def hub_record(folder: Path) -> dict[str, Any]:
    """Return where a model folder is from: name, revision, commit, licence, host; {} if from no hub."""
    try:
        found = read_json_object(folder / INFO).get(HUB)
    except UserError:
        return {}
    return found if isinstance(found, dict) else {}


def is_here(out: Path, name: str, commit: str, sizes: Mapping[str, int | None]) -> bool:
    """Return whether a folder holds a model at this very commit, whole. Args: sizes: of its files."""
    record = hub_record(out)
    if (record.get("name"), record.get("commit")) != (name, commit):
        return False
    for file, size in sizes.items():
        if not (out / file).is_file() or size not in (None, (out / file).stat().st_size):
            return False
    return True


def unfinished(out: Path) -> int:
    """Return how many bytes have come of a model that is not here yet."""
    part = part_of(out)
    try:
        return sum(one.stat().st_size for one in part.rglob("*") if one.is_file() and one.name != LOCK)
    except OSError:
        return 0


def discard(out: Path) -> None:
    """Throw away what has come of a model so far. Raises: UserError: somebody fetches it now."""
    part = part_of(out)
    if is_locked(part / LOCK):
        raise UserError(marked("engine", "{path} is being downloaded now. Cancel that first."), path=out)
    with explained(part):
        shutil.rmtree(part, ignore_errors=True)


def place_of(root: Path, name: str) -> Path:
    """Return where a published model lies below a folder of such models."""
    return root.joinpath(*name.split("/"))


def models_in(root: Path) -> Iterator[Path]:
    """Give the model folders below a folder of published models, by name."""
    for folder in _folders(root):
        if (folder / "config.json").is_file():
            yield folder


def begun_in(root: Path) -> Iterator[tuple[str, Path]]:
    """Give name and folder-to-be of the models that have been begun, and nobody fetches now."""
    for part in _folders(root, hidden=True):
        try:
            name = read_json_object(part / FETCHED).get("name")
        except UserError:
            continue
        out = part.with_name(part.name[1 : -len(_PART)])
        if isinstance(name, str) and place_of(root, name) == out:
            yield name, out


def _folders(root: Path, *, hidden: bool = False) -> list[Path]:
    """Return the folders one and two steps below another: of models, or of what has come of them."""
    found = []
    for pattern in ("*", "*/*"):
        for path in sorted(root.glob(pattern)):
            is_part = path.name.startswith(".") and path.name.endswith(_PART)
            if path.is_dir() and (is_part if hidden else not path.name.startswith(".")):
                found.append(path)
    return found
