"""Texts that have something in common: a number on one page names them, the list of another shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.work.page_state import limited

_VALUES = {  # kind of a filter -> its values: n a number, w a word
    "answer": "nn",
    "right": "n",
    "confidence": "nn",
    "length": "nn",
    "word": "w",
    "column": "ww",
    "label": "w",
    "differ": "w",
    "mark": "www?",
    "off": "wnn",
    "place": "n",
}
ANSWER, RIGHT, CONFIDENCE, LENGTH, WORD, COLUMN, LABEL, DIFFER, MARK, OFF, PLACE = _VALUES
INSIDE, OUTSIDE = "inside", "outside"  # of two bounds
# of two models: their answers differ; who is right
WHO = ANY, ONE, FIRST, SECOND = "any", "one", "first", "second"
LARGEST = 1e15  # of a number in a filter


@dataclass(frozen=True)
class Filter:
    """Texts that have something in common. kind: one of those above; values: what, by kind.

    ANSWER: true and predicted label, -1 for any. RIGHT: 1 or 0. CONFIDENCE, LENGTH: from and to, both taken.
    WORD: the word. COLUMN: name and value. LABEL: one of several, true or answered.
    DIFFER: ANY, where two models answer differently; ONE, FIRST or SECOND, which alone is right. MARK: what
    `MarkColumns` of engine/train/scored.py says. OFF: INSIDE or OUTSIDE, from and to, of numbers: predicted
    less true. PLACE: of one text among all.
    """

    kind: str = limited(choices=tuple(_VALUES))
    values: tuple[float | str, ...] = limited(minimum=-LARGEST, maximum=LARGEST, longest=10_000, most=4)

    @property
    def is_whole(self) -> bool:
        """Whether it has the values of its kind; a stranger may have written it."""
        found = "".join("w" if isinstance(value, str) else "n" for value in self.values)
        return re.fullmatch(_VALUES[self.kind], found) is not None

    @property
    def place(self) -> tuple[str, ...]:
        """What it takes the place of: one answer at a time, but any number of words."""
        if self.kind in (WORD, COLUMN, MARK):
            return self.kind, str(self.values[0])
        return (self.kind,)
