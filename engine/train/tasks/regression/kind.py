"""A number a row, as a task among others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import ConfigError, DataError, ModelError, Sentence, marked
from engine.events import Noted, Steps
from engine.model.heads import PLAIN, HeadedEncoder, SequenceClassifier, Unit
from engine.settings.finetune import AdaptConfig, DataConfig, FineTuneConfig
from engine.text.batch import EncodedRows
from engine.text.numbers import are_numbers, figure
from engine.text.table import Table
from engine.train.prepare import Setup
from engine.train.run.records import real_numbers
from engine.train.tasks.regression.reading import OneNumber
from engine.train.tasks.regression.task import Regression
from engine.train.tasks.rows.kept import RowSetup
from engine.train.tasks.rows.kind import OfRows
from engine.train.tasks.rows.predict import RowModel

FAR = 5.0  # standard deviations apart, or times as large: numbers of another unit
MOST_STEP = 0.02  # of a standard deviation, between numbers of 32 bits: larger ones are told
_UNIT = "unit"  # its name in setup.json and cloze.json
_COARSE = marked(
    "engine",
    "The numbers lie far from 0 and close together (standard deviation {sd} around "
    "{mean}), so the model answers in steps of {step:.2g}. Subtract {mean} from all "
    "of them for finer answers.",
)


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
    does, pipeline = marked("engine", "answers a text with a number"), '"text-classification"'
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
            "Column {column} holds numbers that are not classes, such as {example}, so the "
            "task is regression.",
        )
        example = next(cell for cell in table.frame[column].tolist() if cell.strip())
        return Sentence(template, {"column": column, "example": example[:40]})

    def prepare(self, config: FineTuneConfig) -> Steps[RowSetup]:
        for field in ("merge_labels", "whole_labels"):
            if getattr(config.data, field):
                template = marked(
                    "engine", "{field} means nothing to the task {task}, whose labels are numbers."
                )
                raise ConfigError(template, field=field, task=self.name)
        setup = yield from super().prepare(config)
        unit = _unit_of(setup.sets["train"].targets)
        yield Noted(sentence=_on_unit(unit), level="fine")
        if (step := float(np.spacing(np.float32(abs(unit.mean))))) > MOST_STEP * unit.sd:
            values = {name: figure(number, unit.sd) for name, number in asdict(unit).items()}
            yield Noted(sentence=Sentence(_COARSE, {**values, "step": step}))
        sets = {name: in_unit(one, unit) for name, one in setup.sets.items()}
        return replace(setup, sets=sets, about={**setup.about, _UNIT: asdict(unit)})

    def predictor(self, folder: Path, device: str = "auto") -> RowModel:
        found = super().predictor(folder, device)
        if len(found.labels) != 1:
            template = marked("engine", "{folder} says that it predicts a number, but has {count} outputs.")
            raise ModelError(template, folder=folder, count=len(found.labels))
        return found

    def likeliest(self, scores: Sequence[np.ndarray], read: Any) -> np.ndarray:
        return scores[0]

    def task(self, setup: Setup, adapt: AdaptConfig) -> Regression:
        return Regression(setup.labels, unit_in(setup.about))

    def measured(self, setup: Setup, split: str) -> tuple[Regression, EncodedRows]:
        unit, data = unit_in(setup.about), setup.sets[split]
        return Regression(setup.labels), replace(data, targets=data.targets * unit.sd + unit.mean)

    def begin(self, model: HeadedEncoder, setup: Setup) -> list[Sentence]:
        """Let a new head begin at the mean of the numbers to learn."""
        assert isinstance(model, SequenceClassifier)
        with torch.no_grad():
            model.classifier.bias.zero_()
        template = marked("engine", "The new head begins at the mean of the numbers to learn, {mean}.")
        unit = unit_in(setup.about)
        return [Sentence(template, {"mean": figure(unit.mean, unit.sd)})]

    def go_on(self, model: HeadedEncoder, setup: Setup, info: Mapping[str, Any]) -> list[Sentence]:
        """Take the head as it answers in the table's unit; one that has learned in another unit as it answers
        in standard deviations.
        """
        assert isinstance(model, SequenceClassifier)
        unit, before = unit_in(setup.about), unit_in(info)
        apart, ratio = abs(unit.mean - before.mean), unit.sd / before.sd
        if before == PLAIN or (apart <= FAR * max(unit.sd, before.sd) and 1 / FAR <= ratio <= FAR):
            model.take_unit(unit)
            return []
        model.take_unit(before)
        template = marked(
            "engine",
            "The starting model was trained on numbers of another kind (mean {before}). It "
            "continues with those of this table (mean {mean}).",
        )
        values = {"before": figure(before.mean, before.sd), "mean": figure(unit.mean, unit.sd)}
        return [Sentence(template, values)]

    def attach(self, model: HeadedEncoder, setup: Setup) -> None:
        assert isinstance(model, SequenceClassifier)
        model.unit = unit_in(setup.about)


def unit_in(about: Mapping[str, Any]) -> Unit:
    """Return the unit that a setup, or a cloze.json, tells of; PLAIN where it tells of none."""
    found = about.get(_UNIT)
    numbers = real_numbers([found.get("mean"), found.get("sd")] if isinstance(found, dict) else None, 2)
    return Unit(*numbers) if numbers and numbers[1] > 0 else PLAIN


def in_unit(data: EncodedRows, unit: Unit) -> EncodedRows:
    """Return a set with its numbers in standard deviations from the mean."""
    return replace(data, targets=(data.targets - unit.mean) / unit.sd)


def _unit_of(numbers: np.ndarray) -> Unit:
    """Return mean and standard deviation of the numbers to train on. Raises: DataError: all are the same."""
    mean = math.fsum(numbers) / len(numbers)
    sd = math.sqrt(math.fsum((numbers - mean) ** 2) / len(numbers))
    if numbers.min() == numbers.max():
        template = marked(
            "engine",
            "All {count} training rows have the same number, {number:g}, so there is nothing "
            "to learn. Choose another split seed, or other data.",
        )
        raise DataError(template, count=len(numbers), number=float(numbers[0]))
    return Unit(mean, sd)


def _on_unit(unit: Unit) -> Sentence:
    template = marked(
        "engine",
        "Numbers are learned in standard deviations ({sd}) from their mean ({mean}), "
        "both of the training rows. Predictions and scores use the unit of the table, "
        "the loss does not.",
    )
    return Sentence(template, {"sd": figure(unit.sd, unit.sd), "mean": figure(unit.mean, unit.sd)})
