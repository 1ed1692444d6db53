"""Which line names the columns, and what stands above it: a sep= line, a title, comments, blank lines.

What stands above a header is no row: it is told, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.errors import DataError, Sentence, marked
from engine.text.reading.dialect import (
    MOST_ABOVE,
    SEPARATORS,
    USUAL_NAME,
    Records,
    looks_like_header,
    usual_width,
)

_SEP_LINE = re.compile(r'"?sep=(\t|\\t|.)"?\s*', re.IGNORECASE)
_QUOTED = 80  # characters of what stands above


def separator_line(lines: Sequence[str]) -> tuple[int, str]:
    """Return the 0-based place of Excel's sep= line and its separator ("" if none of ours), or -1."""
    for place, line in enumerate(lines[: MOST_ABOVE + 1]):
        if line.strip():
            found = _SEP_LINE.fullmatch(line)
            named = found[1].replace("\\t", "\t") if found else ""
            return (place, named if named in SEPARATORS else "") if found else (-1, "")
    return -1, ""


def check_line(lines: Sequence[str], number: int, path: object) -> None:
    """Refuse a header in a line that is not there or is blank. Raises: DataError."""
    if number > len(lines):
        template = marked(
            "engine", "{path} has {count} lines, so line {line} cannot be its header. Name another line."
        )
        raise DataError(template, path=path, count=len(lines), line=number)
    if not lines[number - 1].strip():
        template = marked(
            "engine", "Line {line} of {path} is blank, so it cannot be the header. Name another line."
        )
        raise DataError(template, path=path, line=number)


def find_header(records: Records) -> int:
    """Return the place of the record that would be the header: the first, or one below a title."""
    rows = records.rows
    width = usual_width(rows)
    if width < 2:
        return 0
    above = 0
    while above < min(MOST_ABOVE, len(rows) - 1) and _stands_above(rows, above, width):
        above += 1
    if not above or len(rows[above]) != width or not looks_like_header(rows[above : above + 501]):
        return 0
    if len(rows[0]) > 1 and all(rows[0]) and any(USUAL_NAME.fullmatch(cell.strip()) for cell in rows[0]):
        return 0  # a header of another width than the rows, which is to be told
    return above


def _stands_above(rows: Sequence[Sequence[str]], place: int, width: int) -> bool:
    """Whether a record is no row of the table: of another width, one cell alone, or a comment."""
    row = rows[place]
    if len(row) != width or not any(cell.strip() for cell in row[1:]):
        return True
    if not _num_usual(row) and any(_num_usual(below) == width for below in rows[place + 1 : place + 4]):
        return True  # a title with as many separators, above names that cannot be mistaken
    following = [cell.strip() for cell in rows[place + 1]]
    return row[0].lstrip().startswith("#") and (
        _num_usual(row) < _num_usual(following) or following[0].startswith("#")
    )


def _num_usual(row: Sequence[str]) -> int:
    return sum(USUAL_NAME.fullmatch(cell.strip().lstrip("# ")) is not None for cell in row)


def above_note(lines: Sequence[str], header_line: int, sep_place: int) -> list[Sentence]:
    """Return what to tell of the lines above the header.

    Args: header_line: 1-based; 0 without a header. sep_place: 0-based, of a sep= line; -1 for none.
    """
    filled = [
        line.strip()
        for place, line in enumerate(lines[: max(0, header_line - 1)])
        if line.strip() and place != sep_place
    ]
    notes = []
    if sep_place >= 0:
        template = marked("engine", "Line {line} only names the separator ({text}); it is not a row.")
        notes.append(Sentence(template, {"line": sep_place + 1, "text": lines[sep_place].strip()}))
    if filled:
        text = " ".join(" / ".join(filled).split())
        text = text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"
        template = marked(
            "engine", "The header is line {line}. Lines above it are not read as rows: “{text}”."
        )
        notes.append(Sentence(template, {"line": header_line, "text": text}))
    return notes
