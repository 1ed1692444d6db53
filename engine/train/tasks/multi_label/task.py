"""Which labels a text has, each by itself: the probabilities, their loss, their measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import Sentence, marked
from engine.events import Evaluated
from engine.text.batch import Batch, EncodedRows
from engine.train.metrics import on_never_predicted
from engine.train.scored import F1, ScoreRows, coded
from engine.train.task import Measures, OfFirstTokens, StepMeans, weights_on
from engine.train.tasks.multi_label.details import USUAL, set_details
from engine.train.tasks.multi_label.scores import (
    average_precision,
    best_thresholds,
    precision_recall,
    score_sets,
    thinned,
)
from engine.train.tasks.rows.reading import PREDICTION, PROBABILITY

BETWEEN = "; "  # labels in a cell with a prediction
MOST_CURVES = 20  # labels, the commonest first, whose curves are kept
MOST_TOGETHER = 24  # labels whose co-occurrence is kept
LEAST_ROWS = 40  # of a validation that thresholds are chosen on; half of them tell what they are worth
NO_ANSWER = marked(
    "engine",
    "The model gives none of the {rows} {split} rows a label, though {count} have "
    "one. Train longer, or look at the probabilities.",
)
_NONE_AT_HALF = marked(
    "engine",
    "No label of any of the {rows} {split} rows reaches a probability of 0.5. The "
    "chosen thresholds are lower, and with them the model answers. More training "
    "would help.",
)
_CHOSEN = marked(
    "engine",
    "The thresholds of {count} of {total} labels were chosen on half of the validation rows. On the other "
    "half, micro F1 is {chosen:.3f} with them, {usual:.3f} at 0.5.",
)
_NOT_CHOSEN = marked(
    "engine",
    "Every label keeps the threshold 0.5. On the other half of the validation rows, "
    "chosen thresholds gave micro F1 {chosen:.3f}, and 0.5 gave {usual:.3f}.",
)
_LINES = """    shares = (1 / (1 + np.exp(-scores["logits"][0]))).tolist()
    chosen = [label for label, share, least in zip(LABELS, shares, THRESHOLDS) if share >= least]
    return {"prediction": chosen, "probabilities": dict(zip(LABELS, shares))}"""


@dataclass(frozen=True)
class MultiLabel(OfFirstTokens):
    """Each of C labels, there or not, for a text or a pair of texts.

    weights: (C,), what an example that has a label counts for it in training; empty: 1 each. label_smoothing:
    how much of each answer is shared out among yes and no in training. thresholds: (C,), from which
    probability on a label is answered; empty: 0.5 each, and evaluation says which would be better.
    """

    labels: tuple[str, ...]
    weights: tuple[float, ...] = ()
    label_smoothing: float = 0.0
    thresholds: tuple[float, ...] = ()
    name: ClassVar[str] = "multi-label"
    metric: ClassVar[str] = "micro_f1"
    keeps_best: ClassVar[bool] = True

    def loss(self, model: nn.Module, batch: Batch, totals: Tensor) -> tuple[Tensor, Tensor]:
        """Binary cross-entropy in float32, a mean over the step's examples and the labels.

        Tally: (the same, twice the answers that are right, answers and true labels together). Source:
        transformers' problem_type multi_label_classification; smoothing as in Keras' BinaryCrossentropy.
        """
        logits = self.forward(model, batch).float()
        assert batch.targets is not None
        targets = batch.targets.to(logits.dtype)
        smooth = targets * (1 - self.label_smoothing) + self.label_smoothing / 2
        weights = weights_on(self.weights, logits.device) if self.weights else None
        summed = F.binary_cross_entropy_with_logits(logits, smooth, pos_weight=weights, reduction="sum")
        loss = summed / (float(totals[0]) * len(self.labels))
        answered = (logits.detach() >= 0).to(logits.dtype)
        return loss, torch.stack([loss.detach(), 2 * (answered * targets).sum(), (answered + targets).sum()])

    def read(self, tally: Tensor, totals: Tensor) -> StepMeans:
        """Return mean loss and micro F1."""
        loss, hits, whole = tally.tolist()
        return StepMeans(loss, hits / whole if whole else 0.0, {})

    def decode(self, outputs: Tensor) -> Tensor:
        """Return probabilities (B, C) float32, each by itself."""
        return torch.sigmoid(outputs.float())

    def measure(self, answers: np.ndarray, data: EncodedRows) -> Measures:
        """Args: answers: (E, C) probabilities."""
        return self.score(answers, data.targets)

    def score(self, answers: np.ndarray, targets: np.ndarray) -> Measures:
        """Compare (E, C) probabilities with (E, C) true labels; E may be 0.

        The metrics are of what the model answers, with its thresholds; those ending in _at_half take 0.5 for
        all. details: num_examples, thresholds, chosen (which thresholds are best), curves, together.
        """
        targets = targets.astype(bool)
        scores, usual = score_sets(targets, self.answered(answers)), score_sets(targets, answers >= USUAL)
        metrics = dict(scores.summary)
        if self.thresholds:
            metrics |= {
                f"{name}_at_half": usual.summary[name] for name in ("micro_f1", "macro_f1", "subset_accuracy")
            }
        right = np.where(targets, answers, 1 - answers.astype(float))
        loss = float(-np.log(np.maximum(right, np.finfo(np.float32).tiny)).mean()) if targets.size else 0.0
        figures = zip(scores.precision, scores.recall, scores.f1, scores.support, strict=True)
        per_label = {
            label: (float(precision), float(recall), float(f1), int(support))
            for label, (precision, recall, f1, support) in zip(self.labels, figures, strict=True)
        }
        details: dict[str, Any] = {
            "num_examples": len(targets),
            "num_without": int((~targets.any(1)).sum()),
            "predicted": scores.predicted.tolist(),
            "thresholds": self.used,
            "curves": self._curves(targets, answers, scores.support),
            "together": self._together(targets, scores.support),
        }
        if not self.thresholds and len(targets) >= LEAST_ROWS:
            details["chosen"] = choose(targets, answers)
        return Measures(loss, metrics, None, per_label, None, details, partial(self.each, answers, targets))

    def each(self, answers: np.ndarray, targets: np.ndarray) -> ScoreRows:
        """Return what every text got. Args: answers: (E, C) probabilities. targets: (E, C)."""
        truth, found = targets.astype(bool), self.answered(answers)
        names, (true, predicted) = coded(self._cells(truth), self._cells(found))
        adds = np.stack([(truth & found).sum(1), found.sum(1), truth.sum(1)], 1).astype(np.float64)
        whole = adds[:, 1] + adds[:, 2]
        right = np.divide(2 * adds[:, 0], whole, out=np.ones(len(whole)), where=whole > 0).astype(np.float32)
        sure = np.where(found, answers, 1 - answers).min(-1, initial=1.0).astype(np.float32)
        return ScoreRows(names, true, predicted, right, sure, adds, F1, answers)

    def _cells(self, answered: np.ndarray) -> list[str]:
        """Return (E,) the labels of each row in one cell. Args: answered: (E, C) bool."""
        if not len(answered):
            return []
        kinds, places = np.unique(answered, axis=0, return_inverse=True)
        names = np.asarray(self.labels, object)
        cells = [BETWEEN.join(names[kind]) for kind in kinds]
        return [cells[place] for place in places.reshape(-1).tolist()]

    @property
    def used(self) -> list[float]:
        """From which probability on each label is answered."""
        return list(self.thresholds) or [USUAL] * len(self.labels)

    def answered(self, answers: np.ndarray) -> np.ndarray:
        """Return (E, C), the labels that are answered. Args: answers: (E, C) probabilities."""
        found: np.ndarray = answers >= np.asarray(self.used)
        return found

    def _curves(self, targets: np.ndarray, answers: np.ndarray, support: np.ndarray) -> dict[str, Any]:
        """Return precision, recall and threshold by label, of the commonest labels."""
        found: dict[str, Any] = {}
        for place in np.argsort(-support, kind="stable")[:MOST_CURVES].tolist():
            if not support[place]:
                continue
            precision, recall, scores = precision_recall(targets[:, place], answers[:, place])
            kept = thinned(len(scores))
            found[self.labels[place]] = {
                "average_precision": average_precision(precision, recall),
                "precision": _rounded(precision[kept]),
                "recall": _rounded(recall[kept]),
                "threshold": _rounded(scores[kept]),
            }
        return found

    def _together(self, targets: np.ndarray, support: np.ndarray) -> dict[str, Any]:
        """Return how many rows have two labels at once, of the commonest labels."""
        places = np.argsort(-support, kind="stable")[:MOST_TOGETHER]
        some = targets[:, places].astype(np.int64)
        return {
            "labels": [self.labels[place] for place in places.tolist()],
            "counts": (some.T @ some).tolist(),
        }

    def columns(self) -> list[str]:
        """Return the columns that predicting adds: the labels in one, and each one's probability."""
        return [PREDICTION, *(PROBABILITY.format(label=label) for label in self.labels)]

    def predictions(self, answers: np.ndarray) -> np.ndarray:
        """Return (E,), the labels of each row in one cell; "" where it has none."""
        names = np.asarray(self.labels, object)
        return np.array([BETWEEN.join(names[row]) for row in self.answered(answers)], object)

    def others(self, answers: np.ndarray) -> list[list[str]]:
        """Return the probabilities, label by label."""
        return [[f"{value:.6f}" for value in column] for column in answers.T]

    def said(self, answer: np.ndarray) -> dict[str, Any]:
        """Return the labels that are answered, and each one's probability."""
        answered = np.asarray(self.labels, object)[self.answered(answer[None])[0]].tolist()
        return {"prediction": answered, "probabilities": dict(zip(self.labels, answer.tolist(), strict=True))}

    def program_lines(self) -> tuple[str, dict[str, Any]]:
        """Return `said` as lines of a program, and their constants."""
        return _LINES, {"THRESHOLDS": tuple(self.used)}

    def needs_no_guard(self) -> bool:
        """Labels are words of the table's."""
        return False

    def remarks(self, measures: Measures | Evaluated, split: str) -> list[tuple[Sentence, str]]:
        """Say that no label is answered, or that some never are; and what thresholds have been chosen: on
        validation rows alone, of which some are kept.
        """
        said: list[tuple[Sentence, str]] = []
        found = set_details(measures.details, self.labels)
        chosen = found.chosen if split == "validation" else None
        predicted, rows = found.predicted, found.num_examples
        occur = {label: figures[3] for label, figures in (measures.per_label or {}).items()}
        never = [
            label
            for (label, count), times in zip(occur.items(), predicted, strict=False)
            if count and not times
        ]
        if predicted and not any(predicted) and any(occur.values()):
            none = {"rows": rows, "split": split, "count": rows - found.num_without}
            is_shy = chosen is not None and chosen.helps  # for 0.5, not for its own thresholds
            said.append(
                (Sentence(_NONE_AT_HALF, none), "look") if is_shy else (Sentence(NO_ANSWER, none), "wrong")
            )
        elif never:
            said.append((on_never_predicted(never, sum(map(bool, occur.values()))), "look"))
        if chosen is not None:
            values = {"count": chosen.count, "total": len(occur), "chosen": chosen.micro_f1}
            template = _CHOSEN if chosen.helps else _NOT_CHOSEN
            said.append((Sentence(template, {**values, "usual": chosen.micro_f1_at_half}), "fine"))
        return said


def choose(targets: np.ndarray, answers: np.ndarray) -> dict[str, Any]:
    """Return the thresholds that are best on every second row, and what they are worth on the others.

    Returns: thresholds (C,); count: of labels with enough rows to choose one; micro_f1, macro_f1 and
    subset_accuracy on the other rows, those at 0.5 too; helps: whether they do better there.
    """
    thresholds = best_thresholds(targets[::2], answers[::2])
    truth, other = targets[1::2], answers[1::2]
    names = ("micro_f1", "macro_f1", "subset_accuracy")
    chosen, usual = (score_sets(truth, other >= one).summary for one in (thresholds, USUAL))
    return {
        "thresholds": thresholds.tolist(),
        "count": int((thresholds != USUAL).sum()),
        "helps": chosen["micro_f1"] >= usual["micro_f1"],
        **{name: chosen[name] for name in names},
        **{f"{name}_at_half": usual[name] for name in names},
        "num_examples": len(truth),
    }


def known_thresholds(labels: Sequence[str], info: Mapping[str, Any]) -> tuple[float, ...]:
    """Return the thresholds that a cloze.json has kept, or nothing."""
    found = info.get("thresholds")
    if not isinstance(found, dict) or not found:
        return ()
    values = [found.get(label, USUAL) for label in labels]
    good = all(type(value) in (int, float) and 0 <= value <= 1 for value in values)
    return tuple(map(float, values)) if good else ()


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]
