"""Correcting texts as a task among others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import Sentence, marked
from engine.events import Steps
from engine.settings.finetune import AdaptConfig, DataConfig, FineTuneConfig
from engine.text.corrections import likely_corrections
from engine.text.table import Table
from engine.train.prepare import Setup
from engine.train.run.records import real_number
from engine.train.tasks.correcting.kept import CorrectingSetup
from engine.train.tasks.correcting.predict import CorrectingModel
from engine.train.tasks.correcting.program import program_of
from engine.train.tasks.correcting.reading import RightText
from engine.train.tasks.correcting.task import Correction
from engine.train.tasks.kind import text_in
from engine.train.tasks.program import AnswerProgram
from engine.train.tasks.rows.kept import RowSetup
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.rows.predict import RowModel

_MASKED = "masked_share"  # in cloze.json


class Correcting(OfRows):
    """The right piece for each piece of a text."""

    name = Correction.name
    does = marked("engine", "corrects a text piece by piece")
    reading = RightText()
    setup = CorrectingSetup
    reads_windows = True
    least_rate = 5e-4  # held-out F1 after 3 epochs, no masks, Chinese starter: 0.07 at 2e-4, 0.11 at 1e-3
    has_marks = True
    without = ("rare_labels", "label_smoothing", "layer_mix", "pooling")

    def looks_like(self, table: Table, data: DataConfig) -> Sentence | None:
        if data.text_pair or data.choices:
            return None
        found = likely_corrections(table)
        named = {"text": data.text, "label": data.label}
        if not found or any(
            name and table.column(name) != found.column(role) for role, name in named.items()
        ):
            return None
        template = marked(
            "engine",
            "Columns {text} and {right} hold the same texts but for a few characters, so the task is to "
            "correct one into the other.",
        )
        return Sentence(template, {"text": found.text, "right": found.label})

    def prepare(self, config: FineTuneConfig) -> Steps[RowSetup]:
        setup = yield from super().prepare(config)
        return replace(setup, about={**setup.about, _MASKED: config.data.masked_share})

    def task(self, setup: Setup, adapt: AdaptConfig) -> Correction:
        return Correction(setup.wordpiece, real_number(setup.about.get(_MASKED)) or 0.0)

    def predictor(self, folder: Path, device: str = "auto") -> CorrectingModel:
        return CorrectingModel.from_folder(self.reading, folder, device)

    def program(self, folder: Path) -> AnswerProgram:
        return program_of(self.predictor(folder, "cpu"))

    def answer(self, predictor: RowModel, document: Mapping[str, Any]) -> dict[str, Any]:
        text = text_in(document, "text")
        assert text is not None and isinstance(predictor, CorrectingModel)
        return predictor.correct(text).document()
