"""A trained model as it chooses among the endings of one text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from engine.errors import DataError, marked
from engine.events import result_of
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import collate
from engine.text.example_rows import Example, ExampleRows
from engine.text.roles import CHOICES
from engine.train.tasks.choice.kept import encode_choices
from engine.train.tasks.rows.predict import RowModel


@dataclass(frozen=True)
class EndingModel(RowModel):
    """A model ready to choose; where one text stands for all endings, each has a line of its own."""

    @property
    def wants_pair(self) -> bool:
        """Whether a text alone is no question: endings go with it."""
        return True

    def answered(self, text_pair: str | None) -> tuple[str, ...]:
        return endings_in(text_pair)

    def read_longest(self, text: str, text_pair: str | None) -> tuple[str, str | None]:
        return text, max(endings_in(text_pair), key=len)

    def predict(self, text: str, text_pair: str | None = None) -> np.ndarray:
        """Return (K,) float32, the probability of each ending. Args: text_pair: the endings, line by line."""
        return self.shares(text, endings_in(text_pair))

    def shares(self, text: str, endings: tuple[str, ...]) -> np.ndarray:
        """Return (K,) float32, the probability of each ending."""
        rows = ExampleRows.of([Example(0, (text, *endings), None)])
        encoded, _ = result_of(encode_choices(rows, self.wordpiece, self.max_length, self.truncation))
        batch = collate(encoded, np.array([0]), self.device.device, ROW_MULTIPLE)
        with torch.inference_mode(), self.device.autocast():
            found: np.ndarray = self.task.decode(self.task.forward(self.model, batch)).cpu().numpy()[0]
        return found

    def choose(self, text: str, endings: tuple[str, ...]) -> dict[str, Any]:
        """Return the likeliest of some endings, its number from 1, and the probability of each."""
        shares = self.shares(text, endings)
        best = int(shares.argmax())
        return {
            "prediction": endings[best],
            "number": best + 1,
            "probability": float(shares[best]),
            "probabilities": shares.tolist(),
        }


def endings_in(said: str | None) -> tuple[str, ...]:
    """Return the endings that stand in a text, line by line. Raises: DataError."""
    return checked_endings([line.strip() for line in (said or "").splitlines() if line.strip()])


def checked_endings(endings: Sequence[str]) -> tuple[str, ...]:
    """Return endings that can be chosen from. Raises: DataError if they are too few, too many, or empty."""
    if not 2 <= len(endings) <= CHOICES.most or not all(one.strip() for one in endings):
        template = marked("engine", "choices is a list of 2 to {most} endings, such as {example}.")
        raise DataError(template, most=CHOICES.most, example='["He laughs.", "It rains."]')
    return tuple(endings)
