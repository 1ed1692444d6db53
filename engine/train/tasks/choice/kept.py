"""Rows of a text and its endings, cut into one sequence an ending."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from engine.errors import marked
from engine.events import Progress, Steps
from engine.text.example_rows import ExampleRows
from engine.text.tokenizer import Tokenizer
from engine.train.prepare import TEXTS_AT_ONCE
from engine.train.tasks.rows.kept import MeasuredRows, RowSetup

# E rows, K endings


def _none() -> np.ndarray:
    return np.zeros((0, 2), np.int64)


@dataclass(frozen=True, kw_only=True)
class ChoiceRows(MeasuredRows):
    """Rows whose tokens are those of [CLS] text [SEP] ending [SEP], one ending after the other.

    cuts: (E, K) tokens of each. firsts: (E, K) those of its segment 0.
    """

    cuts: np.ndarray = field(default_factory=_none)
    firsts: np.ndarray = field(default_factory=_none)
    always: ClassVar[tuple[str, ...]] = (*MeasuredRows.always, "cuts", "firsts")

    @property
    def sequences(self) -> tuple[np.ndarray, np.ndarray]:
        return self.cuts, self.firsts

    def fits(self, vocab_size: int) -> bool:
        if not super().fits(vocab_size) or self.cuts.ndim != 2 or self.cuts.shape != self.firsts.shape:
            return False
        if len(self.cuts) != len(self) or self.cuts.shape[1] < 2 or self.cuts.min() < 1:
            return False
        inside = (self.firsts > 0) & (self.firsts <= self.cuts)
        return bool((self.cuts.sum(1) == self.lengths).all() and inside.all())


@dataclass(frozen=True)
class ChoiceSetup(RowSetup):
    """What choosing an ending stands on."""

    set_kind: ClassVar[type[ChoiceRows]] = ChoiceRows

    def belongs_together(self) -> bool:
        sets = self.sets.values()
        wide = all(isinstance(one, ChoiceRows) and one.cuts.shape[1] == len(self.labels) for one in sets)
        return wide and super().belongs_together()


def encode_choices(
    examples: ExampleRows, wordpiece: Tokenizer, max_length: int, truncation: str
) -> Steps[tuple[ChoiceRows, int]]:
    """Cut rows into WordPieces; return the set, and how many rows have an ending or a text that was cut."""
    count, num_choices = len(examples), examples.num_parts - 1
    cuts, firsts = (np.zeros((count, num_choices), np.int64) for _ in range(2))
    ids, place, num_cut = bytearray(), 0, 0
    for some in examples.blocks(TEXTS_AT_ONCE):
        yield Progress(stage=marked("engine", "Tokenizing"), done=place, total=count)
        texts, *endings = (wordpiece.encode_ids(part) for part in some.parts())
        for text, *own in zip(texts, *endings, strict=True):
            was_cut = False
            for choice, ending in enumerate(own):
                pieces, firsts[place, choice], lost = wordpiece.assemble(text, ending, max_length, truncation)
                cuts[place, choice] = len(pieces)
                ids += pieces.tobytes()
                was_cut |= lost > 0
            num_cut += was_cut
            place += 1
    bounds = np.concatenate([[0], np.cumsum(cuts.sum(1))]).astype(np.int64)
    made = ChoiceRows(
        input_ids=np.frombuffer(ids, np.int32),
        bounds=bounds,
        num_a=firsts[:, 0].astype(np.int32),
        targets=examples.labels.astype(np.int64),
        rows=examples.rows,
        cuts=cuts,
        firsts=firsts,
    )
    return made, num_cut
