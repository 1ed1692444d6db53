"""Which files hold sheets, and the rows of one."""

from __future__ import annotations

from pathlib import Path

from engine.errors import DataError, marked
from engine.events import Steps
from engine.text.reading.file_check import opened
from engine.text.reading.kinds import PARQUET, SQLITE, XLS
from engine.text.reading.sheets.found import SheetRows
from engine.text.reading.sheets.zipped import encrypted, workbook_kind

_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")  # names within an Office file
_OLD_BOOKS = tuple(name.encode("utf-16-le") for name in ("Workbook", "Book"))


def sheet_kind(path: Path) -> str:
    """Return the kind of a file with sheets, by its bytes; "" for any other. Raises: DataError."""
    with opened(path) as file:
        head = file.read(16)
        if head.startswith(b"SQLite format 3\0"):
            return SQLITE.name
        if head.startswith(b"PAR1"):
            return PARQUET.name
        if head.startswith(_OLD_OFFICE):
            inside = head + file.read()
            if _ENCRYPTED in inside:
                raise encrypted(path)
            return XLS.name if any(name in inside for name in _OLD_BOOKS) else ""
        if not head.startswith(b"PK\x03\x04"):
            return ""
        kind = workbook_kind(file)
    if kind == "xlsb":
        template = marked("engine", "{path} is a binary Excel workbook. Save it as .xlsx or CSV.")
        raise DataError(template, path=path)
    return kind


def reading_sheet(path: Path, kind: str, wanted: str = "", most_rows: int = 0) -> Steps[SheetRows]:
    """Return the rows of a sheet.

    Args: wanted: its name or number; "": the first with rows. most_rows: 0: all. Raises: DataError.
    """
    if kind == SQLITE.name:
        from engine.text.reading.sheets.database import reading_database

        return (yield from reading_database(path, wanted, most_rows))
    if kind == PARQUET.name:
        from engine.text.reading.sheets.parquet import reading_parquet

        return (yield from reading_parquet(path, wanted, most_rows))
    from engine.text.reading.sheets.workbook import reading_workbook

    return (yield from reading_workbook(path, kind, wanted, most_rows))
