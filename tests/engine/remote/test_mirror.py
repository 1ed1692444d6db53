"""What is there is here, byte for byte, wherever the line breaks; nothing that a host says is believed."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import RunError, Sentence, UserError
from engine.events import Beat, Event, Finished, Noted, Step, result_of
from engine.remote import mirror as subject
from engine.remote.agent import Agent, is_fetched
from engine.remote.connection import Lost
from engine.remote.contact import Contact
from engine.remote.mirror import Mirror
from engine.remote.record import RemoteRun
from engine.train.run.runs import METRICS, read_config, read_status
from tests.engine.made_runs import made_run

KEY = "0123456789abcdef"


class Line:
    """A line that ends after so many bytes; none: never. answers: what is said instead of what is true."""

    def __init__(self, agent: Agent, left: int | None = None) -> None:
        self.agent, self.left, self.asked = agent, left, list[str]()
        self.answers: dict[str, Any] = {}

    def ask(self, do: str, *, most_wait_s: float = 0.0, **more: Any) -> Iterator[Any]:
        yield Beat()
        self.asked.append(do)
        if do in self.answers:
            return self.answers[do]
        frame, data = self.agent.answer({"do": do, **more}, 0)
        if self.left is not None:
            self.left -= len(data) + len(json.dumps(frame))
            if self.left < 0:
                raise Lost(Sentence("broken"))
        if "refused" in frame:
            raise UserError(frame["refused"])
        return frame, data


class Pair:
    """A run there, and a folder here. line: a new one each time."""

    def __init__(self, folder: Path, **how: Any) -> None:
        home = folder / "there" / "runs" / KEY
        self.there = made_run(home, "run", **how)
        (home / "job.json").write_text(json.dumps({"name": self.there.name, "kind": "finetune"}))
        self.agent = Agent(folder / "there", io.BytesIO())
        self.here = folder / "here"
        self.here.mkdir()
        self.mirror = Mirror(
            self.here, RemoteRun(host="there", key=KEY, name=self.there.name, kind="finetune")
        )

    def line(self, left: int | None = None) -> Any:
        return Line(self.agent, left)

    def catch_up(self, line: Any = None, *, whole: bool = True) -> list[Event]:
        size = (self.there / METRICS).stat().st_size
        list(self.mirror.catch_up(line or self.line(), size, whole=whole))
        return list(self.mirror.news())

    @property
    def is_same(self) -> bool:
        return (self.there / METRICS).read_bytes() == (self.here / METRICS).read_bytes()


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path, steps=20)


def test_the_line_may_break_at_every_byte(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "BLOCK", 700)
    monkeypatch.setattr(subject, "OVERLAP", 64)
    told, breaks, left = list[Event](), 0, 0
    while not (pair.here / METRICS).exists() or not pair.is_same:
        left += 1  # a byte more than the last time
        try:
            told += pair.catch_up(pair.line(left))
        except Lost:
            breaks += 1
            told += list(pair.mirror.news())
    assert breaks > 700
    assert [event.step for event in told if isinstance(event, Step)] == list(range(1, 21))


def test_what_is_new_comes_alone(pair: Pair) -> None:
    pair.catch_up()
    with (pair.there / METRICS).open("ab") as file:
        file.write(b'{"event": "noted", "sentence": {"template": "New.", "values": {}}}\n{"event": ')
    line = pair.line()
    told = pair.catch_up(line, whole=False)
    assert [str(event.sentence) for event in told if isinstance(event, Noted)] == ["New."] and len(told) == 1
    assert pair.is_same and line.asked == ["read"]


@pytest.mark.parametrize("regrown", [0, 1, 2000])
@pytest.mark.parametrize("whole", [False, True])
def test_a_run_that_goes_on_from_its_checkpoint_is_cut_back_here_too(
    pair: Pair, regrown: int, whole: bool
) -> None:
    """Whether its file is shorter then, as long, or longer than before."""
    pair.catch_up()
    text = (pair.there / METRICS).read_bytes()
    cut = text.index(b'{"event": "step", "step": 13')
    other = text[cut:].replace(b'"loss": 0', b'"loss": 1') + b"x" * regrown
    (pair.there / METRICS).write_bytes(text[:cut] + other[: len(other) if regrown else 300])
    told = pair.catch_up(whole=whole)
    assert pair.is_same
    steps = [event.step for event in told if isinstance(event, Step)]
    assert steps[0] == 13 and 12 not in steps  # what was told before is not told again


def test_bytes_that_were_changed_here_or_there_are_found_out(pair: Pair) -> None:
    pair.catch_up()
    text = (pair.here / METRICS).read_bytes()
    (pair.here / METRICS).write_bytes(text[:500] + b"?" + text[501:])
    pair.catch_up()
    assert pair.is_same
    (pair.here / METRICS).write_bytes(text + b"more than there is")
    pair.catch_up(whole=False)
    assert pair.is_same


def test_paths_are_those_of_here(pair: Pair) -> None:
    line = json.dumps({"event": "finished", "path": f"{pair.there}/model", "seconds": 1.0})
    (pair.there / METRICS).write_text(line + "\n")
    (finished,) = pair.catch_up()
    assert isinstance(finished, Finished) and finished.path == pair.here / "model"
    evil = json.dumps({"event": "finished", "path": "/etc/passwd", "seconds": 1.0})
    (pair.there / METRICS).write_text(evil + "\n")
    (finished,) = pair.catch_up()
    assert isinstance(finished, Finished) and finished.path == pair.here


def test_settings_are_those_that_the_run_has_settled_with_the_places_of_here(pair: Pair) -> None:
    settled = (pair.there / "config.toml").read_text()
    (pair.here / "config.toml").write_text(settled.replace("films.csv", "mine.csv"))
    (pair.there / "config.toml").write_text(settled.replace("batch_size = 32", "batch_size = 7"))
    list(pair.mirror.take_config(pair.line()))
    mine = read_config(pair.here)
    assert mine.training.batch_size == 7 and mine.data.data.endswith("mine.csv")  # type: ignore[union-attr]


def test_a_status_that_is_damaged_is_left_out(pair: Pair) -> None:
    list(pair.mirror.take_status(pair.line()))
    good = read_status(pair.here)
    assert good == read_status(pair.there) and good
    (pair.there / "status.json").write_text("[" * 10_000)
    list(pair.mirror.take_status(pair.line()))
    assert read_status(pair.here) == good


def test_what_is_fetched_is_as_it_is_there_wherever_it_breaks(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "BLOCK", 1000)
    for name, size in (
        ("model/model.safetensors", 7777),
        ("model/1_Pooling/config.json", 11),
        ("setup/a.json", 0),
    ):
        (pair.there / name).parent.mkdir(parents=True, exist_ok=True)
        (pair.there / name).write_bytes(bytes(number % 251 for number in range(size)))
    (pair.there / "model" / "evil.sh").write_text("rm -rf /")
    (pair.there / "model" / "link.json").symlink_to("/etc/passwd")
    (pair.here / "model").mkdir()
    (pair.here / "model" / "old.json").write_text("{}")
    for left in range(0, 12_000, 137):
        try:
            list(pair.mirror.fetch(pair.line(left)))
            break
        except Lost:
            assert [path.name for path in (pair.here / "model").iterdir()] == [
                "old.json"
            ]  # whole, or as before
    found = {path.relative_to(pair.here).as_posix() for path in pair.here.rglob("*") if path.is_file()}
    assert found >= {"model/model.safetensors", "model/1_Pooling/config.json", "setup/a.json"}
    assert not found & {"model/old.json", "model/evil.sh", "model/link.json"}
    for name in found:
        assert (pair.here / name).read_bytes() == (pair.there / name).read_bytes()


def test_a_file_that_changes_while_it_is_fetched_is_fetched_anew(pair: Pair) -> None:
    (pair.there / "model").mkdir(exist_ok=True)
    (pair.there / "model" / "a.json").write_text("22222")
    beside = pair.here / "fetching" / "model"
    beside.mkdir(parents=True)
    (beside / "a.json").write_text("11")  # of an earlier one
    list(pair.mirror.fetch(pair.line()))
    assert (pair.here / "model" / "a.json").read_text() == "22222"


OUTSIDE = (
    "../model/a.json model/../../a.json /etc/a.json model/a.sh model/.a.json other/a.json model model//a.json"
)
ODD = "model/a\x00.json model/nul.json model/a/b/c/d.json config.toml remote.json"


@pytest.mark.parametrize("name", [*OUTSIDE.split(" "), *ODD.split(" ")])
def test_a_name_that_no_run_has_is_not_fetched(pair: Pair, name: str) -> None:
    assert not is_fetched(name)
    line = pair.line()
    line.answers["list"] = ({"files": [[name, 3, 0]]}, b"")
    list(pair.mirror.fetch(line))
    assert "read" not in line.asked and not list(pair.here.glob("*"))


def test_a_host_cannot_fill_the_disk(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    line = pair.line()
    line.answers["list"] = ({"files": [["model/a.json", 2**41, 0]]}, b"")
    with pytest.raises(UserError, match="The disk has too little room"):
        list(pair.mirror.fetch(line))
    line.answers["list"] = ({"files": [["model/a.json", 1, 0], ["model/A.json", 1, 0]]}, b"")
    with pytest.raises(UserError, match="cannot be those of a run"):
        list(pair.mirror.fetch(line))
    with pytest.raises(RunError, match="larger on there than such a file can be"):
        list(pair.mirror.catch_up(line, 2**40, whole=False))
    line.answers = {"read": ({}, b"x" * 5000), "digest": ({"length": 10, "sha256": "?"}, b"")}
    (pair.there / "model").mkdir(exist_ok=True)
    (pair.there / "model" / "a.json").write_text("12")
    with pytest.raises(UserError, match="changes on there while it is downloaded"):
        list(pair.mirror.fetch(line))


def test_what_has_gone_there_since_it_was_seen_is_no_fault(pair: Pair) -> None:
    seen = (pair.there / METRICS).stat().st_size
    (pair.here / "status.json").write_text("{}")
    for name in ("metrics.jsonl", "status.json", "config.toml"):
        (pair.there / name).unlink()
    list(pair.mirror.catch_up(pair.line(), seen, whole=True))
    list(pair.mirror.take_status(pair.line()))
    assert not result_of(pair.mirror.take_config(pair.line()))
    assert {path.name: path.read_text() for path in pair.here.iterdir()} == {
        "metrics.jsonl": "",
        "status.json": "{}",
    }


def test_an_agent_reads_nothing_but_a_run(pair: Pair) -> None:
    for name in ("../job.json", "/etc/passwd", "setup/../../job.json", "lock"):
        frame, data = pair.agent.answer({"do": "read", "key": KEY, "name": name, "offset": 0, "most": 10}, 0)
        assert "is no file of a run" in frame["refused"] and data == b""
    frame, _ = pair.agent.answer({"do": "look", "key": "../../x", "known": {}, "wait_s": 0}, 0)
    assert "is no key of a run" in frame["refused"]
    assert result_of(pair.line().ask("look", key=KEY, known={}, wait_s=0))[0]["state"] == "finished"


def test_since_when_a_host_is_not_heard_has_its_day_where_that_is_another() -> None:
    lost = Contact(host="there", is_connected=False, since=200_000.0, state="running")
    assert "since 1970-01-0" in str(lost.said()) and lost.said().template.endswith("it continues there.")
    now = replace(lost, since=time.time())
    assert re.search(r"since \d\d:\d\d;", str(now.said()))
