"""Encoded windows of texts whose words are answered for, with the words themselves where they are measured.

Answers stand in the order of the words: windows of a text follow each other, and each decides on the words
behind those that the one before has decided on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.text.batch import EncodedRows
from engine.text.listed import ListedRows, TextColumn
from engine.text.tagged.texts import MOST_BYTES, WordTable

# S texts, W words of all of them, A answers: the words of which a model sees at least one piece


@dataclass(frozen=True, kw_only=True)
class TaggedRows(EncodedRows):
    """Windows (E,) of S texts; `rows` says of which text each is.

    firsts: (S + 1,) the first word of each text. decided: (A,) ascending, the words that are answered for.
    The others are empty where words are only learned from: tags, (W,) places in the task's tags; and where
    the words stand, as a `WordTable` has it: utf8, begins, steps, sizes, lines.
    """

    firsts: np.ndarray
    decided: np.ndarray
    tags: np.ndarray
    utf8: np.ndarray
    begins: np.ndarray
    steps: np.ndarray
    sizes: np.ndarray
    lines: np.ndarray

    @property
    def num_rows(self) -> int:
        """Texts."""
        return len(self.firsts) - 1

    @property
    def num_words(self) -> int:
        return int(self.firsts[-1])

    @cached_property
    def store(self) -> WordTable:
        """Where the words stand; of each text the line of its first word is known."""
        none = np.zeros((0, 2), np.int64)
        text = self.utf8.tobytes()
        return WordTable(text, self.begins, self.firsts, self.steps, self.sizes, self.lines, none, 0)

    @property
    def listed(self) -> ListedRows:
        texts = TextColumn(self.utf8, self.begins, 1) if len(self.begins) > 1 else ()
        return ListedRows(np.arange(self.num_rows), self.lines, np.diff(self.firsts), texts)

    def fits(self, vocab_size: int) -> bool:
        """Whether the arrays belong together, as far as can be seen."""
        if not super().fits(vocab_size) or not self.is_of_tokens:
            return False
        firsts, decided = self.firsts, self.decided
        arrays = (firsts, decided, self.tags, self.utf8, self.begins, self.steps, self.sizes, self.lines)
        if any(one.ndim != 1 or one.dtype.kind not in "iu" for one in arrays):
            return False
        if len(firsts) < 2 or firsts[0] or (np.diff(firsts) < 0).any() or self.rows.max() >= self.num_rows:
            return False
        return not len(self.tags) or self._words_fit()

    def _words_fit(self) -> bool:
        num_words, decided = self.num_words, self.decided
        if {len(one) for one in (self.tags, self.steps, self.sizes)} != {num_words}:
            return False
        if len(self.lines) != self.num_rows or len(self.begins) != self.num_rows + 1:
            return False
        if len(decided) != self.answer_bounds[-1] or (np.diff(decided) <= 0).any():
            return False
        if len(decided) and not 0 <= decided[0] <= decided[-1] < num_words:
            return False
        if self.begins[0] or (np.diff(self.begins) < 0).any() or self.begins[-1] != len(self.utf8):
            return False
        return bool(max(self.steps.max(), self.sizes.max()) <= MOST_BYTES and self.tags.min() >= 0)
