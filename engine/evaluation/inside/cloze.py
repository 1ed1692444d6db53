"""How well a model foresees the words of a file: each token hidden in turn, the rest of its text seen.

Both sides are seen, so the pseudo-perplexity is no left-to-right perplexity, and both numbers are of
WordPieces: they compare models of one vocabulary alone.
Source: Salazar et al. 2020, Masked Language Model Scoring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.evaluation.inside.texts import EncodedText
from engine.evaluation.statistics import Numbers, TallyTable, interval_of, share_of
from engine.events import Progress, Steps, beats
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.perplexity import ALONE, hidden_with
from engine.inspect.masked.row_scores import score_rows
from engine.inspect.masked.score import PieceScore
from engine.inspect.passes import InputRow
from engine.text.tokenizer import Encoding

FEW_GUESSES = 5  # among which a word counts as nearly foreseen
TEXTS_AT_ONCE = 16

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False, slots=True)
class Cloze:
    """What was foreseen of some texts.

    rows: of the table, (E,). tokens, right, among: (E,), tokens hidden, those that were the first guess, and
    among the first five. logs: (E,), the sum of the natural logs of their probabilities. accuracy_interval,
    perplexity_interval: at 95 %, over texts; None for one text.
    """

    rows: npt.NDArray[np.int64]
    tokens: Numbers
    right: Numbers
    among: Numbers
    logs: Numbers
    accuracy_interval: Interval | None
    perplexity_interval: Interval | None

    @property
    def accuracy(self) -> float:
        """The share of tokens that were the first guess."""
        return float(self.right.sum() / self.tokens.sum())

    @property
    def accuracy_among(self) -> float:
        """The share of tokens that were among the first five guesses."""
        return float(self.among.sum() / self.tokens.sum())

    @property
    def perplexity(self) -> float:
        """The pseudo-perplexity: exp of minus the mean log over all tokens; 1 is perfect foresight."""
        return math.exp(-float(self.logs.sum() / self.tokens.sum()))

    @property
    def perplexities(self) -> Numbers:
        """(E,), the pseudo-perplexity of each text."""
        return np.exp(-self.logs / self.tokens)


def cloze(
    subject: LoadedModel, texts: Sequence[EncodedText], *, on: np.ndarray | None = None
) -> Steps[Cloze]:
    """Hide each token of each text in turn; yields Progress. Raises: ModelError without the head.

    Args: on: (L, H) bool, False for heads that are off.
    """
    sums = np.zeros((len(texts), 4))
    scored = foreseeing(subject, [text.encoding for text in texts], on=on)
    for place, scores in enumerate((yield from scored)):
        ranks = np.array([score.rank for score in scores])
        logs = math.fsum(score.log_probability for score in scores)
        sums[place] = len(scores), (ranks == 1).sum(), (ranks <= FEW_GUESSES).sum(), logs
    rows = np.array([text.example.row for text in texts], np.int64)
    tokens, right, among, logs_of = sums.T
    accuracy = interval_of(TallyTable.of(np.stack([right, tokens], 1)), share_of)
    perplexity = interval_of(TallyTable.of(np.stack([-logs_of, tokens], 1)), share_of)
    exponents = None if perplexity is None else (math.exp(perplexity[0]), math.exp(perplexity[1]))
    return Cloze(rows, tokens, right, among, logs_of, accuracy, exponents)


def foreseeing(
    subject: LoadedModel,
    encodings: Sequence[Encoding],
    *,
    within_words: str = ALONE,
    on: np.ndarray | None = None,
) -> Steps[list[list[PieceScore]]]:
    """Return for each text the scores of its tokens, each hidden in turn; special tokens are not asked for.

    Args: within_words: what else of its word is hidden with a piece, of WITHIN_WORDS.
    Raises: ModelError without the head.
    """
    subject.require("masked_words")
    found: list[list[PieceScore]] = []
    for start in range(0, len(encodings), TEXTS_AT_ONCE):
        yield Progress(stage=marked("engine", "Masking each word"), done=start, total=len(encodings))
        asked = [_turns(subject, one, within_words) for one in encodings[start : start + TEXTS_AT_ONCE]]
        rows = [row for turns in asked for row, _ in turns]
        ids = [[(number,)] for turns in asked for _, number in turns]
        steps = score_rows(subject, rows, ids, on=on)
        scores = iter((yield from beats(steps)))
        found += [[next(scores)[0][0] for _ in turns] for turns in asked]
    yield Progress(stage=marked("engine", "Masking each word"), done=len(encodings), total=len(encodings))
    return found


def _turns(subject: LoadedModel, encoding: Encoding, within_words: str) -> list[tuple[InputRow, int]]:
    """Return a text once for each of its tokens, that one hidden, and what it is."""
    mask_id, ids = subject.wordpiece.mask_id, tuple(encoding.input_ids)
    assert mask_id is not None
    whole = InputRow(ids, tuple(encoding.token_type_ids))
    return [
        (whole.filled(dict.fromkeys(hidden_with(pieces, place, within_words), mask_id), (place,)), ids[place])
        for pieces in _words(encoding)
        for place in pieces
    ]


def _words(encoding: Encoding) -> list[tuple[int, ...]]:
    """Return the places of the pieces of each word; as the vocabulary has them."""
    words: list[list[int]] = []
    for place, goes_on in enumerate(encoding.continues):
        if encoding.special_tokens_mask[place]:
            continue
        if goes_on and words and words[-1][-1] == place - 1:
            words[-1].append(place)
        else:
            words.append([place])
    return [tuple(word) for word in words]
