"""The one training job: what it says is kept here, so that every page and the status bar tell the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.work.job import Job
from app.work.known_runs import KnownRuns
from app.work.later import later
from app.work.library import ModelLibrary
from app.work.mends import Mends
from app.work.queue import QueueWatch
from app.work.training_state import LEFT, TrainingState
from engine.errors import RunError, UserError, marked
from engine.events import Event, Progress, Step
from engine.runs.queue import QueuedConfig
from engine.runs.turn import in_turn
from engine.settings.family import FamilyConfig
from engine.settings.finetune import ComparisonConfig, FineTuneConfig
from engine.settings.pipeline import PipelineConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.mirrored import host_of
from engine.train.run.runs import CONFIG, AnyConfig, new_run_dir, read_config, run_info
from engine.train.run.wanted import GO, PAUSE, STOP, want

if TYPE_CHECKING:
    from engine.family.train import train_family
    from engine.remote.run import follow, resume_there, train_there
    from engine.train.comparison import compare, read_comparison
    from engine.train.finetune import fine_tune
    from engine.train.pipeline import pipeline, read_pipeline
    from engine.train.pretrain import pretrain
    from engine.train.pretraining.watch import WatchQuestions
    from engine.train.resume import resume
else:
    compare, read_comparison = (
        later("engine.train.comparison", name) for name in ("compare", "read_comparison")
    )
    follow, resume_there, train_there = (
        later("engine.remote.run", name) for name in ("follow", "resume_there", "train_there")
    )
    train_family = later("engine.family.train", "train_family")
    fine_tune = later("engine.train.finetune", "fine_tune")
    pipeline, read_pipeline = (later("engine.train.pipeline", name) for name in ("pipeline", "read_pipeline"))
    pretrain = later("engine.train.pretrain", "pretrain")
    resume = later("engine.train.resume", "resume")
    WatchQuestions = later("engine.train.pretraining.watch", "WatchQuestions")

CALM_MS = 250

TrainConfig = FineTuneConfig | PretrainConfig | ComparisonConfig | PipelineConfig | FamilyConfig


def run_name(config: TrainConfig) -> str:
    """Return what a run is named after: its table, or the first of its texts."""
    if isinstance(config, ComparisonConfig):
        return f"compare-{run_name(config.own)}"
    if isinstance(config, PipelineConfig):
        return f"adapt-{Path(config.data.data).stem}"
    if isinstance(config, FineTuneConfig):
        return Path(config.data.data).stem
    places = config.text.text.splitlines()
    name = Path(places[0]).name.partition(".")[0] if places else ""
    return f"family-{name}" if isinstance(config, FamilyConfig) else name


def only_here(config: TrainConfig) -> UserError | None:
    """Return why a training cannot be done on another computer; None where it can."""
    if isinstance(config, AnyConfig):
        return None
    template = marked(
        "engine", "A comparison of methods trains on this computer only. Choose it under Where."
    )
    if isinstance(config, PipelineConfig):
        template = marked(
            "engine",
            "Pretraining with fine-tuning after it trains on this computer only. Choose it under Where, or "
            "start the two one after the other.",
        )
    return UserError(template)


class TrainingJob(QObject):
    """Starts, pauses and stops training; never two jobs at once.

    A run of another computer is followed by the same job. It may be left at any time: it continues there.
    """

    started = Signal(object)  # Path run_dir
    heard = Signal(list)
    changed = Signal()
    failed = Signal(object)
    ended = Signal()
    result_changed = Signal()  # of `last_model`
    left = Signal(object)  # Path: a model, of whatever kind of training

    def __init__(
        self,
        runs: KnownRuns,
        library: ModelLibrary,
        mends: Mends,
        queue: QueueWatch,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runs, self._library, self._mends, self._queue = runs, library, mends, queue
        self.state = TrainingState()
        self.config: TrainConfig | None = None
        self.questions: WatchQuestions | None = None  # to the model that is being pretrained
        self.run_dir: Path | None = None
        self.last_model: Path | None = None
        self._job: Job | None = None
        self._next: Callable[[], None] | None = None  # begins once the run that is followed is left
        self._is_there = False  # whether a run of another computer goes on without this one
        self._calm = QTimer(self, singleShot=True, interval=CALM_MS)
        self._calm.timeout.connect(self.changed)

    @property
    def is_running(self) -> bool:
        """Whether a job is running, paused or stopping."""
        return self._job is not None

    @property
    def may_leave(self) -> bool:
        """Whether what runs is a run of another computer, which continues when nobody here listens."""
        return self.is_running and self._is_there

    @property
    def is_busy(self) -> bool:
        """Whether another training has to wait for the one that runs."""
        return self.is_running and not self.may_leave

    def start(self, config: TrainConfig, host: str = "") -> Path:
        """Train in a new run folder and return it. Args: host: where; "": on this computer.

        Raises: RunError if a training is under way; UserError.
        """
        self._refuse_second()
        if host and (why := only_here(config)) is not None:
            raise why
        self._mends.save()
        run_dir = new_run_dir(self._runs.root, run_name(config))
        if host:
            assert isinstance(config, AnyConfig)
            there = partial(train_there, config, run_dir, host)
            self._after_leaving(partial(self._run, there, run_dir, config, host=host))
        else:
            self._after_leaving(partial(self._start_here, config, run_dir))
        return run_dir

    def _start_here(self, config: TrainConfig, run_dir: Path) -> None:
        questions = self._questions_of(config)
        task: Callable[[], Iterator[Event]]
        if isinstance(config, PretrainConfig):
            task = partial(pretrain, config, run_dir, questions=questions)
        elif isinstance(config, ComparisonConfig):
            task = partial(compare, config.own, run_dir, config.seeds)
        elif isinstance(config, PipelineConfig):
            task = partial(pipeline, config, run_dir)
        elif isinstance(config, FamilyConfig):
            task = partial(train_family, config, run_dir)
        else:
            task = partial(fine_tune, config, run_dir)
        self._run(task, run_dir, config, questions=questions)

    def put_in_queue(self, config: QueuedConfig, host: str = "") -> None:
        """Put a run at the end of the queue. Args: host: where; "": on this computer. Raises: UserError."""
        if host and (why := only_here(config)) is not None:
            raise why
        self._mends.save()
        self._queue.add([config], run_name(config), on=host)

    def resume(self, run_dir: Path, allowed: str = "") -> None:
        """Go on with a run that crashed or was stopped, where it was trained. Args: allowed: as for `follow`.

        Raises: RunError if one is under way; ConfigError.
        """
        self._refuse_second()
        config = read_config(run_dir)
        self._runs.dismiss(run_dir)
        if host := host_of(run_dir):
            task = partial(resume_there, run_dir, told=0, host=allowed)
            self._after_leaving(partial(self._run, task, run_dir, config, host=host, is_there=True))
        else:
            self._after_leaving(partial(self._resume_here, run_dir, config))

    def _resume_here(self, run_dir: Path, config: AnyConfig) -> None:
        questions = self._questions_of(config)
        self._run(partial(resume, run_dir, questions=questions), run_dir, config, questions=questions)

    def follow(self, run_dir: Path, allowed: str = "") -> None:
        """Watch a run of another computer; one that is followed now is left.

        Args:   allowed: the host that a person has allowed to be asked, where the folder was not made here.
        Raises: RunError if one trains here; ConfigError.
        """
        self._refuse_second()
        config, task = read_config(run_dir), partial(follow, run_dir, told=0, host=allowed)
        there = host_of(run_dir)
        self._after_leaving(partial(self._run, task, run_dir, config, host=there, is_there=True))

    def leave(self) -> None:
        """Listen no more to a run of another computer, which continues there; `ended` follows."""
        if self.may_leave and self._job is not None:
            self._job.stop()

    def _after_leaving(self, begin: Callable[[], None]) -> None:
        """Begin, once a run of another computer that is followed is left."""
        if self._job is None:
            begin()
        else:
            self._next = begin
            self._job.stop()

    def resume_comparison(self, folder: Path) -> None:
        """Go on with a comparison that was stopped. Raises: RunError if a training is under way."""
        self._refuse_second()
        config = ComparisonConfig(*read_comparison(folder))
        task = partial(compare, config.own, folder, config.seeds)
        self._after_leaving(partial(self._run, task, folder, config))

    def resume_pipeline(self, folder: Path) -> None:
        """Go on with a pipeline from its folder. Raises: UserError, as `resume_comparison`."""
        self._refuse_second()
        config = read_pipeline(folder)
        self._after_leaving(partial(self._run, partial(pipeline, config, folder), folder, config))

    def _refuse_second(self) -> None:
        if self.is_busy:
            raise RunError(
                marked("engine", "A model is already in training. Stop it, or wait until it has ended.")
            )

    def _questions_of(self, config: TrainConfig) -> WatchQuestions | None:
        """Return whom to ask while a run learns here, where it can be asked."""
        if not isinstance(config, PretrainConfig):
            return None
        return WatchQuestions([line for line in config.budget.pins.splitlines() if line.strip()])

    def _run(
        self,
        task: Callable[[], Iterator[Event]],
        run_dir: Path,
        config: TrainConfig,
        *,
        questions: WatchQuestions | None = None,
        host: str = "",
        is_there: bool = False,
    ) -> None:
        """Train once it is the window's turn: the queue may be at work; another computer has its own turns.

        Args: is_there: whether it goes on there, whoever listens.
        """
        self.config, self.questions, self._is_there = config, questions, is_there
        first = marked("engine", "Connecting") if host else marked("engine", "Reading")
        self.state = TrainingState(
            name=run_name(config),
            is_pretraining=isinstance(config, PretrainConfig),
            state="running",
            host=host,
            stage=Progress(stage=first, done=0, total=0),
        )
        self.run_dir = run_dir
        job = self._job = Job(
            task if host else partial(in_turn, self._runs.root, task), self, name="training"
        )
        job.heard.connect(self._take)
        job.failed.connect(self._fail)
        job.state_changed.connect(self._change)
        job.ended.connect(self._end)
        self.started.emit(run_dir)
        job.start()
        self.changed.emit()

    def pause(self) -> None:
        """Let nothing more be computed until `go_on`. Raises: UserError."""
        if self.state.host:
            self._want(PAUSE)
        elif self._job is not None:
            self._job.pause()

    def go_on(self) -> None:
        """Go on after a pause. Raises: UserError."""
        if self.state.host:
            self._want(GO)
        elif self._job is not None:
            self._job.resume()

    def stop(self) -> None:
        """Stop at the next yield and keep what there is; `ended` follows when all is saved, and here.

        Raises: UserError.
        """
        if self._is_there:
            self.state.state = "stopping"
            self._want(STOP)
        elif self._job is not None:
            self._job.stop()

    def _want(self, what: str) -> None:
        """Ask for something of a run there; whoever follows it passes that on, as soon as it is connected."""
        if self._is_there and self.run_dir is not None:
            want(self.run_dir, what)
            self.state.wish = what
            self.changed.emit()

    def _take(self, events: list[Event]) -> None:
        for event in events:
            self.state.take(event)
        contact = self.state.contact  # who is lost while it is sent has not begun it
        self._is_there = self._is_there or (contact is not None and contact.is_connected)
        self.heard.emit(events)
        if not all(isinstance(event, Step | Progress) for event in events):
            self.changed.emit()
        elif not self._calm.isActive():  # steps are told on four times a second, whatever their pace
            self._calm.start()

    def _fail(self, error: BaseException) -> None:
        self.state.error = error
        self.failed.emit(error)

    def _change(self, state: str) -> None:
        if state != "ended" and not self._is_there:  # told by _end, when the job is gone; there, by Contact
            self.state.state = state
            self.changed.emit()

    def _end(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            self.state.outcome = self._outcome_there(job.outcome) if self.state.host else job.outcome
            job.deleteLater()
        self.state.state, self._is_there = "ended", False
        self._calm.stop()
        self.changed.emit()
        self._remember()
        self.ended.emit()
        begin, self._next = self._next, None
        if begin is not None:
            begin()

    def _outcome_there(self, outcome: str) -> str:
        """Return how a run of another computer stands, as it was heard last. Args: outcome: of the job."""
        assert self.run_dir is not None
        if not (self.run_dir / CONFIG).is_file():  # nothing was begun there
            return outcome
        return {"finished": "finished", "stopped": "stopped", "running": LEFT}.get(
            run_info(self.run_dir).state, "failed"
        )

    def _remember(self) -> None:
        """Remember the model that the run has left, if there is one."""
        folder = self.run_dir / "model" if self.run_dir else None
        if folder is None or not (folder / "config.json").is_file():
            return
        self._library.remember(folder, trained=True)
        if isinstance(self.config, FineTuneConfig):  # an encoder alone answers nothing
            self.last_model = folder
            self.result_changed.emit()
        self.left.emit(folder)
