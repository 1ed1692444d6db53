"""What an OpenDocument spreadsheet holds before it is read: its tables, how far they reach, formulas, and
numbers that show other than their values.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from engine.events import Beat, Steps
from engine.text.reading.sheets.found import MOST_TEXT, check_size, too_large
from engine.text.reading.sheets.zipped import blocks, damaged, encrypted

_MOST_DIGITS = 15  # that a number keeps on its way
_MOST_SAID = 2_000_000  # cells that show other than their values
_NUMBERS = ("float", "percentage", "currency", "date", "time")
_EXPONENT = re.compile(r"[-+\d.,]+[eE][-+]?\d+")
_CELLS = ("table:table-cell", "table:covered-table-cell")


@dataclass(slots=True)
class OdsTable:
    """A table as far as it is filled."""

    name: str
    num_rows: int = 0
    num_columns: int = 0
    num_bytes: int = 0
    merged: int = 0
    formulas: int = 0
    uncounted: int = 0
    links: int = 0
    formatted: int = 0  # numbers that are read as they are shown
    in_full: int = 0  # numbers and dates that are shown in another way
    texts: dict[tuple[int, int], str] = field(default_factory=dict)  # what cells show, other than their value


def scan_ods(archive: zipfile.ZipFile, path: Path) -> Steps[dict[str, OdsTable]]:
    """Return the tables by name. Raises: DataError for a bomb, a password or XML that is none."""
    names = archive.namelist()
    if "META-INF/manifest.xml" in names:
        manifest = b"".join(blocks(archive, "META-INF/manifest.xml", path))
        if b"encryption-data" in manifest:
            raise encrypted(path)
    if "content.xml" not in names:
        raise damaged(path)
    reader = _Reader(path)
    try:
        for block in blocks(archive, "content.xml", path):
            reader.parser.Parse(block, False)
            yield Beat()
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise damaged(path) from error
    return reader.tables


class _Reader:
    """Hears the tags of content.xml."""

    def __init__(self, path: Path) -> None:
        self.tables: dict[str, OdsTable] = {}
        self._path, self._depth = path, 0
        self._table = OdsTable("")
        self._row = self._column = self._times = self._filled = self._repeats = self._row_bytes = 0
        self._in_cell = self._in_note = False
        self._kind = self._value = ""
        self._shown: list[str] = []  # of the cell
        self._said: list[tuple[int, int, str]] = []  # of the row: column, times, what it shows
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: Any) -> None:
        raise damaged(self._path)

    def _begin(self, tag: str, about: dict[str, str]) -> None:
        if tag == "table:table":
            self._table = self.tables.setdefault(
                about.get("table:name", ""), OdsTable(about.get("table:name", ""))
            )
            self._row = 0
        elif tag == "table:table-row":
            self._times = _number(about, "table:number-rows-repeated")
            self._column = self._filled = self._row_bytes = 0
            self._said = []
        elif tag in _CELLS:
            self._begin_cell(about)
        elif tag == "office:annotation":
            self._in_note = True
        elif tag == "table:table-source":
            self._table.links += 1

    def _begin_cell(self, about: dict[str, str]) -> None:
        self._in_cell, self._repeats = True, _number(about, "table:number-columns-repeated")
        self._column += self._repeats
        has_value = "office:value-type" in about
        if "table:formula" in about:
            self._table.formulas += 1
            self._table.uncounted += not has_value
        if "table:number-columns-spanned" in about or "table:number-rows-spanned" in about:
            spans = [_number(about, f"table:number-{one}-spanned") for one in ("columns", "rows")]
            self._table.merged += max(spans) > 1
        if has_value:
            self._filled = self._column
        self._kind, self._shown = about.get("office:value-type", ""), []
        dated = about.get("office:date-value", about.get("office:time-value", ""))
        self._value = about.get("office:value", dated)

    def _text(self, data: str) -> None:
        if self._in_cell:
            self._filled = self._column
            self._row_bytes += len(data) * self._repeats
            if self._kind in _NUMBERS and not self._in_note:
                self._shown.append(data)

    def _end(self, tag: str) -> None:
        if tag in _CELLS:
            self._in_cell = False
            if self._kind in _NUMBERS:
                self._end_number("".join(self._shown).strip())
        elif tag == "office:annotation":
            self._in_note = False
        elif tag == "table:table-row":
            self._end_said()
            self._row += self._times
            if self._filled:
                table = self._table
                table.num_rows, table.num_columns = self._row, max(table.num_columns, self._filled)
                table.num_bytes += self._row_bytes * self._times
                if table.num_bytes > MOST_TEXT:
                    raise too_large(self._path)
                check_size(self._path, table.num_rows, table.num_columns)

    def _end_number(self, shown: str) -> None:
        """Note a number that shows other than its value, or another way to write it."""
        said, table = "", self._table
        is_said = self._kind in ("percentage", "time") or (self._kind == "float" and _is_text(shown))
        if shown and is_said:
            said = shown
            table.formatted += self._times * self._repeats
        elif self._kind == "float" and self._value.isdigit() and len(self._value) > _MOST_DIGITS:
            said = self._value
        elif shown and shown != self._value:
            table.in_full += self._times * self._repeats
        if said:
            self._said.append((self._column - self._repeats, self._repeats, said))

    def _end_said(self) -> None:
        texts = self._table.texts
        if len(texts) + self._times * sum(times for _, times, _ in self._said) > _MOST_SAID:
            raise too_large(self._path)
        for first, times, said in self._said:
            for row in range(self._row, self._row + self._times):
                texts.update(((row, column), said) for column in range(first, first + times))


def _is_text(shown: str) -> bool:
    """Whether a number shows as zeros in front, or with a word or a plus: 00042, ID-7, but not 1.5E+20."""
    if shown.isdigit():
        return len(shown) > 1 and shown[0] == "0"
    return shown.startswith("+") or (any(map(str.isalpha, shown)) and not _EXPONENT.fullmatch(shown))


def _number(about: dict[str, str], name: str) -> int:
    """Return a count that an attribute says; 1 where it says none."""
    said = about.get(name, "1")
    return max(1, int(said[:12])) if said.isascii() and said.isdigit() else 1
