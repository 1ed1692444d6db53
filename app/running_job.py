"""What runs now, for the bar over the pages and the status bar: one job, its words, how far it is."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QProgressBar

from app import words
from app.page_stack import training_page
from app.session import Session
from app.work.queue import queue_words
from app.work.training_state import TrainingState

SCALE = 1000


@dataclass(frozen=True, slots=True)
class RunningJob:
    """name: in two words. words: all that is said of it. page: where it is shown, "": nowhere of its own.

    done, total: how far it is; total 0: nobody knows.
    """

    name: str
    words: str
    page: str = ""
    done: int = 0
    total: int = 0

    def show_in(self, bar: QProgressBar) -> None:
        """Show how far it is."""
        bar.setRange(0, self.total)
        bar.setValue(self.done)


def running_job(session: Session) -> RunningJob | None:
    """Return what runs: the training, else what the window is busy with, a model on its way, the queue."""
    state, queue, hub = session.training.state, session.queue.state, session.hub
    if state.state in ("running", "paused", "stopping"):
        known = state.started is not None  # the share of a stage is none of the run
        page = training_page(session.training.config)
        name = words.shorten(state.name, 30)
        share = state.share if known else 0.0
        stage = state.stage
        if not known and stage is not None and stage.remaining_s is not None:
            known, share = True, stage.done / stage.total
        return RunningJob(name, job_words(state), page, round(SCALE * share), SCALE if known else 0)
    if session.busy.words:
        return RunningJob(session.busy.words, session.busy.words)
    if hub.transfer is not None and hub.is_fetching:
        done = round(SCALE * hub.transfer.share)
        return RunningJob(words.translate("status", "Downloading"), hub.words(), "models", done, SCALE)
    if queue.running is not None and queue.is_working:
        name = words.shorten(queue.running.name, 30)
        return RunningJob(name, queue_words(queue), "runs", min(queue.step, queue.num_steps), queue.num_steps)
    return None


def job_words(state: TrainingState) -> str:
    """Return "Fine-tuning bbc-text · step 214 of 336 · 1,480 tokens/s · 3 min left"."""
    name = words.shorten(state.name, 30)
    if state.state == "stopping" and not state.is_lost:
        return words.translate("status", "Stopping {name} and saving").format(name=name)
    verb = words.translate("status", "Fine-tuning {name}")
    if state.is_pretraining:
        verb = words.translate("status", "Pretraining {name}")
    if state.state == "paused":
        verb = words.translate("status", "Paused: {name}")
    parts = [verb.format(name=name)]
    if state.host:
        parts.append(words.translate("status", "on {host}").format(host=state.host))
    if state.is_lost:
        parts.append(words.translate("status", "not connected"))
    elif (stage := state.stage) is not None:
        share = f" {words.share(stage.done / stage.total, 0)}" if stage.total else ""
        parts.append(f"{words.say(stage.sentence)}{share}")
        if stage.remaining_s is not None and state.state != "paused":
            parts.append(words.time_left(stage.remaining_s))
    elif state.step is not None and state.state == "paused":
        parts.append(words.step_reached(state.step.step, state.num_steps))
    elif state.step is not None:
        parts.append(words.event_words(state.step, num_steps=state.num_steps))
    return " · ".join(filter(None, parts))
