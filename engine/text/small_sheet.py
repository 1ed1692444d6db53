"""A small table that is written with a large one: in its workbook, or in a file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sheet:
    """A small table that is written with another. name: of the sheet. numbers: columns that hold numbers."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    numbers: tuple[str, ...] = ()


def sheet_place(path: Path, name: str) -> Path:
    """Return where a sheet is written with a table: in the workbook itself, else in a file beside its own."""
    is_workbook = path.suffix.lower() == ".xlsx"
    return path if is_workbook else path.with_name(f"{path.stem}-{name.lower()}{path.suffix}")
