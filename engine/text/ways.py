"""All ways to spell a word in scored pieces, and why one was taken: it has the largest sum of scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tokenizers import models

from engine.text.tokenizer import Tokenizer
from engine.text.trace import LONGEST, Trace, TracedWord
from engine.text.unigram import BLANK, Unigram


@dataclass(frozen=True, slots=True)
class KnownPiece:
    """A piece of the vocabulary that a stretch could be spelled with, at one place in it."""

    text: str
    start: int
    score: float

    @property
    def stop(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class SpelledWays:
    """How a stretch between blanks was spelled in pieces with scores, and the next best way.

    other, other_scores: () where there is no other way. known: all pieces that it could be spelled with, by
    where they begin, the longest first.
    """

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    other: tuple[str, ...]
    other_scores: tuple[float, ...]
    known: tuple[KnownPiece, ...] = ()

    @property
    def whole(self) -> str:
        """The stretch."""
        return "".join(self.pieces)


def ways_of(tokenizer: Tokenizer, found: Trace, word: TracedWord) -> SpelledWays | None:
    """Return how the stretch that a word is in was spelled, and how it would be without one of its pieces.

    The library finds both: the second among the pieces that occur in the stretch, each of those left out in
    turn with which it was spelled. None where something in it is unknown, or it is very long, and for pieces
    without scores.
    """
    if not isinstance(tokenizer, Unigram) or word.kind == "added":
        return None
    apart = {place for one in found.words if one.kind == "added" for place in (one.first, one.last)}
    begins = [place in apart or piece.startswith(BLANK) for place, piece in enumerate(found.pieces)]
    first, last = word.first, word.last
    while first and not begins[first]:
        first -= 1
    while last < len(begins) and not begins[last]:
        last += 1
    own, whole = found.pieces[first:last], "".join(found.pieces[first:last])
    if len(whole) > LONGEST or any(tokenizer.score_of(piece) is None for piece in own):
        return None
    known = tuple(
        KnownPiece(whole[start:stop], start, score)
        for start in range(len(whole))
        for stop in range(len(whole), start, -1)
        if (score := tokenizer.score_of(whole[start:stop])) is not None
    )
    scores = {piece.text: piece.score for piece in known}
    ways = [way for piece in dict.fromkeys(own) if (way := _likeliest(whole, scores, piece))]
    best = max(ways, key=lambda way: sum(scores[piece] for piece in way), default=())
    each = (tuple(scores[piece] for piece in way) for way in (own, best))
    return SpelledWays(own, next(each), best, next(each), known)


def _likeliest(whole: str, known: Mapping[str, float], left_out: str) -> tuple[str, ...]:
    """Return how a stretch is spelled without a piece; () where it cannot be."""
    unknown = f"{whole}{BLANK}"  # which does not occur in it
    pieces = [(unknown, 0.0), *((piece, score) for piece, score in known.items() if piece != left_out)]
    found = models.Unigram(pieces, 0, False).tokenize(whole)
    return () if any(piece.id == 0 for piece in found) else tuple(piece.value for piece in found)
