"""The losses of a chain's runs: a line for each stage, read back from files and drawn on while they train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import set_role
from app.pages.finetune.chain.requests import Place
from app.pages.finetune.chain.words import short_title
from app.plots.buttons import save_icon
from app.plots.run_curves import RunCurvesPlot, RunLine
from engine.events import Step
from engine.runs.curves import RunCurve, band_of, thinned

REDRAW_MS = 1000  # what the window takes, all training threads wait for
PRETRAINING, FINE_TUNING = "pretraining", "finetuning"
HEIGHT = 190  # px


class ChainCurves(QWidget):
    """The loss of masked words, or that of fine-tuning with its spread over the seeds."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "clear")
        self._stages: Sequence[str] = ()
        self._kept: dict[Place, RunCurve] = {}
        self._place: Place | None = None  # of the run under way
        self._steps: list[int] = []
        self._losses: list[float] = []
        self.choice = SegmentedButtons(
            "chain_curves",
            [
                (PRETRAINING, self.tr("Pretraining"), self.tr("The loss of masked words, slightly smoothed")),
                (FINE_TUNING, self.tr("Fine-tuning"), self.tr("Training loss, mean over the seeds")),
            ],
        )
        self.plot = RunCurvesPlot(self.tr("Loss of each stage"))
        self.plot.setObjectName("chain_curves_plot")
        self.plot.setMinimumHeight(HEIGHT)
        self._timer = QTimer(self, singleShot=True, interval=REDRAW_MS)
        self._timer.timeout.connect(self._draw)
        head = row(label(self.tr("Loss"), "card-title"), STRETCH, self.choice, save_icon(self.plot))
        column(head, (self.plot, 1), gap=4, parent=self)
        self.choice.chosen.connect(self._draw)

    def show_curves(self, stages: Sequence[str], curves: Mapping[Place, RunCurve]) -> None:
        """Show what the files tell; what is under way stays, and is drawn on."""
        self._stages, self._kept = stages, dict(curves)
        self._draw()

    def clear(self) -> None:
        """Forget all of a chain."""
        self._timer.stop()
        self._place, self._steps, self._losses = None, [], []
        self.show_curves((), {})

    def begin(self, place: Place) -> None:
        """A run begins: what is heard from now on is of it."""
        self._end_run()
        self._place = place
        kind = PRETRAINING if place[1] is None else FINE_TUNING
        if kind != self.choice.current:
            self.choice.set_current(kind)
        self._draw()

    def hear(self, steps: Sequence[Step]) -> None:
        """Take steps of the run under way."""
        self._steps += [step.step for step in steps]
        self._losses += [step.loss for step in steps]
        if not self._timer.isActive():
            self._timer.start()

    def flush(self) -> None:
        """Draw all that has been heard."""
        self._end_run()
        self._draw()

    def _end_run(self) -> None:
        """Keep what was heard of a run."""
        if self._place is not None and self._steps:
            self._kept[self._place] = self._live()
        self._place, self._steps, self._losses = None, [], []

    def _live(self) -> RunCurve:
        """Return the run under way: what its files knew before it went on, then what was heard."""
        steps, losses = np.array(self._steps, np.float64), np.array(self._losses, np.float64)
        before = self._kept.get(self._place) if self._place is not None else None
        if before is not None and before.size:
            earlier = before.steps < steps[0]
            steps = np.concatenate([before.steps[earlier], steps])
            losses = np.concatenate([before.mean[earlier], losses])
        return thinned(steps, losses)

    def _draw(self, _choice: str = "") -> None:
        self._timer.stop()
        curves = dict(self._kept)
        if self._place is not None and self._steps:
            curves[self._place] = self._live()
        is_pretraining = self.choice.current == PRETRAINING
        lines = []
        for number, stage in enumerate(self._stages):
            own = [
                curve
                for (name, seed), curve in curves.items()
                if name == stage and (seed is None) == is_pretraining and curve.size
            ]
            band = band_of(own)
            if len(band.steps):
                lines.append(RunLine("", short_title(stage), band.steps, band.mean, band.spread, number))
        self.plot.set_empty_text(
            self.tr("A line appears here for each stage that is pretrained.")
            if is_pretraining
            else self.tr("A line appears here for each stage once its fine-tuning has begun.")
        )
        self.plot.set_lines(lines, self.tr("loss"))
