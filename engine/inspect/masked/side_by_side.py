"""The same gaps asked of two models, or of the checkpoints of a run one after the other."""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import UserError, marked
from engine.events import Event
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.masked import Masked
from engine.inspect.masked.probe import Probed, probe, score_spellings
from engine.inspect.masked.score import WordScore, spell, word_of


@dataclass(frozen=True, slots=True)
class WordBeside:
    """One word in one gap. scores: one for each model; None where its vocabulary cannot spell the word."""

    word: str
    scores: tuple[WordScore | None, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The answers of several models to the same question.

    probed: one for each model. gaps: for each gap the words that any model guesses first, and what stood
    there, the first model's likeliest first.
    """

    probed: tuple[Probed, ...]
    gaps: tuple[tuple[WordBeside, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointAnswer(Event):
    """One checkpoint has answered: `probed.answers[gap].original` holds probability and rank."""

    folder: Path
    number: int  # 0 for the first
    total: int
    probed: Probed


def side_by_side(
    subjects: Sequence[LoadedModel],
    text: str,
    text_pair: str | None = None,
    *,
    words: Collection[int] = (),
    pieces: Collection[int] = (),
    top_k: int = 10,
) -> SideBySide:
    """Ask several models for the same gaps; their vocabularies may differ.

    Args:   words, pieces: what to hide, as in `mask`; pieces only where all models cut the text alike.
    Raises: as `probe`; UserError where the models cannot be asked for the same.
    """
    probed = [probe(one, text, text_pair, words=words, pieces=pieces, top_k=top_k) for one in subjects]
    for other in probed[1:]:
        _check_same(probed[0].masked, other.masked, pieces)
    gaps = tuple(_beside(subjects, probed, gap, top_k) for gap in range(len(probed[0].answers)))
    return SideBySide(tuple(probed), gaps)


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
    Raises: as `side_by_side`, and what opening a model raises.
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


def _check_same(one: Masked, other: Masked, pieces: Collection[int]) -> None:
    """Refuse what does not mean the same gaps to two models. Raises: UserError."""
    same = [(gap.segment, gap.word, gap.text) for gap in one.gaps] == [
        (gap.segment, gap.word, gap.text) for gap in other.gaps
    ]
    if not same or (pieces and one.encoding.tokens != other.encoding.tokens):
        raise UserError(
            marked(
                "engine",
                "The models cut this text into different pieces, so the masked ones are not the same. Mask "
                "whole words to compare them.",
            )
        )


def _beside(
    subjects: Sequence[LoadedModel], probed: Sequence[Probed], gap: int, top_k: int
) -> tuple[WordBeside, ...]:
    words: dict[str, None] = {}
    for subject, one in zip(subjects, probed, strict=True):
        words |= dict.fromkeys(guess.word for guess in one.answers[gap].guesses[:top_k])
        if original := one.masked.gaps[gap].original:
            words[word_of(subject.wordpiece, original)] = None
    columns: list[list[WordScore | None]] = []
    for subject, one in zip(subjects, probed, strict=True):
        spelled = {word: ids for word in words if (ids := spell(subject.wordpiece, word))}
        scores = score_spellings(subject, one.masked, gap, list(spelled.items()))
        by_word = dict(zip(spelled, scores, strict=True))
        columns.append([by_word.get(word) for word in words])
    rows = [WordBeside(word, scores) for word, scores in zip(words, zip(*columns, strict=True), strict=True)]
    return tuple(sorted(rows, key=lambda row: -_log(row.scores[0])))


def _log(score: WordScore | None) -> float:
    return -math.inf if score is None else score.log_probability
