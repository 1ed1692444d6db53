"""Several processes train as one does: the same steps, shared out, and their gradients summed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from engine.events import Event, Finished, Started, Step
from engine.model.weights import load_pretraining
from engine.train import pretext
from engine.train.pretrain import pretrain, resume
from engine.train.ranks import ALONE, joined_ranks
from engine.train.runs import read_metrics, read_status
from tests.engine.test_runs import wait_for
from tests.engine.tiny_runs import ROOT
from tests.engine.tiny_texts import of, text_config, words_of

pytestmark = pytest.mark.usefixtures("unsynced", "cache")
MANY = {"batch_tokens": 256, "micro_batch_tokens": 50}  # several parts for each rank


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretext, "default_store_root", lambda: tmp_path / "cache")


@pytest.fixture
def gloo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Skip where processes cannot talk to each other."""
    if os.name == "nt" or not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
        pytest.skip("this build of torch has no gloo")
    if Path("/sys/class/net/lo").exists():
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
    try:
        store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        torch.distributed.destroy_process_group()
    except (OSError, RuntimeError) as error:
        pytest.skip(f"gloo cannot listen here: {error}")
    return


def torchrun(folder: Path, *words: str | Path) -> subprocess.Popen[str]:
    """Start `torchrun -m engine ...` with two processes on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launch = ("--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", str(port))
    return subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", *launch, "-m", "engine", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "1",
            "XDG_CACHE_HOME": str(folder / "xdg"),
        },
    )


def steps_of(run_dir: Path) -> list[dict[str, Any]]:
    return [record for record in read_metrics(run_dir) if record["event"] == "step"]


def up_to(events: Iterator[Event], step: int) -> None:
    """Run until after a step."""
    next(event for event in events if isinstance(event, Step) and event.step == step)


@pytest.mark.usefixtures("gloo")
def test_a_run_begun_by_one_and_ended_by_two_has_the_losses_and_weights_of_one(tmp_path: Path) -> None:
    config = text_config(tmp_path, evaluations=2, **MANY)
    list(pretrain(config, tmp_path / "whole"))
    begun = pretrain(config, tmp_path / "run")
    up_to(begun, 2)
    begun.close()  # type: ignore[attr-defined]
    process = torchrun(tmp_path, "resume", tmp_path / "run")
    said, _ = process.communicate(timeout=240)
    assert process.returncode == 0 and "Warning" not in said, said
    wanted, found = steps_of(tmp_path / "whole"), steps_of(tmp_path / "run")
    assert [step["step"] for step in found] == list(range(1, 13))
    for name in ("loss", "accuracy", "gradient_norm", "num_tokens", "learning_rate", "progress", "epoch"):
        assert [step[name] for step in found] == pytest.approx([step[name] for step in wanted], rel=1e-5), (
            name
        )
    for one, other in zip(wanted, found, strict=True):
        assert abs(one["loss"] - other["loss"]) < 1e-5
        assert other["measures"] == pytest.approx(one["measures"], rel=1e-5)
    measured = [
        [record["metrics"] for record in read_metrics(tmp_path / name) if record["event"] == "evaluated"]
        for name in ("whole", "run")
    ]
    assert len(measured[1]) == 3 and measured[1] == [
        pytest.approx(metrics, rel=1e-4) for metrics in measured[0]
    ]
    ids = torch.randint(5, 100, (5, 23), generator=torch.Generator().manual_seed(0))
    with (
        torch.inference_mode()
    ):  # not the weights: keys' biases have no gradient but rounding, which Adam follows
        one, two = (load_pretraining(tmp_path / name / "model")[0](ids) for name in ("whole", "run"))
    assert torch.allclose(one.hidden, two.hidden, atol=1e-3)
    assert read_status(tmp_path / "run")["state"] == "finished"
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        path.name for path in (tmp_path / "whole").iterdir()
    }


@pytest.mark.usefixtures("gloo")
def test_two_that_are_interrupted_keep_what_they_have_and_one_goes_on_with_it(tmp_path: Path) -> None:
    config = text_config(tmp_path, steps=4000, checkpoint_every_steps=10**6, evaluations=1, **MANY)
    words = [("--run-dir" if word == "--run" else word) for word in words_of(config, tmp_path / "run")]
    process = torchrun(tmp_path, *words)
    wait_for(lambda: len(read_metrics(tmp_path / "run")) > 15, process)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=240)
    assert read_status(tmp_path / "run")["state"] == "stopped", said
    done = read_status(tmp_path / "run")["step"]
    assert "Go on with" in said and "[rank1]" not in said
    again = resume(tmp_path / "run")
    up_to(again, done + 5)
    again.close()  # type: ignore[attr-defined]
    whole = pretrain(config, tmp_path / "whole")
    up_to(whole, done + 5)
    whole.close()  # type: ignore[attr-defined]
    wanted, found = steps_of(tmp_path / "whole"), steps_of(tmp_path / "run")
    assert [step["num_tokens"] for step in found] == [step["num_tokens"] for step in wanted]
    assert max(abs(a["loss"] - b["loss"]) for a, b in zip(wanted[:12], found[:12], strict=True)) < 1e-5
    assert [step["loss"] for step in found] == pytest.approx([step["loss"] for step in wanted], abs=0.02)


def test_a_process_alone_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined_ranks() as ranks:
        assert ranks is ALONE and ranks.is_first and ranks.world_size == 1 and ranks.seeds == ()
    model, values = nn.Linear(2, 3), torch.ones(3)
    assert ALONE.wrap(model) is model and ALONE.total(values) is values and ALONE.agreed(0.5) == 0.5
    with ALONE.quiet(model, True):
        ALONE.wait()
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("RANK", "0")
    events = list(pretrain(text_config(tmp_path, steps=1), tmp_path / "run"))
    assert isinstance(events[-1], Finished) and of(Started, events)[0].num_steps == 1
