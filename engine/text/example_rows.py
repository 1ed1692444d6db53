"""The rows of a table that can be used, as numbers; an `Example` is made when it is asked for.

Texts are compared by 64-bit hashes, which hold for one process: two different ones among ten million share
one once in 370,000 tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from engine.events import Beat, Steps

Indices = npt.NDArray[np.int64]
Keys = npt.NDArray[np.int64]

_AT_ONCE = 4096  # examples whose texts are made at once


@dataclass(frozen=True, slots=True)
class Example:
    """One row that can be used. parts: what a model reads, in order. `label` is a place in the labels, None
    where there is none.
    """

    row: int
    parts: tuple[str, ...]
    label: int | None

    @property
    def text(self) -> str:
        return self.parts[0]

    @property
    def text_pair(self) -> str | None:
        """The second part, None of a single text; of more parts, all others in a line."""
        return _second(self.parts)


class ExampleRows(Sequence[Example]):
    """Examples over the columns of a table.

    Args: columns: of each part a cell for each row of the table. rows: (E,) int64 of the table. labels: (E,)
    places in the labels, -1 for none.
    """

    def __init__(self, columns: Sequence[Any], rows: Indices, labels: npt.NDArray[np.int32]) -> None:
        self._columns = tuple(columns)
        self.rows, self.labels = rows, labels

    @classmethod
    def of(cls, examples: Sequence[Example]) -> ExampleRows:
        """Return a few examples as what many are; all of them have as many parts."""
        count = 1 + max((each.row for each in examples), default=-1)
        num_parts = len(examples[0].parts) if examples else 1
        columns = [np.full(count, "", object) for _ in range(num_parts)]
        for each in examples:
            for column, part in zip(columns, each.parts, strict=True):
                column[each.row] = part
        rows = np.array([each.row for each in examples], np.int64)
        labels = np.array([-1 if each.label is None else each.label for each in examples], np.int32)
        import pandas  # here: it takes long to import

        return cls([pandas.array(column, object) for column in columns], rows, labels)

    @property
    def num_parts(self) -> int:
        """How many texts there are to an example."""
        return len(self._columns)

    @property
    def has_pair(self) -> bool:
        """Whether there is more than one text to each."""
        return len(self._columns) > 1

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Example: ...

    @overload
    def __getitem__(self, place: slice) -> ExampleRows: ...

    def __getitem__(self, place: int | slice) -> Example | ExampleRows:
        if isinstance(place, slice):
            return self._some(self.rows[place], self.labels[place])
        row, label = int(self.rows[place]), int(self.labels[place])
        return Example(row, tuple(column[row] for column in self._columns), None if label < 0 else label)

    def __iter__(self) -> Iterator[Example]:
        for some in self.blocks(_AT_ONCE):
            labels = (None if label < 0 else label for label in some.labels.tolist())
            yield from map(Example, some.rows.tolist(), zip(*some.parts(), strict=True), labels)

    def take(self, places: Indices) -> ExampleRows:
        """Return the examples at some places, in that order."""
        return self._some(self.rows[places], self.labels[places])

    def spread_out(self, limit: int) -> ExampleRows:
        """Return at most `limit` of them, evenly spread; all where that is 0."""
        if not limit or limit >= len(self):
            return self
        return self.take(np.linspace(0, len(self) - 1, limit).astype(np.int64))

    def blocks(self, size: int) -> Iterator[ExampleRows]:
        """Yield all of them, some at a time."""
        for start in range(0, len(self), size):
            yield self[start : start + size]

    def texts(self) -> list[str]:
        """Return the text of each."""
        return self.part(0)

    def pairs(self) -> list[str] | None:
        """Return the second text of each, None for single texts; of more parts, all others in a line."""
        if len(self._columns) == 2:
            return self.part(1)
        return list(map(_in_line, zip(*self.parts()[1:], strict=True))) if self.has_pair else None

    def part(self, place: int) -> list[str]:
        """Return one of the parts of each."""
        found: list[str] = self._columns[place].take(self.rows).tolist()
        return found

    def parts(self) -> list[list[str]]:
        """Return all parts, one after the other."""
        return [self.part(place) for place in range(len(self._columns))]

    def _some(self, rows: Indices, labels: npt.NDArray[np.int32]) -> ExampleRows:
        return ExampleRows(self._columns, rows, labels)


def _second(parts: Sequence[str]) -> str | None:
    return None if len(parts) < 2 else parts[1] if len(parts) == 2 else _in_line(parts[1:])


_in_line = " | ".join


def text_keys(examples: ExampleRows, *, either_way: bool = False) -> Steps[Keys]:
    """Return (E,) int64, equal where the texts are, character for character.

    Args: either_way: a pair is the same with its sides swapped.
    """
    keys = np.zeros(len(examples), np.int64)
    for place, some in enumerate(examples.blocks(_AT_ONCE)):
        texts, pairs = some.texts(), some.pairs()
        said: Sequence[Any] = texts if pairs is None else list(zip(texts, pairs, strict=True))
        if pairs is not None and either_way:
            said = [(a, b) if a <= b else (b, a) for a, b in said]
        start = place * _AT_ONCE
        keys[start : start + len(some)] = list(map(hash, said))
        yield Beat()
    return keys


def distinct(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return different numbers, ascending. np.unique hashes them, which holds up all other threads."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def count_duplicates(keys: Keys) -> int:
    """Return how many examples repeat the texts of an earlier one."""
    keys = np.sort(keys)
    return int((keys[1:] == keys[:-1]).sum())


def count_leaks(train: Keys, held_out: Keys) -> int:
    """Return how many held-out examples also stand in training: they measure memory, not skill.

    Args: train, held_out: keys that are the same with the sides of a pair swapped.
    """
    if not len(train):
        return 0
    train, held_out = np.sort(train), np.sort(held_out)
    places = np.minimum(np.searchsorted(train, held_out), len(train) - 1)
    return int((train[places] == held_out).sum())


def count_contradictions(keys: Keys, labels: npt.NDArray[np.int32]) -> int:
    """Return how many texts, or pairs, carry more than one label. Args: labels: (E,), -1 for none."""
    keys, labels = keys[labels >= 0], labels[labels >= 0]
    if not len(keys):
        return 0
    order = np.argsort(keys)
    keys, labels = keys[order], labels[order]
    firsts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    least, most = np.minimum.reduceat(labels, firsts), np.maximum.reduceat(labels, firsts)
    return int((least != most).sum())
