"""How bytes became pieces: the merges of byte-level BPE one after the other, those learned first first.

Nothing is assumed: where these steps led elsewhere than the library, there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from engine.text.byte_level import ByteLevel
from engine.text.tokenizer import Tokenizer, without_halves
from engine.text.trace import LONGEST, Trace, TracedWord


@dataclass(frozen=True, slots=True)
class Merge:
    """Two neighbours that became one. rank: in the order of the vocabulary, from 0. place: of the new piece
    among `pieces`, which are all that there are then.
    """

    rank: int
    place: int
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergedBytes:
    """The bytes of a word with the space before it, and how they were joined.

    pieces: a byte each, as they are shown. num_ranks: merges that the vocabulary has.
    """

    pieces: tuple[str, ...]
    merges: tuple[Merge, ...]
    num_ranks: int

    @property
    def found(self) -> tuple[str, ...]:
        """The pieces in the end."""
        return self.merges[-1].pieces if self.merges else self.pieces


def merges_of(tokenizer: Tokenizer, found: Trace, word: TracedWord) -> MergedBytes | None:
    """Return how the bytes of a word were joined; None for other kinds of pieces, and for a very long word.

    What is joined is a part of the text that ends where letters, digits, marks or spaces do, so it is more
    than the word at times, or several parts.
    """
    if not isinstance(tokenizer, ByteLevel) or word.kind == "added":
        return None
    text, (first, last) = _between_added(found, word)
    tokens = [tokenizer.tokens[number] for number in found.ids[first:last]]
    parts = tokenizer.parts(without_halves(text))
    if "".join(parts) != "".join(tokens):  # a token behind it, such as <mask>, took the spaces
        parts = tokenizer.parts(without_halves(text.rstrip()))
    ends = list(accumulate(map(len, tokens), initial=0))
    begin, end = ends[word.first - first], ends[word.last - first]
    own = [part for place, part in _placed(parts) if place < end and place + len(part) > begin]
    if "".join(parts) != "".join(tokens) or sum(map(len, own)) > LONGEST:
        return None
    start = next(place for place, part in _placed(parts) if place + len(part) > begin)
    wanted = [token for place, token in _placed(tokens) if start <= place < start + sum(map(len, own))]
    merges, pieces = list(_joined(tokenizer, own)), [byte for part in own for byte in part]
    joined = merges[-1][2] if merges else pieces
    if joined != wanted:
        return None
    shown = (Merge(rank, place, tuple(map(tokenizer.as_shown, all_))) for rank, place, all_ in merges)
    return MergedBytes(tuple(map(tokenizer.as_shown, pieces)), tuple(shown), len(tokenizer.merges))


def _between_added(found: Trace, word: TracedWord) -> tuple[str, tuple[int, int]]:
    """Return the text between the added tokens around a word, and the pieces there, from and to."""
    before = [one for one in found.words if one.kind == "added" and one.last <= word.first]
    behind = [one for one in found.words if one.kind == "added" and one.first >= word.last]
    start, first = (before[-1].stop, before[-1].last) if before else (0, 0)
    stop, last = (behind[0].start, behind[0].first) if behind else (len(found.text), len(found.ids))
    return found.text[start:stop], (first, last)


def _placed(parts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each part behind the place where it begins."""
    return zip(accumulate(map(len, parts), initial=0), parts, strict=False)


def _joined(tokenizer: ByteLevel, parts: Sequence[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield each merge: its rank, the place of the new piece, and all pieces after it."""
    pieces, ranks = [list(part) for part in parts], tokenizer.ranks
    while True:
        pairs = (
            (ranks[pair], number, place)
            for number, part in enumerate(pieces)
            for place, pair in enumerate(pairwise(part))
            if pair in ranks
        )
        best = min(pairs, default=None)
        if best is None:
            return
        rank, number, place = best
        pieces[number][place : place + 2] = ["".join(pieces[number][place : place + 2])]
        yield rank, sum(map(len, pieces[:number])) + place, [piece for part in pieces for piece in part]
