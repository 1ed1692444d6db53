"""What a careful colleague would say of a classifier before it learns and while it does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication

from app.pages.advice.remark import AdviceLine
from app.pages.advice.table import (
    CountedTable,
    contradictions,
    cut_texts,
    lone_labels,
    on_counted,
    unusable_rows,
)
from app.pages.run.advice import RunAdvice
from app.pages.tasks.known import views_of
from app.pages.tasks.views import TaskViews
from app.words import counted as in_number
from app.words import decimal, number, phrases, say, score
from engine.errors import Sentence
from engine.events import Evaluated, Event, Judged, Noted, Step
from engine.settings.finetune import DataConfig
from engine.train.metrics import ONE_ANSWER
from engine.train.watchdog import OVERFITTING
from engine.train.ways.choose import TAKEN

translate = QCoreApplication.translate

LOSS_RISES = 1.02  # of the lowest validation loss so far; smaller rises are noise
CHECKS = (contradictions, unusable_rows, cut_texts)  # of the table, that matter for a run


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRows:
    """What a run will be measured on, for the settings as they stand."""

    count: int
    num_leaking: int | None  # of them, whose text is in training too; None where nobody has counted
    num_duplicates: int  # rows of the table that repeat a text
    is_own_table: bool = False


@dataclass(frozen=True, slots=True)
class _Look:
    """One evaluation beside the training loss since the one before."""

    step: int
    epoch: float
    validation: float
    train: float


class FineTuneAdvice(RunAdvice):
    """Advice on a model that learns labels."""

    def __init__(self) -> None:
        self.before: Sequence[AdviceLine] = ()  # what is known before a run
        self.is_tested_at_random = False  # whether the test rows are a random sample of the labelled table
        super().__init__()

    def clear(self) -> None:
        super().clear()
        self._looks: list[_Look] = []
        self._losses: list[float] = []
        self.last: Evaluated | None = None  # on validation rows
        self.best: Evaluated | None = None
        self.test: Evaluated | None = None
        self.judged: Judged | None = None  # the ways that were compared first

    def hear(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Judged):
                self.judged = event
        told = [isinstance(one, Noted) and one.sentence.template == TAKEN for one in events]
        super().hear([one for one, is_told in zip(events, told, strict=True) if not is_told])

    def notes(self) -> Sequence[AdviceLine]:
        """Return what the run says of itself, without what stands beside the ways."""
        why = None if self.judged is None or self.judged.why is None else say(self.judged.why)
        return [note for note in super().notes() if note.text != why]

    @property
    def views(self) -> TaskViews:
        """Those of what the run learns."""
        return views_of(self.started.task if self.started is not None else "")

    @property
    def is_useless(self) -> bool:
        """Whether the run itself says that it has learned nothing to be used."""
        return self.has_noted(self.views.useless)

    @property
    def kept(self) -> Evaluated | None:
        """What validation found of the weights that the run has kept, or would keep."""
        if self.finished is not None and self.finished.best_step is None:
            return self.last  # the best checkpoint was damaged
        return self.best or self.last

    def take_step(self, step: Step) -> None:
        self._losses.append(step.loss)

    def take_evaluation(self, event: Evaluated) -> None:
        if event.split != "validation":
            self.test = event
            return
        self.last = event
        if event.is_best or self.best is None:
            self.best = event
        finite = [loss for loss in self._losses if math.isfinite(loss)]
        train = float(np.mean(finite)) if finite else math.nan
        self._looks.append(_Look(event.step, event.epoch, event.loss, train))
        self._losses = []

    def note_key(self, sentence: Sentence) -> str:
        """Return a key by which the last of a kind stays of what the run says while it learns."""
        return str(sentence) if self.started is None else sentence.template

    def on_learning(self) -> Iterator[AdviceLine]:
        yield from self._on_overfitting()
        if self.is_useless:
            if self.views.useless == ONE_ANSWER and (self.is_over or self.finished is not None):
                text = translate(
                    "FineTuneAdvice",
                    "Train again before you use it: for more epochs, or on more labelled rows.",
                )
                yield AdviceLine("look", text)
            return
        is_over = self.is_over or self.finished is not None
        shown = self.kept if is_over else self.last
        for event in (shown, self.test):
            if event is not None:
                yield from self.views.remarks(event, is_over=is_over)

    def on_data(self) -> Iterator[AdviceLine]:
        if self.started is None and not self._notes:
            yield from self.before

    def part_words(self, split: str) -> str:
        """Return what the rows are called that an evaluation is of."""
        if split == "test" and self.is_tested_at_random:
            return translate("FineTuneAdvice", "random sample")
        said = {
            "test": translate("FineTuneAdvice", "test"),
            "validation": translate("FineTuneAdvice", "validation"),
        }
        return said[split]

    def result_words(self) -> str:
        """Return the line about the best checkpoint so far, or about the result."""
        views = self.views
        metric = views.metric(views.main_metric if self.started is None else self.started.metric)
        line = self._judged_words()
        if self.best is not None:
            line = translate("FineTuneAdvice", "Best checkpoint: step {step}, validation {metric} {value}")
            value = views.score_words(self.best) or "–"
            line = line.format(step=number(self.best.step), metric=metric, value=value)
        if self.test is not None:
            tested = translate("FineTuneAdvice", "test {metric} {value}")
            if self.is_tested_at_random:
                tested = translate("FineTuneAdvice", "{metric} on the random sample {value}")
            told = tested.format(metric=metric, value=views.score_words(self.test))
            line = phrases((line, told)) if line else told[:1].upper() + told[1:]
        return line

    def _judged_words(self) -> str:
        """Return how good the way is that was taken; "" where no ways were compared."""
        judged = self.judged
        if judged is None or judged.accuracy is None or judged.interval is None:
            return ""
        text = translate("FineTuneAdvice", "Cross-validated accuracy {value} (95 %: {low} to {high})")
        value, low, high = map(score, (judged.accuracy, *judged.interval))
        return text.format(value=value, low=low, high=high)

    def _on_overfitting(self) -> Iterator[AdviceLine]:
        if len(self._looks) < 2 or self.has_noted(OVERFITTING):
            return
        best = min(self._looks, key=lambda look: look.validation)
        last = self._looks[-1]
        if last.validation > best.validation * LOSS_RISES and last.train < best.train:
            text = translate(
                "FineTuneAdvice",
                "Overfitting since epoch {epoch}: validation loss rises ({low} to {high}) while training "
                "loss falls. The best checkpoint is kept.",
            )
            epoch = f"{best.epoch:.1f}".removesuffix(".0")
            low, high = decimal(best.validation), decimal(last.validation)
            yield AdviceLine("look", text.format(epoch=epoch, low=low, high=high))


def before_a_run(
    counted: CountedTable, validation: ValidationRows | None, noted: Sequence[Noted]
) -> list[AdviceLine]:
    """Return what to know of the data before a run; of a table only what asks for a look.

    Args: validation: None where cross-validation takes its place. noted: what the run would say itself, of
    texts that the model to start from has learned from.
    """
    found = on_counted(counted, CHECKS)
    if validation is None:
        return [*on_noted(noted), *(remark for remark in found if remark.level == "look")]
    if not validation.is_own_table:  # of such a table nobody knows yet which labels it measures
        found = [*on_counted(counted, (lone_labels,)), *found]
    kept = on_validation(validation)
    is_known = any(note.sentence.values.get("part") == "validation" for note in noted)
    said = [] if is_known and kept.level == "fine" else [kept]
    return [*on_noted(noted), *said, *(remark for remark in found if remark.level == "look")]


def on_noted(noted: Sequence[Noted]) -> list[AdviceLine]:
    """Return what a run would say itself, as it says it."""
    return [AdviceLine(note.level, say(note.sentence)) for note in noted]


def on_validation(validation: ValidationRows) -> AdviceLine:
    """Return what to say of the rows that are kept apart."""
    kept = number(validation.count)
    if validation.is_own_table:
        return AdviceLine("fine", translate("FineTuneAdvice", "Validation rows come from a separate table."))
    if validation.count <= 0:
        text = translate(
            "FineTuneAdvice",
            "No rows are held out, so nothing will show whether the model learns or "
            "memorises. Set a validation share.",
        )
        return AdviceLine("wrong", text)
    if validation.num_leaking:
        text = translate(
            "FineTuneAdvice",
            "{leaking} of the {kept} validation rows share their text with training, so "
            "the score is a little too good.",
        )
        return AdviceLine("look", text.format(kept=kept, leaking=number(validation.num_leaking)))
    if validation.num_leaking is None and validation.num_duplicates:
        text = translate(
            "FineTuneAdvice",
            "Validation rows: {kept}. {count} rows repeat the text of another row, some of "
            "them across the two parts.",
        )
        return AdviceLine("look", text.format(kept=kept, count=number(validation.num_duplicates)))
    text = in_number(
        validation.count,
        translate("FineTuneAdvice", "One validation row. No text is shared with training."),
        translate("FineTuneAdvice", "{count} validation rows; no text is shared with training."),
    )
    return AdviceLine("fine", text)


def is_default_split(validation_share: float, split_seed: int) -> bool:
    """Return whether a summary's count of shared texts holds for these settings."""
    usual = DataConfig()
    return validation_share == usual.validation_share and split_seed == usual.split_seed
