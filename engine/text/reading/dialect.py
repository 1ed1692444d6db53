"""Where one cell ends and the next begins: lines, separator, quoting and header, decided by evidence.

Nothing is dropped here: what cannot be read becomes a fault with the number of its line, and reading goes on
so that one lost quote does not swallow the rows after it.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.errors import Sentence, marked
from engine.events import Beat, Steps, result_of
from engine.text.reading.lines import Lines, Numbers, counting, lines_since, searching
from engine.text.reading.rows import Rows

SEPARATORS = ("\t", ";", "|", ",")  # what is rarer in prose first: it wins a draw
MAX_COLUMNS = 10_000
MOST_ABOVE = 20  # lines above a header
_SAMPLE_LINES, _SAMPLE_CHARS, _SHORT = 5000, 2_000_000, 200
_LINES_AT_ONCE = 4096  # between two steps
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?%?")
USUAL_NAME = re.compile(
    "text(s|_a|_b)?|sentence(1|2|_a|_b)?|question[12]?|labels?|gold_label|class|category|target|sentiment|tags?|id"
    "|idx|index|title|review|answer|context|content|comment|document|message|quality|score|rating|premise|hypothesis"
    "|文本|标签|类别|句子|内容|标题|评论|问题",
    re.IGNORECASE,
)


def _numbers() -> array[int]:
    return array("q")


@dataclass(slots=True)
class Records:
    """Records in the order of the file, blank ones left out, and what could not be read.

    rows: those of a sample are a plain list, which is quicker made.
    """

    rows: Rows | list[list[str]] = field(default_factory=Rows)
    starts: array[int] = field(default_factory=_numbers)  # 1-based physical line where each row starts
    faults: list[tuple[int, Sentence]] = field(default_factory=list)
    span_firsts: array[int] = field(default_factory=_numbers)  # of rows on several lines, 0-based
    span_stops: array[int] = field(default_factory=_numbers)  # end open

    @property
    def spans(self) -> Iterator[tuple[int, int]]:
        """Which lines each row on several lines takes."""
        return zip(self.span_firsts, self.span_stops, strict=True)

    def widths(self) -> Numbers:
        """Return (R,) how many cells each row has."""
        return widths_of(self.rows)

    def drop(self, count: int) -> None:
        """Take the first rows away."""
        if isinstance(self.rows, Rows):
            self.rows.drop(count)
        else:
            del self.rows[:count]
        del self.starts[:count]


def widths_of(rows: Sequence[Sequence[str]]) -> Numbers:
    """Return (R,) how many cells each row has."""
    return rows.widths() if isinstance(rows, Rows) else np.fromiter(map(len, rows), np.int64, len(rows))


def plain_records(lines: Sequence[str], separator: str) -> Records:
    """Cut a sample at every separator; quotes are characters like others. No `separator`: one cell a line."""
    return result_of(_plain(lines, separator, Records(rows=[])))


def quoted_records(lines: Sequence[str], separator: str) -> Records:
    """Cut a few lines as RFC 4180 says: see `_quoted`."""
    return result_of(_quoted(lines, separator, Records(rows=[])))


def _plain(lines: Sequence[str], separator: str, found: Records) -> Steps[Records]:
    for first in range(0, len(lines), _LINES_AT_ONCE):
        rows = []
        for number, line in enumerate(lines[first : first + _LINES_AT_ONCE], first + 1):
            line = line.removesuffix("\n").removesuffix("\r")
            if line:
                rows.append(line.split(separator) if separator else [line])
                found.starts.append(number)
        found.rows.extend(rows)
        yield Beat()
    return found


def _quoted(
    lines: Sequence[str], separator: str, found: Records | None = None, *, is_sample: bool = False
) -> Steps[Records]:
    """Cut as RFC 4180 says. A quote that is not closed properly is a fault of the line that it opens in.

    Args: is_sample: more lines follow, so that a quote that is open at the end is no fault.
    """
    return (
        yield from _reader_records(lines, separator, None, csv.QUOTE_MINIMAL, found or Records(), is_sample)
    )


def _escaped(
    lines: Sequence[str], separator: str, found: Records | None = None, *, is_sample: bool = False
) -> Steps[Records]:
    """Cut where a backslash makes the quote, separator, line end or backslash after it plain text.

    Before any other character a backslash is text itself, and a cell that is MySQL's NULL, \\N, is empty.
    Cells may be quoted (Spark) or not at all (MySQL); what costs fewer records is taken.
    """
    best = found or Records()
    other = Records() if isinstance(best.rows, Rows) else Records(rows=[])
    beyond = re.compile(rf'\\([\\"{re.escape(separator)}\r\n]?)', re.DOTALL)
    best = yield from _reader_records(lines, separator, beyond, csv.QUOTE_MINIMAL, best, is_sample)
    if best.faults and not _are_quoted(lines, separator):
        plain = yield from _reader_records(lines, separator, beyond, csv.QUOTE_NONE, other, is_sample)
        if (yield from num_lost(plain, lines, separator)) < (yield from num_lost(best, lines, separator)):
            best = plain
    return best


def _are_quoted(lines: Sequence[str], separator: str) -> bool:
    """Whether most cells that open with a quote close with one, so that quotes are no plain text."""
    cells = [cell for row in plain_records(lines[:_SAMPLE_LINES], separator).rows for cell in row]
    opened = [cell for cell in cells if cell.startswith('"')]
    return 2 * sum(len(cell) > 1 and cell.endswith('"') for cell in opened) > len(opened)


def _double(found: re.Match[str]) -> str:
    """Keep a backslash that makes nothing plain: the reader would leave it out."""
    return found[0] if found[1] else "\\\\"


def _reader_records(
    lines: Sequence[str],
    separator: str,
    escapes: re.Pattern[str] | None,
    quoting: int,
    found: Records,
    is_sample: bool,
) -> Steps[Records]:
    """Return the records of `lines`, which the csv module reads, and goes on after each fault.

    What is read again after faults is bounded, so that no file takes more than a few passes; beyond that,
    each line with a quote is a fault of its own.
    """
    csv.field_size_limit(2**31 - 1)  # for the whole process; the default refuses cells over 128 kB
    begin, again = 0, 10 * len(lines) + 10_000
    width = 0  # of the first row
    while begin < len(lines):
        reader = csv.reader(
            _shown(lines_since(lines, begin), escapes),
            delimiter=separator,
            strict=True,
            escapechar="\\" if escapes else None,
            quoting=quoting,  # type: ignore[arg-type]
        )
        at, beat = begin, begin + _LINES_AT_ONCE
        try:
            for row in reader:
                stop = begin + reader.line_num
                if row:
                    width = width or len(row)
                    found.rows.append(_unescaped(row) if escapes else row)
                    found.starts.append(at + 1)
                    if stop > at + 1:
                        found.span_firsts.append(at)
                        found.span_stops.append(stop)
                at = stop
                if at >= beat:
                    beat = at + _LINES_AT_ONCE
                    yield Beat()
            break
        except csv.Error:
            stop = begin + reader.line_num  # past the line where it went wrong
            if is_sample and stop == len(lines):
                break
            again -= stop - at
            if again < 0:
                _line_by_line(lines, at, separator, found)
                break
            if escapes is None:
                found.faults.append((at + 1, _quote_fault(lines, at, stop, separator)))
            else:
                found.faults.append((at + 1, _escape_fault(at + 1)))
            num_even = _num_even(lines, at + 1, stop, separator, width or 1)
            # Lines that are whole records were swallowed by the quote; others are the rest of a long cell.
            begin = at + 1 if stop == len(lines) or 2 * num_even >= stop - at - 1 else stop
            yield Beat()
    return found


def _shown(lines: Iterator[str], escapes: re.Pattern[str] | None) -> Iterator[str]:
    """Yield the lines as the csv module is to read them."""
    if escapes is None:
        return lines
    return (escapes.sub(_double, line) if "\\" in line else line for line in lines)


def _unescaped(row: list[str]) -> list[str]:
    return ["" if cell == "\\N" else cell for cell in row] if "\\N" in row else row


def _line_by_line(lines: Sequence[str], first: int, separator: str, found: Records) -> None:
    """Add what lies from line `first` on: lines without a quote as rows, the others as faults."""
    template = marked("engine", "Line {line} has quotes that do not match. Fix it, or set quoting to none.")
    for number, line in enumerate(lines_since(lines, first), first):
        line = line.rstrip("\r\n")
        if '"' in line:
            found.faults.append((number + 1, Sentence(template, {"line": number + 1})))
        elif line:
            found.rows.append(line.split(separator))
            found.starts.append(number + 1)


def _escape_fault(line: int) -> Sentence:
    template = marked(
        "engine",
        "Line {line} opens a quote that is not closed properly. Close it, put a "
        "backslash before each quote within the cell, or choose another quoting.",
    )
    return Sentence(template, {"line": line})


def _quote_fault(lines: Sequence[str], first: int, stop: int, separator: str) -> Sentence:
    text = "".join(lines[first:stop])
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    cut = re.escape(separator)
    cell = re.compile(rf'(?:"[^"]*+(?:""[^"]*+)*+"|[^"{cut}\n][^{cut}\n]*+)?+(?:{cut}|\n)')
    at = 0
    while match := cell.match(text, at):
        at = match.end()
    opened = first + 1 + text.count("\n", 0, at)
    if closed := re.compile('"[^"]*+(?:""[^"]*+)*+"').match(text, at):
        return Sentence(
            marked(
                "engine",
                "The quote that opens in line {line} closes in the middle of a cell, in line "
                "{end}. Double the quotes within the cell, or set quoting to none.",
            ),
            {"line": opened, "end": opened + closed.group().count("\n")},
        )
    return Sentence(
        marked(
            "engine",
            "The quote that opens in line {line} is never closed. Close it, or set quoting to none.",
        ),
        {"line": opened},
    )


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the width that most records have; the first one's, where no width has half of them."""
    if not rows:
        return 1
    width, count = commonest(widths_of(rows))
    return width if 2 * count >= len(rows) else len(rows[0])


def commonest(widths: Numbers) -> tuple[int, int]:
    """Return the number that comes most often, the first of equals, and how often."""
    counts = np.bincount(widths)
    most = np.flatnonzero(counts == counts.max()).tolist()
    width = most[0] if len(most) == 1 else min(most, key=lambda one: int((widths == one).argmax()))
    return width, int(counts[width])


def num_lost(records: Records, lines: Sequence[str], separator: str) -> Steps[int]:
    """Return how many records this reading costs: of another width, unreadable, swallowed by a quote.

    Their width is that of a header with telling names, or else what most have.
    """
    width = usual_width(records.rows)
    first = records.rows[0] if records.rows else []
    if len(first) > 1 and any(USUAL_NAME.fullmatch(cell.strip()) for cell in first):
        width = len(first)
    swallowed = yield from _num_swallowed(records, lines, separator, width)
    return int((records.widths() != width).sum()) + len(records.faults) + swallowed


def _num_swallowed(records: Records, lines: Sequence[str], separator: str, width: int) -> Steps[int]:
    """Return how many lines of records on several lines would be whole records if quotes meant nothing."""
    found = 0
    for place, (first, stop) in enumerate(records.spans):
        found += _num_even(lines, first, stop, separator, width)
        if place % _LINES_AT_ONCE == _LINES_AT_ONCE - 1:
            yield Beat()
    return found


def _num_even(lines: Sequence[str], first: int, stop: int, separator: str, width: int) -> int:
    """How many of these lines would be whole records if quotes meant nothing."""
    return sum(line.count(separator) == width - 1 for line in lines[first:stop])


def choose_separator(lines: Sequence[str]) -> str:
    """Return the separator that cuts a sample of the lines most evenly, or "" for one column.

    A few lines that stand above the header, such as a title, do not count against it.
    """
    sample, size = [], 0
    for line in lines[:_SAMPLE_LINES]:
        sample.append(line[:_SAMPLE_CHARS])
        size += len(line)
        if size > _SAMPLE_CHARS:
            break
    has_quotes = any('"' in line for line in sample)
    has_escapes = any("\\" in line for line in sample)
    best, best_share = "", 0.0
    for separator in SEPARATORS:
        if not any(separator in line for line in sample):
            continue
        rows = plain_records(sample, separator).rows
        share = _evenness([len(row) for row in rows], rows)
        for reader in [_quoted] * has_quotes + [_escaped] * has_escapes:
            reading = reader(sample, separator, Records(rows=[]), is_sample=len(sample) < len(lines))
            quoted = result_of(reading)
            widths = [len(row) for row in quoted.rows] + [0] * len(quoted.faults)
            share = max(share, _evenness(widths, quoted.rows))
        if share > best_share:
            best, best_share = separator, share
    if best:
        return best
    if has_quotes:
        quoted = quoted_records(sample, ",")
        if quoted.rows and not quoted.faults and all(len(row) == 1 for row in quoted.rows):
            return ","
    return _separator_below_title(sample[:_SHORT])


def _separator_below_title(lines: Sequence[str]) -> str:
    """Return the separator that cuts all lines from a header on evenly, where a few lines stand above it."""
    filled = [line for line in lines if line.strip()]
    for skip in range(1, min(MOST_ABOVE, len(filled) - 2) + 1):
        for separator in SEPARATORS:
            if separator not in filled[skip]:
                continue
            found = quoted_records(filled[skip:], separator)
            even = len({len(row) for row in found.rows}) == 1 and len(found.rows[0]) > 1
            if even and not found.faults and len(found.rows) > 2 and looks_like_header(found.rows):
                return separator
    return ""


def _evenness(widths: list[int], rows: Sequence[list[str]]) -> float:
    """The share of records of the expected width; 0 if this does not look like columns."""
    if not rows:
        return 0.0
    width, count = Counter(widths).most_common(1)[0]
    if width > 1 and count >= 0.7 * len(widths):
        return count / len(widths)
    width = len(rows[0])  # a header, over texts that hold separators
    wide_enough = sum(found >= width for found in widths) >= 0.8 * len(widths)
    if width > 1 and wide_enough and len(widths) > 1 and all(_is_name(cell) for cell in rows[0]):
        return widths.count(width) / len(widths)
    return 0.0


def cut(lines: Lines, separator: str, quoting: str = "") -> Steps[tuple[str, Records]]:
    """Return how quotes are meant ("csv", "backslash" or "none") and the records read so, step by step.

    CSV quoting must earn its place: cells that open with a quote have to close properly, and must not swallow
    lines that are whole records by themselves (MRPC would lose 114 rows that way). A first line with all its
    cells in quotes settles it. Backslashes are taken for escapes where that costs fewer records, or none and
    no quote within a cell lacks its backslash.
    """
    if quoting == "backslash" and separator:
        return quoting, (yield from _escaped(lines, separator))
    how, found = yield from _cut_plainly(lines, separator, quoting)
    if quoting or not separator or b"\\" not in lines.utf8:
        return how, found
    escaping = re.compile(rf'\\["{re.escape(separator)}\r\n]'.encode())
    if not (yield from searching(lines.utf8, escaping)):
        return how, found
    lost = yield from num_lost(found, lines, separator)
    if lost or (yield from _all_escaped(lines.utf8, separator)):
        escaped = yield from _escaped(lines, separator)
        lost_escaped = yield from num_lost(escaped, lines, separator)
        if lost_escaped < lost or not lost_escaped:
            return "backslash", escaped
    return how, found


def _all_escaped(utf8: bytes, separator: str) -> Steps[bool]:
    """Whether quotes stand within cells, and each of them behind a backslash."""
    cut = re.escape(separator) + r"\r\n"
    bare = re.compile(rf'(?<![\\{cut}])"(?![{cut}])(?!\Z)'.encode())
    return b'\\"' in utf8 and not (yield from searching(utf8, bare, 1))


def _cut_plainly(lines: Lines, separator: str, quoting: str) -> Steps[tuple[str, Records]]:
    """Return "csv" or "none", and the records read so."""
    opened = 0
    if separator and quoting != "none" and b'"' in lines.utf8:
        opened = yield from counting(lines.utf8, f'{separator}"'.encode())
        opened += lines.num_beginning('"')
    if not opened:
        usual = "csv" if separator not in ("", "\t") else "none"
        return quoting or usual, (yield from _plain(lines, separator, Records()))
    quoted = yield from _quoted(lines, separator)
    yield Beat()
    if quoting:
        return quoting, quoted
    width = usual_width(quoted.rows)
    if _is_regular(quoted, width):
        return "csv", quoted
    swallowed = yield from _num_swallowed(quoted, lines, separator, width)
    spanned = sum(quoted.span_stops) - sum(quoted.span_firsts)
    if 10 * len(quoted.faults) > opened or 2 * swallowed > spanned:
        plain = yield from _plain(lines, separator, Records())
        if all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in plain.rows[0]):
            return "csv", quoted
        lost = yield from num_lost(plain, lines, separator)
        if lost < (yield from num_lost(quoted, lines, separator)):
            return "none", plain
    return "csv", quoted


def _is_regular(quoted: Records, width: int) -> bool:
    """Whether quotes hold cells of several lines as a rule: every record is whole, and many span lines.

    Where the texts hold separators, each line of such a cell may look like a record by itself.
    """
    whole = not quoted.faults and bool((quoted.widths() == width).all())
    return whole and width > 1 and len(quoted.span_firsts) >= max(3, len(quoted.rows) // 10)


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns, judged against up to 500 records below it."""
    first, below = (
        [cell.strip() for cell in rows[0]],
        [row for row in rows[1:501] if len(row) == len(rows[0])],
    )
    if any(_NUMBER.fullmatch(cell) for cell in first):
        return False
    if any(USUAL_NAME.fullmatch(cell) for cell in first):
        return True
    if not below:
        return len(first) > 1 and all(_is_name(cell) for cell in first)
    votes = 0
    for number, name in enumerate(first):
        cells = [row[number].strip() for row in below if row[number].strip()]
        if not name or not cells:
            continue
        num_kinds, mean = len(set(cells)), sum(map(len, cells)) / len(cells)
        if sum(_NUMBER.fullmatch(cell) is not None for cell in cells) >= 0.9 * len(cells):
            votes += 2
        elif name in cells and num_kinds < len(cells):
            votes -= 2  # one of the labels
        elif len(cells) >= 5 and num_kinds <= max(2, len(cells) // 5):
            votes += 1
        elif mean >= 20:
            votes += 1 if _is_name(name) and len(name) < mean / 3 else -1
    return votes > 0 or (votes == 0 and len(first) > 1 and all(_is_name(cell) for cell in first))


def _is_name(cell: str) -> bool:
    return (
        len(cell) <= 40
        and len(cell.split()) <= 4
        and not cell.rstrip().endswith(tuple(".!?\u3002\uff01\uff1f"))
    )
