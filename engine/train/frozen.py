"""What frozen layers make of every text, computed once before the first step and kept in memory.

Computed anew when a run is gone on with, in the same batches, so that it continues bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import replace

import numpy as np
import torch

from engine.device import Device
from engine.errors import marked
from engine.events import Event, Progress
from engine.model.config import FIRST_LAST
from engine.model.heads import HeadedEncoder, SequenceClassifier
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import EncodedRows, by_length, collate

MOST_BYTES = 2**30  # of one set's states; more are computed again in each epoch


def with_states(
    model: HeadedEncoder, data: EncodedRows, device: Device
) -> Generator[Event, None, EncodedRows]:
    """Return a set with what the frozen layers make of its texts; as it is where that would be too much.

    A mix of layers reads every one of them, and some heads the embeddings, too: there it is kept only where
    all are frozen and a head reads one vector a text.
    """
    bert = model.bert
    firsts = model.reads_firsts and bert.num_frozen == len(bert.layers)  # all that the head reads
    is_deep = bool(model.mix) or model.config.pooling == FIRST_LAST
    width = model.config.read_width if firsts else bert.config.hidden_size
    shape: tuple[int, ...] = (len(data) if firsts else len(data.input_ids), width)
    if model.mix:
        shape = (len(data), len(bert.layers) + 1, width)
    if not bert.num_frozen or (is_deep and not firsts) or 4 * math.prod(shape) > MOST_BYTES:
        return data
    states: torch.Tensor | None = None
    done = 0
    for indices in by_length(data.lengths, device.micro_batch_tokens):
        batch = collate(data, indices, device.device, ROW_MULTIPLE)
        with device.autocast():
            if model.mix:
                found = bert.first_states(batch)
            elif firsts:
                assert isinstance(model, SequenceClassifier)
                found = model.read_states(batch)
            else:
                found = bert.frozen_states(batch)
            found = found.cpu()
        if states is None:
            states = found.new_empty(shape)
        places = indices if firsts else np.concatenate([np.arange(*data.bounds[i : i + 2]) for i in indices])
        states[torch.from_numpy(places)] = found
        done += len(indices)
        yield Progress(stage=marked("engine", "Computing frozen layers"), done=done, total=len(data))
    return replace(data, states=states)
