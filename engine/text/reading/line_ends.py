"""The physical lines of a text, and which of their ends are ends of rows where a file mixes several.

LF, CRLF and CR each end a line; within quotes they are text, which the csv module sees to. Outside quotes the
rarer of two kinds may be text too: then it stands in the middle of rows, and never between two whole ones.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

from engine.errors import Sentence, marked
from engine.text.reading.dialect import Records


def split_lines(text: str) -> list[str]:
    """Return the physical lines with their ends: LF, CRLF or CR, whichever stands there."""
    return list(io.StringIO(text, newline=""))


def join_broken(records: Records, lines: Sequence[str], text: str, width: int) -> list[Sentence]:
    """Put rows together that a lone CR or LF broke in two; return what to tell of it.

    A kind of line end is text if it is rarer than another, and no whole row ends in it.
    """
    num_both = text.count("\r\n")
    num_cr, num_lf = text.count("\r") - num_both, text.count("\n") - num_both
    notes = []
    for end, count in (("\r", num_cr), ("\n", num_lf)):
        if not 0 < count < max(num_both, num_cr, num_lf):
            continue
        ended = _rows_ended_by(end, records, lines)
        if width > 1 and not any(_both_whole(records, place, width) for place in ended):
            if joined := _join(records, ended, end, width):
                notes.append(_told(joined))
        elif end == "\r" and ended:
            template = marked(
                "engine", "Lines end in more than one way; each lone carriage return ends a row, too."
            )
            notes.append(Sentence(template))
    return notes


def _rows_ended_by(end: str, records: Records, lines: Sequence[str]) -> list[int]:
    """Return the places of rows that end in a lone CR or LF with the next row right below."""
    last = {start + 1: stop for start, stop in records.spans}
    found = []
    for place, start in enumerate(records.starts[:-1]):
        line = last.get(start, start)
        text = lines[line - 1]
        if text[-1:] == end and text[-2:] != "\r\n" and records.starts[place + 1] == line + 1:
            found.append(place)
    return found


def _both_whole(records: Records, place: int, width: int) -> bool:
    return len(records.rows[place]) == len(records.rows[place + 1]) == width


def _join(records: Records, ended: Sequence[int], end: str, width: int) -> list[int]:
    """Join runs of rows that together are one whole row; return the lines where they start."""
    breaks, joined, gone = set(ended), list[int](), set[int]()
    for first in ended:
        if first in gone or first - 1 in breaks:
            continue
        stop = first + 1
        while stop in breaks:
            stop += 1
        some = records.rows[first : stop + 1]
        if sum(map(len, some)) - len(some) + 1 != width:
            continue
        row = list(some[0])
        for more in some[1:]:
            row[-1] += end + more[0]
            row += more[1:]
        records.rows[first] = row
        gone.update(range(first + 1, stop + 1))
        joined.append(records.starts[first])
    if gone:
        records.rows = [row for place, row in enumerate(records.rows) if place not in gone]
        records.starts = [start for place, start in enumerate(records.starts) if place not in gone]
    return joined


def _told(joined: Sequence[int]) -> Sentence:
    template = marked(
        "engine",
        "{count} rows hold a line end that is no end of a row, and are kept whole: lines {lines}.",
    )
    if len(joined) == 1:
        template = marked(
            "engine", "The row in line {lines} holds a line end that is no end of a row, and is kept whole."
        )
    named = ", ".join(map(str, joined[:5])) + (", ..." if len(joined) > 5 else "")
    return Sentence(template, {"count": len(joined), "lines": named})
