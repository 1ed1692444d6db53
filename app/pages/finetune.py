"""The Fine-tune page: teach a pretrained BERT your labels and watch it learn.

The page starts nothing by itself and keeps no state of the run: the session does, and tells it in events.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from PySide6.QtCore import Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app import theme, words
from app.banner import Banner
from app.newest import NewestJob
from app.pages.finetune_charts import Charts
from app.pages.finetune_past import past_events
from app.pages.finetune_setup import SetupCard
from app.session import Session, sample_data_path
from app.settings import AppSettings
from app.study import Answer
from app.widgets import GAP, Card, EmptyState, Page, button, set_role
from engine.command_line import finetune_command
from engine.config import FineTuneConfig, values_of
from engine.errors import ConfigError, UserError
from engine.events import Event, Started
from engine.text.examples import Roles
from engine.train.runs import new_run_dir

COPIED_MS = 1_500
EMPTY_WIDTH = 380


class FineTunePage(Page):
    """Settings at the left, the run at the right, at most three actions above."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("", "", parent)
        self.setObjectName("finetune_page")
        self.header.title_label.setText(self.tr("Fine-tune"))
        self.header.set_sentence(self.tr("Teach a pretrained BERT your labels and watch it learn."))
        self._session = session
        self._data_problem: BaseException | None = None
        self._starting = False  # a new run, not a resumed one
        self._has_run = False  # whether the charts show a run
        self._past = NewestJob(self)
        self._waiting: list[Event] | None = None  # events that came while the past of a resumed run is read
        self.setup = SetupCard(session)
        self.setup.setObjectName("setup_card")
        self.charts = Charts()
        self._make_actions()
        self._make_body()
        self._copied = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._copied.timeout.connect(self._show_copy)
        self._connect()
        if session.run_dir is not None:
            self._run_started(session.run_dir)
        self.refresh()

    def _make_actions(self) -> None:
        self.copy_button = button(self.tr("Copy as command"), icon="copy", name="copy_command")
        self.pause_button = button(self.tr("Pause"), icon="pause", name="pause")
        self.go_on_button = button(self.tr("Resume"), icon="resume", name="go_on")
        self.start_button = button(self.tr("Start"), "primary", name="start")
        self.stop_button = button(self.tr("Stop and keep"), "primary", name="stop")
        self.try_button = button(self.tr("Try it on a text"), "primary", name="try_it")
        self.pause_button.setToolTip(self.tr("Stand still after this step; the window stays usable."))
        self.stop_button.setToolTip(
            self.tr("End after this step and keep what was learned; it can be resumed later.")
        )
        for action in self._actions():
            self.header.add_action(action)

    def _actions(self) -> tuple[QPushButton, ...]:
        return (
            self.copy_button, self.pause_button, self.go_on_button, self.start_button, self.stop_button,
            self.try_button,
        )  # fmt: skip

    def _make_body(self) -> None:
        self.failure = Banner(name="failure")
        self.empty = EmptyState("", self.tr("Open data"))
        self.empty.setObjectName("empty_state")
        self.empty.button.setObjectName("empty_action")
        self.empty.label.setMinimumWidth(EMPTY_WIDTH)
        self.random_link = button(self.tr("Start from random weights"), "link", name="random_weights")
        column = cast(QVBoxLayout, self.empty.layout())
        column.addWidget(self.random_link, 0, Qt.AlignmentFlag.AlignHCenter)
        empty_card = Card()
        empty_card.add(self.empty, 1)
        self.stack = QStackedWidget()
        self.stack.addWidget(empty_card)
        self.stack.addWidget(self.charts)
        columns = QHBoxLayout()
        columns.setSpacing(GAP)
        columns.addWidget(self.setup)
        columns.addWidget(self.stack, 1)
        self.body.addWidget(self.failure)
        self.body.addLayout(columns, 1)

    def _connect(self) -> None:
        session = self._session
        self.copy_button.clicked.connect(self.copy_command)
        self.pause_button.clicked.connect(session.pause_training)
        self.go_on_button.clicked.connect(self._go_on)
        self.start_button.clicked.connect(self.start)
        self.stop_button.clicked.connect(session.stop_training)
        self.try_button.clicked.connect(self._lead_to_predict)
        self.charts.watching.try_wanted.connect(self._lead_to_predict)
        self.charts.watching.folder_wanted.connect(self._open_folder)
        self.empty.activated.connect(self._empty_action)
        self.random_link.clicked.connect(self.setup.chooser.start_from_random_weights)
        self.setup.changed.connect(self._setup_changed)
        session.table_problem.connect(self._data_failed)
        session.study_changed.connect(self._data_changed)
        session.training_started.connect(self._run_started)
        session.training_heard.connect(self._hear)
        session.training_changed.connect(self.refresh)
        session.training_failed.connect(self._run_failed)
        session.training_ended.connect(self._run_ended)

    # ---- what is missing

    def missing(self) -> str:
        """Return what a run still lacks: "data", "roles", "labels", "model"; "" for nothing."""
        session = self._session
        if session.table is None:
            return "data"
        if session.roles is None or not session.roles.text or not session.roles.label:
            return "roles"
        if self._data_refusal():
            return "labels"
        return "model" if session.model is None else ""

    @Slot()
    def refresh(self) -> None:
        """Show the actions and the cards that fit the moment."""
        session, missing = self._session, self.missing()
        state, outcome = session.training.state, session.training.outcome
        running = session.is_training
        paused, stopping = state == "paused", state == "stopping"
        ended = self._has_run and not running
        can_resume = ended and outcome in ("stopped", "failed") and self._has_checkpoint()
        finished = ended and outcome == "finished" and self._model_folder() is not None
        self.pause_button.setVisible(running and not paused)
        self.pause_button.setEnabled(not stopping)
        self.go_on_button.setVisible(paused or (can_resume and not running))
        self.go_on_button.setText(self.tr("Resume") if paused else self.tr("Resume training"))
        self.stop_button.setVisible(running)
        self.stop_button.setEnabled(not stopping)
        self.stop_button.setText(self.tr("Stopping…") if stopping else self.tr("Stop and keep"))
        self.start_button.setVisible(not running)
        self.start_button.setText(self.tr("Start again") if finished or can_resume else self.tr("Start"))
        set_role(self.start_button, "" if finished else "primary")
        self.try_button.setVisible(finished)
        ready = not missing and session.study is not None
        self.start_button.setEnabled(ready)
        self.copy_button.setEnabled(ready or running)
        self.start_button.setToolTip("" if ready else self._missing_words(missing))
        self.setup.set_locked(running)
        self.stack.setCurrentIndex(0 if missing and not self._has_run else 1)
        self.empty.set_text(self._missing_words(missing))
        self.random_link.setVisible(missing == "model")
        columns = self.tr("Choose the columns")
        actions = {"data": self.tr("Open data"), "roles": columns, "labels": columns}
        self.empty.button.setText(actions.get(missing, self.tr("Choose a model folder…")))

    def _missing_words(self, missing: str) -> str:
        match missing:
            case "data":
                return self.tr("Fine-tuning needs a table with texts and their labels. Open one first.")
            case "roles":
                return self.tr("Say which column holds the texts and which the labels.")
            case "model":
                return self.tr(
                    "Choose what to start from: a pretrained BERT learns your labels soonest; "
                    "random weights know nothing yet."
                )
        return self._data_refusal() or self.tr("The texts are still being counted.")

    def _data_refusal(self) -> str:
        """Return why nothing can be learned from the table as it is; "" where it can, or is not known yet."""
        study = self._session.study
        if study is not None:
            return words.say(study.refusal) if study.refusal is not None else ""
        return words.say_error(self._data_problem) if self._data_problem is not None else ""

    @Slot()
    def _empty_action(self) -> None:
        if self.missing() == "model":
            self.setup.chooser.browse()
        else:
            self._session.page_requested.emit("data")

    @Slot(object)
    def _data_failed(self, error: BaseException) -> None:
        if (
            self._session.table is not None and self._session.study is None
        ):  # read, but not to be learned from
            self._data_problem = error
            self.refresh()

    @Slot()
    def _data_changed(self) -> None:
        self._data_problem = None
        self.refresh()

    @Slot()
    def _setup_changed(self) -> None:
        if not self._session.is_training:
            self.charts.set_outlook(self.setup.outlook())
        self.refresh()

    # ---- the run

    @Slot()
    def start(self) -> None:
        """Start training with the settings as they stand; a refusal appears beside its field."""
        self._set_failure(None)
        self.setup.form.clear_refusals()
        try:
            config = self.setup.config()
            self.charts.set_outlook(self.setup.outlook())
            self._starting = True
            self._session.start_training(config)
        except UserError as error:
            self._refuse(error)
        finally:
            self._starting = False

    @Slot()
    def _go_on(self) -> None:
        if self._session.training.state == "paused":
            self._session.continue_training()
        elif self._session.run_dir is not None:
            self._set_failure(None)
            try:
                self._session.resume_training(self._session.run_dir)
            except UserError as error:
                self._refuse(error)

    @Slot(object)
    def _run_started(self, run_dir: Path) -> None:
        self._has_run = True
        self._set_failure(None)
        self.charts.clear()
        self._waiting = None
        config = self._session.training_config
        if config is not None and not self._starting:
            self._show_settings_of(config)
        self.refresh()

    def _show_settings_of(self, config: FineTuneConfig) -> None:
        """Show what a resumed run was started with; open its table and model where none is open."""
        session = self._session
        self.setup.form.set_values(values_of(config))
        if session.table is None and Path(config.data.data).is_file():
            data = config.data
            overrides = {name: getattr(data, name) for name in session.table_overrides}
            roles = Roles(data.text, data.text_pair, data.label)
            session.open_table(data.data, roles=roles, **overrides)
        elif session.table is not None and str(session.table.path) != config.data.data:
            self.charts.set_outlook(None)  # what is open is not what is being learned
        else:
            self.setup.predict()
            self.charts.set_outlook(self.setup.outlook())
        if session.model is None:
            session.set_model(config.model.model, config.model.vocab, config.model.lowercase)

    @Slot(list)
    def _hear(self, events: list[Event]) -> None:
        """Draw events; of a resumed run first those before it, which its files know."""
        for event in events:
            if isinstance(event, Started) and event.first_step > 1:
                self._waiting = []
                task = partial(past_events, event.run_dir, event.first_step)
                self._past.start(task, heard=self._hear_past, failed=self._run_failed, ended=self._past_heard)
        if self._waiting is not None:
            self._waiting += events
        else:
            self.charts.hear(events)

    def _hear_past(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Answer):
                self.charts.hear(event.value)

    def _past_heard(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting:
            self.charts.hear(waiting)

    @Slot(object)
    def _run_failed(self, error: BaseException) -> None:
        if isinstance(error, UserError | MemoryError):  # all else is shown by the window, as a fault of ours
            self._refuse(error)

    @Slot()
    def _run_ended(self) -> None:
        training = self._session.training
        step = training.step
        seconds = training.finished.seconds if training.finished else step.elapsed_s if step else 0.0
        has_model = self._model_folder() is not None
        self.charts.loss.flush()
        self.charts.accuracy.flush()
        self.charts.watching.show_outcome(
            training.outcome, self._session.run_dir, seconds, has_model=has_model
        )
        self.refresh()

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

    def _model_folder(self) -> Path | None:
        run_dir = self._session.run_dir
        folder = run_dir / "model" if run_dir else None
        return folder if folder is not None and (folder / "config.json").is_file() else None

    def _has_checkpoint(self) -> bool:
        run_dir = self._session.run_dir
        return run_dir is not None and (run_dir / "checkpoints").is_dir()

    # ---- onwards

    @Slot()
    def copy_command(self) -> None:
        """Put the command that does the same without a window on the clipboard."""
        session = self._session
        try:
            running = session.training_config if session.is_training else None
            config = running or self.setup.config()
            command = finetune_command(config, new_run_dir(session.runs_root, Path(config.data.data).stem))
        except UserError as error:
            self._refuse(error)
            return
        QGuiApplication.clipboard().setText(command)
        self.copy_button.setText(self.tr("Copied"))
        self._copied.start()

    @Slot()
    def _show_copy(self) -> None:
        self.copy_button.setText(self.tr("Copy as command"))

    @Slot()
    def _lead_to_predict(self) -> None:
        self._session.page_requested.emit("predict")

    @Slot()
    def _open_folder(self) -> None:
        folder = self._model_folder() or self._session.run_dir
        if folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def main() -> int:
    """Show the page alone: the sample sentences, a small model from random weights."""
    with TemporaryDirectory() as folder:
        app = QApplication(sys.argv)
        settings = AppSettings(Path(folder) / "settings.ini")
        settings.runs_root = folder
        theme.apply_theme(app, settings.theme)
        session = Session(settings)
        page = FineTunePage(session)
        page.resize(1104, 780)
        page.show()
        session.open_table(sample_data_path())
        page.setup.chooser.start_from_random_weights()
        result = app.exec()
        session.close()
    return result


if __name__ == "__main__":
    sys.exit(main())
