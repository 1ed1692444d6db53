"""Rows of a table that are looked for, put in order, or share a label: for the window's workers.

A million cells are never sorted or compared in one go: between two steps the window's thread has its turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from app.work.table_rows import Rows
from engine.events import Beat, Steps
from engine.text.recipe import Recipe
from engine.text.table import Table

_AT_ONCE = 4096
_LONGEST_KEY = 48  # bytes that text is put in order by


def found_rows(
    table: Table,
    rows: Rows | None,
    query: str,
    columns: Sequence[str],
    order: tuple[str, str] | None,
    recipe: Recipe | None,
) -> Steps[Rows]:
    """Return the rows that hold what is looked for, in the order asked.

    Args: rows: those to look in, None for all. query: "" for every row. columns: to look in. order: a column,
    and "up", "down" or "long". recipe: mends by which cells count as they are now.
    """
    table = table if recipe is None else recipe.applied(table)
    within = np.arange(table.num_rows) if rows is None else rows
    if query:
        within = yield from _holding(table, within, query.casefold(), columns)
    if order is not None:
        within = yield from _ordered(table, within, *order)
    return within


def rows_with_label(table: Table, column: str, label: str, recipe: Recipe | None) -> Steps[Rows]:
    """Return the rows of a label. Args: recipe: mends by which rows count as they are now."""
    mended, found = table if recipe is None else recipe.applied(table), []
    for start, cells in _blocks(mended, column, np.arange(table.num_rows)):
        found.append(np.flatnonzero([cell.strip() == label for cell in cells]) + start)
        yield Beat()
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _blocks(table: Table, column: str, rows: Rows) -> Iterator[tuple[int, list[str]]]:
    cells = table.frame[column].array
    for start in range(0, len(rows), _AT_ONCE):
        yield start, cells.take(rows[start : start + _AT_ONCE]).tolist()


def _holding(table: Table, rows: Rows, query: str, columns: Sequence[str]) -> Steps[Rows]:
    holds = np.zeros(len(rows), bool)
    for column in columns:
        for start, cells in _blocks(table, column, rows):
            holds[start : start + len(cells)] |= [query in cell.casefold() for cell in cells]
            yield Beat()
    return rows[holds]


def _ordered(table: Table, rows: Rows, column: str, how: str) -> Steps[Rows]:
    keys = np.zeros(len(rows), f"S{_LONGEST_KEY}")
    numbers = np.full(len(rows), np.nan)
    for start, cells in _blocks(table, column, rows):
        here = slice(start, start + len(cells))
        if how == "long":
            numbers[here] = [len(cell) for cell in cells]
        else:
            texts = [cell.strip().casefold() for cell in cells]
            keys[here] = [text.encode("utf-8", "replace")[:_LONGEST_KEY] for text in texts]
            numbers[here] = [_number(text) for text in texts]
        yield Beat()
    if np.isnan(numbers).any():
        words = (
            keys.view(">u8").reshape(len(rows), -1).astype(np.uint64)
        )  # whole numbers are quicker compared
        order = np.lexsort(words.T[::-1])
    else:
        order = np.argsort(numbers, kind="stable")
    return rows[order if how == "up" else order[::-1]]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
