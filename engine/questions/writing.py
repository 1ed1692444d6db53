"""What an answer is written as: words and lines for a terminal, arrays and tables in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from engine.durable import replaced_file
from engine.errors import marked
from engine.language import said


def percent(share: float) -> str:
    """Return "12.3%"; "100.0%" and "0.0%" only for all and for nothing, more digits elsewhere."""
    digits = 1
    while digits < 9 and 0 < share < 1 and round(100 * share, digits) in (0, 100):
        digits += 1
    return f"{share:.{digits}%}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines, names at the left, numbers at the right."""
    widths = [max(columns_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        room = [" " * (width - columns_of(cell)) for cell, width in zip(row, widths, strict=False)]
        cells = [row[0] + room[0], *(before + cell for before, cell in zip(room[1:], row[1:], strict=False))]
        lines.append("  ".join(cells).rstrip())
    return lines


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: a Chinese character takes two."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


def padded(text: str, width: int) -> str:
    """Return a text with as many spaces behind it as make it so many columns of a terminal wide."""
    return text + " " * max(0, width - columns_of(text))


def between(interval: tuple[float, float] | None) -> str:
    """Return an interval as it stands behind its figure."""
    if interval is None:
        return ""
    return said(marked("engine", " (95 %: {low:.3f} to {high:.3f})"), low=interval[0], high=interval[1])


def write_arrays(out: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by their names as an .npz file."""
    with replaced_file(out) as beside, beside.open("wb") as file:
        np.savez(file, **arrays)


def write_numbers(out: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a new CSV of numbers and words."""
    from engine.text.table import write_table

    write_table(out, columns, rows, exempt=[name for name in columns if name != "word"])
