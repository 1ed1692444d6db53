"""Encoded rows with their texts where they are measured, so that a run shows them without its file.

Runs of before keep no texts: of them the arrays are empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from engine.text.batch import EncodedRows
from engine.text.example_rows import ExampleRows
from engine.text.listed import Bytes, Indices, ListedRows, TextColumn
from engine.train.prepare import Setup

MOST_TEXT = 1 << 28  # bytes of the texts of a part; more are not kept
_AT_ONCE = 4096
_KEPT = ("lines", "utf8", "begins", "pair_utf8", "pair_begins")


def _no_bytes() -> Bytes:
    return np.zeros(0, np.uint8)


def _no_places() -> Indices:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, kw_only=True)
class MeasuredRows(EncodedRows):
    """Rows, and where they are measured: lines (E,) of the file, and the texts as `TextColumn` has them."""

    lines: Indices = field(default_factory=_no_places)
    utf8: Bytes = field(default_factory=_no_bytes)
    begins: Indices = field(default_factory=_no_places)
    pair_utf8: Bytes = field(default_factory=_no_bytes)
    pair_begins: Indices = field(default_factory=_no_places)
    always: ClassVar[tuple[str, ...]] = ("input_ids", "bounds", "num_a", "targets", "rows")  # saved of each

    @classmethod
    def over(cls, encoded: EncodedRows, examples: ExampleRows, lines: Indices) -> MeasuredRows:
        """Return encoded examples with their texts. Args: lines: of all rows of the table."""
        arrays: dict[str, Any] = dict(encoded.arrays())
        arrays["lines"] = np.ascontiguousarray(lines[examples.rows])
        texts = TextColumn.joined(some.texts() for some in examples.blocks(_AT_ONCE))
        seconds = None
        if examples.has_pair:
            seconds = TextColumn.joined(some.pairs() or () for some in examples.blocks(_AT_ONCE))
        if len(texts.utf8) + (0 if seconds is None else len(seconds.utf8)) <= MOST_TEXT:
            arrays |= {"utf8": texts.utf8, "begins": texts.begins}
            if seconds is not None:
                arrays |= {"pair_utf8": seconds.utf8, "pair_begins": seconds.begins}
        return cls(**arrays)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        found: dict[str, Any] = {name: arrays[name] for name in cls.always}
        return cls(**found | {name: arrays[name] for name in _KEPT if name in arrays})

    @property
    def listed(self) -> ListedRows:
        lines = self.lines if len(self.lines) else np.zeros(len(self), np.int64)
        texts = TextColumn(self.utf8, self.begins) if len(self.begins) else ()
        pairs = TextColumn(self.pair_utf8, self.pair_begins) if len(self.pair_begins) else None
        return ListedRows(self.rows, lines, self.lengths, texts, pairs)

    def fits(self, vocab_size: int) -> bool:
        if not super().fits(vocab_size) or len(self.lines) not in (0, len(self)):
            return False
        kept = ((self.utf8, self.begins), (self.pair_utf8, self.pair_begins))
        return all(not len(begins) or TextColumn(utf8, begins).fits(len(self)) for utf8, begins in kept)


@dataclass(frozen=True)
class RowSetup(Setup):
    """Rows of each part; those to measure on bring their texts."""

    set_kind: ClassVar[type[EncodedRows]] = MeasuredRows
