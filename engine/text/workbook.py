"""A table as an Excel workbook: texts stay texts, whatever they look like; nothing in it runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine.durable import check_writable, replaced_file
from engine.errors import DataError, marked

if TYPE_CHECKING:
    import pandas

    from engine.text.small_sheet import Sheet

_MOST_ROWS, _MOST_COLUMNS, _MOST_CHARS = 1_048_576, 16_384, 32_767  # of a sheet and a cell, Excel's own


def write_workbook(
    path: Path,
    columns: Sequence[str],
    rows: pandas.DataFrame | Iterable[Sequence[object]],
    numbers: Collection[str] = (),
    more: Sheet | None = None,
) -> None:
    """Write a sheet, or two, whole or not at all.

    Args:   numbers: columns whose cells are numbers where they can be. more: the second sheet.
    Raises: UserError if it cannot be written, does not fit in a sheet, or a cell holds half a character.
    """
    import xlsxwriter  # here: few write one

    check_writable(path)
    if hasattr(rows, "itertuples"):  # a frame
        rows = cast("pandas.DataFrame", rows)[list(columns)].itertuples(index=False, name=None)
    if len(columns) > _MOST_COLUMNS:
        raise _too_small(path)
    try:
        with replaced_file(path) as beside:
            book = xlsxwriter.Workbook(str(beside), {"constant_memory": True, "tmpdir": str(path.parent)})
            try:
                _fill(book.add_worksheet(), columns, rows, [name in numbers for name in columns], path)
                if more is not None:
                    is_number = [name in more.numbers for name in more.columns]
                    _fill(book.add_worksheet(more.name), more.columns, more.rows, is_number, path)
            finally:
                book.close()
    except UnicodeEncodeError as error:
        template = marked("engine", "{path} is not written: a cell holds half a character. Fix the table.")
        raise DataError(template, path=path) from error


def _fill(
    sheet: Any,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    is_number: Sequence[bool],
    path: Path,
) -> None:
    sheet.freeze_panes(1, 0)
    sheet.ignore_errors({"number_stored_as_text": "A1:XFD1048576"})
    for place, name in enumerate(columns):
        _write_text(sheet, 0, place, name, path)
    for number, row in enumerate(rows, 1):
        if number >= _MOST_ROWS:
            raise _too_small(path)
        for place, cell in enumerate(row):
            value = _number(cell) if is_number[place] else None
            if value is not None:
                sheet.write_number(number, place, value)
            elif cell is not None and cell != "":
                _write_text(sheet, number, place, str(cell), path)


def _write_text(sheet: Any, row: int, column: int, text: str, path: Path) -> None:
    text.encode()  # half a character is refused here
    if len(text.encode("utf-16-le")) // 2 > _MOST_CHARS:
        template = marked(
            "engine",
            "{path} is not written: row {row} has a text of more than 32,767 characters, too long for Excel. "
            "Save it as CSV.",
        )
        raise DataError(template, path=path, row=row + 1)
    sheet.write_string(row, column, text)


def _number(cell: object) -> float | None:
    """Return a cell as a number that Excel holds unharmed; None where it is none."""
    try:
        value = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return value if abs(value) < 1e15 else None  # neither NaN nor infinity


def _too_small(path: Path) -> DataError:
    return DataError(
        marked("engine", "{path} is not written: the table is too large for an Excel sheet. Save it as CSV."),
        path=path,
    )
