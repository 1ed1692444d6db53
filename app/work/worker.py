"""Asking in the background: a `Channel` for each question that a view can have, over a `Worker`, one thread.

The worker touches no Qt object: a timer takes what it says, on the window's thread. A channel dies with its
owner: from then on nobody is called.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast, overload

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.work.job import INTERVAL_MS as CALM_MS
from app.work.job import STACK_BYTES, step_back
from app.work.models import OpenModels
from engine.errors import UserError
from engine.events import AnswerSoFar, Beat, Event, Progress, Steps
from engine.questions.question import Models, Question

INTERVAL_MS = 4  # a head's picture is wanted within 50 ms of the key
PATIENCE_S = 0.2  # with which a window closes while a file is read

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Work:
    """The worker's half of a question, which knows nobody: a widget that a worker lets go of last would be
    destroyed on its thread. do: emptied on the window's thread at the end. is_dropped: set there, read on the
    worker.
    """

    do: Callable[[], Any] | None
    is_dropped: bool = False


@dataclass(slots=True, eq=False)
class _Request:
    """Something asked. tell: None once its owner is gone."""

    work: _Work
    tell: Callable[[_Request, _Said], None] | None
    heard: Callable[[Any], None]
    refused: Callable[[BaseException], None] | None
    progress: Callable[[Event], None] | None


@dataclass(frozen=True, slots=True)
class _Said:
    """One thing the worker says of its work. has_ended: it is the last."""

    work: _Work
    event: Event | None = None
    error: BaseException | None = None
    has_ended: bool = False


class Worker(QObject):
    """One lasting thread. What is asked last goes first: work with steps gives way to it at each of them, so
    a click is answered while a whole table is measured.
    """

    problem = Signal(object)  # a fault of ours, or a refusal that nobody hears

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        name: str = "worker",
        interval_ms: int = INTERVAL_MS,
        models: Models | None = None,
    ) -> None:
        super().__init__(parent)
        self.models = models  # with which questions are answered on its thread
        self._name = name
        self._out: dict[_Work, _Request] = {}  # those that have not ended
        self._inbox: SimpleQueue[_Work | None] = SimpleQueue()
        self._outbox: SimpleQueue[_Said] = SimpleQueue()
        self._said: deque[_Said] = deque()  # taken from the outbox and not told yet
        self._thread: threading.Thread | None = None
        self._is_held = False
        self.is_closed = False
        self._timer = QTimer(self, interval=interval_ms, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._take)  # runs only while an answer is out

    @property
    def is_idle(self) -> bool:
        """Whether all that was asked has ended."""
        return not self._out

    def begin(self, question: _Request) -> None:
        """Take a question from its channel."""
        self._out[question.work] = question
        self._inbox.put(question.work)
        self._timer.start()
        if not self._is_held:
            self._start()

    def hold(self) -> None:
        """Let what is asked wait until `let_go`."""
        self._is_held = True

    def let_go(self) -> None:
        """Answer what has been asked, and what will be."""
        self._is_held = False
        if self._out:
            self._start()

    def close(self, patience_s: float | None = None) -> None:
        """Drop every question and join the thread. What is asked from now on is not answered.

        Args: patience_s: how long to wait for work without steps; then the thread is left to end by itself,
        or with the process.
        """
        self.is_closed = True
        for work in self._out:
            work.is_dropped = True
        self.let_go()
        if self._thread is not None:
            self._inbox.put(None)
            self._thread.join(patience_s)
        self._take()

    def _start(self) -> None:
        if self._thread is not None:
            return
        before = threading.stack_size(STACK_BYTES)
        try:
            self._thread = threading.Thread(
                target=_serve, args=(self._inbox, self._outbox), name=self._name, daemon=True
            )
            self._thread.start()
        finally:
            threading.stack_size(before)

    def _take(self) -> None:
        for _ in range(self._outbox.qsize()):
            self._said.append(self._outbox.get())
        while self._said:
            said = self._said.popleft()
            if not (self._said and _is_outrun(said, self._said[0])):
                self._tell(said)
        if not self._out and self._timer.isActive():
            self._timer.stop()

    def _tell(self, said: _Said) -> None:
        question = self._out[said.work]
        if said.has_ended:
            del self._out[said.work]
            said.work.do = None
        if question.tell is not None:
            question.tell(question, said)


class Channel(QObject):
    """One question of one view: the newest wins, and the same one is not asked twice."""

    def __init__(self, owner: QObject, worker: Worker) -> None:
        super().__init__(owner)
        self._worker = worker
        self._asked: tuple[Hashable] | None = None  # what is under way, or was answered last
        self._newest: _Request | None = None  # whose answer is still to come
        self._ended: Callable[[], None] | None = None  # of what was asked last
        out = self._out = list[_Request]()  # with those that were replaced and have not ended
        self.destroyed.connect(lambda: _forget(out))

    @property
    def is_asking(self) -> bool:
        """Whether an answer is still to come."""
        return self._newest is not None

    @overload
    def ask(
        self,
        about: Question[T],
        work: None = None,
        *,
        heard: Callable[[T], None],
        again: bool = False,
        refused: Callable[[BaseException], None] | None = None,
        progress: Callable[[Event], None] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> bool: ...

    @overload
    def ask(
        self,
        about: Hashable,
        work: Callable[[], Steps[T]],
        *,
        heard: Callable[[T], None],
        again: bool = False,
        refused: Callable[[BaseException], None] | None = None,
        progress: Callable[[Event], None] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> bool: ...

    @overload
    def ask(
        self,
        about: Hashable,
        work: Callable[[], Iterator[Event]],
        *,
        heard: Callable[[Any], None],
        again: bool = False,
        refused: Callable[[BaseException], None] | None = None,
        progress: Callable[[Event], None] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> bool: ...

    @overload
    def ask(
        self,
        about: Hashable,
        work: Callable[[], T],
        *,
        heard: Callable[[T], None],
        again: bool = False,
        refused: Callable[[BaseException], None] | None = None,
        progress: Callable[[Event], None] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> bool: ...

    def ask(
        self,
        about: Hashable,
        work: Callable[[], Any] | None = None,
        *,
        heard: Callable[[Any], None],
        again: bool = False,
        refused: Callable[[BaseException], None] | None = None,
        progress: Callable[[Event], None] | None = None,
        ended: Callable[[], None] | None = None,
    ) -> bool:
        """Have `work` done in place of what was asked before; nothing is done where `about` is the same as
        what is under way or was answered last. Returns: whether it was asked.

        Args:
            about: a question; or all that the answer depends on, of a model its fingerprint, for it may be
                trained anew.
            work: a plain function, or one with steps: a generator of events. A question needs none: it is
                answered with the worker's models.
            heard: gets what `work` returns, and the value of each `AnswerSoFar` on the way.
            again: ask it also where it is the same.
            refused: gets a UserError or MemoryError; without it the worker's `problem` does. Any other
                error is a fault of ours and goes to `problem` always.
            progress: gets every other event; of `Progress` the newest only.
            ended: comes last, once nothing of this channel is under way any more: also after a fault, and
                where it was dropped.
        """
        if again:
            self.drop()
        if (about,) == self._asked or self._worker.is_closed:
            return False
        if work is None:
            assert isinstance(about, Question) and self._worker.models is not None
            work = partial(about.answer, self._worker.models)
        self.drop()
        question = _Request(_Work(work), self._tell, heard, refused, progress)
        self._asked, self._newest, self._ended = (about,), question, ended
        self._out.append(question)
        self._worker.begin(question)
        return True

    def drop(self) -> None:
        """Hear no more of what is under way, which ends at its next step; the same may be asked again."""
        self._asked = None
        question, self._newest = self._newest, None
        if question is not None:
            question.work.is_dropped = True

    def _tell(self, question: _Request, said: _Said) -> None:
        if said.has_ended:
            try:
                self._end(question, said.error)
            finally:
                self._out.remove(question)
            if not self._out and self._ended is not None and question.tell is not None:
                self._ended()
        elif said.work.is_dropped or said.event is None:
            return
        elif isinstance(said.event, AnswerSoFar):
            question.heard(said.event.value)
        elif question.progress is not None:
            question.progress(said.event)

    def _end(self, question: _Request, error: BaseException | None) -> None:
        if self._newest is question:
            self._newest = None
        if error is not None and not question.work.is_dropped:
            self._asked = None
            is_refusal = isinstance(error, UserError | MemoryError)
            (question.refused if is_refusal and question.refused else self._worker.problem.emit)(error)


class Workers(QObject):
    """The lasting threads of a session: one for each kind of work that must not wait for another kind.

    models: opens models and asks them; nothing else touches `OpenModels`. quick: all that takes moments and
    asks no model, such as composing a picture, or what folders and runs say of themselves. files: reads and
    measures tables and texts, and may take long. hub: asks a hub of models, and waits for its answers.
    transfer: has a model come from there, be converted, or be exported. hosts: asks other computers by ssh.
    """

    problem = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.open_models = OpenModels()
        self.models = Worker(self, name="models", models=self.open_models)
        self.quick = Worker(self, name="quick")
        self.files = Worker(self, name="files", interval_ms=CALM_MS)
        self.hub = Worker(self, name="hub", interval_ms=CALM_MS)
        self.transfer = Worker(self, name="transfer", interval_ms=CALM_MS)
        self.hosts = Worker(self, name="hosts", interval_ms=CALM_MS)
        self._all = (self.models, self.quick, self.files, self.hub, self.transfer, self.hosts)
        for worker in self._all:
            worker.problem.connect(self.problem)

    @property
    def is_idle(self) -> bool:
        return all(worker.is_idle for worker in self._all)

    def hold(self) -> None:
        """Let all that is asked wait: what a worker is asked first may import torch, which takes seconds."""
        for worker in self._all:
            worker.hold()

    def let_go(self) -> None:
        """Answer what has been asked, and what will be."""
        for worker in self._all:
            worker.let_go()

    def close(self) -> None:
        """Drop every question and join the threads; a large file that is being read is not waited for."""
        self.models.close()
        self.quick.close()
        self.files.close(PATIENCE_S)
        self.hub.close()
        self.transfer.close()
        self.hosts.close()


def _forget(questions: list[_Request]) -> None:
    """Let nobody hear of these any more: who asked is gone."""
    for question in questions:
        question.work.is_dropped, question.tell = True, None


def _is_outrun(said: _Said, later: _Said) -> bool:
    """Whether a question has made more progress meanwhile."""
    both = isinstance(said.event, Progress) and isinstance(later.event, Progress)
    return both and said.work is later.work


def _serve(inbox: SimpleQueue[_Work | None], outbox: SimpleQueue[_Said]) -> None:
    """Answer until told to end; what came last goes first."""
    step_back()
    under_way: list[tuple[_Work, Iterator[Event]]] = []
    while True:
        under_way = [one for one in under_way if _is_wanted(*one, outbox)]
        try:
            new = inbox.get(block=not under_way)
        except Empty:
            work, steps = under_way.pop()
        else:
            if new is None:
                break
            work, steps = new, _begun(new)
        if _step(work, steps, outbox):
            under_way.append((work, steps))
    for work, steps in reversed(under_way):
        _close(work, steps, outbox)
    while not inbox.empty():
        left = inbox.get()
        if left is not None:
            outbox.put(_Said(left, has_ended=True))


def _begun(work: _Work) -> Iterator[Event]:
    """Do the work; what it returns comes as an `AnswerSoFar`."""
    assert work.do is not None
    found = work.do()
    if not isinstance(found, Iterator):
        yield AnswerSoFar(value=found)
        return
    value = yield from cast(Steps[Any], found)
    if value is not None:
        yield AnswerSoFar(value=value)


def _step(work: _Work, steps: Iterator[Event], outbox: SimpleQueue[_Said]) -> bool:
    """Go on to the next step of some work. Returns: whether it has more to say."""
    if not _is_wanted(work, steps, outbox):
        return False
    try:
        event = next(steps, None)
    except BaseException as error:  # MemoryError and SystemExit too: no thread dies in silence
        outbox.put(_Said(work, error=error, has_ended=True))
        return False
    if event is None:
        outbox.put(_Said(work, has_ended=True))
        return False
    if not isinstance(event, Beat):
        outbox.put(_Said(work, event=event))
    return True


def _is_wanted(work: _Work, steps: Iterator[Event], outbox: SimpleQueue[_Said]) -> bool:
    """End work that was dropped. Returns: whether it was not."""
    if work.is_dropped:
        _close(work, steps, outbox)
        return False
    return True


def _close(work: _Work, steps: Iterator[Event], outbox: SimpleQueue[_Said]) -> None:
    """End work that nobody wants any more where it stands."""
    error: BaseException | None = None
    try:
        if isinstance(steps, Generator):
            steps.close()
    except BaseException as raised:
        error = raised
    outbox.put(_Said(work, error=error, has_ended=True))
