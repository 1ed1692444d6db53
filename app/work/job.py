"""Runs a task (a generator of events) on a worker thread and tells the window what it says.

The worker thread touches no Qt object: it puts events in a queue; a timer on the window's thread takes them.
It holds the GIL only while the task runs Python; torch lets go of it inside its kernels.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer, Signal

from app.work.garbage import leave_what_is_there
from engine.events import Beat, Event

Task = Iterator[Event] | Callable[[], Iterator[Event]]

INTERVAL_MS = 40
MOST_AT_ONCE = 5_000
MOST_WAITING = (
    50_000  # a task that is faster than the window can read waits here, so that memory stays bounded
)
STACK_BYTES = 16 * 2**20  # macOS gives threads 512 kB, too little for a deep autograd graph
SWITCH_INTERVAL_S = 0.001
NICENESS = 1


def prepare_process() -> None:
    """Make Python hand the GIL over within a millisecond, and look for garbage among new things only.

    Call once, after the imports, before the window is made. The default of 5 ms is paid again at each of the
    window's calls that let go of the GIL.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    leave_what_is_there()


@dataclass(frozen=True, slots=True)
class _End:
    """The worker's last word."""

    outcome: str
    error: BaseException | None


class Job(QObject):
    """One run of one task. Keep a reference until `ended`; it cannot be started twice."""

    heard = Signal(list)  # events, at most MOST_AT_ONCE, never empty
    failed = Signal(object)  # whatever the task raised, before ended
    ended = Signal()  # always, once, last, after the thread is joined
    state_changed = Signal(str)

    def __init__(self, task: Task, parent: QObject | None = None, *, name: str = "job") -> None:
        super().__init__(parent)
        self.state = "new"
        self.outcome = ""  # "finished", "stopped" or "failed", set before ended
        self.error: BaseException | None = None
        self._worker = _Worker(task, name)
        self._timer = QTimer(self, interval=INTERVAL_MS, timerType=Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._take)

    @property
    def is_running(self) -> bool:
        """True from start to ended, pauses included."""
        return self.state in ("running", "paused", "stopping")

    @property
    def is_paused(self) -> bool:
        return self.state == "paused"

    def start(self) -> None:
        """Start the worker thread. Later calls do nothing."""
        if self.state == "new":
            self._begin("running")

    def pause(self) -> None:
        """Ask for no further event; the task stands still at its next yield."""
        if self.state == "running":
            self._worker.may_run.clear()
            self._set_state("paused")

    def resume(self) -> None:
        """Go on after a pause."""
        if self.state == "paused":
            self._set_state("running")
            self._worker.may_run.set()

    def stop(self) -> None:
        """Close the task at its next yield, where it saves what it has; also when paused or new."""
        if self.state in ("new", "running", "paused"):
            self._worker.must_stop.set()
            self._worker.may_run.set()
            if self.state == "new":
                self._begin("stopping")
            else:
                self._set_state("stopping")

    def wait(self, timeout_s: float) -> bool:
        """Serve the window's events until the job has ended; False when that took too long."""
        if not self.is_running:
            return self.state == "ended"
        loop = QEventLoop()
        deadline = QTimer(singleShot=True)
        deadline.timeout.connect(loop.quit)
        self.ended.connect(loop.quit)
        deadline.start(int(timeout_s * 1000))
        loop.exec()
        deadline.stop()
        return self.state == "ended"

    # Room for `request(obj)`: one look at the weights, served by the task at its next yield.

    def _begin(self, state: str) -> None:
        self._timer.start()
        self._worker.start()
        self._set_state(state)

    def _set_state(self, state: str) -> None:
        self.state = state
        self.state_changed.emit(state)

    def _take(self) -> None:
        batch: list[Event] = []
        end: _End | None = None
        waiting = self._worker.waiting
        while len(batch) < MOST_AT_ONCE:
            try:
                item: Any = waiting.get_nowait()
            except Empty:
                break
            if isinstance(item, _End):
                end = item
                break
            batch.append(item)
        if waiting.qsize() < MOST_WAITING // 2:
            self._worker.has_room.set()
        if end:
            self._timer.stop()
        if batch:
            self.heard.emit(batch)
        if end:
            self._end(end)

    def _end(self, end: _End) -> None:
        self._worker.join()  # it has said its last word, so this takes no time
        self.outcome, self.error = end.outcome, end.error
        self._set_state("ended")
        if end.error is not None:
            self.failed.emit(end.error)
        self.ended.emit()


class _Worker:
    """The other side: a plain Python thread, with no way to reach a Qt object."""

    def __init__(self, task: Task, name: str) -> None:
        self.may_run = threading.Event()
        self.may_run.set()
        self.must_stop = threading.Event()
        self.has_room = threading.Event()
        self.waiting: SimpleQueue[Event | _End] = SimpleQueue()
        self._task: Task | None = task
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        before = threading.stack_size(STACK_BYTES)
        try:
            self._thread.start()
        finally:
            threading.stack_size(before)

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        end = _End("failed", None)
        try:
            step_back()
            end = _End(self._pull(), None)
        except BaseException as error:  # MemoryError and SystemExit too: no thread dies in silence
            end = _End("failed", error)
        finally:
            self._task = None
            self.waiting.put(end)

    def _pull(self) -> str:
        task = self._task() if callable(self._task) else self._task
        assert task is not None
        self._task = None
        try:
            while True:
                if not self.may_run.is_set():
                    self.may_run.wait()
                if self.must_stop.is_set():
                    return "stopped"
                try:
                    event = next(task)
                except StopIteration:
                    return "finished"
                if not isinstance(event, Beat):  # only a place to pause or stop
                    self.waiting.put(event)
                self._wait_for_room()
        finally:
            close = getattr(task, "close", None)  # a plain iterator has none
            if close:
                close()

    def _wait_for_room(self) -> None:
        while self.waiting.qsize() >= MOST_WAITING and not self.must_stop.is_set():
            self.has_room.clear()
            self.has_room.wait(0.1)


def step_back() -> None:
    """Let the window go first when all cores are busy; torch's own threads inherit it. Linux only."""
    if sys.platform == "linux" and NICENESS:
        with contextlib.suppress(OSError):  # not allowed here: only a courtesy
            nice = os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
