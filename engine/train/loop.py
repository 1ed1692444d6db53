"""The one training loop. Every kind of training is this loop over a task, its model and its examples.

A step has batch_size x gradient_accumulation_steps examples whatever the memory: it is worked off in
micro-batches of a token budget, and its loss is the mean over its examples. Order and dropout follow from
(seed, epoch) and (seed, step), so a run continues from its step number, bit for bit on a CPU.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.config import TrainingConfig
from engine.device import Device, is_out_of_memory, too_long_for_memory
from engine.errors import Sentence, UserError, marked
from engine.events import Beat, Evaluated, Event, Noted, Saved, Step
from engine.model.bert import Bert
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import EncodedSet, collate, epoch_batches, split_by_tokens
from engine.train.evaluate import evaluate
from engine.train.optimizer import Optimizer, learning_rate_at
from engine.train.runs import Run
from engine.train.tasks import Task

FLUSH_S = 0.25  # on CUDA losses are read this often, because each read waits for the GPU


class TrainingError(UserError):
    """Training cannot go on; the last good checkpoint stands."""


@dataclass
class Progressed:
    """Where a run is; saved with every checkpoint."""

    step: int = 0
    best_step: int = 0
    best_metric: float = -math.inf
    best_loss: float = math.inf
    num_worse: int = 0  # evaluations since the best
    evaluated_step: int = 0
    elapsed_s: float = 0.0


@dataclass
class Loop:
    """One training run under way. `train()` is the task; the rest are its parts."""

    run: Run
    model: nn.Module
    task: Task
    sets: dict[str, EncodedSet]
    config: TrainingConfig
    device: Device
    peak: float  # learning rate
    at: Progressed = field(default_factory=Progressed)

    def __post_init__(self) -> None:
        self.optimizer = Optimizer(
            self.model, weight_decay=self.config.weight_decay, max_gradient_norm=self.config.max_gradient_norm
        )
        self.noise = next(m.noise for m in self.model.modules() if isinstance(m, Bert))
        num_batches = math.ceil(len(self.sets["train"]) / self.config.batch_size)
        self.steps_per_epoch = math.ceil(num_batches / self.config.gradient_accumulation_steps)
        self.num_steps = self.steps_per_epoch * self.config.num_epochs
        self.saved_step = -1
        self._epoch, self._batches = -1, list[np.ndarray]()
        self._pending: list[tuple[int, Tensor, Tensor, Tensor, int, int, float]] = []
        self._busy = 0.0  # seconds computed since the last flush; pauses are not in it
        self._flushed = time.perf_counter()

    def begin(self) -> Iterator[Event]:
        """Keep the starting weights, so that a run needs nothing outside its folder from here on."""
        yield from self._checkpoint()

    def train(self) -> Iterator[Event]:
        """Train to the end, or until stopped early. Closed at a yield, it saves and ends."""
        self.model.train()
        try:
            if self._is_evaluation(self.at.step) and self.at.evaluated_step != self.at.step:
                yield from self._evaluate()  # it was stopped while evaluating
            while self.at.step < self.num_steps and not self.is_patience_over():
                yield from self._one_step()
                if self._is_evaluation(self.at.step):
                    yield from self._flush()
                    yield from self._evaluate()
                elif self.at.step % self.config.checkpoint_every_steps == 0:
                    yield from self._flush()
                    yield from self._checkpoint()
        except GeneratorExit:
            self._drain()
            if self.saved_step != self.at.step:
                self._save()
            raise

    def is_patience_over(self) -> bool:
        """Whether early stopping has run out of patience."""
        patience = self.config.early_stopping_patience
        return bool(patience) and self.at.num_worse >= patience

    # --- one step --------------------------------------------------------------------------------

    def _one_step(self) -> Iterator[Event]:
        step = self.at.step + 1
        indices = self._examples_of(step)
        while True:
            try:
                loss, hits = yield from self._gradients(step, indices)
                break
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                sentence = self._halve(indices)
            yield Noted(sentence=sentence)
        if not loss.is_cuda:
            self._check_finite(step, float(loss))
        rate = learning_rate_at(step, self.num_steps, self.config.warmup_ratio, self.peak)
        with self._timed():
            norm = self.optimizer.step(rate)
        num_tokens = int(self.sets["train"].lengths[indices].sum())
        self._pending.append((step, loss, hits, norm, num_tokens, len(indices), rate))
        self.at.step = step
        if not loss.is_cuda or time.perf_counter() - self._flushed > FLUSH_S:
            yield from self._flush()

    def _gradients(self, step: int, indices: np.ndarray) -> Generator[Event, None, tuple[Tensor, Tensor]]:
        """Gather the gradients of a step's examples; return the mean loss and the number of hits, 0-d."""
        self.optimizer.clear()
        self.noise.seed(self.config.seed, step)
        losses, hits = [], []
        for part in split_by_tokens(indices, self.sets["train"].lengths, self.device.micro_batch_tokens):
            with self._timed():
                loss, hit = self._micro_batch(part, len(indices))
            losses.append(loss)
            hits.append(hit)
            yield Beat()
        return torch.stack(losses).sum(), torch.stack(hits).sum()

    def _micro_batch(self, part: np.ndarray, num_examples: int) -> tuple[Tensor, Tensor]:
        batch = collate(self.sets["train"], part, self.device.device, ROW_MULTIPLE)
        with self.device.autocast():
            outputs = self.task.forward(self.model, batch)
        summed, hits = self.task.loss(outputs, batch)
        loss = summed / num_examples
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach(), hits

    def _examples_of(self, step: int) -> np.ndarray:
        epoch, place = divmod(step - 1, self.steps_per_epoch)
        if epoch != self._epoch:
            lengths = self.sets["train"].lengths
            self._batches = epoch_batches(lengths, self.config.batch_size, self.config.seed, epoch)
            self._epoch = epoch
        gathered = self.config.gradient_accumulation_steps
        indices = np.concatenate(self._batches[place * gathered : (place + 1) * gathered])
        lengths = self.sets["train"].lengths[indices]
        return indices[np.argsort(-lengths, kind="stable")]

    def _halve(self, indices: np.ndarray) -> Sentence:
        """Make micro-batches smaller after memory ran out; the step stays what it was."""
        self.optimizer.clear()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        lengths = self.sets["train"].lengths[indices]
        now = min(self.device.micro_batch_tokens, int(lengths.sum()))
        if now <= int(lengths.max()):
            raise too_long_for_memory(int(lengths.max()))
        self.device = replace(self.device, micro_batch_tokens=max(now // 2, int(lengths.max())))
        template = marked(
            "engine",
            "Memory ran out, so each step is now worked off in parts of {tokens} tokens. The batch stays "
            "the same.",
        )
        return Sentence(template, {"tokens": self.device.micro_batch_tokens})

    # --- what is said ----------------------------------------------------------------------------

    def _flush(self) -> Iterator[Event]:
        """Say the steps whose numbers have not been read yet."""
        yield from self._drain()

    def _drain(self) -> list[Event]:
        said: list[Event] = []
        pending, self._pending = self._pending, []
        if pending and pending[-1][1].is_cuda:
            with self._timed():
                torch.cuda.synchronize()  # SLOW: waits for the GPU
        spent, self._busy = self._busy, 0.0
        self._flushed = time.perf_counter()
        for step, loss, hits, norm, num_tokens, num_examples, rate in pending:
            self.at.elapsed_s += spent / len(pending)
            value, length = float(loss), float(norm)
            self._check_finite(step, value if math.isfinite(length) else length)
            event = Step(
                step=step,
                epoch=step / self.steps_per_epoch,
                loss=value,
                accuracy=float(hits) / num_examples,
                learning_rate=rate,
                gradient_norm=length,
                num_tokens=num_tokens,
                tokens_per_s=num_tokens * len(pending) / max(spent, 1e-9),
                elapsed_s=self.at.elapsed_s,
                remaining_s=self.at.elapsed_s / step * (self.num_steps - step),
            )
            self.run.log(event)
            said.append(event)
        return said

    def _check_finite(self, step: int, loss: float) -> None:
        if not math.isfinite(loss):
            raise TrainingError(
                marked(
                    "engine",
                    "The loss became {loss} at step {step}, so training stopped; the last good checkpoint "
                    "is kept. A lower learning rate usually helps (it was {rate:g}).",
                ),
                loss=loss,
                step=step,
                rate=self.peak,
            )

    # --- evaluation and checkpoints --------------------------------------------------------------

    @contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self._busy += time.perf_counter() - start

    def _is_evaluation(self, step: int) -> bool:
        every = self.config.evaluate_every_steps or self.steps_per_epoch
        return step > 0 and (step % every == 0 or step == self.num_steps)

    def _evaluate(self) -> Iterator[Event]:
        if "validation" not in self.sets:
            self.at.evaluated_step = self.at.step
            yield from self._checkpoint()
            return
        measures = yield from evaluate(self.model, self.task, self.sets["validation"], self.device)
        event = evaluated(self.at.step, self.steps_per_epoch, "validation", measures, self.task)
        metric = measures.metrics[self.task.metric]
        better = (metric, -measures.loss) > (self.at.best_metric, -self.at.best_loss)
        if better:
            self.at.best_step, self.at.best_metric, self.at.best_loss = self.at.step, metric, measures.loss
        self.at.evaluated_step = self.at.step
        self.at.num_worse = 0 if better else self.at.num_worse + 1
        event = replace(event, is_best=better)
        self.run.log(event)
        yield event
        yield from self._checkpoint()

    def _checkpoint(self) -> Iterator[Event]:
        yield self._save()

    def _save(self) -> Event:
        step = self.at.step
        path = self.run.path / "checkpoints" / f"step-{step:08d}"
        event = Saved(step=step, path=path, is_best=step == self.at.best_step)
        self.run.log(event)
        state: dict[str, Any] = {
            **{k: v for k, v in asdict(self.at).items() if not (isinstance(v, float) and math.isinf(v))},
            "rng": {"seed": self.config.seed, "next_step": step + 1},
            "num_threads": self.device.num_threads,
            "micro_batch_tokens": self.device.micro_batch_tokens,
        }
        self.run.save_checkpoint(
            step, self.model.state_dict(), self.optimizer.state(), state, keep={self.at.best_step} - {0}
        )
        self.saved_step = step
        facts = {"step": step, "best_step": self.at.best_step, "num_steps": self.num_steps}
        if self.at.best_step:
            facts["best_metric"] = self.at.best_metric  # type: ignore[assignment]
        self.run.set_status("running", **facts)
        return event


def evaluated(step: int, steps_per_epoch: int, split: str, measures: Any, task: Task) -> Evaluated:
    """Return the event that tells an evaluation's measures."""
    confusion = None
    if measures.confusion is not None:
        confusion = measures.confusion.copy()
        confusion.setflags(write=False)
    return Evaluated(
        step=step,
        epoch=step / steps_per_epoch,
        split=split,
        loss=measures.loss,
        metrics=dict(measures.metrics),
        labels=task.labels,
        confusion=confusion,
        per_label=dict(measures.per_label or {}),
    )
