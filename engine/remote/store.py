"""What was sent to this computer: each content once, under its hash, and folders that give it names.

<folder>/store/contents/<sha256>         a content, whole; <sha256>.part while it comes
<folder>/store/named/<hash of the list>/ the names that a run's settings say, linked to their contents
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from engine.durable import explained, replaced_folder, sync
from engine.errors import UserError, marked
from engine.files import is_bare_name
from engine.remote.frames import BLOCK

_HASH = re.compile(r"[0-9a-f]{64}")
MOST_FILES = 20_000  # that one setting may name


class Store:
    """The contents below a folder of Cloze's."""

    def __init__(self, folder: Path) -> None:
        self.contents, self.named = folder / "store" / "contents", folder / "store" / "named"

    def have(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Return how many bytes of each content are here."""
        found = {}
        for sha256, size in sizes.items():
            whole = self._path(sha256)
            here = whole if whole.is_file() and whole.stat().st_size == size else self._partial(sha256)
            found[sha256] = here.stat().st_size if here.is_file() else 0
        return found

    def put(self, sha256: str, size: int, offset: int, source: BinaryIO, count: int) -> int:
        """Take bytes of a content from where it ends here; return how many are here then.

        All of `source` that was announced is read. One that is whole, and is not what its hash says, is
        forgotten. Raises: UserError.
        """
        partial = self._partial(sha256)
        with explained(partial):
            partial.parent.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(partial.parent).free
        here = partial.stat().st_size if partial.is_file() else 0
        fits = offset == here and here + count <= size and size - here < free
        with explained(partial), open(partial if fits else os.devnull, "ab") as file:
            for data in _pieces(source, count):
                file.write(data)
        if size - here >= free:
            raise UserError(
                marked(
                    "engine", "The disk there has too little room: {needed} MB are needed, {free} are free."
                ),
                needed=(size - here) // 10**6,
                free=free // 10**6,
            )
        here = partial.stat().st_size
        return self._taken(sha256, size) if here == size else here

    def place(self, name: str, files: Sequence[tuple[str, str]]) -> Path:
        """Return a path that ends in `name` and holds contents under their names. Args: files: name below
        it ("" for a single file) and hash of each. Raises: UserError.
        """
        if len(files) > MOST_FILES:
            raise UserError(marked("engine", "More than {most} files cannot be sent."), most=MOST_FILES)
        key = hashlib.sha256(json.dumps([name, sorted(files)]).encode()).hexdigest()
        home = self.named / key
        if not home.is_dir():
            home.parent.mkdir(parents=True, exist_ok=True)
            with replaced_folder(home) as beside:
                for inner, sha256 in files:
                    target = beside / _inside(name) / _inside(inner)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    _linked(self._path(sha256), target)
                (beside / _inside(name)).mkdir(parents=True, exist_ok=True) if not files else None
        return home / _inside(name)

    def _taken(self, sha256: str, size: int) -> int:
        partial = self._partial(sha256)
        with partial.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha256:
            partial.unlink()
            return 0
        sync(partial)
        os.replace(partial, self._path(sha256))
        return size

    def _path(self, sha256: str) -> Path:
        if not _HASH.fullmatch(sha256):
            raise UserError(marked("engine", "{given!r} is no hash."), given=sha256)
        return self.contents / sha256

    def _partial(self, sha256: str) -> Path:
        return self._path(sha256).with_suffix(".part")


def _pieces(source: BinaryIO, count: int) -> Iterator[bytes]:
    left = count
    while left and (data := source.read(min(left, BLOCK))):
        left -= len(data)
        yield data


def _inside(name: str) -> Path:
    """Return a path that leads nowhere else. Raises: UserError."""
    parts = name.split("/") if name else []
    if not all(map(is_bare_name, parts)):
        raise UserError(marked("engine", "{name!r} is no name that another computer can take."), name=name)
    return Path(*parts)


def _linked(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
