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
from engine.text.batch import EncodedSet, by_length, collate
from engine.train.tasks import Answering, Measures


def answers_of(
    model: nn.Module, task: Answering, data: EncodedSet, device: Device, stage: str
) -> Generator[Event, None, np.ndarray]:
    """Return the task's decoded answer for every example, (E, ...) float32, in the order of `data`.

    Dropout is off while it computes, and as it was before at every yield.
    """
    answers: np.ndarray | None = None
    done = 0
    for indices in by_length(data.lengths, device.micro_batch_tokens):
        decoded = _answer(model, task, data, indices, device)
        if answers is None:
            answers = np.zeros((len(data), *decoded.shape[1:]), np.float32)
        answers[indices] = decoded
        done += len(indices)
        yield Progress(stage=stage, done=done, total=len(data))
    return np.zeros((0, len(task.labels)), np.float32) if answers is None else answers


def evaluate(
    model: nn.Module, task: Answering, data: EncodedSet, device: Device
) -> Generator[Event, None, Measures]:
    """Return the task's measures on `data`, whose targets are known."""
    answers = yield from answers_of(model, task, data, device, marked("engine", "Evaluating"))
    return task.measure(answers, data.targets)


def _answer(
    model: nn.Module, task: Answering, data: EncodedSet, indices: np.ndarray, device: Device
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
