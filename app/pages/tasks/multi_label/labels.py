"""The scores of labels that stand side by side, each with the threshold from which it is answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, Qt

from app import words
from app.look.labels import tip
from app.pages.tasks.classification.scores import MIDDLE, NUM_COLUMNS, PREDICTED, Index, LabelScores
from engine.events import Evaluated
from engine.train.metrics import ClassScores, share
from engine.train.tasks.multi_label.details import set_details

THRESHOLD = NUM_COLUMNS


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

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        return 0 if parent.isValid() else NUM_COLUMNS + 1

    def _column(self, column: int) -> np.ndarray:
        return self._thresholds() if column == THRESHOLD else super()._column(column)

    def _thresholds(self) -> np.ndarray:
        assert isinstance(self._scores, SideBySide)
        return self._scores.thresholds

    def value(self, row: int, column: int) -> str | float | int:
        if column == THRESHOLD and row >= len(self._names):
            return ""
        if column == PREDICTED and row >= len(self._names):
            assert self._scores is not None
            return int(self._scores.num_predicted.sum())
        return super().value(row, column)

    def label_at(self, row: int) -> str:
        """Return the label of a row; "" of a mean."""
        place = self.place_at(row)
        return self._names[place] if place >= 0 else ""

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if section != THRESHOLD or orientation != Qt.Orientation.Horizontal:
            return super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return self.tr("From")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | MIDDLE
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self.tr("The probability from which the label is given."))
        return None


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
