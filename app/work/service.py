"""One long-lived worker that answers questions: of each key only the newest counts, and none waits for long.

A question is a task (a generator of events). At each of its yields it gives way to a newer question and goes
on after it, so a click is answered while a whole table is being read. As in job.py the worker touches no Qt
object: a timer takes what it says, and runs only while an answer is out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.work.job import STACK_BYTES, step_back
from app.work.tables import Answer
from engine.events import Beat, Event

INTERVAL_MS = 4  # a head's picture is wanted within 50 ms of the key
Task = Callable[[], Iterator[Event]]


@dataclass(slots=True, eq=False)
class _Question:
    """Something asked, and whom to tell. is_dropped is set on the window's thread and read on the worker."""

    key: str
    task: Task
    heard: Callable[[Any], None] | None
    failed: Callable[[BaseException], None] | None
    ended: Callable[[], None] | None
    heard_progress: Callable[[Event], None] | None
    is_dropped: bool = False


@dataclass(frozen=True, slots=True)
class _Said:
    """One thing the worker says of a question. has_ended: it is the last."""

    question: _Question
    event: Event | None = None
    error: BaseException | None = None
    has_ended: bool = field(default=False)


class Service(QObject):
    """Questions in, answers out, on the window's thread; the work is done on a thread of its own."""

    idle_changed = Signal()
    problem = Signal(object)  # what a question raised that nobody hears

    def __init__(self, parent: QObject | None = None, *, name: str = "service") -> None:
        super().__init__(parent)
        self._name = name
        self._asked: dict[str, _Question] = {}  # the newest of each key
        self._out = 0  # questions that have not ended
        self._inbox: SimpleQueue[_Question | None] = SimpleQueue()
        self._outbox: SimpleQueue[_Said] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._timer = QTimer(self, interval=INTERVAL_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._take)

    @property
    def is_idle(self) -> bool:
        """Whether every question has been answered or dropped."""
        return self._out == 0

    def is_asking(self, key: str) -> bool:
        """Whether a question of this key is waiting or under way."""
        return key in self._asked

    def ask(
        self,
        key: str,
        task: Task,
        *,
        heard: Callable[[Any], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
        ended: Callable[[], None] | None = None,
        heard_progress: Callable[[Event], None] | None = None,
    ) -> None:
        """Ask something in place of the last question of this key, whose answer is then not heard.

        Args: heard: called with each answer's value. failed: with what the task raised, else `problem` is
        told. ended: last, always, also when dropped. heard_progress: with every other event.
        """
        self.drop(key)
        question = _Question(key, task, heard, failed, ended, heard_progress)
        self._asked[key] = question
        self._out += 1
        if self._thread is None:
            self._start()
        self._inbox.put(question)
        self._timer.start()
        if self._out == 1:
            self.idle_changed.emit()

    def drop(self, key: str) -> None:
        """Forget the question of this key; it ends at its next yield."""
        question = self._asked.pop(key, None)
        if question is not None:
            question.is_dropped = True

    def forget(self, key: str) -> None:
        """Drop, and call nobody any more: who asked is gone."""
        question = self._asked.get(key)
        if question is not None:
            question.heard = question.failed = question.ended = question.heard_progress = None
        self.drop(key)

    def close(self) -> None:
        """Drop every question and end the worker; it is joined. A later question starts a new one."""
        for key in list(self._asked):
            self.drop(key)
        if self._thread is not None:
            self._inbox.put(None)
            self._thread.join()
            self._thread = None
        self._take()

    def _start(self) -> None:
        before = threading.stack_size(STACK_BYTES)
        try:
            self._thread = threading.Thread(
                target=_serve, args=(self._inbox, self._outbox), name=self._name, daemon=True
            )
            self._thread.start()
        finally:
            threading.stack_size(before)

    @Slot()
    def _take(self) -> None:
        for _ in range(self._outbox.qsize()):
            said = self._outbox.get()
            self._tell(said)
        if self._out == 0 and self._timer.isActive():
            self._timer.stop()
            self.idle_changed.emit()

    def _tell(self, said: _Said) -> None:
        question = said.question
        if said.has_ended:
            self._out -= 1
            if self._asked.get(question.key) is question:
                del self._asked[question.key]
            if said.error is not None and not question.is_dropped:
                (question.failed or self.problem.emit)(said.error)
            if question.ended is not None:
                question.ended()
        elif question.is_dropped:
            return
        elif isinstance(said.event, Answer):
            if question.heard is not None:
                question.heard(said.event.value)
        elif question.heard_progress is not None and said.event is not None:
            question.heard_progress(said.event)


def _serve(inbox: SimpleQueue[_Question | None], outbox: SimpleQueue[_Said]) -> None:
    """Answer until told to end; what came last goes first."""
    step_back()
    under_way: list[tuple[_Question, Iterator[Event]]] = []
    while True:
        try:
            new = inbox.get(block=not under_way)
        except Empty:
            question, task = under_way.pop()
        else:
            if new is None:
                break
            question, task = new, iter(())
            if not new.is_dropped:
                task = _begun(new)
        if _step(question, task, outbox):
            under_way.append((question, task))
    while under_way:
        question, task = under_way.pop()
        _close(task)
        outbox.put(_Said(question, has_ended=True))
    while not inbox.empty():
        left = inbox.get()
        if left is not None:
            outbox.put(_Said(left, has_ended=True))


def _begun(question: _Question) -> Iterator[Event]:
    yield from question.task()


def _step(question: _Question, task: Iterator[Event], outbox: SimpleQueue[_Said]) -> bool:
    """Let a task go on to its next yield. Returns: whether it has more to say."""
    try:
        if question.is_dropped:
            _close(task)
            event = None
        else:
            event = next(task, None)
    except BaseException as error:  # MemoryError and SystemExit too: no thread dies in silence
        outbox.put(_Said(question, error=error, has_ended=True))
        return False
    if event is None:
        outbox.put(_Said(question, has_ended=True))
        return False
    if not isinstance(event, Beat):
        outbox.put(_Said(question, event=event))
    return True


def _close(task: Iterator[Event]) -> None:
    close = getattr(task, "close", None)
    if close:
        close()
