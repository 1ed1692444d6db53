"""A run that trains in another process is asked to pause, to go on and to stop by a file in its folder."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from engine.errors import RunError
from engine.events import Beat, Event, Progress
from engine.train.run import wanted as subject
from engine.train.run.runs import CONFIG
from engine.train.run.wanted import GO, PAUSE, STOP, WANTED, obeying, want, wanted


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(subject, "LOOK_S", 0.0)
    (tmp_path / CONFIG).touch()
    return tmp_path


def test_a_pause_asks_for_no_further_event_until_it_goes_on(run_dir: Path) -> None:
    task = obeying(_task([]), run_dir)
    assert _done(next(task)) == 0
    want(run_dir, PAUSE)
    assert [type(next(task)) for _ in range(5)] == [Beat] * 5
    want(run_dir, GO)
    assert _done(next(task)) == 1
    task.close()


def test_to_stop_closes_the_task_which_saves(run_dir: Path) -> None:
    closed = list[str]()
    task = obeying(_task(closed), run_dir)
    next(task)
    want(run_dir, STOP)
    assert list(task) == [] and closed == ["saved"] and not (run_dir / WANTED).exists()


def test_it_can_be_stopped_while_it_is_paused(run_dir: Path) -> None:
    task = obeying(_task([]), run_dir)
    next(task)
    want(run_dir, PAUSE)
    next(task)
    want(run_dir, STOP)
    assert list(task) == []


def test_what_was_wanted_of_an_earlier_process_is_forgotten(run_dir: Path) -> None:
    want(run_dir, STOP)
    assert len(list(obeying(_task([]), run_dir))) == 9


def test_a_pause_that_others_wait_for_becomes_a_stop(run_dir: Path) -> None:
    closed = list[str]()
    task = obeying(_task(closed), run_dir, most_pause_s=0.0)
    next(task)
    want(run_dir, PAUSE)
    assert list(task) == [] and closed == ["saved"]
    assert math.isinf(obeying.__defaults__[0])  # type: ignore[index]


def test_a_file_that_says_something_else_says_nothing(run_dir: Path) -> None:
    (run_dir / WANTED).write_text("rm")
    assert wanted(run_dir) == ""
    (run_dir / WANTED).write_text("stop" * 100)
    assert wanted(run_dir) == ""
    with pytest.raises(RunError, match="is not a run folder"):
        want(run_dir / "other", STOP)


def _task(closed: list[str]) -> Iterator[Event]:
    def steps() -> Generator[Event, None, None]:
        try:
            for number in range(9):
                yield Progress(stage="Training", done=number, total=9)
        finally:
            closed.append("saved")

    return steps()


def _done(event: Event) -> int:
    assert isinstance(event, Progress)
    return event.done
