"""Which ends of lines are ends of rows where a file mixes several.

LF, CRLF and CR each end a line; within quotes they are text, which the csv module sees to. Outside quotes the
rarer of two kinds may be text too: then it stands in the middle of rows, and never between two whole ones.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from engine.errors import Sentence, marked, some_of
from engine.events import Beat, Steps
from engine.text.reading.dialect import Records
from engine.text.reading.lines import Lines, Numbers, counting
from engine.text.reading.rows import Rows

_AT_ONCE = 4096  # rows between two steps


def join_broken(records: Records, lines: Lines, width: int) -> Steps[list[Sentence]]:
    """Put rows together that a lone CR or LF broke in two; return what to tell of it.

    A kind of line end is text if it is rarer than another, and no whole row ends in it.
    """
    notes: list[Sentence] = []
    num_cr = yield from counting(lines.utf8, b"\r")
    if not num_cr:  # all end in LF
        return notes
    num_both = yield from counting(lines.utf8, b"\r\n")
    num_lf = (yield from counting(lines.utf8, b"\n")) - num_both
    num_cr -= num_both
    for end, count in (("\r", num_cr), ("\n", num_lf)):
        if not 0 < count < max(num_both, num_cr, num_lf):
            continue
        ended = _rows_ended_by(end, records, lines)
        is_whole = records.widths() == width
        if width > 1 and not (is_whole[ended] & is_whole[ended + 1]).any():
            if joined := (yield from _join(records, ended.tolist(), end, width)):
                notes.append(_told(joined))
        elif end == "\r" and len(ended):
            template = marked(
                "engine", "Lines end in more than one way. Each lone carriage return also ends a row."
            )
            notes.append(Sentence(template))
    return notes


def _rows_ended_by(end: str, records: Records, lines: Lines) -> Numbers:
    """Return the places of rows that end in a lone CR or LF with the next row right below."""
    starts = np.array(records.starts, np.int64)
    last = starts.copy()  # 1-based line where each row ends
    _, rows, spans = np.intersect1d(starts, np.array(records.span_firsts) + 1, return_indices=True)
    last[rows] = np.array(records.span_stops)[spans]
    followed = starts[1:] == last[:-1] + 1
    return np.flatnonzero(followed & lines.are_ended_by(last[:-1] - 1, end))


def _join(records: Records, ended: Sequence[int], end: str, width: int) -> Steps[list[int]]:
    """Join runs of rows that together are one whole row; return the lines where they start."""
    breaks, joined, gone = set(ended), dict[int, list[str]](), set[int]()
    for count, first in enumerate(ended):
        if count % _AT_ONCE == _AT_ONCE - 1:
            yield Beat()
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
        joined[first] = row
        gone.update(range(first + 1, stop + 1))
    if not gone:
        return []
    rows, starts = Rows(), array("q")
    for place, start in enumerate(records.starts):
        if place not in gone:
            rows.append(joined.get(place) or records.rows[place])
            starts.append(start)
        if place % _AT_ONCE == _AT_ONCE - 1:
            yield Beat()
    told = [records.starts[first] for first in joined]
    records.rows, records.starts = rows, starts
    return told


def _told(joined: Sequence[int]) -> Sentence:
    template = marked(
        "engine",
        "{count} rows contain a line break that does not end the row, and are kept whole: lines {lines}.",
    )
    if len(joined) == 1:
        template = marked(
            "engine",
            "The row in line {lines} contains a line break that does not end the row, and is kept whole.",
        )
    return Sentence(template, {"count": len(joined), "lines": some_of([*map(str, joined)], 5)})
