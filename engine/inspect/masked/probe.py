"""Masked words: what a model would put into the gaps of a text, and how probable any given word is."""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.errors import UserError, marked
from engine.events import Event, result_of
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.masked.joint import words_in_turn
from engine.inspect.masked.masked import GappedText, mask
from engine.inspect.masked.row_scores import score_rows, turns
from engine.inspect.masked.score import GapAnswer, WordScore, answers_of, check_count, must_spell
from engine.inspect.passes import InputRow, check_row, word_logs


@dataclass(frozen=True, slots=True)
class GapTable:
    """The answers for each gap of a text, in the order of `masked.gaps`."""

    masked: GappedText
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
) -> GapTable:
    """Guess all gaps of a text at once, in one pass.

    Args:   words, pieces: what to hide, as in `mask`. on: (L, H) bool, False switches a head off.
    Raises: UserError, ModelError, as `mask`; UserError for a `top_k` below 1.
    """
    return ask(subject, mask(subject.about, text, text_pair, words=words, pieces=pieces), top_k=top_k, on=on)


def ask(
    subject: LoadedModel, masked: GappedText, *, top_k: int = 10, on: np.ndarray | None = None
) -> GapTable:
    """Guess all gaps of a masked text, as `probe`."""
    check_count(top_k)
    gaps = [(len(gap.places), gap.original) for gap in masked.gaps]
    with looking(subject):
        logs = word_logs(subject, [InputRow(masked.input_ids, masked.types, masked.places)], on)
        answers = answers_of(subject.wordpiece, logs, gaps, top_k)
    whole = [
        _as_words(subject, masked, gap, answer, top_k, on) if masked.gaps[gap].is_chinese_word else answer
        for gap, answer in enumerate(answers)
    ]
    return GapTable(masked, tuple(whole), subject.name, subject.fingerprint)


def _as_words(
    subject: LoadedModel, masked: GappedText, gap: int, answer: GapAnswer, top_k: int, on: np.ndarray | None
) -> GapAnswer:
    """Return the answer for a Chinese word as a whole."""
    guesses, original = words_in_turn(subject, masked, gap, top_k=top_k, on=on), answer.original
    if original is not None:
        spelled = [(original.word, masked.gaps[gap].original)]
        (original,) = score_spellings(subject, masked, gap, spelled, on=on)
    return replace(answer, guesses=guesses, original=original, is_in_turn=True)


def score_words(
    subject: LoadedModel, masked: GappedText, gap: int, words: Sequence[str], *, on: np.ndarray | None = None
) -> tuple[WordScore, ...]:
    """Return how probable some words are in one gap (the others stay masked), each scored as a whole.

    A word of another number of pieces than the gap has is asked with as many [MASK]s as it has pieces.
    Raises: UserError: an empty word, one that the vocabulary cannot spell, or too long with its [MASK]s.
    """
    spellings = [must_spell(subject.wordpiece, word) for word in words]
    return score_spellings(subject, masked, gap, list(zip(words, spellings, strict=True)), on=on)


def score_spellings(
    subject: LoadedModel,
    masked: GappedText,
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


def _with_masks(subject: LoadedModel, masked: GappedText, gap: int, count: int) -> InputRow:
    ids, types, first = masked.widened(gap, count)
    return check_row(subject, InputRow(ids, types, tuple(range(first, first + count))))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointAnswer(Event):
    """One checkpoint has answered: `probed.answers[gap].original` holds probability and rank."""

    folder: Path
    number: int  # 0 for the first
    total: int
    probed: GapTable


def over_checkpoints(
    folders: Sequence[Path],
    text: str,
    text_pair: str | None = None,
    *,
    words: Collection[int] = (),
    pieces: Collection[int] = (),
    top_k: int = 5,
    on: np.ndarray | None = None,
) -> Generator[Event, None, tuple[CheckpointAnswer, ...]]:
    """Ask the checkpoints of a run one after the other, each opened alone and let go.

    A task: yields a `CheckpointAnswer` for each; its return value is all of them.

    Args:   words, pieces: what to hide, as in `mask`; pieces only where all models cut the text alike.
    Raises: as `probe`, and what opening a model raises; UserError where they cannot be asked for the same.
    """
    found: list[CheckpointAnswer] = []
    for number, folder in enumerate(folders):
        probed = probe(
            LoadedModel.open(folder), text, text_pair, words=words, pieces=pieces, top_k=top_k, on=on
        )
        if found:
            _check_same(found[0].probed.masked, probed.masked, pieces)
        found.append(CheckpointAnswer(folder=folder, number=number, total=len(folders), probed=probed))
        yield found[-1]
    return tuple(found)


def _check_same(one: GappedText, other: GappedText, pieces: Collection[int]) -> None:
    """Refuse what does not mean the same gaps to two models. Raises: UserError."""
    same = [(gap.segment, gap.word, gap.text) for gap in one.gaps] == [
        (gap.segment, gap.word, gap.text) for gap in other.gaps
    ]
    if not same or (pieces and one.encoding.tokens != other.encoding.tokens):
        raise UserError(
            marked(
                "engine",
                "The models split this text into different pieces, so the masked ones are not the "
                "same. Mask whole words to compare them.",
            )
        )
