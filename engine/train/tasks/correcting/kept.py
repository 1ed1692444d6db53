"""Encoded texts with the right piece in each place; a long text is read in windows that overlap by half.

Each piece is asked in one window alone, that in which it has most context, so that the answers of a text, one
window after the other, stand in the order of its pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from engine.errors import marked
from engine.events import Progress, Steps
from engine.text.batch import IGNORE, NOT_ASKED, EncodedRows
from engine.text.corrections import right_texts
from engine.text.example_rows import ExampleRows, Indices
from engine.text.examples import ExampleTable
from engine.text.listed import ListedRows, TextColumn
from engine.text.tokenizer import Tokenizer
from engine.train.prepare import TEXTS_AT_ONCE
from engine.train.tasks.rows.kept import MeasuredRows, RowSetup

# E windows of S texts, A answers: a piece each, of all texts end to end


def _no_spans() -> np.ndarray:
    return np.zeros((0, 2), np.int32)


@dataclass(frozen=True, kw_only=True)
class CorrectedRows(MeasuredRows):
    """Windows of texts; those of a text follow each other and have its row in common.

    targets: by token, the piece that belongs there. lines, and the texts themselves, are of S texts. spans:
    (A, 2) the characters of its text that each piece is from; empty where texts are only learned from.
    """

    spans: np.ndarray = field(default_factory=_no_spans)
    always: ClassVar[tuple[str, ...]] = (*MeasuredRows.always, "spans")

    @cached_property
    def begins_of_texts(self) -> Indices:
        """(S + 1,) the first window of each text."""
        is_new = np.append(True, np.diff(self.rows) != 0)
        return np.append(np.flatnonzero(is_new), len(self)).astype(np.int64)

    @property
    def num_rows(self) -> int:
        return len(self.begins_of_texts) - 1

    @cached_property
    def firsts(self) -> Indices:
        """(S + 1,) the first answer of each text."""
        found: Indices = self.answer_bounds[self.begins_of_texts]
        return found

    @cached_property
    def asked(self) -> np.ndarray:
        """(sum of lengths,) bool, the tokens that are answered for."""
        found: np.ndarray = self.targets != NOT_ASKED
        return found

    @property
    def listed(self) -> ListedRows:
        lines = self.lines if len(self.lines) else np.zeros(self.num_rows, np.int64)
        texts = TextColumn(self.utf8, self.begins) if len(self.begins) else ()
        return ListedRows(self.rows[self.begins_of_texts[:-1]], lines, np.diff(self.firsts), texts)

    def fits(self, vocab_size: int) -> bool:
        if not EncodedRows.fits(self, vocab_size) or not self.is_of_tokens:
            return False
        if self.targets.dtype.kind not in "iu" or len(self.lines) not in (0, self.num_rows):
            return False
        if self.spans.ndim != 2 or len(self.spans) not in (0, self.answer_bounds[-1]):
            return False
        return not len(self.begins) or TextColumn(self.utf8, self.begins).fits(self.num_rows)


@dataclass(frozen=True)
class CorrectingSetup(RowSetup):
    """What correcting stands on."""

    set_kind: ClassVar[type[CorrectedRows]] = CorrectedRows

    def belongs_together(self) -> bool:
        """Whether the right pieces are pieces of the model."""
        return all(one.targets.max() < self.config.vocab_size for one in self.sets.values())


def windows(num_pieces: int, room: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the windows of a text: first piece, end, first piece that it decides on, end of those."""
    begins = list(range(0, max(1, num_pieces - room), max(1, room // 2)))
    begins += [num_pieces - room] if num_pieces > room else []
    cuts = [(begin + room + following) // 2 for begin, following in pairwise(begins)]
    edges = pairwise([0, *cuts, num_pieces])
    for begin, (first, stop) in zip(begins, edges, strict=True):
        yield begin, min(begin + room, num_pieces), first, stop


def encode_corrections(
    found: ExampleTable,
    examples: ExampleRows,
    wordpiece: Tokenizer,
    max_length: int,
    *,
    is_learned: bool = False,
) -> Steps[tuple[CorrectedRows, int]]:
    """Cut texts into windows; return the set, and 0: nothing of them is left unread.

    Without right texts every target is IGNORE. Args: is_learned: nothing is asked where the right piece is
    unknown to the vocabulary, for nobody is to answer that; nor are spans kept.
    """
    room, num_texts = max_length - 2, len(examples)
    parts: dict[str, list[Any]] = {"ids": [], "targets": [], "spans": [], "rows": []}
    done = 0
    for some in examples.blocks(TEXTS_AT_ONCE):
        yield Progress(stage=marked("engine", "Tokenizing"), done=done, total=num_texts)
        rights = right_texts(found, some)
        wanted = None if rights is None else wordpiece.encode_ids(rights)
        for place, (ids, spans) in enumerate(wordpiece.encode_spans(some.texts())):
            own = np.full(len(ids), IGNORE, np.int32) if wanted is None else wanted[place].copy()
            if is_learned:
                own[own == wordpiece.unk_id] = NOT_ASKED
            for begin, end, first, stop in windows(len(ids), room):
                pieces = np.empty(end - begin + 2, np.int32)
                pieces[0], pieces[1:-1], pieces[-1] = wordpiece.cls_id, ids[begin:end], wordpiece.sep_id
                targets = np.full(len(pieces), NOT_ASKED, np.int32)
                targets[1 + first - begin : 1 + stop - begin] = own[first:stop]
                parts["ids"].append(pieces)
                parts["targets"].append(targets)
                parts["rows"].append(some.rows[place])
            if not is_learned:
                parts["spans"].append(spans)
        done += len(some)
    encoded = EncodedRows.from_pieces(
        parts["ids"], [len(one) for one in parts["ids"]], [IGNORE] * len(parts["ids"]), parts["rows"]
    )
    targets = np.concatenate(parts["targets"]) if parts["targets"] else np.zeros(0, np.int32)
    spans = np.concatenate(parts["spans"]) if parts["spans"] else _no_spans()
    arrays: dict[str, Any] = replace(encoded, targets=targets).arrays()
    return CorrectedRows(**arrays, spans=spans), 0
