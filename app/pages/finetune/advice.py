"""What a careful colleague would say while a model learns: remarks in plain words, made from events alone.

It draws nothing and knows no session, so that every remark can be tested without a window. What may be wrong
stands first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QCoreApplication

from app.pages.run.advice import Remark, in_order
from app.words import decimal, number, say, share, shorten, with_interval
from engine.events import Evaluated, Event, Finished, Noted, Started, Step
from engine.settings.finetune import DataConfig
from engine.train.data_notes import MUCH_IS_CUT
from engine.train.metrics import ONE_ANSWER, wilson_interval

translate = QCoreApplication.translate

LOSS_RISES = 1.02  # of the lowest validation loss so far; smaller rises are noise
MOST_NAMES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What is known of the data before training, for the settings as they stand."""

    num_train: int
    num_validation: int
    num_leaking: int | None  # validation rows whose text is in training too; None where nobody has counted
    num_duplicates: int
    num_contradicting: int
    num_unusable: int
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    cut_share: float
    max_length: int
    own_validation: bool = False  # a table of its own


@dataclass(frozen=True, slots=True)
class _Look:
    """One evaluation beside the training loss since the one before."""

    step: int
    epoch: float
    validation: float
    train: float


class Watch:
    """Hears a run's events and keeps the remarks that follow from them."""

    def __init__(self) -> None:
        self.outlook: Outlook | None = None
        self.start()

    def start(self) -> None:
        """Forget the run before."""
        self._started: Started | None = None
        self._looks: list[_Look] = []
        self._losses: list[float] = []
        self._last: Evaluated | None = None
        self.is_over = False  # the run has ended, however it did
        self._notes: dict[str, Remark] = {}
        self._nan_step = 0
        self.best: Evaluated | None = None
        self.test: Evaluated | None = None
        self.finished: Finished | None = None

    @property
    def last(self) -> Evaluated | None:
        """The newest evaluation on validation rows."""
        return self._last

    @property
    def kept(self) -> Evaluated | None:
        """What validation found of the weights that the run has kept, or would keep."""
        if self.finished is not None and self.finished.best_step is None:
            return self._last  # the best checkpoint was damaged
        return self.best or self._last

    @property
    def has_nan(self) -> bool:
        """Whether the loss has ceased to be a number."""
        return bool(self._nan_step)

    def hear(self, events: Sequence[Event]) -> None:
        """Take in what a run says."""
        for event in events:
            match event:
                case Step():
                    self._losses.append(event.loss)
                    if not math.isfinite(event.loss) and not self._nan_step:
                        self._nan_step = event.step
                case Evaluated():
                    self._evaluated(event)
                case Started():
                    self._started = event
                case Noted():
                    self._note(event)
                case Finished():
                    self.finished = event

    def remarks(self) -> list[Remark]:
        """Return all remarks, the most pressing first."""
        found = [*self._on_learning(), *self._notes.values(), *self._on_data()]
        return in_order(found)

    def _note(self, event: Noted) -> None:
        """Keep what the run says of its data; of what it says while it learns, the last of a kind."""
        key = str(event.sentence) if self._started is None else event.sentence.template
        self._notes[key] = Remark(event.level, say(event.sentence))

    def _evaluated(self, event: Evaluated) -> None:
        if event.split != "validation":
            self.test = event
            return
        self._last = event
        if event.is_best or self.best is None:
            self.best = event
        finite = [loss for loss in self._losses if math.isfinite(loss)]
        train = float(np.mean(finite)) if finite else math.nan
        self._looks.append(_Look(event.step, event.epoch, event.loss, train))
        self._losses = []

    def _on_learning(self) -> list[Remark]:
        found: list[Remark] = []
        if self._nan_step:
            text = translate(
                "Watch",
                "The loss is no longer a number since step {step}. Try a smaller learning rate; "
                "the last good checkpoint is kept.",
            )
            found.append(Remark("wrong", text.format(step=number(self._nan_step))))
        found += self._on_overfitting()
        is_over = self.is_over or self.finished is not None
        shown = self.kept if is_over else self._last
        if shown is not None and shown.confusion is not None and ONE_ANSWER not in self._notes:
            found += _on_predictions(shown, is_over)
        if self.test is not None and ONE_ANSWER not in self._notes:
            found += _on_chance(self.test)
        return found

    def _on_overfitting(self) -> list[Remark]:
        if len(self._looks) < 2:
            return []
        best = min(self._looks, key=lambda look: look.validation)
        last = self._looks[-1]
        if not (last.validation > best.validation * LOSS_RISES and last.train < best.train):
            return []
        text = translate(
            "Watch",
            "Overfitting since epoch {epoch}: validation loss rises ({low} to {high}) "
            "while training loss falls. "
            "The best checkpoint is kept.",
        )
        epoch = f"{best.epoch:.1f}".removesuffix(".0")
        return [
            Remark(
                "look", text.format(epoch=epoch, low=decimal(best.validation), high=decimal(last.validation))
            )
        ]

    def _on_data(self) -> list[Remark]:
        """Return what is known of the data before a run; of its own data a run says itself what it found."""
        outlook = self.outlook
        if outlook is None or self._started is not None or self._notes:
            return []
        return [
            *_on_split(outlook),
            *_on_labels(outlook),
            *_on_contradictions(outlook),
            *_on_rows(outlook),
        ]


def accuracy_words(evaluated: Evaluated) -> str:
    """Return the accuracy with its 95 % interval; empty where accuracy was not measured."""
    if "accuracy" not in evaluated.metrics:
        return ""
    rows = int(evaluated.confusion.sum()) if evaluated.confusion is not None else 0
    return with_interval(float(evaluated.metrics["accuracy"]), rows)


def result_words(watch: Watch) -> str:
    """Return the line about the best checkpoint so far, or about the result; empty before an evaluation."""
    best = watch.best
    if best is None:
        return ""
    line = translate("Watch", "Best checkpoint: step {step}, validation accuracy {accuracy}").format(
        step=number(best.step), accuracy=accuracy_words(best) or "–"
    )
    if watch.test is not None:
        tested = translate("Watch", "test accuracy {accuracy}").format(accuracy=accuracy_words(watch.test))
        line = f"{line}, {tested}"
    return line


def names_words(names: Sequence[str]) -> str:
    """Return up to three names and how many more there are."""
    shown = ", ".join(shorten(name, 30) for name in names[:MOST_NAMES])
    if len(names) <= MOST_NAMES:
        return shown
    return translate("Watch", "{names} and {count} more").format(
        names=shown, count=number(len(names) - MOST_NAMES)
    )


def _on_predictions(event: Evaluated, is_over: bool) -> list[Remark]:
    """Args: is_over: the weights are those that the run has kept, and will learn no more."""
    assert event.confusion is not None
    true, predicted = event.confusion.sum(axis=1), event.confusion.sum(axis=0)
    never = [
        name for name, rows, said in zip(event.labels, true, predicted, strict=True) if rows and not said
    ]
    found: list[Remark] = []
    if never and int((predicted > 0).sum()) == 1:
        only = event.labels[int(predicted.argmax())]
        text = translate(
            "Watch", "It always answers {name}. It has not learned to tell the labels apart yet."
        )
        if is_over:
            text = translate("Watch", "It always answers {name}: it does not tell the labels apart.")
        return [Remark("look", text.format(name=shorten(only, 30)))]
    if len(never) == 1:
        text = translate("Watch", "{name} is never predicted, though {rows} validation rows carry it.")
        rows = int(true[event.labels.index(never[0])])
        found.append(Remark("look", text.format(name=shorten(never[0], 30), rows=number(rows))))
    elif never:
        text = translate("Watch", "{count} labels are never predicted: {names}.")
        found.append(Remark("look", text.format(count=number(len(never)), names=names_words(never))))
    elif len(event.labels) == 2:
        found.append(Remark("fine", translate("Watch", "Both labels are being predicted.")))
    else:
        text = translate("Watch", "All {count} labels are being predicted.")
        found.append(Remark("fine", text.format(count=number(len(event.labels)))))
    return [*found, *_on_chance(event)]


def _on_chance(event: Evaluated) -> list[Remark]:
    """Say where an accuracy may be no better than one answer for all rows."""
    accuracy, confusion = event.metrics.get("accuracy"), event.confusion
    if accuracy is None or confusion is None or not confusion.sum():
        return []
    true, rows = confusion.sum(axis=1), int(confusion.sum())
    chance, low = float(true.max()) / rows, wilson_interval(accuracy * rows, rows)[0]
    if low > chance:
        return []
    is_test = event.split == "test"
    if accuracy <= chance:
        text = translate("Watch", "It is no better than always answering {name} ({share}).")
        if is_test:
            text = translate(
                "Watch", "On the test rows it is no better than always answering {name} ({share})."
            )
    else:
        text = translate(
            "Watch",
            "It may be no better than always answering {name} ({share}): the 95 % interval of its accuracy "
            "reaches down to {low}.",
        )
        if is_test:
            text = translate(
                "Watch",
                "On the test rows it may be no better than always answering {name} ({share}): the 95 % "
                "interval of its accuracy reaches down to {low}.",
            )
    most = shorten(event.labels[int(true.argmax())], 30)
    return [Remark("look", text.format(name=most, share=share(chance), low=share(low)))]


def _on_split(outlook: Outlook) -> list[Remark]:
    kept = outlook.num_validation
    if outlook.own_validation:
        return [Remark("fine", translate("Watch", "Validation is a table of its own."))]
    if kept <= 0:
        text = translate(
            "Watch",
            "No rows are kept apart: nothing will show whether it learns or memorises. "
            "Set a validation share.",
        )
        return [Remark("wrong", text)]
    if outlook.num_leaking:
        text = translate(
            "Watch",
            "{leaking} of the {kept} validation rows share their text with training, "
            "so the score flatters a little.",
        )
        return [Remark("look", text.format(kept=number(kept), leaking=number(outlook.num_leaking)))]
    if outlook.num_leaking is None and outlook.num_duplicates:
        text = translate(
            "Watch",
            "Validation is kept apart: {kept} rows. {count} rows repeat a text of another row, some of them "
            "across the two parts.",
        )
        return [Remark("look", text.format(kept=number(kept), count=number(outlook.num_duplicates)))]
    text = translate("Watch", "Validation is kept apart: {kept} rows, no text shared with training.")
    return [Remark("fine", text.format(kept=number(kept)))]


def _on_labels(outlook: Outlook) -> list[Remark]:
    pairs = list(zip(outlook.labels, outlook.counts, strict=True))
    once = [name for name, count in pairs if count == 1]
    found: list[Remark] = []
    if len(once) == 1:
        text = translate(
            "Watch", "The label {name} stands in one row only; nothing can be learned from one row."
        )
        found.append(Remark("look", text.format(name=shorten(once[0], 30))))
    elif once:
        text = translate("Watch", "{count} labels stand in one row only: {names}.")
        found.append(Remark("look", text.format(count=number(len(once)), names=names_words(once))))
    return found


def _on_contradictions(outlook: Outlook) -> list[Remark]:
    found: list[Remark] = []
    if outlook.num_contradicting == 1:
        found.append(Remark("look", translate("Watch", "One text carries more than one label.")))
    elif outlook.num_contradicting:
        text = translate("Watch", "{count} texts carry more than one label.")
        found.append(Remark("look", text.format(count=number(outlook.num_contradicting))))
    return found


def _on_rows(outlook: Outlook) -> list[Remark]:
    found: list[Remark] = []
    if outlook.num_unusable == 1:
        found.append(Remark("look", translate("Watch", "One row has no text or no label and is left out.")))
    elif outlook.num_unusable:
        text = translate("Watch", "{count} rows have no text or no label and are left out.")
        found.append(Remark("look", text.format(count=number(outlook.num_unusable))))
    return [*found, *_on_cut(outlook)]


def _on_cut(outlook: Outlook) -> list[Remark]:
    if outlook.cut_share < MUCH_IS_CUT:
        return []
    text = translate("Watch", "{share} of texts are longer than {length} pieces and will be cut.")
    return [Remark("look", text.format(share=share(outlook.cut_share, 0), length=number(outlook.max_length)))]


def is_default_split(validation_share: float, split_seed: int) -> bool:
    """Return whether a study's count of shared texts holds for these settings."""
    usual = DataConfig()
    return validation_share == usual.validation_share and split_seed == usual.split_seed
