"""A number a row, as a task among others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from engine.errors import ConfigError, ModelError, Sentence, marked
from engine.events import Steps
from engine.model.heads import Headed, SequenceClassifier
from engine.settings.finetune import AdaptConfig, DataConfig, FineTuneConfig
from engine.text.numbers import are_numbers
from engine.text.table import Table
from engine.train.prepare import Setup
from engine.train.tasks.regression.reading import OneNumber
from engine.train.tasks.regression.task import Regression
from engine.train.tasks.rows.kept import RowSetup
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.rows.predict import Predictor


@dataclass(frozen=True)
class NumbersSetup(RowSetup):
    """What a number a row stands on."""

    def belongs_together(self) -> bool:
        return len(self.labels) == 1 and all(
            one.targets.ndim == 1 and one.targets.dtype.kind == "f" and bool(np.isfinite(one.targets).all())
            for one in self.sets.values()
        )


class Regressing(OfRows):
    """A number for a text or a pair of texts."""

    name = Regression.name
    problem = "regression"
    reading = OneNumber()
    setup = NumbersSetup
    without = ("rare_labels", "label_smoothing")

    def looks_like(self, table: Table, data: DataConfig) -> Sentence | None:
        if not data.label or data.whole_labels:
            return None
        column = table.column(data.label)
        if not are_numbers(table.frame[column].tolist()):
            return None
        template = marked(
            "engine",
            "Column {column} holds numbers that are no classes, such as {example}: the task is regression.",
        )
        example = next(cell for cell in table.frame[column].tolist() if cell.strip())
        return Sentence(template, {"column": column, "example": example[:40]})

    def prepare(self, config: FineTuneConfig) -> Steps[RowSetup]:
        for field in ("merge_labels", "whole_labels", "max_labels"):
            if getattr(config.data, field) != getattr(DataConfig(), field):
                template = marked(
                    "engine", "{field} means nothing to the task {task}, whose labels are numbers."
                )
                raise ConfigError(template, field=field, task=self.name)
        return super().prepare(config)

    def predictor(self, folder: Path, device: str = "auto") -> Predictor:
        found = super().predictor(folder, device)
        if len(found.labels) != 1:
            template = marked("engine", "{folder} says that it predicts a number, but has {count} outputs.")
            raise ModelError(template, folder=folder, count=len(found.labels))
        return found

    def task(self, setup: Setup, adapt: AdaptConfig) -> Regression:
        return Regression(setup.labels)

    def begin(self, model: Headed, setup: Setup) -> list[Sentence]:
        """Let a new head begin at the mean of the numbers to learn: it else would be long in reaching it."""
        assert isinstance(model, SequenceClassifier)
        mean = float(setup.sets["train"].targets.mean())
        with torch.no_grad():
            model.classifier.bias.fill_(mean)
        template = marked("engine", "The new head begins at the mean of the numbers to learn, {mean:.3g}.")
        return [Sentence(template, {"mean": mean})]
