"""Millions of cells as one run of UTF-8 and numbers of where each begins: 4 bytes a cell beside its text.

8 bytes from 2 GiB of text on.

A `str` costs 49 bytes and its place 8 more; here it is made when it is asked for, and never kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import overload

import numpy as np

from engine.text.reading.encoding import HALVES
from engine.text.reading.lines import Numbers

WIDEST = 2**31 - 1  # number that fits into four bytes
_AT_ONCE = 4096  # rows that are texts of their own for a moment
Column = tuple[bytes | bytearray, Numbers, Numbers]  # all cells as UTF-8; (R,) where each begins and ends


class Rows(Sequence[list[str]]):
    """Rows of cells, each of its own width, that can be added at the end and dropped at the beginning."""

    def __init__(self, rows: Iterable[list[str]] = ()) -> None:
        self._utf8 = bytearray()
        self._bounds = array("i", [0])  # where each cell begins, and the last ends
        self._firsts = array("i", [0])  # which cell is each row's first, and the end
        self._waiting: list[list[str]] = []
        for row in rows:
            self.append(row)

    def append(self, row: list[str]) -> None:
        """Add a row at the end."""
        self._waiting.append(row)
        if len(self._waiting) >= _AT_ONCE:
            self._settle()

    def extend(self, rows: list[list[str]]) -> None:
        """Add rows at the end."""
        self._waiting += rows
        self._settle()

    def drop(self, count: int) -> None:
        """Take the first rows away."""
        self._settle()
        del self._firsts[:count]

    def __len__(self) -> int:
        return len(self._firsts) - 1 + len(self._waiting)

    @overload
    def __getitem__(self, place: int) -> list[str]: ...

    @overload
    def __getitem__(self, place: slice) -> list[list[str]]: ...

    def __getitem__(self, place: int | slice) -> list[str] | list[list[str]]:
        self._settle()
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        bounds = self._bounds[self._firsts[place] : self._firsts[place + 1] + 1]
        return [self._utf8[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]

    def widths(self) -> Numbers:
        """Return (R,) how many cells each row has."""
        self._settle()
        firsts = _numbers(self._firsts)
        return firsts[1:] - firsts[:-1]

    def damaged(self) -> Numbers:
        """Return the places of rows that hold half a character."""
        self._settle()
        found = np.fromiter((match.start() for match in HALVES.finditer(self._utf8)), np.int64)
        cells = np.searchsorted(_numbers(self._bounds), found, "right") - 1
        places = np.searchsorted(_numbers(self._firsts), cells, "right") - 1
        return np.unique(places[places >= 0])  # below 0: of rows that were dropped

    def padded(self, width: int) -> Rows:
        """Return the rows with empty cells at their ends, so that each has `width`."""
        widths = self.widths()
        if (widths == width).all():
            return self
        bounds, firsts = _numbers(self._bounds), _numbers(self._firsts)
        made = Rows()
        made._utf8 = self._utf8
        made._bounds = array(self._bounds.typecode, bounds[firsts[:1]].tobytes())
        for start in range(0, len(widths), _AT_ONCE):
            first, stop = firsts[start : start + _AT_ONCE + 1][:-1], firsts[start + 1 : start + _AT_ONCE + 1]
            ends = np.minimum(first[:, None] + np.arange(1, width + 1), stop[:, None])
            made._bounds.frombytes(bounds[ends].tobytes())
        made._firsts = array("i")
        made._firsts = _longer(made._firsts, np.arange(len(widths) + 1) * width)
        return made

    def columns(self, width: int, kept: np.ndarray | None = None) -> list[Column]:
        """Return the cells by columns, over the same text.

        Args: width: of each row that is kept. kept: (R,) bool, None for all of them.
        """
        self._settle()
        bounds, firsts = _numbers(self._bounds), _numbers(self._firsts)
        if kept is None:
            first, stop = int(firsts[0]), int(firsts[-1])
            starts, ends = bounds[first:stop], bounds[first + 1 : stop + 1]
            return [(self._utf8, starts[n::width], ends[n::width]) for n in range(width)]
        cells = firsts[:-1][kept]
        return [(self._utf8, bounds[cells + n], bounds[cells + n + 1]) for n in range(width)]

    def _settle(self) -> None:
        """Put the rows that wait behind the others."""
        if not self._waiting:
            return
        cells = list(chain.from_iterable(self._waiting))
        data, lengths = joined(cells)
        self._bounds = _longer(self._bounds, np.cumsum(lengths) + len(self._utf8))
        self._utf8 += data
        widths = np.fromiter(map(len, self._waiting), np.int64, len(self._waiting))
        self._firsts = _longer(self._firsts, np.cumsum(widths) + self._firsts[-1])
        self._waiting = []


def _numbers(kept: array[int]) -> Numbers:
    """Return the numbers of an array as they lie there."""
    return np.frombuffer(kept, np.int32 if kept.typecode == "i" else np.int64)


def _longer(kept: array[int], more: Numbers) -> array[int]:
    """Return an array with ascending numbers added at its end; one of 8 bytes each where it must be."""
    if kept.typecode == "i" and len(more) and more[-1] > WIDEST:
        kept = array("q", kept)
    kept.frombytes(more.astype(np.int32 if kept.typecode == "i" else np.int64).tobytes())
    return kept


def joined(cells: Sequence[str]) -> tuple[bytes, Numbers]:
    """Return texts as one run of UTF-8, and the bytes of each."""
    whole = "".join(cells)
    if whole.isascii():
        return whole.encode(), np.fromiter(map(len, cells), np.int64, len(cells))
    pieces = [cell.encode("utf-8", "surrogatepass") for cell in cells]
    return b"".join(pieces), np.fromiter(map(len, pieces), np.int64, len(pieces))
