"""SLURM is asked as its manual says: by a stand-in that says, word for word, what 22.05 was seen to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UserError
from engine.events import Event, Finished, Step
from engine.remote import slurm
from engine.remote.contact import Contact
from engine.remote.run import train_there
from engine.train.finetune import fine_tune
from engine.train.run.runs import read_status
from engine.train.run.wanted import STOP, want
from tests.engine.remote.loopback import HOST, Elsewhere
from tests.engine.tiny_runs import promised_metrics, tiny_config

# One job at a time, begun by a process of its own; its state is a file, as slurmctld keeps it.
_STAND_IN = """\
#!{python}
import json, os, signal, subprocess, sys
from pathlib import Path
place = Path({place!r})
name, words = Path(sys.argv[0]).name, sys.argv[1:]
kept = place / "job"

def job():
    found = json.loads(kept.read_text()) if kept.exists() else {{}}
    if found.get("state") == "RUNNING" and not Path(f"/proc/{{found['pid']}}").exists():
        found["state"] = "COMPLETED"
    return found

def begin(found):
    around = {{**os.environ, "SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "1"}}
    log = open(place / "slurm.log", "ab")
    holder = "import subprocess, sys; c = subprocess.Popen(sys.argv[1:]); print(c.pid, flush=True); c.wait()"
    process = subprocess.Popen(
        [sys.executable, "-c", holder, "/bin/sh", found["script"]], env=around, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=log, start_new_session=True,
    )
    found |= {{"pid": int(process.stdout.readline()), "state": "RUNNING"}}
    kept.write_text(json.dumps(found))

if name == "sbatch":
    (place / "sbatch.words").write_text(json.dumps(words))
    if "--partition=no" in words:
        sys.exit("sbatch: error: invalid partition specified: no\\n"
                 "sbatch: error: Batch job submission failed: Invalid partition name specified")
    text = Path(words[-1]).read_text()
    marks = [line[10:] for line in text.splitlines() if line.startswith("#SBATCH --") and "=" in line]
    lines = dict(line.split("=", 1) for line in marks)
    found = {{"script": words[-1], "name": lines["job-name"], "state": "PENDING"}}
    kept.write_text(json.dumps(found))
    if not (place / "full").exists():
        begin(found)
    print("7")
elif name == "squeue":
    found, what = job(), words[words.index("--format") + 1]
    if "--jobs" in words and (not found or words[words.index("--jobs") + 1] != "7"):
        sys.exit("slurm_load_jobs error: Invalid job id specified")
    if found.get("state") == "PENDING" and not (place / "full").exists():
        begin(found)
    fits = "--name" not in words or words[words.index("--name") + 1] == found.get("name")
    if found and fits and found["state"] in ("PENDING", "RUNNING"):
        print({{"%A": "7", "%T": found["state"]}}[what])
elif name == "scancel":
    found = job()
    if found["state"] == "RUNNING":
        os.kill(found["pid"], signal.SIGTERM)
    kept.write_text(json.dumps(found | {{"state": "CANCELLED"}}))
elif name == "scontrol" and words[0] == "requeue":
    found = job()
    if words[1] != "7":
        sys.exit("scontrol: error: Invalid job id specified for job " + words[1])
    (place / "requeued").touch()
    kept.write_text(json.dumps(found | {{"state": "PENDING"}}))
    os.kill(found["pid"], signal.SIGKILL)
"""


@pytest.fixture
def cluster(elsewhere: Elsewhere) -> Elsewhere:
    """A computer behind which SLURM is. Its place: `folder`/tools."""
    for name in ("sbatch", "squeue", "scancel", "scontrol"):
        path = elsewhere.tools / name
        path.write_text(_STAND_IN.format(python=sys.executable, place=str(elsewhere.folder)))
        path.chmod(0o755)
    return elsewhere


def test_the_script_asks_for_a_signal_before_the_end_and_may_be_begun_again(tmp_path: Path) -> None:
    text = slurm.script_of(
        "cloze-1", tmp_path / "log.txt", ["python", "-m", "engine.remote", "job", "/a b/'c'"]
    )
    lines = text.splitlines()
    assert lines[0] == "#!/bin/sh" and "#SBATCH --requeue" in lines
    assert "#SBATCH --signal=B:USR1@120" in lines  # to the script alone, sbatch(1)
    said = subprocess.run(
        ["sh", "-c", lines[-1].replace("exec ", "printf '%s|' ")], capture_output=True, text=True
    )
    assert said.stdout.split("|")[:-1] == ["python", "-m", "engine.remote", "job", "/a b/'c'"]


@pytest.mark.slow
def test_a_run_waits_its_turn_trains_and_is_begun_again_when_its_time_is_over(
    cluster: Elsewhere, tmp_path: Path
) -> None:
    config, run_dir = tiny_config(tmp_path, num_epochs=12), tmp_path / "run"
    (tmp_path / "alone").mkdir()
    list(fine_tune(config, tmp_path / "alone" / "run"))
    (cluster.folder / "full").touch()
    task = train_there(config, run_dir, HOST, slurm="--partition=gpu --time=0:03")
    assert _until(task, Contact).state == "waiting"
    assert json.loads((cluster.folder / "sbatch.words").read_text())[:3] == [
        "--parsable",
        "--partition=gpu",
        "--time=0:03",
    ]
    (cluster.folder / "full").unlink()
    _until(task, Step)
    pid = json.loads((cluster.folder / "job").read_text())["pid"]
    os.kill(pid, 10)  # SIGUSR1, as SLURM does before the time is over
    rest = list(task)
    assert isinstance(rest[-1], Finished) and (cluster.folder / "requeued").exists()
    alone = tmp_path / "alone" / "run"
    assert _without_saved(run_dir) == _without_saved(alone)
    model = "model/model.safetensors"
    assert (run_dir / model).read_bytes() == (alone / model).read_bytes()


def test_a_job_that_waits_is_cancelled(cluster: Elsewhere, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    (cluster.folder / "full").touch()
    task = train_there(tiny_config(tmp_path), run_dir, HOST, slurm="")
    assert _until(task, Contact).state == "waiting"
    want(run_dir, STOP)
    list(task)
    assert json.loads((cluster.folder / "job").read_text())["state"] == "CANCELLED"
    assert read_status(run_dir).get("state") != "finished"


def test_what_sbatch_refuses_is_told(cluster: Elsewhere, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="sbatch refused: .*Invalid partition name specified"):
        list(train_there(tiny_config(tmp_path), tmp_path / "run", HOST, slurm="--partition=no"))
    assert not (tmp_path / "run").exists()


def test_a_job_that_slurm_has_forgotten_has_ended(
    cluster: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(cluster.tools))
    assert slurm.state_of("3") == "" and slurm.job_named("cloze-1") == ""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="There is no SLURM: the command squeue was not found"):
        slurm.state_of("3")


def _until(task: Iterator[Event], kind: type[Any]) -> Any:
    return next(event for event in task if isinstance(event, kind))


def _without_saved(run_dir: Path) -> list[dict[str, Any]]:
    return [record for record in promised_metrics(run_dir) if record["event"] != "saved"]
