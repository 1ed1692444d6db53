"""Pseudo-perplexity: how well a model foresees a sentence when each of its tokens is hidden in turn.

Source: Salazar et al. 2020, Masked Language Model Scoring. The variants for words of several pieces: Kauf and
Ivanova 2023, A Better Way to Do Masked Language Model Scoring.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import UserError, marked
from engine.events import Event
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.row_scores import score_rows
from engine.inspect.masked.score import PieceScore
from engine.inspect.passes import InputRow
from engine.text.words import Word, words_of

Span = tuple[int, int]
Pieces = tuple[int, ...]
_WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60"  # characters that no spaces part
_SPACED = re.compile(rf"(?!\s)[{_WIDE}]|[^\s{_WIDE}]+")
ALONE, AND_AFTER, WHOLE = "alone", "and_after", "whole"
WITHIN_WORDS = (
    ALONE,
    AND_AFTER,
    WHOLE,
)  # what else of its word is hidden with a piece: nothing, what follows, all


@dataclass(frozen=True, slots=True)
class PseudoPerplexity:
    """How well a text is foreseen.

    scores: one for each token that is not special, at `places`. words: those of the text; word_logs: for each
    the sum of its pieces' logs. within_words: one of `WITHIN_WORDS`.
    """

    places: tuple[int, ...]
    scores: tuple[PieceScore, ...]
    words: tuple[Word, ...]
    word_logs: tuple[float, ...]
    within_words: str

    @property
    def log_likelihood(self) -> float:
        """The pseudo-log-likelihood: the sum of all tokens' natural logs."""
        return math.fsum(score.log_probability for score in self.scores)

    @property
    def perplexity(self) -> float:
        """exp of minus the mean over tokens: 1 is perfect foresight."""
        return math.exp(-self.log_likelihood / len(self.scores))


def pseudo_perplexity(
    subject: LoadedModel,
    text: str,
    text_pair: str | None = None,
    *,
    within_words: str = ALONE,
    on: np.ndarray | None = None,
) -> Generator[Event, None, PseudoPerplexity]:
    """Hide each token in turn, many at once as memory allows. A task: yields Progress, returns the answer.

    Raises: UserError: no text, too long, or a [MASK] in it. ModelError without the head.
    """
    encoding = subject.encode(text, text_pair)
    subject.require("masked_words")
    mask_id = subject.wordpiece.mask_id
    assert mask_id is not None
    if mask_id in encoding.input_ids:
        raise UserError(marked("engine", "A sentence is scored as a whole. Replace [MASK] with a word."))
    words = words_of(encoding, text, text_pair)
    whole = InputRow(tuple(encoding.input_ids), tuple(encoding.token_type_ids))
    places = tuple(place for word in words for place in word.pieces)
    rows = [
        whole.filled(dict.fromkeys(hidden_with(word.pieces, place, within_words), mask_id), (place,))
        for word in words
        for place in word.pieces
    ]
    found = yield from score_rows(subject, rows, [[(whole.ids[place],)] for place in places], on=on)
    scores = tuple(row[0][0] for row in found)
    by_place = dict(zip(places, scores, strict=True))
    logs = tuple(math.fsum(by_place[place].log_probability for place in word.pieces) for word in words)
    return PseudoPerplexity(places, scores, words, logs, within_words)


def hidden_with(pieces: tuple[int, ...], place: int, within_words: str) -> tuple[int, ...]:
    """Return the places that are hidden when one piece of a word is asked for."""
    if within_words == ALONE:
        return (place,)
    return pieces if within_words == WHOLE else pieces[pieces.index(place) :]


def spaced_words(text: str) -> tuple[Span, ...]:
    """Return where the words of a text are, as spaces part them: the same to every vocabulary.

    A mark is of the word that it stands at; a Chinese or Japanese character is a word.
    """
    return tuple(found.span() for found in _SPACED.finditer(text))


def pieces_within(offsets: Sequence[Span], is_special: Sequence[int], words: Sequence[Span]) -> list[Pieces]:
    """Return for each word the places of its pieces. Args: offsets, is_special: of an `Encoding`.

    Raises: UserError: a piece is of two words.
    """
    found: list[list[int]] = [[] for _ in words]
    starts = [start for start, _ in words]
    for place, (start, stop) in enumerate(offsets):
        number = bisect_right(starts, start) - 1
        if is_special[place] or start == stop or number < 0 or start >= words[number][1]:
            continue  # of no word
        if stop > words[number][1]:
            raise UserError(
                marked(
                    "engine",
                    "A piece of this vocabulary spans two words of the text, and the others hide each alone.",
                )
            )
        found[number].append(place)
    return [tuple(places) for places in found]


def word_logs(
    subject: LoadedModel, text: str, words: Sequence[Span]
) -> Generator[Event, None, tuple[float | None, ...]]:
    """Return the natural log of the probability of each word of a text, foreseen from all others; None where
    the vocabulary does not know it. A task.

    Each piece is hidden with those after it in its word: the PLL-word-l2r of Kauf and Ivanova 2023.
    Args: words: as `spaced_words` gives them.
    Raises: UserError: no text, too long, or a piece is of two words. ModelError without the head.
    """
    subject.require("masked_words")
    encoding, wordpiece = subject.encode(text), subject.wordpiece
    assert wordpiece.mask_id is not None
    whole = InputRow(tuple(encoding.input_ids), tuple(encoding.token_type_ids))
    pieces = pieces_within(encoding.offsets, encoding.special_tokens_mask, words)
    known = [
        number
        for number, places in enumerate(pieces)
        if places and wordpiece.unk_id not in (whole.ids[place] for place in places)
    ]
    asked = [(number, place) for number in known for place in pieces[number]]
    rows = [
        whole.filled(
            dict.fromkeys(hidden_with(pieces[number], place, AND_AFTER), wordpiece.mask_id), (place,)
        )
        for number, place in asked
    ]
    scored = yield from score_rows(subject, rows, [[(whole.ids[place],)] for _, place in asked])
    logs = dict.fromkeys(known, 0.0)
    for (number, _), row in zip(asked, scored, strict=True):
        logs[number] += row[0][0].log_probability
    return tuple(logs.get(number) for number in range(len(words)))
