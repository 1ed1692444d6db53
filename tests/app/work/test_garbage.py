"""Reference cycles are taken apart on the window's thread, whoever allocates."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from app.work.garbage import GarbageCollector, put_off
from app.work.job import Job
from engine.events import Beat, Event


class Knot:
    """Something of Qt that only a collection finds."""

    def __init__(self, ended_on: list[str]) -> None:
        self.me, self.thing, self._ended_on = self, QObject(), ended_on

    def __del__(self) -> None:
        self._ended_on.append(threading.current_thread().name)


def allocating(held: list[list[int]]) -> Iterator[Event]:
    """Make so much that Python itself would collect many times."""
    for _ in range(40):
        held.extend([one] for one in range(5_000))
        yield Beat()


@pytest.fixture
def collector() -> Iterator[GarbageCollector]:
    gc.enable()  # as Python begins
    made = GarbageCollector()
    yield made
    made.deleteLater()


def test_what_a_worker_would_have_found_is_taken_apart_by_the_window(
    collector: GarbageCollector, qtbot: QtBot
) -> None:
    ended_on: list[str] = []
    Knot(ended_on)
    held: list[list[int]] = []
    job = Job(lambda: allocating(held))
    job.start()
    assert job.wait(60)
    qtbot.waitUntil(lambda: bool(ended_on))
    assert held and ended_on == [threading.main_thread().name]


def test_nothing_is_collected_while_it_is_put_off(collector: GarbageCollector) -> None:
    ended_on: list[str] = []
    with put_off():
        Knot(ended_on)
        held = [[one] for one in range(5_000)]
        collector.collect()
        assert ended_on == []
    assert held and not gc.isenabled()


def test_python_collects_again_once_there_is_no_window(qtbot: QtBot) -> None:
    collector = GarbageCollector()
    assert not gc.isenabled()
    collector.deleteLater()
    qtbot.waitUntil(gc.isenabled)
