"""What a task says while it works: small frozen events, pulled by whoever runs the task.

A task is a generator. It yields `Started`, any number of others, then exactly one `Finished`. Events hold
numbers, strings, paths and small read-only arrays: no tensors, no Qt, and they pickle.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from engine.errors import Sentence, VerbatimText

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat(Event):
    """Nothing to report: a micro-batch is done, and here the task can be paused or stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Event):
    """Work that is counted but not yet training, such as reading or cutting texts into WordPieces."""

    stage: str  # a marked word or template, e.g. "Reading", "Tokenizing", "Connecting to {name}"
    done: int
    total: int  # 0 while unknown
    remaining_s: float | None = None  # of a whole, of which this counts shares; nan while that is not known
    name: str = ""  # of a file or host, where the stage names one

    @property
    def sentence(self) -> Sentence:
        """What is being done."""
        return Sentence(self.stage, {"name": VerbatimText(self.name)} if self.name else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted(Event):
    """Something a person should know; `level` is "fine", "note", "look" or "wrong"."""

    sentence: Sentence
    level: str = "look"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started(Event):
    """Training is about to begin (again, when `first_step` is above 1). Comes before any `Step`."""

    run_dir: Path
    task: str
    device: str
    num_steps: int
    first_step: int
    num_epochs: float
    steps_per_epoch: int
    num_train: int
    num_validation: int
    num_test: int
    labels: tuple[str, ...]
    metric: str
    num_parameters: int
    learning_rate: float
    cut_share: float  # 0..1, share of training texts longer than max_length


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Event):
    """One optimizer step is done. `loss` is the mean over its examples, before the weights moved."""

    step: int
    epoch: float
    loss: float
    accuracy: float | None  # of the task's own quick measure on this step's examples, 0..1
    learning_rate: float
    gradient_norm: float
    num_tokens: int  # real tokens of this step
    tokens_per_s: float
    elapsed_s: float  # training time so far, pauses left out
    remaining_s: float
    progress: float = 0.0  # 0..1, share of the steps, tokens or minutes that are to be
    measures: Mapping[str, float] = field(default_factory=dict)  # of the task, such as mlm_loss, nsp_accuracy


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a model in training answers to a pinned sentence with a gap."""

    sentence: str
    guesses: tuple[tuple[str, float], ...]  # the likeliest words first, with their probability
    right: str | None = None  # the word that belongs there, where it was given
    probability: float | None = None  # of the right word
    rank: int | None = None  # 1: the first guess


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned(Event):
    """The pinned sentences were asked again, or a question was put between two steps."""

    step: int
    progress: float
    readings: tuple[Reading, ...]
    is_question: bool = False  # asked once by a person, not pinned


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated(Event):
    """The model was measured on data kept apart. `split` is "validation" or "test"."""

    step: int
    epoch: float
    split: str
    loss: float
    metrics: Mapping[str, float]  # accuracy, macro_f1, macro_precision, macro_recall, ...
    labels: tuple[str, ...]
    confusion: np.ndarray | None  # (C, C) int64, a row for each true label, a column for each predicted
    per_label: Mapping[str, tuple[float, float, float, int]]  # label -> precision, recall, F1, support
    is_best: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)  # of the task alone, as JSON can hold it


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved(Event):
    """A checkpoint is complete on disk."""

    step: int
    path: Path
    is_best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted(Event):
    """Some rows of a table have an answer. `probabilities` is (len(rows), C) float32."""

    rows: np.ndarray  # int64, rows of the table
    predictions: tuple[str, ...]
    probabilities: np.ndarray
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished(Event):
    """The task reached its end. `path` is what it made (a model folder, a file) or None."""

    path: Path | None
    seconds: float
    best_step: int | None = None
    best_metric: float | None = None
    metrics: Mapping[str, float] | None = None
    stopped_early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched(Event):
    """How far a download is. fetched: bytes that came over the line; speed: of these, in bytes a second."""

    file: str
    done: int
    total: int
    fetched: int
    speed: float

    @property
    def remaining_s(self) -> float | None:
        """How long it will take yet; None while that is not known."""
        return (self.total - self.done) / self.speed if self.speed > 0 and self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gained(Event):
    """A run of a pipeline is done: what its stage has reached so far."""

    stage: str  # "base", "domain" or "task"
    seeds_done: int  # fine-tuning runs, one for each seed
    metric: str  # of those, such as "accuracy"
    values: tuple[float, ...]  # of each seed
    mean: float | None  # None before the first
    spread: float | None  # standard deviation over the seeds; None below two
    split: str  # "validation" or "test": the rows that were measured on
    rows: int = 0  # how many they are
    shared: float = 0.0  # held-out rows for each to train on, where each seed holds out others
    mlm_loss_before: float | None = (
        None  # of masked words in held-out text; None where nothing was pretrained
    )
    mlm_loss_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedWay:
    """A way to learn a table. accuracy: cross-validated, 0..1; None while it is not known, or not tried."""

    way: str
    said: str  # a marked word: what a person calls it
    why: Sentence | None = None  # how it was judged, or why it was not; None: it is still to be
    accuracy: float | None = None
    interval: tuple[float, float] | None = None  # 95 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Event):
    """How good each way to learn a table is, as far as that is known; at the end, which is taken and why.

    accuracy: of the one taken, on rows that it has not seen, without what choosing adds; interval: 95 %.
    """

    ways: tuple[JudgedWay, ...]
    rows: int  # labelled, which they are judged on
    taken: str = ""
    accuracy: float | None = None
    interval: tuple[float, float] | None = None
    why: Sentence | None = None

    @property
    def one_taken(self) -> JudgedWay | None:
        """The way that is taken; None before."""
        return next((one for one in self.ways if one.way == self.taken), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSoFar(Event):
    """What is known of an answer that takes long; one of several things that work with steps finds out."""

    value: Any


Steps = Generator[
    Event, None, T
]  # work that stops at each of its steps where it is told to, and what it finds


def result_of(steps: Steps[T], hear: Callable[[Any], object] | None = None) -> T:
    """Do work with steps at once; return what it finds. Args: hear: is told what it says on its way."""
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        if hear is not None:
            hear(event)


def retold(steps: Steps[T], tell: Callable[[Event], Event]) -> Steps[T]:
    """Do the steps of a part of some work, and say otherwise what they say, as it is true of the whole."""
    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            found: T = end.value
            return found
        yield tell(event)


def beats(steps: Steps[T]) -> Steps[T]:
    """Do the steps of a part of some work: what they say is not of the whole, so that each is a Beat."""
    return retold(steps, lambda _: Beat())
