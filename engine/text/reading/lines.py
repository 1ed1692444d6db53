"""The physical lines of a text: its bytes in UTF-8 and where each line begins, 8 bytes a line.

A line that is asked for is made anew; those that follow each other are cheapest in slices (`lines_since`).
"""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from engine.events import Beat, Steps

Numbers = np.ndarray[Any, np.dtype[np.int64 | np.int32]]

_BLOCK = 1 << 22  # bytes between two steps
_REACH = 8  # bytes beyond a block that a search looks at
_FEWEST, _MOST = 4, 4096  # lines made at once
_LF, _CR = 10, 13


class Lines(Sequence[str]):
    """Lines with their ends: LF, CRLF or CR, whichever stands there. Some may be shown blank.

    Args: utf8: the text, half characters included. firsts: (L + 1,) where each line begins and the last ends.
    """

    def __init__(self, utf8: bytes, firsts: Numbers, blank: tuple[range, ...] = ()) -> None:
        self.utf8, self.firsts, self._blank = utf8, firsts, blank

    def __len__(self) -> int:
        return len(self.firsts) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, int):
            place = range(len(self))[place]
            return self[place : place + 1][0]
        start, stop, step = place.indices(len(self))
        if start >= stop:
            return []
        text = self.utf8[self.firsts[start] : self.firsts[stop]].decode("utf-8", "surrogatepass")
        lines = list(io.StringIO(text, newline=""))
        for blank in self._blank:
            for number in range(max(start, blank.start), min(stop, blank.stop)):
                lines[number - start] = "\n"
        return lines if step == 1 else lines[::step]

    def without(self, first: int, stop: int) -> Lines:
        """Return the lines with some of them blank, so that the numbers of the others stay."""
        return Lines(self.utf8, self.firsts, (*self._blank, range(first, stop)))

    def num_beginning(self, char: str) -> int:
        """Return how many lines begin with an ASCII character."""
        is_so = self._bytes[self.firsts[:-1]] == ord(char)
        for blank in self._blank:
            is_so[blank.start : blank.stop] = False
        return int(is_so.sum())

    def are_ended_by(self, places: Numbers, end: str) -> Any:
        """Return (n,) bool, which of some lines end in a lone CR or LF."""
        last = self.firsts[places + 1] - 1
        before = self._bytes[np.maximum(last - 1, 0)]
        alone = (before != _CR) | (last <= self.firsts[places]) if end == "\n" else True
        return (self._bytes[last] == ord(end)) & alone

    @property
    def _bytes(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.frombuffer(self.utf8, np.uint8)


def split_lines(utf8: bytes) -> Steps[Lines]:
    """Return the physical lines of a text, step by step."""
    firsts = array("q", [0])
    data = np.frombuffer(utf8, np.uint8)
    for start in range(0, len(data), _BLOCK):
        block, following = data[start : start + _BLOCK], data[start + 1 : start + _BLOCK + 1]
        is_end, is_lone = block == _LF, block == _CR
        if is_lone.any():
            is_lone[: len(following)] &= following != _LF
            is_end |= is_lone
        firsts.frombytes((np.flatnonzero(is_end) + (start + 1)).tobytes())
        if len(data) > _BLOCK:
            yield Beat()
    if firsts[-1] != len(data):
        firsts.append(len(data))
    return Lines(utf8, np.frombuffer(firsts, np.int64))


def counting(utf8: bytes, what: bytes) -> Steps[int]:
    """Return how often a few bytes, none of which begins anew within them, stand in a text, step by step.

    A search through all of it at once would hold up every other thread.
    """
    found = 0
    for start in range(0, len(utf8), _BLOCK):
        found += utf8.count(what, start, start + _BLOCK + len(what) - 1)
        if len(utf8) > _BLOCK:
            yield Beat()
    return found


def searching(utf8: bytes, pattern: re.Pattern[bytes], begin: int = 0) -> Steps[bool]:
    """Return whether a pattern stands in a text, step by step. It has to be of few bytes (`_REACH`)."""
    for start in range(begin, len(utf8), _BLOCK):
        if pattern.search(utf8, start, start + _BLOCK + _REACH):
            return True
        if len(utf8) > _BLOCK:
            yield Beat()
    return False


def lines_since(lines: Sequence[str], begin: int) -> Iterator[str]:
    """Yield the lines from `begin` on, in slices that grow: who stops soon has not paid for many."""
    count = _FEWEST
    while begin < len(lines):
        yield from lines[begin : begin + count]
        begin, count = begin + count, min(2 * count, _MOST)
