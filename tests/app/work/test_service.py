"""The worker of the looking-inside pages: newest wins, nobody waits behind a long task, nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.work.service import Service
from app.work.tables import Answer
from engine.errors import UserError
from engine.events import Event, Progress


@pytest.fixture
def service(qtbot: QtBot) -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


def saying(*values: Any, before: Callable[[], object] = lambda: None) -> Callable[[], Iterator[Event]]:
    def task() -> Iterator[Event]:
        before()
        for value in values:
            yield Answer(value=value)

    return task


def test_an_answer_comes_on_the_window_thread_and_the_worker_is_another(
    qtbot: QtBot, service: Service
) -> None:
    heard: list[tuple[Any, str]] = []
    worker: list[str] = []
    service.ask(
        "a",
        saying(7, before=lambda: worker.append(threading.current_thread().name)),
        heard=lambda value: heard.append((value, threading.current_thread().name)),
    )
    qtbot.waitUntil(lambda: service.is_idle)
    assert heard == [(7, threading.current_thread().name)]
    assert worker == ["service"]


def test_the_newest_question_of_a_key_wins_and_the_older_one_only_ends(
    qtbot: QtBot, service: Service
) -> None:
    gate, heard, ended = threading.Event(), [], []
    for number in (1, 2, 3):
        service.ask(
            "a",
            saying(number, before=gate.wait),
            heard=heard.append,
            ended=lambda n=number: ended.append(n),  # type: ignore[misc]
        )
    gate.set()
    qtbot.waitUntil(lambda: service.is_idle)
    assert heard == [3]
    assert sorted(ended) == [1, 2, 3]


def test_a_long_task_gives_way_to_a_newer_question_and_goes_on_after_it(
    qtbot: QtBot, service: Service
) -> None:
    asked, order = threading.Event(), []

    def long() -> Iterator[Event]:
        for number in range(3):
            order.append(number)
            yield Progress(stage="", done=number, total=3)
            asked.wait()
        yield Answer(value="long")

    heard: list[Any] = []
    service.ask("table", long, heard=heard.append)
    service.ask("click", saying("quick", before=lambda: order.append("quick")), heard=heard.append)
    asked.set()
    qtbot.waitUntil(lambda: service.is_idle)
    assert heard == ["quick", "long"]
    assert order.index("quick") < order.index(2)


def test_a_task_that_is_dropped_is_closed_at_its_yield(qtbot: QtBot, service: Service) -> None:
    closed, begun = threading.Event(), threading.Event()

    def endless() -> Iterator[Event]:
        try:
            while True:
                begun.set()
                yield Progress(stage="", done=0, total=0)
        finally:
            closed.set()

    service.ask("a", endless)
    qtbot.waitUntil(begun.is_set)
    service.drop("a")
    qtbot.waitUntil(lambda: service.is_idle)
    assert closed.is_set()


def test_what_a_task_raises_is_told_to_who_asked_or_else_to_all(qtbot: QtBot, service: Service) -> None:
    def failing() -> Iterator[Event]:
        yield Progress(stage="", done=0, total=0)
        raise UserError("no")

    failed: list[BaseException] = []
    service.ask("a", failing, failed=failed.append)
    qtbot.waitUntil(lambda: service.is_idle)
    assert [str(error) for error in failed] == ["no"]
    with qtbot.waitSignal(service.problem):
        service.ask("a", failing)
    qtbot.waitUntil(lambda: service.is_idle)


def test_a_failure_does_not_end_the_worker(qtbot: QtBot, service: Service) -> None:
    def failing() -> Iterator[Event]:
        raise SystemExit(1)
        yield

    heard: list[Any] = []
    service.ask("a", failing, failed=lambda error: None)
    service.ask("b", saying(1), heard=heard.append)
    qtbot.waitUntil(lambda: service.is_idle)
    assert heard == [1]
