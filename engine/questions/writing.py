"""What an answer is written as: words and lines for a terminal, arrays and tables in files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from engine.durable import replaced_file


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


def between(interval: tuple[float, float] | None) -> str:
    """Return an interval as it stands behind its figure."""
    return "" if interval is None else f" (95 %: {interval[0]:.3f} to {interval[1]:.3f})"


def write_arrays(out: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by their names as an .npz file."""
    with replaced_file(out) as beside, beside.open("wb") as file:
        np.savez(file, **arrays)


def write_numbers(out: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a new CSV of numbers and words."""
    from engine.text.table import write_table

    write_table(out, columns, rows, exempt=[name for name in columns if name != "word"])
