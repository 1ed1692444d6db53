"""The words of an encoded text: which pieces belong together, and where they stand in what was typed."""

from __future__ import annotations

from dataclasses import dataclass

from engine.text.tokenizer import Encoding


@dataclass(frozen=True, slots=True)
class Word:
    """A word as BERT's basic split sees it; a Chinese character and a punctuation mark are words too.

    text: as it was typed. start, stop: its characters within its own text. segment: 0 for A, 1 for B.
    pieces: positions of its tokens, [CLS] is 0.
    """

    text: str
    start: int
    stop: int
    segment: int
    pieces: tuple[int, ...]


def words_of(encoding: Encoding, text: str, text_pair: str | None = None) -> tuple[Word, ...]:
    """Return the words of a text or pair, in order; special tokens are none.

    A piece that goes on with the word before it is of that word, and so is one that is from a character of
    it: … may be three pieces. A special token that was typed, such as [MASK], is a word: it has characters. A
    piece of nothing but a space is of no word.
    """
    texts = (text, text_pair or "")
    words: list[Word] = []
    for position, continues in enumerate(encoding.continues):
        segment, (start, stop) = encoding.token_type_ids[position], encoding.offsets[position]
        if encoding.special_tokens_mask[position] or start == stop:
            continue
        before = words[-1] if words and words[-1].segment == segment else None
        if before and (before.stop > start or (continues and before.stop == start)):
            first = words.pop()
            start, pieces = first.start, (*first.pieces, position)
        else:
            pieces = (position,)
        words.append(Word(texts[segment][start:stop], start, stop, segment, pieces))
    return tuple(words)
