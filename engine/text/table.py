"""A CSV, TSV or JSON file or a sheet becomes a Table of text cells; rows become a file again.

Rows in = rows kept + rows reported: whatever cannot be kept is reported with the line it starts in. Empty
lines are neither. A cell is the text of the file: "NA" is no missing value, an empty cell is "".
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from engine.durable import check_writable, replaced_file
from engine.errors import DataError, Sentence, marked, some_of
from engine.events import Beat, Steps, result_of
from engine.settings.setting import is_number
from engine.text.reading.dialect import (
    MAX_COLUMNS,
    SEPARATORS,
    Records,
    choose_separator,
    commonest,
    cut,
    looks_like_header,
    usual_width,
)
from engine.text.reading.encoding import SURROGATES, Decoded, cut_note, guess_note
from engine.text.reading.header import above_note, check_line, find_header, separator_line
from engine.text.reading.json_document import document_records, is_nested_object
from engine.text.reading.json_lines import is_json_lines, json_records
from engine.text.reading.kinds import SHEET_SUFFIXES, WITH_SHEETS
from engine.text.reading.line_ends import join_broken
from engine.text.reading.lines import Lines, lines_since, split_lines
from engine.text.reading.recognise import HEAD, check_text
from engine.text.reading.rows import Rows
from engine.text.reading.sheets.found import NO_SHEETS, SheetRows
from engine.text.reading.sheets.known import reading_sheet, sheet_kind
from engine.text.reading.text_file import hash_steps, read_head
from engine.text.reading.whole import reading_whole
from engine.text.small_sheet import Sheet, sheet_place

if TYPE_CHECKING:
    import pandas

_EMPTY = marked("engine", "{path} is empty. Choose a file with a header and rows.")
_HEAD_ROWS = 5000  # of a sheet, to guess from
_MOST_LINES = 20  # named in one sentence of those that are left out
# what a spreadsheet may run: a formula, also behind blanks and marks that nobody sees, in wide or small forms
_RUN = re.compile(
    r"[\t\r\n\0]|[\s\0-\x1f\ufeff\u200b-\u200f\u2060]*[-=+@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]"
)


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How a file was read; given back as overrides, it reads the same again."""

    # "csv", "jsonl" (JSON lines), "json" (objects in a list or over several lines), or of WITH_SHEETS
    kind: str
    encoding: str
    separator: str  # "" for one column and for JSON lines
    quoting: str  # "csv": "..." may hold separators and line ends; "none": quotes are plain text; "backslash"
    has_header: bool
    header_line: int = 0  # 1-based; 0 without a header
    sheet: str = ""  # of a workbook, or the table of a database

    def parts(self) -> tuple[Sentence, ...]:
        """Return what a person should know of it, bit by bit, to be put on one line."""
        if self.kind in WITH_SHEETS:
            return self._sheet_parts()
        known = [Sentence("{name}", {"name": self.encoding.upper()})]
        if self.kind == "jsonl":
            return (*known, Sentence(marked("engine", "JSON lines")))
        if self.kind == "json":
            return (*known, Sentence(marked("engine", "JSON objects")))
        known.append(Sentence(_SEPARATOR_WORDS[self.separator]))
        if self.separator and self.quoting == "none":
            known.append(Sentence(marked("engine", "quotes are plain text")))
        elif self.quoting == "backslash":
            known.append(Sentence(marked("engine", "backslash escapes")))
        return (*known, self._header_part())

    def _sheet_parts(self) -> tuple[Sentence, ...]:
        """Return the kind of file, which sheet, and where columns are named, if not by the file itself."""
        known = [Sentence(WITH_SHEETS[self.kind].words)]
        if self.sheet:
            known.append(Sentence("“{name}”", {"name": self.sheet}))
        return (*known, self._header_part()) if self.header_line or not self.has_header else tuple(known)

    def _header_part(self) -> Sentence:
        if self.has_header:
            return Sentence(marked("engine", "header in line {line}"), {"line": self.header_line})
        return Sentence(marked("engine", "no header"))

    def __str__(self) -> str:
        return " · ".join(str(part) for part in self.parts())


_SEPARATOR_WORDS = {
    ",": marked("engine", "comma"),
    "\t": marked("engine", "tab"),
    ";": marked("engine", "semicolon"),
    "|": marked("engine", "bar"),
    "": marked("engine", "one column"),
}


@dataclass(frozen=True, slots=True)
class BadLine:
    """A record that was not kept: the 1-based physical line where it starts, and why."""

    line: int
    sentence: Sentence


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The rows of a file as text. `row` counts from 0 here, `line` from 1 in the file."""

    path: Path
    format: TableFormat
    columns: tuple[str, ...]  # unique; a second "text" is named "text (2)"
    frame: pandas.DataFrame  # (R, C) str, in columns that make them when they are asked for (`CellArray`)
    lines: np.ndarray[Any, np.dtype[np.int64]]  # (R,) where each row starts
    reported: tuple[BadLine, ...]
    notes: tuple[Sentence, ...]
    sha256: str  # of the file's bytes
    left_out: Mapping[int, Sentence] = field(default_factory=dict)  # rows that a recipe leaves out, and why
    together: np.ndarray[Any, np.dtype[np.int64]] | None = None  # (R,) equal for rows that no split may part
    mends: Mapping[str, Any] = field(default_factory=dict)  # the recipe that was applied, as JSON can hold it
    sheets: tuple[str, ...] = ()  # of the file, the hidden ones included

    @property
    def may_choose_header(self) -> bool:
        """Whether a line names the columns, or may; other files name them themselves."""
        kind = self.format.kind
        return kind == "csv" or (kind in WITH_SHEETS and not WITH_SHEETS[kind].names_columns)

    @property
    def num_rows(self) -> int:
        return len(self.lines)

    def column(self, name_or_number: str | int) -> str:
        """Return a column's name, given that or its 1-based number. Raises: DataError if there is none."""
        wanted = str(name_or_number)
        if wanted in self.columns:
            return wanted
        if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted[:9]) <= len(self.columns):
            return self.columns[int(wanted[:9]) - 1]
        raise DataError(
            marked("engine", "{path} has no column {name}. Its columns are: {names}."),
            path=self.path,
            name=wanted,
            names=some_of(self.columns, 20),
        )

    def check_new(self, columns: Sequence[str]) -> None:
        """Refuse names for new columns of which it has one already. Raises: DataError."""
        if taken := [name for name in columns if name in self.columns]:
            template = marked(
                "engine", "{name} already has a column named {column}. Rename it first. Nothing was written."
            )
            raise DataError(template, name=self.path.name, column=taken[0])

    def no_text(self) -> DataError:
        """Return the refusal where nobody has named the column of texts."""
        template = marked("engine", "Which column holds the text? The columns of {name} are: {columns}.")
        return DataError(template, name=self.path.name, columns=list(self.columns))


def check_distinct(columns: Sequence[str]) -> None:
    """Refuse a column in two roles. Raises: DataError."""
    if twice := [name for name in columns if columns.count(name) > 1]:
        template = marked("engine", "Column {column} has two roles. Choose another column for one of them.")
        raise DataError(template, column=twice[0])


def read_table(path: str | Path, **how: str) -> Table:
    """Read a table at once. Args, Raises: as `reading_table`."""
    return result_of(reading_table(path, **how))


def reading_table(
    path: str | Path,
    *,
    encoding: str = "",
    separator: str = "",
    quoting: str = "",
    header: str = "",
    sheet: str = "",
) -> Steps[Table]:
    """Read a table whole, step by step: millions of rows take a while.

    Args:   encoding, separator (, TAB ; |), quoting ("csv", "none", "backslash"), header ("yes",
            "no" or a line's number), sheet (of a workbook or database: its name or number): "" detects it.
    Raises: DataError if the file cannot be read, is no text, is empty, or not one of its rows can be kept.
    """
    path, wanted = Path(path), _checked(separator, quoting, header)
    if kind := sheet_kind(path):
        sha256 = yield from _hashed(path)
        rows = yield from reading_sheet(path, kind, sheet)
        return _from_sheet(path, kind, rows, (encoding, *wanted), sha256)
    found, sha256 = yield from reading_whole(path, encoding)
    table = yield from _table_in(path, found, wanted, sha256)
    return replace(table, notes=(*_misnamed(path, sheet), *table.notes))


def table_head(
    path: str | Path,
    *,
    encoding: str = "",
    separator: str = "",
    quoting: str = "",
    header: str = "",
    sheet: str = "",
) -> Table:
    """Return as a table what a file begins with, its first megabyte or rows; it has no hash.

    Args, Raises: as `reading_table`.
    """
    path, wanted = Path(path), _checked(separator, quoting, header)
    if kind := sheet_kind(path):
        rows = result_of(reading_sheet(path, kind, sheet, _HEAD_ROWS))
        return _from_sheet(path, kind, rows, (encoding, *wanted), "")
    head = read_head(path, encoding)
    found = Decoded(head.text.encode("utf-8", "surrogatepass"), head.encoding, guessed=head.guessed)
    return result_of(_table_in(path, found, wanted, ""))


def _hashed(path: Path) -> Steps[str]:
    """Return the SHA-256 of a file, step by step."""
    sha256 = ""
    for _, found in hash_steps(path):
        sha256 = found
        yield Beat()
    return sha256


def _misnamed(path: Path, sheet: str) -> list[Sentence]:
    """Return what to tell where plain text is called a workbook, or has no sheets to choose from."""
    notes = []
    if path.suffix.lower() in SHEET_SUFFIXES:
        template = marked("engine", "{name} is called {suffix} but is plain text; it is read as such.")
        notes.append(Sentence(template, {"name": path.name, "suffix": path.suffix}))
    if sheet:
        notes.append(Sentence(NO_SHEETS))
    return notes


def _from_sheet(path: Path, kind: str, found: SheetRows, wanted: tuple[str, ...], sha256: str) -> Table:
    """Return the rows of a sheet as a table. Args: wanted: encoding, separator, quoting, header."""
    records, names, header = found.records, found.names, wanted[-1]
    if not len(records.rows):
        template = marked("engine", "“{sheet}” of {path} has no rows. Choose another sheet or table.")
        raise DataError(template if found.sheet else _EMPTY, path=path, sheet=found.sheet)
    notes = list(found.notes)
    if any(wanted[:-1]):
        template = marked("engine", "Encoding, separator and quoting are for plain text; they are ignored.")
        notes.append(Sentence(template))
    if path.suffix.lower() not in WITH_SHEETS[kind].suffixes:
        template = marked("engine", "{name} is {kind}, whatever its name says; it is read as such.")
        notes.append(Sentence(template, {"name": path.name, "kind": Sentence(WITH_SHEETS[kind].one)}))
    has_header, line = True, 0
    if names is None:
        has_header, line, names = _sheet_header(records, header, path, notes)
    elif header:
        notes.append(Sentence(marked("engine", "The file names its columns; the header setting is ignored.")))
    how = TableFormat(kind, "utf-8", "", "none", has_header, line, found.sheet)
    table = _build(path, how, records, names, found.is_damaged, notes, sha256)
    return replace(table, sheets=found.sheets)


def _sheet_header(
    records: Records, header: str, path: Path, notes: list[Sentence]
) -> tuple[bool, int, list[str]]:
    """Return whether a row names the columns, which, and the names; leaves the rows below.

    Raises: DataError for a row that is not there.
    """
    place = find_header(records) if header in ("", "yes") else 0
    if is_number(header):
        if int(header) not in records.starts:
            template = marked(
                "engine",
                "Row {line} of {path} is empty or missing, so it cannot be the header.",
            )
            raise DataError(template, path=path, line=int(header))
        place = records.starts.index(int(header))
    if not (header != "no" if header else looks_like_header(records.rows[place : place + 501])):
        return False, 0, [""] * len(records.rows[0])
    line, names = records.starts[place], records.rows[place]
    above = [""] * line
    for number, row in zip(records.starts[:place], records.rows[:place], strict=True):
        above[number - 1] = " ".join(filter(None, row))
    notes += above_note(above, line, -1)
    records.drop(place + 1)
    return True, line, names


def _checked(separator: str, quoting: str, header: str) -> tuple[str, str, str]:
    """Return how a table is to be read. Raises: DataError for what cannot be."""
    separator = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    _check_choice("separator", separator, ("", *SEPARATORS))
    _check_choice("quoting", quoting, ("", "csv", "none", "backslash"))
    if not is_number(header):
        _check_choice("header", header, ("", "yes", "no", "a line's number"))
    return separator, quoting, header


def _table_in(path: Path, found: Decoded, wanted: tuple[str, str, str], sha256: str) -> Steps[Table]:
    separator, quoting, header = wanted
    lines = yield from split_lines(found.utf8)
    if not any(line.strip() for line in lines_since(lines, 0)):
        raise DataError(_EMPTY, path=path)
    notes = [guess_note(found)] if found.guessed else []
    notes += [cut_note(found.num_cut)] if found.num_cut else []
    json_found = None
    if not separator and not quoting:  # who names one of them knows that it is a table
        json_found = yield from _json(lines, found, path)
        if json_found is None:
            head = found.head(HEAD + 1)
            check_text(head[:HEAD], path, whole=len(head) <= HEAD)
    if json_found is not None:
        if header:
            notes.append(
                Sentence(
                    marked("engine", "JSON rows name their own columns, so the header setting is ignored.")
                )
            )
        kind, records, names = json_found
        how = TableFormat(kind, found.encoding, "", "none", has_header=False)
    else:
        how, records, names = yield from _cut_cells(lines, found.encoding, path, wanted, notes)
    yield Beat()
    return _build(path, how, records, names, found.damaged, notes, sha256)


def _json(lines: Lines, found: Decoded, path: Path) -> Steps[tuple[str, Records, list[str]] | None]:
    """Return how JSON is laid out, its rows and their names; None if this is none. Raises: DataError."""
    filled = [line for line in lines[:100] if line.strip()]
    alone = len(filled) == 1 and path.suffix.lower() not in (".jsonl", ".ndjson")
    if is_json_lines(lines, path) and not (alone and is_nested_object(filled[0])):
        return ("jsonl", *(yield from json_records(lines)))
    document = yield from document_records(found, path)
    return None if document is None else ("json", *document)


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise DataError(
            marked("engine", "The {name} is {value!r}; it can be one of: {choices}."),
            name=name,
            value=value,
            choices=[repr(choice) for choice in choices if choice],
        )


def _cut_cells(
    lines: Lines, encoding: str, path: Path, wanted: tuple[str, str, str], notes: list[Sentence]
) -> Steps[tuple[TableFormat, Records, list[str]]]:
    """Return the format, the records below the header and the raw names; notes what looks wrong."""
    separator, quoting, header = wanted
    whole = lines
    sep_place, sep = separator_line(lines)
    if sep_place >= 0:
        lines = lines.without(sep_place, sep_place + 1)
    if is_number(header):
        check_line(lines, int(header), path)
        lines = lines.without(0, int(header) - 1)
    numbered = enumerate(lines_since(lines, 0), 1)
    number, first = next(((number, line) for number, line in numbered if line.strip()), (0, ""))
    if not number:
        raise _nothing_kept(path, None)
    if not separator:
        separator = sep or choose_separator(lines)
    elif separator not in first and (likely := choose_separator(lines)) not in ("", separator):
        template = marked("engine", "Line {line} holds no {separator!r}; {likely!r} is more likely.")
        notes.append(Sentence(template, {"line": number, "separator": separator, "likely": likely}))
    _check_width(first, separator, path)
    quoting, records = yield from cut(lines, separator, quoting)
    if records.faults and header != "no" and records.faults[0][0] < (records.starts or [len(lines) + 1])[0]:
        template = marked("engine", "The header of {path} cannot be read. {fault}")
        raise DataError(template, path=path, fault=records.faults[0][1])
    if not records.rows:
        raise _nothing_kept(path, records.faults[0][1] if records.faults else None)
    place = find_header(records) if header in ("", "yes") else 0
    has_header = header != "no" if header else looks_like_header(records.rows[place : place + 501])
    header_line = records.starts[place] if has_header else 0
    width = len(records.rows[place]) if has_header else usual_width(records.rows)
    records.drop(place)
    yield Beat()
    notes += above_note(whole, header_line, sep_place)
    notes += yield from join_broken(records, lines, width)
    names = [""] * commonest(records.widths())[0]
    if has_header:
        names = records.rows[0]
        records.drop(1)
    return TableFormat("csv", encoding, separator, quoting, has_header, header_line), records, names


def _check_width(first: str, separator: str, path: Path) -> None:
    """Refuse, before it is cut, a first line of more columns than anyone means. Raises: DataError."""
    num_columns = first.count(separator) + 1 if separator else 1
    if num_columns > (100 * MAX_COLUMNS if '"' in first else MAX_COLUMNS):
        raise _too_wide(path, num_columns)


def _too_wide(path: Path, num_columns: int) -> DataError:
    return DataError(
        marked("engine", "{path} has {found} columns, but at most {most} can be read. Check the separator."),
        path=path,
        found=num_columns,
        most=MAX_COLUMNS,
    )


def _build(
    path: Path,
    how: TableFormat,
    records: Records,
    names: list[str],
    damaged: bool,
    notes: list[Sentence],
    sha256: str,
) -> Table:
    if len(names) > MAX_COLUMNS:
        raise _too_wide(path, len(names))
    columns = _unique(names)
    if damaged and SURROGATES.search("".join(names)):
        template = marked("engine", "The names of the columns of {path} hold bytes that are not {encoding}.")
        raise DataError(template, path=path, encoding=how.encoding)
    renamed = [new for old, new in zip(names, columns, strict=True) if " ".join(old.split()) not in ("", new)]
    if renamed:
        notes.append(
            Sentence(
                marked("engine", "Some columns have the same name. They are called {names}."),
                {"names": renamed[:10]},
            )
        )
    kept, bad = _keep(records, len(columns), how, damaged)
    bad.sort(key=lambda line: line.line)
    if not columns or not (kept.any() if kept is not None else len(records.rows)):
        raise _nothing_kept(path, bad[0].sentence if bad else None)
    assert isinstance(records.rows, Rows)
    cells = zip(columns, records.rows.columns(len(columns), kept), strict=True)
    lines = np.array(records.starts, dtype=np.int64)
    lines = lines if kept is None else lines[kept]
    lines.flags.writeable = False
    import pandas  # here: half a second, and only a table needs it

    from engine.text.reading.cells import CellArray

    frame = pandas.DataFrame({name: CellArray(*column) for name, column in cells}, copy=False)
    return Table(path, how, columns, frame, lines, tuple(bad), tuple(notes), sha256)


def _keep(
    records: Records, width: int, how: TableFormat, damaged: bool
) -> tuple[np.ndarray[Any, np.dtype[np.bool_]] | None, list[BadLine]]:
    """Return which records are rows, (R,) or None for all, and the lines that are none."""
    bad = [BadLine(line, sentence) for line, sentence in records.faults]
    widths = records.widths()
    kept = widths == width
    for place in np.flatnonzero(~kept).tolist():
        line = records.starts[place]
        bad.append(BadLine(line, _width_sentence(line, int(widths[place]), width, how.has_header)))
    if damaged and isinstance(records.rows, Rows):
        template = marked(
            "engine",
            "Line {line} holds bytes that are not {encoding}. Fix it, or choose another encoding.",
        )
        found = records.rows.damaged()
        for place in found[kept[found]].tolist():
            line = records.starts[place]
            bad.append(BadLine(line, Sentence(template, {"line": line, "encoding": how.encoding})))
        kept[found] = False
    return None if kept.all() else kept, bad


def _width_sentence(line: int, found: int, width: int, has_header: bool) -> Sentence:
    values = {"line": line, "found": found, "width": width}
    if has_header and found == 1:
        template = marked("engine", "Line {line} has 1 column; the header has {width}. Check the separator.")
    elif has_header:
        template = marked(
            "engine", "Line {line} has {found} columns; the header has {width}. Check the separator."
        )
    elif found == 1:
        template = marked("engine", "Line {line} has 1 column; most lines have {width}. Check the separator.")
    else:
        template = marked(
            "engine", "Line {line} has {found} columns; most lines have {width}. Check the separator."
        )
    return Sentence(template, values)


def reported_note(name: str, reported: Sequence[BadLine]) -> Sentence:
    """Return what to tell of lines that are left out: how many, which, and why the first."""
    template = marked("engine", "{count} lines of {name} cannot be used: {lines}. The first: {first}")
    if len(reported) == 1:
        template = marked("engine", "Line {lines} of {name} cannot be used: {first}")
    lines = some_of([str(bad.line) for bad in reported], _MOST_LINES)
    return Sentence(
        template, {"count": len(reported), "name": name, "lines": lines, "first": reported[0].sentence}
    )


def _nothing_kept(path: Path, first: Sentence | None) -> DataError:
    if first is None:
        template = marked(
            "engine",
            "{path} has a header and no rows. Add rows. If line 1 is a row, say that there is no header.",
        )
        return DataError(template, path=path)
    return DataError(marked("engine", "No row of {path} can be read. {first}"), path=path, first=first)


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names stripped, the empty ones numbered and the later of equal ones counted."""
    stripped = [" ".join(name.split()) or f"column {number}" for number, name in enumerate(names, 1)]
    taken, unique = set(stripped), list[str]()
    seen: Counter[str] = Counter()
    for name in stripped:
        seen[name] += 1
        new = name
        while seen[name] > 1 and (new := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        taken.add(new)
        unique.append(new)
    return tuple(unique)


def write_csv(
    path: str | Path,
    columns: Sequence[str],
    rows: pandas.DataFrame | Iterable[Sequence[object]],
    *,
    separator: str = ",",
    guard: bool = True,
    exempt: Collection[str] = (),
    bom: bool = False,
) -> None:
    """Write a UTF-8 table whole or not at all; what was there before stands until the new file is complete.

    Args:   rows: cells in the order of `columns`, or a frame that has them. guard: put an apostrophe before
            names and text cells that a spreadsheet would run. exempt: columns left alone, such as numbers.
    Raises: UserError if the folder cannot be written to, the disk is full, or a cell holds half a character.
    """
    path = Path(path)
    check_writable(path)
    if hasattr(rows, "itertuples"):  # a frame, and nobody has to import pandas to ask
        rows = cast("pandas.DataFrame", rows)[list(columns)].itertuples(index=False, name=None)
    guarded = [guard and name not in exempt for name in columns]
    try:
        with (
            replaced_file(path) as beside,
            beside.open("w", encoding="utf-8-sig" if bom else "utf-8", newline="") as file,
        ):
            writer = csv.writer(file, delimiter=separator)
            writer.writerow([_guard(name) if on else name for name, on in zip(columns, guarded, strict=True)])
            for row in rows:
                writer.writerow([_guard(c) if on else c for c, on in zip(row, guarded, strict=True)])
    except UnicodeEncodeError as error:
        template = marked(
            "engine", "{path} was not written, because a cell holds half a character. Fix the table."
        )
        raise DataError(template, path=path) from error


def write_table(
    path: str | Path,
    columns: Sequence[str],
    rows: pandas.DataFrame | Iterable[Sequence[object]],
    *,
    separator: str = ",",
    guard: bool = True,
    exempt: Collection[str] = (),
    sheet: Sheet | None = None,
) -> None:
    """Write a table as the name of its file says: .xlsx a workbook, .tsv with tabs, any other as CSV.

    Args: as of `write_csv`; a workbook needs no guard, for all its cells are text, and what is exempt may be
    numbers. sheet: another sheet of it; beside a file without sheets, a file of its own.
    Raises: UserError as `write_csv`, and where a sheet is too small.
    """
    path = Path(path)
    if path.suffix.lower() == ".xlsx":
        from engine.text.workbook import write_workbook  # here: few write one

        write_workbook(path, columns, rows, exempt, sheet)
        return
    separator = "\t" if path.suffix.lower() == ".tsv" else separator
    write_csv(path, columns, rows, separator=separator, guard=guard, exempt=exempt)
    if sheet is not None:
        write_csv(
            sheet_place(path, sheet.name),
            sheet.columns,
            sheet.rows,
            separator=separator,
            guard=guard,
            exempt=sheet.numbers,
        )


def _guard(cell: object) -> object:
    return "'" + cell if isinstance(cell, str) and _RUN.match(cell) else cell
