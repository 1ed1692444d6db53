"""`predict --stream`: JSON lines in, JSON lines out, as long as somebody writes.

One line is answered by one line, whatever stands in it: what cannot be answered gets {"error": a sentence},
and the next line is read. Nothing else goes to stdout.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from engine.errors import UserError, marked

MOST_LINE = 2**20  # bytes
_NOT_JSON = marked("engine", 'Each line is one JSON object, such as {{"text": "..."}}.')
_TOO_LONG = marked("engine", "The line is longer than {most} bytes.")


def stream(model: Path, device: str, source: BinaryIO | None = None, out: TextIO | None = None) -> int:
    """Answer each line of stdin on stdout until there are no more; return the exit code.

    Raises: UserError: the model cannot be opened.
    """
    from engine.train.tasks.known import task_of

    if source is None and sys.stdin is None:
        raise UserError(marked("engine", "Nothing can be read, because the input of this process is closed."))
    answer = task_of(model).answering(model, device)
    out = out or sys.stdout
    for line in answered(answer, _lines(source or sys.stdin.buffer)):
        out.write(line + "\n")
        out.flush()
    return 0


def answered(
    answer: Callable[[Mapping[str, Any]], dict[str, Any]], lines: Iterable[bytes | None]
) -> Iterator[str]:
    """Yield a line of JSON for each line but empty ones. Args: lines: None for one that is too long."""
    for line in lines:
        if line is not None and not line.strip():
            continue
        try:
            found = answer(_document(line))
        except UserError as error:
            found = {"error": str(error)}
        yield json.dumps(found, ensure_ascii=False, allow_nan=False)


def _document(line: bytes | None) -> Mapping[str, Any]:
    if line is None:
        raise UserError(_TOO_LONG, most=MOST_LINE)
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(_NOT_JSON) from error
    if not isinstance(document, dict):
        raise UserError(_NOT_JSON)
    return document


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    while line := source.readline(MOST_LINE + 1):
        if len(line) <= MOST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):  # the rest of it
            line = source.readline(MOST_LINE)
        yield None
