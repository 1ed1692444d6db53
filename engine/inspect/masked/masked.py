"""A text with gaps: which of its words or pieces the model may not see, and what stood there."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.errors import UserError, marked
from engine.inspect.loaded_model import ModelSummary
from engine.text.segmenter import is_chinese_word
from engine.text.tokenizer import Encoding
from engine.text.vocabulary import MASK
from engine.text.words import Word, words_of


@dataclass(frozen=True, slots=True)
class Gap:
    """Places that are masked together: all pieces of a word, one piece of it, or a [MASK] that was typed.

    places: positions of the tokens, [CLS] is 0. text: what was typed there, [MASK] for any mask. segment: 0
    for A, 1 for B. original: the ids that stood there; none for a typed [MASK], or where the vocabulary has
    no piece for what stood there. word: its place in `GappedText.words`. is_word: whether a whole word is
    masked.
    """

    places: tuple[int, ...]
    text: str
    segment: int
    original: tuple[int, ...]
    word: int
    is_word: bool

    @property
    def is_chinese_word(self) -> bool:
        """Whether it is a Chinese word of several characters, a piece each."""
        return self.is_word and 1 < len(self.text) == len(self.places) and is_chinese_word(self.text)


@dataclass(frozen=True, slots=True)
class GappedText:
    """A text or pair with gaps, in the order they stand in.

    encoding: of the text as it was typed. input_ids: of what the model reads, [MASK] in each gap.
    """

    text: str
    text_pair: str | None
    encoding: Encoding
    words: tuple[Word, ...]
    input_ids: tuple[int, ...]
    gaps: tuple[Gap, ...]

    @property
    def types(self) -> tuple[int, ...]:
        """The segment of each token."""
        return tuple(self.encoding.token_type_ids)

    @property
    def places(self) -> tuple[int, ...]:
        """Positions of all [MASK]s, gap after gap."""
        return tuple(place for gap in self.gaps for place in gap.places)

    def widened(self, gap: int, num_masks: int) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Return ids, segments and the gap's first place, with another number of [MASK]s in one gap."""
        first, last = self.gaps[gap].places[0], self.gaps[gap].places[-1] + 1
        ids, types = self.input_ids, self.types
        return (
            ids[:first] + ids[first : first + 1] * num_masks + ids[last:],
            types[:first] + types[first : first + 1] * num_masks + types[last:],
            first,
        )


def mask(
    about: ModelSummary,
    text: str,
    text_pair: str | None = None,
    *,
    words: Collection[int] = (),
    pieces: Collection[int] = (),
) -> GappedText:
    """Hide words and single pieces of a text; needs no weights, so a window may call it.

    Args:   words: places in `words_of`; all pieces of such a word are one gap. pieces: positions of tokens,
            each a gap of its own, unless its word is hidden anyway. A [MASK] that was typed is always a gap.
    Raises: UserError: the text cannot be read (see `ModelSummary.encode`), or nothing in it is masked.
            ModelError: the model cannot guess words.
    """
    about.require("masked_words")
    encoding = about.encode(text, text_pair)
    found = words_of(encoding, text, text_pair)
    mask_id = about.wordpiece.mask_id
    assert mask_id is not None  # else it could not guess words
    ids, gaps = list(encoding.input_ids), list[Gap]()
    for number, word in enumerate(found):
        own = text_pair or "" if word.segment else text
        typed = [place for place in word.pieces if ids[place] == mask_id]
        if number in words and not typed:
            runs = [word.pieces]
        else:
            runs = [(place,) for place in word.pieces if place in pieces or place in typed]
        gaps += [_gap(about, encoding, own, number, word, run) for run in runs]
    if not gaps:
        raise UserError(
            marked(
                "engine",
                "The text has no [MASK]. Choose a word to mask, or write [MASK] in its place.",
            )
        )
    for place in (place for gap in gaps for place in gap.places):
        ids[place] = mask_id
    return GappedText(text, text_pair, encoding, found, tuple(ids), tuple(gaps))


def _gap(
    about: ModelSummary, encoding: Encoding, text: str, number: int, word: Word, run: tuple[int, ...]
) -> Gap:
    """Return the gap that some pieces of a word leave. text: the one of the two that the word is in."""
    original = tuple(encoding.input_ids[place] for place in run)
    unknown = (about.wordpiece.mask_id, about.wordpiece.unk_id)
    known = not any(piece in unknown for piece in original)
    start, stop = (word.start, word.stop) if run == word.pieces else encoding.offsets[run[0]]
    typed = MASK if original == (about.wordpiece.mask_id,) else text[start:stop]
    return Gap(run, typed, word.segment, original if known else (), number, run == word.pieces)
