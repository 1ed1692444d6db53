"""A process of our own that does one thing: asked by a line of JSON, what it does comes as lines of JSON.

For what cannot be interrupted, or keeps Python's lock for so long that a window would stand still. The child
may be killed at any moment, and ends when nobody holds the other end of its input any more.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, is_dataclass
from queue import Empty, SimpleQueue
from typing import Any, TextIO

from engine.errors import Sentence, UserError, VerbatimText, marked
from engine.events import Beat, Event, Noted, Progress, Steps
from engine.language import ENGLISH, named_outside, speak
from engine.own_process import command_of, environment_of

BEAT_S = 0.2  # between two places at which a question can be given up
PATIENCE_S = 1.0  # that a process is given to end before it is killed
LAST_WORDS_S = 10.0  # that a process is given to end once it says nothing more
_MOST_SAID = 4_000  # characters of what it left on stderr

Line = dict[str, Any]
Tell = Callable[[str, Any], None]


class Silent(Exception):
    """Nothing was heard of a child process for longer than it may be silent."""


def asking(
    module: str,
    question: Line,
    *,
    around: Mapping[str, str] | None = None,
    most_silent_s: float = 0.0,
    patience_s: float = PATIENCE_S,
) -> Generator[Event | Line, None, Any]:
    """Ask a module that ends in `serve`, in a process of its own; yield what it tells, return what it found.

    Closing the generator ends the process. Events come as such, other lines as {kind: value}.
    Args:   around: environment variables. most_silent_s: after which it is killed; 0: it keeps its own time.
            patience_s: that it is given to tidy up before it is killed.
    Raises: UserError: what it was refused, or that it was ended from outside; Silent.
    """
    with tempfile.TemporaryFile() as said:
        process = _start(module, around or {}, said)
        try:
            found = yield from _hearing(process, question, most_silent_s)
        finally:
            _end(process, patience_s)
        if found is not None:
            return found[0]
        said.seek(0)
        text = said.read().decode("utf-8", "replace")[-_MOST_SAID:]
    if process.returncode < 0 or not text.strip():
        template = marked("engine", "The process that did this was ended from outside ({code}). Try again.")
        raise UserError(template, code=process.returncode)
    raise RuntimeError(f"the process {module} failed\n{text}")


def events(steps: Generator[Event | Line, None, Any]) -> Steps[Any]:
    """Go on with a question of which nothing but events is of interest."""
    with closing(steps):
        while True:
            try:
                said = next(steps)
            except StopIteration as end:
                return end.value
            if isinstance(said, Event):
                yield said


def _hearing(
    process: subprocess.Popen[bytes], question: Line, most_silent_s: float
) -> Generator[Event | Line, None, list[Any] | None]:
    """Put a question; yield what is told of it. Return what was found, in a list; None if it just ended."""
    lines: SimpleQueue[bytes | None] = SimpleQueue()
    threading.Thread(target=_read, args=(process, lines), daemon=True, name="child").start()
    assert process.stdin is not None
    with suppress(OSError):  # it has ended already; why stands on its stderr
        process.stdin.write(json.dumps(question).encode() + b"\n")
        process.stdin.flush()
    heard = time.monotonic()
    while True:
        try:
            line = lines.get(timeout=BEAT_S)
        except Empty:
            if most_silent_s and time.monotonic() - heard > most_silent_s:
                raise Silent from None
            yield Beat()
            continue
        if line is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(LAST_WORDS_S)  # it is still writing down why
            return None
        heard = time.monotonic()
        kind, value = next(iter(json.loads(line).items()))
        value = _taken(value)
        if kind == "found":
            return [value]
        if kind == "refused":
            raise UserError(value.template, **value.values)
        if kind == "noted":
            yield Noted(sentence=value)
        elif kind == "progress":
            yield Progress(stage=value[0], done=value[1], total=value[2])
        else:
            yield {kind: value}


def _start(module: str, around: Mapping[str, str], said: Any) -> subprocess.Popen[bytes]:
    apart: dict[str, Any] = {"start_new_session": True}  # Ctrl-C is for the parent, which ends it
    if os.name == "nt":
        apart = {"creationflags": 0x00000200 | 0x08000000}  # CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW
    return subprocess.Popen(
        command_of(module),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        env=environment_of(PYTHONUTF8="1", **around),
        **apart,
    )


def _read(process: subprocess.Popen[bytes], lines: SimpleQueue[bytes | None]) -> None:
    """Hand on what a process says, line by line, to the end."""
    assert process.stdout is not None
    with process.stdout as stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _end(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Let a process end: it does where its input ends; if not in time, it is killed."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin is not None:
        with suppress(OSError):  # what was not read there is of no use any more
            process.stdin.close()


def serve(answer: Callable[[Line, Tell], Any], *, tidies_up: bool = False) -> None:
    """Be the child: answer the question on stdin; stdout holds nothing but lines of JSON. Does not return.

    Args: answer: is given the question and how to tell of what it does; what it returns is found.
        tidies_up: being ended is an exception there, so that what it began is taken back.
    """
    lines = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is not for the parent
    if tidies_up:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    speak(named_outside() or ENGLISH)
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tell = _teller(lines)
    try:
        tell("found", answer(asked, tell))
    except UserError as error:
        tell("refused", error.sentence)
    lines.flush()
    os._exit(0)  # Python would wait for the thread that reads, or end in a fault of its own


def tell_event(event: Event, tell: Tell) -> None:
    """Tell of an event as the parent takes it; what is neither progress nor a note is not for it."""
    if isinstance(event, Progress):
        tell("progress", [event.stage, event.done, event.total])
    elif isinstance(event, Noted):
        tell("noted", event.sentence)


def _teller(lines: TextIO) -> Tell:
    one_by_one = threading.Lock()

    def tell(kind: str, value: Any) -> None:
        with one_by_one:
            lines.write(json.dumps({kind: _plain(value)}) + "\n")
            lines.flush()

    return tell


def _end_with_parent() -> None:
    """End at once where the parent is gone: another one may go on with the same folder."""
    sys.stdin.read()
    os._exit(1)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: sentences keep their templates, so that they can be translated."""
    if isinstance(value, Sentence):
        return {"sentence": value.template, "values": {name: _plain(v) for name, v in value.values.items()}}
    if isinstance(value, VerbatimText):
        return {"said": str(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(name): _plain(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _taken(value: Any) -> Any:
    """Return what `_plain` was given, but for tuples, paths and dataclasses."""
    if isinstance(value, dict):
        if value.keys() == {"sentence", "values"}:
            return Sentence(value["sentence"], _taken(value["values"]))
        if value.keys() == {"said"}:
            return VerbatimText(value["said"])
        return {name: _taken(v) for name, v in value.items()}
    return [_taken(v) for v in value] if isinstance(value, list) else value
