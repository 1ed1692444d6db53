"""Where one cell ends and the next begins: lines, separator, quoting and header, decided by evidence.

Nothing is dropped here: what cannot be read becomes a fault with the number of its line, and reading goes on
so that one lost quote does not swallow the rows after it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.errors import Sentence, marked

SEPARATORS = ("\t", ";", "|", ",")  # what is rarer in prose first: it wins a draw
MAX_COLUMNS = 10_000
_SAMPLE_LINES, _SAMPLE_CHARS = 5000, 2_000_000
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?%?")
_USUAL_NAME = re.compile(
    "text(s|_a|_b)?|sentence(1|2|_a|_b)?|question[12]?|labels?|gold_label|class|category|target|sentiment|tags?|id"
    "|idx|index|title|review|answer|context|content|comment|document|message|quality|score|rating|premise|hypothesis"
    "|文本|标签|类别|句子|内容|标题|评论|问题",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Records:
    """Records in the order of the file, blank ones left out, and what could not be read."""

    rows: list[list[str]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)  # 1-based physical line where each row starts
    faults: list[tuple[int, Sentence]] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)  # of rows on several lines, 0-based, end open


def split_lines(text: str) -> list[str]:
    """Return the physical lines with their ends: at each LF, or at each CR where there is no LF at all."""
    return list(io.StringIO(text, newline="\n" if "\n" in text else "\r"))


def plain_records(lines: Sequence[str], separator: str) -> Records:
    """Cut at every separator; quotes are characters like others. No `separator`: one cell a line."""
    found = Records()
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\n").removesuffix("\r")
        if line:
            found.rows.append(line.split(separator) if separator else [line])
            found.starts.append(number)
    return found


def quoted_records(lines: Sequence[str], separator: str) -> Records:
    """Cut as RFC 4180 says. A quote that is not closed properly is a fault of the line that it opens in."""
    csv.field_size_limit(2**31 - 1)  # for the whole process; the default refuses cells over 128 kB
    found = Records()
    begin = 0
    while begin < len(lines):
        source = map(lines.__getitem__, range(begin, len(lines)))
        reader = csv.reader(source, delimiter=separator, strict=True)
        at = begin
        try:
            for row in reader:
                if row:
                    found.rows.append(row)
                    found.starts.append(at + 1)
                    if begin + reader.line_num > at + 1:
                        found.spans.append((at, begin + reader.line_num))
                at = begin + reader.line_num
            break
        except csv.Error:
            stop = begin + reader.line_num  # past the line where it went wrong
            found.faults.append((at + 1, _quote_fault(lines, at, stop, separator)))
            width = len(found.rows[0]) if found.rows else 1
            num_even = _num_even(lines, at + 1, stop, separator, width)
            # Lines that are whole records were swallowed by the quote; others are the rest of a long cell.
            begin = at + 1 if stop == len(lines) or 2 * num_even >= stop - at - 1 else stop
    return found


def _quote_fault(lines: Sequence[str], first: int, stop: int, separator: str) -> Sentence:
    text = "".join(lines[first:stop])
    if "\n" not in text:
        text = text.replace("\r", "\n")
    cut = re.escape(separator)
    cell = re.compile(rf'(?:"[^"]*+(?:""[^"]*+)*+"|[^"{cut}\r\n][^{cut}\r\n]*+)?+(?:{cut}|\r?\n)')
    at = 0
    while match := cell.match(text, at):
        at = match.end()
    opened = first + 1 + text.count("\n", 0, at)
    if not text.startswith('"', at):
        return Sentence(
            marked("engine", "Line {line} has a carriage return within a cell. Put the cell in quotes."),
            {"line": opened},
        )
    if closed := re.compile('"[^"]*+(?:""[^"]*+)*+"').match(text, at):
        return Sentence(
            marked(
                "engine",
                "The quote that opens in line {line} closes in the middle of a cell, in line {end}. "
                "Double the quotes within the cell, or read with quoting none.",
            ),
            {"line": opened, "end": opened + closed.group().count("\n")},
        )
    return Sentence(
        marked(
            "engine",
            "The quote that opens in line {line} is never closed. Close it, or read with quoting none.",
        ),
        {"line": opened},
    )


def _num_even(lines: Sequence[str], first: int, stop: int, separator: str, width: int) -> int:
    """How many of these lines would be whole records if quotes meant nothing."""
    return sum(lines[number].count(separator) == width - 1 for number in range(first, stop))


def choose_separator(lines: Sequence[str]) -> str:
    """Return the separator that cuts a sample of the lines most evenly, or "" for one column."""
    sample, size = [], 0
    for line in lines[:_SAMPLE_LINES]:
        sample.append(line)
        size += len(line)
        if size > _SAMPLE_CHARS:
            break
    has_quotes = any('"' in line for line in sample)
    best, best_share = "", 0.0
    for separator in SEPARATORS:
        if not any(separator in line for line in sample):
            continue
        rows = plain_records(sample, separator).rows
        share = _evenness([len(row) for row in rows], rows)
        if has_quotes:
            quoted = quoted_records(sample, separator)
            if len(sample) < len(lines) and quoted.faults:  # cut short by the end of the sample
                quoted.faults.pop()
            widths = [len(row) for row in quoted.rows] + [0] * len(quoted.faults)
            share = max(share, _evenness(widths, quoted.rows))
        if share > best_share:
            best, best_share = separator, share
    if not best and has_quotes:
        quoted = quoted_records(sample, ",")
        if not quoted.faults and all(len(row) == 1 for row in quoted.rows):
            return ","
    return best


def _evenness(widths: list[int], rows: list[list[str]]) -> float:
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


def cut(lines: Sequence[str], text: str, separator: str, quoting: str = "") -> tuple[str, Records]:
    """Return how quotes are meant ("csv" or "none") and the records read so.

    CSV quoting must earn its place: cells that open with a quote have to close properly, and must not swallow
    lines that are whole records by themselves (MRPC would lose 114 rows that way). A first line with all its
    cells in quotes settles it.
    """
    opened = 0
    if separator and quoting != "none" and '"' in text:
        opened = text.count(separator + '"') + sum(line.startswith('"') for line in lines)
    if not opened:
        usual = "csv" if separator not in ("", "\t") else "none"
        return quoting or usual, plain_records(lines, separator)
    quoted = quoted_records(lines, separator)
    if quoting:
        return quoting, quoted
    width = len(quoted.rows[0]) if quoted.rows else 1
    swallowed = sum(_num_even(lines, first, stop, separator, width) for first, stop in quoted.spans)
    spanned = sum(stop - first for first, stop in quoted.spans)
    if 10 * len(quoted.faults) > opened or 2 * swallowed > spanned:
        plain = plain_records(lines, separator)
        if all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in plain.rows[0]):
            return "csv", quoted
        width = len(plain.rows[0])
        lost_plain = sum(len(row) != width for row in plain.rows)
        lost_quoted = sum(len(row) != width for row in quoted.rows) + len(quoted.faults) + swallowed
        if lost_plain < lost_quoted:
            return "none", plain
    return "csv", quoted


def looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first record names the columns, judged against up to 500 records below it."""
    first, below = (
        [cell.strip() for cell in rows[0]],
        [row for row in rows[1:501] if len(row) == len(rows[0])],
    )
    if any(_NUMBER.fullmatch(cell) for cell in first):
        return False
    if any(_USUAL_NAME.fullmatch(cell) for cell in first):
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
