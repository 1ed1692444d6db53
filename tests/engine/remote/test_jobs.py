"""A run's process: over all GPUs there are, from its checkpoint where it was cut off, with its reason."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from engine.errors import RunError
from engine.remote import jobs as subject
from engine.remote.jobs import ABSENT, Job, JobOrder, last_words, num_processes
from engine.train.run.lock import locked
from tests.engine.made_runs import made_run

KEY = "0123456789abcdef"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job whose process is not started."""
    monkeypatch.setattr(Job, "_begin", lambda self, hold: None)
    found = Job(tmp_path, KEY)
    found.start(JobOrder(name="run", kind="finetune"), 'kind = "finetune"\n')
    return found


def test_it_trains_over_all_gpus_and_goes_on_where_it_was(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [sys.executable, "-m", "engine", "finetune"]
    assert job._words()[:4] == plain
    monkeypatch.setattr(subject, "gpus", lambda: ("A", "A", "A"))
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=3",
        "-m",
        "engine",
    ]
    assert job._words() == [
        *torchrun, "finetune", "--config", str(job.home / "settings.toml"), "--run-dir", str(job.run_dir)
    ]  # fmt: skip
    job.run_dir.mkdir()
    (job.run_dir / "config.toml").touch()
    assert job._words() == [*torchrun, "resume", str(job.run_dir)]
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "4")
    monkeypatch.setattr(subject.slurm, "first_node", lambda: "node7")
    words = job._words()
    assert words[:2] == ["srun", "--ntasks-per-node=1"] and "--nnodes=4" in words
    assert "--rdzv-endpoint=node7:29400" in words
    (job.home / "settings.toml").write_text('[device]\ndevice = "cpu"\n')
    assert num_processes(job.home / "settings.toml") == 1


def test_how_it_stands_is_what_its_files_and_its_lock_say(tmp_path: Path, job: Job) -> None:
    assert Job(tmp_path, "f" * 16).state() == (ABSENT, "")
    assert job.state() == ("crashed", "")  # it was to be started, and nothing lives
    with locked(job.home / "alive"):
        assert job.state() == ("running", "")
    (job.home / "code").write_text("2")
    (job.home / "log.txt").write_text("Line 7 has 3 columns.\n")
    assert job.state() == ("failed", "Line 7 has 3 columns.")
    (job.home / "code").write_text("137")
    assert job.state() == ("crashed", "")
    made_run(tmp_path, "x", state="failed", why="The disk is full.").rename(job.run_dir)
    assert job.state() == ("failed", "The disk is full.")
    with locked(job.home / "alive"):
        assert job.state() == ("running", "")  # it was started once more
    (job.run_dir / "status.json").write_text(json.dumps({"state": "running"}))
    assert job.state() == ("crashed", "")
    (job.run_dir / "wanted").write_text("pause")
    with locked(job.home / "alive"), locked(job.run_dir / "lock"):
        assert job.state() == ("paused", "")


def test_what_is_under_way_is_not_started_twice(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = list[int]()
    monkeypatch.setattr(Job, "_begin", lambda self, hold: begun.append(hold))
    with locked(job.home / "alive"):
        job.start(JobOrder(name="run", kind="finetune"), "")
    assert not begun
    job.start(JobOrder(name="other", kind="pretrain"), "x")
    assert len(begun) == 1 and job.run_dir.name == "run"  # what was asked for first stands
    assert (job.home / "settings.toml").read_text() == 'kind = "finetune"\n'


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".ssh"])
def test_no_name_leads_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match="is no name for a run"):
        Job(tmp_path, KEY).start(JobOrder(name=name, kind="finetune"), "")
    with pytest.raises(RunError, match="is no key of a run"):
        Job(tmp_path, name)
    assert not list(tmp_path.iterdir())


def test_what_a_run_says_last_is_told_and_not_what_torchrun_says_behind_it(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    assert last_words(log) == ""
    log.write_text(
        "W1129 01:57:20.1 7 torch/distributed/run.py:803] *****\n"
        "There is no column nope.\n\n"
        "W1129 01:57:27.1 7 torch/distributed/elastic/api.py:1010] Sending process 8 SIGTERM\n"
        "E1129 01:57:27.2 7 torch/distributed/elastic/multiprocessing/api.py:984] failed (exitcode: 2)\n"
        "Traceback (most recent call last):\n====\n"
    )
    assert last_words(log) == "There is no column nope."
