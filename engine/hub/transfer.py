"""One file from a hub into a folder: gone on with where it was cut, kept only if it is what was announced.

`<file>.part` holds what has come; it becomes `<file>` once size and digest are right. Imported by the child
process alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from huggingface_hub.file_download import xet_get
from huggingface_hub.utils import get_session

from engine.durable import explained as written
from engine.durable import sync
from engine.errors import UserError, marked
from engine.hub.client import Client, HubFile
from engine.hub.files import MOST_SMALL
from engine.hub.refusals import TransferCut, answered, host_of, is_passing

PART, XET = ".part", ".xet"  # what has come; what Xet writes, which may have holes
TOLD_S = 0.1  # between two tellings of how far it is
_PIECE = 2**20
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


@dataclass(frozen=True, slots=True)
class FileSource:
    """Where a file comes from. xet: what Xet needs; None where it is not used."""

    file: HubFile
    url: str
    headers: dict[str, str] = field(repr=False)  # a token may be among them
    xet: Any = None
    is_small: bool = False  # it holds no weights

    @property
    def host(self) -> str:
        return host_of(self.url)


class TransferMeter:
    """How many bytes there are of all that is wanted, told every moment. fetched: that came just now.

    Use as a context manager: a thread tells what has changed, so that the last bytes before a line falls
    silent are told as well.
    """

    def __init__(self, tell: Callable[[str, int, int], None]) -> None:
        self._tell = tell
        self._told = ("", 0, 0)
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_telling, daemon=True)
        self.file, self.done, self.fetched = "", 0, 0

    def __enter__(self) -> TransferMeter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        self._thread.join()

    def begin(self, file: str, there: int) -> None:
        """Say that a file is begun, of which so many bytes are there."""
        self.file, self.done = file, self.done + there

    def add(self, count: int) -> None:
        """Say that bytes have come; fewer than none where they have to come again."""
        self.done, self.fetched = self.done + count, self.fetched + max(0, count)

    def _keep_telling(self) -> None:
        has_ended = False
        while not has_ended:
            has_ended = self._has_ended.wait(TOLD_S)
            now = (self.file, self.done, self.fetched)
            if now != self._told:
                self._told = now
                self._tell(*now)


def copy_file(origin: Path, target: Path, file: HubFile, moved: TransferMeter) -> bool:
    """Take a file from the shared cache. Returns: whether it was what it should be."""
    part = _part(target)
    with written(target):
        moved.begin(file.name, 0)
        shutil.copyfile(origin, part)
        size = part.stat().st_size
        if (file.size is not None and size != file.size) or not _agrees(part, file.digests):
            part.unlink()
            return False
        _keep(part, target)
    moved.begin(file.name, size)
    return True


def fetch_file(source: FileSource, target: Path, client: Client, moved: TransferMeter) -> None:
    """Fetch a file; what there is of it is not fetched again.

    Raises: UserError: it is not what was announced; Cut, Answered, httpx2's errors: it did not come.
    """
    part = _part(target)
    with written(part):
        there = part.stat().st_size if part.is_file() else 0
        if source.file.size is not None and there > source.file.size:
            part.unlink()
            there = 0
    moved.begin(source.file.name, there)
    if source.xet is not None:
        _fetch_by_xet(source, part, moved)
    else:
        _fetch_by_http(source, part, client, moved)
    with written(part):
        size = part.stat().st_size
        if source.file.size is not None and size != source.file.size:
            _refuse_size(source, part, size)
        if not _agrees(part, source.file.digests):
            part.unlink()
            raise UserError(
                marked(
                    "engine",
                    "{file} from {host} does not match its checksum, and was discarded. Try again, "
                    "or choose another mirror.",
                ),
                host=source.host,
                file=source.file.name,
            )
        _keep(part, target)


def digest(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch_by_http(source: FileSource, part: Path, client: Client, moved: TransferMeter) -> None:
    """Bring a part to its full size, over as many connections as it takes."""
    vain = 0  # tries in a row that brought nothing
    while True:
        with written(part):
            before = part.stat().st_size if part.is_file() else 0
        if source.file.size is not None and before == source.file.size and before:
            return
        try:
            _stream(source, part, before, client, moved)
            return
        except Exception as error:
            if not is_passing(error):
                raise
            now = part.stat().st_size if part.is_file() else 0
            vain = 0 if now > before else vain + 1
            is_away = isinstance(error, httpx2.ConnectError)
            wait = client.settings.wait_s if is_away else client.wait_of(error, max(1, vain))
            if vain >= client.settings.tries or wait is None:
                if isinstance(error, httpx2.TransportError) and now and not is_away:
                    raise TransferCut(
                        _failed_host(error, source), source.file.name, now, source.file.size
                    ) from error
                raise
            time.sleep(wait)


def _stream(source: FileSource, part: Path, there: int, client: Client, moved: TransferMeter) -> None:
    """Add to a part what one connection brings."""
    size = source.file.size
    headers = {**source.headers, "Accept-Encoding": "identity"}
    if there:
        headers["Range"] = f"bytes={there}-"
    with get_session().stream(
        "GET", source.url, headers=headers, timeout=client.timeout, follow_redirects=True
    ) as response:
        host = host_of(response.url)
        if response.status_code == 416 and there:
            with written(part):
                part.unlink()  # what is here is no beginning of it
            moved.add(-there)
        if response.status_code not in (200, 206):
            raise answered(response)
        said = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if response.status_code == 206 and said and size is not None and said[3] not in ("*", str(size)):
            _refuse_size(source, part, int(said[3]), host)
        if there and not _goes_on(response, there):
            moved.add(-there)
            there = 0
        coded = response.headers.get("Content-Encoding", "identity") != "identity"
        length = response.headers.get("Content-Length", "")
        if length.isdecimal() and not coded:
            if size is not None and there + int(length) != size:
                _refuse_size(source, part, there + int(length), host)
            size = there + int(length)
        most = size if size is not None else MOST_SMALL if source.is_small else None
        with written(part), part.open("ab" if there else "wb", buffering=0) as file:
            for chunk in response.iter_bytes():
                there += len(chunk)
                if most is not None and there > most:
                    _refuse_size(source, part, there, host)
                file.write(chunk)
                moved.add(len(chunk))
    if size is not None and there < size:
        raise TransferCut(host, source.file.name, there, size)


def _goes_on(response: httpx2.Response, there: int) -> bool:
    """Whether a host goes on where it was asked to; it may begin again instead."""
    said = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if response.status_code != 206 or said is None:
        return False
    return int(said[1]) == there


def _fetch_by_xet(source: FileSource, part: Path, moved: TransferMeter) -> None:
    """Fetch a whole file by Xet, which does not go on with a part."""

    class Ticks:
        """What xet_get takes for a bar."""

        def __init__(self, *_args: Any, **_values: Any) -> None:
            self.n = self.total = 0

        def update(self, count: float | None = 1) -> None:
            """Bytes on the disk, which come late: those from the line are told below."""

        def update_transfer(self, count: float) -> None:
            moved.add(int(count))

        def __enter__(self) -> Ticks:
            return self

        def __exit__(self, *_: object) -> None: ...

        def __getattr__(self, _name: str) -> Callable[..., None]:
            return lambda *_args, **_values: None

    whole = part.with_name(part.name.removesuffix(PART) + XET)
    with written(part):
        whole.unlink(missing_ok=True)
        moved.add(-part.stat().st_size if part.is_file() else 0)
    before = moved.done
    bar: Any = Ticks
    xet_get(
        incomplete_path=whole,
        xet_file_data=source.xet,
        headers=source.headers,
        expected_size=source.file.size,
        displayed_filename=source.file.name,
        tqdm_class=bar,
    )
    with written(part):
        os.replace(whole, part)
    moved.add((source.file.size or 0) - (moved.done - before))  # Xet counts what is packed


def _refuse_size(source: FileSource, part: Path, size: int, host: str = "") -> None:
    """Refuse a file that has another size than was announced. Raises: UserError, always."""
    part.unlink(missing_ok=True)
    raise UserError(
        marked(
            "engine",
            "{host} announced {file} with {announced} bytes and sent {size}. The file was "
            "discarded. Try again, or choose another mirror.",
        ),
        host=host or source.host,
        file=source.file.name,
        announced=f"{source.file.size if source.file.size is not None else MOST_SMALL}",
        size=f"{size}",
    )


def _failed_host(error: httpx2.TransportError, source: FileSource) -> str:
    try:
        return host_of(error.request.url)
    except RuntimeError:
        return source.host


def _agrees(path: Path, digests: tuple[str, ...]) -> bool:
    """Whether a file has all digests by which it is known: sha256, or the sha1 of git's own form of it."""
    return all(one in _digests(path, len(one)) for one in digests)


def _digests(path: Path, length: int) -> tuple[str, ...]:
    if length == 64:
        return (digest(path),)
    plain, gits = hashlib.sha1(usedforsecurity=False), hashlib.sha1(usedforsecurity=False)
    gits.update(f"blob {path.stat().st_size}\0".encode())
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            plain.update(piece)
            gits.update(piece)
    return gits.hexdigest(), plain.hexdigest()


def _part(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.with_name(target.name + PART)


def _keep(part: Path, target: Path) -> None:
    sync(part)
    os.replace(part, target)
