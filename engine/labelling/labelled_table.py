"""A table with the labels that a person gave, as a file: by whom, when, whether a suggestion was in view."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from engine.durable import write_text
from engine.labelling.entry import COLUMN
from engine.labelling.labelled import Labelled
from engine.text.recipe import Recipe, with_cells
from engine.text.table import Table, write_csv

TEXT, LABEL = "text", "label"
BY, AT, SUGGESTED, NOTE = "by", "at", "suggestion_seen", "note"  # what follows the label's own column


def own_column(table: Table, wanted: str = LABEL) -> str:
    """Return the column for the labels: that of a table which was saved with some, else a new name."""
    for name in table.columns:
        if {f"{name}_{BY}", f"{name}_{AT}", f"{name}_{SUGGESTED}"} <= {*table.columns}:
            return name
    taken = {name.casefold() for name in table.columns}
    number, name = 1, wanted
    while any(one.casefold() in taken for one in _columns(name)):
        number += 1
        name = f"{wanted}_{number}"
    return name


def taken_from(table: Table, column: str) -> tuple[str, ...]:
    """Return the columns that labels of a saved column were taken over from; () where all are by hand."""
    by = {*table.frame[f"{column}_{BY}"].tolist()}
    return tuple(name for name in table.columns if name in by)


def _columns(name: str) -> tuple[str, ...]:
    return (name, *(f"{name}_{after}" for after in (BY, AT, SUGGESTED, NOTE)))


def write_labelled(table: Table, labelled: Labelled, column: str, path: Path) -> Path:
    """Write a table with its labels and return where: every row as it is, and behind it new columns.

    Args: column: of the labels. path: tabs stand between cells where it is called .tsv. Raises: UserError.
    """
    given, rows, kind = labelled.given, range(table.num_rows), labelled.kind
    cells = {
        column: [kind.cell(given[row], labelled.names) if row in given else "" for row in rows],
        f"{column}_{BY}": [given[row].who if row in given else "" for row in rows],
        f"{column}_{AT}": [given[row].when if row in given else "" for row in rows],
        f"{column}_{SUGGESTED}": [
            ("yes" if given[row].suggested else "no") if row in given else "" for row in rows
        ],
    }
    if labelled.notes:
        cells[f"{column}_{NOTE}"] = [labelled.notes.get(row, "") for row in rows]
    for name, values in cells.items():
        table = with_cells(table, name, values)
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    columns = tuple(dict.fromkeys((*table.columns, *cells)))
    write_csv(path, columns, table.frame, separator=separator, guard=False)
    return path


def mends_of_labels(recipe: Recipe, labelled: Labelled, column: str) -> Recipe:
    """Return the recipe of a table that was written with its labels: what was changed in a column that labels
    were taken over from is changed in theirs. A label given by hand stays.

    Args: column: of the labels.
    """
    for name in labelled.columns:
        rows = {row for row, entry in labelled.given.items() if entry.why == COLUMN and entry.who == name}
        recipe = recipe.moved(name, column, rows)
    return recipe


def write_tagged(table: Table, labelled: Labelled, path: Path, left_out: Collection[int] = ()) -> Path:
    """Write the texts whose words have tags as JSON lines with their spans, and return where.

    A text without a list of spans would be read as one without tags, so that nobody else's is written.
    Args: left_out: rows that are not written, either. Raises: UserError.
    """
    lines = []
    for row, entry in sorted(labelled.given.items()):
        if row in left_out:
            continue
        spans = [[start, stop, labelled.names[one]] for start, stop, one in entry.spans]
        found = {
            TEXT: entry.text,
            LABEL: spans,
            "line": int(table.lines[row]),
            f"{LABEL}_{BY}": entry.who,
            f"{LABEL}_{AT}": entry.when,
        }
        if row in labelled.notes:
            found[f"{LABEL}_{NOTE}"] = labelled.notes[row]
        lines.append(json.dumps(found, ensure_ascii=False) + "\n")
    write_text(path, "".join(lines))
    return path
