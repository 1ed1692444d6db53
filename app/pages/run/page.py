"""What all pages that train share: the actions, the life of a run, and the run as a record.

A page starts nothing by itself and keeps no state of the run: the session does, and tells it in events. There
is one training job for all pages, so a page shows only what is of its own kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QApplication, QPushButton, QStackedWidget, QWidget

from app import words
from app.look.banner import Banner
from app.look.copy_command import CopyCommandButton
from app.look.labels import tip
from app.look.layout import row
from app.look.widgets import GAP, SETTINGS_WIDTH, button, set_role
from app.pages.export.dialog import export_model
from app.pages.run.allowing import when_allowed
from app.pages.run.card import RunCard
from app.pages.run.charts import RunCharts
from app.pages.run.earlier_runs import EarlierRuns, state_words
from app.pages.run.facts import Fact
from app.pages.run.past_run import past_events, read_run
from app.pages.run.place import place_words
from app.pages.run.setup import SetupCard
from app.pages.run.state import RunPageState
from app.pages.stated_page import InBar, StatedPage
from app.plots.figure import Figure
from app.session import Session
from app.work.titles import run_title
from app.work.training import run_name
from app.work.training_state import LEFT, TrainingState
from app.work.worker import Channel
from engine.errors import ConfigError, UserError
from engine.events import Event, Started, Step
from engine.remote.record import is_followed
from engine.runs.follow import News, news
from engine.train.run.mirrored import host_of
from engine.train.run.runs import CHECKPOINTS, CONFIG, METRICS, MODEL, RunState

FOLLOW_MS = 1000  # between two looks at a run that another process trains


class TrainingPage(StatedPage[RunPageState]):
    """The form or the run at the left, what belongs to it at the right, at most three actions above.

    A kind of training brings its form, what stands beside it before a run, and its charts; it says what its
    runs are called, made of and good for.
    """

    state_kind = RunPageState
    kind: ClassVar[type]  # the settings of this page's runs
    inside: ClassVar[str]  # the page that looks into what they leave
    setup: SetupCard
    charts: RunCharts

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.run_dir: Path | None = None  # of the run that the page has; None: the form for a new one alone
        self.run_config: Any = None  # its settings
        self.host = ""  # the computer that trains it; "": this one
        self._outcome = ""
        self._at_form = False  # whether the form is in view though a run of this page goes on
        self._started: Started | None = None
        self._step: Step | None = None  # the last that was heard of it
        self._read: tuple[RunState, Any] | BaseException | None = None  # a run that is to be shown
        self._reading = Channel(self, session.workers.quick)
        self._past = Channel(self, session.workers.quick)
        self._following: tuple[Path, int] | None = None  # a run of another process, and how far it is read
        self._said_running = False  # that it runs elsewhere
        self._again = QTimer(self, singleShot=True, interval=FOLLOW_MS)
        self._again.timeout.connect(self._look_again)
        self._is_read = True  # what the files of the run in view say, where nobody tells it
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

    def model_shared(self) -> Path | None:
        result = None if self.run_dir is None else self.run_dir / MODEL
        return result if result is not None and (result / "config.json").is_file() else None

    def reason(self) -> str:
        """Return why no run can be started yet; "" where one can."""
        raise NotImplementedError

    def command(self, config: Any) -> str:
        """Return the line that starts a run of these settings without a window."""
        raise NotImplementedError

    def facts(self, config: Any, started: Started | None) -> list[Fact]:
        """Return what a run of these settings is made of. Args: started: what it said of itself."""
        raise NotImplementedError

    def asked(self) -> Any:
        """Return the settings of what Start starts. Raises: UserError where they are refused."""
        return self.setup.config()

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

    def show_cards(self) -> None:
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
        self.pause_button.setToolTip(self.tr("Pause after this step. The window stays usable."))
        self.stop_button.setToolTip(
            self.tr("End after this step and keep what was learned. The run can be resumed later.")
        )
        for action in (self.copy_button, self.back_button, self.start_button, self.try_button):
            self.header.add_action(action)
        self.run_card.add_controls((self.pause_button, self.go_on_button), self.stop_button)
        self.new_button, self.weights_button = self.run_card.new_button, self.run_card.weights_button
        self.weights_button.clicked.connect(self._copy_weights)
        self.run_card.new_wanted.connect(self.new_from_run)
        self.run_card.form_wanted.connect(self.leave_run)
        self.earlier.chosen.connect(self.show_run)
        self.copy_button.clicked.connect(self.copy_command)
        self.pause_button.clicked.connect(lambda: self._attempt(self.session.training.pause))
        self.go_on_button.clicked.connect(self._go_on)
        self.start_button.clicked.connect(self.start)
        self.stop_button.clicked.connect(self._stop)
        self.try_button.clicked.connect(self._try)
        self.back_button.clicked.connect(self._show_running)

    def _actions(self) -> tuple[QPushButton, ...]:
        return (
            self.copy_button, self.pause_button, self.go_on_button, self.start_button, self.stop_button,
            self.weights_button, self.try_button, self.new_button, self.back_button,
            self.run_card.form_button,
        )  # fmt: skip

    def _hear_session(self) -> None:
        """Connect to the session, once the page is whole; show the run that is under way."""
        session = self.session
        session.training.started.connect(self._run_started)
        session.training.heard.connect(self._hear)
        session.training.changed.connect(self.refresh)
        session.training.failed.connect(self._run_failed)
        session.training.ended.connect(self._run_ended)
        session.hosts.copying_changed.connect(self.refresh)
        session.hosts.copied.connect(self._take_weights)
        session.hosts.refused.connect(self._refuse_copying)
        if session.training.run_dir is not None:
            self._run_started(session.training.run_dir)
        self.refresh()

    @property
    def is_mine(self) -> bool:
        """Whether the running or last training job is of this page's kind."""
        return isinstance(self.session.training.config, self.kind)

    @property
    def is_shown(self) -> bool:
        """Whether the page has the running or last run: while one of another computer is followed, others can
        be looked at.
        """
        return self.is_mine and self.run_dir == self.session.training.run_dir

    @property
    def is_running(self) -> bool:
        """Whether the run that the page has is under way, pauses included."""
        return self.is_shown and self.session.training.is_running

    @property
    def shows_run(self) -> bool:
        """Whether a run is in view, and not the form."""
        return self.run_dir is not None and not self._at_form

    @property
    def is_finished(self) -> bool:
        """Whether the run that is shown has come to its end and left a model."""
        return not self.is_running and self._outcome == "finished" and self.model_folder is not None

    @property
    def is_useless(self) -> bool:
        """Whether the run that is shown says that its model has learned nothing to be used."""
        return False

    @property
    def can_resume(self) -> bool:
        """Whether the run that is shown could go on."""
        is_over = not self.is_running and self._outcome in ("stopped", "failed", "crashed")
        has_kept = self.run_dir is not None and (bool(self.host) or (self.run_dir / CHECKPOINTS).is_dir())
        return is_over and has_kept

    @property
    def host_shown(self) -> str:
        """The computer of the run that is shown, or of the one that the form would start; "": this one."""
        return self.host if self.shows_run else self.setup.where.host

    @property
    def trains_there(self) -> bool:
        """Whether the run that is shown trains on another computer, and this window does not listen."""
        return bool(self.host) and not self.is_running and self._outcome == "running"

    @property
    def can_follow(self) -> bool:
        """Whether the run that is shown trains on another computer, and nobody here listens."""
        return self.trains_there and self.run_dir is not None and not is_followed(self.run_dir)

    @property
    def lacks_weights(self) -> bool:
        """Whether what the run has learned is on another computer only."""
        is_over = bool(self.host) and not self.is_running and self._outcome in ("finished", "stopped")
        return is_over and self.model_folder is None

    # ---- what is shown, as a value

    @property
    def state(self) -> RunPageState:
        return RunPageState(run=self.run_dir if self.shows_run else None)

    @property
    def in_bar(self) -> InBar:
        if not self.shows_run or self.run_config is None:
            return InBar()
        return InBar(data=self.data_name(self.run_config), take_file=lambda _path: self.leave_run())

    def data_name(self, config: Any) -> str:
        """Return what the data of a run of these settings is called."""
        return run_name(config)

    def goes_on_with(self, state: RunPageState) -> bool:
        return not self.is_running

    def open_state(self, state: RunPageState) -> None:
        self._read = None
        self._reading.drop()
        if state.run is not None:
            read = partial(read_run, state.run, self.kind)
            self._reading.ask(state.run, read, heard=self._take_read, refused=self._take_read)

    def is_open(self, state: RunPageState) -> bool:
        return state.run is None or self._read is not None or self._keeps_running(state)

    def take_state(self, state: RunPageState) -> None:
        """Show the form, or a run as its files tell it. One in training stays: others wait until it has
        ended, and who comes with data or a model to train finds it.
        """
        if self._keeps_running(state):
            if state.run == self.run_dir:
                self._show_running()
            elif state.run is not None:
                text = self.tr("{name} can be opened when the run in training has ended.")
                self.failure.show_text("note", text.format(name=run_title(state.run)))
        elif isinstance(self._read, BaseException):
            raise self._read
        elif self._read is not None:
            self._show_read(*self._read)
        else:
            self.leave_run()

    def _keeps_running(self, state: RunPageState) -> bool:
        """Whether the run under way stays in view: it is asked for, or trains on this computer."""
        return self.is_running and (state.run == self.run_dir or not self.session.training.may_leave)

    def refuse(self, error: BaseException) -> None:
        self.failure.show_text("wrong", words.say_error(error))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.take_up()

    def show_run(self, path: Path) -> None:
        """Show an earlier run, if it is one of this page's kind; one that was not finished can be resumed."""
        self.show_state(replace(self.state, run=path))

    def _take_read(self, read: tuple[RunState, Any] | BaseException) -> None:
        self._read = read
        self.take_up()

    # ---- the actions that fit the moment

    def refresh(self) -> None:
        """Show the run or the form, and the actions that fit the moment."""
        session, reason = self.session, self.reason()
        keyboard = QApplication.focusWidget()
        running, can_resume, finished = self.is_running, self.can_resume, self.is_finished
        is_busy, can_follow = session.training.is_busy, self.can_follow
        elsewhere = is_busy and not running
        state = session.training.state if running else TrainingState()
        paused, stopping = state.is_pausing, state.state == "stopping"
        may_pause = not state.host or session.training.may_leave  # while it is sent there is nothing to pause
        shows_run = self.shows_run
        self.left.setCurrentIndex(1 if shows_run else 0)
        self.pause_button.setVisible(running and not paused)
        self.pause_button.setEnabled(not stopping and may_pause and not state.is_copying)
        self.go_on_button.setVisible(paused or can_resume or can_follow)
        self.go_on_button.setEnabled(not elsewhere)
        self.go_on_button.setText(self.tr("Resume") if paused else self.tr("Resume training"))
        if can_follow:
            self.go_on_button.setText(self.tr("Follow"))
        self.stop_button.setVisible(running or self.trains_there)
        self.stop_button.setEnabled(not stopping)
        self.stop_button.setText(self.tr("Stopping…") if stopping else self.tr("Stop and keep"))
        if running and not may_pause and not stopping:
            self.stop_button.setText(self.tr("Cancel"))
        self.start_button.setVisible(not shows_run)
        self.start_button.setEnabled(not reason)
        self.start_button.setText(self.tr("Add to the queue") if is_busy else self.tr("Start"))
        self.back_button.setVisible(self._at_form)
        self.try_button.setVisible(finished)
        self.copy_button.setEnabled(shows_run or not reason)
        waiting = self.tr("Another model is in training. It can start when that has ended.")
        queued = self.tr("It begins when the current training has ended, even if the window is closed.")
        if host := self.setup.where.host:  # where nothing trains
            queued = self.tr("It begins on {host} when the queue is free, even if the window is closed.")
            queued = queued.format(host=host)
        self.start_button.setToolTip(tip(reason or (queued if is_busy else "")))
        self.go_on_button.setToolTip(waiting if elsewhere else "")
        self.run_card.controls.setVisible(running or can_resume or self.trains_there)
        copying = session.hosts.copying
        is_copied = copying is not None and copying.run_dir == self.run_dir
        self.weights_button.setVisible(self.lacks_weights or is_copied)
        self.weights_button.setEnabled(copying is None or is_copied)
        self.weights_button.setText(self.tr("Cancel") if is_copied else self.tr("Download the weights"))
        self.new_button.setVisible(self.run_dir is not None and not running)
        self.run_card.form_button.setVisible(self.run_dir is not None)
        self.run_card.form_button.setText(
            self.tr("Prepare another run") if running else self.tr("Back to settings")
        )
        is_useful = finished and not self.is_useless
        set_role(self.try_button, "primary" if is_useful else "")
        is_onwards = not can_resume and not can_follow and not is_useful
        set_role(self.new_button, "primary" if is_onwards else "")
        if self.run_dir is not None:
            self._show_run_card(self.run_dir)
        self.show_cards()
        self.in_bar_changed.emit()
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

    def _show_run_card(self, run_dir: Path) -> None:
        card, state = self.run_card, self._outcome
        training = self.session.training.state if self.is_running else None
        if training is not None:
            state = "running" if training.is_lost and training.state == "stopping" else training.state
            card.progress.show_state(training)
        elif not self._is_read:
            card.progress.show_reading()
        else:
            card.progress.show_end(self._step, self._started.num_steps if self._started else 0, state)
        card.show_run(run_dir, self.tr("in training") if state == "running" else state_words(state))
        card.show_place(*place_words(self.session.hosts, run_dir, self.host, training))
        card.show_facts(self.facts(self.run_config, self._started) if self.run_config is not None else [])

    def start(self) -> None:
        """Start training with the settings as they stand, or put the run into the queue while another goes
        on; a refusal appears beside its field.
        """
        self.failure.hide()
        self.setup.clear_refusals()
        training = self.session.training
        is_second = training.is_busy
        try:
            (training.put_in_queue if is_second else training.start)(self.asked(), self.setup.where.asked())
        except UserError as error:
            self.refuse_settings(error)
        else:
            if is_second:
                said = self.tr("It is in the queue, and begins when the current training has ended.")
                if host := self.setup.where.host:
                    said = self.tr("It is in the queue, and begins on {host} when the queue is free.")
                    said = said.format(host=host)
                show = partial(self.session.show_page, "runs")
                self.failure.show_text("fine", said, [(self.tr("Show the queue"), show)])

    def _go_on(self) -> None:
        training = self.session.training
        if self.is_running:
            self._attempt(training.go_on)
        elif self.run_dir is not None:
            self.failure.hide()
            self._with_host(partial(training.follow if self.can_follow else training.resume, self.run_dir))

    def _stop(self) -> None:
        """Stop the run and keep what it has learned; one that nobody listens to is followed to its end."""
        if self.trains_there and self.run_dir is not None:
            self._with_host(partial(self.session.stop_there, self.run_dir))
        else:
            self._attempt(self.session.training.stop)

    def _copy_weights(self) -> None:
        """Have what the run has learned come from where it was trained, or leave it there."""
        hosts = self.session.hosts
        if hosts.copying is not None:
            hosts.cancel_copying()
        elif self.run_dir is not None:
            self.failure.hide()
            self._with_host(partial(hosts.copy_weights, self.run_dir))

    def _take_weights(self, run_dir: Path) -> None:
        if run_dir == self.run_dir:
            self._show_end(0.0)
            self.refresh()

    def _refuse_copying(self, run_dir: Path, error: BaseException) -> None:
        if run_dir == self.run_dir:
            self.refuse(error)

    def _with_host(self, call: Callable[[str], object]) -> None:
        """Have something done that may need to ask the run's host."""
        assert self.run_dir is not None
        when_allowed(self.run_dir, self, lambda host: self._attempt(partial(call, host)))

    def _attempt(self, call: Callable[[], object]) -> None:
        """Have something done with a run, or say why it cannot be."""
        try:
            call()
        except UserError as error:
            self.refuse_settings(error)

    # ---- the run that the page has

    def _run_started(self, run_dir: Path) -> None:
        if self.is_mine:
            self._take_run(run_dir, "", self.session.training.config)
        self.refresh()

    def _show_read(self, info: RunState, config: Any) -> None:
        self._take_run(info.path, info.state, config)
        self._is_read = False
        if info.state == "running":
            self._follow(info.path, 0)
        else:
            self._read_past(info.path, None, self._earlier_heard)
        self.refresh()

    def _take_run(self, run_dir: Path | None, outcome: str, config: Any) -> None:
        """Have this run, or none, and nothing more of the one before."""
        self.run_dir, self.run_config, self._outcome, self._at_form = run_dir, config, outcome, False
        self.host = ""
        if run_dir is not None:
            self.host = self.session.training.state.host if self.is_running else host_of(run_dir)
        self._to_show = self._started = self._step = self._waiting = self._following = None
        self._said_running, self._is_read = False, True
        self._again.stop()
        self._reading.drop()
        self._past.drop()
        self.charts.clear()
        if run_dir is not None:
            self.failure.hide()
            for figure in self.findChildren(Figure):
                figure.set_caption([(self.tr("run"), run_dir.name)])
            self.show_config(config)

    def _read_past(self, run_dir: Path, first_step: int | None, ended: Callable[[], None]) -> None:
        """Draw what a run has said before a step, or all of it; what it says meanwhile waits."""
        self._waiting = []
        self._past.ask(
            (run_dir, first_step),
            partial(past_events, run_dir, first_step),
            heard=self._feed,
            refused=self.refuse,
            ended=ended,
            again=True,
        )

    def _follow(self, run_dir: Path, offset: int) -> None:
        """Draw what a run says that another process trains, and look again in a moment."""
        self._following = (run_dir, offset)
        self._past.ask(
            (run_dir, offset, object()),
            partial(news, run_dir, offset),
            heard=self._take_news,
            refused=self._refuse_news,
            again=True,
        )

    def _refuse_news(self, error: BaseException) -> None:
        self._is_read = True
        self.refuse(error)
        self.refresh()

    def _take_news(self, heard: News) -> None:
        if self._following is None or self.run_dir is None:
            return
        if heard.is_anew:
            self.charts.clear()
        self._following, self._is_read = (self.run_dir, heard.offset), True
        self._feed(list(heard.events))
        if heard.has_more:
            self._look_again()
        elif heard.state == "running" or self.is_running:
            if not self._said_running and not self.is_running:
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

    def leave_run(self) -> None:
        """Show the form for a new run, as it was left; a run under way goes on meanwhile."""
        if self.is_running:
            self._at_form = True
        else:
            self._take_run(None, "", None)
        self.refresh()

    def _show_running(self) -> None:
        """Show the run under way again."""
        self._at_form = False
        self.failure.hide()
        self.refresh()

    def new_from_run(self) -> None:
        """Show the form with the settings of the run that is shown; nothing is started."""
        config, host = self.run_config, self.host
        self.failure.hide()
        self.leave_run()
        if config is not None:
            self.setup.clear_refusals()
            self.setup.where.choose(host)
            gone = self.take_settings(config)
            if gone:
                text = self.tr("The settings are those of that run, but these no longer exist: {places}.")
                self.failure.show_text("look", text.format(places=words.listed(gone)))
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
        if not self.is_shown or self._following is not None:  # its files are read anyway
            return
        for place, event in reversed(list(enumerate(events))):
            if isinstance(event, Started) and self._continues(event):
                if self.host:  # which is heard from its beginning, and cut back where it was resumed
                    self.charts.clear()
                    events = events[place:]
                self._read_past(event.run_dir, event.first_step, self._past_heard)
                break
        if self._waiting is not None:
            self._waiting += events
        else:
            self._feed(events)

    def _continues(self, event: Started) -> bool:
        """Whether a run begins where it was before, or once more."""
        return event.first_step > 1 or (bool(self.host) and self._started is not None)

    def _past_heard(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting:
            self._feed(waiting)

    def _earlier_heard(self) -> None:
        self._past_heard()
        self._is_read = True
        if not self.is_running:
            self._show_end(0.0)
            self.refresh()

    def _run_failed(self, error: BaseException) -> None:
        if not isinstance(error, UserError | MemoryError) or not self.is_mine:
            return  # it is the window's to show
        if self._at_form:
            self.refuse(error)  # its fields are those of another run
            return
        self.refuse_settings(error)
        if self.session.training.state.contact is None:
            self.setup.where.check_again()  # so that what is lacking there can be installed

    def _run_ended(self) -> None:
        if self.is_shown:
            training = self.session.training.state
            self._outcome = "running" if training.outcome == LEFT else training.outcome
            step = training.step
            if step is None and not (self.run_dir and (self.run_dir / CONFIG).is_file()):
                self.leave_run()  # refused or stopped before there was a run: the form says why
                return
            if self._at_form:
                self._leave_ended()
                return
            self._show_end(
                training.finished.seconds if training.finished else step.elapsed_s if step else 0.0
            )
            if self._outcome == "running" and self.run_dir is not None:
                self._follow(self.run_dir, (self.run_dir / METRICS).stat().st_size)
        self.refresh()

    def _leave_ended(self) -> None:
        """Say that a run has ended, and leave the form in view in which another one is prepared."""
        ended, outcome = self.run_dir, self._outcome
        assert ended is not None
        self.leave_run()
        if outcome == "failed":
            return  # why is said already
        template = self.tr("{name} is {state}.")
        if outcome == "running":
            template = self.tr("{name} continues on {host}.")
        text = template.format(name=run_title(ended), state=state_words(outcome), host=host_of(ended))
        self.failure.show_text("note", text, [(self.tr("Show it"), partial(self.show_run, ended))])

    def _show_end(self, seconds: float) -> None:
        has_model = self.model_folder is not None
        self.charts.end(self._outcome, self.run_dir, seconds, has_model=has_model)

    def refuse_settings(self, error: BaseException) -> None:
        """Say beside its field why a run cannot be, or above where it is of no field of the form."""
        shown = isinstance(error, UserError) and self.setup.show_refusal(error)
        if not shown or not isinstance(error, ConfigError):
            self.refuse(error)
        self.refresh()

    @property
    def model_folder(self) -> Path | None:
        """The model that the shown run has left; None while it has none."""
        folder = self.run_dir / MODEL if self.run_dir else None
        return folder if folder is not None and (folder / "config.json").is_file() else None

    def copy_command(self) -> None:
        """Put the command that does the same without a window on the clipboard."""
        try:
            command = self.command(self.run_config if self.shows_run else self.asked())
        except UserError as error:
            self.refuse_settings(error)
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
            text = self.tr("No program shows folders here. It is at {path}.")
            self.failure.show_text("note", text.format(path=folder))
