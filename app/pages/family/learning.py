"""How the members learned: held-out losses by words read and by seconds, those of one kind together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look.labels import ElidedLabel, label
from app.look.layout import column, row
from app.look.segmented_buttons import SegmentedButtons
from app.plots.loss_curves import LossCurvesPlot
from app.plots.run_curves import RunLine
from engine.family.curves import KINDS, looks
from engine.family.members import ABOUT

LOW, HIGH = 120, 400  # px of a figure
LOW_PAGE = 660  # px, below which the figures leave more room to the scores


class Learning(QWidget):
    """Which kind of loss, and two figures of it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report: Mapping[str, Any] = {}
        said = {
            "next": (
                self.tr("Next word"),
                self.tr("Mean −log P of a word from its left; ELMo’s from each side"),
            ),
            "hidden": (self.tr("Hidden word"), self.tr("Mean −log P of a word from both its sides")),
            "drawn": (self.tr("Drawn words"), self.tr("Negative sampling: a word against five drawn ones")),
            "counts": (self.tr("Counts"), self.tr("Weighted squares of logarithms of counts")),
        }
        self.kinds = SegmentedButtons("family_losses", [(key, *said[key]) for key in KINDS])
        self.said = ElidedLabel("", "muted")
        self.by_words = LossCurvesPlot(self.tr("Loss by words read"), self.tr("words read"))
        self.by_seconds = LossCurvesPlot(self.tr("Loss by seconds"), self.tr("seconds"))
        for plot, name in ((self.by_words, "family_by_words"), (self.by_seconds, "family_by_seconds")):
            plot.setObjectName(name)
            plot.set_empty_text(self.tr("No member of this family has such a loss."))
        title = label(self.tr("Held-out loss"), "card-title")
        column(
            row(title, self.kinds, (self.said, 1), gap=12),
            row((self.by_words, 1), (self.by_seconds, 1), gap=14),
            gap=8,
            parent=self,
        )
        self.kinds.chosen.connect(self._show)

    def set_report(self, report: Mapping[str, Any]) -> None:
        """Show the curves that a family's report keeps."""
        self._report = report
        self._show()

    def fit(self, room: int) -> None:
        """Let the figures be as high as fits a page of so many px."""
        for plot in (self.by_words, self.by_seconds):
            plot.setFixedHeight(min(HIGH, max(LOW, room // 3 - 20 if room > LOW_PAGE else room // 4 - 20)))

    def _show(self, _kind: str = "") -> None:
        kind = self.kinds.current
        names = [name for name in self._report.get("members", ()) if name in KINDS[kind]]
        found = {name: points for name in names if (points := looks(self._report, name))}
        for plot, part in ((self.by_words, "words"), (self.by_seconds, "seconds")):
            lines = []
            for name, points in found.items():
                at = np.array([getattr(point, part) for point in points], dtype=np.float64)
                losses = np.array([point.loss for point in points])
                lines.append(RunLine("", ABOUT[name].said, at, losses, np.zeros(len(at))))
            plot.set_lines(lines, "loss")
        self.said.setText(self.kinds.buttons[kind].toolTip())
