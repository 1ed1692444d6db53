"""How NNLM, ELMo and GPT learn by the engine's own loop: rows of a stream, and the next word as the task."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from engine.device import Device
from engine.errors import marked
from engine.events import Event, Progress
from engine.family.members import SEP
from engine.text.batch import on_device
from engine.train.task import Measures, StepMeans


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Rows of a stream, (B, left + T): T words to predict, and those before them that are read as well."""

    ids: Tensor
    num_tokens: int

    def to(self, device: torch.device) -> StreamRows:
        """Return it on a device."""
        return StreamRows(on_device(self.ids, device), self.num_tokens)


@dataclass
class StreamFeed:
    """Every stretch of T words once an epoch, in an order drawn by the seed; the step says where it is.

    Args: stream: (N,) ids. left: words before a row. batch_tokens: words of a step.
    """

    stream: np.ndarray
    left: int
    length: int
    batch_tokens: int
    seed: int
    _epoch: int = field(default=-1, init=False)

    def __post_init__(self) -> None:
        self.num_rows = max(1, len(self.stream) // self.length)
        self.batch = max(1, self.batch_tokens // self.length)
        self._padded = np.concatenate([np.full(self.left, SEP), self.stream]).astype(np.int32)
        self._order = np.empty(0, np.int64)

    def take(self, step: int, progress: float) -> np.ndarray:
        """Return the numbers of a step's rows."""
        return np.array([self._row(place) for place in range((step - 1) * self.batch, step * self.batch)])

    def _row(self, place: int) -> int:
        epoch, number = divmod(place, self.num_rows)
        if epoch != self._epoch:
            self._order = np.random.default_rng([self.seed, epoch]).permutation(self.num_rows)
            self._epoch = epoch
        return int(self._order[number])

    def parts(self, taken: np.ndarray, num_tokens: int) -> list[StreamRows]:
        """Return a step's rows in batches."""
        most = max(1, num_tokens // self.length)
        return [self.rows(taken[begin : begin + most]) for begin in range(0, len(taken), most)]

    def rows(self, numbers: np.ndarray) -> StreamRows:
        """Return some rows; a text shorter than one gives all it has."""
        width = min(self.length + self.left, len(self._padded))
        places = numbers[:, None] * self.length + np.arange(width)
        ids = torch.from_numpy(self._padded[places].astype(np.int64))
        return StreamRows(ids, len(numbers) * (width - self.left))

    def lengths(self, taken: np.ndarray) -> np.ndarray:
        """Return the words of each row."""
        return np.full(len(taken), self.length)

    def length_at(self, progress: float) -> int:
        """Return how long a row is."""
        return self.length

    def epoch(self, step: int) -> float:
        """Return how often the text was gone through."""
        return step * self.batch / self.num_rows

    def state(self) -> Mapping[str, Any]:
        """Return nothing: the step says it all."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class NextWord:
    """Cross-entropy of words, each after those before it; of ELMo also of each before those after it.

    per_word: how many predictions a model makes of a word.
    """

    per_word: int
    labels: tuple[str, ...] = ()
    name: ClassVar[str] = "family"
    metric: ClassVar[str] = "words_guessed"
    keeps_best: ClassVar[bool] = False  # the rate comes to rest at the end: the last weights are the result

    def count(self, parts: Sequence[StreamRows]) -> Tensor:
        """Return (predictions,)."""
        return torch.tensor([self.per_word * sum(part.num_tokens for part in parts)], dtype=torch.float64)

    def loss(self, model: nn.Module, batch: StreamRows, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Return a part's share of the loss; tally: (loss, summed cross-entropy, hits)."""
        summed, hits = model(batch.ids)
        loss = summed / max(1.0, float(totals[0]))
        return loss, torch.stack([loss.detach(), summed.detach(), hits.to(loss.dtype)])

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return the mean loss and the share of words guessed first."""
        loss, _, hits = tally.tolist()
        return StepMeans(loss, hits / max(1.0, float(totals[0])), {})

    def evaluate(
        self, model: nn.Module, batches: Sequence[StreamRows], device: Device
    ) -> Generator[Event, None, Measures]:
        """Measure on held-out rows, dropout off."""
        totals, tally = self.count(batches), torch.zeros(3, dtype=torch.float64)
        for done, batch in enumerate(batches):
            yield Progress(stage=marked("engine", "Evaluating"), done=done, total=len(batches))
            model.eval()
            with torch.inference_mode(), device.autocast():
                tally += self.loss(model, batch.to(device.device), totals)[1].cpu().double()
            model.train()
        read = self.read(tally, totals)
        loss = float(tally[1]) / max(1.0, float(totals[0]))
        metrics = {"words_guessed": read.accuracy or 0.0, "perplexity": math.exp(min(loss, 700.0))}
        return Measures(loss, metrics)
