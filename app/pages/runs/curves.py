"""The card of curves: what is ticked, laid over one another."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import Card
from app.pages.runs.requests import CurveLine
from app.pages.runs.rows import metric_words
from app.plots.run_curves import RunCurvesPlot, RunLine
from engine.runs.curves import LOSS, SCORE


class CurvesCard(Card):
    """Loss of training, or the score on validation rows, of all that is ticked."""

    wanted = Signal()  # other curves

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("runs_curves_card")
        self.set_title(self.tr("Curves"))
        self.choice = SegmentedButtons(
            "runs_curves",
            [
                (LOSS, self.tr("Loss"), self.tr("The training loss, lightly smoothed")),
                (SCORE, self.tr("Score"), self.tr("The score on validation rows, at each evaluation")),
            ],
        )
        self.plot = RunCurvesPlot(self.tr("Curves of runs"))
        self.plot.setObjectName("runs_curves_plot")
        self.plot.setMinimumHeight(120)
        self.add_corner(self.choice)
        self.add_corner(self.plot.save_button())
        self.add(self.plot, 1)
        self.choice.chosen.connect(self.wanted)

    def show_reading(self, share: float) -> None:
        """Say that files are read."""
        self.set_hint(self.tr("reading {share}").format(share=words.share(share, 0)))

    def show_drawn(self, drawn: Sequence[CurveLine], metric: str) -> None:
        """Draw what was read."""
        seeds = max((one.num_runs for one in drawn), default=0)
        self.set_hint(
            self.tr("mean and spread over up to {count} seeds").format(count=seeds) if seeds > 1 else ""
        )
        lines = [RunLine(one.letter, one.name, one.steps, one.mean, one.spread) for one in drawn]
        is_loss = self.choice.current == LOSS
        self.plot.set_empty_text(
            self.tr("These runs wrote no loss.")
            if is_loss
            else self.tr("These runs were not measured during training.")
        )
        self.plot.set_lines(lines, self.tr("loss") if is_loss else metric_words(metric))

    def show_refusal(self, text: str) -> None:
        """Say why there is nothing to draw."""
        self.set_hint("")
        self.plot.set_empty_text(text)
        self.plot.set_lines((), "")
