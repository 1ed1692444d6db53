"""The words of an encoded text: which pieces belong together, and where they stand in what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.text.segmenter import going_on
from engine.text.tokenizer import Encoding


@dataclass(frozen=True, slots=True)
class Word:
    """A word as BERT's basic split sees it, a Chinese one whole (see `engine.text.segmenter`); a punctuation
    mark is a word too.

    text: as it was typed. start, stop: its characters within its own text. segment: 0 for A, 1 for B.
    pieces: positions of its tokens, [CLS] is 0.
    """

    text: str
    start: int
    stop: int
    segment: int
    pieces: tuple[int, ...]


def words_of(encoding: Encoding, text: str, text_pair: str | None = None) -> tuple[Word, ...]:
    """Return the words of a text or pair, in order, Chinese ones whole; special tokens are none."""
    return _joined(encoding, (text, text_pair or ""), (going_on(text), going_on(text_pair or "")))


def parts_of(encoding: Encoding, text: str, text_pair: str | None = None) -> tuple[Word, ...]:
    """Return the words of a text or pair, in order, each Chinese character by itself.

    A piece that goes on with the word before it is of that word, and so is one that is from a character of
    it: … may be three pieces. A special token that was typed, such as [MASK], is a word: it has characters. A
    piece of nothing but a space is of no word.
    """
    return _joined(encoding, (text, text_pair or ""), (frozenset(), frozenset()))


def _joined(
    encoding: Encoding, texts: tuple[str, str], inside: tuple[frozenset[int], frozenset[int]]
) -> tuple[Word, ...]:
    """Return the words. Args: inside: the places in each text that go on with a Chinese word."""
    words: list[Word] = []
    for position, continues in enumerate(encoding.continues):
        segment, (start, stop) = encoding.token_type_ids[position], encoding.offsets[position]
        if encoding.special_tokens_mask[position] or start == stop:
            continue
        before = words[-1] if words and words[-1].segment == segment else None
        goes_on = (continues or start in inside[segment]) and before is not None and before.stop == start
        if before and (before.stop > start or goes_on):
            first = words.pop()
            start, pieces = first.start, (*first.pieces, position)
        else:
            pieces = (position,)
        words.append(Word(texts[segment][start:stop], start, stop, segment, pieces))
    return tuple(words)


def within(words: Sequence[Word], text: str, part: str) -> tuple[int, ...]:
    """Return the places of those words of a text that its first occurrence of a part is made of."""
    start = text.find(part)
    found = range(start, start + len(part)) if part and start >= 0 else range(0)
    return tuple(place for place, word in enumerate(words) if not word.segment and word.start in found)
