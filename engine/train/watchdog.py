"""Who watches how a model learns, and says at the end what a person should know of it; kept with the run.

So a run tells the same of itself wherever it was started, in a window, a terminal or a queue, and whoever
opens it later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from engine.errors import Sentence, marked
from engine.events import Evaluated, Event, Noted, Step
from engine.train.metrics import notes_on, scores_of

RISES = 1.02  # of the lowest validation loss so far; smaller rises are noise
OVERFITTING = marked(
    "engine",
    "Overfitting since epoch {epoch}: validation loss rises ({low} to {high}) while training loss falls.",
)
NO_NUMBER = marked("engine", "The loss has not been a number since step {step}. Try a lower learning rate.")


class Watchdog:
    """Hears a run's events."""

    def __init__(self) -> None:
        self._no_number = 0
        self._total, self._count = 0.0, 0  # of the training losses since the last evaluation
        self._looks: list[tuple[float, float, float]] = []  # epoch, validation loss, training loss before it
        self._last: Evaluated | None = None

    def take(self, event: Event) -> None:
        """Take in what a run says."""
        if isinstance(event, Step):
            if math.isfinite(event.loss):
                self._total, self._count = self._total + event.loss, self._count + 1
            else:
                self._no_number = self._no_number or event.step
        elif isinstance(event, Evaluated) and event.split == "validation":
            self._last = event
            loss = event.metrics.get("mlm_loss", event.loss)
            if self._count and math.isfinite(loss):
                self._looks.append((event.epoch, loss, self._total / self._count))
            self._total, self._count = 0.0, 0

    def remarks(self, *, is_whole: bool) -> Iterator[Noted]:
        """Yield what to know. Args: is_whole: the run came to its end, and said what it reached itself."""
        if self._no_number:
            yield Noted(sentence=Sentence(NO_NUMBER, {"step": self._no_number}), level="wrong")
        if len(self._looks) > 1:
            best, last = min(self._looks, key=lambda look: look[1]), self._looks[-1]
            if last[1] > RISES * best[1] and last[2] < best[2]:
                values = {"epoch": round(best[0], 1), "low": f"{best[1]:.3f}", "high": f"{last[1]:.3f}"}
                yield Noted(sentence=Sentence(OVERFITTING, values), level="look")
        scores = scores_of(self._last, self._last.labels) if self._last is not None else None
        if not is_whole and self._last is not None and scores is not None:
            for sentence in notes_on(self._last.labels, scores, self._last.split):
                yield Noted(sentence=sentence, level="wrong")
