"""Asking a model while it learns: pinned sentences now and then, and questions a person puts in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence

from torch import nn

from engine.device import Device
from engine.errors import UserError
from engine.events import Event, Noted, Pinned
from engine.model.guess import Pins
from engine.model.heads import PreTraining
from engine.text.tokenizer import Tokenizer

SHARE = 0.01  # of the time that looking may take
FIRST_STEPS = (1, 2, 4, 8, 16, 32, 64)  # looked at in any case: there most is learned


class WatchQuestions:
    """Pins and questions, put from any thread, answered by the task between two steps."""

    def __init__(self, pins: Sequence[str] = ()) -> None:
        self._lock = threading.Lock()
        self._pins: tuple[str, ...] = tuple(pins)
        self._asked: list[str] = []
        self._has_news = True

    def pin(self, sentences: Sequence[str]) -> None:
        """Watch these sentences from now on, in the place of the earlier ones."""
        with self._lock:
            self._pins, self._has_news = tuple(sentences), True

    def ask(self, sentence: str) -> None:
        """Ask once; the answer is a `Pinned` with is_question."""
        with self._lock:
            self._asked.append(sentence)

    def taken(self) -> tuple[tuple[str, ...] | None, list[str]]:
        """Return the pins, or None where they are as before, and the questions since the last time."""
        with self._lock:
            pins = self._pins if self._has_news else None
            asked, self._asked, self._has_news = self._asked, [], False
            return pins, asked


class PinWatch:
    """Looks at the pinned sentences so seldom that training is at most `SHARE` slower."""

    def __init__(self, questions: WatchQuestions, wordpiece: Tokenizer) -> None:
        self._questions, self._wordpiece = questions, wordpiece
        self._sentences: tuple[str, ...] = ()
        self._pins: Pins | None = None
        self._next_look = 0.0  # on the clock of working time
        self._worked = 0.0
        self._last = time.perf_counter()

    def look(self, model: nn.Module, device: Device, step: int, progress: float) -> Iterator[Event]:
        """Yield what pins and questions are answered, if it is time."""
        assert isinstance(model, PreTraining)
        self._worked += time.perf_counter() - self._last
        news, asked = self._questions.taken()
        if news is not None:
            self._sentences = yield from self._good(news, model)
            self._pins = Pins(self._sentences, self._wordpiece) if self._sentences else None
            self._next_look = 0.0
        for sentence in (yield from self._good(asked, model)):
            answer = tuple(Pins([sentence], self._wordpiece).look(model))
            yield Pinned(step=step, progress=progress, readings=answer, is_question=True)
        is_last = progress >= 1.0
        if self._pins and (self._worked >= self._next_look or step in FIRST_STEPS or is_last):
            began = time.perf_counter()
            readings = tuple(self._pins.look(model))
            spent = time.perf_counter() - began
            self._next_look = self._worked + spent / SHARE
            yield Pinned(step=step, progress=progress, readings=readings)
        self._last = time.perf_counter()

    def _good(self, sentences: Sequence[str], model: PreTraining) -> Generator[Event, None, tuple[str, ...]]:
        """Return the sentences that can be asked; of the others it is told why not."""
        good = []
        for sentence in sentences:
            try:
                Pins([sentence], self._wordpiece).look(model)  # refuses one that is too long, too
                good.append(sentence)
            except UserError as error:
                yield Noted(sentence=error.sentence)
        return tuple(good)
