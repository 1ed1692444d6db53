"""The weights that a run kept while it learned: a slider through them, where the model in hand is of one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app import words
from app.look.labels import label
from app.look.layout import STRETCH, row
from app.plots.history import HistoryPlot
from app.session import Session
from app.work.worker import Channel
from engine.events import Evaluated, Step
from engine.train.run.kept import KeptWeights, history, run_of
from engine.train.run.runs import read_events


@dataclass(frozen=True, slots=True)
class _History:
    """What a run kept. steps, losses: (N,) on held-out data, or while training where there is none."""

    folder: Path
    kept: tuple[KeptWeights, ...]
    steps: np.ndarray
    losses: np.ndarray


class SubjectBar(QWidget):
    """One row: the weights that the model in hand kept while it learned; not there for other models."""

    checkpoint_changed = Signal(object)  # Path
    kept_changed = Signal()  # another run's weights, or none

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inspector = session.inspector
        self._history_asked = Channel(self, session.workers.quick)
        self._kept: tuple[KeptWeights, ...] = ()
        self._seen: Path | None = None
        self.history = HistoryPlot(self.tr("Weights kept during training"))
        self.history.setObjectName("looking_history")
        self.history.setToolTip(
            self.tr(
                "The loss of the training run. A dot marks kept weights: click one, or use the arrow keys."
            )
        )
        self.step = label("", "muted")
        self.step.setObjectName("looking_step")
        row(
            label(self.tr("Weights kept during training"), "muted"),
            STRETCH,
            self.step,
            self.history,
            gap=10,
            parent=self,
        )
        self.history.chosen.connect(self._choose_kept)
        self._inspector.model_changed.connect(self.refresh)
        self._show_history(None)
        self.refresh()

    @property
    def kept(self) -> tuple[KeptWeights, ...]:
        """The weights that the model's run kept, the last one the result; none without such a run."""
        return self._kept

    def refresh(self) -> None:
        """Show the weights of the run that the open model is of."""
        inspector = self._inspector
        if inspector.about is not None and inspector.folder != self._seen:
            self._seen = inspector.folder
            self._read_history(inspector.about.folder)

    # ---- the weights that were kept

    def _read_history(self, folder: Path) -> None:
        places = [one.path for one in self._kept]
        if folder in places:
            self._show_step(places.index(folder))
            return
        # a training may have gone on in it
        self._history_asked.ask(folder, partial(_history_of, folder), again=True, heard=self._show_history)

    def _show_history(self, found: _History | None) -> None:
        self._kept = found.kept if found is not None else ()
        is_there = len(self._kept) > 1
        self.setVisible(is_there)
        if found is None or not is_there:
            self._kept = ()
            self.kept_changed.emit()
            return
        places = [one.path for one in self._kept]
        place = places.index(found.folder) if found.folder in places else len(places) - 1
        self.history.set_history([one.step for one in self._kept], found.steps, found.losses, place)
        self._show_step(place)
        self.kept_changed.emit()

    def choose_step(self, step: int) -> None:
        """Look at the weights that were kept at this step, as a click on its dot does."""
        places = [place for place, one in enumerate(self._kept) if one.step == step]
        if places and places[-1] != self.history.current:
            self._choose_kept(places[-1])

    def _show_step(self, place: int) -> None:
        self.history.set_current(place)
        self.step.setText(self.tr("step {step}").format(step=words.number(self._kept[place].step)))

    def _choose_kept(self, place: int) -> None:
        path = self._kept[place].path
        self._show_step(place)
        self._inspector.choose(path)
        self.checkpoint_changed.emit(path)


def model_caption(name: str, fingerprint: str) -> list[tuple[str, str]]:
    """Return the lines of a caption that say which weights a picture is of."""
    return [
        (words.translate("looking_model", "model"), name),
        (words.translate("looking_model", "weights, sha256"), fingerprint),
    ]


def _history_of(folder: Path) -> _History:
    """Return what the run kept that a model is of; nothing where it is of none."""
    run = run_of(folder)
    kept = history(run) if run is not None else ()
    steps: list[float] = []
    losses: list[float] = []
    if run is not None and len(kept) > 1:
        events = [event for event in read_events(run) if isinstance(event, Evaluated | Step)]
        for kind in (Evaluated, Step):
            found = [event for event in events if isinstance(event, kind)]
            if len(found) > 2:
                steps = [float(one.step) for one in found]
                losses = [one.loss for one in found]
                break
    return _History(folder, kept, np.array(steps), np.array(losses))
