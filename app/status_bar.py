"""The status bar: the device; at the right the running job with its rate and the time left."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QProgressBar, QStatusBar, QWidget

from app import words
from app.look.labels import ElidedLabel, label
from app.look.layout import row
from app.look.widgets import named
from app.running_job import running_job
from app.session import Session
from app.work.training_state import TrainingState
from engine.runs.queue import DONE, FAILED, QueueJob
from engine.train.run.runs import run_info

BAR_WIDTH = 148


class StatusBar(QStatusBar):
    """Always tells where it computes and what runs."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent, sizeGripEnabled=False)
        self.setObjectName("status_bar")
        self._session = session
        self._last = ""  # how a run of the queue ended after the last one of this window
        inner = QWidget()
        self.device = label("", "muted", name="status_device")
        self.device.hide()
        self.job = named(ElidedLabel("", "muted"), "status_job")
        self.job.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        bar = QProgressBar(textVisible=False)
        self.bar = named(bar, "status_progress", self.tr("Progress of the running job"))
        self.bar.setFixedWidth(BAR_WIDTH)
        parts = (self.device, (self.job, 1), self.bar)
        row(*parts, gap=20, margins=(10, 2, 10, 2), parent=inner)
        self.addWidget(inner, 1)
        session.busy.changed.connect(self._show_job)
        session.training.changed.connect(self._show_job)
        session.queue.changed.connect(self._show_job)
        session.queue.ended.connect(self._hear_job)
        session.training.started.connect(self._forget_job)
        session.hub.changed.connect(self._show_job)
        self._show_job()

    def show_device(self, text: str) -> None:
        """Say where it computes."""
        self.device.setText(text)
        self.device.setVisible(bool(text))

    def _hear_job(self, job: QueueJob) -> None:
        """Tell how a run of the queue ended, which is news of the run before it."""
        if job.state in (DONE, FAILED) and job.run:
            self._last = job_result_words(job, self._session.runs.root)

    def _forget_job(self) -> None:
        self._last = ""

    def _show_job(self) -> None:
        job = running_job(self._session)
        self.bar.setVisible(job is not None)
        if job is not None:
            job.show_in(self.bar)
        self.job.setText(
            job.words if job is not None else self._last or result_words(self._session.training.state)
        )


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
