"""Counting right and wrong: the confusion matrix and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# C classes, E examples


@dataclass(frozen=True)
class ClassScores:
    """Scores of a classifier. Precision, recall and F1 of a class that never occurs are 0, as in
    scikit-learn.

    confusion: (C, C) int64, a row for each true label, a column for each predicted one. precision, recall,
    f1: (C,).
    """

    confusion: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray

    @property
    def support(self) -> np.ndarray:
        """(C,) true examples of each class."""
        return np.asarray(self.confusion.sum(1))

    def summary(self) -> dict[str, float]:
        """Return accuracy and the means over classes that occur or were predicted."""
        present = (self.confusion.sum(0) + self.confusion.sum(1)) > 0
        total = max(int(self.confusion.sum()), 1)
        return {
            "accuracy": float(np.trace(self.confusion) / total),
            "macro_precision": _mean(self.precision[present]),
            "macro_recall": _mean(self.recall[present]),
            "macro_f1": _mean(self.f1[present]),
        }


def score_classes(targets: np.ndarray, predictions: np.ndarray, num_classes: int) -> ClassScores:
    """Compare (E,) true and predicted class numbers."""
    cells = np.bincount(targets * num_classes + predictions, minlength=num_classes**2)
    confusion = cells.reshape(num_classes, num_classes).astype(np.int64)
    hits = np.diag(confusion).astype(float)
    precision = _share(hits, confusion.sum(0))
    recall = _share(hits, confusion.sum(1))
    f1 = _share(2 * hits, confusion.sum(0) + confusion.sum(1))
    return ClassScores(confusion, precision, recall, f1)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0
