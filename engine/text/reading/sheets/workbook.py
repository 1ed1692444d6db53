"""Sheets of Excel and OpenDocument files, through calamine: values alone, as they were saved.

No formula is counted, no link followed and no macro run. What calamine would not tell, or would take any
amount of memory for, is looked for in the zip before.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from engine.errors import DataError, Sentence, marked
from engine.events import Steps
from engine.text.reading.file_check import opened
from engine.text.reading.kinds import ODS, XLSX
from engine.text.reading.sheets.found import (
    Sheet,
    SheetRows,
    check_size,
    chosen_sheet,
    others_note,
    taking_rows,
)
from engine.text.reading.sheets.ods_scan import OdsTable, scan_ods
from engine.text.reading.sheets.values import cell_text
from engine.text.reading.sheets.xlsx_scan import Book, Scan, read_book, scan_sheet, sheet_parts
from engine.text.reading.sheets.zipped import check_parts, damaged, encrypted

_TOLD = {
    "merged": marked("engine", "Merged areas: {count}. Of each, only the first cell has the text."),
    "formulas": marked("engine", "Formulas: {count}. Their results are read as they were last saved."),
    "uncounted": marked("engine", "Formulas without a saved result: {count}. They are read as empty."),
    "formatted": marked(
        "engine", "Numbers with a format such as 0% or 00000: {count}. They are read as shown."
    ),
    "in_full": marked(
        "engine",
        "Numbers and dates in other formats: {count}. They are read in full, as 1234.5 and 2024-05-01.",
    ),
    "old": marked(
        "engine",
        "Number formats of an old workbook are not read: 12% is 0.12, and 00042 is 42. Save it as .xlsx to "
        "keep them.",
    ),
    "links": marked("engine", "The workbook links to other files; no link was followed."),
    "macros": marked("engine", "The workbook holds macros; none was run."),
}


@dataclass(slots=True)
class _Looked:
    """What was seen in the zip of a workbook."""

    archive: zipfile.ZipFile | None = None
    parts: dict[str, str] = field(default_factory=dict)  # of an Excel workbook's sheets
    book: Book = field(default_factory=Book)
    tables: dict[str, OdsTable] = field(default_factory=dict)  # of an OpenDocument file
    scans: dict[str, Scan] = field(default_factory=dict)


def reading_workbook(path: Path, kind: str, wanted: str, most_rows: int) -> Steps[SheetRows]:
    """Return the rows of one sheet. Args: wanted: its name or number, "" for the first shown with rows.

    Raises: DataError.
    """
    with opened(path) as file:
        looked = yield from _look(file, path, kind)
        with _read(path):
            from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

            file.seek(0)
            book = CalamineWorkbook.from_filelike(file)
            sheets = [
                Sheet(about.name, about.visible != SheetVisibleEnum.Visible)
                for about in book.sheets_metadata
                if about.typ == SheetTypeEnum.WorkSheet
            ]
        if not sheets:
            raise DataError(marked("engine", "{path} is a workbook without sheets of cells."), path=path)
        taken = chosen_sheet(path, sheets, wanted)
        found = SheetRows("", tuple(one.name for one in sheets))
        if taken is None:
            taken = yield from _first_filled(looked, book, sheets, path)
            found.notes += others_note(sheets, taken)
        found.sheet = taken.name
        yield from _scanned(looked, taken.name, path)
        with _read(path):
            sheet = book.get_sheet_by_name(taken.name)
        check_size(path, sheet.total_height, sheet.total_width)
        found.notes += _notes(looked, taken.name, sheet, path)
        seen = looked.scans.get(taken.name) or looked.tables.get(taken.name) or Scan()
        with _read(path):
            yield from taking_rows(path, found, _texts(sheet, seen.texts, most_rows))
    return found


def _look(file: IO[bytes], path: Path, kind: str) -> Steps[_Looked]:
    """Return what the zip of a workbook says before it is read; nothing of an old one. Raises: DataError."""
    if kind not in (XLSX.name, ODS.name):
        return _Looked()
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise damaged(path) from error
    if kind == ODS.name:
        check_parts(archive, path, "content.xml")
        return _Looked(archive, tables=(yield from scan_ods(archive, path)))
    check_parts(archive, path, "xl/worksheets/sheet")
    parts = sheet_parts(archive, path)
    return _Looked(archive, parts, (yield from read_book(archive, path)))


def _scanned(looked: _Looked, name: str, path: Path) -> Steps[None]:
    """Look at a sheet of Excel's before it is read, once."""
    if name in looked.parts and looked.archive is not None and name not in looked.scans:
        scan = yield from scan_sheet(looked.archive, looked.parts[name], looked.book, path)
        check_size(path, scan.num_rows, scan.num_columns)
        looked.scans[name] = scan


def _first_filled(looked: _Looked, book: Any, sheets: Sequence[Sheet], path: Path) -> Steps[Sheet]:
    """Return the first sheet that is shown and has a cell; without one, the first that is shown."""
    shown = [one for one in sheets if not one.is_hidden] or list(sheets)
    for sheet in shown:
        yield from _scanned(looked, sheet.name, path)
        if sheet.name in looked.scans:
            if looked.scans[sheet.name].num_rows:
                return sheet
            continue
        with _read(path):
            if book.get_sheet_by_name(sheet.name).total_height:
                return sheet
    return shown[0]


def _texts(sheet: Any, said: dict[tuple[int, int], str], most: int) -> Iterator[list[str]]:
    """Yield all rows from row 1 on as texts, without the empty columns at their left.

    Args: said: what cells show other than their values.
    """
    rows, left = {row for row, _ in said}, sheet.start[1] if sheet.start else 0
    for number, row in enumerate(sheet.iter_rows()):
        if most and number >= most:
            return
        cells = [cell if type(cell) is str else cell_text(cell) for cell in row]
        if number in rows:
            cells = [said.get((number, place), cell) for place, cell in enumerate(cells, left)]
        yield cells


def _notes(looked: _Looked, name: str, sheet: Any, path: Path) -> list[Sentence]:
    """Return what to tell of a sheet: merged cells, formulas, formats, links, macros."""
    table, scan = looked.tables.get(name, OdsTable(name)), looked.scans.get(name, Scan())
    names = looked.archive.namelist() if looked.archive is not None else []
    uncounted = scan.uncounted + table.uncounted
    is_old = looked.archive is None
    counts = {
        "merged": len(sheet.merged_cell_ranges or ()) or table.merged,
        "formulas": scan.formulas + table.formulas - uncounted,
        "uncounted": uncounted,
        "formatted": scan.formatted + table.formatted,
        "in_full": scan.in_full + table.in_full,
        "old": is_old and any(type(cell) in (int, float) for row in sheet.iter_rows() for cell in row),
        "links": table.links or any(part.startswith("xl/externalLinks/") for part in names),
        "macros": any(part.endswith("vbaProject.bin") or part.startswith("Basic/") for part in names),
    }
    return [Sentence(_TOLD[name], {"count": int(count)}) for name, count in counts.items() if count]


@contextmanager
def _read(path: Path) -> Iterator[None]:
    """Turn what calamine cannot read into a sentence. Raises: DataError."""
    from python_calamine import CalamineError, PasswordError

    try:
        yield
    except PasswordError as error:
        raise encrypted(path) from error
    except CalamineError as error:
        template = marked("engine", "{path} cannot be read as a workbook: {reason}.")
        raise DataError(template, path=path, reason=str(error).rstrip(".")) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of Rust: no Exception, but a fault of the file here
            raise
        raise damaged(path) from error
