"""The one training job: what it says is kept here, so that every page and the status bar tell the same."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.work.job import Job
from engine.errors import RunError, marked
from engine.events import Evaluated, Event, Finished, Progress, Started, Step
from engine.settings.comparison import ComparisonConfig
from engine.settings.family import FamilyConfig
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig

CALM_MS = 250
PACE_STEPS = 32  # that the told tokens a second are the mean of: a step alone may be half as fast as the next

TrainConfig = FineTuneConfig | PretrainConfig | ComparisonConfig | FamilyConfig


def run_name(config: TrainConfig) -> str:
    """Return what a run is named after: its table, or the first of its texts."""
    if isinstance(config, ComparisonConfig):
        return f"compare-{run_name(config.own)}"
    if isinstance(config, FineTuneConfig):
        return Path(config.data.data).stem
    places = config.text.text.splitlines()
    name = Path(places[0]).name.partition(".")[0] if places else ""
    return f"family-{name}" if isinstance(config, FamilyConfig) else name


@dataclass(slots=True)
class TrainingState:
    """Where the training job is; read by pages, written here only."""

    state: str = ""  # "", "running", "paused", "stopping", "ended"
    outcome: str = ""  # "", "finished", "stopped", "failed"
    error: BaseException | None = None
    name: str = ""
    is_pretraining: bool = False
    stage: str = ""  # a marked word of the engine while it is not stepping
    stage_done: int = 0
    stage_total: int = 0
    started: Started | None = None
    step: Step | None = None
    evaluated: Evaluated | None = None  # the last on validation data
    test: Evaluated | None = None
    finished: Finished | None = None
    _paces: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=PACE_STEPS))

    @property
    def num_steps(self) -> int:
        """All steps of the run; 0 before it is known, and where tokens or minutes bound it."""
        return self.started.num_steps if self.started else 0

    @property
    def share(self) -> float:
        """How far the run is, 0..1."""
        if self.finished is not None:
            return 1.0
        if self.step is not None:
            by_steps = self.step.step / self.num_steps if self.num_steps else 0.0
            return min(1.0, max(by_steps, self.step.progress))
        return (self.started.first_step - 1) / self.num_steps if self.started and self.num_steps else 0.0

    def take(self, event: Event) -> None:
        """Remember what an event says."""
        if isinstance(event, Step):
            self.step, self.stage = self._paced(event), ""
        elif isinstance(event, Progress):
            self.stage, self.stage_done, self.stage_total = event.stage, event.done, event.total
        elif isinstance(event, Started):
            self.started, self.stage = event, ""
        elif isinstance(event, Evaluated):
            self.stage = ""
            if event.split == "test":
                self.test = event
            else:
                self.evaluated = event
        elif isinstance(event, Finished):
            self.finished, self.stage = event, ""

    def _paced(self, step: Step) -> Step:
        """Return a step that tells the pace of the last ones together."""
        self._paces.append((step.num_tokens, step.num_tokens / max(step.tokens_per_s, 1e-9)))
        tokens, seconds = map(sum, zip(*self._paces, strict=True))
        return replace(step, tokens_per_s=round(tokens / max(seconds, 1e-9), 3))


class Training(QObject):
    """Starts, pauses and stops training; never two jobs at once."""

    started = Signal(object)  # Path run_dir
    heard = Signal(list)
    changed = Signal()
    failed = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = TrainingState()
        self.run_dir: Path | None = None
        self._job: Job | None = None
        self._calm = QTimer(self, singleShot=True, interval=CALM_MS)
        self._calm.timeout.connect(self.changed)

    @property
    def is_running(self) -> bool:
        """Whether a job is running, paused or stopping."""
        return self._job is not None

    def refuse_second(self) -> None:
        """Raises: RunError when a job is under way."""
        if self.is_running:
            raise RunError(
                marked("engine", "A model is in training already. Stop it, or wait until it has ended.")
            )

    def start(
        self, task: Callable[[], Iterator[Event]], run_dir: Path, name: str, *, is_pretraining: bool = False
    ) -> None:
        """Run `task`, which writes to `run_dir`. Raises: RunError when a job is under way."""
        self.refuse_second()
        self.state = TrainingState(
            name=name,
            is_pretraining=is_pretraining,
            state="running",
            stage=marked("engine", "Reading"),
        )
        self.run_dir = run_dir
        job = self._job = Job(task, self, name="training")
        job.heard.connect(self._take)
        job.failed.connect(self._fail)
        job.state_changed.connect(self._change)
        job.ended.connect(self._end)
        self.started.emit(run_dir)
        job.start()
        self.changed.emit()

    @Slot()
    def pause(self) -> None:
        if self._job is not None:
            self._job.pause()

    @Slot()
    def resume(self) -> None:
        if self._job is not None:
            self._job.resume()

    @Slot()
    def stop(self) -> None:
        """Stop at the next yield; the engine keeps what it has."""
        if self._job is not None:
            self._job.stop()

    @Slot(list)
    def _take(self, events: list[Event]) -> None:
        for event in events:
            self.state.take(event)
        self.heard.emit(events)
        if not all(isinstance(event, Step | Progress) for event in events):
            self.changed.emit()
        elif not self._calm.isActive():  # steps are told on four times a second, whatever their pace
            self._calm.start()

    @Slot(object)
    def _fail(self, error: BaseException) -> None:
        self.state.error = error
        self.failed.emit(error)

    @Slot(str)
    def _change(self, state: str) -> None:
        if state != "ended":  # told by _end, when the job is gone
            self.state.state = state
            self.changed.emit()

    @Slot()
    def _end(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            self.state.outcome = job.outcome
            job.deleteLater()
        self.state.state = "ended"
        self._calm.stop()
        self.changed.emit()
        self.ended.emit()
