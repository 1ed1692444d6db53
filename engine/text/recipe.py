"""Mends of a table as steps that are written down: rows left out or relabelled, labels merged, copies kept
together. The file itself is never changed.

A recipe belongs to one state of one file, by its hash: rows are numbers, which another state has others for.
Steps do not depend on one another, so any of them can be taken back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.durable import write_text
from engine.errors import DataError, Sentence, VerbatimText, marked
from engine.files import parse_json_object, read_regular
from engine.text.full_width import half_width
from engine.text.labels import visible
from engine.text.table import Table, write_table

SUSPECTED = "suspected_labels"  # the finding that a label in doubt is one of
DISAGREEMENT = "disagreement"  # of two annotators, which a step settles
SECOND = "second_annotator"  # whose labels are taken where the first gave none
DROP, RELABEL, MERGE, TOGETHER, KEEP = "drop", "relabel", "merge", "together", "keep"
EDIT, HALF_WIDTH = "edit", "half_width"
_FORMAT = 1
_MOST_BYTES, _MOST_VALUES = 2**26, 4_000_000  # every row of a table of two million kept together
_MOST_ROW = 2**40
_NOT_ONE = marked("engine", "{path} is not a recipe: {reason}.")
_REASONS = {  # why a row is left out, by the kind of finding
    "exact_duplicates": marked("engine", "Line {line} was excluded: it repeats an earlier row."),
    "near_duplicates": marked(
        "engine", "Line {line} was excluded: it is a near-duplicate of an earlier row."
    ),
    "leaks": marked("engine", "Line {line} was excluded: its text is also in another part."),
    "near_leaks": marked("engine", "Line {line} was excluded: another part says nearly the same."),
    SUSPECTED: marked("engine", "Line {line} was excluded: its label is suspected to be wrong."),
    DISAGREEMENT: marked("engine", "Line {line} was excluded: two annotators disagree on its label."),
    "": marked("engine", "Line {line} was excluded."),
}


@dataclass(frozen=True, slots=True)
class RecipeStep:
    """One mend. do: DROP rows; RELABEL rows as `label`; MERGE the `labels` into `label`; keep rows
    TOGETHER on one side of a split, those of one of the `groups`; KEEP rows that were in doubt as they are;
    EDIT a cell, which is `label` then; write the full-width letters and digits of cells HALF_WIDTH.

    rows: 0-based, of the file. column: of the labels, or of the cell. groups: a number for each row. reason:
    the kind of finding that it mends.
    """

    do: str
    rows: tuple[int, ...] = ()
    label: str = ""
    labels: tuple[str, ...] = ()
    column: str = ""
    groups: tuple[int, ...] = ()
    reason: str = ""

    def words(self) -> Sentence:
        """Return what it does."""
        template = _WORDS[self.do][len(self.rows) == 1]
        labels = [f"“{visible(label, [self.label])}”" for label in self.labels]
        values = {"count": len(self.rows), "label": self.label, "labels": labels}
        return Sentence(template, {**values, "groups": len(set(self.groups))})


_WORDS = {  # of many rows, of one
    DROP: (marked("engine", "{count:,} rows excluded"), marked("engine", "One row excluded")),
    RELABEL: (
        marked("engine", "{count:,} rows relabelled as “{label}”"),
        marked("engine", "One row relabelled as “{label}”"),
    ),
    MERGE: (marked("engine", "{labels} read as “{label}”"), marked("engine", "{labels} read as “{label}”")),
    EDIT: (marked("engine", "{count:,} cells changed"), marked("engine", "One cell changed")),
    HALF_WIDTH: (
        marked("engine", "Letters and digits of {count:,} texts written half-width"),
        marked("engine", "Letters and digits of one text written half-width"),
    ),
    KEEP: (marked("engine", "{count:,} rows kept as they are"), marked("engine", "One row kept as it is")),
    TOGETHER: (
        marked("engine", "Copies of {groups:,} texts kept on one side of the split"),
        marked("engine", "Copies of {groups:,} texts kept on one side of the split"),
    ),
}


@dataclass(frozen=True, slots=True)
class Recipe:
    """The mends of a file. name, sha256: of the file."""

    name: str
    sha256: str
    steps: tuple[RecipeStep, ...] = ()

    @classmethod
    def of(cls, table: Table) -> Recipe:
        """Return the recipe of a table that changes nothing."""
        return cls(table.path.name, table.sha256)

    def plus(self, *steps: RecipeStep) -> Recipe:
        """Return the recipe with more steps."""
        return replace(self, steps=(*self.steps, *steps))

    def deciding(self, row: int, step: RecipeStep | None) -> Recipe:
        """Return the recipe with what was decided of one row in the place of what was before; None: nothing.

        Args: step: DROP, RELABEL or KEEP, without its rows; of equal ones the rows are gathered.
        """
        return self.deciding_all((row,), step)

    def deciding_all(self, rows: Sequence[int], step: RecipeStep | None) -> Recipe:
        """Return the recipe with what was decided of several rows, as `deciding` does of one."""
        steps, asked = [], set(rows)
        for one in self.steps:
            kinds = (DROP, RELABEL, KEEP) if step is not None else (DROP, RELABEL, KEEP, EDIT)
            if one.do in kinds and not asked.isdisjoint(one.rows):
                one = replace(one, rows=tuple(other for other in one.rows if other not in asked))
                if not one.rows:
                    continue
            steps.append(one)
        if step is None:
            return replace(self, steps=tuple(steps))
        for place, one in enumerate(steps):
            if replace(one, rows=()) == step:
                steps[place] = replace(one, rows=(*one.rows, *rows))
                break
        else:
            steps.append(replace(step, rows=tuple(rows)))
        return replace(self, steps=tuple(steps))

    def editing(self, row: int, column: str, text: str) -> Recipe:
        """Return the recipe with another text in a cell, in the place of what it was made before."""
        step = RecipeStep(EDIT, (row,), text, column=column)
        others = tuple(one for one in self.steps if replace(one, label=text) != step)
        return replace(self, steps=(*others, step))

    def decided(self) -> dict[int, RecipeStep]:
        """Return row -> the last step that drops, relabels or keeps it."""
        return {row: step for step in self.steps if step.do in (DROP, RELABEL, KEEP) for row in step.rows}

    def touched(self) -> set[int]:
        """Return the rows that are dropped, relabelled, kept or edited one by one."""
        kinds = (DROP, RELABEL, KEEP, EDIT)
        return {row for step in self.steps if step.do in kinds for row in step.rows}

    def cells(self, column: str) -> tuple[dict[int, str], dict[str, str]]:
        """Return what a column's cells become: row -> cell, and for all other rows cell -> cell."""
        by_row: dict[int, str] = {}
        by_cell: dict[str, str] = {}
        for step in self.steps:
            if step.column != column:
                continue
            if step.do == MERGE:
                meant = dict.fromkeys(map(str.strip, step.labels), step.label)
                by_row = {row: meant.get(cell.strip(), cell) for row, cell in by_row.items()}
                by_cell = {**meant, **{old: meant.get(cell.strip(), cell) for old, cell in by_cell.items()}}
            elif step.do in (RELABEL, EDIT):
                by_row.update(dict.fromkeys(step.rows, step.label))
        return by_row, by_cell

    def changing(self, column: str) -> Callable[[int, str], str | None]:
        """Return a function of a row and its cell in the file: what the cell becomes; None: it stays."""
        by_row, by_cell = self.cells(column)
        narrow = self.narrowed(column)

        def changed(row: int, cell: str) -> str | None:
            written = half_width(cell) if row in narrow else cell
            found = by_row.get(row, by_cell.get(written.strip()))
            return written if found is None and written != cell else found

        return changed

    def narrowed(self, column: str) -> set[int]:
        """Return the rows in which a column's letters and digits are written half-width, before all else."""
        narrow = (step for step in self.steps if step.do == HALF_WIDTH and step.column == column)
        return {row for step in narrow for row in step.rows}

    def moved(self, column: str, target: str, rows: Collection[int]) -> Recipe:
        """Return the recipe of a table in which another column has the cells of some rows, too: what changes
        those is done there. Labels that are merged are merged in both.
        """
        steps = list[RecipeStep]()
        for step in self.steps:
            if step.column == column and step.do == MERGE:
                steps += [step, replace(step, column=target)]
            elif step.column == column and step.do in (RELABEL, EDIT, HALF_WIDTH):
                for name, is_in in ((column, False), (target, True)):
                    own = tuple(row for row in step.rows if (row in rows) == is_in)
                    steps += [replace(step, rows=own, column=name)] if own else []
            else:
                steps.append(step)
        return replace(self, steps=tuple(steps))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose cells are changed."""
        kinds = (RELABEL, MERGE, EDIT, HALF_WIDTH)
        return tuple(dict.fromkeys(step.column for step in self.steps if step.do in kinds))

    def without(self, place: int) -> Recipe:
        """Return the recipe without one of its steps."""
        return replace(self, steps=self.steps[:place] + self.steps[place + 1 :])

    def check(self, table: Table) -> None:
        """Refuse a table that is not the one, or not as it was. Raises: DataError."""
        if self.sha256 != table.sha256:
            raise DataError(
                marked(
                    "engine",
                    "The recipe was made for another version of {name} than this {path}, so its rows "
                    "would be the wrong ones. Use the original file, or make the recipe again.",
                ),
                name=self.name,
                path=table.path,
            )
        most = max((row for step in self.steps for row in step.rows), default=-1)
        if most >= table.num_rows:
            template = marked("engine", "The recipe names row {row}; {path} has {count} rows as it is read.")
            raise DataError(template, row=most, path=table.path, count=table.num_rows)

    def applied(self, table: Table) -> Table:
        """Return the table with its mends. Raises: DataError if it is not the one, or lacks a column."""
        self.check(table)
        left_out = {**table.left_out, **self.left_out()}
        table = replace(self._relabelled(table), left_out=left_out, mends=self.document())
        together = [step for step in self.steps if step.do == TOGETHER]
        return replace(table, together=_united(table.num_rows, together)) if together else table

    def left_out(self) -> dict[int, Sentence]:
        """Return row -> why it is left out, the line in the sentence still 0."""
        found: dict[int, Sentence] = {}
        for step in self.steps:
            if step.do == DROP:
                said = Sentence(_REASONS.get(step.reason, _REASONS[""]), {"line": 0})
                found.update(dict.fromkeys(step.rows, said))
        return found

    def merged(self, table: Table) -> Table:
        """Return another table of the same columns, its labels merged as this recipe says; no more of it."""
        merges = tuple(s for s in self.steps if s.do == MERGE and s.column in table.columns)
        return replace(self, steps=merges)._relabelled(table)

    def edited(self, table: Table, columns: Collection[str]) -> Table:
        """Return another table of the same rows, cells of some columns changed as here; no more of it."""
        kinds = (EDIT, HALF_WIDTH)
        steps = tuple(step for step in self.steps if step.do in kinds and step.column in columns)
        return replace(self, steps=steps)._relabelled(table)

    def sparing(self, rows: Collection[int], column: str) -> Recipe:
        """Return the recipe without what it makes of a column's cells in some rows, one by one."""
        steps = list[RecipeStep]()
        for step in self.steps:
            if step.do in (RELABEL, EDIT, HALF_WIDTH) and step.column == column:
                step = replace(step, rows=tuple(row for row in step.rows if row not in rows))
            if step.rows or step.do == MERGE:
                steps.append(step)
        return replace(self, steps=tuple(steps))

    def _relabelled(self, table: Table) -> Table:
        for column in self.columns:
            by_row, by_cell = self.cells(column)
            cells = table.frame[table.column(column)].tolist()
            for row in self.narrowed(column):
                cells[row] = half_width(cells[row])
            if by_cell:
                cells = [by_cell.get(cell.strip(), cell) for cell in cells]
            for row, cell in by_row.items():
                cells[row] = cell
            table = with_cells(table, column, cells)
        return table

    def document(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        steps = list(map(_short, self.steps))
        return {"recipe": _FORMAT, "name": self.name, "sha256": self.sha256, "steps": steps}

    def write(self, path: Path) -> None:
        """Write it as JSON, a step a line. Raises: UserError."""
        head = self.document()
        lines = [json.dumps(step, ensure_ascii=False) for step in head.pop("steps")]
        steps = "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"
        write_text(path, f'{json.dumps(head, ensure_ascii=False)[:-1]}, "steps": {steps}}}\n')


def new_recipe(table: Table) -> Recipe:
    """Return the recipe of a table that changes nothing."""
    return Recipe.of(table)


def read_recipe(path: Path) -> Recipe:
    """Return the recipe in a file. Raises: DataError."""
    data = read_regular(path, most=_MOST_BYTES, kind=DataError)
    try:
        found = parse_json_object(
            data, path, most_values=_MOST_VALUES, writable=True, most_number=_MOST_ROW, kind=DataError
        )
    except DataError as error:
        raise DataError(_NOT_ONE, path=path.name, reason=VerbatimText(str(error).rstrip("."))) from error
    version, steps = found.get("recipe"), found.get("steps")
    if type(version) is int and version > _FORMAT:
        raise _no_recipe(path, marked("engine", "it is of a newer version"))
    name, sha256 = found.get("name"), found.get("sha256")
    is_ours = type(version) is int and version == _FORMAT
    if not (is_ours and isinstance(name, str) and isinstance(sha256, str) and isinstance(steps, list)):
        raise _no_recipe(path, marked("engine", "it does not begin like one"))
    return Recipe(name, sha256, tuple(_step(one, at, path) for at, one in enumerate(steps, start=1)))


def _no_recipe(path: Path, reason: str, **values: Any) -> DataError:
    return DataError(_NOT_ONE, path=path, reason=Sentence(reason, values))


def with_cells(table: Table, column: str, cells: Sequence[str]) -> Table:
    """Return a table with other cells in one column."""
    from engine.text.reading.cells import CellArray  # here: pandas takes half a second

    frame = table.frame.copy(deep=False)
    frame[column] = CellArray.of(cells)
    return replace(table, frame=frame)


def _short(step: RecipeStep) -> dict[str, Any]:
    values = ((each.name, getattr(step, each.name)) for each in fields(step))
    return {name: value for name, value in values if value not in ("", ())}


def _step(found: Any, number: int, path: Path) -> RecipeStep:
    """Return a step as a file has it: its number there counts from 1. Raises: DataError."""
    values: dict[str, Any] = {}
    for each in fields(RecipeStep):
        value = found.get(each.name, each.default) if isinstance(found, Mapping) else None
        kind = {"rows": int, "groups": int, "labels": str}.get(each.name)
        value = tuple(value) if kind and isinstance(value, list) else value
        fits = isinstance(value, tuple) and _are(value, kind) if kind else type(value) is str
        if not fits:
            reason = marked("engine", "“{field}” of its step {number} is missing or invalid")
            raise _no_recipe(path, reason, field=each.name, number=number)
        values[each.name] = value
    step = RecipeStep(**values)
    if step.do not in _WORDS or min(step.rows, default=0) < 0:
        raise _no_recipe(path, marked("engine", "its step {number} is of an unknown kind"), number=number)
    if step.do == TOGETHER and len(step.groups) != len(step.rows):
        reason = marked("engine", "rows and groups of its step {number} differ in number")
        raise _no_recipe(path, reason, number=number)
    return step


def _are(values: Sequence[Any], kind: type | None) -> bool:
    """Whether all values are of this very type: true is no number."""
    return all(type(value) is kind for value in values)


def _united(num_rows: int, steps: Sequence[RecipeStep]) -> npt.NDArray[np.int64]:
    """Return (R,), the same number for rows that are to stay together; what stands alone has its own."""
    above = np.arange(num_rows)

    def root(row: int) -> int:
        while above[row] != row:
            above[row] = above[above[row]]
            row = int(above[row])
        return row

    for step in steps:
        first: dict[int, int] = {}
        for row, group in zip(step.rows, step.groups, strict=True):
            one, other = sorted((root(first.setdefault(group, row)), root(row)))
            above[other] = one
    for row in sorted({row for step in steps for row in step.rows}):
        above[row] = root(row)
    return above


def write_mended(table: Table, path: Path) -> int:
    """Write the rows that a recipe leaves, cells as they are; return how many. Raises: UserError.

    Args: table: with its recipe applied. path: written as `write_table` does by its name.
    """
    kept = np.ones(table.num_rows, bool)
    kept[list(table.left_out)] = False
    write_table(path, table.columns, table.frame[kept], guard=False)
    return int(kept.sum())
