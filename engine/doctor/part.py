"""A table as the doctor looks at it: every row that has a text, with its label where it has one.

Nothing is refused here: labels that nothing can be learned from are what a doctor is asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.doctor.finding import Rows
from engine.events import Beat, Steps
from engine.text.example_rows import ExampleRows
from engine.text.examples import joined_cells
from engine.text.label_sets import label_columns
from engine.text.roles import Roles
from engine.text.table import Table

_AT_ONCE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class TablePart:
    """One table in its roles. name: what a person calls it.

    examples: the rows with a text; `labels` are places in `names`, -1 for none. no_text, no_label: rows that
    lack it.
    """

    name: str
    table: Table
    roles: Roles
    examples: ExampleRows
    names: tuple[str, ...]
    no_text: Rows
    no_label: Rows

    @property
    def has_labels(self) -> bool:
        """Whether any row has a label."""
        return bool(self.names)

    def counts(self) -> npt.NDArray[np.int64]:
        """Return (C,), how many rows carry each label."""
        labels = self.examples.labels
        return np.bincount(labels[labels >= 0], minlength=len(self.names))


def part_name(path: Path, others: Sequence[str]) -> str:
    """Return what a file is called among other parts: the second of a name is "test.csv (2)"."""
    numbered = (f"{path.name} ({number})" for number in count(2))
    return next(name for name in chain([path.name], numbered) if name not in others)


def reading_part(name: str, table: Table, roles: Roles) -> Steps[TablePart]:
    """Return a table as a part, step by step. Raises: DataError if a column is missing."""
    texts = list(map(table.column, roles.read))
    columns = list(label_columns(table, roles.label)) if roles.label else []
    has_text = np.ones(table.num_rows, bool)
    has_text[list(table.left_out)] = False
    labels = np.full(table.num_rows, -1, np.int32)
    no_text: list[int] = []
    place_of: dict[str, int] = {}
    for start in range(0, table.num_rows, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        for column in texts:
            lacking = [
                row
                for row, cell in enumerate(table.frame[column].array[some].tolist(), start)
                if not cell.strip()
            ]
            no_text += [row for row in lacking if has_text[row]]
            has_text[lacking] = False
        if columns:
            raw = [table.frame[column].array[some].tolist() for column in columns]
            said = raw[0] if len(raw) == 1 else joined_cells(raw)
            stripped = list(map(str.strip, said))
            labels[some] = [place_of.setdefault(cell, len(place_of)) if cell else -1 for cell in stripped]
        yield Beat()
    rows = np.flatnonzero(has_text)
    arrays = [table.frame[column].array for column in texts]
    examples = ExampleRows(arrays, rows, labels[rows])
    no_label = rows[labels[rows] < 0] if columns else np.zeros(0, np.int64)
    return TablePart(name, table, roles, examples, tuple(place_of), np.array(no_text, np.int64), no_label)
