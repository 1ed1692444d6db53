"""A text and several endings a row: which columns hold the endings, and which of them is right.

The right one is told by its number from 0 or from 1, by a letter, by the name of its column, or by its own
text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps
from engine.text.example_rows import ExampleRows
from engine.text.examples import ExampleTable, LabelTable, finding_values, guess_roles
from engine.text.labels import LabelColumn
from engine.text.roles import CHOICES, Roles
from engine.text.table import Table

_SERIES = re.compile(
    r"(?i)\s*(ending|choice|option|answer|alternative|candidate|选项)[\s_.-]*([0-9]|[a-i])\s*"
)
_TEXTS = ("startphrase", "context", "premise", "question", "text", "sent1", "story", "prompt", "sentence")
_LOOKED_AT = 2000
_FORMS = {
    "zero": marked("engine", "Column {column} numbers the right ending from 0, that of column {first}."),
    "one": marked("engine", "Column {column} numbers the right ending from 1, that of column {first}."),
    "letter": marked("engine", "Column {column} names the right ending by a letter: A is that of {first}."),
    "name": marked("engine", "Column {column} names the column of the right ending, such as {first}."),
    "text": marked("engine", "Column {column} repeats the text of the right ending."),
}
_UNKNOWN = marked("engine", "Line {line} has {value} in column {column}, which is not one of its endings.")


def choice_columns(table: Table) -> tuple[str, ...]:
    """Return the columns that are called a row of endings, in the order of their numbers; () for none."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in table.columns:
        if match := _SERIES.fullmatch(name):
            found.setdefault(match[1].lower(), []).append((match[2].lower(), name))
    best = max(found.values(), key=len, default=[])
    return tuple(name for _, name in sorted(best)) if 2 <= len(best) <= CHOICES.most else ()


def likely_choices(table: Table) -> Roles:
    """Return text, endings and label as they most likely are; without endings where none are called so."""
    choices = choice_columns(table)
    others = [name for name in table.columns if name not in choices]
    if not choices or not others:
        return Roles()
    guessed = guess_roles(replace(table, columns=tuple(others), frame=table.frame[others]))
    plain = {name.strip().lower(): name for name in others}
    text = next((plain[name] for name in _TEXTS if name in plain), guessed.text)
    named = ("label", "answerkey", "answer_key", "gold", "correct", "answer", "target")
    label = next((plain[name] for name in named if name in plain), guessed.label)
    return Roles(text, label=label if label != text else "", choices=choices)


def finding_choices(table: Table, roles: Roles) -> Steps[ExampleTable]:
    """Return the rows that can be used, step by step: `label` of each is the place of the right ending.

    Returns: rows with an empty text, ending or label, or a label that is none of the endings, are reported by
    their line. Raises: DataError as `finding_examples`, and for fewer than 2 or more than 9 endings.
    """
    names = roles.get("choices", ())
    if not 2 <= len(names) <= CHOICES.most:
        template = marked("engine", "Name 2 to {most} columns of endings. You named {count}.")
        raise DataError(template, most=CHOICES.most, count=len(names))
    column, how = roles.label, ""
    if column:
        how = form_of(table, table.column(column), names)
        if how == "text":
            table = _numbered(table, table.column(column), names)
        yield Beat()

    def read(answers: LabelColumn) -> LabelTable:
        places = [place_of(cell, "one" if how == "text" else how, names) for cell in answers.names]
        refused = {
            code: Sentence(_UNKNOWN, {"line": 0, "value": cell[:80], "column": column})
            for code, (cell, place) in enumerate(zip(answers.names, places, strict=True))
            if place < 0
        }
        return LabelTable(tuple(names), np.maximum(np.array(places, np.int64), 0), refused)

    found = yield from finding_values(table, roles, (column,) if column else (), read)
    form = Sentence(_FORMS[how], {"column": column, "first": names[0]}) if how else None
    if found.values is None:
        return ExampleTable(found.examples, tuple(names), found.reported)
    columns = [table.frame[table.column(name)].array for name in roles.read]
    labels = found.targets(found.examples).astype(np.int32)
    made = ExampleRows(columns, found.examples.rows, labels)
    return ExampleTable(made, tuple(names), found.reported, form=form)


def form_of(table: Table, column: str, names: Sequence[str]) -> str:
    """Return how a column tells the right ending: "zero", "one", "letter", "name" or "text"."""
    step = -(-table.num_rows // _LOOKED_AT) or 1
    cells = [cell.strip() for cell in table.frame[column].array[::step].tolist()]
    endings = [table.frame[table.column(name)].array[::step].tolist() for name in names]
    rows = [row for row, cell in enumerate(cells) if cell]
    own = sum(any(cells[row] == ending[row].strip() for ending in endings) for row in rows)
    said = {cells[row] for row in rows}
    if own > 0.5 * len(rows):
        return "text"
    if said <= set(names):
        return "name"
    if "0" in table.frame[column].array.tolist() or "0" in said:
        return "zero"
    if any(cell.isdigit() for cell in said):
        return "one"
    return "letter" if any(len(cell) == 1 for cell in said) else "text"


def place_of(cell: str, how: str, names: Sequence[str]) -> int:
    """Return the place of the ending that a cell tells of; -1 for none."""
    if how == "name":
        return names.index(cell) if cell in names else -1
    if how == "letter":
        place = ord(cell.lower()) - ord("a") if len(cell) == 1 else -1
    else:
        place = int(cell) - (how == "one") if re.fullmatch("[0-9]", cell) else -1
    return place if 0 <= place < len(names) else -1


def _numbered(table: Table, column: str, names: Sequence[str]) -> Table:
    """Return a table whose labels number the ending that they repeat; what repeats none stays as it is."""
    cells = table.frame[column].array.tolist()
    endings = [table.frame[table.column(name)].array.tolist() for name in names]
    for row, cell in enumerate(cells):
        own = [ending[row].strip() for ending in endings]
        cells[row] = str(own.index(cell.strip()) + 1) if cell.strip() in own and cell.strip() else cell
    frame = table.frame.copy()
    frame[column] = np.array(cells, object)
    return replace(table, frame=frame)
