"""What workers find out: before a run the text, examples of it, what it will take; after it, an answer.

What comes before a run is found anew when what it depends on has changed, and never while a model is in
training.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session import Session
from app.work.models import OpenModels
from app.work.worker import Channel, Worker
from engine.events import Event, Pinned, Progress
from engine.model.guess import Pins
from engine.settings.config import values_of
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.corpus import CorpusReport, look
from engine.train.pretraining.forecast import Forecast, forecast
from engine.train.pretraining.preview import Preview, preview
from engine.train.pretraining.setup import corpus_of

NUM_EXAMPLES = 20
TEXT = ("text", "column", "layout", "encoding", "drop_repeated")
# what changes nothing in the measured speed; time, steps and epochs are worked out from it (see `scaled`)
NOT_MEASURED = (
    "pins", "seed", "evaluations", "minutes", "steps", "tokens", "learning_rate", "warmup_ratio",
    "weight_decay", "adam_beta2", "max_gradient_norm", "checkpoint_every_steps", "drop_repeated", "terms",
    "validation_text", "validation_share", "validation_tokens", "segmenter", "mask_share", "random_share",
    "mask_unit", "max_ngram", "dynamic_masking", "start_length", "growth_share", "lowercase",
    "informed_start", "teacher_weight",
)  # fmt: skip
EXAMPLES = (
    *TEXT, "model", "vocab", "vocab_size", "lowercase", "segmenter", "mask_rate", "mask_share",
    "random_share", "mask_unit", "max_ngram", "terms", "dynamic_masking", "next_sentence",
    "max_length", "seed",
)  # fmt: skip

Question = Callable[[PretrainConfig], Generator[Event, None, Any]]


class PendingFinding(QObject):
    """One thing to find out; `changed` when its answer, its refusal or its progress has."""

    changed = Signal()
    settled = Signal()  # it has been answered or refused

    def __init__(
        self, worker: Worker, question: Question, depends_on: Collection[str], parent: QObject
    ) -> None:
        super().__init__(parent)
        self.value: Any = None
        self.error: BaseException | None = None
        self.share = 0.0  # of the work, 0..1
        self._question, self._depends_on = question, frozenset(depends_on)
        self._about: object = None  # also where it was refused, which it would be again
        self._channel = Channel(self, worker)

    @property
    def is_busy(self) -> bool:
        """Whether the answer is still to come."""
        return self._channel.is_asking

    def ask(self, config: PretrainConfig) -> None:
        """Find out about these settings; nothing is done where that is known, refused, or under way."""
        about = tuple((name, value) for name, value in values_of(config).items() if name in self._depends_on)
        if about != self._about:
            self._about, self.error, self.share = about, None, 0.0
            self._channel.ask(
                about,
                partial(self._question, config),
                heard=self._hear,
                refused=self._refuse,
                progress=self._show_progress,
                ended=self._end,
                again=True,
            )
            self.changed.emit()

    def pause(self) -> None:
        """Stop what is under way; it is asked again later."""
        if self.is_busy:
            self._about = None
            self._channel.drop()
            self.changed.emit()

    def drop(self) -> None:
        """Forget the answer; what is under way is stopped."""
        if self._about is not None:
            self._about, self.value, self.error = None, None, None
            self._channel.drop()
            self.changed.emit()

    def _show_progress(self, event: Event) -> None:
        if isinstance(event, Progress) and event.total:
            self.share = min(1.0, event.done / event.total)
        self.changed.emit()

    def _hear(self, value: Any) -> None:
        self.value = value
        self.changed.emit()

    def _refuse(self, error: BaseException) -> None:
        self.value, self.error = None, error

    def _end(self) -> None:
        if self._about is not None:
            self.changed.emit()
            self.settled.emit()


class Findings(QObject):
    """The three of them, in the order that disturbs the measuring least: it comes when the rest is known."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._text: PretrainConfig | None = None
        self._config: PretrainConfig | None = None
        measured = frozenset(values_of(PretrainConfig())) - frozenset(NOT_MEASURED)
        files = session.workers.files
        self.text = PendingFinding(files, _look, TEXT, self)
        self.examples = PendingFinding(files, _preview, EXAMPLES, self)
        self.outlook = PendingFinding(files, _forecast, measured, self)
        for finding in (self.text, self.examples):
            finding.settled.connect(self._go_on)
        session.training.started.connect(self._pause)
        session.training.ended.connect(self._go_on)

    @property
    def report(self) -> CorpusReport | None:
        found: CorpusReport | None = self.text.value
        return found

    @property
    def preview(self) -> Preview | None:
        found: Preview | None = self.examples.value
        return found

    @property
    def forecast(self) -> Forecast | None:
        """What the run will take, worked out for the budget as it is now."""
        found: Forecast | None = self.outlook.value
        return scaled(found, self._config) if found is not None and self._config is not None else None

    def ask(self, text: PretrainConfig | None, config: PretrainConfig | None) -> None:
        """Find out about these settings.

        Args: text: with the settings of the text; None: none is chosen. config: all settings; None: some are
        refused, and nothing can be measured.
        """
        self._text, self._config = text, config
        if text is None:
            self.text.drop()
        if config is None:
            self.examples.drop()
            self.outlook.drop()
        self._go_on()

    def _pause(self) -> None:
        """Leave the processor to the training, where it needs this one."""
        if self._session.training.state.host:
            return
        for finding in (self.text, self.examples, self.outlook):
            finding.pause()

    def _go_on(self) -> None:
        config = self._config
        if self._session.training.is_running and not self._session.training.state.host:
            return
        if self._text is not None:
            self.text.ask(self._text)
        if config is None:
            return
        self.examples.ask(config)
        if not self.text.is_busy and not self.examples.is_busy and self.text.error is None:
            self.outlook.ask(config)


def scaled(found: Forecast, config: PretrainConfig) -> Forecast:
    """Return a forecast for another budget: the speed is what was measured."""
    budget = config.budget
    tokens = budget.tokens or budget.steps * budget.batch_tokens
    if budget.minutes:
        tokens = int(60 * budget.minutes * found.tokens_per_s)
    return replace(
        found,
        tokens=tokens,
        steps=tokens // max(1, budget.batch_tokens),
        seconds=60 * budget.minutes or tokens / max(1e-9, found.tokens_per_s),
        epochs=found.epochs * tokens / found.tokens if found.tokens else 0.0,
    )


def answer(models: OpenModels, folder: Path, sentence: str) -> Pinned:
    """Return what the model that a run has left makes of a sentence. Raises: UserError."""
    subject = models.subject(folder)
    found = Pins([sentence], subject.wordpiece).look(subject.masked_head())
    return Pinned(step=0, progress=1.0, readings=tuple(found), is_question=True)


def _look(config: PretrainConfig) -> Generator[Event, None, CorpusReport]:
    return (yield from look(corpus_of(config, config.text.text)))


def _preview(config: PretrainConfig) -> Generator[Event, None, Preview]:
    return (yield from preview(config, NUM_EXAMPLES))


def _forecast(config: PretrainConfig) -> Generator[Event, None, Forecast]:
    return (yield from forecast(config))
