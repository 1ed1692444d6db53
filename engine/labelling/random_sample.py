"""The random sample among the labels that a person gave: kept out of training, as the test of its result.

It is a file of its own beside the labelled table, whose cells of these rows are empty. So a run learns from
the other labels alone, its test says how good it is on the whole table, and its errors on the test say which
labels the texts have that nobody labelled. Texts that a person changed are in it as they are now. Labels are
as they were given: were those looked at again that a model doubts, the sample would speak for the model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from engine.text.recipe import Recipe, with_cells
from engine.text.table import read_table, write_csv

LEAST_HELD_OUT = 10  # texts, below which a test would say next to nothing
LABELLED = "-labelled"  # the ending of a labelled copy's name
_ENDING = "-random-sample"  # of a file's name, by which a run's test is known for what it is


def original_stem(path: Path) -> str:
    """Return what a table is called without the ending of its labelled copy."""
    return path.stem.removesuffix(LABELLED)


def has_learned_of(info: Mapping[str, Any], table: Path) -> bool:
    """Whether a model has learned from this table or a labelled copy, by its name. Args: info: cloze.json."""
    data = info.get("data")
    name = str(data.get("name") or "") if isinstance(data, Mapping) else ""
    return bool(name) and original_stem(Path(name)) == original_stem(table)


def sample_path(labelled: Path) -> Path:
    """Return where the random sample of a labelled table lies."""
    stem = original_stem(labelled)
    return labelled.with_name(f"{stem}{_ENDING}.csv")


def is_random_sample(path: str) -> bool:
    """Whether a test file is a random sample of the table that the labels are of, by its name."""
    return Path(path).stem.endswith(_ENDING)


def hold_out(labelled: Path, column: str, rows: Collection[int], recipe: Recipe | None = None) -> Path:
    """Move the labels of some rows into the file of the random sample, and return where that is.

    Args: labelled: the table as it was written. column: of its labels. rows: of the sample. recipe: the mends
    of the table, of which the sample's texts have theirs. Raises: UserError.
    """
    table, kept = read_table(labelled), sorted(rows)
    path = sample_path(labelled)
    others = {*table.columns} - {column}
    edited = table if recipe is None else recipe.edited(table, others)
    write_csv(path, table.columns, edited.frame.iloc[kept], guard=False)
    cells = table.frame[column].tolist()
    for row in kept:
        cells[row] = ""
    left = with_cells(table, column, cells)
    separator = "\t" if labelled.suffix.lower() == ".tsv" else ","
    write_csv(labelled, left.columns, left.frame, separator=separator, guard=False)
    return path
