"""Masked words: what a model would put into the gaps of a text, and how probable any given word is."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from engine.events import result_of
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.masked.masked import Masked, mask
from engine.inspect.masked.row_scores import score_rows, turns
from engine.inspect.masked.score import GapAnswer, WordScore, answers_of, check_count, must_spell
from engine.inspect.passes import InputRow, check_row, word_logs


@dataclass(frozen=True, slots=True)
class Probed:
    """The answers for each gap of a text, in the order of `masked.gaps`."""

    masked: Masked
    answers: tuple[GapAnswer, ...]
    model_name: str
    fingerprint: str


def probe(
    subject: LoadedModel,
    text: str,
    text_pair: str | None = None,
    *,
    words: Collection[int] = (),
    pieces: Collection[int] = (),
    top_k: int = 10,
    on: np.ndarray | None = None,
) -> Probed:
    """Guess all gaps of a text at once, in one pass.

    Args:   words, pieces: what to hide, as in `mask`. on: (L, H) bool, False switches a head off.
    Raises: UserError, ModelError, as `mask`; UserError for a `top_k` below 1.
    """
    return ask(subject, mask(subject.about, text, text_pair, words=words, pieces=pieces), top_k=top_k, on=on)


def ask(subject: LoadedModel, masked: Masked, *, top_k: int = 10, on: np.ndarray | None = None) -> Probed:
    """Guess all gaps of a masked text, as `probe`."""
    check_count(top_k)
    gaps = [(len(gap.places), gap.original) for gap in masked.gaps]
    with looking(subject):
        logs = word_logs(subject, [InputRow(masked.input_ids, masked.types, masked.places)], on)
        answers = answers_of(subject.wordpiece, logs, gaps, top_k)
    return Probed(masked, answers, subject.name, subject.fingerprint)


def score_words(
    subject: LoadedModel, masked: Masked, gap: int, words: Sequence[str], *, on: np.ndarray | None = None
) -> tuple[WordScore, ...]:
    """Return how probable some words are in one gap (the others stay masked), each scored as a whole.

    A word of another number of pieces than the gap has is asked with as many [MASK]s as it has pieces.
    Raises: UserError: an empty word, one that the vocabulary cannot spell, or too long with its [MASK]s.
    """
    spellings = [must_spell(subject.wordpiece, word) for word in words]
    return score_spellings(subject, masked, gap, list(zip(words, spellings, strict=True)), on=on)


def score_spellings(
    subject: LoadedModel,
    masked: Masked,
    gap: int,
    words: Sequence[tuple[str, tuple[int, ...]]],
    *,
    on: np.ndarray | None = None,
) -> tuple[WordScore, ...]:
    """Return the scores of words whose pieces are known, as `score_words`."""
    opened = {count: _with_masks(subject, masked, gap, count) for count in {len(ids) for _, ids in words}}
    rows: list[InputRow] = list(opened.values())
    candidates = [[ids for _, ids in words if len(ids) == count] for count in opened]
    for _, ids in words:
        later = turns(opened[len(ids)], ids)
        rows += later
        candidates += [[(number,)] for number in ids[1:]]
    found = result_of(score_rows(subject, rows, candidates, on=on))
    whole = dict(zip(opened, map(iter, found), strict=False))  # of each number of pieces, word after word
    in_turn = iter(found[len(opened) :])
    scores = list[WordScore]()
    for word, ids in words:
        pieces = next(whole[len(ids)])
        logs = [pieces[0].log_probability, *(next(in_turn)[0][0].log_probability for _ in ids[1:])]
        scores.append(WordScore(word.strip(), pieces, len(masked.gaps[gap].places), math.fsum(logs)))
    return tuple(scores)


def _with_masks(subject: LoadedModel, masked: Masked, gap: int, count: int) -> InputRow:
    ids, types, first = masked.widened(gap, count)
    return check_row(subject, InputRow(ids, types, tuple(range(first, first + count))))
