"""Training beside `transformers`: the same weights, batches and recipe give the same loss at every step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.device import Device
from engine.events import Step
from engine.model.bert import initialize
from engine.model.heads import SequenceClassifier
from engine.model.weights import save_model
from engine.settings.finetune import FineTuneConfig, TrainingConfig
from engine.text.batch import EncodedRows, epoch_batches
from engine.train.feed import EpochFeed
from engine.train.loop import Loop
from engine.train.run.folder import Run
from engine.train.schedule import Epochs
from engine.train.task import Answering
from engine.train.tasks.classification.task import Classification
from engine.train.tasks.known import TASKS
from engine.train.tasks.multi_label.task import MultiLabel
from engine.train.tasks.regression.task import Regression
from tests.fakes import LABELS, tiny_config, tiny_wordpiece

transformers = pytest.importorskip("transformers")

from benchmarks.peers import Curve, Recipe, train_by_hand  # noqa: E402  # it needs transformers

RECIPE = Recipe(learning_rate=2e-2)  # a small model wants much; so the loss moves and clipping bites
NUM_EXAMPLES = 53  # with batches of 7 the last of an epoch is smaller
ONE_LABEL = Classification(LABELS)
CONFIG = TrainingConfig(learning_rate=RECIPE.learning_rate, batch_size=7, num_epochs=3, seed=11)


@dataclass(frozen=True)
class Trained:
    """One run of the loop: its curve, and the weights at its end."""

    curve: Curve
    weights: dict[str, Tensor]


def examples(with_pairs: bool) -> EncodedRows:
    """Return texts of 3 to 23 tokens whose label can be learned from their first word."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(3, 24, NUM_EXAMPLES)
    pieces = [rng.integers(5, 37, length).astype(np.int32) for length in lengths]
    for ids in pieces:
        ids[0], ids[-1] = 2, 3  # [CLS], [SEP]
    num_a = (lengths + 1) // 2 if with_pairs else lengths
    targets = [int(ids[1]) % len(LABELS) for ids in pieces]
    return EncodedRows.from_pieces(pieces, num_a, targets, range(NUM_EXAMPLES))


def classifier(task: Answering = ONE_LABEL) -> SequenceClassifier:
    """Return a classifier that starts like a published one does, dropout 0."""
    dropouts = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    problem = TASKS[task.name].problem
    model = SequenceClassifier(tiny_config(id2label=task.labels, problem_type=problem, **dropouts))
    initialize(model, 0.2, seed=3)
    return model


def train(
    path: Path,
    config: TrainingConfig,
    data: EncodedRows,
    micro_batch_tokens: int,
    task: Answering = ONE_LABEL,
) -> Trained:
    """Run the engine's loop to its end."""
    model = classifier(task)
    device = Device(torch.device("cpu"), torch.float32, torch.get_num_threads(), micro_batch_tokens)
    with Run.create(path, FineTuneConfig(training=config)) as run:
        run.open_metrics(0)
        feed = EpochFeed(data, config.batch_size, config.gradient_accumulation_steps, config.seed)
        schedule = Epochs(feed.steps_per_epoch, config.num_epochs, config.warmup_ratio)
        loop = Loop(run, model, task, feed, schedule, None, config, device, RECIPE.learning_rate)
        steps = [event for event in loop.train() if isinstance(event, Step)]
    losses = np.array([step.loss for step in steps])
    norms = np.array([step.gradient_norm for step in steps])
    weights = {name: weight.detach().clone() for name, weight in model.state_dict().items()}
    for name, weight in weights.items():
        if name.endswith("qkv.bias"):
            weight.view(3, -1)[1] = 0.0  # softmax cancels the keys' bias: it is moved by rounding alone
    return Trained(Curve(losses, norms), weights)


def train_theirs(
    folder: Path, config: TrainingConfig, data: EncodedRows, task: Answering = ONE_LABEL
) -> Curve:
    """Train the same weights on the same batches with the parts of `transformers` and torch."""
    save_model(folder, classifier(task), tiny_wordpiece(), {})
    model: Any = transformers.BertForSequenceClassification.from_pretrained(folder)
    steps = []
    for epoch in range(config.num_epochs):
        batches = epoch_batches(data.lengths, config.batch_size, config.seed, epoch)
        count = config.gradient_accumulation_steps
        steps += [batches[i : i + count] for i in range(0, len(batches), count)]
    return train_by_hand(model, data, steps, RECIPE)


@pytest.mark.slow
@pytest.mark.parametrize("with_pairs", [False, True], ids=["single texts", "pairs"])
@pytest.mark.parametrize(
    ("accumulation", "micro_batch_tokens"),
    [(1, 2048), (3, 2048), (1, 37), (3, 37)],
    ids=["plain", "accumulated", "small micro-batches", "accumulated in small micro-batches"],
)
def test_the_loss_is_that_of_transformers_at_every_step(
    tmp_path: Path, with_pairs: bool, accumulation: int, micro_batch_tokens: int
) -> None:
    config = replace(CONFIG, gradient_accumulation_steps=accumulation, num_epochs=3 * accumulation)
    data = examples(with_pairs)
    ours = train(tmp_path / "run", config, data, micro_batch_tokens).curve
    theirs = train_theirs(tmp_path / "model", config, data)
    assert len(ours.losses) == len(theirs.losses) >= 20
    assert np.abs(ours.losses - theirs.losses).max() < 1e-4
    assert np.abs(ours.norms / theirs.norms - 1).max() < 1e-3
    assert theirs.norms.min() < RECIPE.max_gradient_norm < theirs.norms.max()  # some are clipped, some not
    assert theirs.losses[-5:].mean() < theirs.losses[:5].mean()  # something was learned, so the weights moved


@pytest.mark.slow
@pytest.mark.parametrize("micro_batch_tokens", [37, 2048])
@pytest.mark.parametrize("task", [MultiLabel(LABELS), Regression()], ids=lambda task: task.name)
def test_several_labels_and_numbers_are_learned_as_by_transformers_at_every_step(
    task: MultiLabel | Regression, micro_batch_tokens: int, tmp_path: Path
) -> None:
    found = examples(with_pairs=True)
    numbers = found.targets / 2 + 3.25
    sets = found.targets[:, None] != np.arange(len(LABELS))  # two labels of three
    data = replace(found, targets=sets if task.name == "multi-label" else numbers)
    ours = train(tmp_path / "run", CONFIG, data, micro_batch_tokens, task).curve
    theirs = train_theirs(tmp_path / "model", CONFIG, data, task)
    assert len(ours.losses) == len(theirs.losses) >= 20
    assert np.abs(ours.losses / theirs.losses - 1).max() < 1e-4
    assert np.abs(ours.norms / theirs.norms - 1).max() < 1e-3
    assert theirs.losses[-5:].mean() < theirs.losses[:5].mean()


@pytest.mark.slow
@pytest.mark.parametrize("micro_batch_tokens", [1, 37, 90])
def test_a_step_means_the_same_whatever_the_micro_batch(tmp_path: Path, micro_batch_tokens: int) -> None:
    data = examples(with_pairs=False)
    whole = train(tmp_path / "whole", CONFIG, data, 2048)
    parts = train(tmp_path / "parts", CONFIG, data, micro_batch_tokens)
    assert np.abs(parts.curve.losses - whole.curve.losses).max() < 1e-5
    assert np.abs(parts.curve.norms / whole.curve.norms - 1).max() < 1e-4
    for name, weights in whole.weights.items():
        assert torch.allclose(parts.weights[name], weights, atol=1e-4), name


@pytest.mark.slow
def test_accumulated_batches_are_one_larger_batch(tmp_path: Path) -> None:
    data = examples(with_pairs=False)
    config = replace(CONFIG, batch_size=NUM_EXAMPLES)
    large = train(tmp_path / "large", replace(config, num_epochs=6), data, 2048)
    small = replace(config, batch_size=6, gradient_accumulation_steps=9, num_epochs=6)  # 9 x 6 > 53
    gathered = train(tmp_path / "gathered", small, data, 2048)
    assert len(gathered.curve.losses) == len(large.curve.losses) == 6
    assert np.abs(gathered.curve.losses - large.curve.losses).max() < 1e-5
