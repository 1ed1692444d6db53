"""What a model answers of rows that it was not taught: fine-tuned several times, each time without some rows.

Slower than any comparison of vectors, and often better: it learns which words decide. What it answered in
training, before it learned from a row again, is kept too: a label that the others contradict is learned late.

Source: Northcutt et al. 2021, Confident Learning (out of sample, by folds); Swayamdipta et al. 2020, Dataset
Cartography (confidence in training).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.device import Device, open_device
from engine.errors import marked
from engine.events import Beat, Progress, Steps, beats
from engine.model.fastest import fastest
from engine.model.heads import SequenceClassifier
from engine.model.kernels import Dropout, Noise
from engine.model.weights import load_headed, read_config
from engine.settings.shared import DeviceConfig
from engine.text.batch import Batch, EncodedRows
from engine.text.example_rows import ExampleRows
from engine.text.read_tokenizer import read_tokenizer
from engine.train.evaluate import answers_of
from engine.train.feed import EpochFeed
from engine.train.optimizer import Optimizer, default_learning_rate, learning_rate_at
from engine.train.prepare import encode
from engine.train.tasks.classification.task import Classification

TURNS, EPOCHS = 3, 2
MOST_PIECES = 128
BATCH, WARMUP, DECAY, NORM = 32, 0.1, 0.01, 1.0
_TEACHING = marked("engine", "Training the model without some of the rows, in turns")
_SEED = 0

# E examples, C labels

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TaughtAnswers:
    """What models answered of each example, as probabilities (E, C) float64, each a mean over the epochs.

    unseen: by the one that was not taught it. met: by the others, each time before they learned from it
    in that epoch.
    """

    unseen: Shares
    met: Shares


def taught_in_turns(
    folder: Path,
    examples: ExampleRows,
    labels: npt.NDArray[np.int64],
    num_labels: int,
    max_length: int,
    copies: npt.NDArray[np.int64],
) -> Steps[TaughtAnswers]:
    """Fine-tune a model `TURNS` times, each time without its share of the examples, and return its answers.

    Args: labels: (E,) below `num_labels`. max_length: in WordPieces; the model has fewer at times. copies:
        (E,), the same number for examples that are left out together.
    Raises: ModelError.
    """
    shape, wordpiece = read_config(folder), read_tokenizer(folder)
    length = min(max_length, MOST_PIECES, shape.max_position_embeddings)
    data, _ = yield from encode(examples, wordpiece, length, "longest_first")
    data = replace(data, targets=labels.astype(np.int64), rows=np.arange(len(labels)))
    asked = DeviceConfig()
    device = fastest(open_device(asked), asked, shape)
    names = tuple(f"#{place}" for place in range(num_labels))  # no folder's own: its head may know the rows
    taught = TaughtAnswers(*(np.zeros((len(data), num_labels)) for _ in range(2)))
    rng = np.random.default_rng(_SEED)
    order = rng.permutation(len(data))
    turn_of = rng.permutation(int(copies.max()) + 1) % TURNS
    for turn in range(TURNS):
        left_out = np.flatnonzero(turn_of[copies] == turn)
        pupil = _Pupil(folder, names, device, seed=turn)
        yield from pupil.learn(data, np.setdiff1d(order, left_out), left_out, taught)
    return taught


class _Pupil:
    """One model, taught some of the examples and asked for the others."""

    def __init__(self, folder: Path, names: tuple[str, ...], device: Device, *, seed: int) -> None:
        model, _ = load_headed(folder, SequenceClassifier, names, seed=seed)
        self._model, self._device, self._seed = model.to(device.device).train(), device, seed
        self._peak = default_learning_rate(model.config)
        self._optimizer = Optimizer(self._model, weight_decay=DECAY, max_gradient_norm=NORM)
        self._noise = next((m.noise for m in model.modules() if isinstance(m, Dropout)), Noise())
        self._task = Classification(names, seen=self._keep)
        self._seen: list[tuple[npt.NDArray[np.int64], Tensor]] = []

    def learn(
        self,
        data: EncodedRows,
        taught: npt.NDArray[np.int64],
        asked: npt.NDArray[np.int64],
        into: TaughtAnswers,
    ) -> Steps[None]:
        """Learn from some examples, and add the answers of each epoch to the means of all."""
        some, others = data.subset(taught), data.subset(asked)
        feed = EpochFeed(some, BATCH, 1, self._seed)
        num_steps = feed.steps_per_epoch * EPOCHS
        for step in range(1, num_steps + 1):
            yield Progress(stage=_TEACHING, done=self._seed * num_steps + step - 1, total=TURNS * num_steps)
            yield from self._step(feed, step, learning_rate_at(step, num_steps, WARMUP, self._peak))
            for places, logits in self._seen:
                shares = torch.softmax(logits, -1).double().cpu().numpy()
                into.met[taught[places]] += shares / (EPOCHS * (TURNS - 1))
            self._seen.clear()
            if step % feed.steps_per_epoch == 0:
                answers = yield from beats(
                    answers_of(self._model, self._task, others, self._device, _TEACHING)
                )
                into.unseen[asked] += answers.astype(np.float64) / EPOCHS

    def _step(self, feed: EpochFeed, step: int, rate: float) -> Steps[None]:
        self._noise.seed(self._seed, step)
        parts = feed.parts(feed.take(step, 0.0), self._device.micro_batch_tokens)
        totals = self._task.count(parts)
        for part in parts:
            with self._device.autocast():
                loss, _ = self._task.loss(self._model, part.to(self._device.device), totals)
            loss.backward()  # type: ignore[no-untyped-call]
            yield Beat()
        self._optimizer.step(rate)

    def _keep(self, batch: Batch, logits: Tensor) -> None:
        self._seen.append((np.asarray(batch.indices), logits.detach()))
