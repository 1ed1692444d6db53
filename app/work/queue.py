"""The queue of runs as the window knows it: looked at while there is work in it, kept at work by a process.

The process is not the window's: it goes on when the window is closed. A window that finds work that nobody
does, though nobody has stopped it, starts a process for it; not for work that was not put into the queue on
this computer, and not again where the process ended and said why: then it waits for a person.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app import words
from app.look.labels import PART
from app.words import translate
from app.work.worker import Channel, Worker
from engine.runs import queue
from engine.runs.queue import QueuedConfig, QueueJob
from engine.train.run.runs import run_info

WATCH_MS = 1000


@dataclass(frozen=True, slots=True)
class QueueState:
    """What is in the queue. step, num_steps: of the run under way. waits: for a training beside the queue.

    trouble: why nobody works, though somebody should; "" where that is not so.
    """

    jobs: tuple[QueueJob, ...] = ()
    is_working: bool = False
    is_paused: bool = False
    step: int = 0
    num_steps: int = 0
    waits: bool = False
    trouble: str = ""

    @property
    def running(self) -> QueueJob | None:
        """The job that is done now."""
        return next((job for job in self.jobs if job.state == queue.RUNNING), None)

    @property
    def num_waiting(self) -> int:
        return sum(job.state == queue.WAITING and job.is_own for job in self.jobs)

    @property
    def num_foreign(self) -> int:
        """How many runs wait that were not put into the queue on this computer."""
        return sum(job.is_open and not job.is_own for job in self.jobs)

    @property
    def has_own(self) -> bool:
        """Whether there is anything to do that may be done unasked."""
        return any(job.is_open and job.is_own for job in self.jobs)

    @property
    def failed(self) -> tuple[QueueJob, ...]:
        return tuple(job for job in self.jobs if job.state == queue.FAILED)

    @property
    def is_open(self) -> bool:
        """Whether there is anything to do."""
        return any(job.is_open for job in self.jobs)


class QueueWatch(QObject):
    """Looks at the queue on a worker; puts runs into it, stops it and lets it go on."""

    changed = Signal()
    ended = Signal(object)  # Job that was open a moment ago
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

    def look(self) -> None:
        """Look at the queue; again in a moment as long as there is something to do."""
        root = self._root()
        work = partial(look, root, self._process)
        self._looking.ask(root, work, heard=self._take, refused=self.refused.emit, again=True)

    def add(
        self,
        configs: Sequence[QueuedConfig],
        name: str,
        *,
        tags: Sequence[str] = (),
        halving: bool = False,
        on: str = "",
    ) -> None:
        """Put runs at the end of the queue. Args: on: the host that trains them; "": this computer."""
        self._do(partial(queue.add, self._root(), configs, name, tags=tags, halving=halving, on=on))

    def cancel(self, number: int) -> None:
        """End a job; a run under way is stopped and kept."""
        self._do(partial(queue.cancel, self._root(), number))

    def clear(self) -> None:
        """Forget the jobs that have ended."""
        self._do(partial(queue.clear, self._root()))

    def stop(self) -> None:
        """Stop and keep the run under way, and begin no other."""
        self._do(partial(queue.pause, self._root()))

    def go_on(self) -> None:
        """Go on where it was stopped, or where its process ended."""
        self._do(partial(_go_on, self._root(), self._process))

    def accept(self) -> None:
        """Let what came from elsewhere be done, too."""
        self._do(partial(queue.accept, self._root()))

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
            was_open = {job.number for job in self.state.jobs if job.is_open}
            self.state = state
            for job in state.jobs:
                if job.number in was_open and not job.is_open:
                    self.ended.emit(job)
            self.changed.emit()
        if state.is_working or (state.has_own and not (state.is_paused or state.trouble)):
            self._timer.start()


def look(root: Path, started: list[subprocess.Popen[bytes]]) -> QueueState:
    """Return what is in the queue; start a process where there is work that nobody does. Raises: UserError.

    Args: started: the processes that this window has started; those that have ended well are taken out.
    """
    jobs = tuple(queue.jobs_in(root))
    needs = queue.needs_worker(root)
    ends = {process: process.poll() for process in started}
    has_failed = needs and any((code or 0) > 0 for code in ends.values())
    started[:] = [process for process in started if ends[process] is None or has_failed]
    if needs and not started:
        started.append(queue.start_worker(root))
    is_working = queue.is_working(root) or any(process.poll() is None for process in started)
    trouble = queue.last_words(root) if has_failed and not is_working else ""
    state = QueueState(jobs, is_working, queue.is_paused(root), trouble=trouble)
    if state.running is not None and queue.waits_its_turn(root):
        return replace(state, waits=True)
    if state.running is not None and (root / state.running.run).is_dir():
        info = run_info(root / state.running.run)
        state = replace(state, step=info.step, num_steps=info.num_steps)
    return state


def _go_on(root: Path, started: list[subprocess.Popen[bytes]]) -> None:
    """Let another process begin where the last one ended."""
    started[:] = [process for process in started if process.poll() is None]
    queue.go_on(root)


def _done(what: Callable[[], object]) -> bool:
    what()
    return True


def queue_words(state: QueueState) -> str:
    """Return what the queue does, in one line; "" where there is nothing to say of it."""
    if state.is_paused and state.is_working:
        return translate("runs", "The queue stops. The current run is being saved")
    if not state.is_open:
        return _failed_words(state.failed)
    if state.is_paused:
        return PART.join([translate("runs", "The queue is stopped"), *_waiting_words(state)])
    if not state.has_own:
        return words.counted(
            state.num_foreign,
            translate(
                "runs",
                "This queue of one run was written elsewhere, or by an older Cloze, and is not started",
            ),
            translate(
                "runs",
                "This queue of {count} runs was written elsewhere, or by an older Cloze, and is not started",
            ),
        )
    if state.trouble:
        return translate("runs", "The queue ended: {reason}").format(reason=state.trouble)
    job = state.running
    if job is None or not state.is_working:
        return PART.join([translate("runs", "The queue begins"), *_waiting_words(state)])
    if state.waits:
        said = translate("runs", "The queue waits until another training has ended")
        return PART.join([said, *_waiting_words(state)])
    template = translate("runs", "In the queue: {name}, seed {seed}")
    parts = [template.format(name=job.name, seed=job.seed)]
    if job.on:
        parts.append(translate("runs", "on {host}").format(host=job.on))
    if state.num_steps:
        template = translate("runs", "step {step} of {total}")
        parts.append(template.format(step=words.number(state.step), total=words.number(state.num_steps)))
    return PART.join([*parts, *_waiting_words(state)])


def _waiting_words(state: QueueState) -> list[str]:
    """Return what waits: this computer's own, and what came from elsewhere."""
    own, foreign = state.num_waiting, state.num_foreign
    said = [words.counted(own, translate("runs", "1 run waits"), translate("runs", "{count} runs wait"))]
    one = translate("runs", "1 run from elsewhere has not been started")
    many = translate("runs", "{count} runs from elsewhere have not been started")
    return [*(said if own else []), *([words.counted(foreign, one, many)] if foreign else [])]


def _failed_words(failed: Sequence[QueueJob]) -> str:
    """Return what was not done of a queue in which nothing waits any more."""
    if len(failed) == 1:
        return translate("runs", "1 run of the queue failed: {reason}").format(reason=failed[0].why)
    return translate("runs", "{count} runs of the queue failed").format(count=len(failed)) if failed else ""
