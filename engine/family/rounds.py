"""The life of the n-gram, CBOW, skip-gram and GloVe as runs: rounds until the budget is used, and a clock.

The folder, its lock, status, curves and checkpoints are those of every run; stopped, it saves and ends.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from engine.device import Device, open_device
from engine.events import Evaluated, Event, Finished, Saved, Started, Step
from engine.family.blanks import FILLED, draw_blanks, share_filled
from engine.family.layout import save_member
from engine.family.learners import Learner, learner_of
from engine.family.neural import sizes_of
from engine.family.reading import VOCAB, Streams, as_pretraining
from engine.settings.family import FamilyConfig
from engine.train.lifecycle import guarded
from engine.train.loop import progressed_at
from engine.train.pretraining.setup import PretrainSetup, split
from engine.train.run.folder import Run, check_new
from engine.train.run.runs import CONFIG, MODEL
from engine.train.schedule import Budget, TrainState


def learn(config: FamilyConfig, run_dir: Path, setup: PretrainSetup, text: Streams) -> Iterator[Event]:
    """Train the one member that the settings name, or go on; the result lies in run_dir/model.

    Raises: UserError without gensim where it is needed; RunError.
    """
    device = open_device(config.device)
    learner = learner_of(config, text)
    if (run_dir / CONFIG).is_file():
        with Run.reopen(run_dir) as run:
            run.set_status("running")
            yield from guarded(run, _Rounds(run, config, setup, learner, device).work())
        return
    check_new(run_dir)
    with Run.create(run_dir, config) as run:
        run.set_status("running", step=0, num_steps=config.budget.steps, metric=learner.metric)
        yield from guarded(run, _Rounds(run, config, setup, learner, device).work())


@dataclass(frozen=True)
class WordsBudget(Budget):
    """A budget in which words are counted by who reads them."""

    learner: Learner

    def progress(self, at: TrainState) -> float:
        """Return the share of the budget that is used."""
        return self.learner.share_read(self.tokens) if self.tokens else super().progress(at)


class _Rounds:
    """One such run under way."""

    def __init__(
        self, run: Run, config: FamilyConfig, setup: PretrainSetup, learner: Learner, device: Device
    ) -> None:
        self.run, self.config, self.setup, self.learner, self.device = run, config, setup, learner, device
        budget = config.budget
        self.schedule = WordsBudget(
            budget.steps, budget.tokens, budget.minutes, 0.0, budget.evaluations, learner
        )
        self.blanks = draw_blanks(learner.text.held_out)
        self.at = TrainState()
        self.saved_step = -1

    def work(self) -> Generator[Event, None, None]:
        """Go on from the newest checkpoint, round by round."""
        checkpoint = self.run.newest_checkpoint()
        self.run.open_metrics(checkpoint.state["metrics_bytes"] if checkpoint else 0)
        if checkpoint is not None:
            with checkpoint.fitting():
                self.at = progressed_at(checkpoint)
                self.learner.restore(checkpoint.weights())
        started = self._started()
        if checkpoint is None:
            self.run.log(started)
        yield started
        try:
            yield from self._rounds()
        except GeneratorExit:
            self._save()
            raise
        finished = Finished(
            path=self.run.path / MODEL, seconds=self.at.used_s, best_metric=self.at.best_metric
        )
        self._write_model()
        self.run.log(finished)
        yield finished

    def _rounds(self) -> Iterator[Event]:
        share = 0.0  # of the budget, that a round takes
        while (progress := self.schedule.progress(self.at)) < 1.0:
            with self._timed():
                loss = self.learner.round(progress, share)
            if loss is None:
                break
            self.at.step += 1
            self.at.tokens += self.learner.num_words
            now = self.schedule.progress(self.at)
            share = now - progress
            yield self._step(loss, now)
            if self.schedule.is_due(self.at):
                yield from self._evaluated()
        if self.at.evaluated_step != self.at.step:
            yield from self._evaluated()

    @contextmanager
    def _timed(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._spent = time.perf_counter() - began
        self.at.used_s += self._spent
        self.at.elapsed_s += self._spent

    def _started(self) -> Started:
        _, train, _, held_out = split(self.setup, as_pretraining(self.config, Path(VOCAB)))
        return Started(
            run_dir=self.run.path,
            task="family",
            device=self.device.describe(),
            num_steps=self.schedule.num_steps,
            first_step=self.at.step + 1,
            num_epochs=0.0,
            steps_per_epoch=0,
            num_train=len(train),
            num_validation=len(held_out),
            num_test=0,
            labels=(),
            metric=self.learner.metric,
            num_parameters=self.learner.model().num_weights,
            learning_rate=self.learner.rate,
            cut_share=0.0,
        )

    def _step(self, loss: float, progress: float) -> Step:
        event = Step(
            step=self.at.step,
            epoch=self.learner.words_read / max(1, len(self.learner.text.train)),
            loss=loss,
            accuracy=None,
            learning_rate=self.learner.rate,
            gradient_norm=0.0,
            num_tokens=self.learner.num_words,
            tokens_per_s=self.learner.num_words / max(1e-9, self._spent),
            elapsed_s=self.at.elapsed_s,
            remaining_s=self.schedule.remaining_s(self.at),
            progress=progress,
        )
        self.run.log(event)
        return event

    def _evaluated(self) -> Iterator[Event]:
        with self._timed():
            metrics = self.learner.measure()
        if self.blanks:  # in no budget of minutes
            metrics[FILLED] = yield from share_filled(self.learner.model(), self.blanks)
        loss, value = metrics.pop("loss"), metrics[self.learner.metric]
        better = value > self.at.best_metric
        self.at.best_metric = max(value, self.at.best_metric)
        self.at.num_evaluations += 1
        self.at.evaluated_step, self.at.evaluated_progress = self.at.step, self.schedule.progress(self.at)
        event = Evaluated(
            step=self.at.step,
            epoch=self.learner.words_read / max(1, len(self.learner.text.train)),
            split="validation",
            loss=loss,
            metrics=metrics,
            labels=(),
            confusion=None,
            per_label={},
            is_best=better,
        )
        self.run.log(event)
        yield event
        yield self._save()

    def _save(self) -> Saved:
        """Write a checkpoint; the model is in it as it is now."""
        step = self.at.step
        event = Saved(step=step, path=self.run.path / "checkpoints" / f"step-{step:08d}", is_best=False)
        if step == self.saved_step or not step:
            return event
        self.run.log(event)
        known = {k: v for k, v in asdict(self.at).items() if not (isinstance(v, float) and math.isinf(v))}
        state: dict[str, Any] = {**known, "micro_batch_tokens": 0}
        moments = {"none": torch.zeros(1)}
        self.run.save_checkpoint(step, self.learner.state(), moments, state, set(), self.run.metrics_bytes())
        self.run.set_status("running", step=step, num_steps=self.schedule.num_steps)
        self.saved_step = step
        return event

    def _write_model(self) -> None:
        facts = {
            "steps": self.at.step,
            "words_read": self.learner.words_read,
            "seconds": round(self.at.used_s, 1),
        }
        model, name = self.learner.model(), self.config.family.members
        save_member(
            self.run.path / MODEL,
            name,
            model,
            self.setup.wordpiece,
            sizes_of(self.config, self.setup),
            **facts,
        )
