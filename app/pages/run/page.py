"""What all pages that train share: the actions, the life of a run, and the run as a record.

A page starts nothing by itself and keeps no state of the run: the session does, and tells it in events. There
is one training job for all pages, so a page shows only what is of its own kind.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QPushButton, QStackedWidget, QWidget

from app import words
from app.look.banner import Banner
from app.look.copy_command import CopyCommandButton
from app.look.labels import tip
from app.look.layout import row
from app.look.widgets import GAP, SETTINGS_WIDTH, Page, button, set_role
from app.pages.export.dialog import export_model
from app.pages.run.card import RunCard
from app.pages.run.charts import RunCharts
from app.pages.run.earlier_runs import EarlierRuns, state_words
from app.pages.run.facts import Fact
from app.pages.run.past_run import past_events
from app.pages.run.setup import SetupCard
from app.plots.figure import Figure
from app.session import Session
from app.work.titles import run_title
from app.work.worker import Channel
from engine.errors import ConfigError, UserError
from engine.events import Event, Started, Step
from engine.runs.follow import News, news
from engine.train.run.runs import CONFIG, RunState, read_config, run_info

FOLLOW_MS = 1000  # between two looks at a run that another process trains


class TrainingPage(Page):
    """The form or the run at the left, what belongs to it at the right, at most three actions above.

    A kind of training brings its form, what stands beside it before a run, and its charts; it says what its
    runs are called, made of and good for.
    """

    key: ClassVar[str]  # of this page
    kind: ClassVar[type]  # the settings of this page's runs
    inside: ClassVar[str]  # the page that looks into what they leave
    setup: SetupCard
    charts: RunCharts

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.session = session
        self.run_dir: Path | None = None  # of the run that is shown
        self._outcome = ""
        self._has_run = False  # whether the page has a run, and not the form for a new one alone
        self._at_form = False  # whether the form is in view though a run of this page goes on
        self.run_config: Any = None  # of the run that is shown
        self._started: Started | None = None
        self._step: Step | None = None  # the last that was heard of it
        self._past = Channel(self, session.workers.quick)
        self._following: tuple[Path, int] | None = None  # a run of another process, and how far it is read
        self._said_running = False  # that it runs elsewhere
        self._again = QTimer(self, singleShot=True, interval=FOLLOW_MS)
        self._again.timeout.connect(self._look_again)
        self._waiting: list[Event] | None = None  # events that came while the past of a resumed run is read
        self.failure = Banner(name="failure")
        self.run_card = RunCard()
        self.earlier = EarlierRuns(session, self.kind, self)
        self.left = QStackedWidget()  # the form, then the run
        self.left.setFixedWidth(SETTINGS_WIDTH)
        self.stack = QStackedWidget()  # what stands beside the form, then the run's charts
        self._make_actions()
        self.body.addWidget(self.failure)

    def lay_out(self, before: QWidget) -> None:
        """Put the parts where they belong. Args: before: what stands beside the form before a run."""
        self.setup.add_corner(self.earlier.button)
        self.left.addWidget(self.setup)
        self.left.addWidget(self.run_card)
        self.stack.addWidget(before)
        self.stack.addWidget(self.charts)
        self.body.addLayout(row(self.left, (self.stack, 1), gap=GAP), 1)
        self.charts.watching.try_wanted.connect(self._try)
        self.charts.watching.folder_wanted.connect(self.open_folder)
        self.charts.watching.inside_wanted.connect(self.look_inside)
        self.charts.watching.export_wanted.connect(self.export)

    def reason(self) -> str:
        """Return why no run can be started yet; "" where one can."""
        raise NotImplementedError

    def command(self, config: Any) -> str:
        """Return the line that starts a run of these settings without a window."""
        raise NotImplementedError

    def facts(self, config: Any, started: Started | None) -> list[Fact]:
        """Return what a run of these settings is made of. Args: started: what it said of itself."""
        raise NotImplementedError

    def take_settings(self, config: Any) -> list[str]:
        """Put a run's settings into the form, and open its data and its model where they are still there;
        return the places that are gone.
        """
        raise NotImplementedError

    def use_model(self) -> None:
        """Go where a finished model is used."""
        raise NotImplementedError

    def show_config(self, config: Any) -> None:
        """Be told the settings of the run that is shown from now on."""

    def show_state(self) -> None:
        """Show the cards that fit the moment, after the actions do. (A slot must not be overridden: PySide
        would call the one on top even when the page is gone.)
        """
        self.stack.setCurrentIndex(1 if self.shows_run else 0)

    def _make_actions(self) -> None:
        self.copy_button = CopyCommandButton()
        self.pause_button = button(self.tr("Pause"), icon="pause", name="pause")
        self.go_on_button = button(self.tr("Resume"), "primary", name="go_on")
        self.start_button = button(self.tr("Start"), "primary", name="start")
        self.stop_button = button(self.tr("Stop and keep"), name="stop")
        self.try_button = button("", "primary", name="try_it")
        self.back_button = button(self.tr("Show the run in training"), name="show_running")
        self.pause_button.setToolTip(self.tr("Stand still after this step; the window stays usable."))
        self.stop_button.setToolTip(
            self.tr("End after this step and keep what was learned; it can be resumed later.")
        )
        for action in (self.copy_button, self.back_button, self.start_button, self.try_button):
            self.header.add_action(action)
        self.run_card.add_controls((self.pause_button, self.go_on_button), self.stop_button)
        self.new_button = self.run_card.new_button
        self.run_card.new_wanted.connect(self.new_from_run)
        self.run_card.form_wanted.connect(self.leave_run)
        self.earlier.chosen.connect(self.show_run)
        self.copy_button.clicked.connect(self.copy_command)
        self.pause_button.clicked.connect(self.session.training.pause)
        self.go_on_button.clicked.connect(self._go_on)
        self.start_button.clicked.connect(self.start)
        self.stop_button.clicked.connect(self.session.training.stop)
        self.try_button.clicked.connect(self._try)
        self.back_button.clicked.connect(self._show_running)

    def _actions(self) -> tuple[QPushButton, ...]:
        return (
            self.copy_button, self.pause_button, self.go_on_button, self.start_button, self.stop_button,
            self.try_button, self.new_button, self.back_button, self.run_card.form_button,
        )  # fmt: skip

    def _hear_session(self) -> None:
        """Connect to the session, once the page is whole; show the run that is under way."""
        session = self.session
        session.training.started.connect(self._run_started)
        session.training.heard.connect(self._hear)
        session.training.changed.connect(self.refresh)
        session.training.failed.connect(self._run_failed)
        session.training.ended.connect(self._run_ended)
        session.page_requested.connect(self._page_requested)
        if session.training.run_dir is not None:
            self._run_started(session.training.run_dir)
        self.refresh()

    @property
    def is_mine(self) -> bool:
        """Whether the running or last training job is of this page's kind."""
        return isinstance(self.session.training.config, self.kind)

    @property
    def is_running(self) -> bool:
        """Whether a run of this page is under way, pauses included."""
        return self.is_mine and self.session.training.is_running

    @property
    def shows_run(self) -> bool:
        """Whether a run is in view, and not the form."""
        return self._has_run and not self._at_form

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

    def refresh(self) -> None:
        """Show the run or the form, and the actions that fit the moment."""
        session, reason = self.session, self.reason()
        keyboard = QApplication.focusWidget()
        running, can_resume, finished = self.is_running, self.can_resume, self.is_finished
        elsewhere = session.training.is_running and not running
        state = session.training.state.state if running else ""
        paused, stopping = state == "paused", state == "stopping"
        shows_run = self.shows_run
        self.left.setCurrentIndex(1 if shows_run else 0)
        self.pause_button.setVisible(running and not paused)
        self.pause_button.setEnabled(not stopping)
        self.go_on_button.setVisible(paused or can_resume)
        self.go_on_button.setEnabled(not elsewhere)
        self.go_on_button.setText(self.tr("Resume") if paused else self.tr("Resume training"))
        self.stop_button.setVisible(running)
        self.stop_button.setEnabled(not stopping)
        self.stop_button.setText(self.tr("Stopping…") if stopping else self.tr("Stop and keep"))
        self.start_button.setVisible(not shows_run)
        self.start_button.setEnabled(not reason)
        self.start_button.setText(
            self.tr("Add to the queue") if session.training.is_running else self.tr("Start")
        )
        self.back_button.setVisible(self._at_form)
        self.try_button.setVisible(finished)
        self.copy_button.setEnabled(shows_run or not reason)
        waiting = self.tr("Another model is in training. It can start when that has ended.")
        queued = self.tr("It begins when the training under way has ended, even if the window is closed.")
        self.start_button.setToolTip(tip(reason or (queued if session.training.is_running else "")))
        self.go_on_button.setToolTip(waiting if elsewhere else "")
        self.run_card.controls.setVisible(running or can_resume)
        self.new_button.setVisible(self._has_run and not running)
        self.run_card.form_button.setVisible(self._has_run)
        self.run_card.form_button.setText(
            self.tr("Prepare another run") if running else self.tr("Back to the form")
        )
        set_role(self.new_button, "primary" if not can_resume and not finished else "")
        if self._has_run:
            self._show_run_card()
        self.show_state()
        if keyboard in (*self._actions(), self.run_card):
            self._keep_keyboard(keyboard)

    def _keep_keyboard(self, before: QWidget) -> None:
        """Move the keyboard on from an action that is gone, never to one that ends the run: left to Qt, a
        second press of Space after Pause would stop it. While it is being saved nothing is offered.
        """
        if before.isVisible() and before.isEnabled() and before is not self.run_card:
            before.setFocus()  # Qt may have moved on while others were hidden
            return
        onwards = (self.pause_button, self.go_on_button, self.try_button, self.new_button)
        is_told = self.is_running or bool(self._outcome)  # how it ended is told a moment after that it has
        able = (action for action in onwards if is_told and action.isVisible() and action.isEnabled())
        next(able, self.run_card).setFocus()

    def _show_run_card(self) -> None:
        card, state = self.run_card, self._outcome
        assert self.run_dir is not None
        if self.is_running:
            state = self.session.training.state.state
            card.progress.show_state(self.session.training.state)
        else:
            card.progress.show_end(self._step, self._started.num_steps if self._started else 0, state)
        card.show_run(self.run_dir, self.tr("in training") if state == "running" else state_words(state))
        card.show_facts(self.facts(self.run_config, self._started) if self.run_config is not None else [])

    def start(self) -> None:
        """Start training with the settings as they stand, or put the run into the queue while another goes
        on; a refusal appears beside its field.
        """
        self._set_failure(None)
        self.setup.clear_refusals()
        is_second = self.session.training.is_running
        try:
            if is_second:
                self.session.training.put_in_queue(self.setup.config())
            else:
                self.session.training.start(self.setup.config())
        except UserError as error:
            self._refuse(error)
        else:
            if is_second:
                said = self.tr("It is in the queue, and begins when the training under way has ended.")
                show = partial(self.session.show_page, "runs")
                self.failure.show_text("fine", said, [(self.tr("Show the queue"), show)])

    def _go_on(self) -> None:
        if self.is_running:
            self.session.training.go_on()
        elif self.run_dir is not None:
            self._set_failure(None)
            try:
                self.session.training.resume(self.run_dir)
            except UserError as error:
                self._refuse(error)

    def _run_started(self, run_dir: Path) -> None:
        if self.is_mine:
            self._take_run(run_dir, "", self.session.training.config)
        self.refresh()

    def show_run(self, info: RunState, config: Any) -> None:
        """Show an earlier run as its files tell it; one that was not finished can be resumed."""
        if self.is_running:
            if info.path == self.run_dir:
                self._show_running()
            else:
                text = self.tr("{name} can be looked at when the run in training has ended.")
                self.failure.show_text("note", text.format(name=run_title(info.path)))
            return
        self._take_run(info.path, info.state, config)
        if info.state == "running":
            self._follow(info.path, 0)
            self.refresh()
            return
        self._waiting = []
        self._past.ask(
            info.path,
            partial(past_events, info.path, None),
            heard=self._feed,
            refused=self._set_failure,
            ended=self._earlier_heard,
        )
        self.refresh()

    def _follow(self, run_dir: Path, offset: int) -> None:
        """Draw what a run says that another process trains, and look again in a moment."""
        self._following = (run_dir, offset)
        self._past.ask(
            (run_dir, offset, object()),
            partial(news, run_dir, offset),
            heard=self._take_news,
            refused=self._set_failure,
            again=True,
        )

    def _take_news(self, heard: News) -> None:
        if self._following is None or self.run_dir is None:
            return
        if heard.is_anew:
            self.charts.clear()
        self._following = (self.run_dir, heard.offset)
        self._feed(list(heard.events))
        if heard.has_more:
            self._look_again()
        elif heard.state == "running":
            if not self._said_running:
                self._show_end(0.0)
                self._said_running = True
            self._again.start()
        else:
            self._following, self._outcome = None, heard.state
            self._show_end(self._step.elapsed_s if self._step is not None else 0.0)
            self.session.runs.find()
        self.refresh()

    def _look_again(self) -> None:
        if self._following is None:
            return
        if self.isVisible():
            self._follow(*self._following)
        else:
            self._again.start()

    def _take_run(self, run_dir: Path, outcome: str, config: Any) -> None:
        self.run_dir, self._outcome, self._has_run, self._at_form = run_dir, outcome, True, False
        self._following, self._said_running = None, False
        self._again.stop()
        for figure in self.findChildren(Figure):
            figure.set_caption([(self.tr("run"), run_dir.name)])
        self._set_failure(None)
        self._past.drop()
        self._waiting = None
        self.charts.clear()
        self.run_config, self._started, self._step = config, None, None
        self.show_config(config)

    def leave_run(self) -> None:
        """Show the form for a new run, as it was left; a run under way goes on meanwhile."""
        if self.is_running:
            self._at_form = True
            self.refresh()
            return
        self._past.drop()
        self._following = None
        self._again.stop()
        self._waiting = None
        self._has_run, self.run_dir, self.run_config, self._outcome = False, None, None, ""
        self._at_form = False
        self.charts.clear()
        self.refresh()

    def _show_running(self) -> None:
        """Show the run under way again."""
        self._at_form = False
        self._set_failure(None)
        self.refresh()

    def _page_requested(self, key: str, _state: object) -> None:
        """Show the form to who comes with data or a model to train: an ended run is not what they want."""
        if key == self.key and self._has_run and not self.is_running:
            self.leave_run()

    def new_from_run(self) -> None:
        """Show the form with the settings of the run that is shown; nothing is started."""
        config = self.run_config
        self._set_failure(None)
        self.leave_run()
        if config is not None:
            self.setup.clear_refusals()
            gone = self.take_settings(config)
            if gone:
                text = self.tr(
                    "The settings are those of that run, but this is not there any more: {places}."
                )
                self.failure.show_text("look", text.format(places=", ".join(gone)))
            self.refresh()

    def _feed(self, events: list[Event]) -> None:
        """Draw events of the run that is shown."""
        for event in events:
            if isinstance(event, Started):
                self._started = event
            elif isinstance(event, Step):
                self._step = event
        self.charts.hear(events)

    def _hear(self, events: list[Event]) -> None:
        """Draw events; of a resumed run first those before it, which its files know."""
        if not self.is_mine:
            return
        for event in events:
            if isinstance(event, Started) and event.first_step > 1:
                self._waiting = []
                self._past.ask(
                    event.run_dir,
                    partial(past_events, event.run_dir, event.first_step),
                    heard=self._feed,
                    refused=self._set_failure,
                    ended=self._past_heard,
                    again=True,
                )
        if self._waiting is not None:
            self._waiting += events
        else:
            self._feed(events)

    def _past_heard(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting:
            self._feed(waiting)

    def _earlier_heard(self) -> None:
        self._past_heard()
        if not self.is_running:
            self._show_end(0.0)
            self.refresh()

    def _run_failed(self, error: BaseException) -> None:
        if not isinstance(error, UserError | MemoryError) or not self.is_mine:
            return  # it is the window's to show
        if self._at_form:
            self._set_failure(error)  # its fields are those of another run
        else:
            self._refuse(error)

    def _run_ended(self) -> None:
        if self.is_mine:
            training = self.session.training.state
            self._outcome = training.outcome
            step = training.step
            if step is None and not self._left_something():
                self.leave_run()  # refused or stopped before there was a run: the form says why
                return
            if self._at_form:
                self._leave_ended()
                return
            self._show_end(
                training.finished.seconds if training.finished else step.elapsed_s if step else 0.0
            )
        self.refresh()

    def _leave_ended(self) -> None:
        """Say that a run has ended, and leave the form in view in which another one is prepared."""
        ended, outcome = self.run_dir, self._outcome
        assert ended is not None
        self.leave_run()
        if outcome == "failed":
            return  # why is said already
        template = self.tr("{name} is {state}.")
        text = template.format(name=run_title(ended), state=state_words(outcome))
        self.failure.show_text("note", text, [(self.tr("Show it"), partial(self.open_run, ended))])

    def open_run(self, path: Path) -> None:
        """Show the run in a folder."""
        try:
            self.show_run(run_info(path), read_config(path))
        except UserError as error:
            self._set_failure(error)

    def _show_end(self, seconds: float) -> None:
        has_model = self.model_folder is not None
        self.charts.end(self._outcome, self.run_dir, seconds, has_model=has_model)

    def _refuse(self, error: BaseException) -> None:
        shown = isinstance(error, UserError) and self.setup.show_refusal(error)
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

    def _left_something(self) -> bool:
        return self.run_dir is not None and (self.run_dir / CONFIG).is_file()

    def copy_command(self) -> None:
        """Put the command that does the same without a window on the clipboard."""
        try:
            command = self.command(self.run_config if self.shows_run else self.setup.config())
        except UserError as error:
            self._refuse(error)
            return
        self.copy_button.copy(command)

    def _try(self) -> None:
        self.use_model()

    def export(self) -> None:
        """Offer to take the model that the shown run has left to another tool."""
        if self.model_folder is not None:
            export_model(self.session, self.model_folder, self)

    def look_inside(self) -> None:
        """Open the model that the shown run has left on the pages that look inside."""
        if self.model_folder is not None:
            self.session.inspector.choose(self.model_folder)
            self.session.show_page(self.inside)

    def open_folder(self) -> None:
        """Show the model, or else the run, among the computer's files."""
        folder = self.model_folder or self.run_dir
        if folder is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            text = self.tr("No program shows folders here. It lies at {path}.")
            self.failure.show_text("note", text.format(path=folder))
