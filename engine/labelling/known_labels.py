"""The labels that a person gave to rows of a table, as they stand beside a model's answers to it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from engine.errors import Sentence, UserError, marked
from engine.events import Noted, Steps
from engine.labelling.entry import COLUMN
from engine.labelling.journal import LabelJournal
from engine.text.table import Table
from engine.train.tasks.rows.predict import KnownLabels

HAND = "hand"  # where a label is from that somebody gave; COLUMN: a column of the table had it


def known_labels(path: Path, table: Table, task: str, labels: Collection[str]) -> Steps[KnownLabels]:
    """Return the labels of a table's rows that a journal has, none where they are no answers of a model.

    Args: path: of the journal. task, labels: of the model; a journal none of whose labels it knows is about
    something else. Raises: DataError: it cannot be read, or is of another table. UserError: there is none.
    """
    if not path.is_file():
        raise UserError(marked("engine", "{path} is no file with labels."), path=path)
    found = LabelJournal.read(path, table.path.name, table.sha256, table.num_rows).labelled
    kind, names = found.kind, {*found.names.values()}
    if kind.name != task or (kind.has_codebook and names.isdisjoint(labels)):
        template = marked(
            "engine", "The table has labels of another kind than the model’s answers, so the file omits them."
        )
        yield Noted(sentence=Sentence(template), level="note")
        return {}
    return {
        row: (kind.answer(entry, found.names), COLUMN if entry.why == COLUMN else HAND)
        for row, entry in found.given.items()
    }
