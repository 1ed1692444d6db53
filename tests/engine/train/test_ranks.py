"""Several processes train as one does: the same steps, shared out, and their gradients summed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from engine.device import open_device
from engine.errors import ConfigError, RunError
from engine.events import Event, Finished, Started, Step
from engine.model.weights import load_pretraining
from engine.settings.config import with_values
from engine.settings.pipeline import PipelineConfig
from engine.settings.shared import DeviceConfig
from engine.text.batch import EncodedRows
from engine.train import lifecycle
from engine.train import ranks as ranks_module
from engine.train.feed import EpochFeed
from engine.train.finetune import check_ranks, fine_tune
from engine.train.pipeline import pipeline
from engine.train.pretrain import Pretraining, pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.ranks import ALONE, Ranks, joined_ranks, settled
from engine.train.run.folder import Run
from engine.train.run.runs import read_metrics, read_status
from tests import warm
from tests.engine.tiny_runs import ROOT, command_of, tiny_config
from tests.engine.tiny_texts import of, text_config, words_of
from tests.engine.train.test_runs import wait_for

pytestmark = pytest.mark.usefixtures("cache")
LAST = "import sys; from engine.commands.command_line import main; sys.exit(main(sys.argv[1:]))"
MANY = {"batch_tokens": 256, "micro_batch_tokens": 50}  # several parts for each rank


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


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


def torchrun(folder: Path, *words: str | Path, script: str = "") -> warm.Process | subprocess.Popen[str]:
    """Start `torchrun -m engine ...` with two processes on this machine.

    Args: script: Python that runs in each of them first.
    """
    launch = ("--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", str(free_port()))
    return warm.start(
        ["-m", "torch.distributed.run", *launch, *program(folder, script), *words],
        environment=environment(folder),
        one_output=True,
    )


def by_two(folder: Path, *words: str | Path, script: str = "") -> str:
    """Let two processes work that nobody watches over, to their end; return what the first says."""
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2"}
    ranks = [
        warm.start(
            [*program(folder, script), *words],
            environment={**environment(folder), **shared, "RANK": rank, "LOCAL_RANK": rank},
            one_output=True,
        )
        for rank in "01"
    ]
    said = [rank.communicate(timeout=240)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], "\n".join(said)
    return said[0]


def program(folder: Path, script: str) -> list[str]:
    """Return the words after `python` for the engine, or for a file that runs a script first."""
    if not script:
        return ["-m", "engine"]
    (folder / "first.py").write_text(f"{script}\n{LAST}", encoding="utf-8")
    return [str(folder / "first.py")]


def environment(folder: Path) -> dict[str, str]:
    ours = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder / "xdg")}
    return {**os.environ, **ours}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def steps_of(run_dir: Path) -> list[dict[str, Any]]:
    return [record for record in read_metrics(run_dir) if record["event"] == "step"]


def up_to(events: Iterator[Event], step: int) -> None:
    """Run until after a step."""
    next(event for event in events if isinstance(event, Step) and event.step == step)


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert "Continue with" in said and "[rank1]" not in said
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
        assert list(ALONE.join(open_device(DeviceConfig(device="cpu")))) == []
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("RANK", "0")
    events = list(pretrain(text_config(tmp_path, steps=1), tmp_path / "run"))
    assert isinstance(events[-1], Finished) and of(Started, events)[0].num_steps == 1


# what the others wait for, and what becomes of them

IMPATIENT = """
import datetime, os, time
import torch.distributed as dist
from engine.train.pretraining import language
from engine.train.pretraining import setup as pretraining_setup

form, prepare, evaluate = dist.init_process_group, pretraining_setup.prepare, language.LanguageModel.evaluate

def impatient(*args, **more):  # as NCCL, whose patience is ten minutes, scaled to four seconds
    form(*args, **{**more, "timeout": datetime.timedelta(seconds=4)})

def slowly(made):
    def work(*args, **more):
        time.sleep(work.seconds if os.environ["RANK"] == "0" else 0)
        work.seconds = 0  # once is enough
        return (yield from made(*args, **more))
    work.seconds = 6
    return work

dist.init_process_group, pretraining_setup.prepare = impatient, slowly(prepare)
language.LanguageModel.evaluate = slowly(evaluate)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("gloo")
def test_the_others_wait_while_the_first_prepares_and_measures_for_longer_than_a_group_does(
    tmp_path: Path,
) -> None:
    config = text_config(tmp_path, steps=2, evaluations=1, validation_tokens=128, **MANY)
    words = [("--run-dir" if word == "--run" else word) for word in words_of(config, tmp_path / "run")]
    by_two(tmp_path, *words, script=IMPATIENT)
    assert read_status(tmp_path / "run")["state"] == "finished"


ENDS = {
    "that fails": (
        "raise UserError('This disk is broken.')",
        "Process 1 of 2 failed, so all of them ended. The last checkpoint is kept. Its message: This disk",
    ),
    "that is killed": ("os.kill(os.getpid(), 9)", "Another of the 2 processes of this run was killed"),
}


@pytest.mark.slow
@pytest.mark.usefixtures("gloo")
@pytest.mark.parametrize("name", ENDS)
def test_another_process_ends_the_run_with_its_reason_at_once(tmp_path: Path, name: str) -> None:
    end, reason = ENDS[name]
    script = f"""
import os
from engine.errors import UserError
from engine.train.pretraining import text_feed

take = text_feed.TextFeed.take

def ending(feed, step, progress):
    if step == 4 and os.environ["RANK"] == "1":
        {end}
    return take(feed, step, progress)

text_feed.TextFeed.take = ending
"""
    config = text_config(tmp_path, steps=4000, checkpoint_every_steps=2, **MANY)
    words = [("--run-dir" if word == "--run" else word) for word in words_of(config, tmp_path / "run")]
    process = torchrun(tmp_path, *words, script=script)
    said, _ = process.communicate(timeout=100)
    status = read_status(tmp_path / "run")
    assert status["state"] == "failed" and status["reason"].startswith(reason), said
    assert process.returncode and reason in said and "Continue with" in said


def test_another_process_writes_down_why_it_failed_while_the_first_hangs(tmp_path: Path) -> None:
    class Second(Ranks):
        rank, world_size = 1, 2

        def told(self, config: DeviceConfig) -> Iterator[Event]:  # type: ignore[override]
            raise MemoryError("too little")
            yield

    config = text_config(tmp_path)
    with Run.create(tmp_path / "run", config) as run:
        run.set_status("running", step=7)
        with pytest.raises(MemoryError):
            list(lifecycle.follow(Pretraining(config, Second()), tmp_path / "run"))
    status = read_status(tmp_path / "run")
    assert (status["state"], status["step"]) == ("failed", 7)
    assert status["reason"].startswith("Process 1 of 2 failed") and "too little" in status["reason"]


def test_the_others_compute_on_what_the_first_one_settled_on(monkeypatch: pytest.MonkeyPatch) -> None:
    formed: list[str] = []
    dist = torch.distributed
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(dist, "init_process_group", lambda backend, **_: formed.append(backend))
    monkeypatch.setattr(dist, "new_group", lambda **_: None)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
    monkeypatch.setattr(ranks_module, "_LOOK_S", 0.0)
    store = dist.HashStore()
    first, second = (ranks_module._Together(store, rank, 2) for rank in (0, 1))
    device = open_device(DeviceConfig(device="cpu", num_threads=1))
    joining = first.join(device)
    next(joining)
    waiting = second.told(DeviceConfig(device="auto"))
    with pytest.raises(StopIteration) as told:
        next(waiting)
    assert told.value.value == device and settled(told.value.value) == settled(device)
    assert list(second.join(told.value.value)) == [] and list(joining) == []
    assert formed == ["gloo", "gloo"]


def test_more_processes_than_gpus_are_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    ranks = ranks_module._Together(torch.distributed.HashStore(), 0, 2)
    on_cpu = open_device(DeviceConfig(device="cpu", num_threads=1))
    ranks.check(on_cpu)
    with pytest.raises(ConfigError, match="2 processes were started on this machine, which has 1 GPUs"):
        ranks.check(ranks_module.replace(on_cpu, device=torch.device("cuda")))


@pytest.mark.slow
@pytest.mark.usefixtures("gloo")
def test_a_fine_tuning_by_two_has_the_losses_and_measures_of_one(tmp_path: Path) -> None:
    config = tiny_config(
        tmp_path, hidden_dropout=0.0, attention_dropout=0.0, test_share=0.2, batch_size=4
    )  # the last batch of an epoch has three examples
    list(fine_tune(config, tmp_path / "whole"))
    words = [("--run-dir" if word == "--run" else word) for word in command_of(config, tmp_path / "run")]
    said = by_two(tmp_path, *words)
    assert "Warning" not in said, said
    wanted, found = steps_of(tmp_path / "whole"), steps_of(tmp_path / "run")
    for name in ("step", "loss", "accuracy", "num_tokens", "gradient_norm"):
        told = [[step[name] for step in steps] for steps in (wanted, found)]
        assert told[1] == pytest.approx(told[0], rel=1e-4), name
    measured = [
        [(record["split"], record["metrics"], record["confusion"]) for record in read_metrics(tmp_path / name)
         if record["event"] == "evaluated"]
        for name in ("whole", "run")
    ]  # fmt: skip
    assert len(measured[0]) > 2 and measured[0] == measured[1]
    assert read_status(tmp_path / "run")["state"] == "finished"


def test_every_rank_has_examples_in_every_step_and_together_they_have_all() -> None:
    class Of(Ranks):
        def __init__(self, rank: int, world_size: int) -> None:
            self.rank, self.world_size = rank, world_size

    lengths = np.random.default_rng(0).integers(3, 60, 41)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    ids, zeros = np.zeros(bounds[-1], np.int32), np.zeros(41, np.int64)
    data = EncodedRows(ids, bounds, lengths.astype(np.int32), zeros, np.arange(41))
    for world_size in (2, 3):
        feeds = [EpochFeed(data, 8, 1, 7, Of(rank, world_size)) for rank in range(world_size)]
        assert {feed.steps_per_epoch for feed in feeds} == {6}  # the last batch of an epoch has one example
        shares = [[feed.take(step, 0.0) for step in range(1, 7)] for feed in feeds]
        assert all(len(share) for rank in shares for share in rank)
        together = np.concatenate([share for rank in shares for share in rank])
        assert sorted(together.tolist()) == list(range(41))
    few = EpochFeed(data, 16, 1, 7, Of(0, 2))
    taken = [few.take(step, 0.0) for step in range(1, 4)]
    tokens = np.array([lengths[share].sum() for share in taken])
    assert abs(2 * tokens.sum() - lengths.sum()) < 0.1 * lengths.sum()


def test_what_is_not_shared_is_refused_where_several_processes_were_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Two(Ranks):
        world_size = 2

    with pytest.raises(ConfigError, match="batch_size is 1; 2 processes that share each step"):
        check_ranks(tiny_config(tmp_path, batch_size=1), Two())
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(RunError, match="2 processes were started, but only pretraining and fine-tuning"):
        next(pipeline(PipelineConfig(), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_processes_that_are_started_again_go_on_with_their_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = text_config(tmp_path, steps=6, checkpoint_every_steps=2)
    begun = pretrain(config, tmp_path / "run")
    up_to(begun, 3)
    begun.close()  # type: ignore[attr-defined]
    with pytest.raises(RunError, match="is not empty"):
        next(pretrain(config, tmp_path / "run"))
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    with pytest.raises(RunError, match="is not empty"):
        next(pretrain(with_values(config, {"steps": 7}), tmp_path / "run"))
    events = list(pretrain(config, tmp_path / "run"))
    assert of(Started, events)[0].first_step == 4 and of(Step, events)[-1].step == 6
