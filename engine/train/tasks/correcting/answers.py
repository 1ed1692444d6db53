"""What a model makes of a text: the text with its changes, each with its place and its probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from engine.text.tokenizer import Tokenizer

ID, PROBABILITY, OF_RIGHT = range(3)  # columns of decoded answers
# the most likely piece, its probability, and that of the right piece, where one is known


@dataclass(frozen=True, slots=True)
class Change:
    """Characters start to stop - 1 of a text, what stands there, and what is said to belong there."""

    start: int
    stop: int
    old: str
    new: str
    probability: float


@dataclass(frozen=True, slots=True)
class CorrectedText:
    """A text and what is changed in it."""

    text: str
    changes: tuple[Change, ...]

    @property
    def sure(self) -> float:
        """The probability of the least sure change; 0 without one."""
        return min((one.probability for one in self.changes), default=0.0)

    @property
    def corrected(self) -> str:
        """The text with its changes."""
        parts, end = list[str](), 0
        for one in self.changes:
            parts += [self.text[end : one.start], one.new]
            end = one.stop
        return "".join([*parts, self.text[end:]])

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"corrected": self.corrected, "changes": [asdict(one) for one in self.changes]}


def answered_pieces(own: np.ndarray, answers: np.ndarray, wordpiece: Tokenizer) -> np.ndarray:
    """Return (A,) the pieces that are answered: the likeliest; what stands there, where that stands for no
    text, or where the vocabulary does not know what stands there.

    Args: own: (A,) the pieces of the texts. answers: (A, 3), decoded.
    """
    best = answers[:, ID].astype(np.int64)
    is_left = np.isin(best, list(wordpiece.special_ids)) | (own == wordpiece.unk_id)
    return np.where(is_left, own, best).astype(np.int64)


def corrected_text(
    text: str, own: np.ndarray, spans: np.ndarray, answers: np.ndarray, wordpiece: Tokenizer
) -> CorrectedText:
    """Return a text as it is corrected. Args: own, spans, answers: of its pieces, (A,), (A, 2), (A, 3)."""
    found = answered_pieces(own, answers, wordpiece)
    changes, behind = list[Change](), 0
    for place in np.flatnonzero(found != own).tolist():
        if place < behind:
            continue
        first, behind = _together(spans, place)
        start, stop = int(spans[first, 0]), int(spans[behind - 1, 1])
        old = text[start:stop]
        new = spelled(found[first:behind].tolist(), old, wordpiece)
        if new not in ("", old) and "\ufffd" not in new:
            sure = float(answers[first:behind, PROBABILITY].min())
            changes.append(Change(start, stop, old, new, sure))
    return CorrectedText(text, tuple(changes))


def _together(spans: np.ndarray, place: int) -> tuple[int, int]:
    """Return the first piece, and the end of those, that are of the same characters as one of them."""
    first, stop = place, place + 1
    while first and spans[first - 1, 1] > spans[first, 0]:
        first -= 1
    while stop < len(spans) and spans[stop, 0] < spans[stop - 1, 1]:
        stop += 1
    return first, stop


def spelled(pieces: Sequence[int], old: str, wordpiece: Tokenizer) -> str:
    """Return pieces as they are written in the place of others: with the space before them, and the capital,
    that stood there.
    """
    new = wordpiece.spelled(pieces).strip()
    if wordpiece.lowercase and old[:1].isupper():
        new = new[:1].upper() + new[1:]
    return old[: len(old) - len(old.lstrip())] + new


def said(changes: Sequence[tuple[int, str, str]]) -> str:
    """Return changes in a line: "3 唷→友", a place from 1, what stands there and what is to stand there."""
    return "; ".join(f"{place} {old}→{new}" for place, old, new in changes)
