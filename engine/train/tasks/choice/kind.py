"""Multiple choice as a task among others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import Sentence, marked
from engine.settings.finetune import AdaptConfig, DataConfig
from engine.text.choices import choice_columns
from engine.text.table import Table
from engine.train.prepare import Setup
from engine.train.task import Answering
from engine.train.tasks.choice.kept import ChoiceSetup
from engine.train.tasks.choice.predict import EndingModel, checked_endings
from engine.train.tasks.choice.program import program_of
from engine.train.tasks.choice.reading import RightEnding
from engine.train.tasks.choice.task import Choice
from engine.train.tasks.kind import Seen, text_in
from engine.train.tasks.program import AnswerProgram
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.rows.predict import RowModel


class Choosing(OfRows):
    """Which of 2 to 9 endings continues a text."""

    name = Choice.name
    does = marked("engine", "chooses which of several endings continues a text")
    reading = RightEnding()
    setup = ChoiceSetup
    has_temperature = True
    without = ("rare_labels", "encoder", "frozen_layers", "layer_mix", "pooling")

    def looks_like(self, table: Table, data: DataConfig) -> Sentence | None:
        named = data.choices or (() if data.text_pair else choice_columns(table))
        if not named or (data.label and data.label in named):
            return None
        template = marked("engine", "Columns {columns} hold endings, so the task is multiple choice.")
        columns = [data.choices] if data.choices else list(choice_columns(table))
        return Sentence(template, {"columns": columns})

    def task(self, setup: Setup, adapt: AdaptConfig) -> Choice:
        return Choice(setup.labels, label_smoothing=adapt.label_smoothing)

    def telling(self, task: Answering, seen: Seen) -> Choice:
        assert isinstance(task, Choice)
        return replace(task, seen=seen)

    def predictor(self, folder: Path, device: str = "auto") -> EndingModel:
        return EndingModel.from_folder(self.reading, folder, device)

    def program(self, folder: Path) -> AnswerProgram:
        return program_of(self.predictor(folder, "cpu"))

    def likeliest(self, scores: Sequence[np.ndarray], read: Any) -> np.ndarray:
        """Return (N, 1), the score of each ending."""
        return scores[0]

    def answer(self, predictor: RowModel, document: Mapping[str, Any]) -> dict[str, Any]:
        text = text_in(document, "text")
        assert text is not None and isinstance(predictor, EndingModel)
        return predictor.choose(text, _endings(document))


def _endings(document: Mapping[str, Any]) -> tuple[str, ...]:
    found = document.get("choices")
    good = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return checked_endings(found or () if good else ())
