"""A few steps for an encoder: on pairs of labelled texts, or with a classifier on it.

Steps are counted, not epochs: of few rows an epoch is next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from engine.device import Device
from engine.errors import marked
from engine.events import Progress, Steps
from engine.model.heads import SequenceClassifier, on_batch
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import EncodedRows, by_length, collate, on_device
from engine.train.optimizer import Optimizer, learning_rate_at
from engine.train.ways.names import LEAST_STEPS, PAIRS
from engine.train.ways.regression import Labels

# B pairs or rows of a step

WARMUP = 0.1
WEIGHT_DECAY, MOST_NORM = 0.01, 1.0


def teach_pairs(
    model: SequenceClassifier, rows: EncodedRows, targets: Labels, device: Device, rate: float, seed: int
) -> Steps[None]:
    """Move an encoder so that texts of one label have nearly equal means of its last layer.

    Texts of two labels come to have unlike ones. Half of the pairs share their label. Source: Tunstall et al.
    2022 (SetFit); the loss is theirs, the squared difference of the cosine from 1 and 0.

    Args: model: one that reads means. targets: (E,) of the rows; of one label alone nothing is learned.
    """
    if len(np.unique(targets)) < 2:
        return
    rng = np.random.default_rng(seed)
    model.eval()  # pairs are noise enough

    def loss(_: int) -> Tensor:
        left, right = drawn_pairs(targets, rng)
        places, which = np.unique(np.concatenate([left, right]), return_inverse=True)
        order = np.argsort(-rows.lengths[places], kind="stable")
        batch = collate(rows, places[order], device.device, ROW_MULTIPLE)
        back = on_device(torch.from_numpy(np.argsort(order)[which]), device.device)
        with device.autocast():
            one, other = model.means_of(batch)[-1][back].float().chunk(2)
        same = torch.from_numpy((targets[left] == targets[right]).astype(np.float32))
        likeness = nn.functional.cosine_similarity(one, other)
        return nn.functional.mse_loss(likeness, on_device(same, device.device))

    yield from _steps(model.bert, loss, LEAST_STEPS, rate, marked("engine", "Learning from pairs"))


def drawn_pairs(targets: Labels, rng: np.random.Generator) -> tuple[Labels, Labels]:
    """Return the two sides, (B,) places each, of pairs of which half share their label."""
    labels = np.unique(targets)
    of_label = {label: np.flatnonzero(targets == label) for label in labels}
    left, right = [], []
    for number in range(PAIRS):
        one = rng.choice(labels)
        other = one if number % 2 else rng.choice(labels[labels != one])
        left.append(rng.choice(of_label[one]))
        rest = of_label[other][of_label[other] != left[-1]]
        right.append(rng.choice(rest if len(rest) else of_label[other]))
    return np.array(left), np.array(right)


def teach_classifier(
    model: SequenceClassifier,
    rows: EncodedRows,
    targets: Labels,
    device: Device,
    *,
    rate: float,
    seed: int,
    batch_size: int,
    num_steps: int,
) -> Steps[None]:
    """Fine-tune all weights of a classifier on (E,) labels for so many steps."""
    rng, order = np.random.default_rng(seed), list[int]()
    model.train()

    def loss(step: int) -> Tensor:
        if len(order) < min(batch_size, len(targets)):
            order.extend(rng.permutation(len(targets)).tolist())
        some = np.array(order[:batch_size])
        del order[:batch_size]
        some = some[np.argsort(-rows.lengths[some], kind="stable")]
        model.bert.noise.seed(seed, step)
        batch = collate(rows, some, device.device, ROW_MULTIPLE)
        with device.autocast():
            logits = on_batch(model, batch).float()
        labels = on_device(torch.from_numpy(targets[some]), device.device)
        return nn.functional.cross_entropy(logits, labels)

    yield from _steps(model, loss, num_steps, rate, marked("engine", "Learning with all weights"))


def answered(
    model: SequenceClassifier, rows: EncodedRows, places: npt.NDArray[np.int64], device: Device
) -> Steps[Labels]:
    """Return the most probable label of the rows at some places."""
    model.eval()
    found, done = np.zeros(len(places), np.int64), 0
    for some in by_length(rows.lengths[places], device.micro_batch_tokens):
        batch = collate(rows, places[some], device.device, ROW_MULTIPLE)
        with torch.no_grad(), device.autocast():
            found[some] = on_batch(model, batch).argmax(1).cpu().numpy()
        done += len(some)
        yield Progress(stage=marked("engine", "Evaluating"), done=done, total=len(places))
    return found


def _steps(
    model: nn.Module, loss: Callable[[int], Tensor], num_steps: int, rate: float, stage: str
) -> Steps[None]:
    optimizer = Optimizer(model, weight_decay=WEIGHT_DECAY, max_gradient_norm=MOST_NORM)
    for step in range(1, num_steps + 1):
        loss(step).backward()  # type: ignore[no-untyped-call]
        optimizer.step(learning_rate_at(step, num_steps, WARMUP, rate))
        yield Progress(stage=stage, done=step, total=num_steps)
