"""What a file with sheets gives: the rows of one of them; which one that is; and when there are too many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import DataError, Sentence, marked, some_of
from engine.events import Beat, Steps
from engine.text.reading.dialect import MAX_COLUMNS, Records
from engine.text.reading.rows import Rows

NO_SHEETS = marked("engine", "The file has no sheets; the sheet setting is ignored.")
MOST_CELLS = 100_000_000  # of a sheet, empty ones among the others included
MOST_TEXT = 4 << 30  # bytes of a sheet's cells
_AT_ONCE = 1000  # rows between two steps


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet, or a table of a database. key: what its reader knows it by."""

    name: str
    is_hidden: bool = False
    key: str = ""


@dataclass(slots=True)
class SheetRows:
    """The rows of a sheet, empty ones left out, all of one width; each starts in the line that is its number.

    names: of the columns, where the file says them; else a row may be the header.
    """

    sheet: str
    sheets: tuple[str, ...]
    records: Records = field(default_factory=Records)
    names: list[str] | None = None
    notes: list[Sentence] = field(default_factory=list)
    is_damaged: bool = False  # some text is not UTF-8, and is held as lone surrogates


def chosen_sheet(path: Path, sheets: Sequence[Sheet], wanted: str) -> Sheet | None:
    """Return the sheet of a name or 1-based number; None if nobody chose one. Raises: DataError."""
    if not wanted:
        return None
    for sheet in sheets:
        if sheet.name == wanted:
            return sheet
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted[:9]) <= len(sheets):
        return sheets[int(wanted[:9]) - 1]
    template = marked("engine", "{path} has no sheet or table named {name}. It has: {names}.")
    raise DataError(template, path=path, name=wanted, names=some_of([one.name for one in sheets], 20))


def others_note(sheets: Sequence[Sheet], taken: Sheet) -> list[Sentence]:
    """Return what to tell where nobody chose a sheet and there are several."""
    hidden = [one.name for one in sheets if one.is_hidden and one != taken]
    shown = [one.name for one in sheets if not one.is_hidden and one != taken]
    notes = []
    if shown:
        template = marked("engine", "“{name}” is read, the first sheet or table with rows. Others: {names}.")
        notes.append(Sentence(template, {"name": taken.name, "names": some_of(shown, 10)}))
    if hidden:
        template = marked("engine", "Hidden sheets are not read unless chosen: {names}.")
        notes.append(Sentence(template, {"names": some_of(hidden, 10)}))
    return notes


def check_size(path: Path, num_rows: int, num_columns: int, num_bytes: int = 0) -> None:
    """Refuse, before it is read, what is wider or larger than memory should hold. Raises: DataError."""
    if num_columns > MAX_COLUMNS:
        template = marked("engine", "{path} has {found} columns; at most {most} can be read.")
        raise DataError(template, path=path, found=num_columns, most=MAX_COLUMNS)
    if num_rows * num_columns > MOST_CELLS:
        template = marked(
            "engine", "{path} has {rows} rows of {columns} cells, too many to read. Export fewer, or CSV."
        )
        raise DataError(template, path=path, rows=num_rows, columns=num_columns)
    if num_bytes > MOST_TEXT:
        raise too_large(path)


def too_large(path: Path) -> DataError:
    """Return the refusal of a file whose cells would fill the memory."""
    return DataError(
        marked("engine", "The cells of {path} would take more than 4 GB. Export fewer rows."), path=path
    )


def taking_rows(path: Path, found: SheetRows, rows: Iterable[Sequence[str]], width: int = 0) -> Steps[None]:
    """Put rows of texts among the records. Args: width: 0 where empty columns at the right are dropped.

    Raises: DataError where their text is too much.
    """
    kept, num_bytes = Rows(), 0
    for number, row in enumerate(rows, 1):
        filled = len(row)
        while filled and not row[filled - 1]:
            filled -= 1
        if filled or width:
            kept.append(list(row[:filled]))
            found.records.starts.append(number)
            num_bytes += sum(map(len, row))
        if num_bytes > MOST_TEXT:
            raise too_large(path)
        if number % _AT_ONCE == 0:
            check_size(path, len(kept), width)
            yield Beat()
    widths = kept.widths()
    widest = max(width, int(widths.max()) if len(widths) else 0)
    check_size(path, len(kept), widest)
    found.records.rows = kept.padded(widest)
