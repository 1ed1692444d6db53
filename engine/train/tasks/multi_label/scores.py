"""How good several answers a row are: label by label, all together, and at which threshold each is best.

All of it equals scikit-learn; a share of nothing is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.train.metrics import share
from engine.train.tasks.multi_label.details import USUAL

# E examples, C labels

LEAST_ROWS = 10  # with a label, and without it, from which its threshold is chosen
CURVE_POINTS = 25  # of a label's curve, at most


@dataclass(frozen=True)
class SetScores:
    """Scores of answers that are sets. precision, recall, f1, support, predicted: (C,) each."""

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    support: np.ndarray
    predicted: np.ndarray
    summary: dict[str, float]


def score_sets(targets: np.ndarray, answered: np.ndarray) -> SetScores:
    """Compare (E, C) true and answered labels, True where a row has one.

    micro: over all labels of all rows together. macro: the mean over labels. subset_accuracy: the share of
    rows whose labels are all right and none too many.
    """
    targets, answered = targets.astype(bool), answered.astype(bool)
    hits = (targets & answered).sum(0).astype(float)
    support, predicted = targets.sum(0), answered.sum(0)
    f1 = share(2 * hits, support + predicted)
    micro = share(
        np.array([hits.sum(), hits.sum(), 2 * hits.sum()]),
        np.array([predicted.sum(), support.sum(), support.sum() + predicted.sum()]),
    )
    summary = {
        "micro_f1": float(micro[2]),
        "macro_f1": float(f1.mean()) if len(f1) else 0.0,
        "subset_accuracy": float((targets == answered).all(1).mean()) if len(targets) else 0.0,
        "micro_precision": float(micro[0]),
        "micro_recall": float(micro[1]),
    }
    return SetScores(share(hits, predicted), share(hits, support), f1, support, predicted, summary)


def best_thresholds(targets: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return (C,), the threshold at which each label's F1 is best; USUAL for a label of too few rows.

    It lies midway between two probabilities; of equally good ones it is the nearest to USUAL.

    Args: targets, answers: (E, C) true labels and probabilities.
    """
    found = np.full(targets.shape[1], USUAL)
    for label in range(targets.shape[1]):
        truth, scores = targets[:, label].astype(bool), answers[:, label].astype(float)
        if min(int(truth.sum()), int((~truth).sum())) < LEAST_ROWS:
            continue
        order = np.argsort(-scores, kind="stable")
        scores, hits = scores[order], np.cumsum(truth[order])
        cuts = np.flatnonzero(np.append(scores[1:] < scores[:-1], True))  # the last row that is taken
        f1 = 2 * hits[cuts] / (cuts + 1 + truth.sum())
        middles = (scores[cuts] + np.append(scores, 0.0)[cuts + 1]) / 2
        best = np.flatnonzero(f1 == f1.max())
        found[label] = middles[best[np.abs(middles[best] - USUAL).argmin()]]
    return found


def precision_recall(truth: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return precision, recall and threshold, falling, at each different probability: (P,) each.

    Args: truth, scores: (E,) whether a row has the label, and its probability.
    """
    order = np.argsort(-scores, kind="stable")
    scores, hits = scores[order].astype(float), np.cumsum(truth.astype(bool)[order])
    cuts = np.flatnonzero(np.append(scores[1:] < scores[:-1], True)) if len(scores) else np.zeros(0, int)
    hits = hits[cuts].astype(float)
    total = np.full(len(cuts), float(truth.sum()))
    return share(hits, cuts + 1.0), share(hits, total), scores[cuts]


def average_precision(precision: np.ndarray, recall: np.ndarray) -> float:
    """Return the area under a curve of `precision_recall`, as steps."""
    return float(np.diff(recall, prepend=0.0) @ precision) if len(recall) else 0.0


def thinned(points: int, most: int = CURVE_POINTS) -> np.ndarray:
    """Return places of a curve's points, evenly spread, the first and the last among them."""
    return np.unique(np.linspace(0, points - 1, min(points, most)).round().astype(int))
