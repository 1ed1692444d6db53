"""What the Fine-tune and the Pretrain page share: the actions above, and the life of a run below them.

A page starts nothing by itself and keeps no state of the run: the session does, and tells it in events. There
is one training job for all pages, so a page shows only what is of its own kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton, QWidget

from app import words
from app.banner import Banner
from app.pages.page_parts import CopyCommandButton
from app.pages.past_run import past_events
from app.plots.figure import Figure
from app.session import Session
from app.study import Answer
from app.widgets import Page, button, set_role
from engine.errors import ConfigError, UserError
from engine.events import Event, Started
from engine.train.runs import RunInfo


class RunView(Protocol):
    """What draws a run: it is fed lists of events and knows no session."""

    def clear(self) -> None: ...
    def hear(self, events: Sequence[Event]) -> None: ...
    def end(self, outcome: str, run_dir: Path | None, seconds: float, *, has_model: bool) -> None: ...


class TrainingPage(Page):
    """At most three actions, a run, and what may have gone wrong."""

    kind: ClassVar[type]  # the settings of this page's runs
    inside: ClassVar[str]  # the page that looks into what they leave
    view: RunView

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self._session = session
        self.run_dir: Path | None = None  # of the run that is shown
        self._outcome = ""
        self._starting = False  # a new run, not a resumed one
        self._has_run = False  # whether the view shows a run
        self._past = session.new_worker(self)
        self._waiting: list[Event] | None = None  # events that came while the past of a resumed run is read
        self.failure = Banner(name="failure")
        self._make_actions()
        self.body.addWidget(self.failure)

    # ---- what a page says for itself

    def reason(self) -> str:
        """Return why no run can be started yet; "" where one can."""
        raise NotImplementedError

    def config(self) -> Any:
        """Return the settings as they stand. Raises: ConfigError naming the field that is refused."""
        raise NotImplementedError

    def command(self) -> str:
        """Return the line that does the same without a window. Raises: ConfigError."""
        raise NotImplementedError

    def show_settings_of(self, config: Any) -> None:
        """Show what a resumed run was started with."""
        raise NotImplementedError

    def set_locked(self, locked: bool) -> None:
        """Lock the settings while they are in use."""
        raise NotImplementedError

    def show_refusal(self, error: UserError) -> bool:
        """Show a refusal beside its field; False where it belongs to none."""
        raise NotImplementedError

    def clear_refusals(self) -> None:
        """Take all refusals away."""
        raise NotImplementedError

    def lead_on(self) -> None:
        """Go where a finished model is used."""
        raise NotImplementedError

    def show_moment(self) -> None:
        """Show the cards that fit the moment, after the actions do. (A slot must not be overridden: PySide
        would call the one on top even when the page is gone.)
        """

    # ---- actions

    def _make_actions(self) -> None:
        self.copy_button = CopyCommandButton()
        self.pause_button = button(self.tr("Pause"), icon="pause", name="pause")
        self.go_on_button = button(self.tr("Resume"), icon="resume", name="go_on")
        self.start_button = button(self.tr("Start"), "primary", name="start")
        self.stop_button = button(self.tr("Stop and keep"), "primary", name="stop")
        self.try_button = button("", "primary", name="try_it")
        self.pause_button.setToolTip(self.tr("Stand still after this step; the window stays usable."))
        self.stop_button.setToolTip(
            self.tr("End after this step and keep what was learned; it can be resumed later.")
        )
        for action in self._actions():
            self.header.add_action(action)
        self.copy_button.clicked.connect(self.copy_command)
        self.pause_button.clicked.connect(self._session.pause_training)
        self.go_on_button.clicked.connect(self._go_on)
        self.start_button.clicked.connect(self.start)
        self.stop_button.clicked.connect(self._session.stop_training)
        self.try_button.clicked.connect(self._try)

    def _actions(self) -> tuple[QPushButton, ...]:
        return (
            self.copy_button, self.pause_button, self.go_on_button, self.start_button, self.stop_button,
            self.try_button,
        )  # fmt: skip

    def _hear_session(self) -> None:
        """Connect to the session, once the page is whole; show the run that is under way."""
        session = self._session
        session.training_started.connect(self._run_started)
        session.training_heard.connect(self._hear)
        session.training_changed.connect(self.refresh)
        session.training_failed.connect(self._run_failed)
        session.training_ended.connect(self._run_ended)
        if session.run_dir is not None:
            self._run_started(session.run_dir)
        self.refresh()

    @property
    def is_mine(self) -> bool:
        """Whether the running or last training job is of this page's kind."""
        return isinstance(self._session.training_config, self.kind)

    @property
    def is_running(self) -> bool:
        """Whether a run of this page is under way, pauses included."""
        return self.is_mine and self._session.is_training

    @property
    def is_finished(self) -> bool:
        """Whether the run that is shown has come to its end and left a model."""
        return (
            self._has_run
            and not self.is_running
            and self._outcome == "finished"
            and self.model_folder is not None
        )

    @property
    def can_resume(self) -> bool:
        """Whether the run that is shown could go on."""
        ended = self._has_run and not self.is_running
        return ended and self._outcome in ("stopped", "failed", "crashed") and self._has_checkpoint()

    @Slot()
    def refresh(self) -> None:
        """Show the actions that fit the moment."""
        session, reason = self._session, self.reason()
        running, can_resume, finished = self.is_running, self.can_resume, self.is_finished
        elsewhere = session.is_training and not running
        state = session.training.state if running else ""
        paused, stopping = state == "paused", state == "stopping"
        self.pause_button.setVisible(running and not paused)
        self.pause_button.setEnabled(not stopping)
        self.go_on_button.setVisible(paused or can_resume)
        self.go_on_button.setEnabled(not elsewhere)
        self.go_on_button.setText(self.tr("Resume") if paused else self.tr("Resume training"))
        self.stop_button.setVisible(running)
        self.stop_button.setEnabled(not stopping)
        self.stop_button.setText(self.tr("Stopping…") if stopping else self.tr("Stop and keep"))
        self.start_button.setVisible(not running)
        self.start_button.setText(self.tr("Start again") if finished or can_resume else self.tr("Start"))
        set_role(self.start_button, "" if finished else "primary")
        self.try_button.setVisible(finished)
        self.start_button.setEnabled(not reason and not elsewhere)
        self.copy_button.setEnabled(not reason or running)
        waiting = self.tr("Another model is in training. It can start when that has ended.")
        self.start_button.setToolTip(waiting if elsewhere else reason)
        self.set_locked(running)
        self.show_moment()

    # ---- the run

    @Slot()
    def start(self) -> None:
        """Start training with the settings as they stand; a refusal appears beside its field."""
        self._set_failure(None)
        self.clear_refusals()
        try:
            config = self.config()
            self._starting = True
            self._session.start_training(config)
        except UserError as error:
            self._refuse(error)
        finally:
            self._starting = False

    @Slot()
    def _go_on(self) -> None:
        if self.is_running:
            self._session.continue_training()
        elif self.run_dir is not None:
            self._set_failure(None)
            try:
                self._session.resume_training(self.run_dir)
            except UserError as error:
                self._refuse(error)

    @Slot(object)
    def _run_started(self, run_dir: Path) -> None:
        if self.is_mine:
            self._take_run(run_dir, "", self._session.training_config)
        self.refresh()

    def show_run(self, info: RunInfo, config: Any) -> None:
        """Show an earlier run as its files tell it; one that was not finished can be resumed."""
        self._take_run(info.path, info.state, config)
        self._waiting = []
        self._past.start(
            partial(past_events, info.path, None),
            heard=self._hear_past,
            failed=self._past_failed,
            ended=self._earlier_heard,
        )
        self.refresh()

    def _take_run(self, run_dir: Path, outcome: str, config: Any) -> None:
        self.run_dir, self._outcome, self._has_run = run_dir, outcome, True
        for figure in self.findChildren(Figure):
            figure.set_caption([(self.tr("run"), run_dir.name)])
        self._set_failure(None)
        self._past.stop()
        self._waiting = None
        self.view.clear()
        if config is not None and not self._starting:
            self.show_settings_of(config)

    @Slot(list)
    def _hear(self, events: list[Event]) -> None:
        """Draw events; of a resumed run first those before it, which its files know."""
        if not self.is_mine:
            return
        for event in events:
            if isinstance(event, Started) and event.first_step > 1:
                self._waiting = []
                task = partial(past_events, event.run_dir, event.first_step)
                self._past.start(
                    task, heard=self._hear_past, failed=self._past_failed, ended=self._past_heard
                )
        if self._waiting is not None:
            self._waiting += events
        else:
            self.view.hear(events)

    def _hear_past(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Answer):
                self.view.hear(event.value)

    def _past_failed(self, error: BaseException) -> None:
        if isinstance(error, UserError):
            self._set_failure(error)
        else:
            self._session.problem.emit(error)

    def _past_heard(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting:
            self.view.hear(waiting)

    def _earlier_heard(self) -> None:
        self._past_heard()
        if not self.is_running:
            self._show_end(0.0)

    @Slot(object)
    def _run_failed(self, error: BaseException) -> None:
        if isinstance(error, UserError | MemoryError) and self.is_mine:  # all else is the window's to show
            self._refuse(error)

    @Slot()
    def _run_ended(self) -> None:
        if self.is_mine:
            training = self._session.training
            self._outcome = training.outcome
            step = training.step
            self._show_end(
                training.finished.seconds if training.finished else step.elapsed_s if step else 0.0
            )
        self.refresh()

    def _show_end(self, seconds: float) -> None:
        has_model = self.model_folder is not None
        self.view.end(self._outcome, self.run_dir, seconds, has_model=has_model)

    def _refuse(self, error: BaseException) -> None:
        shown = isinstance(error, UserError) and self.show_refusal(error)
        if not shown or not isinstance(error, ConfigError):
            self._set_failure(error)
        self.refresh()

    def _set_failure(self, error: BaseException | None) -> None:
        if error is None:
            self.failure.hide()
        else:
            self.failure.show_text("wrong", words.say_error(error))

    @property
    def model_folder(self) -> Path | None:
        """The model that the shown run has left; None while it has none."""
        folder = self.run_dir / "model" if self.run_dir else None
        return folder if folder is not None and (folder / "config.json").is_file() else None

    def _has_checkpoint(self) -> bool:
        return self.run_dir is not None and (self.run_dir / "checkpoints").is_dir()

    # ---- onwards

    @Slot()
    def copy_command(self) -> None:
        """Put the command that does the same without a window on the clipboard."""
        try:
            command = self.command()
        except UserError as error:
            self._refuse(error)
            return
        self.copy_button.copy(command)

    @Slot()
    def _try(self) -> None:
        self.lead_on()

    @Slot()
    def look_inside(self) -> None:
        """Open the model that the shown run has left on the pages that look inside."""
        if self.model_folder is not None:
            self._session.laboratory.choose(self.model_folder)
            self._session.page_requested.emit(self.inside)

    @Slot()
    def open_folder(self) -> None:
        """Show the model, or else the run, among the computer's files."""
        folder = self.model_folder or self.run_dir
        if folder is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            text = self.tr("No program shows folders here. It lies at {path}.")
            self.failure.show_text("note", text.format(path=folder))
