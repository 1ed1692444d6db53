"""A run on another computer is a run as any other here: same bytes, same weights, whatever is cut."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.commands.command_line import main
from engine.errors import RunError, UserError
from engine.events import Beat, Evaluated, Event, Finished, Progress, Started, Step, result_of
from engine.remote.contact import Contact
from engine.remote.hosts import HostSettings, remember
from engine.remote.record import last_contact, read_remote
from engine.remote.run import fetch, follow, look_at, pass_on, resume_there, train_there
from engine.runs.index import index_of
from engine.settings.config import values_of, with_values
from engine.settings.pretrain import PretrainConfig
from engine.train.finetune import fine_tune
from engine.train.resume import resume
from engine.train.run.mirrored import host_of, is_mirrored
from engine.train.run.runs import read_config, read_events, run_info
from engine.train.run.wanted import GO, PAUSE, STOP, want
from tests.engine.remote.loopback import HOST, Elsewhere
from tests.engine.tiny_runs import promised_metrics, reviews, tiny_config, write_table

SLOW = {"num_epochs": 100, "checkpoint_every_steps": 10}  # half a minute, of which a test takes little


@pytest.mark.slow
def test_a_run_elsewhere_is_the_run_here_to_the_last_bit(served: Elsewhere, tmp_path: Path) -> None:
    """By the real ssh through a real sshd."""
    config, alone = tiny_config(tmp_path), tmp_path / "alone" / "run"
    alone.parent.mkdir()
    list(fine_tune(config, alone))
    events = [event for event in train_there(config, tmp_path / "run", HOST) if not isinstance(event, Beat)]
    there = _there(served)
    assert (tmp_path / "run" / "metrics.jsonl").read_bytes() == (there / "metrics.jsonl").read_bytes()
    assert list(promised_metrics(tmp_path / "run")) == list(promised_metrics(alone))
    for name in ("model/model.safetensors", "setup/data.safetensors", "answers/validation.safetensors"):
        assert (tmp_path / "run" / name).read_bytes() == (alone / name).read_bytes()
    told = [event for event in events if isinstance(event, Started | Step | Evaluated)]
    assert [type(event) for event in told] == [
        type(event) for event in read_events(alone) if isinstance(event, Started | Step | Evaluated)
    ]
    finished = events[-1]
    assert isinstance(finished, Finished) and finished.path == tmp_path / "run" / "model"
    state = run_info(tmp_path / "run")
    assert (state.state, state.step) == ("finished", 18) and host_of(tmp_path / "run") == HOST
    theirs, mine = values_of(read_config(there)), values_of(read_config(tmp_path / "run"))
    assert mine["data"] == str(tmp_path / "reviews.csv") and "/store/" in theirs["data"]
    assert {**theirs, "data": "", "model": ""} == {**mine, "data": "", "model": ""}
    assert main(["evaluate", "--model", str(tmp_path / "run"), "--part", "validation"]) == 0
    with pytest.raises(RunError, match="is trained on there. Continue it there"):
        list(resume(tmp_path / "run"))
    facts = result_of(index_of(tmp_path))
    assert [one.host for one in facts if one.path == str(tmp_path / "run")] == [HOST]
    _assert_nothing_runs(served, server=True)


def test_what_was_sent_once_is_not_sent_again(elsewhere: Elsewhere, tmp_path: Path) -> None:
    config = tiny_config(tmp_path, num_epochs=1)
    sent = [_stages(train_there(config, tmp_path / name, HOST)) for name in ("first", "second")]
    assert "Sending reviews.csv" in sent[0] and "Sending model.safetensors" in sent[0]
    assert not any(stage.startswith("Sending") for stage in sent[1]) and "Checking reviews.csv" in sent[1]
    write_table(tmp_path / "reviews.csv", reviews(seed=1))
    third = _stages(train_there(config, tmp_path / "third", HOST))
    assert "Sending reviews.csv" in third and "Sending model.safetensors" not in third


def test_what_was_being_sent_goes_on_where_it_was_broken_off(elsewhere: Elsewhere, tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    with (tmp_path / "reviews.csv").open("a") as file:
        file.write("a long film,good\n" * 1_000_000)
    task = train_there(config, tmp_path / "run", HOST)
    for event in task:
        if (
            isinstance(event, Progress)
            and str(event.sentence) == "Sending reviews.csv"
            and event.done > event.total / 3
        ):
            break
    for pid, command in elsewhere.processes():
        if "remote agent" in command:
            os.kill(pid, signal.SIGKILL)
    again = [event for event in _to_state(task, "running") if isinstance(event, Progress)]
    began = next(event for event in again if str(event.sentence) == "Checking reviews.csv")
    rest = [event for event in again[again.index(began) :] if str(event.sentence) == "Sending reviews.csv"]
    assert 2**20 < rest[0].done < rest[0].total  # of seventeen megabytes
    task.close()


def test_what_ssh_refuses_is_told_in_a_sentence(served: Elsewhere, tmp_path: Path) -> None:
    """A host whose key is not known, and one that does not know ours: nothing is asked, nothing waits."""
    known = served.folder / "known_hosts"
    kept = known.read_bytes()
    known.write_bytes(b"")
    with pytest.raises(
        UserError, match="ssh does not know there yet, or its key has changed: .*by ssh there"
    ):
        result_of(look_at(HOST))
    known.write_bytes(kept)
    (served.folder / "authorized_keys").write_bytes(b"")
    with pytest.raises(UserError, match="there cannot be reached. ssh says: .*Permission denied"):
        result_of(look_at(HOST))


@pytest.mark.slow
def test_closing_detaches_and_a_run_is_watched_paused_and_stopped_later(
    elsewhere: Elsewhere, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    task = train_there(tiny_config(tmp_path, **SLOW), run_dir, HOST)
    _until(task, Step)
    task.close()
    step = run_info(run_dir).step
    assert run_info(run_dir).state == "running" and not last_contact(run_dir).is_connected  # type: ignore[union-attr]

    again = follow(run_dir)
    assert _until(again, Step).step > step  # it went on
    want(run_dir, PAUSE)
    _until_state(again, "paused")
    assert (_there(elsewhere) / "wanted").read_text() == PAUSE
    time.sleep(0.5)  # it hears of it between two steps
    length = (_there(elsewhere) / "metrics.jsonl").stat().st_size
    time.sleep(0.5)
    assert (_there(elsewhere) / "metrics.jsonl").stat().st_size == length
    want(run_dir, GO)
    _until_state(again, "running")
    _until(again, Step)
    want(run_dir, STOP)
    rest = list(again)
    assert not any(isinstance(event, Finished) for event in rest) and run_info(run_dir).state == "stopped"
    assert (run_dir / "model" / "model.safetensors").is_file() and not (run_dir / "wanted").exists()
    _assert_nothing_runs(elsewhere)
    (tmp_path / "reviews.csv").unlink()  # it goes on from its checkpoint alone
    more = resume_there(run_dir)
    assert _until(more, Step).step > step
    more.close()
    result_of(pass_on(run_dir, STOP))
    list(follow(run_dir))
    assert run_info(run_dir).state == "stopped"


@pytest.mark.slow
def test_while_it_is_not_connected_it_says_so_and_catches_up(elsewhere: Elsewhere, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    task = train_there(tiny_config(tmp_path, num_epochs=12), run_dir, HOST)
    _until(task, Step)
    elsewhere.refuse(True)
    for pid, command in elsewhere.processes():
        if "remote agent" in command:
            os.kill(pid, signal.SIGKILL)
    lost = next(event for event in task if isinstance(event, Contact) and not event.is_connected)
    assert not lost.is_connected and "it continues there" in str(lost.said()) and lost.why is not None
    kept = last_contact(run_dir)
    assert kept is not None and not kept.is_connected and abs(kept.since - time.time()) < 60
    elsewhere.refuse(False)
    rest = list(task)
    assert isinstance(rest[-1], Finished)
    assert (run_dir / "metrics.jsonl").read_bytes() == (_there(elsewhere) / "metrics.jsonl").read_bytes()


@pytest.mark.slow
def test_what_trains_may_be_killed_with_all_that_watches_it(elsewhere: Elsewhere, tmp_path: Path) -> None:
    config, run_dir = tiny_config(tmp_path, num_epochs=6), tmp_path / "run"
    (tmp_path / "alone").mkdir()
    list(fine_tune(config, tmp_path / "alone" / "run"))
    task = train_there(config, run_dir, HOST)
    _until(task, Step)
    for pid, command in elsewhere.processes():
        if "engine" in command and str(os.getpid()) != str(pid):
            os.kill(pid, signal.SIGKILL)
    rest = list(task)
    assert isinstance(rest[-1], Finished)
    assert list(promised_metrics(run_dir)) == list(promised_metrics(tmp_path / "alone" / "run"))
    model = "model/model.safetensors"
    assert (run_dir / model).read_bytes() == (tmp_path / "alone" / "run" / model).read_bytes()
    assert (run_dir / "metrics.jsonl").read_bytes() == (_there(elsewhere) / "metrics.jsonl").read_bytes()


@pytest.mark.slow
def test_why_a_run_fails_there_is_told_here(elsewhere: Elsewhere, tmp_path: Path) -> None:
    write_table(tmp_path / "reviews.csv", [("only", "one"), ("row", "one")])
    with pytest.raises(RunError, match="The run failed on there: .*label"):
        list(train_there(tiny_config(tmp_path), tmp_path / "run", HOST))


def test_why_a_run_fails_before_it_has_a_status_is_told_here(elsewhere: Elsewhere, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("".join(map(chr, range(0x4E00, 0x4E00 + 200))) + "\n")
    values = {"text": str(tmp_path / "text.txt"), "vocab_size": 128, "steps": 3, "device": "cpu"}
    with pytest.raises(RunError, match="The run failed on there: vocab_size is 128"):
        list(train_there(with_values(PretrainConfig(), values), tmp_path / "run", HOST))
    assert run_info(tmp_path / "run").state == "failed"


@pytest.mark.slow
def test_weights_stay_there_until_they_are_asked_for(elsewhere: Elsewhere, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    list(train_there(tiny_config(tmp_path, num_epochs=1, kept_weights=2), run_dir, HOST, fetches=False))
    assert run_info(run_dir).state == "finished" and not (run_dir / "model").exists()
    list(fetch(run_dir))
    assert (run_dir / "model" / "model.safetensors").is_file() and not (run_dir / "history").exists()
    list(fetch(run_dir, everything=True))
    assert len(list((run_dir / "history").iterdir())) == 2 and any((run_dir / "checkpoints").iterdir())


def test_where_nothing_can_be_started_nothing_is_made(elsewhere: Elsewhere, tmp_path: Path) -> None:
    config, run_dir = tiny_config(tmp_path), tmp_path / "run"
    with pytest.raises(UserError, match="are not options of sbatch"):
        list(train_there(config, run_dir, HOST, slurm="gpus"))
    with pytest.raises(UserError, match="is not the name of a host"):
        list(train_there(config, run_dir, "-oProxyCommand=touch x"))
    (tmp_path / "reviews.csv").unlink()
    with pytest.raises(UserError, match=r"reviews.csv could not be read"):
        list(train_there(config, run_dir, HOST))
    elsewhere.refuse(True)
    with pytest.raises(UserError, match=r"there cannot be reached. ssh says: .*Connection refused"):
        list(train_there(config, run_dir, HOST))
    assert not run_dir.exists() and not list(elsewhere.home.glob(".cloze/runs/*"))


def test_a_host_without_cloze_says_what_it_has_and_how_to_install_it(
    elsewhere: Elsewhere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.remote.connection.source_root", lambda: None)  # nor is it found by its place
    computer = result_of(look_at(HOST))
    assert not computer.has_cloze and computer.num_cores > 0 and computer.free_bytes > 0 and computer.name
    with pytest.raises(UserError, match="python -m engine check-host there --install"):
        list(train_there(tiny_config(tmp_path), tmp_path / "run", HOST))


def test_a_login_that_talks_is_not_taken_for_an_answer(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = (
        (elsewhere.bin / "ssh")
        .read_text()
        .replace('["/bin/sh", "-c", sys', '["/bin/sh", "-c", "echo Welcome; " + sys')
    )
    (elsewhere.bin / "ssh").write_text(noisy)
    assert result_of(look_at(HOST)).has_cloze


@pytest.mark.parametrize(
    "says",
    [
        "yes",  # without end
        "printf 'cloze-remote 1 agent\\n'; yes",
        "printf 'cloze-remote 1 agent\\n{\"bytes\": 99999999999}\\n'; cat /dev/zero",
        'printf \'cloze-remote 1 agent\\n{"refused": 7, "bytes": 5}\\nab\'',
        "printf 'cloze-remote 2 agent\\n'",
        "exit 1",
    ],
)
def test_a_host_that_says_anything_at_all_is_refused(elsewhere: Elsewhere, says: str) -> None:
    elsewhere.stand_in(says)
    with pytest.raises(UserError, match="there cannot be reached|The connection to there has ended"):
        result_of(look_at(HOST))


def test_a_folder_from_elsewhere_makes_nobody_connect(elsewhere: Elsewhere, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    task = train_there(tiny_config(tmp_path), run_dir, HOST)
    for event in task:  # the folder is there, and nothing is started yet
        if is_mirrored(run_dir) and isinstance(event, Progress):
            break
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in run_dir.iterdir():
        (moved / path.name).write_bytes(path.read_bytes())
    assert read_remote(run_dir).host == HOST
    with pytest.raises(RunError, match="was not made here or was moved"):
        list(follow(moved))
    assert read_remote(moved, HOST).host == HOST  # a person has named it
    document = json.loads((run_dir / "remote.json").read_text())
    (run_dir / "remote.json").write_text(json.dumps({**document, "host": "evil"}))
    with pytest.raises(RunError, match="was not made here or was moved"):
        read_remote(run_dir)
    task.close()
    assert not run_dir.exists()  # it was never started


def test_what_is_remembered_of_a_host_is_obeyed(elsewhere: Elsewhere, tmp_path: Path) -> None:
    remember(HOST, HostSettings(folder="~/a place/of mine"))
    result_of(look_at(HOST))
    task = train_there(tiny_config(tmp_path), tmp_path / "run", HOST)
    for event in task:
        if isinstance(event, Progress) and str(event.sentence) == "Checking model.safetensors":
            break
    task.close()
    assert list((elsewhere.home / "a place" / "of mine" / "store" / "contents").iterdir())


def _until(task: Iterator[Event], kind: type[Any]) -> Any:
    return next(event for event in task if isinstance(event, kind))


def _to_state(task: Iterator[Event], state: str) -> list[Event]:
    found = list[Event]()
    for event in task:
        found.append(event)
        if isinstance(event, Contact) and event.state == state and event.is_connected:
            break
    return found


def _until_state(task: Iterator[Event], state: str) -> None:
    next(event for event in task if isinstance(event, Contact) and event.state == state)


def _stages(task: Generator[Event, None, None]) -> set[str]:
    """Return what is done until a run has begun there."""
    found = set[str]()
    for event in task:
        if isinstance(event, Progress):
            found.add(str(event.sentence))
        if isinstance(event, Contact):
            break
    task.close()
    return found


def _there(elsewhere: Elsewhere) -> Path:
    return next(iter(elsewhere.home.glob(".cloze/runs/*/run")))


def _assert_nothing_runs(elsewhere: Elsewhere, *, server: bool = False) -> None:
    until = time.monotonic() + 20
    own = {elsewhere.server} if server else set[int]()
    while (left := [one for one in elsewhere.processes() if one[0] not in own]) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left
