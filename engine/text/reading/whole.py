"""A whole file at once: its characters in UTF-8, and the hash of its bytes, which are let go."""

from __future__ import annotations

import hashlib
from pathlib import Path

from engine.events import Beat, Steps
from engine.text.reading.encoding import Decoded, check_kind, decoding
from engine.text.reading.file_check import opened, unread

_HEAD = 1 << 16  # bytes, enough to see what is no text
_BLOCK = 1 << 24  # bytes between two steps


def reading_whole(path: Path, encoding: str = "") -> Steps[tuple[Decoded, str]]:
    """Return the characters of a file and the SHA-256 of its bytes, step by step.

    Raises: DataError if it cannot be read, is no text, or is not in the encoding asked for ("": detected).
    """
    data, sha256 = yield from _read_bytes(path)
    return (yield from decoding(data, path, encoding)), sha256


def _read_bytes(path: Path) -> Steps[tuple[bytes, str]]:
    hasher = hashlib.sha256()
    try:
        with opened(path) as file:
            blocks = [file.read(_HEAD)]
            check_kind(blocks[0], path)
            while blocks[-1]:
                hasher.update(blocks[-1])
                blocks.append(file.read(_BLOCK))
                yield Beat()
        return b"".join(blocks), hasher.hexdigest()
    except MemoryError as error:
        raise unread(path, error) from error
