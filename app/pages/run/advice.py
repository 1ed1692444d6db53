"""What a careful colleague would say while a model learns: remarks in plain words, made from events alone.

It draws nothing and knows no session, so that every remark can be tested without a window. A child class
knows what is learned: it takes in steps and evaluations, and says what follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.pages.advice.remark import AdviceLine, in_order
from app.words import duration, number, say
from app.work.titles import run_title
from engine.errors import Sentence
from engine.events import Evaluated, Event, Finished, Noted, Pinned, Started, Step
from engine.train.run.mirrored import host_of
from engine.train.run.runs import CHECKPOINTS, MODEL
from engine.train.watchdog import NO_NUMBER

translate = QCoreApplication.translate


class RunAdvice:
    """Hears a run's events and keeps the remarks that follow from them."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the run before."""
        self.started: Started | None = None
        self.finished: Finished | None = None
        self.is_over = False  # the run has ended, however it did
        self._notes: dict[str, AdviceLine] = {}
        self._nan_step = 0

    @property
    def has_nan(self) -> bool:
        """Whether the loss has ceased to be a number."""
        return bool(self._nan_step)

    def hear(self, events: Sequence[Event]) -> None:
        """Take in what a run says."""
        for event in events:
            match event:
                case Step():
                    if not math.isfinite(self.loss_of(event)):
                        self._nan_step = self._nan_step or event.step
                    self.take_step(event)
                case Evaluated():
                    self.take_evaluation(event)
                case Pinned():
                    self.take_pinned(event)
                case Started():
                    self.started = event
                case Finished():
                    self.finished = event
                case Noted():
                    remark = AdviceLine(event.level, say(event.sentence))
                    self._notes[self.note_key(event.sentence)] = remark

    def remarks(self) -> list[AdviceLine]:
        """Return all remarks, the most pressing first."""
        return in_order([*self._on_nan(), *self.on_learning(), *self.notes(), *self.on_data()])

    def result_words(self) -> str:
        """Return the line about the best so far, or the result; empty before there is one."""
        return ""

    def loss_of(self, step: Step) -> float:
        """Return the loss that the advice is about."""
        return step.loss

    def take_step(self, step: Step) -> None:
        """Take in a step."""

    def take_evaluation(self, event: Evaluated) -> None:
        """Take in an evaluation."""

    def take_pinned(self, event: Pinned) -> None:
        """Take in what the pinned sentences were answered."""

    def note_key(self, sentence: Sentence) -> str:
        """Return what a note of the run is kept under: it replaces the one before with the same key."""
        return str(sentence)

    def notes(self) -> Sequence[AdviceLine]:
        """Return what the run has said of itself, as far as it still matters."""
        return list(self._notes.values())

    def has_noted(self, template: str) -> bool:
        """Whether the run has said this of itself; what it says itself is not said again."""
        return template in self._notes

    def on_learning(self) -> Iterator[AdviceLine]:
        """Say how the model learns."""
        yield from ()

    def on_data(self) -> Iterator[AdviceLine]:
        """Say what is known of the data before a run; of its own data a run says itself what it found."""
        yield from ()

    def _on_nan(self) -> Iterator[AdviceLine]:
        if self._nan_step and not self.has_noted(NO_NUMBER):
            text = translate(
                "RunAdvice",
                "The loss has not been a number since step {step}. Try a lower learning rate. "
                "The last good checkpoint is kept.",
            )
            yield AdviceLine("wrong", text.format(step=number(self._nan_step)))


def outcome_words(outcome: str, run_dir: Path | None, seconds: float) -> str:
    """Return how a run ended, in one sentence; `seconds` is 0 where that is not known."""
    name = run_title(run_dir) if run_dir else ""
    host = host_of(run_dir) if run_dir is not None else ""
    if host and run_dir is not None and not (run_dir / MODEL / "config.json").is_file():
        text = _there_words(outcome)
    elif outcome == "finished":
        text = translate("RunAdvice", "Finished in {duration}. The model is in {name}.")
        if not seconds:
            text = translate("RunAdvice", "Finished. The model is in {name}.")
    elif outcome == "running":
        text = translate(
            "RunAdvice", "It runs in another process. This is what its files in {name} show so far."
        )
    elif not has_learned(run_dir):
        text = translate("RunAdvice", "It ended before anything was saved.")
        if outcome == "stopped":
            text = translate("RunAdvice", "It was stopped before it had learned anything.")
    elif outcome == "stopped":
        text = translate("RunAdvice", "Stopped and kept after {duration}. The run is in {name}.")
        if not seconds:
            text = translate("RunAdvice", "Stopped and kept. The run is in {name}.")
    else:
        text = translate("RunAdvice", "It ended early. What was saved before is in {name}.")
    return text.format(duration=duration(seconds), name=name, host=host)


def _there_words(outcome: str) -> str:
    """Return how a run of another computer stands whose weights are not here; `host` is to be put in."""
    if outcome == "finished":
        return translate("RunAdvice", "Finished. What it learned is still on {host} only.")
    if outcome == "stopped":
        return translate("RunAdvice", "Stopped and kept. What it learned is still on {host} only.")
    if outcome == "running":
        return translate("RunAdvice", "It trains on {host}. This is what was heard of it so far.")
    return translate("RunAdvice", "It ended early. What was saved before is on {host}.")


def has_learned(run_dir: Path | None) -> bool:
    """Whether a run has saved more than the weights it began with."""
    if run_dir is None:
        return False
    checkpoints = (path.name for path in (run_dir / CHECKPOINTS).glob("step-*"))
    has_model = (run_dir / MODEL / "config.json").is_file()
    return has_model or any(name != "step-00000000" for name in checkpoints)
