"""A run of another process is heard as it goes: each line once, whole ones only, anew when it was cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.events import Finished, Started, Step
from engine.runs import follow as subject
from engine.runs.follow import news
from engine.train.run.lock import locked
from engine.train.run.runs import LOCK, METRICS
from tests.engine.made_runs import made_run


def test_each_line_is_heard_once_and_a_line_that_is_not_whole_later(tmp_path: Path) -> None:
    path = made_run(tmp_path, "films", steps=3, state="running")
    text = (path / METRICS).read_bytes()
    cut = text.rindex(b'"loss"')
    (path / METRICS).write_bytes(text[:cut])
    with locked(path / LOCK):
        first = news(path, 0)
        assert [type(event) for event in first.events] == [Started, Step, Step] and first.state == "running"
        (path / METRICS).write_bytes(text)
        second = news(path, first.offset)
        assert [event.step for event in second.events if isinstance(event, Step)] == [3]
        assert news(path, second.offset).events == ()
    assert news(path, second.offset).state == "crashed"


def test_a_run_that_is_gone_on_with_is_heard_from_its_beginning(tmp_path: Path) -> None:
    path = made_run(tmp_path, "films", steps=3)
    text = (path / METRICS).read_bytes()
    heard = news(path, 0)
    assert isinstance(heard.events[-1], Finished) and heard.state == "finished" and not heard.is_anew
    (path / METRICS).write_bytes(text[: text.index(b'"step": 2') - 20])
    again = news(path, heard.offset)
    assert again.is_anew and isinstance(again.events[0], Started)


def test_a_long_run_comes_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made_run(tmp_path, "films", steps=50)
    monkeypatch.setattr(subject, "BLOCK", 3000)
    events, offset, more = list[object](), 0, True
    while more:
        heard = news(path, offset)
        events, offset, more = [*events, *heard.events], heard.offset, heard.has_more
    assert len([event for event in events if isinstance(event, Step)]) == 50


def test_a_folder_without_its_file_says_nothing(tmp_path: Path) -> None:
    assert news(tmp_path, 7).events == () and news(tmp_path, 7).offset == 7
