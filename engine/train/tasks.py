"""What a model is trained to answer: column roles, head, loss, metrics, decoding. The loop knows nothing
else.

Token labelling, spans and scores will each be one more class here: a head that gives (N, C) or (B, 2) instead
of (B, C), its loss, its metrics. The loop, evaluation, checkpoints and events stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
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


class Task(Protocol):
    """What the training loop asks of a task. Outputs are whatever its head returns for a batch."""

    name: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]  # the columns it reads, by role
    metric: ClassVar[str]  # the one of `measure` that chooses the best checkpoint; more is better

    @property
    def labels(self) -> tuple[str, ...]:
        """What it chooses from, in the order of its outputs; empty where it does not choose."""

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Run the model on a batch."""

    def loss(self, outputs: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the summed loss over the batch's examples, 0-d, and how many were right, 0-d."""

    def decode(self, outputs: Tensor) -> Tensor:
        """Return what is kept of the outputs for an answer, such as probabilities."""

    def measure(self, answers: np.ndarray, targets: np.ndarray) -> Measures:
        """Compare decoded answers with the targets."""


@dataclass(frozen=True)
class Classification:
    """One of C labels for a text or a pair of texts."""

    labels: tuple[str, ...]
    name: ClassVar[str] = "classification"
    roles: ClassVar[tuple[str, ...]] = ("text", "text_pair", "label")
    metric: ClassVar[str] = "accuracy"

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return logits (B, C)."""
        ids: Any = batch.input_ids
        return model(  # type: ignore[no-any-return]
            ids, batch.token_type_ids, position_ids=batch.position_ids, bounds=batch.bounds
        )

    def loss(self, outputs: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Cross-entropy summed over the B examples, in float32; and the number of right answers."""
        logits = outputs.float()
        targets = batch.targets
        assert targets is not None
        return F.cross_entropy(logits, targets, reduction="sum"), (
            logits.detach().argmax(-1) == targets
        ).sum()

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
