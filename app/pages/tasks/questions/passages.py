"""The words of a passage, each with what a model thinks of it: plain Python that touches no Qt object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

_WIDE = "\u3001-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"  # scripts that put no space between words
_WORD = re.compile(f"[{_WIDE}]|[^\\s{_WIDE}]+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Word:
    """`passage[start:stop]`. joined: it follows the one before it without white space."""

    text: str
    start: int
    stop: int
    joined: bool


def words_of(passage: str, begin: int = 0) -> list[Word]:
    """Return the words of a passage: what stands between white space, and each Chinese character.

    Args: begin: where the text begins in the passage that spans count in.
    """
    found, last = list[Word](), -1
    for match in _WORD.finditer(passage):
        found.append(Word(match[0], begin + match.start(), begin + match.end(), match.start() == last))
        last = match.end()
    return found


def are_within(words: Sequence[Word], span: Span) -> list[bool]:
    """Return which words have a character in a span; (-1, -1) is nowhere."""
    start, stop = span
    return [start >= 0 and word.start < stop and start < word.stop for word in words]


def covered(words: Sequence[Word], answers: Iterable[tuple[Span, float]]) -> list[float]:
    """Return how likely the answer holds each word: the sum over the answers that do."""
    shares = np.zeros(len(words))
    for span, probability in answers:
        shares += probability * np.array(are_within(words, span), float)
    return np.minimum(shares, 1.0).tolist()  # type: ignore[no-any-return]


def of_pieces(words: Sequence[Word], spans: np.ndarray, shares: np.ndarray) -> list[float]:
    """Return the sum of what is said of the pieces that begin in each word.

    Args: spans: (p, 2) characters of the pieces, in order. shares: (p,).
    """
    if not words:
        return []
    starts = np.array([word.start for word in words])
    places = np.clip(np.searchsorted(starts, spans[:, 0], side="right") - 1, 0, None)
    sums = np.zeros(len(words))
    np.add.at(sums, places, shares)
    return sums.tolist()
