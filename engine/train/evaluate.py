"""Measuring a model on examples kept apart, in batches of near-equal length, a yield between any two."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import torch
from torch import nn

from engine.device import Device, is_out_of_memory, too_long_for_memory
from engine.errors import marked
from engine.events import Event, Progress
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import EncodedRows, by_length, collate
from engine.train.ranks import ALONE, Ranks
from engine.train.task import Answering, Measures


def answers_of(
    model: nn.Module, task: Answering, data: EncodedRows, device: Device, stage: str, ranks: Ranks = ALONE
) -> Generator[Event, None, np.ndarray]:
    """Return the task's decoded answers, (A, ...) float32, in the order of `data.answer_bounds`.

    Dropout is off while it computes, and as it was before at every yield.

    Args: ranks: the processes that have the same model and data; each takes its share of the batches.
    """
    batches = list(by_length(data.lengths, device.micro_batch_tokens))[ranks.rank :: ranks.world_size]
    total, done = sum(map(len, batches)), 0
    own: list[tuple[np.ndarray, np.ndarray]] = []
    for indices in batches:
        own.append((indices, _answer(model, task, data, indices, device)))
        done += len(indices)
        yield Progress(stage=stage, done=done, total=total)
    found = [answered for share in ranks.gathered(own) for answered in share]
    if not found:
        return np.zeros((0, len(task.labels)), np.float32)
    bounds = data.answer_bounds
    answers = np.zeros((int(bounds[-1]), *found[0][1].shape[1:]), np.float32)
    for indices, decoded in found:
        answers[_places(bounds, indices)] = decoded
    return answers


def evaluate(
    model: nn.Module, task: Answering, data: EncodedRows, device: Device, ranks: Ranks = ALONE
) -> Generator[Event, None, Measures]:
    """Return the task's measures on `data`, whose targets are known. Args: ranks: as `answers_of`."""
    answers = yield from answers_of(model, task, data, device, marked("engine", "Evaluating"), ranks)
    measured = task.measure(answers, data)
    return measured if isinstance(measured, Measures) else (yield from measured)


def _places(bounds: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return where the answers of some examples stand among all."""
    if bounds[-1] == len(bounds) - 1:
        return indices
    return np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in indices])


def _answer(
    model: nn.Module, task: Answering, data: EncodedRows, indices: np.ndarray, device: Device
) -> np.ndarray:
    """Return the answers for some examples: together or, where memory does not suffice, half by half."""
    was_training = model.training
    model.eval()
    try:
        batch = collate(data, indices, device.device, ROW_MULTIPLE)
        with torch.inference_mode(), device.autocast():
            return task.decode(task.forward(model, batch)).cpu().numpy()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        if len(indices) == 1:
            raise too_long_for_memory(int(data.lengths[indices[0]])) from error
    finally:
        model.train(was_training)
    halves = np.array_split(indices, 2)
    return np.concatenate([_answer(model, task, data, half, device) for half in halves])
