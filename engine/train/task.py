"""What the loop and the evaluation ask of what a model is trained for: loss, answers, measures.

The tasks of fine-tuning are in tasks/; masked words and next sentences are in pretraining/language.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import Sentence
from engine.events import Evaluated, Steps
from engine.model.heads import on_batch
from engine.text.batch import IGNORE, Batch, EncodedRows, on_device
from engine.text.listed import ListedRows
from engine.train.scored import ScoredTable, ScoreRows


@dataclass(frozen=True, slots=True)
class Measures:
    """What an evaluation found. per_label: label -> precision, recall, F1, support.

    labels: those of confusion and per_label, where they are not the task's own. details: what only this
    task's views show, as JSON can hold it. each: finds what every text got; None where nobody asks.
    by_loss: whether the best weights are those of the least loss, not of the highest metric.
    """

    loss: float
    metrics: Mapping[str, float]
    confusion: np.ndarray | None = None
    per_label: Mapping[str, tuple[float, float, float, int]] | None = None
    labels: tuple[str, ...] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    each: Callable[[], ScoreRows] | None = None
    by_loss: bool = False


@dataclass(frozen=True, slots=True)
class StepMeans:
    """What a step showed, means over all of it. `measures` are the task's own, such as nsp_accuracy.

    accuracy: the task's own metric, which is drawn beside that of the evaluations; None where a step's
    examples show another.
    """

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

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return what the summed tallies of a step mean."""


class Answering(Task, Protocol):
    """A task that answers for examples, or for tokens of them, as fine-tuning has."""

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Run the model on a batch."""

    def decode(self, outputs: Tensor) -> Tensor:
        """Return what is kept of the outputs, such as probabilities: a row for each answer of the batch."""

    def measure(self, answers: np.ndarray, data: EncodedRows) -> Measures | Steps[Measures]:
        """Compare decoded answers, in the order of `data.answer_bounds`, with what `data` says is right.

        Step by step where that takes long.
        """

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Return what a score hides, each with its level: "look" or "wrong".

        Args: measures: of now, or as a run's file has kept them. split: "validation" or "test".
        """


class OfFirstTokens:
    """What tasks have in common that answer once for an example, at its first token."""

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return logits (B, C)."""
        return on_batch(model, batch)

    def count(self, parts: Sequence[Batch]) -> Tensor:
        """Return (number of examples,)."""
        return torch.tensor([sum(len(part.bounds) for part in parts)], dtype=torch.float64)


def cross_entropy(
    logits: Tensor, targets: Tensor | None, weights: tuple[float, ...], label_smoothing: float, total: float
) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy of known targets, a mean by what they count, `total` together, and its tally:
    the same, number of right answers.

    Source: torch's cross_entropy with reduction="mean".
    """
    assert targets is not None
    count = weights_on(weights, logits.device) if weights else None
    summed = F.cross_entropy(
        logits, targets, count, ignore_index=IGNORE, reduction="sum", label_smoothing=label_smoothing
    )
    loss = summed / max(total, torch.finfo(torch.float32).tiny)
    hits = (logits.detach().argmax(-1) == targets).sum()
    return loss, torch.stack([loss.detach(), hits.to(loss.dtype)])


@lru_cache(maxsize=8)
def weights_on(weights: tuple[float, ...], device: torch.device) -> Tensor:
    """Return what each label counts, (C,), on a device; made once, so that no step waits for it."""
    return on_device(torch.tensor(weights), device)


def scored(
    task: Task, measured: Evaluated, listed: ListedRows, measures: Measures, seen: np.ndarray | None = None
) -> ScoredTable:
    """Return what every text got, beside what all of them came to. Args: seen: as `ScoredTable` has it."""
    assert measures.each is not None, "only texts are asked about one by one"
    found = ScoredTable(task.name, task.metric, measured, listed, measures.each())
    return found if seen is None else replace(found, seen=seen)
