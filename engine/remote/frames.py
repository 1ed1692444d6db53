"""What goes over the line between two computers: a line of JSON, and bytes behind it where it says so.

Neither side trusts the other: a line is at most a megabyte, and whoever reads bytes says how many it takes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

from engine.errors import UserError, VerbatimText
from engine.files import parse_json_object

VERSION = 1  # of what is said over the line
MARK = (
    f"cloze-remote {VERSION} "  # begins the first line that is ours; before it a login may say what it likes
)
BLOCK = 2**20  # bytes that are asked for at once
MOST_LINE = 2**20
MOST_VALUES = 50_000  # in a line
_WHERE = Path("the line")  # is never shown

Frame = dict[str, Any]


class Garbled(Exception):
    """What came over the line is not ours."""


def foreign(text: str, most: int = 300) -> VerbatimText:
    """Return what another computer says, to be quoted in a sentence: its beginning, on one line."""
    return VerbatimText("".join(c if c.isprintable() else " " for c in text[:most]).strip())


def said(frame: Frame, num_bytes: int = 0) -> bytes:
    """Return a frame as it goes over the line. Args: num_bytes: that follow it."""
    return json.dumps({**frame, "bytes": num_bytes}).encode() + b"\n"


def heard(stream: BinaryIO, most_bytes: int) -> tuple[Frame, int] | None:
    """Return the next frame and how many bytes follow it; None at the end. Raises: Garbled."""
    line = stream.readline(MOST_LINE)
    if not line.endswith(b"\n"):
        if len(line) >= MOST_LINE:
            raise Garbled("a line without end")
        return None  # it was cut off
    try:
        frame = parse_json_object(line, _WHERE, most_values=MOST_VALUES, kind=UserError)
    except UserError as error:
        raise Garbled(str(error)) from error
    count = frame.pop("bytes", 0)
    if type(count) is not int or not 0 <= count <= most_bytes:
        raise Garbled("more bytes than were asked for")
    return frame, count


def heard_bytes(stream: BinaryIO, count: int) -> bytes | None:
    """Return so many bytes; None where the line ends before."""
    data = stream.read(count)
    return data if len(data) == count else None
