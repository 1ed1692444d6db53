"""The rows that a model is given for a text or pair: piece, id, segment, position, mask; padding and the cut.

What is cut stays in the list, in its place, without a position.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.text.tokenizer import Tokenizer
from engine.text.trace import Trace


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One piece as the model gets it, or as it loses it.

    kind: "special" ([CLS] or [SEP] that are put around a text), "piece", "cut" or "padding".
    """

    piece: str
    id: int
    segment: int  # token_type_ids: 0 for A and padding, 1 for B
    position: int | None  # position_ids; None where it is cut
    mask: int  # attention_mask: 0 for padding
    kind: str
    start: int = 0  # characters in its own text
    stop: int = 0
    word: int = -1  # place in its trace's words
    place: int = -1  # place in its trace's pieces


def token_rows(
    wordpiece: Tokenizer,
    first: Trace,
    second: Trace | None = None,
    *,
    max_length: int | None = None,
    truncation: str = "longest_first",
    pad_to: int = 0,
) -> tuple[TokenRow, ...]:
    """Return all rows in reading order; those with a position are `WordPiece.encode`'s, then the padding.

    Args: pad_to: rows to reach with [PAD]; nothing is done where there are more.
    Raises: ConfigError, as `kept`.
    """
    num_a, num_b = len(first.ids), len(second.ids) if second else 0
    places_b = None if second is None else np.arange(num_b, dtype=np.int32)
    places, end_a, _ = wordpiece.assemble(np.arange(num_a, dtype=np.int32), places_b, max_length, truncation)
    num_ends = 1 if second is None else wordpiece.num_between
    keep_a, keep_b = set(places[1 : end_a - num_ends].tolist()), set(places[end_a:-1].tolist())
    cls, sep = (_special(wordpiece.tokens[one], one) for one in (wordpiece.cls_id, wordpiece.sep_id))
    rows = [cls, *_text_rows(first, 0, keep_a), *[sep] * num_ends]
    if second is not None:
        rows += [*_text_rows(second, 1, keep_b), replace(sep, segment=1)]
    numbered = list(_numbered(rows))
    num = len(places)
    padding = padding_row(wordpiece)
    return (*numbered, *(replace(padding, position=place) for place in range(num, pad_to)))


def padding_row(wordpiece: Tokenizer) -> TokenRow:
    """Return a row of padding, without a position."""
    return TokenRow(wordpiece.tokens[wordpiece.pad_id], wordpiece.pad_id, 0, None, 0, "padding")


def _special(piece: str, number: int) -> TokenRow:
    return TokenRow(piece, number, 0, 0, 1, "special")


def _text_rows(trace: Trace, segment: int, keep: set[int]) -> Iterator[TokenRow]:
    word = 0
    every = zip(trace.pieces, trace.ids, trace.offsets, strict=True)
    for place, (piece, number, (start, stop)) in enumerate(every):
        while trace.words[word].last <= place:
            word += 1
        if place in keep:
            yield TokenRow(piece, number, segment, 0, 1, "piece", start, stop, word, place)
        else:
            yield TokenRow(piece, number, segment, None, 0, "cut", start, stop, word, place)


def _numbered(rows: list[TokenRow]) -> Iterator[TokenRow]:
    position = 0
    for row in rows:
        if row.position is None:
            yield row
        else:
            yield replace(row, position=position)
            position += 1
