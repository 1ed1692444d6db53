"""Training on questions beside `transformers`: the same weights, batches and recipe, the same losses."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.device import Device
from engine.events import Step
from engine.model.bert import initialize
from engine.model.heads import QuestionAnswering
from engine.model.weights import save_model
from engine.settings.finetune import FineTuneConfig, TrainingConfig
from engine.text.batch import EncodedRows, epoch_batches
from engine.train.feed import EpochFeed
from engine.train.loop import Loop
from engine.train.run.folder import Run
from engine.train.schedule import Epochs
from engine.train.tasks.questions.task import QuestionTask
from tests.fakes import tiny_config, tiny_wordpiece

transformers = pytest.importorskip("transformers")

CONFIG = TrainingConfig(learning_rate=2e-2, batch_size=7, num_epochs=3, seed=11)
COUNT, LENGTH, NUM_A = 53, 17, 5  # windows of one length, for the peer's softmax takes in padding


def windows() -> EncodedRows:
    """Return windows whose answer stands between two marks; some hold none, and of some it is not known."""
    rng = np.random.default_rng(5)
    pieces = [rng.integers(10, 37, LENGTH).astype(np.int32) for _ in range(COUNT)]
    targets = []
    for number, ids in enumerate(pieces):
        first = int(rng.integers(NUM_A + 1, LENGTH - 3))
        ids[0], ids[-1], ids[first - 1], ids[first + 2] = 2, 3, 7, 8
        targets.append((-1, -1) if number % 11 == 5 else (0, 0) if number % 9 == 4 else (first, first + 1))
    plain = EncodedRows.from_pieces(pieces, [NUM_A] * COUNT, [0] * COUNT, range(COUNT))
    return replace(plain, targets=np.array(targets))


def model() -> QuestionAnswering:
    made = QuestionAnswering(tiny_config(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    initialize(made, 0.2, seed=3)
    return made


def ours(path: Path, data: EncodedRows) -> tuple[list[float], list[float]]:
    device = Device(torch.device("cpu"), torch.float32, torch.get_num_threads(), 37)
    with Run.create(path, FineTuneConfig(training=CONFIG)) as run:
        run.open_metrics(0)
        feed = EpochFeed(data, CONFIG.batch_size, 1, CONFIG.seed)
        schedule = Epochs(feed.steps_per_epoch, CONFIG.num_epochs, CONFIG.warmup_ratio)
        task, rate = QuestionTask(with_none=True), CONFIG.learning_rate
        assert rate is not None
        loop = Loop(run, model(), task, feed, schedule, None, CONFIG, device, rate)
        steps = [event for event in loop.train() if isinstance(event, Step)]
    return [step.loss for step in steps], [step.gradient_norm for step in steps]


def theirs(folder: Path, data: EncodedRows) -> tuple[list[float], list[float]]:
    save_model(folder, model(), tiny_wordpiece())
    peer: Any = transformers.BertForQuestionAnswering.from_pretrained(folder).train()
    plain = [p for name, p in peer.named_parameters() if "LayerNorm" in name or name.endswith("bias")]
    decayed = [p for _, p in peer.named_parameters() if all(p is not other for other in plain)]
    groups = [
        {"params": decayed, "weight_decay": CONFIG.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=CONFIG.learning_rate or 0.0)
    batches = [
        batch
        for epoch in range(CONFIG.num_epochs)
        for batch in epoch_batches(data.lengths, CONFIG.batch_size, CONFIG.seed, epoch)
    ]
    warmup = math.ceil(len(batches) * CONFIG.warmup_ratio)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, warmup, len(batches))
    ids = torch.from_numpy(data.input_ids.reshape(COUNT, LENGTH).astype(np.int64))
    second = (torch.arange(LENGTH) >= NUM_A).long().expand(COUNT, LENGTH)
    targets = torch.from_numpy(np.where(data.targets < 0, LENGTH, data.targets))
    losses, norms = [], []
    for batch in map(torch.from_numpy, batches):
        start, end = targets[batch].unbind(1)
        loss = peer(ids[batch], token_type_ids=second[batch], start_positions=start, end_positions=end).loss
        loss.backward()
        losses.append(float(loss.detach()))
        norms.append(float(torch.nn.utils.clip_grad_norm_(peer.parameters(), CONFIG.max_gradient_norm)))
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return losses, norms


@pytest.mark.slow
def test_the_loss_is_that_of_transformers_at_every_step(tmp_path: Path) -> None:
    data = windows()
    losses, norms = (np.array(one) for one in ours(tmp_path / "run", data))
    expected, expected_norms = (np.array(one) for one in theirs(tmp_path / "model", data))
    assert len(losses) == len(expected) == 24
    assert np.abs(losses - expected).max() < 1e-4
    assert np.abs(norms / expected_norms - 1).max() < 1e-3
    assert expected[-5:].mean() < 0.8 * expected[:5].mean()  # something was learned, so the weights moved
