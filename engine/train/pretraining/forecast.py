"""What a pretraining run will take, told before it starts: weights, memory, disk, speed and time.

Speed is measured, not computed: a model of this width and vocabulary with one layer, then with two, takes a
few steps here as the run would take them, and what a layer costs is the difference. So even a large model is
measured in seconds.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
import torch

from engine.device import Device, finish, open_device
from engine.errors import marked
from engine.events import Event, Progress
from engine.model.bert import Bert, initialize
from engine.model.config import BertConfig, count_parameters
from engine.model.fastest import fastest
from engine.model.heads import PreTraining
from engine.model.kernels import ROW_MULTIPLE
from engine.settings.pretrain import PretrainConfig
from engine.text.batch import Bounds
from engine.text.corpus.instances import MaskedBatch
from engine.text.vocabulary import read_vocab
from engine.train.lifecycle import placed
from engine.train.optimizer import Optimizer
from engine.train.pretraining.first_weights import as_trained
from engine.train.pretraining.language import LanguageModel
from engine.train.pretraining.refusals import check_objective
from engine.train.pretraining.setup import corpus_of, shape_of
from engine.train.pretraining.teacher import Teacher

PIECES_PER_BYTE = 0.24  # of English text with 8,192 to 30,522 pieces, to guess how long a text is
# log2 of a length, and the part of a text that pairs of it show: measured on English Wikipedia
SHOWN = ((3, 4, 5, 6, 7, 8, 9), (0.08, 0.2, 0.43, 0.73, 0.87, 0.93, 0.97))
_STEPS = 5  # measured of each depth, the first left out


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run will take. parts: part -> weights. epochs: 0 where no text is chosen yet. shown: how large a
    part of the text its examples show each time, roughly.
    """

    parts: dict[str, int]
    num_parameters: int
    memory_bytes: int
    disk_bytes: int
    tokens_per_s: float
    seconds: float
    steps: int
    tokens: int
    epochs: float
    vocab_size: int
    shown: float = 1.0


def forecast(config: PretrainConfig) -> Generator[Event, None, Forecast]:
    """Measure for a few seconds and return what `config` will take. Raises: UserError.

    A generator of events whose return value is the `Forecast`.
    """
    shape = replace(shape_of(config.start), vocab_size=_vocab_size(config))
    device = fastest(open_device(config.device), config.device, shape)
    check_objective(config.objective, shape)
    parts = count_parameters(shape, pretraining=True)
    speed = yield from _speed(config, shape, device)
    budget = config.budget
    if budget.minutes:
        seconds = 60 * budget.minutes
        tokens = int(seconds * speed)
    else:
        tokens = budget.tokens or budget.steps * budget.batch_tokens
        seconds = tokens / speed
    size = _text_bytes(config) * PIECES_PER_BYTE
    total = sum(parts.values())
    is_paired = config.objective.next_sentence
    return Forecast(
        parts=parts,
        num_parameters=total,
        memory_bytes=16 * total + _activations(config, shape, device),
        disk_bytes=8 * 4 * total + config.budget.kept_weights * 2 * total,
        tokens_per_s=speed,
        seconds=seconds,
        steps=tokens // budget.batch_tokens,
        tokens=tokens,
        epochs=tokens / size if size else 0.0,
        vocab_size=shape.vocab_size,
        shown=float(np.interp(np.log2(config.objective.max_length), *SHOWN)) if is_paired else 1.0,
    )


def _vocab_size(config: PretrainConfig) -> int:
    start = config.start
    if not start.model.startswith("new:"):
        own = shape_of(start).vocab_size
        return min(own, start.trim_vocab) if start.trim_vocab else own
    return len(read_vocab(Path(start.vocab))) if start.vocab else start.vocab_size


def _text_bytes(config: PretrainConfig) -> int:
    """Return roughly how many bytes the text has, unpacked; 0 where none is chosen yet."""
    if not config.text.text.strip():
        return 0
    files = corpus_of(config, config.text.text).files
    return sum(int(file.stat().st_size * (4 if file.suffix in (".xz", ".gz") else 1)) for file in files)


def _activations(config: PretrainConfig, shape: BertConfig, device: Device) -> int:
    """Return roughly the bytes of one micro-batch: about 34 numbers for each token, layer and width."""
    tokens = min(device.micro_batch_tokens, config.budget.batch_tokens)
    per_token: float = 34 * shape.num_hidden_layers * shape.hidden_size
    per_token += 2 * config.objective.mask_rate * shape.vocab_size
    return int(4 * tokens * per_token)


def _speed(config: PretrainConfig, shape: BertConfig, device: Device) -> Generator[Event, None, float]:
    """Return tokens a second with all layers."""
    spent = list[float]()
    for layers in (1, 2):
        shallow = replace(shape, num_hidden_layers=layers)
        model = PreTraining(shallow)
        initialize(model, 0.02, 0)
        as_trained(model, config)
        placed(model, config.device, device).train()
        task, budget = _task(config, shallow, device), config.budget
        optimizer = Optimizer(
            model,
            weight_decay=budget.weight_decay,
            max_gradient_norm=budget.max_gradient_norm,
            betas=(0.9, budget.adam_beta2),
        )
        times = []
        for step in range(_STEPS):
            yield Progress(
                stage=marked("engine", "Measuring"), done=len(spent) * _STEPS + step, total=2 * _STEPS
            )
            times.append(_one_step(config, task, model, optimizer, device))
        spent.append(median(times[1:]))
    per_layer = max(spent[1] - spent[0], 1e-9)
    return config.budget.batch_tokens / (spent[0] + per_layer * (shape.num_hidden_layers - 1))


def _task(config: PretrainConfig, shape: BertConfig, device: Device) -> LanguageModel:
    """Return what the run asks of its model, by a teacher of the same shape where it has one."""
    if not config.objective.teacher:
        return LanguageModel(config.objective.next_sentence)
    encoder = Bert(shape, with_pooler=False).eval().requires_grad_(False)
    initialize(encoder, 0.02, 0)
    return LanguageModel(config.objective.next_sentence, Teacher(encoder.to(device.device), 1.0, ""))


def _one_step(
    config: PretrainConfig, task: LanguageModel, model: PreTraining, optimizer: Optimizer, device: Device
) -> float:
    """Take one step on made-up tokens, in micro-batches as training does; return its seconds."""
    objective, budget = config.objective, config.budget
    per_part = min(device.micro_batch_tokens, budget.batch_tokens)
    num_parts = max(1, round(budget.batch_tokens / per_part))
    part = made_up_batch(model.config.vocab_size, per_part, objective.max_length, objective.mask_rate)
    part = part.to(device.device)
    began = time.perf_counter()
    for _ in range(num_parts):
        with device.autocast():
            loss, _ = task.loss(model, part, task.count([part] * num_parts))
        loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step(1e-6)
    finish(device.device)
    return (time.perf_counter() - began) * budget.batch_tokens / (num_parts * per_part)


def made_up_batch(vocab_size: int, num_tokens: int, length: int, mask_rate: float) -> MaskedBatch:
    """Return a batch of random tokens, all examples of `length`, for measuring speed."""
    rng = np.random.default_rng(0)
    count = max(1, num_tokens // length)
    size = count * length
    filled = size + -size % ROW_MULTIPLE
    ids = torch.from_numpy(rng.integers(0, vocab_size, filled))
    masked = torch.from_numpy(np.sort(rng.choice(size, max(1, round(mask_rate * size)), replace=False)))
    positions = torch.from_numpy(np.resize(np.arange(length), filled))
    return MaskedBatch(
        input_ids=ids,
        token_type_ids=torch.zeros_like(ids),
        position_ids=positions,
        bounds=Bounds([length] * count),
        masked=masked,
        targets=ids[masked],
        is_random=torch.from_numpy(rng.integers(0, 2, count)),
        actions=np.zeros(len(masked), np.uint8),
    )
