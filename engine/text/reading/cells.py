"""A column of a table for pandas, over the UTF-8 of `Rows`: texts are made when asked for, and never kept.

It stands apart from what reads a table: only a table that is there needs pandas, half a second and 60 MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas
from pandas.api.extensions import ExtensionArray, ExtensionDtype
from pandas.api.indexers import check_array_indexer

from engine.text.reading.lines import Numbers
from engine.text.reading.rows import joined

_AT_ONCE = 4096  # cells that are texts of their own for a moment


class CellType(ExtensionDtype):  # type: ignore[misc] # pandas has no types
    """What pandas calls the type of a `CellArray`."""

    name = "cells"
    type = str
    na_value = ""
    _is_immutable = True

    @classmethod
    def construct_array_type(cls) -> Any:
        return CellArray


class CellArray(ExtensionArray):  # type: ignore[misc]
    """A column of texts that cannot be changed; an empty cell is "".

    Args: utf8: holds all cells. starts, ends: (R,) int64, the bytes of each.
    """

    def __init__(self, utf8: bytes | bytearray, starts: Numbers, ends: Numbers) -> None:
        self._utf8, self._starts, self._ends = utf8, starts, ends

    @classmethod
    def of(cls, cells: Sequence[str]) -> CellArray:
        """Return texts as a column."""
        blocks = [joined(cells[start : start + _AT_ONCE]) for start in range(0, len(cells), _AT_ONCE)]
        lengths = np.concatenate([each for _, each in blocks]) if blocks else np.zeros(0, np.int64)
        ends = np.cumsum(lengths)
        return cls(b"".join(data for data, _ in blocks), ends - lengths, ends)

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> CellArray:
        return cls.of(list(scalars))

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[CellArray]) -> CellArray:
        return cls.of([cell for one in to_concat for cell in one])

    @property
    def dtype(self) -> CellType:
        return CellType()

    @property
    def nbytes(self) -> int:
        return int((self._ends - self._starts).sum()) + self._starts.nbytes + self._ends.nbytes

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, item: Any) -> Any:
        item = check_array_indexer(self, item)
        if isinstance(item, int | np.integer):
            return self._utf8[self._starts[item] : self._ends[item]].decode()
        return CellArray(self._utf8, self._starts[item], self._ends[item])

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE].tolist()

    def tolist(self) -> list[str]:
        """Return the texts themselves."""
        if len(self) > _AT_ONCE:
            return list(self)
        utf8 = self._utf8
        return [utf8[a:b].decode() for a, b in zip(self._starts.tolist(), self._ends.tolist(), strict=True)]

    def __eq__(self, other: object) -> Any:
        if isinstance(other, pandas.DataFrame | pandas.Series | pandas.Index):
            return NotImplemented
        return np.array(self.tolist(), dtype=object) == (
            np.array(other.tolist(), dtype=object) if isinstance(other, CellArray) else other
        )

    def isna(self) -> np.ndarray:
        return np.zeros(len(self), dtype=bool)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> CellArray:
        places = np.asarray(indices, dtype=np.int64)
        if allow_fill and (places < 0).any():
            raise ValueError("a column of cells has no missing ones")
        return CellArray(self._utf8, self._starts[places], self._ends[places])

    def copy(self) -> CellArray:
        return CellArray(self._utf8, self._starts, self._ends)  # nobody can change it
