"""How far a run is: its step of all steps, the time left, whether it stands still, and its pace."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.look.labels import ElidedLabel, label
from app.words import (
    decimal,
    duration,
    file_size,
    number,
    say,
    scientific,
    share,
    time_left,
    translate,
)
from app.work.training_state import TrainingState
from engine.events import Step

SCALE = 1000


class RunProgress(QWidget):
    """Told where the training job is, or where an earlier run has ended."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(6)
        self.where = ElidedLabel("", "strong")
        self.where.setObjectName("run_where")
        self.left = label("", "muted")
        self.left.setObjectName("run_left")
        row = QHBoxLayout()
        row.addWidget(self.where, 1)
        row.addWidget(self.left, 0, Qt.AlignmentFlag.AlignRight)
        column.addLayout(row)
        self.bar = QProgressBar(textVisible=False, maximum=SCALE)
        self.bar.setObjectName("run_progress")
        self.bar.setAccessibleName(self.tr("Progress of the run"))
        column.addWidget(self.bar)
        self.pace = ElidedLabel("", "muted")
        self.pace.setObjectName("run_pace")
        column.addWidget(self.pace)

    def show_state(self, state: TrainingState) -> None:
        """Show where the training job is."""
        step = state.step
        paused, stopping = state.state == "paused", state.state == "stopping"
        stage = state.stage
        done, total = (stage.done, stage.total) if stage is not None else (0, 0)
        left = stage.remaining_s if stage is not None else None
        is_moving = bool(state.host and total) and (step is None or state.is_copying)
        self.pace.setText(
            self.tr("{done} of {total}").format(done=file_size(done), total=file_size(total))
            if is_moving
            else ""
        )
        if step is None or stage is not None:
            words = self._there_words(state) if stage is None else say(stage.sentence)
            words = f"{words} {share(done / total, 0)}" if total else words
            # else nobody knows how much of the run this is
            is_known = total and (left is not None or is_moving)
            self._show(words, done / total if is_known else None, paused=paused)
            self.left.setText(time_left(left) if left is not None and not paused else "")
            self.left.setToolTip("")
        if step is not None and not is_moving:
            self._show(step_words(step, state.num_steps), state.share, paused=paused)
            if stopping and not state.is_lost:
                self.where.setText(self.tr("Saving · {where}").format(where=self.where.text()))
            elif state.is_pausing and not paused:
                self.where.setText(self.tr("Pausing · {where}").format(where=self.where.text()))
            is_going = not (stopping or paused or state.is_lost)
            self.left.setText(time_left(step.remaining_s) if is_going else "")
            self.left.setToolTip(self.tr("{time} so far").format(time=duration(step.elapsed_s)))
            self.pace.setText(
                self.tr("{rate} tokens/s · learning rate {learning} · gradient {gradient}").format(
                    rate=number(step.tokens_per_s),
                    learning=scientific(step.learning_rate, 2),
                    gradient=decimal(step.gradient_norm, 2),
                )
            )
        self.pace.show()

    def _there_words(self, state: TrainingState) -> str:
        """Return what a run does on another computer before its first step."""
        if state.contact is None or state.is_lost:
            return ""
        if state.contact.state == "waiting":
            return self.tr("Waiting to begin")
        return self.tr("Preparing")

    def show_reading(self) -> None:
        """Show that what a run has said is still being read."""
        self.left.setText("")
        self.pace.hide()
        self._show(self.tr("Reading…"), None)

    def show_end(self, step: Step | None, num_steps: int, outcome: str) -> None:
        """Show where a run has ended, or is when nobody here listens."""
        self.left.setText("")
        self.pace.hide()
        if step is None and outcome == "finished":
            self._show(self.tr("Finished without training steps."), 1.0)
            return
        if step is None and outcome == "running":
            self._show(self.tr("Preparing"), None)
            return
        if step is None:
            self._show(self.tr("No step was made."), 0.0)
            return
        share = step.step / num_steps if num_steps else step.progress
        self._show(step_words(step, num_steps), 1.0 if outcome == "finished" else min(1.0, share))

    def _show(self, where: str, share: float | None, *, paused: bool = False) -> None:
        """Args: share: 0..1, None where it is not known."""
        self.where.setText(self.tr("Paused · {where}").format(where=where) if paused else where)
        self.bar.setRange(0, 0 if share is None and not paused else SCALE)
        self.bar.setValue(round(SCALE * (share or 0.0)))


def step_words(step: Step, num_steps: int) -> str:
    """Return "step 17 of 139", or its share and number where time or tokens bound the run."""
    if num_steps:
        text = translate("RunProgress", "Step {step} of {all}")
        return text.format(step=number(step.step), all=number(num_steps))
    text = translate("RunProgress", "Step {step} · {share}")
    return text.format(step=number(step.step), share=share(step.progress, 0))
