"""A regression on the mean vectors of a frozen encoder, and as the head of a classifier.

It reads the mean of all tokens twice: of the last layer, and of the embeddings. Where words decide more than
what is meant, TF-IDF beats the last layer alone, and seldom both: see `benchmarks/README.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from engine.device import Device
from engine.errors import marked
from engine.events import Beat, Progress, Steps
from engine.model.heads import SequenceClassifier
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import EncodedRows, by_length, collate
from engine.train.ways.judged import Answers
from engine.train.ways.regression import USUAL_STRENGTH, Floats, Labels, Scaling, chosen_strength, fit

# E rows, D width of the vectors, R of what a classifier reads, C labels

CHOOSE_FROM = 50  # rows, below which they tell too little to choose a strength by
UNSEEN = -30.0  # the bias of a label that no row has


@dataclass(frozen=True, eq=False)
class LinearHead:
    """A regression on vectors as they are, their scaling folded in. weights: (C, D). biases: (C,)."""

    weights: npt.NDArray[np.float64]
    biases: npt.NDArray[np.float64]

    def answers(self, vectors: Floats) -> Labels:
        """Return (E,) the most probable label of each of (E, D) vectors."""
        found: Labels = (vectors @ self.weights.T + self.biases).argmax(1)
        return found


def head_of(vectors: Floats, targets: Labels, num_labels: int, seed: int) -> LinearHead:
    """Fit a regression to (E, D) vectors and their (E,) labels; its strength is cross-validated on enough."""
    scaling = Scaling.of(vectors)
    scaled = scaling.applied(vectors)
    strength = USUAL_STRENGTH
    if len(vectors) >= CHOOSE_FROM:
        strength = chosen_strength(scaled, targets, num_labels, seed)
    fitted = fit(scaled, targets, strength)
    weights, biases = np.zeros((num_labels, vectors.shape[1])), np.full(num_labels, UNSEEN)
    own, bias = fitted.weights, fitted.biases
    if len(own) == 1 and len(fitted.labels) == 2:
        own, bias = np.concatenate([-own, own]) / 2, np.concatenate([-bias, bias]) / 2
    own = own * scaling.factor
    weights[fitted.labels], biases[fitted.labels] = own, bias - own @ scaling.mean
    return LinearHead(weights, biases)


def answers_by_vectors(vectors: Floats, targets: Labels, num_labels: int, seed: int) -> Answers:
    """Return what answers rows by a regression on their (E, D) vectors."""

    def answers(learn: npt.NDArray[np.bool_]) -> Steps[Labels]:
        yield Beat()
        return head_of(vectors[learn], targets[learn], num_labels, seed).answers(vectors[~learn])

    return answers


def vectors_of(model: SequenceClassifier, rows: EncodedRows, device: Device) -> Steps[Floats]:
    """Return (E, R) what a classifier reads of each text. Args: model: one that reads means."""
    model.eval()
    found = np.zeros((len(rows), model.config.read_width), np.float32)
    done = 0
    for indices in by_length(rows.lengths, device.micro_batch_tokens):
        batch = collate(rows, indices, device.device, ROW_MULTIPLE)
        with device.autocast():
            found[indices] = model.read_states(batch).float().cpu().numpy()
        done += len(indices)
        yield Progress(stage=marked("engine", "Computing vectors"), done=done, total=len(rows))
    return found


def put_head(model: SequenceClassifier, head: LinearHead) -> None:
    """Make of a classifier that reads means one that answers as a regression on these does.

    The published class has a pooler with an activation before its classifier, of which its family knows where
    that is straight; where it cannot be, there is none. The embeddings' mean, which comes first in a
    regression's vectors, goes past it.
    """
    pooler, (scale, middle) = model.bert.pooler, model.config.family.straight or (1.0, 0.0)
    with torch.no_grad():
        if pooler is not None:
            pooler.weight.copy_(scale * torch.eye(len(pooler.weight)))
            pooler.bias.fill_(middle)
        before, last = np.split(head.weights, [model.config.read_width - model.config.hidden_size], 1)
        last = last / scale
        model.classifier.weight.copy_(torch.from_numpy(np.hstack([last, before])))
        model.classifier.bias.copy_(torch.from_numpy(head.biases - middle * last.sum(1)))
