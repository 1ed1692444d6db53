"""Whole runs of the engine, for gpu_check: curves, a run that ends in the middle, waiting, memory.

Text and vocabulary are those that ship with Cloze, so nothing is fetched.
"""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.gpu_parity import masked_batch
from benchmarks.pretrain_work import memory
from benchmarks.work import NEVER, SAMPLES, read_rows
from engine.commands.language import pretrain_command
from engine.device import finish, gpu, open_device
from engine.events import Event, Step
from engine.model.bert import initialize
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.settings.shared import DeviceConfig
from engine.train.optimizer import Optimizer
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.language import LanguageModel
from engine.train.run.runs import read_metrics

ROOT = Path(__file__).parents[1]
SENTENCES = 8  # of a document
CURVES, WINDOWS = 0.02, 10  # how far means of loss may lie apart, and over how many stretches they are taken
KILLED_WITHIN_S = 300.0
LONGEST = 96  # tokens of a text whose shapes vary


@dataclass(frozen=True, slots=True)
class Scene:
    """Where runs are made, and how large they are."""

    folder: Path
    preset: str  # of the model whose curves are compared
    num_steps: int  # of such a curve
    num_shapes: int  # batches of different shape whose memory is watched

    def settings(self, device: str, **changes: Any) -> PretrainConfig:
        """Return the settings of a run without dropout, that neither evaluates nor saves on its way."""
        text = self.folder / "text.txt"
        if not text.exists():
            write_text(text)
        values: dict[str, Any] = {
            "text": str(text),
            "layout": "sentences",
            "validation_share": 0.0,
            "model": f"new:{self.preset}",
            "vocab": str(SAMPLES / "vocab.txt"),
            "informed_start": False,  # counting neighbours takes longer than a short run
            "max_length": 128,
            "batch_tokens": 2048,
            "steps": self.num_steps,
            "evaluations": 1,
            "checkpoint_every_steps": NEVER,
            "kept_weights": 0,
            "device": device,
            "kernels": "torch",  # the same in every process, however it was measured
        }
        return with_values(PretrainConfig(), {**values, **changes})

    def run(self, name: str, config: PretrainConfig) -> Iterator[Event]:
        """Return a run's task; its token store goes into this folder, not into the user's cache."""
        with patch.object(pretraining_setup, "default_store_root", lambda: self.folder / "tokens"):
            yield from pretrain(config, self.folder / name)

    def losses(self, name: str, config: PretrainConfig) -> list[float]:
        """Train to the end and return the loss of each step."""
        return losses_in(self.run(name, config))


def write_text(path: Path) -> None:
    """Write the shipped sentences, eight of them a document."""
    lines = [text for _, text in read_rows(SAMPLES / "sentence_polarity.csv")]
    documents = ("\n".join(lines[at : at + SENTENCES]) for at in range(0, len(lines), SENTENCES))
    path.write_text("\n\n".join(documents) + "\n", encoding="utf-8")


def losses_in(events: Iterator[Event]) -> list[float]:
    """Return the loss of each step."""
    return [event.loss for event in events if isinstance(event, Step)]


def apart(one: list[float], other: list[float]) -> float:
    """Return how far the means of two curves lie apart at most, over a tenth of the steps each."""
    if len(one) != len(other) or not one:
        return math.inf
    windows = min(WINDOWS, len(one))
    means = [
        [float(part.mean()) for part in np.array_split(np.array(curve), windows)] for curve in (one, other)
    ]
    return float(np.nan_to_num(max(abs(a - b) for a, b in zip(*means, strict=True)), nan=math.inf))


def stopped(scene: Scene, name: str, config: PretrainConfig, after: int) -> list[float]:
    """Return the losses of a run that is stopped after a step, and gone on with."""
    task = scene.run(name, config)
    next(event for event in task if isinstance(event, Step) and event.step >= after)
    task.close()  # type: ignore[attr-defined]
    list(resume(scene.folder / name))
    return kept_losses(scene.folder / name)


def killed(scene: Scene, name: str, config: PretrainConfig, after: int) -> list[float]:
    """Return the losses of a run whose process is killed after a step, and gone on with."""
    run_dir = scene.folder / name
    words = shlex.split(pretrain_command(config, run_dir))[3:]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(scene.folder / "cache")}
    process = subprocess.Popen(
        [sys.executable, "-m", "engine", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    until = time.monotonic() + KILLED_WITHIN_S
    try:
        while len(kept_losses(run_dir)) < after and time.monotonic() < until and process.poll() is None:
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()
    list(resume(run_dir))
    return kept_losses(run_dir)


def kept_losses(run_dir: Path) -> list[float]:
    """Return the losses that a run wrote down."""
    if not (run_dir / "metrics.jsonl").exists():
        return []
    return [record["loss"] for record in read_metrics(run_dir) if record["event"] == "step"]


def steps_without_waiting(scene: Scene, count: int = 10) -> list[float]:
    """Return the losses of some steps during which nothing may wait for the GPU.

    Raises: RuntimeError, at the place, where something does.
    """
    task = scene.run("without waiting", scene.settings("cuda", steps=count + 20))
    next(event for event in task if isinstance(event, Step) and event.step >= 5)
    found: list[float] = []
    gpu().set_sync_debug_mode("error")
    try:
        while len(found) < count:
            event = next(task)
            if isinstance(event, Step):
                found.append(event.loss)
    finally:
        gpu().set_sync_debug_mode("default")
    task.close()  # type: ignore[attr-defined]
    return found


def memory_over_shapes(scene: Scene, device: str) -> dict[str, list[float]]:
    """Return MB taken at the quarters of a training whose batches all differ in shape.

    "taken": by tensors between two steps, "held": by the allocator; on a CPU, of the process.
    """
    where = open_device(DeviceConfig(device=device))
    preset = "mini" if device == "cuda" else "tiny"
    shape = BertConfig.preset(preset, 997, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model, task = PreTraining(shape), LanguageModel(True)
    initialize(model, 0.02, seed=1)
    model.to(where.device).train()
    optimizer = Optimizer(model, weight_decay=0.01, max_gradient_norm=1.0)
    rng = np.random.default_rng(5)
    found: dict[str, list[float]] = {"taken": [], "held": []}
    quarter = max(1, scene.num_shapes // 4)
    for step in range(1, 4 * quarter + 1):
        most = 64 if device == "cuda" else 8
        lengths = -np.sort(-rng.integers(3, LONGEST, int(rng.integers(1, most))))
        batch = masked_batch(tuple(lengths.tolist()), seed=step)
        with where.autocast():
            loss, tally = task.loss(model, batch.to(where.device), task.count([batch]))
        loss.backward()
        optimizer.step(1e-4, tally[0])
        del loss, tally, batch
        if step % quarter == 0:
            taken, held = _memory(where.device)
            found["taken"].append(taken / 1e6)
            found["held"].append(held / 1e6)
    return found


def _memory(device: torch.device) -> tuple[float, float]:
    if device.type == "cpu":
        return memory()[0], memory()[0]
    finish(device)
    return gpu().memory_allocated(), gpu().memory_reserved()
