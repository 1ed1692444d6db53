"""What the XML of an Excel sheet says and its values do not: errors, long numbers, number formats, size.

Cells are found by their tags, without a parser: nothing is expanded, and a sheet of a million cells takes
two seconds.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from posixpath import normpath
from xml.sax.saxutils import unescape

from engine.errors import DataError, marked
from engine.events import Beat, Steps
from engine.text.reading.dialect import MAX_COLUMNS
from engine.text.reading.sheets.found import MOST_CELLS, MOST_TEXT, too_large
from engine.text.reading.sheets.number_formats import BUILT_IN, NumberFormat, is_plain
from engine.text.reading.sheets.zipped import blocks, damaged

_TAG = re.compile(rb"<(?:\w+:)?(row|c)(?=[\s/>])([^>]*)>")
_CELL = re.compile(rb"<c[\s/>]")
_PLACE = re.compile(rb'<c r="([A-Z]+)(\d+)"')
_TELLING = (b"<f>", b"<f ", b"<f/", b't="e"', b"'", b":c ")  # a cell may show other than its value
_LONG = re.compile(rb">\d{16}")
_FILLED = re.compile(rb"<(?:\w+:)?(?:v|is|f|t)\b")
_FORMULA = re.compile(rb"<(?:\w+:)?f\b")
_REF = re.compile(rb"""\br\s*=\s*["']([A-Za-z]*)(\d*)["']""")
_STYLE = re.compile(rb"""\bs\s*=\s*["'](\d+)["']""")
_TYPE = re.compile(rb"""\bt\s*=\s*["'](\w+)["']""")
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>([^<]*)<")
_ITEM = re.compile(rb"<(?:\w+:)?si\b")
_FORMAT = re.compile(rb"<(?:\w+:)?numFmt\b([^>]*)>")
_FORMAT_ID = re.compile(rb"""\bnumFmtId\s*=\s*["'](\d+)""")
_FORMAT_CODE = re.compile(rb"""\bformatCode\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_XFS = re.compile(rb"<(?:\w+:)?cellXfs\b.*?</(?:\w+:)?cellXfs\s*>", re.S)
_XF = re.compile(rb"""<(?:\w+:)?xf\b[^>]*?\bnumFmtId\s*=\s*["'](\d+)["']|<(?:\w+:)?xf\b""")
_LONGEST = 1 << 26  # bytes of a row or a shared text
_MOST_DIGITS = 15  # that a number keeps on its way


@dataclass(slots=True)
class Scan:
    """What was found in a sheet, by 0-based row and column."""

    num_rows: int = 0
    num_columns: int = 0
    texts: dict[tuple[int, int], str] = field(
        default_factory=dict
    )  # what the cell shows, other than its value
    uncounted: int = 0  # formulas without a value
    formulas: int = 0
    formatted: int = 0  # numbers that are read as their format shows them
    in_full: int = 0  # numbers and dates whose format is not read


@dataclass(slots=True)
class Book:
    """What sheets share. text_sizes: the bytes of each shared text. formats: of styles, by number, that show
    another text than the value. others: styles with any other format, but for digits alone.
    """

    text_sizes: list[int] = field(default_factory=list)
    formats: dict[bytes, NumberFormat] = field(default_factory=dict)
    others: frozenset[bytes] = frozenset()
    telling: re.Pattern[bytes] | None = None  # finds a style that is among `formats`
    counted: re.Pattern[bytes] | None = None  # finds a number with a style that is among `others`

    @property
    def longest(self) -> int:
        return max(self.text_sizes, default=0)


def read_book(archive: zipfile.ZipFile, path: Path) -> Steps[Book]:
    """Return what sheets share. Raises: DataError."""
    sizes: list[int] = []
    names = {name.lower(): name for name in archive.namelist()}
    if shared := names.get("xl/sharedstrings.xml"):
        for piece in _pieces(blocks(archive, shared, path), b"si>", path):
            starts = [found.start() for found in _ITEM.finditer(piece)]
            sizes += [stop - start for start, stop in pairwise([*starts, len(piece)])]
            yield Beat()
    book = Book(sizes)
    if styles := names.get("xl/styles.xml"):
        _read_formats(book, b"".join(blocks(archive, styles, path)))
    return book


def _read_formats(book: Book, styles: bytes) -> None:
    """Note the styles whose cells may show other than their value."""
    codes = {b"%d" % number: code for number, code in BUILT_IN.items()}
    for found in _FORMAT.finditer(styles):
        number, written = _FORMAT_ID.search(found[1]), _FORMAT_CODE.search(found[1])
        if number and written:
            text = (written[1] or written[2] or b"").decode("utf-8", "replace")
            codes[number[1]] = unescape(text, {"&quot;": '"', "&apos;": "'"})
    section = _XFS.search(styles)
    others = set()
    for place, used in enumerate(_XF.finditer(section[0]) if section else ()):
        style, code = b"%d" % place, codes.get(used[1], "")
        if form := NumberFormat.of(code):
            book.formats[style] = form
        elif used[1] and not is_plain(int(used[1]), code):
            others.add(style)
    book.others = frozenset(others)
    if book.formats:
        book.telling = re.compile(rb"""\bs\s*=\s*["'](?:""" + b"|".join(book.formats) + rb""")["']""")
    if others:
        book.counted = re.compile(rb' s="(?:' + b"|".join(sorted(others)) + rb')"><v>')


def scan_sheet(archive: zipfile.ZipFile, name: str, book: Book, path: Path) -> Steps[Scan]:
    """Look at every cell of a sheet. Raises: DataError where its texts would fill the memory."""
    if name not in archive.namelist():
        raise damaged(path)
    found, num_bytes = Scan(), 0
    weigh = book.longest * archive.getinfo(name).file_size // 20 > MOST_TEXT
    row = -1
    for piece in _pieces(blocks(archive, name, path), b"row>", path):
        if b"\0" in piece[:100] or b"<!DOCTYPE" in piece[:1000]:
            raise damaged(path)
        if not weigh and (end := _plain_end(piece, book)):
            row = end[0] - 1
            found.in_full += len(book.counted.findall(piece)) if book.counted is not None else 0
            found.num_rows, found.num_columns = max(found.num_rows, end[0]), max(found.num_columns, end[1])
            yield Beat()
            continue
        for about, body, at_row, column in _cells(piece, row):
            row = at_row
            if column < 0 or not _FILLED.search(body):
                continue
            found.num_rows = max(found.num_rows, row + 1)
            found.num_columns = max(found.num_columns, column + 1)
            kind = _look(found, (row, column), about, body, book)
            num_bytes += _size(body, book) if weigh and kind == b"s" else 0
        if num_bytes > MOST_TEXT:
            raise too_large(path)
        yield Beat()
    return found


def _plain_end(piece: bytes, book: Book) -> tuple[int, int] | None:
    """Return how many rows and columns a piece reaches where no more is to be known; None: look closely.

    Empty cells with a style count here, so a reach that would be refused is looked at closely.
    """
    if b"<v>" not in piece or any(mark in piece for mark in _TELLING) or _LONG.search(piece):
        return None
    if book.telling is not None and book.telling.search(piece):
        return None
    places = _PLACE.findall(piece)
    if not places or len(places) != len(_CELL.findall(piece)):  # some do not say where they are
        return None
    columns = 1 + max(map(_column, {letters for letters, _ in places}))
    rows = max(map(int, {number for _, number in places}))
    return (rows, columns) if columns <= MAX_COLUMNS and rows * columns <= MOST_CELLS else None


def _cells(piece: bytes, row: int) -> Iterator[tuple[bytes, bytes, int, int]]:
    """Yield each tag of a row (column -1) or cell: its attributes, what follows it, and its place."""
    column, tags = -1, list(_TAG.finditer(piece))
    ends = [*(tag.start() for tag in tags[1:]), len(piece)]
    for tag, end in zip(tags, ends, strict=False):  # without a tag there is one end too many
        ref = _REF.search(tag[2])
        if tag[1] == b"row":
            row, column = (int(ref[2]) - 1 if ref and ref[2] else row + 1), -1
            yield tag[2], b"", row, -1
            continue
        column = _column(ref[1]) if ref and ref[1] else column + 1
        row = int(ref[2]) - 1 if ref and ref[2] else max(row, 0)
        yield tag[2], piece[tag.end() : end], row, column


def _look(found: Scan, at: tuple[int, int], about: bytes, body: bytes, book: Book) -> bytes:
    """Note what a cell shows other than its value; return its type."""
    named = _TYPE.search(about)
    kind = named[1] if named else b"n"
    if kind == b"s" and not _FORMULA.search(body):
        return kind
    said = _VALUE.search(body)
    value = said[1].strip() if said else b""
    if _FORMULA.search(body):
        found.formulas += 1
        found.uncounted += not value and kind != b"str"
    if kind == b"e":
        found.texts[at] = value.decode("utf-8", "replace")
    elif kind in (b"n", b"d") and value:
        _look_at_number(found, at, about, value, book)
    return kind


def _look_at_number(found: Scan, at: tuple[int, int], about: bytes, value: bytes, book: Book) -> None:
    style = _STYLE.search(about)
    form = book.formats.get(style[1]) if style else None
    said = text = value.decode("ascii", "replace")
    if form is not None:
        said = form.said(text)
        found.formatted += said != text
    elif style:
        found.in_full += style[1] in book.others
    if said != text or (value.isdigit() and len(value) > _MOST_DIGITS):
        found.texts[at] = said


def _size(body: bytes, book: Book) -> int:
    said = _VALUE.search(body)
    place = int(said[1]) if said and said[1].strip().isdigit() else -1
    return book.text_sizes[place] if 0 <= place < len(book.text_sizes) else 0


def _column(letters: bytes) -> int:
    """Return the 0-based number of a column: A is 0, AA is 26."""
    number = 0
    for letter in letters.upper()[:4]:
        number = 26 * number + letter - 64
    return number - 1


def _pieces(parts: Iterator[bytes], end: bytes, path: Path) -> Iterator[bytes]:
    """Yield a part's bytes cut behind the end of a tag, so that no element is in two pieces.

    Raises: DataError where an element is longer than a spreadsheet writes any.
    """
    rest = b""
    for block in parts:
        seen = len(rest)
        rest += block
        cut = rest.rfind(end, max(0, seen - len(end))) + len(end)
        if cut >= len(end):
            yield rest[:cut]
            rest = rest[cut:]
        if len(rest) > _LONGEST:
            raise damaged(path)
    yield rest


def sheet_parts(archive: zipfile.ZipFile, path: Path) -> dict[str, str]:
    """Return the parts of the sheets by their names. Raises: DataError."""
    names = archive.namelist()
    if "xl/workbook.xml" not in names:
        raise damaged(path)
    from xml.etree import ElementTree

    try:
        book = ElementTree.fromstring(_small(archive, "xl/workbook.xml", path))
        links = ElementTree.fromstring(_small(archive, "xl/_rels/workbook.xml.rels", path))
    except ElementTree.ParseError as error:
        raise damaged(path) from error
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    found = {}
    for sheet in book.iter():
        if sheet.tag.endswith("}sheet"):
            key = next((value for name, value in sheet.attrib.items() if name.endswith("}id")), "")
            target = targets.get(key, "")
            part = target.lstrip("/") if target.startswith("/") else normpath(f"xl/{target}")
            found[sheet.get("name", "")] = part
    return found


def _small(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """Return a part that is to be parsed. Raises: DataError where it is none that Excel writes."""
    data = b"".join(blocks(archive, name, path))
    if len(data) > 1 << 24 or b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise DataError(
            marked("engine", "{path} holds no workbook that can be read. Save it as CSV."), path=path
        )
    return data
