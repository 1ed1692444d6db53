"""Checkpoints written beside the training: the same bits, told when they are there, and no fault lost."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import UserError
from engine.events import Saved, Step
from engine.train import loop as loop_module
from engine.train.pretrain import pretrain, resume
from engine.train.run.folder import Run
from engine.train.run.runs import read_metrics, read_status
from engine.train.run.writer import Snapshot, Writer
from tests.engine.tiny_runs import start_engine
from tests.engine.tiny_texts import of, promised, text_config, words_of
from tests.engine.train.test_runs import wait_for

SLOW_AND_BESIDE = """
import sys, time
from engine.train import loop
from engine.train.run import folder
from engine.commands.command_line import main

save = folder.Run.save_checkpoint

def slowly(*args):
    time.sleep(0.05)
    return save(*args)

loop.WRITTEN_BESIDE, folder.Run.save_checkpoint = {"cpu"}, slowly
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write beside the training on a CPU too."""
    monkeypatch.setattr(loop_module, "WRITTEN_BESIDE", {"cpu"})


class OnFullDevice:
    """A tensor on a device that has no room for another one."""

    def __init__(self, value: torch.Tensor) -> None:
        self.value, self.device = value, torch.device("cuda")

    def detach(self) -> OnFullDevice:
        return self

    def clone(self) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    def cpu(self) -> torch.Tensor:
        return self.value.clone()


def test_a_copy_that_finds_no_room_on_the_device_is_the_hosts_and_the_run_goes_on() -> None:
    full: Any = OnFullDevice(torch.arange(5.0))
    found = Snapshot({"small": torch.ones(2), "large": full}, True).tensors
    assert torch.equal(found["large"], torch.arange(5.0)) and torch.equal(found["small"], torch.ones(2))


def slowed(monkeypatch: pytest.MonkeyPatch, before: Callable[[int], None]) -> None:
    """Call `before` with the step, on the thread that writes, before each checkpoint."""
    save = Run.save_checkpoint

    def saving(run: Run, step: int, *args: Any) -> Path:
        before(step)
        return save(run, step, *args)

    monkeypatch.setattr(Run, "save_checkpoint", saving)


def test_a_snapshot_stays_as_it_was_only_where_it_is_copied() -> None:
    weight = torch.ones(3)
    copied, shared = Snapshot({"w": weight}, True), Snapshot({"w": weight}, False)
    weight.mul_(2)
    assert copied.tensors["w"].tolist() == [1, 1, 1] and shared.tensors["w"].tolist() == [2, 2, 2]


def test_a_writer_writes_one_thing_at_a_time_and_tells_what_went_wrong() -> None:
    writer, done = Writer(), []

    def slow() -> None:
        time.sleep(0.05)
        done.append("slow")

    def broken() -> None:
        raise UserError("The disk is full.")

    writer.write(slow)
    writer.write(broken)
    assert done == ["slow"]
    with pytest.raises(UserError, match="The disk is full"):
        writer.close()
    assert writer.is_done() and not any(thread.name.startswith("writer") for thread in threading.enumerate())


@pytest.mark.slow
def test_checkpoints_written_beside_the_training_hold_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    config = text_config(tmp_path, steps=20, checkpoint_every_steps=4, evaluations=2)
    list(pretrain(config, tmp_path / "whole"))
    request.getfixturevalue("beside")
    threads: dict[int, str] = {}

    def slow(step: int) -> None:
        threads[step] = threading.current_thread().name
        time.sleep(0.03)  # some steps long

    slowed(monkeypatch, slow)
    late, newest = [], 0
    for event in pretrain(config, tmp_path / "beside"):
        if isinstance(event, Saved):
            assert (event.path / "manifest.json").exists()
            late.append(newest - event.step)
        newest = event.step if isinstance(event, Step) else newest
    assert promised(tmp_path / "beside") == promised(tmp_path / "whole")
    assert all(name.startswith("writer") for step, name in threads.items() if step) and max(late) > 0
    begun = pretrain(config, tmp_path / "run")
    next(event for event in begun if isinstance(event, Step) and event.step == 5)  # 4 may be on its way
    begun.close()  # type: ignore[attr-defined]
    list(resume(tmp_path / "run"))
    assert promised(tmp_path / "run") == promised(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.usefixtures("beside")
def test_a_disk_that_is_full_ends_the_run_with_that_sentence_and_the_last_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(step: int) -> None:
        if step >= 8:
            raise UserError("The disk is full.")

    slowed(monkeypatch, full)
    config = text_config(tmp_path, steps=40, checkpoint_every_steps=4, evaluations=1)
    with pytest.raises(UserError, match="The disk is full"):
        list(pretrain(config, tmp_path / "run"))
    status = read_status(tmp_path / "run")
    assert status["state"] == "failed" and status["reason"] == "The disk is full."
    assert [path.name for path in (tmp_path / "run" / "checkpoints").glob("step-*")] == ["step-00000004"]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_run_killed_while_a_checkpoint_is_written_beside_it_ends_with_the_same_bits(tmp_path: Path) -> None:
    config = text_config(tmp_path, steps=60, checkpoint_every_steps=3)
    list(pretrain(config, tmp_path / "whole"))
    script = tmp_path / "beside.py"
    script.write_text(SLOW_AND_BESIDE, encoding="utf-8")
    run_dir, environment = tmp_path / "run", {"XDG_CACHE_HOME": str(tmp_path / "elsewhere")}
    for goal in (7, 20, 33):
        words = ["resume", str(run_dir)] if run_dir.exists() else words_of(config, run_dir)
        process = start_engine(*words, environment=environment, program=script)
        wait_for(lambda goal=goal: len(of_steps(run_dir)) >= goal, process)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        process.communicate()
    events = list(resume(run_dir))
    assert of(Step, events)[-1].step == 60
    assert promised(run_dir) == promised(tmp_path / "whole") and not list(run_dir.rglob("*.partial"))


def of_steps(run_dir: Path) -> list[dict[str, Any]]:
    """Return the steps that a run wrote down."""
    return [record for record in read_metrics(run_dir) if record["event"] == "step"]
