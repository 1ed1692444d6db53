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

from engine.errors import WORD, RunError, captioned, clauses, listed, marked, phrases, sentences
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
from engine.language import metric_name, said, spoken
from engine.own_process import command_words
from engine.questions.writing import columns_of, percent
from engine.remote.contact import Contact
from engine.train.metrics import interval_so_far, wilson_interval

Found = TypeVar("Found")
STOPPED = marked("engine", "Stopped.")
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
                self._line(clauses(_started(event)))
            case Step():
                self._step(event)
            case Progress() if event.remaining_s is not None:
                done, left = f"{event.sentence} {percent(event.done / event.total)}", event.remaining_s
                template = marked("engine", "{done} {left:.0f} s left")
                self._over(said(template, done=done, left=left) if isfinite(left) else done)
            case Progress() if event.total:
                template = marked("engine", "{stage} {done} of {total}")
                self._over(said(template, stage=event.sentence, done=event.done, total=event.total))
            case Progress():
                self._over(f"{event.sentence} {event.done}")
            case Evaluated():
                shown = (
                    OF_CLASSES
                    if event.confusion is not None and "accuracy" in event.metrics
                    else event.metrics
                )
                template = marked("engine", "{split} loss {loss:.4f}")
                if event.step or event.split == "validation":
                    template = marked("engine", "step {step}: {split} loss {loss:.4f}")
                split = spoken(event.split, WORD)
                loss = said(template, step=event.step, split=split, loss=event.loss)
                metrics = (_measured(event, name) for name in shown if name in event.metrics)
                self._line(phrases([loss, *metrics]))
            case Noted():
                self._line(str(event.sentence))
            case Fetched():
                self._over(_fetched(event))
            case Finished():
                template = marked("engine", "done in {seconds:.1f} s")
                if event.path:
                    template = marked("engine", "done in {seconds:.1f} s: {path}")
                self._line(said(template, seconds=event.seconds, path=event.path))
            case Pinned():
                self._pinned(event)
            case Gained():
                self._gained(event)
            case Judged():
                self._judged(event)
            case Contact():
                self._line(sentences([str(event.said()), str(event.why or "")]))
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
        place = percent(event.progress)
        if self._num_steps:
            place = said(marked("engine", "step {step}/{total}"), step=event.step, total=self._num_steps)
        words = said(
            marked("engine", "{place} loss {loss:.4f} {speed:,.0f} tokens/s {left:.0f} s left"),
            place=place,
            loss=event.loss,
            speed=event.tokens_per_s,
            left=event.remaining_s,
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
            guesses = listed(f"{word} {share:.2f}" for word, share in reading.guesses)
            self._line(f"  {reading.sentence}  {guesses}")

    def _gained(self, event: Gained) -> None:
        words = []
        if event.mlm_loss_before is not None:
            template = marked("engine", "masked-word loss {before:.4f} -> {after:.4f}")
            words.append(said(template, before=event.mlm_loss_before, after=event.mlm_loss_after))
        if event.mean is not None:
            interval = interval_so_far(event.values, event.rows, event.metric, event.shared)
            name = f"{spoken(event.split, WORD)} {metric_name(event.metric)}"
            score = f"{name} {event.mean:.4f}{_between(interval)}"
            template = marked("engine", "{score} over {count} seeds")
            if event.seeds_done <= 1:
                template = marked("engine", "{score} over {count} seed")
            words.append(said(template, score=score, count=event.seeds_done))
        told = phrases(words) or spoken(marked("engine", "nothing was measured"))
        self._line(f"  {captioned(spoken(event.stage, WORD), told)}")

    def _judged(self, event: Judged) -> None:
        """Tell each way once, as soon as something is known of it."""
        for one in event.ways:
            if one.why is None:
                continue
            told = captioned(spoken(one.said), one.why)
            if one.interval is not None and one.accuracy is not None:
                low, high = one.interval
                told = said(
                    marked("engine", "{way}: {accuracy:.3f} ({low:.3f} to {high:.3f}), {why}"),
                    way=spoken(one.said),
                    accuracy=one.accuracy,
                    low=low,
                    high=high,
                    why=one.why,
                )
            if told not in self._told_ways:
                self._told_ways.add(told)
                self._line(f"  {told}")

    def _over(self, words: str) -> None:
        if self._live:
            width = columns_of(words)
            print("\r" + words + " " * (self._width - width), end="", file=sys.stderr, flush=True)
            self._width = width
        elif time.monotonic() - self._said > MOST_SILENT_S:
            self._line(words)

    def _line(self, words: str) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr)
            self._width = 0
        print(words, file=sys.stderr, flush=True)
        self._said = time.monotonic()


def _started(event: Started) -> Iterator[str]:
    """Yield what a training begins with: rows, labels, model and steps."""
    parts = {"train": event.num_train, "validation": event.num_validation, "test": event.num_test}
    of_texts = event.task in ("pretraining", "family")
    if of_texts:
        template = marked("engine", "{train} training and {validation} validation documents")
    else:
        template = marked("engine", "{train} training rows, {validation} validation rows, {test} test rows")
    yield said(template, **parts)
    if len(event.labels) > 1 and not of_texts:
        yield said(marked("engine", "{count} labels"), count=len(event.labels))
    yield said(marked("engine", "{count:,} weights"), count=event.num_parameters)
    yield event.device
    rate = event.learning_rate
    if of_texts:
        yield said(marked("engine", "learning rate {rate:g}"), rate=rate)
    elif event.num_steps:
        yield said(marked("engine", "{count} steps at {rate:g}"), count=event.num_steps, rate=rate)
    else:
        yield spoken(marked("engine", "no steps"))


def _fetched(event: Fetched) -> str:
    """Return how far a transfer is: bytes, speed, time left."""
    template = marked("engine", "{file}: {done:.1f} of {total:.1f} MB")
    if event.remaining_s is not None:
        template = marked(
            "engine", "{file}: {done:.1f} of {total:.1f} MB, {speed:.1f} MB/s, {left:.0f} s left"
        )
    done, total, speed = (number / 2**20 for number in (event.done, event.total, event.speed))
    return said(template, file=event.file, done=done, total=total, speed=speed, left=event.remaining_s)


def _between(interval: tuple[float, float] | None) -> str:
    """Return the ends of an interval, to stand after a value."""
    if interval is None:
        return ""
    return said(marked("engine", " (95 %: {low:.4f} to {high:.4f})"), low=interval[0], high=interval[1])


def _measured(event: Evaluated, name: str) -> str:
    """Return one of an evaluation's metrics, an accuracy with its interval."""
    value = f"{metric_name(name)} {event.metrics[name]:.4f}"
    if name != "accuracy" or event.confusion is None:
        return value
    total = int(event.confusion.sum())
    return value + _between(wilson_interval(event.metrics[name] * total, total))


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
                    print("\n" + spoken(marked("engine", "Stopping ...")), file=sys.stderr, flush=True)
                    assert isinstance(events, Generator)
                    events.close()  # here it saves
                    return 128 + asked.signals[0]
        except KeyboardInterrupt:
            if not asked.is_late:
                raise
            print("\n" + spoken(STOPPED), file=sys.stderr, flush=True)
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
    command = shlex.join([*command_words(), "resume", str(folder.absolute())])
    template = marked("engine", "Kept in {folder}. Continue with: {command}")
    print(said(template, folder=folder, command=command), file=sys.stderr)


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
