"""What a task says, told on a terminal: a bar that is written over; elsewhere plain lines. All on stderr."""

from __future__ import annotations

import sys

from engine.events import Beat, Evaluated, Event, Finished, Noted, Predicted, Progress, Saved, Started, Step

BAR_WIDTH = 20
MOST_LINES = 20  # steps told where there is no terminal


class Screen:
    """Lines on stderr and, on a terminal, one live line below them."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._width = 0
        self._num_steps = 0

    def tell(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Started():
                self._num_steps = event.num_steps
                rows = f"{event.num_train} rows to train on, {event.num_validation} to validate"
                model = f"{event.num_parameters:,} weights; {event.device}"
                steps = f"{event.num_steps} steps at {event.learning_rate:g}"
                self._line(f"{rows}, {event.num_test} to test; {len(event.labels)} labels; {model}; {steps}")
            case Step():
                self._step(event)
            case Progress():
                total = f" of {event.total}" if event.total else ""
                self._over(f"{event.stage} {event.done}{total}")
            case Evaluated():
                metrics = ", ".join(f"{name} {value:.4f}" for name, value in event.metrics.items())
                place = f"step {event.step}: " if event.step else ""
                self._line(f"{place}{event.split} loss {event.loss:.4f}, {metrics}")
            case Noted():
                self._line(str(event.sentence))
            case Finished():
                self._line(f"done in {event.seconds:.1f} s" + (f": {event.path}" if event.path else ""))
            case Beat() | Saved() | Predicted():
                pass
            case _:
                self._line(str(event))

    def end(self) -> None:
        """Leave the live line."""
        if self._width:
            print(file=sys.stderr)
            self._width = 0

    def _step(self, event: Step) -> None:
        words = (
            f"step {event.step}/{self._num_steps} loss {event.loss:.4f} "
            f"{event.tokens_per_s:,.0f} tokens/s {event.remaining_s:.0f} s left"
        )
        if self._live:
            filled = BAR_WIDTH * event.step // max(1, self._num_steps)
            self._over("█" * filled + "·" * (BAR_WIDTH - filled) + " " + words)
        elif event.step % max(1, self._num_steps // MOST_LINES) == 0:
            self._line(words)

    def _over(self, words: str) -> None:
        if self._live:
            print("\r" + words.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(words)

    def _line(self, words: str) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr)
            self._width = 0
        print(words, file=sys.stderr, flush=True)
