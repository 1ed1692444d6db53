"""The scores of labels that stand side by side, each with the threshold from which it is answered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from app import words
from app.look.rows_model import TableColumn
from app.pages.tasks.classification.scores import LabelRow, LabelScores
from engine.events import Evaluated
from engine.train.metrics import ClassScores, share
from engine.train.tasks.multi_label.details import set_details


@dataclass(frozen=True)
class SideBySide(ClassScores):
    """Scores of labels that do not exclude each other, so that nothing is taken for something else.

    thresholds: (C,).
    """

    thresholds: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of(cls, event: Evaluated) -> SideBySide:
        """Take them from an evaluation."""
        nothing, found = (0.0, 0.0, 0.0, 0), set_details(event.details, event.labels)
        figures = [event.per_label.get(label, nothing) for label in event.labels]
        precision, recall, f1, support = np.array(figures, float).reshape(-1, 4).T
        hits, counts = np.rint(recall * support).astype(np.int64), support.astype(np.int64)
        answered, thresholds = np.array(found.predicted, np.int64), np.array(found.thresholds)
        return cls(hits, counts, answered, precision, recall, f1, thresholds=thresholds)

    def summary(self) -> dict[str, float]:
        """Return the means of the labels: each counts alike (macro), or as often as it occurs (weighted)."""
        found: dict[str, float] = {}
        weights = share(self.support, np.maximum(self.support.sum(), 1))
        for name, values in (("precision", self.precision), ("recall", self.recall), ("f1", self.f1)):
            found[f"macro_{name}"] = float(values.mean()) if len(values) else 0.0
            found[f"weighted_{name}"] = float(weights @ values)
        return found


class ThresholdScores(LabelScores):
    """A row for each label, with its threshold at the end."""

    def make_columns(self) -> tuple[TableColumn, ...]:
        said = self.tr("The probability from which the label is given.")
        return (*super().make_columns(), self.figure(self.tr("From"), "threshold", said))

    def row_of(self, name: str, place: int, scores: ClassScores) -> LabelRow:
        assert isinstance(scores, SideBySide)
        return replace(super().row_of(name, place, scores), threshold=float(scores.thresholds[place]))

    def sums(self, scores: ClassScores) -> tuple[int, int]:
        return int(scores.support.sum()), int(scores.num_predicted.sum())


def curve_of(event: Evaluated, label: str) -> tuple[np.ndarray, list[str], int] | None:
    """Return the (P, 2) points of a label's recall and precision, what is said of each, and which of them
    lies at its threshold; None where no curve was kept.
    """
    found = set_details(event.details, event.labels)
    curve = found.curves.get(label)
    if curve is None:
        return None
    points, at = np.array([curve.recall, curve.precision]).T, np.array(curve.threshold)
    threshold_of = dict(zip(event.labels, found.thresholds, strict=True))
    template = words.translate("LabelCurve", "from {threshold}: precision {precision}, recall {recall}")
    said = [
        template.format(
            threshold=words.decimal(threshold, 2),
            precision=words.score(precision),
            recall=words.score(recall),
        )
        for threshold, (recall, precision) in zip(at.tolist(), points.tolist(), strict=True)
    ]
    taken = np.flatnonzero(at >= threshold_of[label])
    return points, said, int(taken[-1]) if len(taken) else -1
