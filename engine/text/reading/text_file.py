"""The lines of a text file of any size, a block at a time, also straight from .gz and .xz.

The encoding is decided on the first megabyte; after that the file is held to it, byte for byte.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from engine.errors import DataError, marked
from engine.text.reading.encoding import Decoded, decode, encoding_name
from engine.text.reading.file_check import check_readable, opened

HEAD = 1 << 20
_BLOCK = 1 << 20  # bytes, unpacked: 0.1 s of work
_HASHED = 1 << 24
_MAX_LINE = 1 << 22  # characters; a line without end is cut
_known_hashes: dict[tuple[Path, int, int], str] = {}


@dataclass(frozen=True, slots=True)
class Head:
    """What the first megabyte tells: its whole lines, the encoding, and whether that is all there is."""

    text: str
    encoding: str
    guessed: bool
    whole: bool
    num_cut: int = 0  # bytes at the end of the file that are half a character, left out


def read_head(path: Path, encoding: str = "") -> Head:
    """Return the beginning of a text file. Args: encoding: "" to detect it.

    Raises: DataError if the file cannot be read, is no text, or does not begin in that encoding.
    """
    if encoding:
        encoding = encoding_name(encoding)
    with _unpacked(path) as (file, _):
        data = file.read(HEAD + 1)
    whole = len(data) <= HEAD
    if not data:
        return Head("", encoding or "utf-8", False, True)
    found = _decode_head(data if whole else data[:HEAD], path, encoding, whole)
    if found.damaged:
        list(_decoded(iter([(data, 0)]), path, found.encoding))  # raises, and names the line
    text = found.text
    if not whole:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] or text
    return Head(text, found.encoding, found.guessed, whole, _num_stray(path, found.encoding))


def _num_stray(path: Path, encoding: str) -> int:
    """Return how many bytes at the end of a file are no whole unit of UTF-16 or UTF-32; 0 if it is packed."""
    unit = 2 if encoding.startswith("utf-16") else 4 if encoding.startswith("utf-32") else 1
    with _unpacked(path) as (file, raw):
        return file_size(path) % unit if file is raw else 0


def _decode_head(data: bytes, path: Path, encoding: str, whole: bool) -> Decoded:
    """Return the characters of a head that may end within a character, or within half of one."""
    ends = [len(data)] if whole else [data.rfind(b"\n") + 1, *range(len(data), len(data) - 4, -1)]
    if not whole and 0 in data:
        ends = [len(data), len(data) - 2]  # UTF-16 and UTF-32: a line end is more than one byte
    first: DataError | None = None
    for end in ends:
        try:
            found = decode(data[:end], path, encoding)
        except DataError as error:
            first = first or error
            continue
        if end and not (found.damaged and end != ends[-1]):
            return found
    assert first is not None
    values = first.sentence.values
    if "kind" in values:
        template = marked(
            "engine", "{path} is {kind}, not plain text. Choose a .txt file, or unpack it first."
        )
        raise DataError(template, **values) from first
    if values.keys() <= {"path", "a_table"}:
        template = marked(
            "engine",
            "{path} holds no text, or its encoding is unclear. Choose a .txt file, or its encoding.",
        )
        raise DataError(template, **values) from first
    raise first


def line_blocks(path: Path, head: Head) -> Iterator[tuple[list[str], int]]:
    """Yield the lines of a file without their ends, and how many of the file's bytes have been read so far.

    LF, CRLF and CR each end a line, also where a file mixes them.

    Raises: DataError at the first bytes that are not in the head's encoding, naming their line.
    """
    rest = ""
    with _unpacked(path) as (file, raw):
        blocks = iter(lambda: (file.read(_BLOCK), raw.tell()), None)
        for text, place in _decoded(_until_empty(blocks), path, head.encoding, head.num_cut):
            text = rest + text
            held = "\r" if text.endswith("\r") else ""  # its LF may begin the next block
            if "\r" in text:
                text = text.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n")
            lines = text.split("\n")
            rest = lines.pop() + held
            while len(rest) > _MAX_LINE:
                cut = rest.rfind(" ", 0, _MAX_LINE) + 1 or _MAX_LINE
                lines.append(rest[:cut])
                rest = rest[cut:]
            yield lines, place
    yield [rest.removesuffix("\r")], path.stat().st_size


def _until_empty(blocks: Iterator[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    for data, place in blocks:
        if not data:
            return
        yield data, place


def _decoded(
    blocks: Iterator[tuple[bytes, int]], path: Path, encoding: str, num_cut: int = 0
) -> Iterator[tuple[str, int]]:
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    num_ends, first = 0, True
    final = False
    while not final:
        data, place = next(blocks, (b"", 0))
        final = not data
        try:
            text = decoder.decode(data, final)
        except UnicodeDecodeError as error:
            if final and num_cut and len(error.object) == num_cut:
                return
            before = error.object[: error.start].decode(encoding, "ignore")
            raise DataError(
                marked(
                    "engine", "Line {line} of {path} is not {encoding}. Fix it, or choose another encoding."
                ),
                line=1 + num_ends + before.count("\n"),
                path=path,
                encoding=encoding,
            ) from error
        num_ends += text.count("\n")
        if text:
            yield (text.removeprefix("\ufeff") if first else text), place
            first = False


@contextmanager
def _unpacked(path: Path) -> Iterator[tuple[Any, IO[bytes]]]:
    """Give a file's bytes, unpacked where its first bytes say .gz or .xz, and the file as it is on disk."""
    with opened(path) as raw, _unpacking(path):
        magic = raw.read(6)
        raw.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=raw) as file:
                yield file, raw
        elif magic == b"\xfd7zXZ\x00":
            with lzma.open(raw) as unpacked:
                yield unpacked, raw
        else:
            yield raw, raw


def file_size(path: Path) -> int:
    """Return a file's bytes on the disk. Raises: DataError if it is not there."""
    return _state(path)[1]


def hash_steps(path: Path) -> Iterator[tuple[int, str]]:
    """Yield how many bytes have been hashed, in steps of 0.05 s; at the end with the SHA-256 of the file.

    It is remembered until the file's size or time changes. Raises: DataError if the file cannot be read.
    """
    key = _state(path)
    if key not in _known_hashes:
        hasher, done = hashlib.sha256(), 0
        with opened(path) as file:
            while block := file.read(_HASHED):
                hasher.update(block)
                done += len(block)
                yield done, ""
        _known_hashes[key] = hasher.hexdigest()
    yield key[1], _known_hashes[key]


def _state(path: Path) -> tuple[Path, int, int]:
    found = check_readable(path)
    return path.absolute(), found.st_size, found.st_mtime_ns


@contextmanager
def _unpacking(path: Path) -> Iterator[None]:
    """Turn what cannot be unpacked into a sentence. Raises: DataError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise DataError(
            marked("engine", "{path} is truncated or damaged and cannot be unpacked. Get it again."),
            path=path,
        ) from error
