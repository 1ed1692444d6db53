"""Pseudo-perplexity: how well a model foresees a sentence when each of its tokens is hidden in turn.

Source: Salazar et al. 2020, Masked Language Model Scoring. The variants for words of several pieces: Kauf and
Ivanova 2023, A Better Way to Do Masked Language Model Scoring.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from engine.errors import UserError, marked
from engine.events import Event
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.row_scores import score_rows
from engine.inspect.masked.score import PieceScore
from engine.inspect.passes import InputRow
from engine.text.words import Word, words_of

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
