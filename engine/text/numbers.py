"""A number a row: cells that are to be predicted as they are, such as how alike two texts are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from engine.errors import DataError, Sentence, marked
from engine.events import Steps
from engine.text.examples import ExampleTable, LabelTable, finding_values
from engine.text.labels import LabelColumn
from engine.text.roles import Roles
from engine.text.table import Table

LARGEST = 1e15  # its square can still be computed in float32
_LEAST_VALUES = 5  # different numbers that are no whole ones: fewer may be versions, or marks at school
_MANY_VALUES, _FAR_APART = 20, 10  # different whole numbers, and how far they are apart on average
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d{1,4})?( ?%)?")


def number_in(cell: str) -> float | None:
    """Return the number that a cell is, with a decimal point or comma; None if it is none, or too large.

    12% is 12: per cent are another unit, and a column has one.
    """
    if not _NUMBER.fullmatch(cell) or len(cell) > 400:
        return None
    number = float(cell.rstrip(" %").replace(",", "."))
    return number if abs(number) <= LARGEST else None


def figure(number: float, spread: float, digits: int = 3) -> str:
    """Return a number with as many decimals as `digits` of its distance to others want, which is `spread`."""
    decimals = digits - 1 - math.floor(math.log10(spread)) if spread > 0 else digits
    written = f"{number:.{max(0, decimals)}f}"
    written = written.rstrip("0").rstrip(".") if "." in written else written
    return "0" if written == "-0" else written


def are_numbers(cells: Iterable[str]) -> bool:
    """Whether cells look like measurements, not classes: all are numbers, and several are no whole ones, or
    many lie far apart, as prices do and the numbers of classes do not.
    """
    found = {number_in(cell.strip()) for cell in cells if cell.strip()}
    numbers = {number for number in found if number is not None}
    if len(numbers) < len(found):
        return False
    if sum(not number.is_integer() for number in numbers) >= _LEAST_VALUES:
        return True
    return len(numbers) >= _MANY_VALUES and max(numbers) - min(numbers) >= _FAR_APART * len(numbers)


def finding_numbers(table: Table, roles: Roles, *, is_learned: bool = True) -> Steps[ExampleTable]:
    """Return the rows that can be used, and the number of each, step by step: `ExampleTable.values` is (K,).

    Args:   is_learned: whether it is to be learned from, which takes two different numbers.
    Returns: rows with an empty text or label, or a label that is no number, are reported by their line.
    Raises: DataError as `finding_examples`.
    """
    columns = (roles.label,) if roles.label else ()
    return (yield from finding_values(table, roles, columns, partial(_of_cells, columns, is_learned)))


def _of_cells(columns: Sequence[str], is_learned: bool, answers: LabelColumn) -> LabelTable:
    found = [number_in(cell) for cell in answers.names]
    template = marked(
        "engine",
        "Line {line} has {value} in column {column}, which is not a number between -{most} and {most}.",
    )
    refused = {
        code: Sentence(template, {"line": 0, "value": cell[:80], "column": columns[0], "most": "1e15"})
        for code, (cell, number) in enumerate(zip(answers.names, found, strict=True))
        if number is None
    }
    values = np.array([0.0 if number is None else number for number in found])
    usable = answers.usable & ~np.isin(answers.codes, list(refused))
    numbers = values[answers.codes[usable]]
    if not is_learned or not len(numbers):
        return LabelTable((), values, refused)
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        raise DataError(
            marked(
                "engine",
                "Every row has the same number, {number:g}, in column {column}, so there is "
                "nothing to learn. Choose another column or other data.",
            ),
            number=low,
            column=columns[0],
        )
    template = marked("engine", "Column {column} is read as numbers: {low} to {high}, mean {mean}.")
    if any("," in cell for cell in answers.names):
        template = marked(
            "engine",
            "Column {column} is read as numbers with a decimal comma: {low} to {high}, mean {mean}.",
        )
    said = {"low": figure(low, high - low, 6), "high": figure(high, high - low, 6)}
    said["mean"] = figure(math.fsum(numbers) / len(numbers), high - low)
    form = Sentence(template, {"column": columns[0], **said})
    return LabelTable((), values, refused, (), (), form)
