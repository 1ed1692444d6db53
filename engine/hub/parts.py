"""What lies in a folder of a model that is on its way, and the beginnings of files that a look has read.

What a folder holds of an earlier try is known by FETCHED, which says of which file it is; what it does not
say is not believed. Imported by the child process alone.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from engine.durable import explained, write_text
from engine.errors import UserError
from engine.files import read_json_object
from engine.hub.client import Client, HubFile, HubModel
from engine.hub.files import FETCHED, START
from engine.hub.transfer import PART, XET


class Record:
    """Which file of which model the parts in a folder are: its etag, by name."""

    def __init__(self, folder: Path, about: HubModel) -> None:
        self._folder, self._path = folder, folder / FETCHED
        self._about = about
        self._etags: dict[str, str] = {}
        with suppress(UserError):
            document = read_json_object(self._path)
            if document.get("name") == about.name and isinstance(document.get("etags"), dict):
                self._etags = {k: v for k, v in document["etags"].items() if isinstance(v, str)}

    def take(self, file: HubFile) -> bool:
        """Drop what is there of another version of a file, and take the beginning that was looked at.

        Returns: whether the file is there, whole.
        """
        target = self._folder / file.name
        part, start = (target.with_name(target.name + end) for end in (PART, START))
        if not file.known_by or self._etags.get(file.name) != file.known_by:
            for old in (part, target, target.with_name(target.name + XET)):
                old.unlink(missing_ok=True)
            self._etags[file.name] = file.known_by
            document = {"name": self._about.name, "commit": self._about.commit, "etags": self._etags}
            write_text(self._path, json.dumps(document))
        if start.is_file() and not target.exists() and start.stat().st_size > _size(part):
            os.replace(start, part)
        start.unlink(missing_ok=True)
        return target.is_file() and (file.size is None or target.stat().st_size == file.size)

    def there(self, client: Client, file: str) -> Path | None:
        """Return where bytes of a file lie, if they are of the version that is published."""
        target = self._folder / file
        part = target.with_name(target.name + PART)
        path = next((one for one in (target, part) if one.is_file()), None)
        if path is None or file not in self._etags:
            return None
        return path if client.headed(self._about, file)[0].known_by == self._etags[file] else None


class Beginnings:
    """Reads beginnings of files wherever they lie nearest; what came over the line is kept in `folder`."""

    def __init__(self, client: Client, about: HubModel, folder: Path, parts: Path | None) -> None:
        self._client, self._about, self._folder = client, about, folder
        self._record = Record(parts, about) if parts is not None else None

    def read(self, file: str, most: int, *, tries: int = 0) -> bytes:
        """Return at most so many bytes from the beginning of a file. Args: tries: 0: as many as usual."""
        kept = self._folder / file
        begin = kept.read_bytes() if kept.is_file() else b""
        path = Path(self._about.cache) / file if self._about.cache else None
        path = path or self._client.cached_file(self._about, file)
        if path is None and self._record is not None:
            path = self._record.there(self._client, file)
        known = self._about.files.get(file)
        most = most if known is None or known.size is None else min(most, known.size)
        if path is not None:
            with path.open("rb") as stored:
                data = stored.read(most)
            begin = max(begin, data, key=len)
        if len(begin) < most and not self._about.cache:
            begin += self._client.read(self._about, file, most - len(begin), len(begin), tries=tries)
            with explained(kept):
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_bytes(begin)
        return begin[:most]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
