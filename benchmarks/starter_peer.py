"""The starter's recipe and the Trainer of `transformers`, from the same weights, in turns."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from assets.models.make import STAGES, recipe
from benchmarks.measure import Line
from benchmarks.pretrain_peer import (
    PeerSpec,
    arguments_on_cpu,
    blocks,
    masked_language_model,
    set_dropout,
)
from benchmarks.starter_work import AT_ONCE, measure
from benchmarks.work import NEVER
from engine.device import num_cores
from engine.events import Evaluated, result_of
from engine.model.weights import load_pretraining, save_model
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.train.pretrain import pretrain
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.first_weights import starting_model
from engine.train.run.runs import SETUP

DOCUMENTS = 1_000  # that the Trainer is given: more than it comes to in the minutes
HELD_OUT_TOKENS = 65_536


@dataclass(frozen=True)
class Duel:
    """Both train this: the recipe's first stage on Wikipedia alone, for so many minutes of their own."""

    text: Path
    encoder: Path
    folder: Path
    minutes: float
    num_points: int

    @property
    def start(self) -> Path:
        """The weights that both begin with."""
        return self.folder / "start"

    def config(self, model: Path, **changes: Any) -> PretrainConfig:
        """Return the recipe's settings, bounded by the clock, in float32."""
        values: dict[str, Any] = {
            "text": str(self.text),
            "tokens": 0,
            "minutes": self.minutes,
            "precision": "float32",
            "evaluations": self.num_points,
            "validation_tokens": HELD_OUT_TOKENS,
        }
        return with_values(recipe(STAGES[0], self.text.parent, model), {**values, **changes})

    def prepare(self) -> None:
        """Trim the encoder and give it its head, as the recipe's run does before its first step."""
        config = self.config(self.encoder)
        setup = result_of(pretraining_setup.prepare(config))
        model, _ = result_of(starting_model(config, setup))
        save_model(self.start, model, setup.wordpiece)
        own = self.config(self.start, trim_vocab=0)
        result_of(pretraining_setup.prepare(own)).save(self.folder / SETUP)


def serve_cloze(line: Line, duel: Duel) -> None:
    """Pull the engine's own run; only the time between its events counts."""
    used = 0.0
    task = pretrain(duel.config(duel.start, trim_vocab=0), duel.folder / "run")
    line.send("ready")
    while (seconds := line.recv()) is not None:
        points, turn = [], time.perf_counter()
        is_over = True
        for event in task:
            if isinstance(event, Evaluated):
                spent = used + time.perf_counter() - turn
                points.append({"minutes": spent / 60, "step": event.step, **_figures(dict(event.metrics))})
            if time.perf_counter() - turn >= seconds:
                is_over = False
                break
        used += time.perf_counter() - turn
        line.send((points, is_over))


def serve_trainer(line: Line, duel: Duel) -> None:
    """Train in the Trainer's own loop, its rate following the clock of its own turns."""
    torch.set_num_threads(num_cores())
    config = duel.config(duel.start, trim_vocab=0)
    setup = result_of(pretraining_setup.load(duel.folder / SETUP, config))
    budget, length = config.budget, config.objective.max_length
    turns = _Turns(line, duel, setup)
    args = arguments_on_cpu(
        duel.folder / "peer",
        per_device_train_batch_size=budget.batch_tokens // length,
        max_steps=NEVER,
        learning_rate=budget.learning_rate or 0.0,
        weight_decay=budget.weight_decay,
        adam_beta2=budget.adam_beta2,
        max_grad_norm=budget.max_gradient_norm,
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(duel.start)
    trainer = _Trainer(
        masked_language_model(duel.start),
        args,
        train_dataset=_rows(duel, setup, length),
        data_collator=transformers.DataCollatorForLanguageModeling(tokenizer),
        processing_class=tokenizer,
    )
    set_dropout(trainer.model, 0.0, 0.0)
    trainer.rate_share, turns.model = turns.rate_share, trainer.model
    trainer.add_callback(turns)
    trainer.train()


class _Trainer(transformers.Trainer):
    """The rate follows the share of the minutes that is used, as it does in the engine."""

    rate_share: Callable[[], float]

    def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> Any:
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(
            optimizer or self.optimizer, lambda _: self.rate_share()
        )
        return self.lr_scheduler


class _Turns(transformers.TrainerCallback):
    """Stands still between two turns, in the middle of the Trainer's loop; measuring is not counted."""

    def __init__(self, line: Line, duel: Duel, setup: pretraining_setup.PretrainSetup) -> None:
        config = duel.config(duel.start, trim_vocab=0)
        self._line, self._folder, self._num_points = line, duel.folder / "measured", duel.num_points
        self._budget_s, self._warmup = 60 * duel.minutes, config.budget.warmup_ratio
        self._batches = pretraining_setup.validation_batches(setup, config, HELD_OUT_TOKENS, AT_ONCE)
        self.model: Any = None
        self._used, self._began, self._end = 0.0, 0.0, 0.0
        self._points: list[dict[str, float]] = []
        self._num_measured = 0

    def rate_share(self) -> float:
        """Return the share of the peak rate: it climbs, then falls to 0 with the minutes."""
        done = max(1e-4, self._used / self._budget_s)
        return done / self._warmup if done < self._warmup else max(0.0, 1 - done) / (1 - self._warmup)

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == 0:
            self._line.send("ready")
            self._wait()
            self._measure(0)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        now = time.perf_counter()
        self._used, self._began = self._used + now - self._began, now
        if self._used >= self._num_measured / self._num_points * self._budget_s:
            self._measure(state.global_step)
        if self._used >= self._budget_s:
            self._line.send((self._points, True))
            os._exit(0)  # what the Trainer does at its end takes longer than a turn
        if self._used >= self._end:
            self._line.send((self._points, False))
            self._wait()

    def _wait(self) -> None:
        seconds = self._line.recv()
        if seconds is None:
            os._exit(0)
        self._points, self._end, self._began = [], self._used + seconds, time.perf_counter()

    def _measure(self, step: int) -> None:
        """Measure the weights as they are, by the engine, which the tests hold equal to transformers."""
        self.model.save_pretrained(self._folder)
        model, _ = load_pretraining(self._folder, seed=0)
        point = {"minutes": self._used / 60, "step": step, **_figures(measure(model.eval(), self._batches))}
        self._points.append(point)
        self._num_measured += 1
        self._began = time.perf_counter()


def _figures(metrics: dict[str, float]) -> dict[str, float]:
    return {"loss": metrics["mlm_loss"], "accuracy": metrics["mlm_accuracy"]}


def _rows(duel: Duel, setup: pretraining_setup.PretrainSetup, length: int) -> list[dict[str, list[int]]]:
    """Return full blocks of some of the documents to train on, as run_mlm.py would hand them over."""
    train = pretraining_setup.split(setup, duel.config(duel.start, trim_vocab=0))[1]
    documents = np.random.Generator(np.random.PCG64(7)).permutation(train)[:DOCUMENTS]
    spec = PeerSpec(duel.start, duel.folder / SETUP / pretraining_setup.TOKENS, length, 0, 0.0, {})
    return list(blocks(spec, documents))
