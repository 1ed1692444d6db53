"""The zip that a workbook is, looked at before anything reads it: what is in it, how large, whether whole."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engine.errors import DataError, marked
from engine.text.reading.kinds import ODS, XLSX

MOST_BYTES = 4 << 30  # unpacked, of all parts together
MOST_PARTS = 10_000
_HARMLESS, _MOST_RATIO = 100 << 20, 250  # bytes that may be packed as tight as they like; and others
_BLOCK = 1 << 18
_ODS_TYPES = (b"application/vnd.oasis.opendocument.spreadsheet",)


def workbook_kind(file: IO[bytes]) -> str:
    """Return which workbook an open zip is by its parts: "xlsx", "ods", "xlsb", or "" for another zip."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if "xl/workbook.xml" in names:
                return XLSX.name
            if "xl/workbook.bin" in names:
                return "xlsb"
            if "content.xml" in names and "mimetype" in names:
                with archive.open("mimetype") as part:
                    return ODS.name if part.read(100).startswith(_ODS_TYPES) else ""
            if any(name.startswith("xl/worksheets/") for name in names):
                return XLSX.name
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, zlib.error, ValueError, EOFError):
        file.seek(0)
        head = file.read(1 << 16)
        return XLSX.name if b"xl/" in head else ODS.name if _ODS_TYPES[0] in head else ""
    return ""


def check_parts(archive: zipfile.ZipFile, path: Path, read_later: str = "") -> None:
    """Refuse a bomb, a damaged and an encrypted workbook. Raises: DataError.

    Every part of XML is unpacked once, so that none is larger than the zip's list says; those that begin with
    `read_later` are left to who reads them.
    """
    parts = archive.infolist()
    unpacked, packed = sum(part.file_size for part in parts), sum(part.compress_size for part in parts)
    is_tight = unpacked > _HARMLESS and unpacked > _MOST_RATIO * max(packed, 1)
    if unpacked > MOST_BYTES or len(parts) > MOST_PARTS or is_tight:
        template = marked(
            "engine",
            "{path} would unpack to {size} MB, more than such a file should hold. Save it as CSV.",
        )
        raise DataError(template, path=path, size=unpacked >> 20)
    if len({part.filename for part in parts}) < len(parts):
        raise damaged(path)
    if any(part.flag_bits & 1 for part in parts):
        raise encrypted(path)
    for part in parts:
        is_text = part.filename.endswith((".xml", ".rels"))
        if is_text and not (read_later and part.filename.startswith(read_later)):
            for _ in blocks(archive, part.filename, path):
                pass


def blocks(archive: zipfile.ZipFile, name: str, path: Path) -> Iterator[bytes]:
    """Yield a part's bytes, unpacked. Raises: DataError where it is damaged or larger than it says."""
    try:
        with archive.open(name) as part:
            while block := part.read(_BLOCK):
                yield block
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise damaged(path) from error
    except RuntimeError as error:
        raise encrypted(path) from error


def damaged(path: Path) -> DataError:
    """Return the refusal of a workbook that is not whole."""
    return DataError(
        marked("engine", "{path} is a damaged workbook. Get another copy, or save it again."), path=path
    )


def encrypted(path: Path) -> DataError:
    """Return the refusal of a workbook with a password."""
    return DataError(
        marked("engine", "{path} is protected by a password. Save it without one, or as CSV."), path=path
    )
