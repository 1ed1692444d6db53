"""Where the training job is, as every page and the status bar tell it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from engine.events import Evaluated, Event, Finished, Progress, Started, Step

PRETRAINING = "pretraining"  # what `Started` calls it
PACE_STEPS = 32  # that the told tokens a second are the mean of: a step alone may be half as fast as the next


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
    stage_remaining_s: float | None = None  # where that is known, the stage is one bar from begin to end
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
            self.stage_remaining_s = event.remaining_s
        elif isinstance(event, Started):
            self.started, self.step, self.stage = event, None, ""  # of several runs, each has its own steps
            self._paces.clear()
            self.is_pretraining = event.task == PRETRAINING  # a chain does both, one after the other
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
