"""Which ending goes on with a text: a score each, their softmax, the share of rows that are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from engine.text.batch import Batch
from engine.train.tasks.classification.task import Classification


@dataclass(frozen=True)
class Choice(Classification):
    """One of K endings for a text; `labels` are the columns that these stand in.

    Source: Devlin et al. 2019, section 4.4.
    """

    name: ClassVar[str] = "multiple-choice"

    def forward(self, model: nn.Module, batch: Batch) -> Tensor:
        """Return the score of each ending of each row, (B, K)."""
        return super().forward(model, batch).view(len(batch.indices), -1)

    def count(self, parts: Sequence[Batch]) -> Tensor:
        """Return (number of rows, the same)."""
        count = float(sum(len(part.indices) for part in parts))
        return torch.tensor([count, count], dtype=torch.float64)

    def needs_no_guard(self) -> bool:
        """Names of columns are text like any other."""
        return False
