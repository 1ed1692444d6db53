"""Texts that have something in common: a number on one page names them, the list of another shows them."""

from __future__ import annotations

from dataclasses import dataclass

ANSWER, RIGHT, CONFIDENCE, LENGTH, WORD, COLUMN, LABEL, DIFFER, MARK, OFF, PLACE = (
    "answer",
    "right",
    "confidence",
    "length",
    "word",
    "column",
    "label",
    "differ",
    "mark",
    "off",
    "place",
)
INSIDE, OUTSIDE = "inside", "outside"  # of two bounds
ANY, ONE, FIRST, SECOND = "any", "one", "first", "second"  # of two models: their answers differ; who is right


@dataclass(frozen=True)
class Filter:
    """Texts that have something in common. kind: one of those above; values: what, by kind.

    ANSWER: true and predicted label, -1 for any. RIGHT: 1 or 0. CONFIDENCE, LENGTH: from and to, both taken.
    WORD: the word. COLUMN: name and value. LABEL: one of several, true or answered.
    DIFFER: ANY, where two models answer differently; ONE, FIRST or SECOND, which alone is right. MARK: what
    `MarkColumns` of engine/train/scored.py says. OFF: INSIDE or OUTSIDE, from and to, of numbers: predicted
    less true. PLACE: of one text among all.
    """

    kind: str
    values: tuple[float | str, ...]

    @property
    def place(self) -> tuple[str, ...]:
        """What it takes the place of: one answer at a time, but any number of words."""
        if self.kind in (WORD, COLUMN, MARK):
            return self.kind, str(self.values[0])
        return (self.kind,)
