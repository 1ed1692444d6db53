"""How the members learned: blanks filled, one question to all, and held-out losses, those of one kind
together; by words read and by seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PySide6.QtWidgets import QStackedWidget, QWidget

from app import words
from app.look.labels import ElidedLabel, label
from app.look.layout import column, row, stacked
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import holder, named
from app.pages.family.fairness import MILLION
from app.plots.blank_curves import BlankCurvesPlot
from app.plots.loss_curves import LossCurvesPlot
from app.plots.run_curves import RunLine
from engine.family.curves import KINDS, Crossing, NotPassed, Point, blank_curves, crossings, looks, not_passed
from engine.family.members import ABOUT

LOW, HIGH = 120, 400  # px of a figure
LOW_PAGE = 660  # px, below which the figures leave more room to the scores
BLANKS = "blanks"  # the curves that all members have, beside KINDS
MOST_TOLD = 3  # crossings


class Learning(QWidget):
    """Which curves, and two figures of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report: Mapping[str, Any] = {}
        said = {
            BLANKS: (
                self.tr("Blanks"),
                self.tr("Share of held-out blanks filled, asked of all in training"),
            ),
            "next": (
                self.tr("Next word"),
                self.tr("Mean −log P of a word from its left; ELMo’s from each side"),
            ),
            "hidden": (self.tr("Hidden word"), self.tr("Mean −log P of a word from both its sides")),
            "drawn": (self.tr("Drawn words"), self.tr("Negative sampling: a word against five drawn ones")),
            "counts": (self.tr("Counts"), self.tr("Weighted squares of logarithms of counts")),
        }
        self.kinds = SegmentedButtons("family_losses", [(key, *said[key]) for key in (BLANKS, *KINDS)])
        self.said = ElidedLabel("", "muted")
        self.by_words = LossCurvesPlot(self.tr("Loss by words read"), self.tr("words read"))
        self.by_seconds = LossCurvesPlot(self.tr("Loss by seconds"), self.tr("seconds"))
        self.blanks_by_words = BlankCurvesPlot(self.tr("Blanks filled by words read"), self.tr("words read"))
        self.blanks_by_seconds = LossCurvesPlot(self.tr("Blanks filled by seconds"), self.tr("seconds"))
        self.plots = {
            "family_by_words": self.by_words,
            "family_by_seconds": self.by_seconds,
            "family_blanks_by_words": self.blanks_by_words,
            "family_blanks_by_seconds": self.blanks_by_seconds,
        }
        for name, plot in self.plots.items():
            named(plot, name)
            plot.set_empty_text(self.tr("No member of this family has such a loss."))
        for plot in (self.blanks_by_words, self.blanks_by_seconds):
            plot.set_empty_text(self.tr("This family was not asked for blanks while it was trained."))
        title = label(self.tr("Held-out text"), "card-title")
        self.views: QStackedWidget = stacked(
            holder(row((self.by_words, 1), (self.by_seconds, 1), gap=14)),
            holder(row((self.blanks_by_words, 1), (self.blanks_by_seconds, 1), gap=14)),
        )
        column(row(title, self.kinds, (self.said, 1), gap=12), self.views, gap=8, parent=self)
        self.kinds.chosen.connect(self._show)

    def set_report(self, report: Mapping[str, Any]) -> None:
        """Show the curves that a family's report keeps; blanks first, where they were asked."""
        if report != self._report:
            self.kinds.set_current(BLANKS if blank_curves(report) else next(iter(KINDS)))
        self._report = report
        self._show()

    def fit(self, room: int) -> None:
        """Let the figures be as high as fits a page of so many px."""
        for plot in self.plots.values():
            plot.setFixedHeight(min(HIGH, max(LOW, room // 3 - 20 if room > LOW_PAGE else room // 4 - 20)))

    def _show(self, _kind: str = "") -> None:
        kind = self.kinds.current
        self.views.setCurrentIndex(int(kind == BLANKS))
        self.said.setText(self.kinds.buttons[kind].toolTip())
        if kind == BLANKS:
            self._show_blanks()
            return
        names = [name for name in self._report.get("members", ()) if name in KINDS[kind]]
        found = {name: points for name in names if (points := looks(self._report, name))}
        for plot, part in ((self.by_words, "words"), (self.by_seconds, "seconds")):
            plot.set_lines([_line(name, points, part, "loss") for name, points in found.items()], "loss")

    def _show_blanks(self) -> None:
        if not self._report:
            return
        found, passed = blank_curves(self._report), crossings(self._report)
        metric = self.tr("blanks filled")
        self.blanks_by_words.show_curves(
            [_line(name, points, "words", "blanks") for name, points in found.items()],
            [(one.words, one.share) for one in passed],
            metric,
        )
        self.blanks_by_seconds.set_lines(
            [_line(name, points, "seconds", "blanks") for name, points in found.items()], metric
        )
        self.blanks_by_seconds.set_percent()
        told = [self.tr("First training.")] if self._report.get("trainings", 1) > 1 else []
        behind = not_passed(self._report)
        said = [
            *map(self._said, passed[:MOST_TOLD]),
            *([] if behind is None else [self._said_behind(behind)]),
        ]
        if said:
            self.said.setText(words.sentences([*told, *said]))

    def _said(self, one: Crossing) -> str:
        said = self.tr("{above} fills more blanks than {below} from about {count} M words on.")
        count = words.decimal(one.words / MILLION, 1 if one.words >= MILLION else 2)
        return said.format(above=ABOUT[one.above].said, below=ABOUT[one.below].said, count=count)

    def _said_behind(self, one: NotPassed) -> str:
        said = self.tr("BERT has not passed {above} with the {count} M words that it read.")
        return said.format(above=ABOUT[one.above].said, count=words.decimal(one.words / MILLION, 0))


def _line(name: str, points: tuple[Point, ...], at: str, value: str) -> RunLine:
    """Return a member's looks as a line. Args: at, value: parts of a look."""
    x, y = (np.array([getattr(point, part) for point in points], np.float64) for part in (at, value))
    return RunLine("", ABOUT[name].said, x, y, np.zeros(len(x)))
