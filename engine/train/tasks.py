"""What a model is trained to answer: head, loss, metrics, decoding. The loop knows nothing else.

Token labelling, spans and scores will each be one more class here: a head that gives (N, C) or (B, 2) instead
of (B, C), its loss, its metrics. The loop, evaluation, checkpoints and events stay as they are. The masked
words and next sentences of pretraining are in language.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.text.batch import Batch
from engine.train.metrics import score_classes


@dataclass(frozen=True, slots=True)
class Measures:
    """What an evaluation found. per_label: label -> precision, recall, F1, support."""

    loss: float
    metrics: Mapping[str, float]
    confusion: np.ndarray | None = None
    per_label: Mapping[str, tuple[float, float, float, int]] | None = None


@dataclass(frozen=True, slots=True)
class Readings:
    """What a step showed, means over all of it. `measures` are the task's own, such as nsp_accuracy."""

    loss: float
    accuracy: float | None
    measures: Mapping[str, float]


class Task(Protocol):
    """What the training loop asks of a task.

    A step is worked off in parts. `count` looks at all of them first (totals), so that each part's loss is
    its share of the step's mean; what `loss` tallies is summed over the parts and read by `read`.
    """

    name: ClassVar[str]
    metric: ClassVar[str]  # the one of an evaluation's that tells how good the model is
    keeps_best: ClassVar[bool]  # whether the best checkpoint is the result, or the last weights

    @property
    def labels(self) -> tuple[str, ...]:
        """What it chooses from, in the order of its outputs; empty where it does not choose."""

    def count(self, parts: Sequence[Any]) -> Tensor:
        """Return totals over the batches of a step, (K,) float64, on the CPU."""

    def loss(self, model: nn.Module, batch: Any, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Return a part's share of the step's mean loss, 0-d, and its tally, (J,), detached."""

    def read(self, tally: Tensor, totals: Tensor) -> Readings:
        """Return what the summed tallies of a step mean."""


class Answering(Task, Protocol):
    """A task with one answer for each example, as fine-tuning has."""

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Run the model on a batch."""

    def decode(self, outputs: Tensor) -> Tensor:
        """Return what is kept of the outputs for an answer, such as probabilities."""

    def measure(self, answers: np.ndarray, targets: np.ndarray) -> Measures:
        """Compare decoded answers with the targets."""


@dataclass(frozen=True)
class Classification:
    """One of C labels for a text or a pair of texts.

    weights: (C,), what an example of each label counts in training; empty: 1 each. label_smoothing: how much
    of an answer is shared out among all labels in training. Measuring knows neither.
    """

    labels: tuple[str, ...]
    weights: tuple[float, ...] = ()
    label_smoothing: float = 0.0
    name: ClassVar[str] = "classification"
    metric: ClassVar[str] = "accuracy"
    keeps_best: ClassVar[bool] = True

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return logits (B, C)."""
        ids: Any = batch.input_ids
        return model(  # type: ignore[no-any-return]
            ids,
            batch.token_type_ids,
            position_ids=batch.position_ids,
            bounds=batch.bounds,
            rows=batch.bounds.firsts,  # nobody reads what the last layer makes of the other tokens
            states=batch.states,
        )

    def count(self, parts: Sequence[Batch]) -> Tensor:
        """Return (what all examples count together, number of examples)."""
        count = float(sum(len(part.bounds) for part in parts))
        if not self.weights:
            return torch.tensor([count, count], dtype=torch.float64)
        weights = torch.tensor(self.weights, dtype=torch.float64)
        counted = sum(float(weights[part.targets].sum()) for part in parts if part.targets is not None)
        return torch.tensor([counted, count], dtype=torch.float64)

    def loss(self, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy in float32, a mean over the step's examples by what they count.

        Tally: (the same, number of right answers). Source: torch's cross_entropy with reduction="mean".
        """
        logits = self.forward(model, batch).float()
        targets = batch.targets
        assert targets is not None
        weights = torch.tensor(self.weights, device=logits.device) if self.weights else None
        summed = F.cross_entropy(
            logits, targets, weights, reduction="sum", label_smoothing=self.label_smoothing
        )
        loss = summed / float(totals[0])
        hits = (logits.detach().argmax(-1) == targets).sum()
        return loss, torch.stack([loss.detach(), hits.to(loss.dtype)])

    def read(self, tally: Tensor, totals: Tensor) -> Readings:
        """Return mean loss and share of right answers."""
        loss, hits = tally.tolist()
        return Readings(loss, hits / float(totals[1]), {})

    def decode(self, outputs: Tensor) -> Tensor:
        """Return probabilities (B, C) float32."""
        return torch.softmax(outputs.float(), -1)

    def measure(self, answers: np.ndarray, targets: np.ndarray) -> Measures:
        """Args: answers: (E, C) probabilities. targets: (E,). Raises nothing; E may be 0."""
        scores = score_classes(targets, answers.argmax(-1), len(self.labels))
        right = answers[np.arange(len(targets)), targets].astype(float)
        loss = float(-np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean()) if len(targets) else 0.0
        per_label = {
            label: (
                float(scores.precision[i]),
                float(scores.recall[i]),
                float(scores.f1[i]),
                int(scores.support[i]),
            )
            for i, label in enumerate(self.labels)
        }
        return Measures(loss, scores.summary(), scores.confusion, per_label)
