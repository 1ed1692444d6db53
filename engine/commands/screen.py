"""What a task says, told on a terminal: a bar that is written over; elsewhere plain lines. All on stderr."""

from __future__ import annotations

import json
import shlex
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from engine.errors import RunError
from engine.events import (
    Beat,
    Evaluated,
    Event,
    Fetched,
    Finished,
    Gained,
    Judged,
    Noted,
    Pinned,
    Predicted,
    Progress,
    Saved,
    Started,
    Step,
    Steps,
)
from engine.files import read_json_object
from engine.questions.writing import percent
from engine.train.metrics import interval_so_far, wilson_interval

Found = TypeVar("Found")
BAR_WIDTH = 20
PATIENCE_S = 3.0  # that a task which only reads or prepares is given to come to a yield, once asked to stop
MOST_LINES = 20  # steps told where there is no terminal
MOST_SILENT_S = 15.0  # there, after which what is under way is told in a line
OF_CLASSES = ("accuracy", "macro_f1", "weighted_f1")  # of many more, in a line


class Screen:
    """Lines on stderr and, on a terminal, one live line below them."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._width = 0
        self._num_steps = 0
        self._told = self._told_pins = 0
        self._told_ways = set[str]()
        self._said = time.monotonic()

    def tell(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Started():
                self._num_steps, self._told, self._told_pins = event.num_steps, 0, 0
                if event.task in ("pretraining", "family"):
                    texts = f"{event.num_train} training and {event.num_validation} validation documents"
                    model = f"{event.num_parameters:,} weights; {event.device}"
                    self._line(f"{texts}; {model}; learning rate {event.learning_rate:g}")
                    return
                rows = f"{event.num_train} training rows, {event.num_validation} validation rows"
                model = f"{event.num_parameters:,} weights; {event.device}"
                steps = (
                    f"{event.num_steps} steps at {event.learning_rate:g}" if event.num_steps else "no steps"
                )
                labels = f"{len(event.labels)} labels; " if len(event.labels) > 1 else ""
                self._line(f"{rows}, {event.num_test} test rows; {labels}{model}; {steps}")
            case Step():
                self._step(event)
            case Progress() if event.remaining_s is not None:
                left = f" {event.remaining_s:.0f} s left" if isfinite(event.remaining_s) else ""
                self._over(f"{event.stage} {percent(event.done / event.total)}{left}")
            case Progress():
                total = f" of {event.total}" if event.total else ""
                self._over(f"{event.stage} {event.done}{total}")
            case Evaluated():
                shown = (
                    OF_CLASSES
                    if event.confusion is not None and "accuracy" in event.metrics
                    else event.metrics
                )
                metrics = ", ".join(_measured(event, name) for name in shown if name in event.metrics)
                place = f"step {event.step}: " if event.step or event.split == "validation" else ""
                self._line(f"{place}{event.split} loss {event.loss:.4f}, {metrics}")
            case Noted():
                self._line(str(event.sentence))
            case Fetched():
                self._over(_fetched(event))
            case Finished():
                self._line(f"done in {event.seconds:.1f} s" + (f": {event.path}" if event.path else ""))
            case Pinned():
                self._pinned(event)
            case Gained():
                self._gained(event)
            case Judged():
                self._judged(event)
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
        place = f"step {event.step}/{self._num_steps}" if self._num_steps else percent(event.progress)
        words = (
            f"{place} loss {event.loss:.4f} {event.tokens_per_s:,.0f} tokens/s {event.remaining_s:.0f} s left"
        )
        if self._live:
            filled = int(BAR_WIDTH * event.progress)
            self._over("█" * filled + "·" * (BAR_WIDTH - filled) + " " + words)
        elif event.progress * MOST_LINES >= self._told:
            self._told = int(event.progress * MOST_LINES) + 1
            self._line(words)

    def _pinned(self, event: Pinned) -> None:
        if event.progress * MOST_LINES < self._told_pins and not event.is_question:
            return
        self._told_pins = int(event.progress * MOST_LINES) + 1
        for reading in event.readings:
            guesses = ", ".join(f"{word} {share:.2f}" for word, share in reading.guesses)
            self._line(f"  {reading.sentence}  {guesses}")

    def _gained(self, event: Gained) -> None:
        words = []
        if event.mlm_loss_before is not None:
            words.append(f"masked-word loss {event.mlm_loss_before:.4f} -> {event.mlm_loss_after:.4f}")
        if event.mean is not None:
            interval = interval_so_far(event.values, event.rows, event.metric, event.shared)
            about = "" if interval is None else f" (95 %: {interval[0]:.4f} to {interval[1]:.4f})"
            seeds = f"{event.seeds_done} seed{'s' if event.seeds_done > 1 else ''}"
            words.append(f"{event.split} {event.metric} {event.mean:.4f}{about} over {seeds}")
        self._line(f"  {event.stage}: {', '.join(words) or 'nothing was measured'}")

    def _judged(self, event: Judged) -> None:
        """Tell each way once, as soon as something is known of it."""
        for one in event.ways:
            if one.why is None:
                continue
            if one.interval is not None and one.accuracy is not None:
                low, high = one.interval
                said = f"{one.said}: {one.accuracy:.3f} ({low:.3f} to {high:.3f}), {one.why}"
            else:
                said = f"{one.said}: {one.why}"
            if said not in self._told_ways:
                self._told_ways.add(said)
                self._line(f"  {said}")

    def _over(self, words: str) -> None:
        if self._live:
            print("\r" + words.ljust(self._width), end="", file=sys.stderr, flush=True)
            self._width = len(words)
        elif time.monotonic() - self._said > MOST_SILENT_S:
            self._line(words)

    def _line(self, words: str) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr)
            self._width = 0
        print(words, file=sys.stderr, flush=True)
        self._said = time.monotonic()


def _fetched(event: Fetched) -> str:
    """Return how far a transfer is: bytes, speed, time left."""
    place = f"{event.file}: {event.done / 2**20:.1f} of {event.total / 2**20:.1f} MB"
    left = event.remaining_s
    return place if left is None else f"{place}, {event.speed / 2**20:.1f} MB/s, {left:.0f} s left"


def _measured(event: Evaluated, name: str) -> str:
    """Return one of an evaluation's metrics, an accuracy with its interval."""
    said = f"{name} {event.metrics[name]:.4f}"
    if name != "accuracy" or event.confusion is None:
        return said
    total = int(event.confusion.sum())
    low, high = wilson_interval(event.metrics[name] * total, total)
    return f"{said} (95 %: {low:.4f} to {high:.4f})"


def show(events: Iterator[Event], found: list[Event] | None = None) -> int:
    """Tell on stderr what a task says; collect what it found and noted. Returns: the exit code."""
    screen = Screen()
    with asked_to_stop() as asked:
        try:
            for event in events:
                screen.tell(event)
                if found is not None and isinstance(event, Evaluated | Noted):
                    found.append(event)
                asked.is_training = asked.is_training or isinstance(event, Started)
                if asked.signals:
                    asked.in_time()
                    print("\nStopping ...", file=sys.stderr, flush=True)
                    assert isinstance(events, Generator)
                    events.close()  # here it saves
                    return 128 + asked.signals[0]
        except KeyboardInterrupt:
            if not asked.is_late:
                raise
            print("\nStopped.", file=sys.stderr, flush=True)
            return 128 + asked.signals[0]
        finally:
            screen.end()
    return 0


def answered(task: Steps[Found]) -> tuple[int, Found | None]:
    """Run a task that returns an answer, telling its progress.

    Returns: the exit code, and the answer unless it was stopped.
    """
    found: list[Found] = []

    def collect() -> Steps[None]:
        found.append((yield from task))

    code = show(collect())
    return code, found[0] if found else None


def run_series(
    task: Iterator[Event], folder: Path, settings: str, report: str, table: Callable[[Any], Iterable[str]]
) -> int:
    """Do several runs that one folder holds and, at their end, print a table of the report on stdout.

    Args: settings, report: files in the folder: what shows that it was begun, and what is there at the end.
    Returns: the exit code.
    """
    code = show(task)
    if code == 0:
        print("\n".join(table(read_json_object(folder / report, kind=RunError))))
    elif (folder / settings).is_file():
        tell_kept(folder)
    return code


def tell_kept(folder: Path) -> None:
    """Tell how to go on with what a folder keeps."""
    command = shlex.join(["python", "-m", "engine", "resume", str(folder.absolute())])
    print(f"Kept in {folder}. Continue with: {command}", file=sys.stderr)


class _Asked:
    """What Ctrl-C and SIGTERM leave: the first is heard at a task's next yield, where it can end well.

    While nothing is trained yet there is nothing to save, so a task that comes to no yield is interrupted.
    """

    def __init__(self) -> None:
        self.signals: list[int] = []
        self.is_training = self.is_late = False

    def note(self, number: int, _frame: Any) -> None:
        """Hear a signal; a second one interrupts in any case."""
        if self.signals:
            raise KeyboardInterrupt
        self.signals.append(number)  # said later: a print may have been interrupted here
        if not self.is_training and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)

    def interrupt(self, _number: int, _frame: Any) -> None:
        """Hear that the time is over."""
        self.is_late = True
        raise KeyboardInterrupt

    def in_time(self) -> None:
        """Call off the interruption."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def asked_to_stop() -> Iterator[_Asked]:
    """Hear Ctrl-C and SIGTERM."""
    asked = _Asked()
    handlers: dict[int, Any] = {signal.SIGINT: asked.note, signal.SIGTERM: asked.note}
    if hasattr(signal, "SIGALRM"):
        handlers[signal.SIGALRM] = asked.interrupt
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield asked
    finally:
        asked.in_time()
        for number, old in before.items():
            signal.signal(number, old)


def print_json(document: Any) -> None:
    """Print one line of JSON on stdout, in ASCII where it may not take more."""
    is_utf8 = (sys.stdout.encoding or "").lower() in ("utf-8", "utf8")
    print(json.dumps(document, ensure_ascii=not is_utf8))
