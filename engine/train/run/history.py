"""Weights kept along a run, for looking at how it learned: run/history/step-00000120/, each a model folder.

They are copies in half precision and nothing resumes from them. Early ones lie closer together, for there a
model changes most.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.durable import explained
from engine.model.bert import Bert
from engine.model.heads import HeadedEncoder, PreTraining
from engine.model.weights import save_model
from engine.text.tokenizer import Tokenizer
from engine.train.run.kept import STEP, kept_along
from engine.train.run.runs import HISTORY


@dataclass(frozen=True)
class WeightHistory:
    """Copies of a model in training. count: how many over the run. cloze: goes into each cloze.json."""

    run_dir: Path
    model: Bert | HeadedEncoder | PreTraining
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
        save_model(folder / f"{STEP}{step:08d}", self.model, self.tokenizer, self.cloze, dtype=torch.float16)

    def drop_after(self, step: int) -> None:
        """Remove what was kept later than `step`: a resumed run comes there again."""
        for kept in kept_along(self.run_dir):
            if kept.step > step:
                shutil.rmtree(kept.path, ignore_errors=True)
