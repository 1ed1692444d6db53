"""What an OpenDocument spreadsheet holds before it is read: its tables, how far they reach, formulas."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

from engine.events import Beat, Steps
from engine.text.reading.sheets.found import MOST_TEXT, check_size, too_large
from engine.text.reading.sheets.zipped import blocks, damaged, encrypted

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
        self._in_cell = False
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
        elif tag in _CELLS:
            self._begin_cell(about)
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

    def _text(self, data: str) -> None:
        if self._in_cell:
            self._filled = self._column
            self._row_bytes += len(data) * self._repeats

    def _end(self, tag: str) -> None:
        if tag in _CELLS:
            self._in_cell = False
        elif tag == "table:table-row":
            self._row += self._times
            if self._filled:
                table = self._table
                table.num_rows, table.num_columns = self._row, max(table.num_columns, self._filled)
                table.num_bytes += self._row_bytes * self._times
                if table.num_bytes > MOST_TEXT:
                    raise too_large(self._path)
                check_size(self._path, table.num_rows, table.num_columns)


def _number(about: dict[str, str], name: str) -> int:
    """Return a count that an attribute says; 1 where it says none."""
    said = about.get(name, "1")
    return max(1, int(said[:12])) if said.isascii() and said.isdigit() else 1
