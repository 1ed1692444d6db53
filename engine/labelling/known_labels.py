"""The labels that a person gave to rows of a table, as they stand beside a model's answers to it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from engine.errors import DataError, Sentence, UserError, marked
from engine.events import Noted, Steps
from engine.labelling.entry import COLUMN
from engine.labelling.journal import LabelJournal
from engine.labelling.kinds import ONE_LABEL
from engine.labelling.labelled_table import mends_of_labels, own_column
from engine.text.recipe import read_recipe
from engine.text.table import Table
from engine.train.tasks.rows.predict import KnownLabels

HAND = "hand"  # where a label is from that somebody gave; COLUMN: a column of the table had it


def known_labels(
    path: Path, table: Table, task: str, labels: Collection[str], mends: Path | None = None
) -> Steps[KnownLabels]:
    """Return the labels of a table's rows that a journal has, none where they are no answers of a model.

    Args: path: of the journal. task, labels: of the model; a journal none of whose labels it knows is about
    something else. mends: the recipe of the same table or its labelled copy, where one label was changed for
    another. Raises: DataError: one cannot be read, or is of another table. UserError: there is no journal.
    """
    if not path.is_file():
        raise UserError(marked("engine", "{path} is no file with labels."), path=path)
    journal = LabelJournal.read(path, table.path.name, table.sha256, table.num_rows)
    found = journal.labelled
    kind, names = found.kind, {*found.names.values()}
    if kind.name != task or (kind.has_codebook and names.isdisjoint(labels)):
        template = marked(
            "engine", "The table has labels of another kind than the model’s answers, so the file omits them."
        )
        yield Noted(sentence=Sentence(template), level="note")
        return {}
    by_row, by_cell = dict[int, str](), dict[str, str]()
    if mends is not None and kind is ONE_LABEL:
        recipe = read_recipe(mends)
        if recipe.sha256 not in journal.hashes:
            template = marked("engine", "The recipe {path} is not of the table that the labels are of.")
            raise DataError(template, path=mends)
        column = own_column(table)
        by_row, by_cell = mends_of_labels(recipe, found, column).cells(column)
    known = dict[int, tuple[str, str]]()
    for row, entry in found.given.items():
        said, origin = kind.answer(entry, found.names), COLUMN if entry.why == COLUMN else HAND
        known[row] = (by_row[row], HAND) if row in by_row else (by_cell.get(said, said), origin)
    return known
