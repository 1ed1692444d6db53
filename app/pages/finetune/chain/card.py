"""A chain as it runs or as its files tell it: its stages, their curves, and what each has gained."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from app import words
from app.look.labels import ElidedLabel, label, set_or_hide, tip
from app.look.layout import STRETCH, column, row
from app.look.widgets import Card, ScrollView, button, set_role
from app.pages.finetune.chain.curves import ChainCurves
from app.pages.finetune.chain.requests import (
    FINISHED,
    RUNNING,
    ChainFound,
    Place,
    names_of,
    place_of,
    places_of,
    read_chain,
)
from app.pages.finetune.chain.words import (
    BASE,
    gain_of,
    gain_words,
    result_words,
    run_words,
    stage_title,
    verdict_words,
)
from app.pages.run.progress import RunProgress
from app.pages.tasks.known import views_of
from app.plots.buttons import save_icon
from app.plots.ways import WayRow, WaysPlot
from app.session import Session
from app.work.titles import run_title
from app.work.worker import Channel
from engine.errors import UserError
from engine.events import Event, Gained, Noted, Started, Step
from engine.settings.pipeline import PipelineConfig
from engine.train.metrics import mean_interval
from engine.train.pipeline import is_pipeline

FOLLOW_MS = 2000  # between two looks at a chain that another process trains
EDGE = 8  # px around the rows of a figure


class ChainCard(Card):
    """One chain. `closed`: a person goes back to the form; `refused`: it could not even begin."""

    closed = Signal()
    changed = Signal()
    refused = Signal(object)
    try_wanted = Signal(object)  # Path of a model

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("chain")
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # where nothing can be pressed while it is saved
        self._session, self._read = session, Channel(self, session.workers.quick)
        self._again = QTimer(self, singleShot=True, interval=FOLLOW_MS)
        self._again.timeout.connect(self._look_again)
        self.folder: Path | None = None
        self.config: PipelineConfig | None = None
        self.is_running = False
        self._state = ""
        self._reached: dict[str, Gained] = {}
        self._place: Place | None = None
        self._notes: dict[str, None] = {}
        self._model: Path | None = None
        self.set_title(self.tr("Adapt to your texts first"))
        self.progress = RunProgress()
        self.saying = label("", wrap=True, name="chain_words")
        self.failure = label("", "refusal", wrap=True, name="chain_failure")
        self.table = QWidget()
        self.table.setObjectName("chain_table")
        self.plot = WaysPlot(self.tr("Score after each stage"))
        self.plot.setObjectName("chain_plot")
        self.plot.set_empty_text(self.tr("Each stage appears here once its first fine-tuning has ended."))
        self.curves = ChainCurves()
        self.notes = label("", "muted", wrap=True, name="chain_notes")
        self._make_buttons()
        self._lay_out()
        training = session.training
        training.heard.connect(self._hear)
        training.changed.connect(self._show_progress)
        training.started.connect(self._begin)
        training.ended.connect(self._end)
        if training.is_running and training.run_dir is not None:
            self._begin(training.run_dir)
        self._show()

    def _make_buttons(self) -> None:
        training = self._session.training
        self.pause_button = button(self.tr("Pause"), icon="pause", name="pause_chain", call=training.pause)
        self.go_on_button = button(self.tr("Continue"), "primary", name="go_on_chain", call=self._go_on)
        self.stop_button = button(self.tr("Stop and keep"), name="stop_chain", call=training.stop)
        self.close_button = button(self.tr("Back to settings"), "link", name="close_chain", call=self.closed)
        self.runs_button = button(
            self.tr("Show its runs"),
            "link",
            name="chain_runs",
            call=partial(self._session.show_page, "runs"),
        )
        self.try_button = button(self.tr("Try it on a text"), name="try_chain", call=self._try)
        self.stop_button.setToolTip(
            self.tr("End after this step and keep what was learned. You can resume it later.")
        )
        self.try_button.setToolTip(self.tr("The model of the last stage, fine-tuned with the first seed"))

    def _lay_out(self) -> None:
        self.add_corner(save_icon(self.plot))
        for part in (self.saying, self.failure, self.progress):
            self.add(part)
        inner = QWidget()
        set_role(inner, "clear")
        column(self.table, self.plot, self.curves, self.notes, STRETCH, gap=12, parent=inner)
        self.add(ScrollView(inner), 1)
        right = (self.runs_button, self.pause_button, self.stop_button, self.go_on_button, self.try_button)
        self.body.addLayout(row(self.close_button, STRETCH, *right))

    # ---- which chain

    def show_folder(self, folder: Path | None) -> None:
        """Show a chain as its files tell it, or none; one that is under way stays."""
        if self.is_running or folder == self.folder:
            return
        self._forget(folder)
        self._show()
        if folder is not None:
            self._ask(folder)

    def _forget(self, folder: Path | None) -> None:
        self._read.drop()
        self.folder, self.config, self.is_running, self._state = folder, None, False, ""
        self._reached, self._place, self._notes, self._model = {}, None, {}, None
        self.failure.hide()
        self.curves.clear()
        caption = [(self.tr("chain"), folder.name)] if folder is not None else []
        for figure in (self.plot, self.curves.plot):
            figure.set_caption(caption)

    def _ask(self, folder: Path) -> None:
        """Read what the files tell; again, for they have grown."""
        self._read.ask(
            folder, partial(read_chain, folder), heard=self._take, refused=self._refuse, again=True
        )

    def _take(self, found: ChainFound) -> None:
        if found.folder != self.folder:
            return
        self.config, self._state, self._model = found.config, found.state, found.model
        self._reached = {**self._reached, **found.reached}
        if found.notes:
            self._notes = dict.fromkeys(found.notes)
        self.curves.show_curves(found.stages, found.curves)
        if found.state == RUNNING and not self.is_running:
            self._again.start()
        self._show()
        self.changed.emit()

    def _refuse(self, error: BaseException) -> None:
        if not self.is_running:  # of one that has just begun the files come later
            set_or_hide(self.failure, words.say_error(error))
        self._show()

    # ---- the chain under way

    @property
    def _is_mine(self) -> bool:
        return self.is_running and isinstance(self._session.training.config, PipelineConfig)

    def _begin(self, folder: Path) -> None:
        config = self._session.training.config
        if not isinstance(config, PipelineConfig):
            return
        if folder != self.folder:
            self._forget(folder)
        self.config, self.is_running, self._state = config, True, RUNNING
        self.failure.hide()
        self.curves.show_curves(names_of(config), {})
        if is_pipeline(folder):  # it goes on
            self._ask(folder)
        self._show()
        self.changed.emit()

    def _hear(self, events: list[Event]) -> None:
        if not self._is_mine:
            return
        steps, is_news = list[Step](), False
        for event in events:
            if isinstance(event, Step):
                steps.append(event)
                continue
            if isinstance(event, Started):
                self._hear_steps(steps)
                steps = []
                self._place = place_of(event.run_dir)
                self.curves.begin(self._place)
                is_news = True
            elif isinstance(event, Gained):
                self._reached[event.stage] = event
                is_news = True
            elif isinstance(event, Noted) and event.level == "look":
                self._notes[words.say(event.sentence)] = None
                is_news = True
        self._hear_steps(steps)
        if is_news:
            self._show()

    def _hear_steps(self, steps: list[Step]) -> None:
        if steps:
            self.curves.hear(steps)

    def _show_progress(self) -> None:
        if self._is_mine:
            self.progress.show_state(self._session.training.state)
            self._show_buttons()

    def _end(self) -> None:
        if not self._is_mine:
            return
        state, folder = self._session.training.state, self.folder
        assert folder is not None
        self.is_running, self._place, self._state = False, None, state.outcome
        self.curves.flush()
        error = state.error if isinstance(state.error, UserError | MemoryError) else None
        if not is_pipeline(folder):  # refused, or stopped before anything was written
            self._forget(None)
            if error is not None:
                self.refused.emit(error)
            self.changed.emit()
            return
        self._ask(folder)
        set_or_hide(self.failure, words.say_error(error) if error is not None else "")
        self._session.runs.find()
        self._show()
        self.changed.emit()

    def _look_again(self) -> None:
        """Read on what another process trains, while it is in view."""
        if self.folder is not None and not self.is_running and self._state == RUNNING:
            if self.isVisible():
                self._ask(self.folder)
            else:
                self._again.start()

    def _go_on(self) -> None:
        training = self._session.training
        if self.is_running:
            training.go_on()
        elif self.folder is not None:
            try:
                training.resume_pipeline(self.folder)
            except UserError as error:
                set_or_hide(self.failure, words.say_error(error))

    def _try(self) -> None:
        if self._model is not None:
            self.try_wanted.emit(self._model)

    # ---- what is shown

    def _show(self) -> None:
        stages = names_of(self.config) if self.config is not None else ()
        first = next((one for one in self._reached.values() if one.values), None)
        rows = [
            WayRow(stage_title(name), one.values, mean_interval(one.values, one.rows, one.metric))
            for name in stages
            if (one := self._reached.get(name)) is not None and one.values
        ]
        self.plot.set_rows(rows, first.metric if first is not None else "")
        self.plot.setFixedHeight(self.plot.top_of(max(1, len(rows), len(stages))) + EDGE)
        self.saying.setText(self._words(stages, first))
        set_or_hide(self.notes, words.sentences(self._notes))
        self._fill_table(stages)
        self.progress.setVisible(self.is_running)
        self.set_hint(self._hint(stages))
        self._show_buttons()

    def _show_buttons(self) -> None:
        training, keyboard = self._session.training, QApplication.focusWidget()
        state = training.state.state if self.is_running else ""
        can_go_on = not self.is_running and self._state not in (FINISHED, RUNNING, "")
        self.pause_button.setVisible(state == "running")
        self.stop_button.setVisible(self.is_running)
        self.stop_button.setEnabled(state != "stopping")
        self.stop_button.setText(self.tr("Stopping…") if state == "stopping" else self.tr("Stop and keep"))
        self.go_on_button.setVisible(state == "paused" or can_go_on)
        self.go_on_button.setText(self.tr("Resume") if state == "paused" else self.tr("Continue"))
        is_elsewhere = training.is_running and not self.is_running
        self.go_on_button.setEnabled(not is_elsewhere)
        waiting = self.tr("Another model is in training. This can start when it has ended.")
        self.go_on_button.setToolTip(waiting if is_elsewhere else "")
        self.close_button.setVisible(not self.is_running)
        self.runs_button.setVisible(not self.is_running and bool(self._reached))
        self.try_button.setVisible(not self.is_running and self._model is not None)
        buttons = (self.pause_button, self.go_on_button, self.stop_button, self.close_button)
        is_lost = keyboard in buttons and not (keyboard.isVisible() and keyboard.isEnabled())
        if is_lost or keyboard is self:
            self.take_keyboard()

    def _hint(self, stages: tuple[str, ...]) -> str:
        if self.is_running and self.config is not None and self._place is not None:
            places = places_of(self.config, stages)
            template = self.tr("Run {number} of {count}")
            number = places.index(self._place) + 1 if self._place in places else 1
            return template.format(number=words.number(number), count=words.number(len(places)))
        return run_title(self.folder) if self.folder is not None else ""

    def _words(self, stages: tuple[str, ...], first: Gained | None) -> str:
        if self.is_running and self._place is not None:
            return run_words(self._place)
        if self.is_running:
            return self.tr("Reading the texts and preparing the stages.")
        said = ""
        if first is not None:
            metric = views_of(self._session.data.task_name).metric(first.metric)
            said = result_words(stages, self._reached, metric)
        if self._state == RUNNING:
            return words.sentences([said, self.tr("This runs in the queue, or in another window.")])
        if self._state in (FINISHED, ""):
            return said
        more = self.tr("Not all stages are done. Continue resumes where it stopped.")
        return words.sentences([said, more])

    def _stage_words(self, stage: str) -> str:
        """Return how far a stage is."""
        assert self.config is not None
        seeds, done = self.config.stages.seeds, self._reached.get(stage)
        count = done.seeds_done if done is not None else 0
        if count == seeds:
            return self.tr("done")
        if self.is_running and self._place is not None and self._place[0] == stage:
            if self._place[1] is None:
                return self.tr("pretraining")
            text = self.tr("seed {number} of {count}")
            return text.format(number=words.number(count + 1), count=words.number(seeds))
        if count:
            return self.tr("{number} of {count} seeds").format(number=count, count=words.number(seeds))
        return self.tr("waiting") if self.is_running else self.tr("not done")

    def _fill_table(self, stages: tuple[str, ...]) -> None:
        """Show the stages under each other, two lines each: how far it is, and what it has gained."""
        old = self.table.layout()
        if old is not None:
            QWidget().setLayout(old)  # takes its labels along
        grid = QGridLayout(self.table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        right = Qt.AlignmentFlag.AlignRight
        for number, stage in enumerate(stages):
            loss = label(self._loss_words(stage), "muted")
            loss.setToolTip(tip(self.tr("The loss of masked words in held-out text, before and after")))
            grid.addWidget(ElidedLabel(stage_title(stage), "strong"), 3 * number, 0)
            grid.addWidget(label(self._stage_words(stage), "muted"), 3 * number, 1, right)
            grid.addWidget(ElidedLabel(self._gain_words(stage)), 3 * number + 1, 0)
            grid.addWidget(loss, 3 * number + 1, 1, right)
            grid.setRowMinimumHeight(3 * number + 2, 6)
        self.table.setVisible(bool(stages))

    def _gain_words(self, stage: str) -> str:
        """Return what a stage has gained; of the first, what it has reached."""
        done = self._reached.get(stage)
        if stage == BASE and done is not None and done.values:
            metric = views_of(self._session.data.task_name).metric(done.metric)
            return f"{words.score(done.mean)} {metric}"
        gain = gain_of(done, self._reached.get(BASE))
        return "" if gain is None else f"{gain_words(gain)} · {verdict_words(gain)}"

    def _loss_words(self, stage: str) -> str:
        done = self._reached.get(stage)
        if done is None or done.mlm_loss_before is None or done.mlm_loss_after is None:
            return ""
        before, after = words.decimal(done.mlm_loss_before, 2), words.decimal(done.mlm_loss_after, 2)
        return self.tr("loss {before} → {after}").format(before=before, after=after)

    # ---- the keyboard

    def take_keyboard(self) -> None:
        """Put the keyboard where the chain goes on, never on what ends it."""
        onwards = (self.pause_button, self.go_on_button, self.try_button, self.close_button)
        able = (part for part in onwards if part.isVisible() and part.isEnabled())
        next(able, self).setFocus()
