"""Weights kept along a run, for looking at how it learned: run/history/step-00000120/, each a model folder.

They are copies in half precision and nothing resumes from them. Early ones lie closer together, for there a
model changes most.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.durable import explained
from engine.model.bert import Bert
from engine.model.heads import PreTraining, SequenceClassifier
from engine.model.weights import Tokenizer, save_model
from engine.train.run.runs import CONFIG, HISTORY, MODEL, read_status

_STEP = "step-"


@dataclass(frozen=True, slots=True)
class Kept:
    """Weights that a run kept: the step after which they stood so, and their model folder."""

    step: int
    path: Path


@dataclass(frozen=True)
class WeightHistory:
    """Copies of a model in training. count: how many over the run. cloze: goes into each cloze.json."""

    run_dir: Path
    model: Bert | SequenceClassifier | PreTraining
    tokenizer: Tokenizer
    cloze: Mapping[str, Any]
    count: int

    def num_due(self, progress: float) -> int:
        """Return how many are kept by now: the first before the first step, then at rising distances."""
        return sum((number / self.count) ** 2 <= progress for number in range(self.count))

    def keep(self, step: int) -> None:
        """Write the weights as they are now. Raises: UserError if the disk is full or read-only."""
        folder = self.run_dir / HISTORY
        with explained(folder):
            folder.mkdir(exist_ok=True)
        save_model(folder / f"{_STEP}{step:08d}", self.model, self.tokenizer, self.cloze, dtype=torch.float16)

    def drop_after(self, step: int) -> None:
        """Remove what was kept later than `step`: a resumed run comes there again."""
        for kept in _kept(self.run_dir):
            if kept.step > step:
                shutil.rmtree(kept.path, ignore_errors=True)


def history(run_dir: Path) -> tuple[Kept, ...]:
    """Return the weights that a run kept, oldest first, the result last; () where it kept none."""
    found = list(_kept(run_dir))
    result = run_dir / MODEL
    if found and (result / "config.json").is_file():
        step = read_status(run_dir).get("step")
        found.append(Kept(int(step) if isinstance(step, int) else found[-1].step, result))
    return tuple(found)


def run_of(folder: Path) -> Path | None:
    """Return the run that a model folder is the result of, or was kept along; None for other folders."""
    folder = folder.absolute()
    run_dir = folder.parent.parent if is_kept(folder) else folder.parent
    return run_dir if (is_kept(folder) or folder.name == MODEL) and (run_dir / CONFIG).is_file() else None


def is_kept(folder: Path) -> bool:
    """Whether a model folder holds weights that a run kept along the way."""
    return folder.parent.name == HISTORY and folder.name.startswith(_STEP)


def _kept(run_dir: Path) -> Iterator[Kept]:
    for path in sorted((run_dir / HISTORY).glob(f"{_STEP}*")):
        number = path.name.removeprefix(_STEP)
        if number.isdecimal() and (path / "config.json").is_file():
            yield Kept(int(number), path)
