"""The queue of runs as the window knows it: looked at while there is work in it, kept at work by a process.

The process is not the window's: it goes on when the window is closed. A window that finds work that nobody
does, though nobody has stopped it, starts a process for it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app import words
from app.look.labels import PART
from app.words import translate
from app.work.worker import Channel, Worker
from engine.runs import queue
from engine.runs.queue import Job
from engine.train.run.runs import AnyConfig, run_info

WATCH_MS = 1000


@dataclass(frozen=True, slots=True)
class QueueState:
    """What is in the queue. step, num_steps: of the run under way. waits: for a training beside the queue."""

    jobs: tuple[Job, ...] = ()
    is_working: bool = False
    is_paused: bool = False
    step: int = 0
    num_steps: int = 0
    waits: bool = False

    @property
    def running(self) -> Job | None:
        """The job that is done now."""
        return next((job for job in self.jobs if job.state == queue.RUNNING), None)

    @property
    def num_waiting(self) -> int:
        return sum(job.state == queue.WAITING for job in self.jobs)

    @property
    def is_open(self) -> bool:
        """Whether there is anything to do."""
        return any(job.is_open for job in self.jobs)


class QueueWatch(QObject):
    """Looks at the queue on a worker; puts runs into it, stops it and lets it go on."""

    changed = Signal()
    refused = Signal(object)

    def __init__(self, root: Callable[[], Path], worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = QueueState()
        self._root = root
        self._looking, self._doing = Channel(self, worker), Channel(self, worker)
        self._process: list[subprocess.Popen[bytes]] = []
        self._todo: list[Callable[[], object]] = []
        self._timer = QTimer(self, singleShot=True, interval=WATCH_MS)
        self._timer.timeout.connect(self.look)

    @Slot()
    def look(self) -> None:
        """Look at the queue; again in a moment as long as there is something to do."""
        root = self._root()
        self._looking.drop()
        work = partial(look, root, self._process)
        self._looking.ask(root, work, heard=self._take, refused=self.refused.emit)

    def add(
        self, configs: Sequence[AnyConfig], name: str, *, tags: Sequence[str] = (), halving: bool = False
    ) -> None:
        """Put runs at the end of the queue."""
        self._do(partial(queue.add, self._root(), configs, name, tags=tags, halving=halving))

    def cancel(self, number: int) -> None:
        """End a job; a run under way is stopped and kept."""
        self._do(partial(queue.cancel, self._root(), number))

    def clear(self) -> None:
        """Forget the jobs that have ended."""
        self._do(partial(queue.clear, self._root()))

    @Slot()
    def stop(self) -> None:
        """Stop and keep the run under way, and begin no other."""
        self._do(partial(queue.pause, self._root()))

    @Slot()
    def go_on(self) -> None:
        """Go on where it was stopped."""
        self._do(partial(queue.go_on, self._root()))

    def close(self) -> None:
        """Look no more; the process goes on."""
        self._timer.stop()
        for process in self._process:
            if process.poll() is None:
                process.returncode = 0  # else Python warns of a process that nobody waits for

    def _do(self, what: Callable[[], object]) -> None:
        """Have something done after all that was asked before: none of it may be lost."""
        self._todo.append(what)
        if len(self._todo) == 1:
            self._begin()

    def _begin(self) -> None:
        what = self._todo[0]
        self._doing.ask(
            object(), partial(_done, what), heard=lambda _: None, refused=self.refused.emit, ended=self._next
        )

    def _next(self) -> None:
        del self._todo[0]
        if self._todo:
            self._begin()
        else:
            self.look()

    def _take(self, state: QueueState) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit()
        if state.is_open and not (state.is_paused and not state.is_working):
            self._timer.start()


def look(root: Path, started: list[subprocess.Popen[bytes]]) -> QueueState:
    """Return what is in the queue; start a process where there is work that nobody does. Raises: UserError.

    Args: started: the processes that this window has started; those that have ended are taken out.
    """
    jobs = tuple(queue.jobs_in(root))
    started[:] = [process for process in started if process.poll() is None]
    if any(job.is_open for job in jobs) and not started and queue.needs_worker(root):
        started.append(queue.start_worker(root))
    state = QueueState(jobs, queue.is_working(root) or bool(started), queue.is_paused(root))
    if state.running is not None and queue.waits_its_turn(root):
        return replace(state, waits=True)
    if state.running is not None and (root / state.running.run).is_dir():
        info = run_info(root / state.running.run)
        state = replace(state, step=info.step, num_steps=info.num_steps)
    return state


def _done(what: Callable[[], object]) -> bool:
    what()
    return True


def queue_words(state: QueueState) -> str:
    """Return what the queue does, in one line."""
    waiting = words.counted(
        state.num_waiting, translate("runs", "1 run waits"), translate("runs", "{count} runs wait")
    )
    job = state.running
    if state.is_paused and state.is_working:
        return translate("runs", "The queue stops; the run under way is being saved")
    if state.is_paused:
        return PART.join([translate("runs", "The queue is stopped"), waiting])
    if job is None or not state.is_working:
        return PART.join([translate("runs", "The queue begins"), waiting])
    if state.waits:
        return PART.join([translate("runs", "The queue waits until another training has ended"), waiting])
    template = translate("runs", "In the queue: {name}, seed {seed}")
    parts = [template.format(name=job.name, seed=job.values.get("seed", ""))]
    if state.num_steps:
        template = translate("runs", "step {step} of {total}")
        parts.append(template.format(step=words.number(state.step), total=words.number(state.num_steps)))
    return PART.join([*parts, *([waiting] if state.num_waiting else [])])
