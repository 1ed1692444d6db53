"""A run folder is whole at every moment: killed anywhere, it goes on to the same bits.

CLOZE_KILLS sets how many processes are killed (3 unless told; 50 for the full count).
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import RunError, Sentence, UserError
from engine.events import Evaluated, Event, Finished, Noted, Saved, Started, Step
from engine.train.finetune import fine_tune, resume
from engine.train.run import runs
from engine.train.run.folder import Run, check_new
from engine.train.run.lock import is_locked, locked
from engine.train.run.records import event_from_record
from engine.train.run.runs import list_runs, new_run_dir, read_config, read_metrics, read_status
from tests.engine.tiny_runs import WAYS, command_of, outcome, run_engine, start_engine, tiny_config

KILLS = int(os.environ.get("CLOZE_KILLS", "3"))
OPERATIONS = ("replace", "fsync", "unlink", "rmdir", "ftruncate")


class Dead(BaseException):
    """Stands for kill -9 inside one process: from then on, nothing reaches the disk."""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Give a function that makes the n-th operation on the disk and all later ones raise `Dead`; 0: none."""
    left = [0]

    def arm(count: int) -> None:
        left[0] = count

    def dying_at(operation: Callable[..., Any]) -> Callable[..., Any]:
        def operate(*args: Any, **more: Any) -> Any:
            if left[0] == 1:
                raise Dead
            left[0] -= left[0] > 0
            return operation(*args, **more) if operation is not FSYNC else None

        return operate

    for name in OPERATIONS:
        monkeypatch.setattr(os, name, dying_at(getattr(os, name)))
    yield arm
    left[0] = 0


FSYNC = os.fsync


def die_often(
    folder: Path,
    dying: Callable[[int], None],
    begin: Callable[[Path], Iterator[Event]],
    go_on: Callable[[Path], Iterator[Event]],
    *,
    every: int,
    before: Callable[[], None] = lambda: None,
) -> None:
    """Let a run die at every n-th operation on the disk until it ends by itself: it goes on to the end of
    the `whole` one each time. before: done before each run.
    """
    wanted, run_dir, died = outcome(folder / "whole"), folder / "run", 0
    for moment in range(1, 1000, every):
        before()
        dying(moment)
        try:
            list(begin(run_dir))
        except Dead:
            died += 1
        else:
            assert died > 10
            return
        dying(0)
        if read_status(run_dir).get("state") != "finished":
            list(go_on(run_dir) if (run_dir / "config.toml").exists() else begin(run_dir))
        assert outcome(run_dir) == wanted, moment
        assert not list(run_dir.rglob("*.partial")), moment
        shutil.rmtree(run_dir)


# kill -9


def wait_for(condition: Callable[[], bool], process: Any, every_s: float = 0.01) -> None:
    while not condition() and process.poll() is None:
        time.sleep(every_s)  # looking takes from the process what it needs to get there


def kill_somewhere(process: Any, run_dir: Path, rng: random.Random) -> bool:
    """Kill a process early, at a random step or while it saves; return whether it was still alive."""
    moment = rng.choice(("early", "step", "step", "checkpoint", "checkpoint"))
    reached = len(read_metrics(run_dir))
    target = reached + rng.randrange(1, 16)
    if moment == "early":
        time.sleep(rng.uniform(0.5, 2.0))
    else:
        wait_for(lambda: len(read_metrics(run_dir)) >= target, process)
    return kill(process, run_dir, rng, is_saving=moment == "checkpoint")


def kill(process: Any, run_dir: Path, rng: random.Random, *, is_saving: bool) -> bool:
    """Kill a process within a hundredth of a second, or once it saves; return whether it was still alive."""
    if is_saving:
        wait_for(lambda: any((run_dir / "checkpoints").glob(".*.partial")), process, 0.0005)
    time.sleep(rng.uniform(0, 0.01))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return bool(process.returncode == -signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(tmp_path: Path) -> None:
    rng = random.Random(os.urandom(8))
    killed = round_number = 0
    while killed < KILLS:
        kernels, precision = WAYS[round_number % len(WAYS)]
        config = tiny_config(tmp_path, num_epochs=3, kernels=kernels, precision=precision)
        round_number += 1
        whole = tmp_path / f"whole{round_number}"
        list(fine_tune(config, whole))
        wanted = outcome(whole)
        run_dir = tmp_path / f"run{round_number}"
        goal = killed + min(3, KILLS - killed)
        while killed < goal:
            again = (run_dir / "config.toml").exists()
            words = ["resume", run_dir] if again else command_of(config, run_dir)
            killed += kill_somewhere(start_engine(*words), run_dir, rng)
            if read_status(run_dir).get("state") == "finished":
                break
        if read_status(run_dir).get("state") != "finished":
            again = (run_dir / "config.toml").exists()
            code, _, err = run_engine(*(["resume", run_dir] if again else command_of(config, run_dir)))
            assert code == 0, err
        assert outcome(run_dir) == wanted, f"after {killed} kills"
        assert not list(run_dir.rglob("*.partial"))
        shutil.rmtree(run_dir)


@pytest.mark.slow
def test_a_run_that_dies_at_any_operation_on_the_disk_ends_with_the_same_bits(
    tmp_path: Path, dying: Callable[[int], None]
) -> None:
    config = tiny_config(tmp_path, num_epochs=1, batch_size=11, checkpoint_every_steps=1, test_share=0.2)
    list(fine_tune(config, tmp_path / "whole"))
    die_often(tmp_path, dying, lambda run_dir: fine_tune(config, run_dir), resume, every=7)


@pytest.mark.slow
def test_resuming_itself_may_die_and_be_resumed(tmp_path: Path, dying: Callable[[int], None]) -> None:
    config = tiny_config(tmp_path, num_epochs=1, checkpoint_every_steps=2)
    list(fine_tune(config, tmp_path / "whole"))
    for moments in ((70, 20, 9, 33), (100, 1, 2, 3, 4, 5)):
        run_dir = tmp_path / f"run{moments[0]}"
        for number, moment in enumerate(moments):
            dying(moment)
            with pytest.raises(Dead):
                list(resume(run_dir) if number else fine_tune(config, run_dir))
        dying(0)
        list(resume(run_dir))
        assert outcome(run_dir) == outcome(tmp_path / "whole")


@pytest.mark.slow
def test_a_run_killed_before_its_settings_were_written_is_started_again_in_its_folder(tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / "lock").write_text("123")
    (run_dir / ".config.toml.123.partial").write_text("schema_")
    with pytest.raises(RunError, match=r"not a run folder: it has no config.toml. Start the run again"):
        list(resume(run_dir))
    list(fine_tune(tiny_config(tmp_path), run_dir))
    assert read_status(run_dir)["state"] == "finished"


def test_what_a_killed_process_left_half_written_in_any_folder_of_a_run_goes_when_it_is_held_again(
    tmp_path: Path,
) -> None:
    with Run.create(tmp_path / "run", tiny_config(tmp_path)):
        pass
    for folder in ("answers", "checkpoints", "history"):
        (tmp_path / "run" / folder).mkdir(exist_ok=True)
        (tmp_path / "run" / folder / ".validation.safetensors.123.partial").write_bytes(b"half")
    with Run.reopen(tmp_path / "run"):
        assert not list((tmp_path / "run").rglob("*.partial"))


@pytest.mark.slow
def test_a_run_killed_before_its_setup_was_kept_starts_over_by_itself(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "whole"))
    with Run.create(tmp_path / "run", config) as run:
        run.set_status("running")
    shutil.copytree(tmp_path / "whole" / "setup", tmp_path / "run" / ".setup.123.partial")
    list(resume(tmp_path / "run"))
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "changed", "gone", "no manifest", "manifest is no JSON"])
def test_a_damaged_newest_checkpoint_is_passed_over(tmp_path: Path, damage: str) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "whole"))
    events = fine_tune(config, tmp_path / "run")
    for event in events:
        if isinstance(event, Saved) and event.step == 12:
            newest = event.path
            break
    events.close()  # type: ignore[attr-defined]
    file, manifest = newest / "optimizer.safetensors", newest / "manifest.json"
    match damage:
        case "cut":
            file.write_bytes(file.read_bytes()[:-1])
        case "changed":
            file.write_bytes(file.read_bytes()[:-1] + b"\x07")
        case "gone":
            file.unlink()
        case "no manifest":
            manifest.unlink()
        case _:
            manifest.write_text("[1]")
    again = list(resume(tmp_path / "run"))
    assert next(event.first_step for event in again if isinstance(event, Started)) == 10
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


# The folder


@pytest.mark.slow
def test_a_run_can_be_resumed_when_its_table_and_model_are_gone(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "whole"))
    events = fine_tune(config, tmp_path / "run")
    for event in events:
        if isinstance(event, Step) and event.step == 11:
            break
    events.close()  # type: ignore[attr-defined]
    shutil.rmtree(tmp_path / "start")
    (tmp_path / "reviews.csv").write_text("text,label\nall new,good\n")
    list(resume(tmp_path / "run"))
    assert (tmp_path / "run" / "model" / "model.safetensors").read_bytes() == (
        tmp_path / "whole" / "model" / "model.safetensors"
    ).read_bytes()


@pytest.mark.slow
def test_a_run_is_repeated_from_its_config_alone(tmp_path: Path) -> None:
    list(fine_tune(tiny_config(tmp_path, seed=5), tmp_path / "one"))
    assert read_config(tmp_path / "one") == tiny_config(tmp_path, seed=5)
    list(fine_tune(read_config(tmp_path / "one"), tmp_path / "two"))
    assert outcome(tmp_path / "one") == outcome(tmp_path / "two")


@pytest.mark.slow
def test_a_finished_run_or_one_in_use_is_not_resumed(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, num_epochs=1)
    events = fine_tune(config, tmp_path / "run")
    for event in events:
        if isinstance(event, Started):
            with pytest.raises(RunError, match=rf"Another process \(id {os.getpid()}\) is working"):
                next(iter(resume(tmp_path / "run")))
    with pytest.raises(RunError, match="is finished. Its model is in"):
        list(resume(tmp_path / "run"))


def test_a_folder_with_anything_in_it_is_refused_and_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(RunError, match="is not empty"):
        list(fine_tune(tiny_config(tmp_path), tmp_path / "thesis"))
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["chapter1.tex"]
    with pytest.raises(UserError, match="could not be written"):
        check_new(tmp_path / "thesis" / "chapter1.tex")


def test_a_lock_is_held_by_one_and_dies_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    with locked(path):
        assert is_locked(path)
        with pytest.raises(RunError, match=f"id {os.getpid()}"), locked(path):
            pass
        assert is_locked(path)
    assert not is_locked(path)


@pytest.mark.slow
def test_a_list_of_runs_tells_running_stopped_failed_crashed_and_finished_apart(tmp_path: Path) -> None:
    config, root = tiny_config(tmp_path, num_epochs=1), tmp_path / "runs"
    (root / "0-not-a-run").mkdir(parents=True)
    list(fine_tune(config, root / "1-finished"))
    stopped = fine_tune(config, root / "2-stopped")
    while not isinstance(next(stopped), Step):
        pass
    stopped.close()  # type: ignore[attr-defined]
    shutil.copytree(root / "2-stopped", root / "3-crashed")
    (root / "3-crashed" / "status.json").write_text('{"state": "running"')  # half written by somebody else
    shutil.copytree(root / "2-stopped", root / "4-failed")
    (root / "4-failed" / "status.json").write_text('{"state": "failed", "reason": "No.", "step": 1}')
    running = fine_tune(config, root / "5-running")
    while not isinstance(next(running), Step):
        pass
    found = {run.name[2:]: run for run in list_runs(root)}
    running.close()  # type: ignore[attr-defined]
    assert {name: run.state for name, run in found.items()} == {name: name for name in found}
    assert list(found) == ["running", "failed", "crashed", "stopped", "finished"]
    assert (found["finished"].step, found["finished"].num_steps, found["crashed"].step) == (9, 9, 1)
    assert found["finished"].best_metric is not None and found["stopped"].best_metric is None
    assert list_runs(tmp_path / "nowhere") == []


def test_a_new_run_folder_has_a_plain_name_of_its_own(tmp_path: Path) -> None:
    first = new_run_dir(tmp_path, "../..\\a b:评论?.csv")
    first.mkdir()
    second = new_run_dir(tmp_path, "../..\\a b:评论?.csv")
    assert first.parent == second.parent == tmp_path and first != second
    assert not set(first.name) & set('/\\:*?"<>| ')
    assert len(new_run_dir(tmp_path, "x" * 500).name) < 120
    assert new_run_dir(tmp_path, "..").name.endswith("-run")


# What is logged


@pytest.mark.slow
def test_events_come_back_from_the_metrics_as_they_were(tmp_path: Path) -> None:
    events = list(fine_tune(tiny_config(tmp_path, test_share=0.2), tmp_path / "run"))
    kinds = Noted | Started | Step | Evaluated | Saved | Finished
    told = [event for event in events if isinstance(event, kinds)]
    read = [event_from_record(record) for record in read_metrics(tmp_path / "run")]
    assert [type(event) for event in read] == [type(event) for event in told]
    for one, other in zip(told, read, strict=True):
        for name in one.__dataclass_fields__:
            was, now = getattr(one, name), getattr(other, name)
            assert np.array_equal(was, now) if isinstance(was, np.ndarray) else was == now, name


def test_a_record_of_another_version_is_passed_over() -> None:
    note = {"event": "noted", "sentence": {"template": "{n} rows.", "values": {"n": 3}}, "level": "look"}
    assert event_from_record(note) == Noted(sentence=Sentence("{n} rows.", {"n": 3}))
    for record in (
        {},
        {"event": "step"},
        {"event": "dreamt"},
        {"event": "step", "step": 1, "colour": "red"},
        {"event": "os"},
    ):
        assert event_from_record(record) is None


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_bytes(b'{"event": "step", "step": 1}\n{"event": "st')
    assert [record["step"] for record in read_metrics(tmp_path)] == [1]
    assert read_metrics(tmp_path / "nowhere") == []


def test_a_status_that_is_damaged_says_nothing(tmp_path: Path) -> None:
    for text in ("", "{", "[1]", "\xff"):
        (tmp_path / runs.STATUS).write_bytes(text.encode("latin-1"))
        assert read_status(tmp_path) == {}
