"""The status bar: device, model, data set; at the right the running job with its rate and the time left."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QStatusBar, QWidget

from app import words
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import row
from app.look.widgets import named
from app.session import Session
from app.work.queue import queue_words
from app.work.titles import model_title
from app.work.training import run_name
from app.work.training_state import TrainingState
from engine.runs.queue import DONE, FAILED, QueueJob
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import run_info

BAR_WIDTH = 148
SCALE = 1000


class StatusBar(QStatusBar):
    """Always tells what is open and what runs."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent, sizeGripEnabled=False)
        self.setObjectName("status_bar")
        self._session = session
        self._is_looking = False
        self._last = ""  # how a run of the queue ended after the last one of this window
        inner = QWidget()
        self.device = label("", "muted", name="status_device")
        self.model = label("", "muted", name="status_model")
        self.data = label("", "muted", name="status_data")
        self.job = named(ElidedLabel("", "muted"), "status_job")
        self.job.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        bar = QProgressBar(textVisible=False, maximum=SCALE)
        self.bar = named(bar, "status_progress", self.tr("Progress of the running job"))
        self.bar.setFixedWidth(BAR_WIDTH)
        parts = (self.device, self.model, self.data, (self.job, 1), self.bar)
        row(*parts, gap=20, margins=(10, 2, 10, 2), parent=inner)
        self.addWidget(inner, 1)
        session.model.changed.connect(self._show_open)
        session.inspector.model_changed.connect(self._show_open)
        session.data.opened.connect(self._show_open)
        session.training.started.connect(self._show_open)
        session.training.ended.connect(self._show_open)
        session.busy.changed.connect(self._show_job)
        session.training.changed.connect(self._show_job)
        session.queue.changed.connect(self._show_job)
        session.queue.ended.connect(self._hear_job)
        session.training.started.connect(self._forget_job)
        session.hub.changed.connect(self._show_job)
        self._show_open()
        self._show_job()

    def show_device(self, text: str) -> None:
        """Say where it computes."""
        self.device.setText(text)
        self.device.setVisible(bool(text))

    def set_looking(self, is_looking: bool) -> None:
        """Say whether a page is open that looks inside a model: then that one is named."""
        self._is_looking = is_looking
        self._show_open()

    def _show_open(self) -> None:
        session = self._session
        model, path = session.model.chosen, session.data.path
        self.device.setVisible(bool(self.device.text()))
        if session.training.is_running and isinstance(session.training.config, PretrainConfig):
            self._show_language(session.training.config)
            return
        self.model.setText(words.shorten(model.words, 40) if model else self.tr("no model"))
        self.model.setToolTip(tip(model.model) if model else "")
        about = session.inspector.about
        if self._is_looking and about is not None:
            config = about.config
            size = f"{config.num_hidden_layers}×{config.hidden_size}"
            self.model.setText(f"{words.shorten(about.name, 30)} · {size}")
            self.model.setToolTip(tip(str(about.folder)))
        self.data.setText(words.shorten(path.name, 40) if path else self.tr("no data"))
        self.data.setToolTip(tip(str(path)) if path else "")

    def _show_language(self, config: PretrainConfig) -> None:
        """Show what is being pretrained, which is not what is open."""
        start = config.start.model
        name = self.tr("new {size}").format(size=start.removeprefix("new:"))
        self.model.setText(name if start.startswith("new:") else words.shorten(model_title(start), 40))
        self.model.setToolTip(tip(start))
        self.data.setText(words.shorten(run_name(config), 40))
        self.data.setToolTip(tip(config.text.text))

    def _hear_job(self, job: QueueJob) -> None:
        """Tell how a run of the queue ended, which is news of the run before it."""
        if job.state in (DONE, FAILED) and job.run:
            self._last = job_result_words(job, self._session.runs.root)

    def _forget_job(self) -> None:
        self._last = ""

    def _show_job(self) -> None:
        state = self._session.training.state
        active = state.state in ("running", "paused", "stopping")
        queue, hub, busy = self._session.queue.state, self._session.hub, self._session.busy.words
        if not active and not busy and hub.transfer is not None and hub.is_fetching:
            self.bar.setVisible(True)
            self.bar.setRange(0, SCALE)
            self.bar.setValue(round(SCALE * hub.transfer.share))
            self.job.setText(hub.words())
            return
        if not active and queue.running is not None and queue.is_working and not busy:
            self.bar.setVisible(True)
            self.bar.setRange(0, queue.num_steps)
            self.bar.setValue(min(queue.step, queue.num_steps))
            self.job.setText(queue_words(queue))
            return
        self.bar.setVisible(active or bool(busy))
        unknown = not active or state.started is None  # the share of a stage is none of the run
        self.bar.setRange(0, 0 if unknown else SCALE)
        if active:
            self.bar.setValue(round(SCALE * state.share))
            self.job.setText(job_words(state))
        else:
            self.job.setText(busy or self._last or result_words(state))


def job_words(state: TrainingState) -> str:
    """Return "Fine-tuning bbc-text · step 214 of 336 · 1,480 tokens/s · 3 min left"."""
    name = words.shorten(state.name, 30)
    if state.state == "stopping":
        return words.translate("status", "Stopping {name} and saving").format(name=name)
    verb = words.translate("status", "Fine-tuning {name}")
    if state.is_pretraining:
        verb = words.translate("status", "Pretraining {name}")
    if state.state == "paused":
        verb = words.translate("status", "Paused: {name}")
    parts = [verb.format(name=name)]
    if state.stage:
        stage = words.tr_engine(state.stage)
        share = f" {words.share(state.stage_done / state.stage_total, 0)}" if state.stage_total else ""
        parts.append(f"{stage}{share}")
    elif state.step is not None:
        parts.append(words.event_words(state.step, num_steps=state.num_steps))
    return " · ".join(parts)


def result_words(state: TrainingState) -> str:
    """Return how the last training ended; empty when there was none."""
    name = words.shorten(state.name, 30)
    if state.outcome == "finished":
        text = words.translate("status", "Training finished: {name}").format(name=name)
        if state.finished is not None and state.finished.best_metric is not None:
            text = f"{text} · {_reached(state, state.finished.best_metric)}"
        return text
    if state.outcome == "stopped":
        return words.translate("status", "Training stopped and kept: {name}").format(name=name)
    return (
        words.translate("status", "Training failed: {name}").format(name=name)
        if state.outcome == "failed"
        else ""
    )


def job_result_words(job: QueueJob, root: Path) -> str:
    """Return how a run of the queue ended. Args: root: where runs are kept."""
    name = words.shorten(job.name, 30)
    if job.state == FAILED:
        return words.translate("status", "Training failed: {name}").format(name=name)
    info = run_info(root / job.run)
    text = words.translate("status", "Training finished: {name}").format(name=name)
    if info.best_metric is not None:
        reached = _reached_words(info.metric_name, info.best_metric, 0, job.kind == "pretrain")
        text = f"{text} · {reached}"
    return text


def _reached(state: TrainingState, best: float) -> str:
    """Return how good the kept weights are."""
    metric, rows = (state.started.metric, state.started.num_validation) if state.started else ("", 0)
    return _reached_words(metric, best, rows, state.is_pretraining)


def _reached_words(metric: str, best: float, rows: int, is_pretraining: bool) -> str:
    if is_pretraining:
        return words.translate("status", "masked words right {value}").format(value=words.share(best))
    from app.pages.tasks.known import metric_words  # here: a window that trains nothing needs no task's views

    return words.translate("status", "validation {metric}").format(metric=metric_words(metric, best, rows))
