"""From the bytes of a text file to its characters, and how sure we are of it.

The order of the guesses is the point: a byte order mark, UTF-16 or UTF-32 by its NULs, strict UTF-8, GB18030
only where the result is mostly common Chinese (much of latin-1 is valid GB18030), charset-normalizer last.
"""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps, result_of
from engine.text.reading.kinds import A_TABLE
from engine.text.reading.latin import latin_encoding

_BOMS = (  # UTF-32 first: its little-endian mark begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_AS_CSV = marked("engine", "Save it as CSV first.")
_UNPACK = marked("engine", "Unpack it first.")
_FROM_PYTHON = marked("engine", "Write its data as CSV or JSON lines from Python first.")
_OTHER = marked("engine", "Choose another file.")
_MAGICS = (
    (b"\x89PNG", marked("engine", "a PNG picture"), _OTHER),
    (b"\xff\xd8\xff", marked("engine", "a JPEG picture"), _OTHER),
    (b"GIF8", marked("engine", "a GIF picture"), _OTHER),
    (b"%PDF", marked("engine", "a PDF document"), _AS_CSV),
    (b"PAR1", marked("engine", "a Parquet file"), _AS_CSV),
    (b"ARROW1", marked("engine", "an Arrow file"), _AS_CSV),
    (b"FEA1", marked("engine", "a Feather file"), _AS_CSV),
    (b"Obj\x01", marked("engine", "an Avro file"), _AS_CSV),
    (b"PK\x03\x04", marked("engine", "a zip archive or an Excel workbook"), _AS_CSV),
    (b"PK\x05\x06", marked("engine", "an empty zip archive"), _OTHER),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        marked("engine", "an Excel workbook or another Office file"),
        _AS_CSV,
    ),
    (b"{\\rtf", marked("engine", "an RTF document"), _AS_CSV),
    (b"\x1f\x8b", marked("engine", "a compressed file"), _UNPACK),
    (b"BZh", marked("engine", "a compressed file"), _UNPACK),
    (b"\xfd7zXZ", marked("engine", "a compressed file"), _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", marked("engine", "a compressed file"), _UNPACK),
    (b"\x28\xb5\x2f\xfd", marked("engine", "a compressed file"), _UNPACK),
    (b"Rar!\x1a", marked("engine", "a compressed file"), _UNPACK),
    (b"SQLite format 3", marked("engine", "an SQLite database"), _AS_CSV),
    (b"\x93NUMPY", marked("engine", "a NumPy array"), _FROM_PYTHON),
    (b"\x89HDF", marked("engine", "an HDF5 file"), _FROM_PYTHON),
    *((bytes((128, version)), marked("engine", "a Python pickle"), _FROM_PYTHON) for version in range(2, 6)),
)
_SAMPLE = 1 << 16
# What charset-normalizer rates alike is decided by how common an encoding is.
_PREFERRED = ("cp1252", "cp1251", "cp932", "big5", "cp949", "euc_jis_2004", "cp1250", "iso8859_2", "cp1254")
_LATIN = ["cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257"]
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b"))
_BLOCK = 1 << 22  # bytes between two steps
_ESCAPED = re.compile(b"\xed[\xb2\xb3]")  # how U+DC80 to U+DCFF, a byte that is no character, begins in UTF-8
_FOREIGN = re.compile(b"[\x80-\xff]+")
SURROGATES = re.compile("[\ud800-\udfff]")
HALVES = re.compile(b"\xed[\xa0-\xbf]")  # how they begin in UTF-8


@dataclass(frozen=True, slots=True)
class Decoded:
    """The characters of a file, in UTF-8: as `str` one emoji would make each of them four bytes.

    Where `damaged`, each byte that is not `encoding` is a lone surrogate ("surrogatepass").
    """

    utf8: bytes
    encoding: str
    damaged: bool = False
    guessed: bool = False
    num_cut: int = 0  # bytes at the end that are half a character, left out

    @property
    def text(self) -> str:
        """The whole text, made anew each time."""
        return self.utf8.decode("utf-8", "surrogatepass")

    def head(self, count: int) -> str:
        """Return the first characters, `count` of them at most."""
        stop = 4 * count
        while stop < len(self.utf8) and self.utf8[stop] & 0xC0 == 0x80:
            stop += 1
        return self.utf8[:stop].decode("utf-8", "surrogatepass")[:count]


def decode(data: bytes, path: Path, encoding: str = "") -> Decoded:
    """Return the characters of `data` at once: see `decoding`."""
    return result_of(decoding(data, path, encoding))


def decoding(data: bytes, path: Path, encoding: str = "") -> Steps[Decoded]:
    """Return the characters of `data`, without its byte order mark, step by step.

    Args:   path: only for sentences. encoding: a codec's name, or "" to detect it.
    Raises: DataError if the bytes are no text, or are not in the encoding asked for (naming the line).
    """
    check_kind(data, path)
    found = yield from _strict(data, path, encoding_name(encoding)) if encoding else _detect(data, path)
    head = found.head(_SAMPLE)
    strange = sum(head.count(chr(code)) for code in _CONTROLS)
    if strange > 0.3 * len(head):
        raise _not_text(path)
    return replace(found, utf8=found.utf8.removeprefix(codecs.BOM_UTF8))


def _as_utf8(data: bytes, name: str, errors: str = "strict") -> Steps[bytes]:
    """Return a text in UTF-8, which is `data` itself where it is that already. Raises: UnicodeDecodeError."""
    is_same = name == "utf-8" and errors == "strict"
    if len(data) <= _BLOCK:
        text = data.decode(name, errors)
        return data if is_same else text.encode("utf-8", "surrogatepass")
    pieces = []
    try:
        for text in _texts(data, name, errors):
            if not is_same:
                pieces.append(text.encode("utf-8", "surrogatepass"))
            yield Beat()
    except UnicodeDecodeError:
        data.decode(name, errors)  # names the place within the whole
        raise
    return data if is_same else b"".join(pieces)


def _texts(data: bytes, name: str, errors: str) -> Iterator[str]:
    """Yield a text block by block."""
    decoder = codecs.getincrementaldecoder(name)(errors)
    for start in range(0, len(data), _BLOCK):
        yield decoder.decode(data[start : start + _BLOCK], start + _BLOCK >= len(data))


def check_kind(head: bytes, path: Path) -> None:
    """Refuse what the first bytes of a file show to be no text. Raises: DataError naming what it is."""
    for magic, kind, remedy in _MAGICS:
        if head.startswith(magic):
            raise DataError(
                marked("engine", "{path} is {kind}, not a text table. {remedy}"),
                path=path,
                kind=Sentence(kind),
                remedy=Sentence(remedy),
            )
    if head[257:262] == b"ustar":
        template = marked("engine", "{path} is {kind}, not a text table. {remedy}")
        raise DataError(
            template, path=path, kind=Sentence(marked("engine", "a tar archive")), remedy=Sentence(_UNPACK)
        )
    if len(head) >= _SAMPLE and not head.strip(b"\0"):
        raise _not_text(path)


def encoding_name(name: str) -> str:
    """Return Python's name of a text encoding. Raises: DataError if there is none of that name."""
    try:
        info = codecs.lookup(name.strip())
        "".encode(info.name)  # refuses what is no text encoding, such as base64
        if info.name in ("unicode_escape", "raw_unicode_escape", "undefined", "idna", "punycode"):
            raise LookupError
    except (LookupError, ValueError, UnicodeError):
        raise DataError(
            marked("engine", "There is no encoding named {name}. Try utf-8, gb18030 or cp1252."), name=name
        ) from None
    return info.name.replace("_", "-") if info.name.startswith("utf") else info.name


def guess_note(found: Decoded) -> Sentence:
    """Return what to tell a person of an encoding that only looks likely."""
    return Sentence(
        marked("engine", "The encoding looks like {encoding}. If letters are wrong, choose another."),
        {"encoding": found.encoding},
    )


def _detect(data: bytes, path: Path) -> Steps[Decoded]:
    for mark, name in _BOMS:
        if data.startswith(mark):
            found = (yield from _mostly_utf8(data, sure=True)) if name == "utf-8" else None
            return found or (yield from _strict(data, path, name))
    found = (yield from _wide(data)) or (yield from _mostly_utf8(data))
    if found:
        return found
    head = data[:_SAMPLE]
    if len(head) - len(head.translate(None, _CONTROLS)) > 0.02 * len(head):
        raise _not_text(path)
    return (yield from _chinese(data)) or (yield from _legacy(data, path))


def _strict(data: bytes, path: Path, name: str) -> Steps[Decoded]:
    try:
        if data in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return Decoded(b"", name)
        if name.startswith(("utf-16", "utf-32")) and 0 not in data:  # its line ends would hold NULs
            raise UnicodeDecodeError(name, data, 0, 1, "no NULs")
        return (yield from _whole_units(data, name)) or Decoded((yield from _as_utf8(data, name)), name)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(name, "ignore")
        line = 1 + before.count("\n" if "\n" in before else "\r")
        raise DataError(
            marked(
                "engine",
                "Line {line} of {path} is not {encoding}. Let the encoding be detected, or choose another.",
            ),
            line=line,
            path=path,
            encoding=name,
        ) from error


def _whole_units(data: bytes, name: str) -> Steps[Decoded | None]:
    """UTF-16 or UTF-32 in which half a character stands, at the end or amid the text; None for all else.

    The bytes of an unfinished unit at the end are left out; half of a pair of surrogates costs its row only.
    """
    if not name.startswith(("utf-16", "utf-32")):
        return None
    stray = len(data) % (2 if name.startswith("utf-16") else 4)
    try:
        utf8 = yield from _as_utf8(data[: len(data) - stray], name, "surrogatepass")
    except UnicodeDecodeError:
        return None
    if not utf8:
        return None
    return Decoded(utf8, name, damaged=HALVES.search(utf8) is not None, num_cut=stray)


def cut_note(num_bytes: int) -> Sentence:
    """Return what to tell of a file that ends within a character."""
    template = marked(
        "engine",
        "The file ends within a character: its last {count} bytes are ignored. It may have been truncated.",
    )
    if num_bytes == 1:
        template = marked(
            "engine",
            "The file ends within a character: its last byte is ignored. It may have been truncated.",
        )
    return Sentence(template, {"count": num_bytes})


def _wide(data: bytes) -> Steps[Decoded | None]:
    """UTF-16 or UTF-32 without a mark: ASCII characters, line ends above all, carry NULs on one side."""
    head = data[:_SAMPLE]
    num_nuls = head.count(0)
    if not num_nuls or (num_nuls < 0.2 * len(head) and (yield from _is_utf8(data))):
        return None
    for name in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        whole = len(data) - len(data) % (2 if name.startswith("utf-16") else 4)
        if name.startswith("utf-32") and whole != len(data):
            continue
        try:
            found = Decoded((yield from _as_utf8(data[:whole], name)), name, num_cut=len(data) - whole)
        except UnicodeDecodeError:
            continue
        begun = found.head(_SAMPLE)
        has_lines = b"\n" in found.utf8 or b"\r" in found.utf8 or b"\n" not in data
        if has_lines and begun.count("\0") < 0.01 * len(begun) and re.search(b"[ -~]", found.utf8):
            return found
    return None


def _is_utf8(data: bytes) -> Steps[bool]:
    try:
        yield from _as_utf8(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _mostly_utf8(data: bytes, sure: bool = False) -> Steps[Decoded | None]:
    """UTF-8, also with some damaged bytes: hardly any other text holds valid sequences by chance."""
    if (yield from _is_utf8(data)):
        return Decoded(data, "utf-8")
    num_foreign = num_bad = 0
    for text in _texts(data, "utf-8", "surrogateescape"):
        num_foreign += len(text) - len(text.encode("ascii", "ignore"))
        num_bad += len(_ESCAPED.findall(text.encode("utf-8", "surrogatepass")))
        yield Beat()
    if not sure and num_foreign - num_bad < 2 * num_bad:
        return None
    return Decoded((yield from _as_utf8(data, "utf-8", "surrogateescape")), "utf-8", damaged=True)


def _chinese(data: bytes) -> Steps[Decoded | None]:
    """GB18030, if 4 in 5 of its characters are everyday ones and few bytes are damaged."""
    utf8 = yield from _as_utf8(data, "gb18030", "surrogateescape")
    num_bad = len(_ESCAPED.findall(utf8))
    foreign = _first_runs(utf8, 200_000).decode("utf-8", "surrogatepass")[:50000]
    codes = np.frombuffer(foreign.encode("gb2312", "ignore"), ">u2")
    level_1 = codes[(codes >= 0xB000) & (codes < 0xD800)]  # the 3,755 most common characters, by pinyin
    everyday = len(level_1) + int(((codes >= 0xA100) & (codes < 0xA400)).sum())  # and punctuation
    if everyday < 0.8 * len(foreign) or num_bad > 0.01 * len(foreign):
        return None
    # Korean EUC-KR lies in the same place, but ends before 0xC900; a third of Chinese text lies above it.
    kinds = np.unique(level_1)
    if len(kinds) >= 10 and (kinds >= 0xC900).mean() < 0.1:
        return None
    return Decoded(utf8, "gb18030", damaged=num_bad > 0, guessed=True)


def _first_runs(data: bytes, size: int) -> bytes:
    """Return the first runs of bytes beyond ASCII, whole, as many as it takes for `size` bytes."""
    runs, found = [], 0
    for run in _FOREIGN.finditer(data):
        runs.append(run[0])
        found += len(run[0])
        if found >= size:
            break
    return b"".join(runs)


def _legacy(data: bytes, path: Path) -> Steps[Decoded]:
    """One of the older encodings, by charset-normalizer; it is shown the lines that tell something."""
    telling = _telling(data)
    runs = re.findall(b"[\x80-\xff]+", telling)
    is_latin = len(b"".join(runs)) < 1.5 * len(runs)  # accents stand alone; other scripts come in runs
    if len(b"".join(runs)) < 2 * len(runs) and (name := latin_encoding(telling)):
        with contextlib.suppress(UnicodeDecodeError):
            return Decoded((yield from _as_utf8(data, name)), name, guessed=True)
    from charset_normalizer import from_bytes  # here: few files need it

    matches = list(from_bytes(telling, cp_isolation=_LATIN if is_latin else None))
    if matches:
        best = matches[0]
        close = [m for m in matches if m.chaos <= best.chaos + 0.01 and m.coherence >= best.coherence - 0.02]
        names = [name for match in close for name in match.could_be_from_charset]
        names.sort(key=lambda name: _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED))
        for name in [*names, *(match.encoding for match in matches)]:
            try:
                return Decoded((yield from _as_utf8(data, name)), name, guessed=True)
            except UnicodeDecodeError:
                continue
    raise DataError(
        marked("engine", "The encoding of {path} is unclear. Choose one, such as cp1252 or shift_jis."),
        path=path,
    )


def _telling(data: bytes) -> bytes:
    """Return the first lines that are not ASCII, joined and cut at the size of a sample."""
    lines, size = [], 0
    for line in re.finditer(b"[^\r\n]+", data):
        if not line[0].isascii():
            lines.append(line[0])
            size += len(line[0]) + 1
            if size > _SAMPLE:
                break
    return b"\n".join(lines)[:_SAMPLE]


def _not_text(path: Path) -> DataError:
    template = marked("engine", "{path} does not hold text. Choose {a_table}.")
    return DataError(template, path=path, a_table=Sentence(A_TABLE))
