"""Asking in the background: the newest wins, nobody waits behind a long task, nobody gone is called."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.work.worker import Channel, Worker
from engine.errors import UserError
from engine.events import AnswerSoFar, Event, Noted, Progress


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


@pytest.fixture
def owner(worker: Worker) -> QObject:
    return QObject(worker)


@pytest.fixture
def channel(owner: QObject, worker: Worker) -> Channel:
    return Channel(owner, worker)


def progress(number: int) -> Progress:
    return Progress(stage="", done=number, total=3)


def returning(value: Any, before: Callable[[], object] = lambda: None) -> Callable[[], Any]:
    def work() -> Any:
        before()
        return value

    return work


def raising(error: BaseException) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


def idle(qtbot: QtBot, worker: Worker) -> None:
    qtbot.waitUntil(lambda: worker.is_idle)


def test_the_work_is_done_on_the_lasting_thread_and_heard_on_the_windows(
    qtbot: QtBot, worker: Worker, channel: Channel
) -> None:
    heard: list[tuple[str, int | None]] = []
    for about in range(2):
        channel.ask(
            about,
            lambda: threading.current_thread().name,
            heard=lambda name: heard.append((name, threading.current_thread().ident)),
        )
        assert channel.is_asking
        idle(qtbot, worker)
    assert heard == 2 * [("worker", threading.current_thread().ident)]
    assert not channel.is_asking


def test_of_work_with_steps_each_answer_and_what_it_returns_is_heard(
    qtbot: QtBot, worker: Worker, channel: Channel
) -> None:
    def work() -> Any:
        yield AnswerSoFar(value=1)
        yield Noted(sentence=UserError("noted").sentence)
        yield AnswerSoFar(value=2)
        return 3

    heard: list[int] = []
    told: list[Event] = []
    channel.ask("a", work, heard=heard.append, progress=told.append)
    idle(qtbot, worker)
    assert heard == [1, 2, 3] and [type(event) for event in told] == [Noted]


def test_only_the_newest_question_is_heard_and_the_end_comes_once(
    qtbot: QtBot, worker: Worker, channel: Channel
) -> None:
    gate, heard, ended = threading.Event(), [], []
    for number in (1, 2, 3):
        channel.ask(
            number,
            returning(number, before=gate.wait),
            heard=heard.append,
            ended=lambda n=number: ended.append(n),  # type: ignore[misc]
        )
    gate.set()
    idle(qtbot, worker)
    assert heard == [3] and ended == [3]


def test_the_same_question_is_not_asked_twice_unless_it_was_dropped_or_refused_or_is_asked_again(
    qtbot: QtBot, worker: Worker, channel: Channel
) -> None:
    heard: list[int] = []
    assert channel.ask(("a", 1), returning(1), heard=heard.append)
    assert not channel.ask(("a", 1), returning(2), heard=heard.append)  # under way
    idle(qtbot, worker)
    assert not channel.ask(("a", 1), returning(3), heard=heard.append)  # answered
    channel.drop()
    assert channel.ask(("a", 1), returning(4), heard=heard.append)
    idle(qtbot, worker)
    assert heard == [1, 4]
    assert channel.ask(("a", 1), returning(5), heard=heard.append, again=True)
    idle(qtbot, worker)
    assert heard == [1, 4, 5]
    refused: list[BaseException] = []
    for _ in range(2):
        assert channel.ask("b", raising(UserError("no")), heard=heard.append, refused=refused.append)
        idle(qtbot, worker)
    assert len(refused) == 2 and heard == [1, 4, 5]


def test_a_long_task_gives_way_to_a_newer_question_and_goes_on_after_it(
    qtbot: QtBot, worker: Worker, owner: QObject
) -> None:
    asked, order = threading.Event(), []

    def long() -> Iterator[Event]:
        for number in range(3):
            order.append(number)
            yield progress(number)
            asked.wait()
        yield AnswerSoFar(value="long")

    heard: list[Any] = []
    Channel(owner, worker).ask("table", long, heard=heard.append)
    quick = returning("quick", before=lambda: order.append("quick"))
    Channel(owner, worker).ask("click", quick, heard=heard.append)
    asked.set()
    idle(qtbot, worker)
    assert heard == ["quick", "long"]
    assert order.index("quick") < order.index(2)


def test_what_is_dropped_is_closed_at_its_step_though_newer_work_goes_on(
    qtbot: QtBot, worker: Worker, owner: QObject, channel: Channel
) -> None:
    closed, begun, enough = threading.Event(), threading.Event(), threading.Event()

    def endless(at: threading.Event, until: Callable[[], bool]) -> Iterator[Event]:
        try:
            while not until():
                at.set()
                yield progress(0)
        finally:
            if at is begun:
                closed.set()

    ended: list[str] = []
    channel.ask(
        "a",
        lambda: endless(begun, lambda: False),
        heard=lambda _: None,
        ended=lambda: ended.append("a"),
    )
    qtbot.waitUntil(begun.is_set)
    other = Channel(owner, worker)
    other.ask("b", lambda: endless(threading.Event(), enough.is_set), heard=lambda _: None)
    channel.drop()
    assert not channel.is_asking and not ended  # it has not ended yet
    qtbot.waitUntil(lambda: ended == ["a"])
    assert closed.is_set() and other.is_asking
    enough.set()
    idle(qtbot, worker)


@pytest.mark.parametrize("has_steps", [False, True])
def test_nobody_is_called_once_the_owner_is_gone(
    qtbot: QtBot, worker: Worker, owner: QObject, channel: Channel, has_steps: bool
) -> None:
    begun, gate, called = threading.Event(), threading.Event(), []

    def work() -> int:
        begun.set()
        gate.wait()
        return 7

    def steps() -> Iterator[Event]:
        yield progress(1)
        yield AnswerSoFar(value=work())

    channel.ask(
        "a",
        steps if has_steps else work,
        heard=called.append,
        refused=called.append,
        progress=called.append,
        ended=lambda: called.append("ended"),
    )
    qtbot.waitUntil(begun.is_set)
    called.clear()
    delete(owner)
    gate.set()
    idle(qtbot, worker)
    assert called == []


def test_an_owner_that_a_refusal_closes_is_not_told_the_end(
    qtbot: QtBot, worker: Worker, owner: QObject, channel: Channel
) -> None:
    called: list[str] = []
    channel.ask(
        "a",
        raising(UserError("no")),
        heard=lambda _: None,
        refused=lambda _: delete(owner),
        ended=lambda: called.append("ended"),
    )
    idle(qtbot, worker)
    assert called == []


@pytest.mark.parametrize(
    ("error", "hears", "is_refusal"),
    [
        (UserError("no"), True, True),
        (MemoryError(), True, True),
        (UserError("no"), False, False),  # nobody would know of it
        (KeyError("ours"), True, False),
        (SystemExit(1), True, False),
    ],
)
def test_a_refusal_goes_to_who_asked_and_a_fault_of_ours_to_all(
    qtbot: QtBot, worker: Worker, channel: Channel, error: BaseException, hears: bool, is_refusal: bool
) -> None:
    refused: list[BaseException] = []
    problems: list[BaseException] = []
    ended: list[bool] = []
    worker.problem.connect(problems.append)
    channel.ask(
        "a",
        raising(error),
        heard=lambda _: None,
        refused=refused.append if hears else None,
        ended=lambda: ended.append(channel.is_asking),
    )
    idle(qtbot, worker)
    assert (refused, problems) == (([error], []) if is_refusal else ([], [error]))
    assert ended == [False]
    heard: list[int] = []
    channel.ask("b", returning(1), heard=heard.append)  # and the thread lives on
    idle(qtbot, worker)
    assert heard == [1]


def test_of_much_progress_only_the_newest_is_told(qtbot: QtBot, worker: Worker, channel: Channel) -> None:
    def work() -> Iterator[Event]:
        for number in range(10_000):
            yield progress(number)

    told: list[int] = []
    channel.ask("a", work, heard=lambda _: None, progress=lambda event: told.append(event.done))  # type: ignore[attr-defined]
    qtbot.wait(50)
    idle(qtbot, worker)
    assert told[-1] == 9_999 and len(told) < 5_000


def test_a_closed_worker_is_joined_and_answers_nothing_more(qtbot: QtBot, worker: Worker) -> None:
    owner, heard = QObject(worker), []
    channel = Channel(owner, worker)

    def again(value: int) -> None:
        heard.append(value)
        channel.ask(value, returning(value + 1), heard=again)

    again(0)
    qtbot.waitUntil(lambda: len(heard) > 3)
    worker.close()
    count = len(heard)
    assert not channel.ask("after", returning(1), heard=heard.append)
    assert worker.is_idle and not channel.is_asking
    qtbot.wait(20)
    assert len(heard) == count


def test_closing_waits_for_no_large_file_and_nobody_hears_of_it(
    qtbot: QtBot, worker: Worker, channel: Channel
) -> None:
    begun, gate, heard = threading.Event(), threading.Event(), []

    def read() -> int:
        begun.set()
        gate.wait()
        return 1

    channel.ask("a", read, heard=heard.append, ended=lambda: heard.append("ended"))
    qtbot.waitUntil(begun.is_set)
    worker.close(patience_s=0.01)
    assert not worker.is_idle  # which would be a lie
    gate.set()
    idle(qtbot, worker)
    assert heard == ["ended"]
