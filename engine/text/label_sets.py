"""Several labels a row: in which form a table has them, and which row has which.

A cell says all of its row's labels or, if it is empty, nothing: who means "none of them" writes [] or has
columns of 0 and 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.errors import DataError, Sentence, marked, some_of
from engine.events import Steps
from engine.text.examples import (
    BETWEEN,
    COLLECTED,
    ExampleTable,
    LabelSettings,
    LabelTable,
    finding_values,
    guess_roles,
    in_order,
    notes_on_rare,
    too_many_labels,
    unknown_labels,
)
from engine.text.label_kinds import MARKS, SWITCHES, are_switches, combination, listed
from engine.text.labels import MOST_LABELS, LabelColumn, Spelling, nearly_equal, spellings_of
from engine.text.roles import Roles, columns_named, joined_names
from engine.text.table import Table

LISTS = "[]"  # as a mark: each cell is a list
_ON_OFF = {"1": True, "0": False, "1.0": True, "0.0": False, "true": True, "false": False}
LEAST_COLUMNS = 3  # of 0 and 1 beside a text, which nobody has named, that look like labels
_LOOKED_AT = 2000  # rows that tell whether a column holds 0 and 1 alone
_MOST_CELLS = 200_000  # different ones; of more, the column is free text
_OF_COLUMNS = marked("engine", "Several labels a row: {count} columns of 0 and 1, such as {names}.")
_OF_LISTS = marked("engine", "Several labels a row: lists in column {column}, such as {example}.")
_OF_SWITCHES = marked(
    "engine",
    "Several labels a row: a 0 or 1 for each of {count} labels in column {column}. "
    "They are named by position, 1 to {count}.",
)
_OF_MARKS = marked(
    "engine",
    'Several labels a row: "{mark}" separates those in column {column}, such as {example}.',
)
_OF_ONE = marked(
    "engine",
    "No row of column {column} has more than one label. If each text has just one, "
    "classification does better, because it chooses one.",
)


def likely_roles(table: Table) -> Roles:
    """Return `guess_roles`, without a label where several columns of 0 and 1 look like labels."""
    roles = guess_roles(table)
    switches = switch_columns(table, roles.read)
    is_one = roles.label in switches and len(switches) >= LEAST_COLUMNS
    return roles.with_columns(label="") if is_one else roles


def label_columns(table: Table, label: str) -> tuple[str, ...]:
    """Return the columns that a setting names: one, or several with commas or semicolons between them.

    Raises: DataError if one is missing.
    """
    if not any(mark in label for mark in ",;"):
        return (table.column(label),)
    return columns_named(table, label, len(table.columns))


def switch_columns(table: Table, taken: Collection[str] = ()) -> tuple[str, ...]:
    """Return the columns, but for those that are taken, that hold 0 and 1 alone as far as can be seen."""
    step = -(-table.num_rows // _LOOKED_AT) or 1
    cells = {
        name: set(table.frame[name].array[::step].tolist()) for name in table.columns if name not in taken
    }
    return tuple(name for name, found in cells.items() if {cell.strip() for cell in found} <= {"0", "1", ""})


def finding_sets(table: Table, roles: Roles, rules: LabelSettings = COLLECTED) -> Steps[ExampleTable]:
    """Return the rows that can be used, and each's labels, step by step: `ExampleTable.values` is (K, C).

    Args:   roles: `label` as `label_columns` takes it; "" for rows without labels. rules: what labels
        they may have.
    Returns: rows with an empty text or label, or a label that is not known, are reported by their line.
    Raises: DataError as `finding_examples`.
    """
    columns = label_columns(table, roles.label) if roles.label else ()
    if len(columns) > 1:
        read = partial(_of_columns, table, columns, rules.known)
    else:
        read = partial(_of_cells, columns[0] if columns else "", rules)
    return (yield from finding_values(table, roles, columns, read, is_merged=rules.merge))


def _of_columns(
    table: Table, columns: Sequence[str], known: Sequence[str] | None, answers: LabelColumn
) -> LabelTable:
    """Read a column of 0 and 1 for each label. Raises: DataError if they are not those of the model."""
    labels = tuple(columns) if known is None else tuple(known)
    if lacking := [label for label in labels if label not in columns]:
        template = marked("engine", "{name} has no column for some of the model’s labels: {labels}.")
        raise DataError(template, name=table.path.name, labels=lacking[:10])
    order = [columns.index(label) for label in labels]
    refused: dict[int, Sentence] = {}
    values = np.zeros((len(answers.names), len(labels)), bool)
    template = marked(
        "engine", "Line {line} has {value} in column {column}. A column for a label holds 1 or 0."
    )
    for code, cell in enumerate(answers.names):
        found = [_ON_OFF.get(one.lower()) for one in cell.split(BETWEEN)]
        odd = next((place for place in order if found[place] is None), None)
        if odd is None:
            values[code] = [bool(found[place]) for place in order]
        else:
            value = cell.split(BETWEEN)[odd][:80]
            refused[code] = Sentence(template, {"line": 0, "value": value, "column": columns[odd]})
    counts = _counted(answers, values, refused, labels)
    if known is not None:
        return LabelTable(labels, values, refused)
    _check(joined_names(columns), values, answers, refused, counts)
    form = Sentence(_OF_COLUMNS, {"count": len(columns), "names": some_of(columns, 5)})
    return LabelTable(labels, values, refused, _notes(counts, {}), (), form)


@dataclass(frozen=True)
class _Parted:
    """The labels in each different cell of one column. refused: place of a cell -> why it cannot be read."""

    parts: list[tuple[str, ...]]
    refused: dict[int, Sentence]

    def counts(self, answers: LabelColumn) -> Counter[str]:
        """Return how many rows that count carry each label."""
        rows = np.bincount(answers.codes[answers.usable], minlength=len(self.parts)).tolist()
        found: Counter[str] = Counter()
        for code, labels in enumerate(self.parts):
            if rows[code] and code not in self.refused:
                found.update(dict.fromkeys(labels, rows[code]))
        return found

    def spellings(self, answers: LabelColumn, stands_for: Mapping[str, str]) -> tuple[Spelling, ...]:
        """Return the labels that stand for others, and their rows."""
        codes: dict[str, list[int]] = {label: [] for label in stands_for}
        for code, labels in enumerate(self.parts):
            for label in codes.keys() & set(labels):
                codes[label].append(code)
        order = sorted(stands_for, key=lambda label: (stands_for[label], label))
        rows = {label: answers.usable & np.isin(answers.codes, codes[label]) for label in order}
        return tuple(Spelling(label, stands_for[label], np.flatnonzero(rows[label])) for label in order)

    def merged(self, stands_for: Mapping[str, str]) -> _Parted:
        """Return the cells with labels read as those they stand for."""
        parts = [tuple(stands_for.get(label, label) for label in labels) for labels in self.parts]
        return _Parted(parts, self.refused)


def _of_cells(column: str, rules: LabelSettings, answers: LabelColumn) -> LabelTable:
    """Read cells that hold all labels of their row. Raises: DataError: too many labels, nothing to learn."""
    known, merge, most = rules.known, rules.merge, rules.most
    if len(answers.names) > _MOST_CELLS:
        raise too_many_labels(column, len(answers.names), len(answers.codes), most)
    counts = answers.counts()
    mark = _mark_of(counts, known)
    parted = _parted(answers.names, mark, known, column)
    found = parted.counts(answers)
    if known is None and len(found) > most:
        raise too_many_labels(column, len(found), len(answers.codes), most)
    spellings: tuple[Spelling, ...] = ()
    if len(found) <= MOST_LABELS and (known is None or merge):
        stands_for = (
            {other: group.kept for group in nearly_equal(found) for other in group.others}
            if known is None
            else spellings_of(found, known)
        )
        spellings = parted.spellings(answers, stands_for)
        if merge:
            parted = parted.merged(stands_for)
            found = parted.counts(answers)
    labels = tuple(in_order(found)) if known is None else tuple(known)
    said = {} if known is None else unknown_labels(found.keys() - set(known), known)
    place_of = {label: place for place, label in enumerate(labels)}
    refused = dict(parted.refused)
    values = np.zeros((len(parted.parts), len(labels)), bool)
    for code, names in enumerate(parted.parts):
        strange = next((name for name in names if name in said), None)
        if strange is not None:
            refused[code] = said[strange]
        values[code, [place_of[name] for name in names if name in place_of]] = True
    if known is not None:
        return LabelTable(labels, values, refused, (), spellings)
    _check(column, values, answers, refused, found)
    seen = {} if merge else {each.label: each.seen[0] for each in spellings}
    return LabelTable(
        labels, values, refused, _notes(found, seen), spellings, _form(column, mark, parted, answers)
    )


def _mark_of(counts: Mapping[str, int], known: Sequence[str] | None) -> str:
    """Return what stands between the labels of a cell, LISTS or SWITCHES where nothing does.

    Args: known: a model's labels: what gives most rows of these is right.
    """
    cells = list(counts)
    if sum(listed(cell) is not None for cell in cells) * 2 > len(cells):
        return LISTS
    if are_switches(cells) and (known is None or len(cells[0].split()) == len(known) or len(cells) > 2):
        return SWITCHES
    if known is None and (mark := combination(cells)[0]):
        return mark
    names = set(known or ())
    best, most = MARKS[0], -1
    for mark in (*MARKS, " "):
        several = {cell: _cut(cell, mark) for cell in cells}
        if known is None:
            fits = 0 if mark == " " else sum(counts[cell] for cell in cells if len(several[cell]) > 1)
        else:
            fits = sum(counts[cell] for cell in cells if names.issuperset(several[cell]))
        if fits > most:
            best, most = mark, fits
    return best


def _parted(cells: Sequence[str], mark: str, known: Sequence[str] | None, column: str) -> _Parted:
    parts: list[tuple[str, ...]] = []
    refused: dict[int, Sentence] = {}
    no_list = marked("engine", "Line {line} has {value} in column {column}, which is not a list of labels.")
    no_label = marked("engine", "Line {line} has no label in column {column}.")
    for code, cell in enumerate(cells):
        names: tuple[str, ...] | None
        if mark == SWITCHES:
            switches = [one for one in cell if one in "01"]
            names = tuple(
                (known or _places(len(switches)))[i] for i, one in enumerate(switches) if one == "1"
            )
        elif (found := listed(cell)) is not None:
            names = _names(found)
        else:
            names = None if mark == LISTS else _cut(cell, mark)
        parts.append(tuple(dict.fromkeys(names or ())))
        if names is None:
            refused[code] = Sentence(no_list, {"line": 0, "value": cell[:80], "column": column})
        elif not names and listed(cell) is None and mark != SWITCHES:
            refused[code] = Sentence(no_label, {"line": 0, "column": column})
    return _Parted(parts, refused)


def _places(count: int) -> list[str]:
    return [str(place) for place in range(1, count + 1)]


def _cut(cell: str, mark: str) -> tuple[str, ...]:
    """Return the labels between the marks of a cell; what is empty between two marks is no label."""
    return tuple(part for part in map(str.strip, cell.split(mark)) if part)


def _names(found: object) -> tuple[str, ...] | None:
    """Return the labels of a list; None if it is an object, or holds anything but words and numbers."""
    if not isinstance(found, list) or any(not isinstance(one, str | int | float) for one in found):
        return None
    return tuple(name for one in found if (name := str(one).strip()))


def _counted(
    answers: LabelColumn, values: np.ndarray, refused: Mapping[int, Sentence], labels: Sequence[str]
) -> Counter[str]:
    counts = _rows_of(answers, refused) @ values
    return Counter({label: int(count) for label, count in zip(labels, counts, strict=True) if count})


def _rows_of(answers: LabelColumn, refused: Mapping[int, Sentence]) -> np.ndarray:
    """Return how many rows that count have each cell."""
    rows = np.bincount(answers.codes[answers.usable], minlength=len(answers.names))
    rows[list(refused)] = 0
    return rows


def _check(
    column: str,
    values: np.ndarray,
    answers: LabelColumn,
    refused: Mapping[int, Sentence],
    found: Mapping[str, int],
) -> None:
    """Refuse a table from which nothing can be learned. Raises: DataError."""
    sets = values[_rows_of(answers, refused) > 0]
    if not len(sets):  # that no row can be used is told with its first reason
        return
    if not found:
        template = marked("engine", "No row has a label in column {column}, so there is nothing to learn.")
        raise DataError(template, column=column)
    if (sets == sets[0]).all():
        template = marked(
            "engine",
            "Every row has the same labels in column {column}, {labels}, so there is nothing "
            "to learn. Choose another column or other data.",
        )
        raise DataError(template, column=column, labels=list(found)[:10])


def _notes(found: Counter[str], seen: Mapping[str, str]) -> tuple[Sentence, ...]:
    return notes_on_rare(Counter({label: count for label, count in found.items() if count}), seen)


def _form(column: str, mark: str, parted: _Parted, answers: LabelColumn) -> Sentence:
    """Return the sentence that says how a column was read."""
    longest = max(range(len(parted.parts)), key=lambda code: len(parted.parts[code]))
    values = {"column": column, "mark": mark, "example": answers.names[longest][:40]}
    if mark == SWITCHES:
        return Sentence(_OF_SWITCHES, {**values, "count": len(answers.names[0].split())})
    if len(parted.parts[longest]) < 2:
        return Sentence(_OF_ONE, values)
    return Sentence(_OF_LISTS if mark == LISTS else _OF_MARKS, values)
