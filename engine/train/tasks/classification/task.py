"""Which of several labels a text or a pair of texts has: the probabilities, their loss, their measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from engine.errors import Sentence
from engine.events import Evaluated
from engine.text.batch import Batch, EncodedRows
from engine.train.metrics import ANSWERED, ONE_ANSWER, notes_on, score_classes, scores_of
from engine.train.scored import SHARE, ScoreRows
from engine.train.task import Measures, OfFirstTokens, StepMeans, cross_entropy
from engine.train.tasks.program import divided
from engine.train.tasks.rows.reading import PREDICTION, PROBABILITY

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
_LINES = """    logits = scores["logits"][0]@TEMPERATURE@
    shares = np.exp(logits - logits.max())
    shares = dict(zip(LABELS, (shares / shares.sum()).tolist()))
    best = max(shares, key=shares.get)
    return {"prediction": best, "probability": shares[best], "probabilities": shares}"""


@dataclass(frozen=True)
class Classification(OfFirstTokens):
    """One of C labels for a text or a pair of texts.

    weights: (C,), what an example of each label counts in training; empty: 1 each. label_smoothing: how much
    of an answer is shared out among all labels in training. Measuring knows neither. temperature: what
    logits are divided by before they are probabilities, as the cloze.json of a finished model says. seen:
    gets each batch of training with its logits (B, C).
    """

    labels: tuple[str, ...]
    weights: tuple[float, ...] = ()
    label_smoothing: float = 0.0
    temperature: float = 1.0
    seen: Callable[[Batch, Tensor], None] | None = field(default=None, compare=False)
    name: ClassVar[str] = "classification"
    metric: ClassVar[str] = "accuracy"
    keeps_best: ClassVar[bool] = True

    def count(self, parts: Sequence[Batch]) -> Tensor:
        """Return (what all examples count together, number of examples)."""
        count = float(sum(len(part.bounds) for part in parts))
        if not self.weights:
            return torch.tensor([count, count], dtype=torch.float64)
        weights = torch.tensor(self.weights, dtype=torch.float64)
        counted = sum(float(weights[part.targets].sum()) for part in parts if part.targets is not None)
        return torch.tensor([counted, count], dtype=torch.float64)

    def loss(self, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Cross-entropy in float32, a mean over the step's examples by what they count."""
        logits = self.forward(model, batch).float()
        if self.seen is not None:
            self.seen(batch, logits)
        return cross_entropy(logits, batch.targets, self.weights, self.label_smoothing, float(totals[0]))

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return mean loss and share of right answers."""
        loss, hits = tally.tolist()
        return StepMeans(loss, hits / float(totals[1]), {})

    def decode(self, outputs: Tensor) -> Tensor:
        """Return probabilities (B, C) float32."""
        return torch.softmax(outputs.float() / self.temperature, -1)

    def measure(self, answers: np.ndarray, data: EncodedRows) -> Measures:
        """Args: answers: (E, C) probabilities."""
        return self.score(answers, data.targets)

    def score(self, answers: np.ndarray, targets: np.ndarray) -> Measures:
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
        each = partial(self.each, answers, targets)
        details = {ANSWERED: scores.num_predicted.tolist()} if scores.confusion is None else {}
        return Measures(loss, scores.summary(), scores.confusion, per_label, details=details, each=each)

    def each(self, answers: np.ndarray, targets: np.ndarray) -> ScoreRows:
        """Return what every text got. Args: answers: (E, C) probabilities. targets: (E,)."""
        predicted = answers.argmax(-1).astype(np.int32)
        right = (predicted == targets).astype(np.float32)
        adds = np.stack([right, np.ones(len(right))], 1)
        sure = answers.max(-1, initial=0.0)
        return ScoreRows(self.labels, targets.astype(np.int32), predicted, right, sure, adds, SHARE, answers)

    def columns(self) -> list[str]:
        """Return the columns that predicting adds: the label, and each one's probability."""
        return [PREDICTION, *(PROBABILITY.format(label=label) for label in self.labels)]

    def predictions(self, answers: np.ndarray) -> np.ndarray:
        """Return (E,), the likeliest label of each."""
        found: np.ndarray = np.asarray(self.labels, object)[answers.argmax(-1)]
        return found

    def others(self, answers: np.ndarray) -> list[list[str]]:
        """Return the probabilities, label by label."""
        return [[f"{value:.6f}" for value in column] for column in answers.T]

    def said(self, answer: np.ndarray) -> dict[str, Any]:
        """Return the likeliest label, and each one's probability."""
        shares = dict(zip(self.labels, answer.tolist(), strict=True))
        best = max(shares, key=lambda label: shares[label])
        return {"prediction": best, "probability": shares[best], "probabilities": shares}

    def program_lines(self) -> tuple[str, dict[str, Any]]:
        """Return `said` as lines of a program, and their constants."""
        return _LINES.replace("@TEMPERATURE@", divided(self.temperature)), {}

    def needs_no_guard(self) -> bool:
        """Whether all labels are numbers: -1 stays -1."""
        return all(map(_NUMBER.fullmatch, self.labels))

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Say that one label only is answered, or that some never are."""
        scores = scores_of(measures, self.labels)
        notes = notes_on(self.labels, scores, split) if scores is not None else []
        return [(note, "wrong" if note.template == ONE_ANSWER else "look") for note in notes]
