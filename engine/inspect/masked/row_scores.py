"""Given pieces at given places of many texts: their probabilities and ranks, part by part."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np
import torch
from torch import Tensor

from engine.errors import marked
from engine.events import Event, Progress
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.masked.score import PieceScore
from engine.inspect.passes import SCORES_BYTES, InputRow, parts, word_logs

# Q questions: one piece at one place each; P places of a part; V words of the vocabulary

SCORING = marked("engine", "Scoring")

Scores = list[list[tuple[PieceScore, ...]]]


def score_rows(
    subject: LoadedModel,
    rows: Sequence[InputRow],
    candidates: Sequence[Sequence[tuple[int, ...]]],
    *,
    on: np.ndarray | None = None,
) -> Generator[Event, None, Scores]:
    """Score candidates in texts. A task: yields Progress after each part; returns scores[row][candidate].

    Args: candidates: for each row any number of them, each with one id for each place that the row wants.
    """
    found: Scores = [[] for _ in rows]
    done = 0
    for part in parts(subject, rows):
        own = [candidates[place] for place in part]
        flat = _score_part(subject, [rows[place] for place in part], own, on)
        for place in part:
            for ids in candidates[place]:
                found[place].append(tuple(flat[: len(ids)]))
                del flat[: len(ids)]
        done += len(part)
        yield Progress(stage=SCORING, done=done, total=len(rows))
    return found


def turns(row: InputRow, ids: Sequence[int]) -> list[InputRow]:
    """Return the texts that ask for the second, third ... of a row's wanted pieces, the ones before in place.

    Args: ids: one for each wanted place, in the order in which they are filled in.
    """
    places = row.wanted
    return [
        row.filled(dict(zip(places[:turn], ids[:turn], strict=True)), (places[turn],))
        for turn in range(1, len(ids))
    ]


def _score_part(
    subject: LoadedModel,
    rows: Sequence[InputRow],
    candidates: Sequence[Sequence[tuple[int, ...]]],
    on: np.ndarray | None,
) -> list[PieceScore]:
    """Return the scores of all pieces of all candidates of a part, in order."""
    places, ids, first = list[int](), list[int](), 0
    for row, own in zip(rows, candidates, strict=True):
        for candidate in own:
            places.extend(range(first, first + len(candidate)))
            ids.extend(candidate)
        first += len(row.wanted)
    with looking(subject) as device:
        logs = word_logs(subject, rows, on)
        right, ranks = _look_up(logs, torch.tensor(places, device=device), torch.tensor(ids, device=device))
    tokens = subject.wordpiece.tokens
    return [
        PieceScore(tokens[number], number, log, rank)
        for number, log, rank in zip(ids, right, ranks, strict=True)
    ]


def _look_up(logs: Tensor, places: Tensor, ids: Tensor) -> tuple[list[float], list[int]]:
    """Return the logs and ranks of some pieces. Args: logs: (P, V). places, ids: (Q,) int64."""
    if not len(ids):
        return [], []
    right = logs[places, ids]
    room = max(1, SCORES_BYTES // (4 * logs.shape[-1]))
    ranks = [
        1 + (logs.index_select(0, some) > own[:, None]).sum(-1)
        for some, own in zip(places.split(room), right.split(room), strict=True)
    ]
    return right.tolist(), torch.cat(ranks).tolist()
