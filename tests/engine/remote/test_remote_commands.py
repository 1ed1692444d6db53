"""What is typed: --on, follow, stop, pause, fetch and check-host, for a person and for a program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.commands.command_line import finetune_command, main
from engine.commands.language import pretrain_command
from engine.commands.remote import where_words
from engine.runs import queue
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import read_status, run_info
from tests.engine.remote.loopback import HOST, Elsewhere
from tests.engine.tiny_runs import ROOT, command_of, start_engine, tiny_config
from tests.engine.typed import Engine, typed


@pytest.fixture
def engine(capsys: pytest.CaptureFixture[str]) -> Engine:
    return typed(capsys)


def test_check_host_tells_a_program_all_of_it(elsewhere: Elsewhere, engine: Engine) -> None:
    (elsewhere.folder / "home" / ".ssh" / "config").write_text("Host there other\n")
    code, out, err = engine("check-host", "--json")
    here = json.loads(out)
    assert code == 0 and here["has_cloze"] and here["hosts"] == ["there", "other"] and here["num_cores"] >= 1
    code, out, err = engine("check-host", HOST, "--json", "--slurm", "--gpus=1")
    there = json.loads(out)
    assert code == 0 and there["program"] == here["program"] and "hosts" not in there
    code, out, err = engine("check-host", HOST)
    assert code == 0 and out.startswith(f"{there['name']} has ")
    code, out, err = engine("check-host", "-x")
    assert code == 2
    elsewhere.refuse(True)
    code, out, err = engine("check-host", HOST)
    assert code == 2 and err.splitlines()[-1].startswith("there cannot be reached. ssh says: ")


@pytest.mark.slow
def test_what_is_typed_trains_there_and_ctrl_c_detaches(elsewhere: Elsewhere, tmp_path: Path) -> None:
    run_dir = tmp_path / "runs" / "first"
    run_dir.parent.mkdir()
    words = command_of(tiny_config(tmp_path, num_epochs=150, checkpoint_every_steps=50), run_dir)
    process = _started(*words, "--on", HOST)
    while run_info(run_dir).step < 3:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Connected to there; the run is training there." in err and "step 1/1350 loss" in err
    assert f"Watch it again with: python -m engine follow {run_dir}; stop it with: " in err
    assert run_info(run_dir).state == "running"

    process = _started("follow", str(run_dir))
    while "step" not in (line := process.stderr.readline()):  # type: ignore[union-attr]
        assert line
    assert (
        _done("pause", str(run_dir)) == 0 and _done("resume", str(run_dir)) == 0
    )  # the other one passes it on
    assert _done("stop", str(run_dir)) == 0
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0 and "was stopped, and what it learned is kept" in err
    assert f"Continue with: python -m engine resume {run_dir}" in err
    assert read_status(run_dir)["state"] == "stopped" and (run_dir / "model").is_dir()
    found = json.loads(subprocess.run(
        [sys.executable, "-m", "engine", "runs", "--runs", str(run_dir.parent), "--json"],
        capture_output=True, text=True, env=_around(), check=True,
    ).stdout)  # fmt: skip
    assert [(one["host"], one["state"]) for one in found["runs"]] == [(HOST, "stopped")]


@pytest.mark.slow
def test_a_run_of_this_computer_is_followed_paused_and_stopped_alike(tmp_path: Path, engine: Engine) -> None:
    run_dir = tmp_path / "run"
    process = start_engine(*command_of(tiny_config(tmp_path, num_epochs=150), run_dir))
    while run_info(run_dir).step < 3:
        assert process.poll() is None
        time.sleep(0.05)
    assert engine("pause", run_dir)[0] == 0
    time.sleep(0.6)
    step = run_info(run_dir).step
    time.sleep(0.6)
    assert run_info(run_dir).step == step and process.poll() is None
    assert engine("resume", run_dir)[0] == 0
    while run_info(run_dir).step == step:
        time.sleep(0.05)
    assert engine("stop", run_dir)[0] == 0
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0 and "Continue with: python -m engine resume" in err
    assert run_info(run_dir).state == "stopped"
    code, _, err = engine("follow", run_dir)
    assert code == 0 and "step 1/1350" in err
    code, _, err = engine("stop", run_dir)
    assert code == 2 and "No process is training the run in" in err


@pytest.mark.slow
def test_the_queue_holds_runs_of_other_computers(
    elsewhere: Elsewhere, tmp_path: Path, engine: Engine
) -> None:
    root = tmp_path / "runs"
    root.mkdir()
    queue.add(root, [tiny_config(tmp_path, num_epochs=1)], "films", on=HOST)
    code, _, err = engine("queue", "run", "--runs", root)
    assert code == 0, err
    (job,) = queue.jobs_in(root)
    assert (job.state, job.on, job.is_own) == (queue.DONE, HOST, True)
    assert run_info(root / job.run).state == "finished" and (root / job.run / "model").is_dir()
    assert not list(elsewhere.home.glob(".cloze/store/contents/*.part"))


def test_options_that_say_nothing_here_are_refused(tmp_path: Path, engine: Engine) -> None:
    words = ["--data", "x.csv", "--model", "y", "--run", tmp_path / "run"]
    code, _, err = engine("finetune", *words, "--slurm", "--gpus=1")
    assert code == 2 and "--slurm and --no-weights need --on" in err
    code, _, err = engine("pretrain", "--text", "x", "--run", tmp_path / "run", "--no-weights")
    assert code == 2 and "--slurm and --no-weights need --on" in err
    code, _, err = engine("finetune", *words, "--on", "a b")
    assert code == 2 and "is not the name of a host" in err
    code, _, err = engine("queue", "add", tmp_path, "--on", "a;b")
    assert code == 2


def test_the_copied_line_says_where() -> None:
    assert where_words("") == where_words("", "--gpus=1") == []
    line = finetune_command(FineTuneConfig(), Path("r"), where_words("gpu1", "--gpus=1 -p x"))
    assert line.endswith("--run r --on gpu1 '--slurm=--gpus=1 -p x'")
    assert pretrain_command(PretrainConfig(), Path("r"), where_words("gpu1")).endswith("--run r --on gpu1")


def _around() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def _started(*words: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "engine", *words]
    return subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_around())


def _done(*words: str) -> int:
    return main(list(words))
