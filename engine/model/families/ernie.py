"""ERNIE: a BERT that adds a vector for its task to each word, which is the same for every text.

Without task_type_ids that is the first row of its table, so it is added to each segment's vector when weights
are read, and a table of zeros is written beside them: the sums are the same.
Source: Sun et al. 2020 (ERNIE 2.0), section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from engine.errors import ModelError, marked
from engine.model import names
from engine.model.families.family import Family
from engine.model.families.shape import Shape

if TYPE_CHECKING:
    from torch import Tensor

_TASKS = "embeddings.task_type_embeddings.weight"
_MOST_TASKS = 65_536


class Ernie(Family):
    """What differs from BERT."""

    model_type = "ernie"
    name = "ERNIE"
    paper = "Sun et al. 2020"
    stem = "Ernie"
    prefix = "ernie."
    marks = ("ernie.", _TASKS)

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        count = document.get("task_type_vocab_size", 3)
        if type(count) is not int or not 1 <= count <= _MOST_TASKS:
            template = marked(
                "engine", "config.json says {name} is {value}; it must be a whole number from 1 to {limit}."
            )
            value = str(count)[:40]
            raise ModelError(template, name="task_type_vocab_size", value=value, limit=_MOST_TASKS)
        return self.kept(document)

    def added(self, config: Shape) -> Mapping[str, tuple[str, int]]:
        if not config.extra.get("use_task_id"):
            return {}
        return {names.SEGMENTS: (_TASKS, config.extra.get("task_type_vocab_size", 3))}

    def note(self, config: Shape) -> str:
        if self.added(config):
            return marked("engine", "An ERNIE, read with the vector of its first task.")
        return marked("engine", "An ERNIE.")

    def restored(self, tensors: dict[str, Tensor], config: Shape) -> dict[str, Tensor]:
        for table, count in self.added(config).values():
            segments = next(name for name in tensors if name.endswith(names.SEGMENTS))
            tasks = tensors[segments].new_zeros(count, config.hidden_size)
            tensors[segments.removesuffix(names.SEGMENTS) + table] = tasks
        return tensors
