"""The next-sentence bench: does B follow A, the other way round, another B, and because of which words?"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import UserError, marked
from engine.events import Event, Progress, result_of
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.masked.row_scores import SCORING
from engine.inspect.passes import InputRow, follow_log_odds, parts
from engine.text.words import Word, words_of

MASK_WORD, LEAVE_OUT = "mask", "leave_out"
_TRIES = 20  # sentences looked at for each one that is wanted


@dataclass(frozen=True, slots=True)
class Follows:
    """Probabilities, 0..1, that the second text follows the first.

    probability: B after A. swapped: A after B. others: other sentences in B's place, with theirs.
    """

    a: str
    b: str
    probability: float
    swapped: float
    others: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class WordInfluence:
    """One word's part in the decision.

    without: the probability when it is hidden. change: the probability with it minus that without it: above
    0 it speaks for "B follows A". log_odds_change: the same as a difference of log-odds, which still tells
    words apart where the probability is near 0 or 1.
    """

    word: Word
    without: float
    change: float
    log_odds_change: float


@dataclass(frozen=True, slots=True)
class Influence:
    """What each word of A and B, in order, adds to `probability`. how: "mask" or "leave_out".

    log_odds: of the text as it is. baseline_log_odds: with every word hidden at once.
    """

    probability: float
    how: str
    words: tuple[WordInfluence, ...]
    log_odds: float
    baseline_log_odds: float

    @property
    def baseline_probability(self) -> float:
        """The probability with every word hidden at once."""
        return _sigmoid(self.baseline_log_odds)

    @property
    def total(self) -> float:
        """The sum of the words' changes, in log-odds."""
        return sum(one.log_odds_change for one in self.words)

    @property
    def residual(self) -> float:
        """What the sum leaves unexplained: log_odds = baseline_log_odds + total + residual.

        Words hidden one at a time need not add up, where one does the work of another.
        """
        return self.log_odds - self.baseline_log_odds - self.total


def follows(
    subject: LoadedModel,
    a: str,
    b: str,
    *,
    others: Sequence[str] = (),
    num_others: int = 3,
    seed: int = 0,
    on: np.ndarray | None = None,
) -> Follows:
    """Ask whether B follows A, swapped, and for some random ones of `others`, which A and B are not.

    Others that are empty, or too long for the model beside A, are passed over.
    Raises: UserError as `ModelSummary.encode`; ModelError without the head.
    """
    subject.require("next_sentence")
    chosen = _choose(subject, a, b, others, num_others, seed)
    rows = [_row(subject, a, b), _row(subject, b, a), *(_row(subject, a, other) for other in chosen)]
    shares = result_of(_shares(subject, rows, on))
    probabilities = [_sigmoid(odds) for odds in shares]
    beside = tuple(zip(chosen, probabilities[2:], strict=True))
    return Follows(a, b, probabilities[0], probabilities[1], beside)


def influence(
    subject: LoadedModel, a: str, b: str, *, how: str = MASK_WORD, on: np.ndarray | None = None
) -> Generator[Event, None, Influence]:
    """Hide each word of A and B in turn. A task: yields Progress; its return value is the answer.

    Args:   how: "mask" puts [MASK] over each piece of the word, "leave_out" takes them out.
    Raises: UserError as `ModelSummary.encode`, and for "mask" with a vocabulary that has none; ModelError.
    """
    subject.require("next_sentence")
    mask_id = subject.wordpiece.mask_id
    if how == MASK_WORD and mask_id is None:
        raise UserError(marked("engine", "The vocabulary has no [MASK]. Delete the words instead."))
    encoding = subject.encode(a, b)
    whole = InputRow(tuple(encoding.input_ids), tuple(encoding.token_type_ids))
    words = words_of(encoding, a, b)
    every = tuple(place for word in words for place in word.pieces)
    if how == MASK_WORD:
        hidden = [
            whole.filled(dict.fromkeys(pieces, mask_id or 0), ())
            for pieces in (every, *(word.pieces for word in words))
        ]
    else:
        hidden = [_without(whole, pieces) for pieces in (every, *(word.pieces for word in words))]
    odds, baseline, *found = yield from _shares(subject, [whole, *hidden], on)
    share = _sigmoid(odds)
    parts_of_it = (
        WordInfluence(word, _sigmoid(other), share - _sigmoid(other), odds - other)
        for word, other in zip(words, found, strict=True)
    )
    return Influence(share, how, tuple(parts_of_it), odds, baseline)


def _shares(
    subject: LoadedModel, rows: Sequence[InputRow], on: np.ndarray | None
) -> Generator[Event, None, list[float]]:
    """Return the log-odds of "B follows A" for each row."""
    found, done = [0.0] * len(rows), 0
    for part in parts(subject, rows):
        with looking(subject):
            odds = follow_log_odds(subject, [rows[place] for place in part], on).tolist()
        for place, value in zip(part, odds, strict=True):
            found[place] = value
        done += len(part)
        yield Progress(stage=SCORING, done=done, total=len(rows))
    return found


def _choose(subject: LoadedModel, a: str, b: str, others: Sequence[str], count: int, seed: int) -> list[str]:
    """Return some other sentences at random, as many as there are up to `count`."""
    chosen: list[str] = []
    order = random.Random(seed).sample(range(len(others)), min(len(others), _TRIES * count))
    for place in order:
        other = others[place]
        if len(chosen) == count:
            break
        fits = other.strip() and len(subject.wordpiece.encode(a, other).input_ids) <= subject.max_length
        if fits and other not in (a, b, *chosen):
            chosen.append(other)
    return chosen


def _row(subject: LoadedModel, a: str, b: str) -> InputRow:
    encoding = subject.encode(a, b)
    return InputRow(tuple(encoding.input_ids), tuple(encoding.token_type_ids))


def _without(row: InputRow, pieces: Sequence[int]) -> InputRow:
    kept = [place for place in range(len(row.ids)) if place not in pieces]
    return InputRow(tuple(row.ids[place] for place in kept), tuple(row.types[place] for place in kept))


def _sigmoid(odds: float) -> float:
    """Return the probability of log-odds; no overflow at either end."""
    return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))
