"""The one training loop. Every kind of training is this loop over a task, a feed, a schedule and a model.

A step means the same whatever the memory: it is worked off in micro-batches of a token budget, and its loss
is the mean over all of it. Order, masks and dropout follow from the seed, the position in the data and the
step, so a run continues from its checkpoint, bit for bit on a CPU.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from engine.device import Device, is_out_of_memory, release, setting_of, too_long_for_memory
from engine.errors import Sentence, UserError, marked
from engine.events import Beat, Evaluated, Event, Noted, Pinned, Saved, Started, Step
from engine.model.kernels import Dropout, Noise
from engine.settings.pretrain import BudgetConfig
from engine.settings.values import as_kind
from engine.train.ahead import Ahead
from engine.train.feed import Feed
from engine.train.optimizer import Optimizer
from engine.train.ranks import ALONE, Ranks
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.folder import Run
from engine.train.run.history import WeightHistory
from engine.train.run.writer import Snapshot, Writer
from engine.train.schedule import Budget, Schedule, TrainState
from engine.train.task import Measures, Task
from engine.train.underway import Underway

MOST_LOST = 3  # steps in a row whose loss or gradient is not finite, after which training ends
STEPS_AHEAD = {"cuda": 32}  # made on a thread, by kind of device; a CPU's cores are better left to computing
WRITTEN_BESIDE = {"cuda"}  # kinds of device on which checkpoints are written while training goes on
MOST_AHEAD = 8  # steps that a GPU may be behind the host before the host waits for the oldest of them


class TrainingError(UserError):
    """Training cannot go on; the last good checkpoint stands."""


class LoopSettings(Protocol):
    """The settings that the loop itself reads."""

    @property
    def seed(self) -> int: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def max_gradient_norm(self) -> float: ...
    @property
    def checkpoint_every_steps(self) -> int: ...


class Watch(Protocol):
    """Somebody who asks the model things between two steps."""

    def look(self, model: nn.Module, device: Device, step: int, progress: float) -> Iterator[Event]:
        """Yield what there is to tell; most of the time nothing. Must leave model and randomness alone."""


@dataclass
class _Pending:
    """A step whose numbers have not been read yet: its tally (J,), and the gradient's norm."""

    step: int
    numbers: Underway
    totals: Tensor
    num_tokens: int
    rate: float
    epoch: float
    progress: float


@dataclass
class Loop:
    """One training run under way. `train()` is the task; the rest are its parts.

    evaluation: measures the model on held-out data; None where there is none.
    """

    run: Run
    model: nn.Module
    task: Task
    feed: Feed
    schedule: Schedule
    evaluation: Callable[[], Generator[Event, None, Measures]] | None
    config: LoopSettings
    device: Device
    peak: float  # learning rate
    patience: int = 0  # evaluations without a better one, after which it ends; 0: never
    betas: tuple[float, float] = (0.9, 0.999)
    rates: Mapping[str, float] | None = None  # name of a weight -> times the learning rate; 1 if not named
    watch: Watch | None = None
    history: WeightHistory | None = None
    ranks: Ranks = ALONE
    keep_beside: Callable[[], None] | None = None  # writes what else is kept with each checkpoint
    at: TrainState = field(default_factory=TrainState)

    def __post_init__(self) -> None:
        self.optimizer = Optimizer(
            self.model,
            weight_decay=self.config.weight_decay,
            max_gradient_norm=self.config.max_gradient_norm,
            betas=self.betas,
            sparse=self.ranks.world_size == 1,
            rates=self.rates,
        )
        self.wrapped = self.ranks.wrap(self.model)
        self.noise = next((m.noise for m in self.model.modules() if isinstance(m, Dropout)), Noise())
        self.saved_step = -1
        self._position = dict(self.feed.state())  # in the data, after the last whole step
        self._pending: list[_Pending] = []
        self._writer: Writer | None = None
        self._saving: Saved | None = None  # the checkpoint that is being written
        self._num_lost = 0  # steps in a row, up to the last one read
        self._busy = 0.0  # seconds computed since steps were last told of; pauses are not in it

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint, whose weights the model has already."""
        self.optimizer.load_state(checkpoint.optimizer())
        self.at = progressed_at(checkpoint)
        self._position = dict(checkpoint.state.get("feed", {}))
        self.feed.restore(self._position)
        self.saved_step = checkpoint.step
        if self.history is not None and self.ranks.is_first:
            self.history.drop_after(checkpoint.step)

    def started(
        self,
        *,
        num_train: int,
        num_validation: int,
        num_test: int = 0,
        num_epochs: float = 0.0,
        steps_per_epoch: int = 0,
        cut_share: float = 0.0,
    ) -> Started:
        """Return the event that says what is trained from here on. Args: as in the event."""
        return Started(
            run_dir=self.run.path,
            task=self.task.name,
            device=self.device.describe(),
            num_steps=self.schedule.num_steps,
            first_step=self.at.step + 1,
            num_epochs=num_epochs,
            steps_per_epoch=steps_per_epoch,
            num_train=num_train,
            num_validation=num_validation,
            num_test=num_test,
            labels=self.task.labels,
            metric=self.task.metric,
            num_parameters=sum(p.numel() for p in self.model.parameters()),
            learning_rate=self.peak,
            cut_share=cut_share,
        )

    def begin(self) -> Iterator[Event]:
        """Keep the starting weights, so that a run needs nothing outside its folder from here on."""
        yield from self._checkpoint()

    def train(self) -> Iterator[Event]:
        """Train to the end, or until stopped early. Closed at a yield, it saves and ends."""
        self.model.train()
        kind = setting_of(self.device.device)
        with ExitStack() as ends:
            if kind in WRITTEN_BESIDE and self.ranks.is_first:
                self._writer = Writer()
                ends.callback(self._writer.close)
            if kind in STEPS_AHEAD:
                self.feed = ahead = Ahead(self.feed, self.device.micro_batch_tokens, STEPS_AHEAD[kind])
                ends.callback(ahead.close)
            yield from self._train()

    def _train(self) -> Iterator[Event]:
        work = self._work()
        try:
            while True:
                began = time.perf_counter()
                try:
                    event = next(work)
                except StopIteration:
                    return
                finally:
                    self.at.used_s += time.perf_counter() - began
                yield event
        except GeneratorExit:
            work.close()
            self._tell(is_all=True)
            if self.saved_step != self.at.step:
                self._save()
            raise

    def _work(self) -> Generator[Event, None, None]:
        self._keep()
        if self._is_due():
            yield from self._evaluate()  # before the first step, or it was stopped while evaluating
        while (progress := self._progress()) < 1.0 and not self.is_patience_over():
            yield from self._one_step(progress)
            yield from self._saved()
            yield from self._look()
            self._keep()
            if self._is_due():
                yield from self._tell(is_all=True)
                yield from self._evaluate()
            elif self.at.step % self.config.checkpoint_every_steps == 0:
                yield from self._tell(is_all=True)
                if not self._num_lost:  # else the last good one stands until it is known how that ends
                    yield from self._checkpoint()
        yield from self._tell(is_all=True)
        if self.at.step != self.at.evaluated_step and self._is_due():  # the clock ran out in saving
            yield from self._evaluate()
        yield from self._saved(is_waited_for=True)

    def _look(self) -> Iterator[Event]:
        """Let the model be asked: before the step's checkpoint, so that no answer is lost on resuming."""
        if self.watch is None:
            return
        progress = self.schedule.progress(self.at)
        for event in self.watch.look(self.model, self.device, self.at.step, progress):
            if isinstance(event, Pinned):
                self.run.log(event)
            yield event

    def _keep(self) -> None:
        """Keep a copy of the weights where one is due."""
        progress = self.schedule.progress(self.at)
        if self.history is None or progress >= 1.0:  # the result is kept anyway
            return
        num_due = self.history.num_due(progress)
        if num_due > self.at.num_kept:
            self.at.num_kept = num_due
            if self.ranks.is_first:
                self.history.keep(self.at.step)

    def _is_due(self) -> bool:
        """Whether all ranks are to measure now; they ask each other only where clocks decide."""
        is_due = self.schedule.is_due(self.at)
        return bool(self.ranks.agreed(float(is_due))) if self.schedule.is_timed else is_due

    def _progress(self) -> float:
        progress = self.schedule.progress(self.at)
        return self.ranks.agreed(progress) if self.schedule.is_timed else progress

    def is_patience_over(self) -> bool:
        """Whether early stopping has run out of patience."""
        return bool(self.patience) and self.at.num_worse >= self.patience

    @property
    def best_steps(self) -> set[int]:
        """The step of the best checkpoint, which is kept beside the newest; none where there is none."""
        return {self.at.best_step} - {0}

    # --- one step --------------------------------------------------------------------------------

    def _one_step(self, progress: float) -> Iterator[Event]:
        step = self.at.step + 1
        with self._timed():
            taken = self.feed.take(step, progress)
            self.optimizer.reserve()
        while True:
            try:
                tally, totals, num_tokens = yield from self._gradients(step, taken)
                break
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error) or self.ranks.world_size > 1:  # the others are further on
                    raise
                sentence = self._halve(taken)
            yield Noted(sentence=sentence)
        rate = self.schedule.learning_rate(step, progress, self.peak)
        with self._timed():
            norm = self.optimizer.step(rate, tally[0])
            numbers = Underway(torch.cat([tally.double(), norm.double()[None]]))
        self.at.step = step
        self._position = dict(self.feed.state())
        self.at.tokens += num_tokens
        now = self.schedule.progress(self.at)
        self._pending.append(_Pending(step, numbers, totals, num_tokens, rate, self.feed.epoch(step), now))
        yield from self._tell()

    def _gradients(self, step: int, taken: Any) -> Generator[Event, None, tuple[Tensor, Tensor, int]]:
        """Gather the gradients of a step; return tally (J,), totals (K,) and tokens, of all ranks."""
        self.optimizer.clear()
        self.noise.seed(self.config.seed, step, *self.ranks.seeds)
        with self._timed():
            parts = self.feed.parts(taken, self.device.micro_batch_tokens)
            own = torch.tensor([sum(part.num_tokens for part in parts)], dtype=torch.float64)
            *totals, num_tokens = self.ranks.total(torch.cat([self.task.count(parts), own])).tolist()
        counted = torch.tensor(totals, dtype=torch.float64)
        tallies = []
        for number, part in enumerate(parts, start=1):
            with self._timed(), self.ranks.quiet(self.wrapped, number < len(parts)):
                tallies.append(self._micro_batch(part, counted))
            yield Beat()
        return self.ranks.total(torch.stack(tallies).sum(0)), counted, int(num_tokens)

    def _micro_batch(self, part: Any, totals: Tensor) -> Tensor:
        batch = part.to(self.device.device)
        with self.device.autocast():
            loss, tally = self.task.loss(self.wrapped, batch, totals)
        (loss * self.ranks.world_size).backward()  # type: ignore[no-untyped-call]
        return tally

    def _halve(self, taken: Any) -> Sentence:
        """Make micro-batches smaller after memory ran out; the step stays what it was."""
        self.optimizer.clear()
        release(self.device.device)
        lengths = self.feed.lengths(taken)
        now = min(self.device.micro_batch_tokens, int(lengths.sum()))
        if now <= int(lengths.max()):
            raise too_long_for_memory(int(lengths.max()))
        self.device = replace(self.device, micro_batch_tokens=max(now // 2, int(lengths.max())))
        template = marked(
            "engine",
            "Memory ran out, so each step is now processed in parts of {tokens} tokens. The "
            "batch stays the same.",
        )
        return Sentence(template, {"tokens": self.device.micro_batch_tokens})

    # --- what is said ----------------------------------------------------------------------------

    def _tell(self, is_all: bool = False) -> list[Event]:
        """Say the steps whose numbers have arrived; with `is_all` every step, which waits for a GPU."""
        count = len(self._pending) if is_all else max(0, len(self._pending) - MOST_AHEAD)
        if late := self._pending[:count]:
            with self._timed():
                late[-1].numbers.read()
        while count < len(self._pending) and self._pending[count].numbers.has_arrived():
            count += 1
        arrived, self._pending = self._pending[:count], self._pending[count:]
        return self._said(arrived) if arrived else []

    def _said(self, arrived: list[_Pending]) -> list[Event]:
        said: list[Event] = []
        spent, self._busy = self._busy, 0.0
        for one in arrived:
            self.at.elapsed_s += spent / len(arrived)
            numbers = one.numbers.read()
            read, length = self.task.read(numbers[:-1], one.totals), float(numbers[-1])
            if not math.isfinite(read.loss + length):
                said.append(self._lost(one.step, length if math.isfinite(read.loss) else read.loss))
                continue
            self._num_lost = 0
            event = Step(
                step=one.step,
                epoch=one.epoch,
                loss=read.loss,
                accuracy=read.accuracy,
                learning_rate=one.rate,
                gradient_norm=length,
                num_tokens=one.num_tokens,
                tokens_per_s=one.num_tokens * len(arrived) / max(spent, 1e-9),
                elapsed_s=self.at.elapsed_s,
                remaining_s=self.schedule.remaining_s(self.at),
                progress=one.progress,
                measures={**read.measures, **self.device.memory()},
            )
            self.run.log(event)
            said.append(event)
        return said

    def _lost(self, step: int, value: float) -> Noted:
        """Say that a step moved nothing. Raises: TrainingError after too many in a row."""
        self._num_lost += 1
        if self._num_lost >= MOST_LOST and self.ranks.is_first:  # it sees all ranks' sums and ends them all
            raise TrainingError(
                marked(
                    "engine",
                    "The loss became {loss} at step {step}, so training stopped. The last good "
                    "checkpoint is kept. A lower learning rate usually helps (it was {rate:g}).",
                ),
                loss=value,
                step=step,
                rate=self.peak,
            )
        template = marked(
            "engine",
            "The loss or its gradient became {loss} at step {step}, so that step did not "
            "change the weights. After {most} such steps in a row, training stops.",
        )
        return Noted(sentence=Sentence(template, {"loss": value, "step": step, "most": MOST_LOST}))

    # --- evaluation and checkpoints --------------------------------------------------------------

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._busy += time.perf_counter() - start

    def _evaluate(self) -> Iterator[Event]:
        at = self.at
        if self.evaluation is None:
            self._count_evaluation()
            yield from self._checkpoint()
            return
        measures = yield from self.evaluation()
        event = evaluated(at.step, self.feed.epoch(at.step), "validation", measures, self.task)
        metric = measures.metrics[self.task.metric]
        better = (metric, -measures.loss) > (at.best_metric, -at.best_loss)
        if measures.by_loss:
            better = measures.loss < at.best_loss
        if better or not self.task.keeps_best:
            at.best_step = at.step if self.task.keeps_best else 0
            at.best_metric, at.best_loss = metric, measures.loss
            if measures.each is not None:
                self.run.keep_answers("validation", at.step, measures.each())
        at.num_worse = 0 if better else at.num_worse + 1
        self._count_evaluation()
        event = replace(event, is_best=better)
        self.run.log(event)
        yield event
        yield from self._checkpoint()

    def _count_evaluation(self) -> None:
        at = self.at
        at.evaluated_step, at.num_evaluations = at.step, at.num_evaluations + 1
        at.evaluated_progress = self.schedule.progress(at)

    def _checkpoint(self) -> Iterator[Event]:
        if self.at.step or self.saved_step:  # the starting weights are kept once
            yield from self._saved(is_waited_for=True)
            self._saving = self._save()
            yield from self._saved()

    def _saved(self, is_waited_for: bool = False) -> Iterator[Event]:
        """Tell of a checkpoint that has been written; with `is_waited_for` wait for it."""
        if self._saving is not None and (is_waited_for or self._writer is None or self._writer.is_done()):
            if self._writer is not None:
                self._writer.wait()
            event, self._saving = self._saving, None
            yield event

    def _save(self) -> Saved:
        step = self.at.step
        path = self.run.path / "checkpoints" / f"step-{step:08d}"
        event = Saved(step=step, path=path, is_best=step == self.at.best_step)
        self.run.log(event)
        state: dict[str, Any] = {
            **{k: v for k, v in asdict(self.at).items() if not (isinstance(v, float) and math.isinf(v))},
            "rng": {"seed": self.config.seed, "next_step": step + 1},
            "feed": self._position,
            "num_threads": self.device.num_threads,
            "micro_batch_tokens": self.device.micro_batch_tokens,
        }
        facts: dict[str, Any] = {
            "step": step,
            "best_step": self.at.best_step,
            "num_steps": self.schedule.num_steps,
        }
        if self.at.num_evaluations and math.isfinite(self.at.best_metric):
            facts["best_metric"] = self.at.best_metric
        if self.keep_beside is not None:
            self.keep_beside()
        is_beside = self._writer is not None
        weights, moments = (
            Snapshot(tensors, is_beside) for tensors in (self.model.state_dict(), self.optimizer.state())
        )
        bytes_told = self.run.metrics_bytes()
        write = partial(self._write, weights, moments, state, self.best_steps, bytes_told, facts)
        if self._writer is None:
            write()
        else:
            self._writer.write(write)
        self.saved_step = step
        return event

    def _write(
        self,
        weights: Snapshot,
        moments: Snapshot,
        state: dict[str, Any],
        keep: set[int],
        bytes_told: int,
        facts: dict[str, Any],
    ) -> None:
        """Write a checkpoint and what the status says of it, on whatever thread; reads nothing that moves."""
        with moments.reading():
            self.run.save_checkpoint(facts["step"], weights.tensors, moments.tensors, state, keep, bytes_told)
        self.run.set_status("running", **facts)


def progressed_at(checkpoint: Checkpoint) -> TrainState:
    """Return where a run stood at a checkpoint. Raises: TypeError, ValueError if it does not say so."""
    known = {f.name: type(f.default) for f in fields(TrainState)}
    return TrainState(**{k: as_kind(known[k], v) for k, v in checkpoint.state.items() if k in known})


def evaluated(step: int, epoch: float, split: str, measures: Measures, task: Task) -> Evaluated:
    """Return the event that tells an evaluation's measures."""
    confusion = None
    if measures.confusion is not None:
        confusion = measures.confusion.copy()
        confusion.setflags(write=False)
    return Evaluated(
        step=step,
        epoch=epoch,
        split=split,
        loss=measures.loss,
        metrics=dict(measures.metrics),
        labels=task.labels if measures.labels is None else measures.labels,
        confusion=confusion,
        per_label=dict(measures.per_label or {}),
        details=dict(measures.details),
    )


def budgeted_loop(
    run: Run,
    model: nn.Module,
    task: Task,
    feed: Feed,
    budget: BudgetConfig,
    device: Device,
    usual_rate: float,
    ranks: Ranks = ALONE,
) -> Loop:
    """Return the loop of a run that is bounded by steps, tokens or minutes; it measures nothing yet.

    Args: usual_rate: the peak of the learning rate where none is asked for.
    """
    return Loop(
        run,
        model,
        task,
        feed,
        Budget.of(budget),
        None,
        budget,
        device,
        peak=budget.learning_rate or usual_rate,
        betas=(0.9, budget.adam_beta2),
        ranks=ranks,
    )
