"""Many short texts through a model at once: packed without padding, in parts that memory holds.

Not to be broken: a part is computed inside `looking` and a task yields outside of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.device import CPU_MICRO_BATCH_TOKENS, CUDA_MICRO_BATCH_TOKENS
from engine.errors import UserError, marked
from engine.inspect.loaded_model import LoadedModel
from engine.text.batch import Bounds

# R texts of a part, N tokens of all of them, P places that are asked for, V words of the vocabulary

SCORES_BYTES = 32 * 2**20  # of a part's scores over the vocabulary; more only costs fresh memory
PART_FLOPS = 5e10  # about 0.15 s on two cores: a newer question waits no longer, and more is hardly faster


@dataclass(frozen=True, slots=True)
class InputRow:
    """A text as the model reads it. wanted: positions of the tokens that words are guessed for."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    wanted: tuple[int, ...] = ()

    def filled(self, pieces: dict[int, int], wanted: tuple[int, ...]) -> InputRow:
        """Return it with other ids at some positions, asked for others."""
        ids = list(self.ids)
        for place, number in pieces.items():
            ids[place] = number
        return InputRow(tuple(ids), self.types, wanted)


def check_row(subject: LoadedModel, row: InputRow) -> InputRow:
    """Return the row. Raises: UserError if it is longer than the model reads."""
    if len(row.ids) > subject.max_length:
        template = marked(
            "engine",
            "With its [MASK]s the text has {length} pieces, but this model reads at most {most}.",
        )
        raise UserError(template, length=len(row.ids), most=subject.max_length)
    return row


def parts(subject: LoadedModel, rows: Sequence[InputRow]) -> Iterator[list[int]]:
    """Yield places in `rows`, longest first, so many at a time as go through the model together."""
    most = _tokens_at_once(subject)
    room = max(1, SCORES_BYTES // (4 * subject.config.vocab_size))
    part, tokens, wanted = list[int](), 0, 0
    for place in sorted(range(len(rows)), key=lambda number: -len(rows[number].ids)):
        row = rows[place]
        if part and (tokens + len(row.ids) > most or wanted + len(row.wanted) > room):
            yield part
            part, tokens, wanted = [], 0, 0
        part.append(place)
        tokens, wanted = tokens + len(row.ids), wanted + len(row.wanted)
    if part:
        yield part


def word_logs(subject: LoadedModel, rows: Sequence[InputRow], on: np.ndarray | None = None) -> Tensor:
    """Return the log of each piece's probability at the wanted places, row after row; inside `looking`.

    Args:   rows: a part, the longest first. on: (L, H) bool, False switches a head off.
    Returns: (P, V), natural logs; V without what a model knows beyond its vocabulary.
    """
    model = subject.masked_head()
    hidden = model(**_packed(subject, rows, on), masked=_wanted(rows, subject.device)).hidden
    logits = model.logits(hidden).float()
    logits -= logits.logsumexp(-1, keepdim=True)  # in place: a second (P, V) costs as much as the product
    return logits[:, : subject.wordpiece.vocab_size]


def layer_states(subject: LoadedModel, row: InputRow, on: np.ndarray | None = None) -> Tensor:
    """Return the hidden states of the wanted places, (L + 1, P, D), embeddings first; inside `looking`."""
    found = subject.bert(**_packed(subject, [row], on), output_hidden_states=True)
    wanted = _wanted([row], subject.device)
    return torch.stack([states.index_select(0, wanted) for states in found.hidden_states])


def follow_log_odds(subject: LoadedModel, rows: Sequence[InputRow], on: np.ndarray | None = None) -> Tensor:
    """Return (R,) the log-odds of "B follows A" for each row of a part; inside `looking`."""
    model = subject.next_sentence_head()
    first = torch.zeros(1, dtype=torch.long, device=subject.device)  # no words are asked for
    scores = model(**_packed(subject, rows, on), masked=first).next_sentence.float()
    odds: Tensor = scores[:, 0] - scores[:, 1]
    return odds


def _tokens_at_once(subject: LoadedModel) -> int:
    if subject.device.type != "cpu":
        return CUDA_MICRO_BATCH_TOKENS
    config = subject.config
    weights = 4 * config.hidden_size**2 + 2 * config.hidden_size * config.intermediate_size
    return min(CPU_MICRO_BATCH_TOKENS, int(PART_FLOPS / (2 * config.num_hidden_layers * weights)))


def _packed(subject: LoadedModel, rows: Sequence[InputRow], on: np.ndarray | None) -> dict[str, Any]:
    device = subject.device
    lengths = [len(row.ids) for row in rows]
    given: dict[str, Any] = {
        "input_ids": [number for row in rows for number in row.ids],
        "token_type_ids": [number for row in rows for number in row.types],
        "position_ids": [number for length in lengths for number in range(length)],
    }
    packed = {name: torch.tensor(values, device=device) for name, values in given.items()}
    heads = None if on is None else torch.tensor(on, dtype=torch.float32, device=device)
    return {**packed, "bounds": Bounds(lengths, device), "head_mask": heads}


def _wanted(rows: Sequence[InputRow], device: torch.device) -> Tensor:
    """Return the wanted places counted through all rows, (P,) int64."""
    starts = np.cumsum([0, *(len(row.ids) for row in rows)])
    places = [int(start) + place for start, row in zip(starts, rows, strict=False) for place in row.wanted]
    return torch.tensor(places, dtype=torch.long, device=device)
