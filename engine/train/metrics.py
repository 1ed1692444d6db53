"""Counting right and wrong: the confusion matrix and what follows from it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Protocol

import numpy as np

from engine.errors import Sentence, marked, some_of

NORMAL_95 = 1.959963984540054  # the normal distribution holds 95 % between plus and minus this
# the same of Student's t for 1 to 9 degrees of freedom
STUDENT_95 = (12.70620474, 4.30265273, 3.18244631, 2.77644511, 2.57058184, 2.44691185, 2.36462425, 2.30600414,
              2.26215716)  # fmt: skip

LEAST_SEEDS = 3  # of two nobody can tell what a third would give: their t is 12.7
_NO_SPREAD = 1e-12  # of a mean of equal shares: what rounding in float64 leaves
ANSWERED = "answered"  # in details: how often each class was, where there is no confusion matrix
_EXACT_DIGITS = 12  # to which a number is what it was computed as, up to the last bits
_LARGEST_ROUNDED = 1e12
MOST_CONFUSED = 1000  # classes; of more, no line of a run holds which was taken for which

# of rows that are right: an interval follows from their number alone
SHARES = ("accuracy", "subset_accuracy", "exact_match")
CORRELATIONS = ("pearson", "spearman")  # from -1 on

METRIC_NAMES = (  # all measures, by which a translation calls them
    marked("metric", "accuracy"),
    marked("metric", "token_accuracy"),
    marked("metric", "subset_accuracy"),
    marked("metric", "sentence_accuracy"),
    marked("metric", "unchanged_accuracy"),
    marked("metric", "mlm_accuracy"),
    marked("metric", "nsp_accuracy"),
    marked("metric", "macro_f1"),
    marked("metric", "weighted_f1"),
    marked("metric", "micro_f1"),
    marked("metric", "micro_f1_at_half"),
    marked("metric", "f1"),
    marked("metric", "precision"),
    marked("metric", "recall"),
    marked("metric", "macro_precision"),
    marked("metric", "macro_recall"),
    marked("metric", "weighted_precision"),
    marked("metric", "weighted_recall"),
    marked("metric", "micro_precision"),
    marked("metric", "micro_recall"),
    marked("metric", "entity_precision"),
    marked("metric", "entity_recall"),
    marked("metric", "entity_f1"),
    marked("metric", "entity_f1_strict"),
    marked("metric", "average_precision"),
    marked("metric", "exact_match"),
    marked("metric", "has_answer_f1"),
    marked("metric", "no_answer_f1"),
    marked("metric", "has_answer_exact"),
    marked("metric", "no_answer_exact"),
    marked("metric", "correction_precision"),
    marked("metric", "correction_recall"),
    marked("metric", "correction_f1"),
    marked("metric", "detection_precision"),
    marked("metric", "detection_recall"),
    marked("metric", "detection_f1"),
    marked("metric", "place_correction_precision"),
    marked("metric", "place_correction_recall"),
    marked("metric", "place_correction_f1"),
    marked("metric", "place_detection_precision"),
    marked("metric", "place_detection_recall"),
    marked("metric", "place_detection_f1"),
    marked("metric", "false_positive_rate"),
    marked("metric", "pearson"),
    marked("metric", "spearman"),
    marked("metric", "r2"),
    marked("metric", "mse"),
    marked("metric", "mae"),
    marked("metric", "loss"),
    marked("metric", "mlm_loss"),
    marked("metric", "nsp_loss"),
    marked("metric", "perplexity"),
)

# C classes, E examples


@dataclass(frozen=True)
class ClassScores:
    """Scores of a classifier. Precision, recall and F1 of a class that never occurs are 0, as in
    scikit-learn.

    hits, support, num_predicted: (C,) int64, how often each class is rightly answered, true, answered.
    precision, recall, f1: (C,). confusion: (C, C) int64, a row for each true label, a column for each
    predicted one; None of more than MOST_CONFUSED.
    """

    hits: np.ndarray
    support: np.ndarray
    num_predicted: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray
    confusion: np.ndarray | None = None

    @property
    def majority(self) -> tuple[int, float]:
        """The commonest class, and the accuracy of always answering it: what any model must beat."""
        support = self.support
        most = int(support.argmax())
        return most, float(support[most] / max(int(support.sum()), 1))

    def summary(self) -> dict[str, float]:
        """Return accuracy, the means over classes that occur or were predicted (macro), and the means in
        which a class counts as often as it occurs (weighted).
        """
        present = (self.support + self.num_predicted) > 0
        total = max(int(self.support.sum()), 1)
        weights = self.support / total
        return {
            "accuracy": float(self.hits.sum() / total),
            "macro_precision": _mean(self.precision[present]),
            "macro_recall": _mean(self.recall[present]),
            "macro_f1": _mean(self.f1[present]),
            "weighted_precision": float(weights @ self.precision),
            "weighted_recall": float(weights @ self.recall),
            "weighted_f1": float(weights @ self.f1),
        }


def scores_of_counts(
    hits: np.ndarray, support: np.ndarray, num_predicted: np.ndarray, confusion: np.ndarray | None = None
) -> ClassScores:
    """Return the scores that follow from (C,) counts."""
    precision, recall = share(hits, num_predicted), share(hits, support)
    f1 = share(2 * hits, num_predicted + support)
    return ClassScores(hits, support, num_predicted, precision, recall, f1, confusion)


def score_classes(targets: np.ndarray, predictions: np.ndarray, num_classes: int) -> ClassScores:
    """Compare (E,) true and predicted class numbers."""
    if num_classes <= MOST_CONFUSED:
        cells = np.bincount(targets * num_classes + predictions, minlength=num_classes**2)
        return class_scores(cells.reshape(num_classes, num_classes))
    counted = (targets[targets == predictions], targets, predictions)
    return scores_of_counts(*(np.bincount(each, minlength=num_classes) for each in counted))


def class_scores(confusion: np.ndarray) -> ClassScores:
    """Return the scores that follow from (C, C) counts, a row for each true class."""
    confusion = np.asarray(confusion, np.int64)
    return scores_of_counts(np.diag(confusion), confusion.sum(1), confusion.sum(0), confusion)


def beats_majority(hits: int, support: np.ndarray) -> bool:
    """Whether an accuracy is better than always answering the commonest class, and not by chance: its 95 %
    interval begins above. Args: hits: rows that are right. support: (C,) how often each class is true.
    """
    rows = int(support.sum())
    return rows > 0 and wilson_interval(hits, rows)[0] > float(support.max()) / rows


class MeasuredScores(Protocol):
    """What an evaluation found, as it is measured and as a run tells of it."""

    @property
    def confusion(self) -> np.ndarray | None: ...

    @property
    def per_label(self) -> Mapping[str, tuple[float, float, float, int]] | None: ...

    @property
    def details(self) -> Mapping[str, Any]: ...


def scores_of(found: MeasuredScores, labels: Sequence[str]) -> ClassScores | None:
    """Return the scores of classes that an evaluation tells of; None of another task."""
    if found.confusion is not None:
        return class_scores(found.confusion)
    answered, per_label = found.details.get(ANSWERED), found.per_label or {}
    if not isinstance(answered, list) or not len(answered) == len(labels) == len(per_label):
        return None
    _, recall, _, support = np.array([per_label[label] for label in labels]).T
    counts = np.rint(recall * support), support, np.array(answered)
    return scores_of_counts(*(each.astype(np.int64) for each in counts))


ONE_ANSWER = marked(
    "engine",
    "The model predicts {label} for all {rows} {split} rows, though they carry "
    "{count} labels. It does not distinguish them.",
)
_NEVER = marked("engine", "Labels that occur and are never predicted: {labels} ({count} of {total}).")
_MOST_NAMES = 5


def notes_on(labels: Sequence[str], scores: ClassScores, split: str) -> list[Sentence]:
    """Return what a score hides: that one class only is predicted, or that some never are.

    Args: split: "validation" or "test". Nothing is said of rows that carry one label only.
    """
    occur, predicted = np.flatnonzero(scores.support), np.flatnonzero(scores.num_predicted)
    if len(occur) < 2:
        return []
    if len(predicted) == 1:
        values = {
            "label": labels[int(predicted[0])][:80],
            "rows": int(scores.support.sum()),
            "split": split,
            "count": len(occur),
        }
        return [Sentence(ONE_ANSWER, values)]
    never = [labels[place] for place in occur.tolist() if not scores.num_predicted[place]]
    return [on_never_predicted(never, len(occur))] if never else []


def on_never_predicted(labels: Sequence[str], total: int) -> Sentence:
    """Return what to say of labels that nobody predicts. Args: total: of labels that occur."""
    names = some_of([label[:40] for label in labels], _MOST_NAMES)
    return Sentence(_NEVER, {"count": len(labels), "total": total, "labels": names})


def wilson_interval(hits: float, total: int, z: float = NORMAL_95) -> tuple[float, float]:
    """Return the 95 % interval of a share of which `hits` of `total` were seen; 0 to 1 where nothing was.

    It never leaves 0 to 1, and holds for few rows and for shares near 0 or 1, where the normal one does not.
    Args: z: what the normal distribution's level is, where that is not 95 %.
    Source: Wilson 1927; scipy's binomtest(...).proportion_ci(method="wilson").
    """
    if total <= 0:
        return 0.0, 1.0
    share, squared = hits / total, z**2
    middle = (share + squared / (2 * total)) / (1 + squared / total)
    half = z / (1 + squared / total)
    half *= math.sqrt(max(0.0, share * (1 - share)) / total + squared / (4 * total**2))
    return (0.0 if hits <= 0 else middle - half), (1.0 if hits >= total else middle + half)


def student_interval(mean: float, error: float, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a mean of `count` values, at least 2, whose standard error is `error`.

    Source: Student 1908; above 9 degrees of freedom the expansion of Fisher and Cornish 1960, right to 1e-4.
    """
    freedom, z = count - 1, NORMAL_95
    if freedom <= len(STUDENT_95):
        width = STUDENT_95[freedom - 1]
    else:
        width = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        width += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    return mean - width * error, mean + width * error


def error_over_seeds(
    values: Sequence[float], rows: int = 0, *, num_scores: int = 1, shared: float = 0.0
) -> float | None:
    """Return the standard error of a mean over seeds; None where they do not tell: below LEAST_SEEDS, and
    where all are equal and nobody knows how fine their score is.

    A score of `rows` texts moves in steps of one text, and seeds that tie by it may lie up to a half of one
    apart. So the error is never less than that of this rounding.

    Args: num_scores: how many scores each value is made of, 2 for a difference. shared: held-out rows for
          each row to train on, where each seed holds out other ones: such scores are no independent ones, for
          the rows to train on are partly the same. Source: Nadeau and Bengio 2003.
    """
    if len(values) < LEAST_SEEDS:
        return None
    error = statistics.stdev(values) * math.sqrt(1 / len(values) + shared)
    if rows > 0:
        return max(error, math.sqrt(num_scores / (12 * len(values))) / rows)
    return error if error > _NO_SPREAD else None


def mean_interval(
    values: Sequence[float], rows: int = 0, metric: str = "", shared: float = 0.0
) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean of scores, one for each seed; None as `error_over_seeds`.

    Args: shared: as there.
    """
    error = error_over_seeds(values, rows, shared=shared)
    if error is None:
        return None
    low, high = student_interval(statistics.fmean(values), error, len(values))
    return max(-1.0 if metric in CORRELATIONS else 0.0, low), min(1.0, high)


def interval_so_far(
    values: Sequence[float], rows: int, metric: str, shared: float = 0.0
) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean of scores while runs go on: below LEAST_SEEDS that of the rows
    alone (Wilson's), of a metric that is a share of them; then `mean_interval`.
    """
    if len(values) >= LEAST_SEEDS or metric not in SHARES or not rows or not values:
        return mean_interval(values, rows, metric, shared)
    return wilson_interval(statistics.fmean(values) * rows, rows)


def share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return how much of each whole its part is; 0 of nothing."""
    part = np.asarray(part, float)
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0))


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0


def rounded(x: float, digits: int) -> float:
    """Return a number with so many digits, halves away from 0, as people round: 0.7625 is 0.763 and 76.25 is
    76.3, though the one is stored as a little less.
    """
    if not abs(x) < _LARGEST_ROUNDED:
        return float(x)
    exact = Decimal(repr(round(float(x), _EXACT_DIGITS)))
    return float(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)) + 0.0  # never -0


def written(value: float) -> str:
    """Return a measure with four decimals; one of a small unit with three digits."""
    return f"{value:.4f}" if not value or abs(value) >= 0.01 else f"{value:.3g}"
