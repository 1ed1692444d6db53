"""How long a run lasts, where it is on its way, and the learning rate there.

Fine-tuning counts epochs, or as much of them as fits into a time; pretraining has a budget of steps, tokens
or minutes. Whatever the budget, the rate follows the share of it that is used, so a run bounded by the clock
warms up and comes to rest in time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from engine.settings.pretrain import BudgetConfig
from engine.train.optimizer import learning_rate_at


@dataclass
class TrainState:
    """Where a run is; saved with every checkpoint."""

    step: int = 0
    tokens: int = 0
    elapsed_s: float = 0.0  # computing steps
    used_s: float = 0.0  # all of it, evaluations and checkpoints too; only pauses are left out
    best_step: int = 0
    best_metric: float = -math.inf
    best_loss: float = math.inf
    num_worse: int = 0  # evaluations since the best
    evaluated_step: int = 0
    evaluated_progress: float = -1.0  # right after the last evaluation; below 0 before the first
    num_evaluations: int = 0
    num_kept: int = 0  # copies of the weights along the way


class Schedule(Protocol):
    """What the loop asks of it."""

    @property
    def num_steps(self) -> int:
        """How many steps there will be; 0 while nobody can know."""

    @property
    def is_timed(self) -> bool:
        """Whether the clock decides how far it is, which is not the same for every process."""

    def progress(self, at: TrainState) -> float:
        """Return the share of the run that is done, 0..1."""

    def learning_rate(self, step: int, progress: float, peak: float) -> float:
        """Return the rate of a 1-based step that begins at a progress."""

    def is_due(self, at: TrainState) -> bool:
        """Whether the held-out data is to be looked at now."""

    def remaining_s(self, at: TrainState) -> float:
        """Return roughly how many seconds are left."""


@dataclass(frozen=True)
class Epochs:
    """Every example num_epochs times."""

    steps_per_epoch: int
    num_epochs: int
    warmup_ratio: float
    evaluate_every_steps: int = 0

    @property
    def num_steps(self) -> int:
        """Steps of all epochs."""
        return self.steps_per_epoch * self.num_epochs

    @property
    def is_timed(self) -> bool:
        """No: steps are counted."""
        return False

    def progress(self, at: TrainState) -> float:
        """Return the share of steps done."""
        return at.step / self.num_steps

    def learning_rate(self, step: int, progress: float, peak: float) -> float:
        """Climb over the warm-up, then fall to 0."""
        return learning_rate_at(step, self.num_steps, self.warmup_ratio, peak)

    def is_due(self, at: TrainState) -> bool:
        """Whether a step that is followed by an evaluation has not had it yet."""
        if at.step in (0, at.evaluated_step):
            return False
        every = self.evaluate_every_steps or self.steps_per_epoch
        return at.step % every == 0 or self.progress(at) >= 1.0

    def remaining_s(self, at: TrainState) -> float:
        """Return the time left at the mean rate so far."""
        return at.elapsed_s / at.step * (self.num_steps - at.step)


class NoSteps(Epochs):
    """None: the weights are solved for before the loop, which measures them once."""

    def progress(self, at: TrainState) -> float:
        """Return that all is done."""
        return 1.0

    def is_due(self, at: TrainState) -> bool:
        """Whether nothing was measured yet."""
        return at.evaluated_progress < 0

    def remaining_s(self, at: TrainState) -> float:
        """Return none."""
        return 0.0


@dataclass(frozen=True, kw_only=True)
class TimedEpochs(Epochs):
    """As many steps of them as were planned to fit into a time.

    Where the machine becomes so slow that the clock is ahead of the steps, the clock is followed: there are
    fewer steps then, but the rate comes to rest all the same.
    """

    most_steps: int
    steps_s: float  # seconds for all steps and what comes between them

    @property
    def num_steps(self) -> int:
        """Those that were planned."""
        return self.most_steps

    @property
    def is_timed(self) -> bool:
        """Yes: the clock may be ahead of the steps."""
        return True

    def progress(self, at: TrainState) -> float:
        """Return the share of steps done, or of the time that is used where that is more."""
        return min(1.0, max(at.step / self.most_steps, at.used_s / self.steps_s))

    def learning_rate(self, step: int, progress: float, peak: float) -> float:
        """Climb over the warm-up, then fall to 0 at the end."""
        return _rate_on_the_way(step, progress, self.warmup_ratio, peak)

    def remaining_s(self, at: TrainState) -> float:
        """Return the time left at the mean rate so far, at most what the clock leaves."""
        return max(0.0, min(super().remaining_s(at), self.steps_s - at.used_s))


@dataclass(frozen=True)
class Budget:
    """So many steps, or tokens, or minutes: the one that is not 0.

    evaluations: spread evenly over it, beside one before the first step.
    """

    steps: int
    tokens: int
    minutes: float
    warmup_ratio: float
    evaluations: int

    @classmethod
    def of(cls, said: BudgetConfig) -> Budget:
        """Return the budget that settings name."""
        return cls(said.steps, said.tokens, said.minutes, said.warmup_ratio, said.evaluations)

    @property
    def num_steps(self) -> int:
        """The steps of a run bounded by steps, else 0."""
        return self.steps

    @property
    def is_timed(self) -> bool:
        """Whether it is bounded by minutes."""
        return bool(self.minutes)

    def progress(self, at: TrainState) -> float:
        """Return the share of the budget that is used."""
        if self.steps:
            return min(1.0, at.step / self.steps)
        if self.tokens:
            return min(1.0, at.tokens / self.tokens)
        return min(1.0, at.used_s / (60 * self.minutes))

    def learning_rate(self, step: int, progress: float, peak: float) -> float:
        """Climb over the warm-up, then fall to 0 at the end."""
        return _rate_on_the_way(step, progress, self.warmup_ratio, peak)

    def is_due(self, at: TrainState) -> bool:
        """Whether one is due since the last; those that its own length made late are left out."""
        due, had = (
            math.floor(progress * self.evaluations + 1e-9)
            for progress in (self.progress(at), at.evaluated_progress)
        )
        return due > had

    def remaining_s(self, at: TrainState) -> float:
        """Return what the clock leaves, or the time left at the mean rate so far."""
        if self.minutes:
            return max(0.0, 60 * self.minutes - at.used_s)
        share = self.progress(at)
        return at.used_s / share * (1 - share) if share else 0.0


def _rate_on_the_way(step: int, progress: float, warmup_ratio: float, peak: float) -> float:
    """Return the rate of a 1-based step that begins at a progress; the step counts as half done."""
    done = progress + 0.5 * progress / (step - 1) if step > 1 else 1e-4
    if done < warmup_ratio:
        return peak * done / warmup_ratio
    return peak * max(0.0, 1 - done) / max(1e-9, 1 - warmup_ratio)
