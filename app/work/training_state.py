"""Where the training job is, as every page and the status bar tell it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from engine.errors import marked
from engine.events import Evaluated, Event, Fetched, Finished, Progress, Started, Step
from engine.remote.contact import Contact
from engine.train.run.wanted import GO, PAUSE

PRETRAINING = "pretraining"  # what `Started` calls it
LEFT = "left"  # how following a run of another computer ended: it continues there, and nobody here listens
COPYING = marked("engine", "Downloading the weights")
PACE_STEPS = 32  # that the told tokens a second are the mean of: a step alone may be half as fast as the next


@dataclass(slots=True)
class TrainingState:
    """Where the training job is; read by pages, written here and by the job only.

    host: the computer that trains; "": this one. contact: what was heard last of it; None before it trains
    there. wish: what it was asked for and has not done yet.
    """

    state: str = ""  # "", "running", "paused", "stopping", "ended"
    outcome: str = ""  # "", "finished", "stopped", "failed", LEFT
    host: str = ""
    contact: Contact | None = None
    wish: str = ""
    error: BaseException | None = None
    name: str = ""
    is_pretraining: bool = False
    stage: Progress | None = None  # while it is not stepping; with a rest, one bar from begin to end
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

    @property
    def is_copying(self) -> bool:
        """Whether what the run has learned there is on its way here."""
        return self.stage is not None and self.stage.stage == COPYING

    @property
    def is_lost(self) -> bool:
        """Whether nothing is heard from where it trains."""
        return self.contact is not None and not self.contact.is_connected

    @property
    def is_pausing(self) -> bool:
        """Whether it is paused, or will be as soon as whoever trains it has heard of it."""
        return self.wish == PAUSE or (self.state == "paused" and self.wish != GO)

    def take(self, event: Event) -> None:
        """Remember what an event says."""
        if isinstance(event, Step):
            self.step, self.stage = self._paced(event), None
        elif isinstance(event, Progress):
            self.stage = event
        elif isinstance(event, Started):
            self.started, self.step, self.stage = event, None, None  # of several runs, each has its own steps
            self._paces.clear()
            self.is_pretraining = event.task == PRETRAINING  # a chain does both, one after the other
        elif isinstance(event, Evaluated):
            self.stage = None
            if event.split == "test":
                self.test = event
            else:
                self.evaluated = event
        elif isinstance(event, Finished):
            self.finished, self.stage = event, None
        elif isinstance(event, Fetched):
            self.stage = Progress(stage=COPYING, done=event.done, total=event.total)
        elif isinstance(event, Contact):
            self._take_contact(event)

    def _take_contact(self, contact: Contact) -> None:
        self.contact = contact
        if contact.is_connected:
            self.stage = None
        is_paused = contact.state == "paused"
        if self.wish == (PAUSE if is_paused else GO):
            self.wish = ""
        if self.state != "stopping":
            self.state = "paused" if is_paused else "running"

    def _paced(self, step: Step) -> Step:
        """Return a step that tells the pace of the last ones together."""
        self._paces.append((step.num_tokens, step.num_tokens / max(step.tokens_per_s, 1e-9)))
        tokens, seconds = map(sum, zip(*self._paces, strict=True))
        return replace(step, tokens_per_s=round(tokens / max(seconds, 1e-9), 3))
