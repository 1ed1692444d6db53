"""Which model is looked into: its box, what it can do, and a slider through the weights that its run kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.labels import PART, ElidedLabel, label
from app.look.layout import column, row
from app.pages.choose.model_box import ModelBox
from app.plots.history import HistoryPlot
from app.session import Session
from app.work.titles import answer_words, shape_words
from app.work.worker import Channel
from engine.events import Evaluated, Step
from engine.inspect.loaded_model import ModelSummary
from engine.train.run.kept import KeptWeights, history, run_of
from engine.train.run.runs import read_events

BOX_WIDTH = 220


@dataclass(frozen=True, slots=True)
class _History:
    """What a run kept. steps, losses: (N,) on held-out data, or while training where there is none."""

    folder: Path
    kept: tuple[KeptWeights, ...]
    steps: np.ndarray
    losses: np.ndarray


class SubjectBar(QWidget):
    """One row: the model, what it is, and the weights it kept while it learned."""

    checkpoint_changed = Signal(object)  # Path
    kept_changed = Signal()  # another run's weights, or none

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._inspector = session.inspector
        self._history_asked = Channel(self, session.workers.quick)
        self._kept: tuple[KeptWeights, ...] = ()
        self._seen: Path | None = None
        self.box = ModelBox("looking_model", self.tr("Model"), session)
        self.box.setPlaceholderText(self.tr("Choose a model"))
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.box.setFixedWidth(BOX_WIDTH)
        self.box.setToolTip(self.tr("The model that is looked into, on every page of this group"))
        self.about = ElidedLabel("", "muted")
        self.about.setObjectName("looking_about")
        self.history = HistoryPlot(self.tr("Weights kept while it learned"))
        self.history.setObjectName("looking_history")
        self.history.setToolTip(
            self.tr(
                "The loss of its run. A dot is where weights were kept: click one, or use the arrow keys."
            )
        )
        self.step = label("", "muted")
        self.step.setObjectName("looking_step")
        models = row(self.box, (self.about, 1), self.step, self.history, gap=10)
        column(models, self.box.refusal, gap=6, parent=self)
        self.box.chosen.connect(self._inspector.choose)
        self.history.chosen.connect(self._choose_kept)
        self._inspector.model_changed.connect(self.refresh)
        self._show_history(None)
        self.refresh()

    @property
    def kept(self) -> tuple[KeptWeights, ...]:
        """The weights that the model's run kept, the last one the result; none without such a run."""
        return self._kept

    def refresh(self) -> None:
        """Show the models there are and what is known of the one that is open."""
        inspector = self._inspector
        self.box.set_choice(inspector.folder)
        if inspector.about is not None:
            self.about.setText(about_words(inspector.about))
        elif inspector.is_opening:
            self.about.setText(self.tr("Opening…"))
        else:
            self.about.setText("")
        if inspector.about is not None and inspector.folder != self._seen:
            self._seen = inspector.folder
            self._read_history(inspector.about.folder)

    def choose_folder(self) -> None:
        """Ask for a model folder."""
        self.box.question.ask()

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
        self.history.setVisible(is_there)
        self.step.setVisible(is_there)
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


def about_words(about: ModelSummary) -> str:
    """Return a model in a line: size, what it answers, its fingerprint."""
    heads = words.counted(
        about.config.num_attention_heads,
        words.translate("looking_model", "1 head a layer"),
        words.translate("looking_model", "{count} heads a layer"),
    )
    can = {"masked_words": about.has_masked_words, "next_sentence": about.has_next_sentence}
    answers = [what for what, has in {**can, "labels": bool(about.labels)}.items() if has]
    said = answer_words(answers, len(about.labels))
    return PART.join((shape_words(about.config), heads, said, about.fingerprint))


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
