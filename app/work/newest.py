"""One worker on which the newest request wins: nothing queues up behind old wishes.

A request starts when the one before has ended; what a replaced request still says is not heard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.work.job import Job
from engine.events import Event

Task = Callable[[], Iterator[Event]]


@dataclass(slots=True, eq=False)
class _Request:
    task: Task
    name: str
    heard: Callable[[list[Event]], None] | None
    failed: Callable[[BaseException], None] | None
    ended: Callable[[], None] | None
    wanted: bool = True


class NewestJob(QObject):
    """Runs one task at a time; `idle_changed` tells when work begins and when none is left."""

    idle_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._current: _Request | None = None
        self._next: _Request | None = None
        self._job: Job | None = None

    @property
    def is_idle(self) -> bool:
        return self._current is None and self._next is None

    @property
    def is_wanted(self) -> bool:
        """Whether a request that was not replaced or stopped is waiting or under way."""
        return self._next is not None or (self._current is not None and self._current.wanted)

    def start(
        self,
        task: Task,
        *,
        heard: Callable[[list[Any]], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
        ended: Callable[[], None] | None = None,
        name: str = "job",
    ) -> None:
        """Run `task` on the worker thread in place of whatever was asked for before."""
        self.stop()
        self._next = _Request(task, name, heard, failed, ended)
        if self._current is None:
            self._begin()

    def stop(self) -> None:
        """Drop what waits and end what runs at its next yield; a dropped request gets its `ended` only."""
        dropped, self._next = self._next, None
        if dropped is not None and dropped.ended is not None:
            dropped.ended()
        if self._current is not None and self._job is not None:
            self._current.wanted = False
            self._job.stop()

    @Slot()
    def forget(self) -> None:
        """Stop, and call nobody any more: who asked is gone."""
        for request in (self._current, self._next):
            if request is not None:
                request.heard = request.failed = request.ended = None
        self.stop()

    def _begin(self) -> None:
        request, self._next = self._next, None
        if request is None:
            return
        self._current = request
        self._job = Job(request.task, self, name=request.name)
        self._job.heard.connect(self._heard)
        self._job.failed.connect(self._failed)
        self._job.ended.connect(self._ended)
        self._job.start()
        self.idle_changed.emit()

    @Slot(list)
    def _heard(self, events: list[Event]) -> None:
        request = self._current
        if request is not None and request.wanted and request.heard is not None:
            request.heard(events)

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        request = self._current
        if request is not None and request.wanted and request.failed is not None:
            request.failed(error)

    @Slot()
    def _ended(self) -> None:
        request, self._current = self._current, None
        if self._job is not None:
            self._job.deleteLater()
            self._job = None
        if request is not None and request.ended is not None:
            request.ended()
        if self._current is None:
            self._begin()
        if self.is_idle:
            self.idle_changed.emit()
