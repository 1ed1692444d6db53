"""The contract between a task and the window: pause, stop, three signals, nothing left behind."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QLabel

from app.work import job as job_module
from app.work.job import Job
from engine.errors import DataError
from engine.events import Beat, Event, Finished, Progress


class Ear:
    """Writes down what a job says, in order, and on which thread."""

    def __init__(self, job: Job) -> None:
        self.said: list[str] = []
        self.events: list[Event] = []
        self.sizes: list[int] = []
        self.errors: list[BaseException] = []
        self.threads: set[int] = set()
        self.alive_at_end = True
        self._job = job
        job.heard.connect(self.heard)
        job.failed.connect(self.failed)
        job.ended.connect(self.ended)

    def heard(self, events: list[Event]) -> None:
        self.said.append("heard")
        self.sizes.append(len(events))
        self.events += events
        self.threads.add(threading.get_ident())

    def failed(self, error: BaseException) -> None:
        self.said.append("failed")
        self.errors.append(error)

    def ended(self) -> None:
        self.said.append("ended")
        self.alive_at_end = any(thread.name == "job" for thread in threading.enumerate())


def count(number: int, seconds: float = 0.0, closed: list[str] | None = None) -> Iterator[Event]:
    try:
        for done in range(number):
            time.sleep(seconds)
            yield Progress(stage="Reading", done=done, total=number)
        yield Finished(path=None, seconds=0.0)
    except GeneratorExit:
        if closed is not None:
            closed.append(threading.current_thread().name)
        raise


def run(task, timeout_s: float = 10) -> tuple[Job, Ear]:
    job = Job(task)
    ear = Ear(job)
    job.start()
    assert job.wait(timeout_s)
    return job, ear


@pytest.mark.slow
def test_all_events_arrive_in_order_on_the_windows_thread() -> None:
    job, ear = run(count(12_345))
    assert [event.done for event in ear.events[:-1]] == list(range(12_345))
    assert isinstance(ear.events[-1], Finished)
    assert max(ear.sizes) <= 5_000
    assert ear.threads == {threading.get_ident()}
    assert job.outcome == "finished" and job.state == "ended"


def test_beats_are_for_pausing_and_are_not_heard() -> None:
    def task() -> Iterator[Event]:
        yield Beat()
        yield Finished(path=None, seconds=0.0)

    _job, ear = run(task)
    assert [type(event) for event in ear.events] == [Finished]


def test_ended_comes_once_last_and_after_the_thread() -> None:
    _job, ear = run(count(3))
    assert ear.said.count("ended") == 1 and ear.said[-1] == "ended"
    assert not ear.alive_at_end


def test_a_task_works_on_another_thread() -> None:
    seen: list[int] = []

    def task() -> Iterator[Event]:
        seen.append(threading.get_ident())
        yield Finished(path=None, seconds=0.0)

    run(task)
    assert seen and seen[0] != threading.get_ident()


def test_stop_closes_the_task_where_it_works() -> None:
    closed: list[str] = []
    job = Job(count(10**6, 0.001, closed))
    ear = Ear(job)
    job.heard.connect(job.stop)
    job.start()
    assert job.wait(10)
    assert closed == ["job"]
    assert job.outcome == "stopped" and job.error is None
    assert not any(isinstance(event, Finished) for event in ear.events)


@pytest.mark.slow
def test_a_pause_asks_for_nothing_and_resume_goes_on(qtbot) -> None:
    job = Job(count(200, 0.001))
    ear = Ear(job)
    states: list[str] = []
    job.state_changed.connect(states.append)
    job.start()
    qtbot.waitUntil(lambda: len(ear.events) > 5)
    job.pause()
    qtbot.wait(120)
    so_far = len(ear.events)
    qtbot.wait(120)
    assert len(ear.events) == so_far < 200 and job.is_paused
    job.resume()
    assert job.wait(10)
    assert len(ear.events) == 201
    assert states == ["running", "paused", "running", "ended"]


def test_a_paused_task_can_be_stopped(qtbot) -> None:
    closed: list[str] = []
    job = Job(count(10**6, 0.001, closed))
    job.start()
    qtbot.wait(60)
    job.pause()
    qtbot.wait(60)
    job.stop()
    assert job.wait(10)
    assert closed == ["job"] and job.outcome == "stopped"


def test_a_job_that_never_started_can_be_stopped() -> None:
    job = Job(count(5))
    ear = Ear(job)
    job.stop()
    assert job.wait(10)
    assert ear.said == ["ended"]


class Gone(BaseException):
    pass


@pytest.mark.parametrize(
    "error",
    [DataError("Line 7 is bad."), ValueError("x"), MemoryError(), SystemExit(3), KeyboardInterrupt(), Gone()],
)
def test_whatever_a_task_raises_is_delivered(error: BaseException) -> None:
    def task() -> Iterator[Event]:
        yield Progress(stage="Reading", done=0, total=0)
        raise error

    job, ear = run(task)
    assert ear.errors == [error] and ear.errors[0].__traceback__ is not None
    assert ear.said[-2:] == ["failed", "ended"]
    assert job.outcome == "failed"


def test_a_failure_while_saving_at_stop_is_delivered(qtbot) -> None:
    def task() -> Iterator[Event]:
        try:
            while True:
                time.sleep(0.001)
                yield Progress(stage="Reading", done=0, total=0)
        except GeneratorExit:
            raise DataError("The disk is full.") from None

    job = Job(task)
    ear = Ear(job)
    job.start()
    qtbot.wait(60)
    job.stop()
    assert job.wait(10)
    assert [str(error) for error in ear.errors] == ["The disk is full."]


def test_a_task_that_cannot_be_made_fails_and_ends() -> None:
    def task() -> Iterator[Event]:
        raise DataError("There is no such file.")

    _job, ear = run(task)
    assert ear.said == ["failed", "ended"]


@pytest.mark.slow
def test_a_flood_waits_instead_of_filling_the_memory(qtbot, monkeypatch) -> None:
    monkeypatch.setattr(job_module, "MOST_WAITING", 100)
    made: list[int] = []

    def task() -> Iterator[Event]:
        for done in range(5_000):
            made.append(done)
            yield Progress(stage="Reading", done=done, total=0)

    job = Job(task)
    ear = Ear(job)
    job.start()
    time.sleep(0.2)  # the window does not listen
    assert len(made) <= 101
    assert job.wait(20)
    assert len(ear.events) == 5_000


@pytest.mark.slow
def test_the_window_stays_awake_while_python_works(qtbot) -> None:
    from PySide6.QtCore import Qt, QTimer

    gaps: list[float] = []
    last = time.perf_counter()

    def tick() -> None:
        nonlocal last
        gaps.append(time.perf_counter() - last)
        last = time.perf_counter()

    def task() -> Iterator[Event]:
        for done in range(40):
            sum(range(200_000))  # about 5 ms that hold the GIL
            yield Progress(stage="Reading", done=done, total=40)

    before, callbacks = sys.getswitchinterval(), gc.callbacks.copy()
    job_module.prepare_process()
    timer = QTimer(interval=5, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start()
    try:
        run(task)
    finally:
        timer.stop()
        sys.setswitchinterval(before)
        gc.callbacks[:] = callbacks
    assert gaps and sorted(gaps)[len(gaps) // 2] < 0.033


def test_qt_loses_no_reference_to_none() -> None:
    class Sender(QObject):
        said = Signal(str)

    sender, label = Sender(), QLabel()
    sender.said.connect(label.setText)
    before = sys.getrefcount(None), sys.getrefcount(True)
    for i in range(2_000):
        sender.said.emit(str(i))
        label.setText("x")
        label.setEnabled(True)
    after = sys.getrefcount(None), sys.getrefcount(True)
    label.deleteLater()
    assert all(abs(now - then) < 200 for now, then in zip(after, before, strict=True)), (before, after)
