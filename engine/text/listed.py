"""The texts of a set as a person finds them in the file: end to end in UTF-8, a million in two arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.int64]

# E texts


class TextColumn(Sequence[str]):
    """Texts that are made when they are asked for.

    Args: utf8: all of them. begins: (E + 1,) bytes. gap: bytes behind each that are none of it.
    """

    def __init__(self, utf8: Bytes, begins: Indices, gap: int = 0) -> None:
        self.utf8, self.begins, self._gap = utf8, begins, gap

    @classmethod
    def joined(cls, blocks: Iterable[Sequence[str]]) -> TextColumn:
        """Return texts that come some at a time."""
        written, lengths = bytearray(), [0]
        for block in blocks:
            for text in block:
                data = text.encode("utf-8", "surrogatepass")
                written += data
                lengths.append(len(data))
        return cls(np.frombuffer(written, np.uint8), np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.begins) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> list[str]: ...

    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if place < 0 or place >= len(self):
            raise IndexError(place)
        data = self.utf8[self.begins[place] : self.begins[place + 1] - self._gap]
        return data.tobytes().decode("utf-8", "surrogatepass")

    def fits(self, count: int) -> bool:
        """Whether the arrays belong together, and hold so many texts."""
        begins = self.begins
        good = (
            self.utf8.dtype == np.uint8
            and self.utf8.ndim == 1
            and begins.ndim == 1
            and begins.dtype.kind in "iu"
        )
        if not good or len(begins) != count + 1 or begins[0] or begins[-1] != len(self.utf8):
            return False
        return bool((np.diff(begins) >= self._gap).all())


@dataclass(frozen=True, slots=True, eq=False)
class ListedRows:
    """Where the texts of a set stand in their file, and what they are.

    rows: (E,) from 0. lines: (E,) from 1, 0 where nobody knows. lengths: (E,) WordPieces that a model reads,
    of tagged texts words. texts: () where they were not kept. pairs: the second texts, None for single ones.
    """

    rows: Indices
    lines: Indices
    lengths: Indices
    texts: Sequence[str] = ()
    pairs: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: npt.NDArray[Any]) -> ListedRows:
        """Return some of them. Args: places: of them, or (E,) bool."""
        kept = np.arange(len(self))[places].tolist()
        texts, pairs = (
            [side[place] for place in kept] if side is not None and len(side) else side
            for side in (self.texts, self.pairs)
        )
        return ListedRows(self.rows[places], self.lines[places], self.lengths[places], texts or (), pairs)

    def sizes(self) -> Indices:
        """Return (E,) the characters of each text, both of a pair; of texts that were not kept, `lengths`."""
        if len(self.texts) != len(self):
            return self.lengths
        found = _sizes(self.texts)
        return found if self.pairs is None else found + _sizes(self.pairs)

    def said(self, place: int) -> str:
        """Return a text, both of a pair; "" where none were kept."""
        if not len(self.texts):
            return ""
        return self.texts[place] if self.pairs is None else f"{self.texts[place]} | {self.pairs[place]}"


def folded(text: str) -> str:
    """Return a text without case and with single spaces."""
    return " ".join(text.casefold().split())


def _sizes(texts: Sequence[str]) -> Indices:
    if not isinstance(texts, TextColumn):
        return np.array([len(text) for text in texts], np.int64)
    firsts = np.concatenate([[0], np.cumsum((texts.utf8 & 0xC0) != 0x80, dtype=np.int64)])
    found: Indices = np.diff(firsts[texts.begins])
    return found
