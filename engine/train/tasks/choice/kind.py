"""Multiple choice as a task among others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import DataError, Sentence, marked
from engine.events import result_of
from engine.model.kernels import ROW_MULTIPLE
from engine.settings.finetune import AdaptConfig, DataConfig
from engine.text.batch import collate
from engine.text.choices import choice_columns
from engine.text.example_rows import Example, ExampleRows
from engine.text.roles import CHOICES
from engine.text.table import Table
from engine.train.prepare import Setup
from engine.train.task import Answering
from engine.train.tasks.choice.kept import ChoiceSetup
from engine.train.tasks.choice.reading import RightEnding
from engine.train.tasks.choice.task import Choice
from engine.train.tasks.kind import Seen, text_in
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.rows.predict import Predictor


class Choosing(OfRows):
    """Which of 2 to 9 endings goes on with a text."""

    name = Choice.name
    reading = RightEnding()
    setup = ChoiceSetup
    without = ("rare_labels", "encoder", "frozen_layers", "layer_mix", "pooling")

    def looks_like(self, table: Table, data: DataConfig) -> Sentence | None:
        named = data.choices or (() if data.text_pair else choice_columns(table))
        if not named or (data.label and data.label in named):
            return None
        template = marked("engine", "Columns {columns} hold endings: the task is multiple choice.")
        columns = [data.choices] if data.choices else list(choice_columns(table))
        return Sentence(template, {"columns": columns})

    def task(self, setup: Setup, adapt: AdaptConfig) -> Choice:
        return Choice(setup.labels, label_smoothing=adapt.label_smoothing)

    def telling(self, task: Answering, seen: Seen) -> Choice:
        assert isinstance(task, Choice)
        return replace(task, seen=seen)

    def answering(self, folder: Path, device: str = "auto") -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        predictor = self.predictor(folder, device)

        def answer(document: Mapping[str, Any]) -> dict[str, Any]:
            text = text_in(document, "text")
            assert text is not None
            return choose(predictor, text, _endings(document))

        return answer


def choose(predictor: Predictor, text: str, endings: tuple[str, ...]) -> dict[str, Any]:
    """Return the likeliest of some endings, its number from 1, and the probability of each."""
    rows = ExampleRows.of([Example(0, (text, *endings), None)])
    encoded, _ = result_of(
        predictor.reading.encode(rows, predictor.wordpiece, predictor.max_length, predictor.truncation)
    )
    batch = collate(encoded, np.array([0]), predictor.device.device, ROW_MULTIPLE)
    with torch.inference_mode(), predictor.device.autocast():
        shares = predictor.task.decode(predictor.task.forward(predictor.model, batch)).cpu().numpy()[0]
    best = int(shares.argmax())
    return {
        "prediction": endings[best],
        "number": best + 1,
        "probability": float(shares[best]),
        "probabilities": shares.tolist(),
    }


def _endings(document: Mapping[str, Any]) -> tuple[str, ...]:
    found = document.get("choices")
    good = isinstance(found, list) and all(isinstance(one, str) and one.strip() for one in found)
    if not good or not 2 <= len(found or ()) <= CHOICES.most:
        template = marked("engine", "choices is a list of 2 to {most} endings, such as {example}.")
        raise DataError(template, most=CHOICES.most, example='["He laughs.", "It rains."]')
    return tuple(found or ())
