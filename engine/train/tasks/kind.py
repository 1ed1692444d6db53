"""What a task of fine-tuning has to say of itself, from the file to the answer.

The run's life, the loop, checkpoints, frozen layers and measuring know no task: they ask what stands here.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from torch import Tensor, nn

from engine.device import Device, open_device
from engine.errors import DataError, Sentence, marked
from engine.events import Evaluated, Event, Finished, Noted, Progress, Steps
from engine.model.fastest import fastest
from engine.model.heads import HeadedEncoder
from engine.model.info import read_info
from engine.model.weights import check_weights, load_headed
from engine.settings.finetune import USUAL_LENGTH, AdaptConfig, DataConfig, FineTuneConfig
from engine.settings.shared import DeviceConfig
from engine.text.batch import Batch, EncodedRows
from engine.text.read_tokenizer import read_tokenizer
from engine.text.table import BadLine
from engine.text.tokenizer import Tokenizer
from engine.train.evaluate import evaluate
from engine.train.learned import HashedRows
from engine.train.loop import evaluated
from engine.train.prepare import Setup, check_fit
from engine.train.scored import ScoredTable
from engine.train.task import Answering, Measures, scored
from engine.train.tasks.program import AnswerProgram

Head = TypeVar("Head", bound=HeadedEncoder)
Seen = Callable[[Batch, Tensor], None]  # hears a batch and its logits (B, C)
StandIn = Callable[
    [HeadedEncoder], nn.Module
]  # what answers in a model's place, such as the same model exported
ToMeasure = tuple[
    Answering, EncodedRows, np.ndarray
]  # the task; examples; (E,) bool, which were learned from


class OpenedFile(Protocol):
    """A file of a task's own, as it was read: what a window shows of any of them."""

    @property
    def path(self) -> Path: ...

    @property
    def num_examples(self) -> int:
        """How many texts or questions can be used."""

    @property
    def label_counts(self) -> Mapping[str, int]:
        """How often each label stands there, the commonest first; empty where there are no labels."""

    @property
    def reported(self) -> Sequence[BadLine]:
        """What cannot be used, by line."""

    @property
    def notes(self) -> Sequence[Sentence]:
        """What a person should know of how it was read."""

    def texts(self) -> Iterator[tuple[str, str | None]]:
        """Yield what a model reads of each example: a text, or a pair."""


@dataclass(frozen=True)
class HeadedModel(Generic[Head]):
    """A model with a task's head. folder: that it was read from. info: its cloze.json, or nothing."""

    folder: Path
    model: Head
    wordpiece: Tokenizer
    info: dict[str, Any]
    device: Device

    @classmethod
    def opened(
        cls, folder: Path, head: type[Head], device: str = "auto", *, with_pair: bool = False
    ) -> HeadedModel[Head]:
        """Load a model folder, ready to answer; takes seconds. Raises: ModelError: it holds no such head."""
        at, info = open_device(DeviceConfig(device=device)), read_info(Path(folder))
        check_weights(folder)  # before a vocabulary of the size that config.json names is built
        wordpiece = read_tokenizer(folder)
        model, _ = load_headed(Path(folder), head)
        found = HeadedModel(Path(folder), model.to(at.device), wordpiece, info, at)
        return found.ready(with_pair=with_pair)

    def ready(self, *, with_pair: bool = False) -> Self:
        """Return it as it computes fastest. Raises: ModelError if the vocabulary is not its own."""
        check_fit(self.model.config, self.wordpiece, with_pair=with_pair)
        return replace(
            self, device=fastest(self.device, DeviceConfig(precision="float32"), self.model.config)
        )

    def measuring(self, data: DataConfig) -> Steps[ToMeasure]:
        """Read a file to measure it on; what is told of it are Progress and Noted. Raises: UserError."""
        raise NotImplementedError


def telling_measures(task: Answering, measures: Measures) -> Steps[Evaluated]:
    """Tell what a file's score hides, and then the score; return it."""
    event = evaluated(0, 1, "test", measures, task)
    for note, level in task.remarks(measures, "test"):
        yield Noted(sentence=note, level=level)
    yield event
    return event


def text_in(document: Mapping[str, Any], *names: str, required: bool = True) -> str | None:
    """Return the text that a document has by one of some names. Raises: DataError: it has none."""
    found = next((document[name] for name in names if document.get(name) is not None), None)
    if found is None and not required:
        return None
    if found is None:
        raise DataError(marked("engine", "There is no text named {name}."), name=names[0])
    if not isinstance(found, str):
        template = marked("engine", "{name} is {value}, which is not a text. Put it in quotes.")
        raise DataError(template, name=names[0], value=repr(found))
    if not found.strip():
        raise DataError(marked("engine", "The text named {name} is empty."), name=names[0])
    return found


class Kind(ABC):
    """One task, all that is asked of it elsewhere.

    name: as settings, cloze.json and commands spell it. problem: config.json's problem_type. does: what a
    model does that learned it, as its card says it of a BERT. pipeline: how a pipeline of `transformers` is
    asked for such a model; "" where there is none.
    """

    name: ClassVar[str]
    does: ClassVar[str]
    pipeline: ClassVar[str] = ""
    head: ClassVar[type[HeadedEncoder]]
    problem: ClassVar[str] = ""  # where heads of one kind serve several tasks
    setup: ClassVar[type[Setup]] = Setup
    max_length: ClassVar[int] = USUAL_LENGTH  # WordPieces of an example where none are asked for
    least_rate: ClassVar[float] = 0.0  # peak learning rate of small encoders, where their usual one is lower
    without: ClassVar[tuple[str, ...]] = ()  # settings of `AdaptConfig` that mean nothing to it
    reads_tables: ClassVar[bool] = True  # whether its files are opened as tables in the window
    reads_windows: ClassVar[bool] = True  # whether a long text is read in windows that overlap, and not cut
    has_temperature: ClassVar[bool] = False  # whether a model may keep one; see engine/model/info.py
    has_marks: ClassVar[bool] = False  # whether `Each` of its answers says what texts have in common
    counts_words: ClassVar[bool] = False  # whether counted words and a linear classifier can do the same

    def looks(self, path: Path, data: DataConfig) -> Sentence | None:
        """Return why a file looks like one of this task, None if it does not; raises nothing.

        Little of the file is read. Args: data: how a table is read, and which columns are chosen.
        """
        return None

    def open(self, data: DataConfig) -> Steps[OpenedFile]:
        """Read a file of the task's own, where its files are no tables. Raises: DataError."""
        raise NotImplementedError

    @abstractmethod
    def prepare(self, config: FineTuneConfig) -> Steps[Setup]:
        """Read, check, split and encode. Raises: DataError, ModelError, ConfigError, before long work."""

    @abstractmethod
    def apart(self, config: FineTuneConfig) -> Steps[tuple[dict[str, HashedRows], dict[str, Any]]]:
        """Read and split alone: return what tells the texts of each part again, and how the data are split.

        Raises: as `prepare`.
        """

    @abstractmethod
    def task(self, setup: Setup, adapt: AdaptConfig) -> Answering:
        """Return loss and measures for this data. Args: adapt: the default where it is only measured."""

    def begin(self, model: HeadedEncoder, setup: Setup) -> list[Sentence]:
        """Give a new head its first values, where random ones will not do; return what to say of that."""
        return []

    def go_on(self, model: HeadedEncoder, setup: Setup, info: Mapping[str, Any]) -> list[Sentence]:
        """Make the head of the model to start from fit the data; return what to say of that.

        Args: info: the model's cloze.json.
        """
        return []

    def attach(self, model: HeadedEncoder, setup: Setup) -> None:
        """Let a model in training know what its result has to know of the data."""
        return

    def measured(self, setup: Setup, split: str) -> tuple[Answering, EncodedRows]:
        """Return task and data that the result of a run is measured by, once it is read from its folder."""
        return self.task(setup, AdaptConfig()), setup.sets[split]

    def as_it_answers(
        self, found: ScoredTable, data: EncodedRows, info: Mapping[str, Any]
    ) -> ScoredTable | None:
        """Return a part's answers that a run has kept as its result gives them: the training measured, and
        only then chose a threshold, say. None where what was kept does not say that.

        Args: info: the result's cloze.json.
        """
        return found

    def telling(self, task: Answering, seen: Seen) -> Answering | None:
        """Return a task that tells of each training batch's logits; None where examples have no one right
        label, so that nobody keeps how each was learned.
        """
        return None

    def on_rare(self, setup: Setup, how: str) -> Sentence:
        """Return what becomes of rare labels. Asked only of a task that the setting means something to."""
        raise NotImplementedError

    def chosen(self, measured: Evaluated) -> dict[str, Any]:
        """Return what cloze.json keeps of a validation of the result, such as a threshold.

        `task` finds it in `setup.about` where the test set is measured.
        """
        return {}

    @abstractmethod
    def predictor(self, folder: Path, device: str = "auto") -> Any:
        """Return a model folder ready to answer, a `HeadedModel`. Raises: ModelError: it has no such head."""

    @abstractmethod
    def answer(self, predictor: Any, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a model answers to a document, both as JSON has them. Raises: UserError."""

    def answering(self, folder: Path, device: str = "auto") -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        """Open a model folder; return what answers one document after the other. Raises: ModelError."""
        return partial(self.answer, self.predictor(folder, device))

    @abstractmethod
    def program(self, folder: Path) -> AnswerProgram:
        """Return the program that answers beside an exported graph as its model folder does.

        Raises: ModelError.
        """

    def likeliest(self, scores: Sequence[np.ndarray], read: Any) -> np.ndarray:
        """Return (N, K), what scores answer to each text, or to each token that is read: floats where that is
        a number.

        Args: scores: of each of the head's outputs, (B, ...). read: (B, T) the tokens that are; of whole
        texts, all.
        """
        best: np.ndarray = scores[0][read].argmax(-1)[:, None]
        return best

    def evaluate_file(
        self, model: Path, data: DataConfig, device: str, stand_in: StandIn | None = None
    ) -> Steps[ScoredTable]:
        """Measure a model folder on a file: Progress, Noted, one Evaluated (split "test"), Finished.

        What is returned says of every text what it got. Args: data: the file and how to read it; columns that
        are not named are those of the training data. stand_in: makes what is measured in the model's place.
        """
        start = time.perf_counter()
        yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
        predictor = self.predictor(model, device)
        task, examples, seen = yield from predictor.measuring(data)
        measured = predictor.model if stand_in is None else stand_in(predictor.model)
        measures = yield from evaluate(measured, task, examples, predictor.device)
        event = yield from telling_measures(task, measures)
        yield Finished(path=None, seconds=time.perf_counter() - start, metrics=event.metrics)
        return scored(task, event, examples.listed, measures, seen)

    @abstractmethod
    def predict_file(
        self, model: Path, data: DataConfig, out: Path, *, raw: bool, device: str
    ) -> Iterator[Event]:
        """Write what a model folder answers to a file. Args: raw: leave cells a spreadsheet would run."""
