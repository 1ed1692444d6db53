"""How a question names the model that it asks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ModelName:
    """Which model is asked.

    fingerprint: of its weights, as `ModelSummary` has it, where they are known: what is trained anew in the
    same folder is another model.
    """

    folder: Path
    fingerprint: str = ""

    def __str__(self) -> str:
        return str(self.folder)
