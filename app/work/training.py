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
from app.work.training_state import TrainingState
from engine.errors import RunError, marked
from engine.events import Event, Progress, Step
from engine.runs.queue import QueuedConfig
from engine.runs.turn import in_turn
from engine.settings.family import FamilyConfig
from engine.settings.finetune import ComparisonConfig, FineTuneConfig
from engine.settings.pipeline import PipelineConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import new_run_dir, read_config

if TYPE_CHECKING:
    from engine.family.train import train_family
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


class TrainingJob(QObject):
    """Starts, pauses and stops training; never two jobs at once."""

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
        self._calm = QTimer(self, singleShot=True, interval=CALM_MS)
        self._calm.timeout.connect(self.changed)

    @property
    def is_running(self) -> bool:
        """Whether a job is running, paused or stopping."""
        return self._job is not None

    def start(self, config: TrainConfig) -> Path:
        """Train in a new run folder and return it. Raises: RunError if a training is under way."""
        self._refuse_second()
        self._mends.save()
        run_dir, questions = new_run_dir(self._runs.root, run_name(config)), self._take_config(config)
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
        self._run(task, run_dir, config)
        return run_dir

    def put_in_queue(self, config: QueuedConfig) -> None:
        """Put a run at the end of the queue. Raises: UserError."""
        self._mends.save()
        self._queue.add([config], run_name(config))

    def resume(self, run_dir: Path) -> None:
        """Go on with a run that crashed or was stopped. Raises: RunError if one is under way; ConfigError."""
        self._refuse_second()
        config = read_config(run_dir)
        self._runs.dismiss(run_dir)
        self._run(partial(resume, run_dir, questions=self._take_config(config)), run_dir, config)

    def resume_comparison(self, folder: Path) -> None:
        """Go on with a comparison that was stopped. Raises: RunError if a training is under way."""
        self._refuse_second()
        config = ComparisonConfig(*read_comparison(folder))
        self._take_config(config)
        self._run(partial(compare, config.own, folder, config.seeds), folder, config)

    def resume_pipeline(self, folder: Path) -> None:
        """Go on with a pipeline from its folder. Raises: UserError, as `resume_comparison`."""
        self._refuse_second()
        config = read_pipeline(folder)
        self._take_config(config)
        self._run(partial(pipeline, config, folder), folder, config)

    def _refuse_second(self) -> None:
        if self.is_running:
            raise RunError(
                marked("engine", "A model is already in training. Stop it, or wait until it has ended.")
            )

    def _take_config(self, config: TrainConfig) -> WatchQuestions | None:
        """Keep the settings of a run; return whom to ask while it learns, where it can be asked."""
        self.config, self.questions = config, None
        if isinstance(config, PretrainConfig):
            self.questions = WatchQuestions(
                [line for line in config.budget.pins.splitlines() if line.strip()]
            )
        return self.questions

    def _run(self, task: Callable[[], Iterator[Event]], run_dir: Path, config: TrainConfig) -> None:
        """Train once it is the window's turn: the queue may be at work."""
        self.state = TrainingState(
            name=run_name(config),
            is_pretraining=self.questions is not None,
            state="running",
            stage=marked("engine", "Reading"),
        )
        self.run_dir = run_dir
        job = self._job = Job(partial(in_turn, self._runs.root, task), self, name="training")
        job.heard.connect(self._take)
        job.failed.connect(self._fail)
        job.state_changed.connect(self._change)
        job.ended.connect(self._end)
        self.started.emit(run_dir)
        job.start()
        self.changed.emit()

    def pause(self) -> None:
        if self._job is not None:
            self._job.pause()

    def go_on(self) -> None:
        """Go on after a pause."""
        if self._job is not None:
            self._job.resume()

    def stop(self) -> None:
        """Stop at the next yield and keep what there is; `ended` follows when all is saved."""
        if self._job is not None:
            self._job.stop()

    def _take(self, events: list[Event]) -> None:
        for event in events:
            self.state.take(event)
        self.heard.emit(events)
        if not all(isinstance(event, Step | Progress) for event in events):
            self.changed.emit()
        elif not self._calm.isActive():  # steps are told on four times a second, whatever their pace
            self._calm.start()

    def _fail(self, error: BaseException) -> None:
        self.state.error = error
        self.failed.emit(error)

    def _change(self, state: str) -> None:
        if state != "ended":  # told by _end, when the job is gone
            self.state.state = state
            self.changed.emit()

    def _end(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            self.state.outcome = job.outcome
            job.deleteLater()
        self.state.state = "ended"
        self._calm.stop()
        self.changed.emit()
        self._remember()
        self.ended.emit()

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
