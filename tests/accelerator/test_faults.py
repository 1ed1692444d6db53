"""Mistakes of the kinds that a GPU forgives until it is too late, planted in the engine: each is caught.

Without them the same run is quiet, which test_training.py shows; so whoever makes one is told by tests that
need no GPU.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.device import gpu
from engine.events import Step
from engine.model import chunked_loss, heads
from engine.model.kernels import Noise
from engine.text import batch
from engine.text.batch import Bounds
from engine.train import task as task_module
from engine.train.finetune import fine_tune
from engine.train.loop import Loop, TrainingError
from engine.train.optimizer import Optimizer
from engine.train.pretrain import pretrain, resume
from engine.train.run import writer
from engine.train.run.folder import Run
from engine.train.run.writer import Snapshot
from engine.train.underway import Underway
from tests.accelerator.emulated import Fault, machine
from tests.accelerator.test_training import NEVER, QUIET, outcome, quiet
from tests.engine.steps import stop_at
from tests.engine.tiny_runs import losses, tiny_config
from tests.engine.tiny_texts import of, text_config

pytestmark = pytest.mark.slow
STEPS_OF_QUIET = len(QUIET)


def waited(folder: Path) -> list[str]:
    """Return where the host waits in the quiet steps of a pretraining."""
    machine.lag = 0
    return outcome(pretrain(quiet(folder, device="cuda"), folder / "run"))[2]


def test_a_look_at_a_number_in_the_loop_is_counted_in_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Loop._micro_batch

    def looking(loop: Loop, part: Any, totals: Tensor) -> Tensor:
        tally = whole(loop, part, totals)
        assert tally[0].item() > 0
        return tally

    monkeypatch.setattr(Loop, "_micro_batch", looking)
    found = waited(tmp_path)
    assert len(found) == STEPS_OF_QUIET and all("_local_scalar_dense" in one for one in found)


def test_a_branch_on_the_gradients_norm_is_counted_and_its_place_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = Optimizer._clip

    def careful(optimizer: Optimizer, touched: Tensor | None) -> Tensor:
        norm = clip(optimizer, touched)
        return norm if norm.isfinite() else norm * 0

    monkeypatch.setattr(Optimizer, "_clip", careful)
    found = waited(tmp_path)
    assert len(found) == STEPS_OF_QUIET and all("engine/train/optimizer.py:" in one for one in found)


def test_numbers_that_go_over_by_memory_that_is_not_pinned_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "on_device", lambda tensor, device: tensor.to(device, non_blocking=True))
    found = waited(tmp_path)
    assert len(found) >= STEPS_OF_QUIET and all("a copy to the device at engine/text" in one for one in found)


@pytest.mark.parametrize("pooling", ["", "mean"])
def test_what_labels_count_and_lengths_that_are_brought_over_anew_are_counted(
    pooling: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def anew(weights: tuple[float, ...], device: torch.device) -> Tensor:
        return torch.tensor(weights, device=device)

    def means(hidden: Tensor, bounds: Bounds) -> Tensor:
        lengths = torch.tensor(bounds.lengths, device=hidden.device)
        examples = torch.arange(len(bounds), device=hidden.device).repeat_interleave(lengths)
        sums = hidden.new_zeros(len(bounds), hidden.shape[-1])
        return sums.index_add(0, examples, hidden[: len(examples)]) / lengths[:, None]

    monkeypatch.setattr(task_module, "weights_on", anew)
    monkeypatch.setattr(heads, "_means", means)
    machine.lag = 0
    values = {"device": "cuda", "batch_size": 4, "num_epochs": 1, "checkpoint_every_steps": NEVER}
    config = tiny_config(tmp_path, rare_labels="weighted", pooling=pooling, **values)
    found = outcome(fine_tune(config, tmp_path / "run"))[2]
    each = 3 if pooling else 1  # the weights; the lengths, and how many there are
    assert len(found) == each * STEPS_OF_QUIET


def test_a_tensor_left_on_the_cpu_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_module, "weights_on", lambda weights, device: torch.tensor(weights))
    config = tiny_config(tmp_path, device="cuda", rare_labels="weighted")
    with pytest.raises(RuntimeError, match="on the same device"):
        list(fine_tune(config, tmp_path / "run"))


def test_moments_left_on_the_cpu_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reserve(optimizer: Optimizer) -> None:
        for name, weight in optimizer._named.items():
            both = {key: torch.zeros(weight.shape) for key in ("exp_avg", "exp_avg_sq")}
            optimizer._moments.setdefault(name, {"step": torch.zeros((), device=weight.device), **both})

    monkeypatch.setattr(Optimizer, "reserve", reserve)
    with pytest.raises(Fault, match="_fused_adamw_ got one of"):
        list(pretrain(quiet(tmp_path, device="cuda"), tmp_path / "run"))


def test_gradients_added_to_memory_that_nobody_cleared_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Careless:
        """torch, where what should be zeros is whatever lay there."""

        zeros_like = staticmethod(torch.empty_like)

        def __getattr__(self, name: str) -> Any:
            return getattr(torch, name)

    monkeypatch.setattr(chunked_loss, "torch", Careless())
    with pytest.raises(TrainingError, match="nan"):
        list(pretrain(quiet(tmp_path, device="cuda"), tmp_path / "run"))


def test_rows_that_the_packed_kernel_never_wrote_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bounds, "sequences", lambda bounds, num_rows: bounds.offsets)  # filler is in none
    config = quiet(tmp_path, model="new:2x24x3", device="cuda", precision="auto")
    with pytest.raises(TrainingError, match="nan"):
        list(pretrain(config, tmp_path / "run"))


def test_numbers_that_are_read_before_they_have_arrived_are_no_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Underway, "has_arrived", lambda numbers: True)
    monkeypatch.setattr(Underway, "read", lambda numbers: numbers._values)
    with pytest.raises(TrainingError, match="nan"):
        list(pretrain(quiet(tmp_path, device="cuda"), tmp_path / "run"))


def saving(folder: Path) -> None:
    """Do a run that saves often."""
    list(
        pretrain(text_config(folder, device="cuda", checkpoint_every_steps=4, evaluations=1), folder / "run")
    )


def test_a_checkpoint_of_copies_that_nobody_waited_for_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Snapshot, "reading", lambda snapshot: gpu().stream(gpu().Stream()))
    with pytest.raises(Fault, match="takes what another one may still be writing"):
        saving(tmp_path)


def test_a_checkpoint_of_weights_that_go_on_moving_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = Run.save_checkpoint

    def late(run: Run, step: int, *given: Any) -> Path:
        moved, until = machine.kinds["_fused_adamw_"], time.monotonic() + 20
        while step == 4 and machine.kinds["_fused_adamw_"] < moved + 2 and time.monotonic() < until:
            time.sleep(0.001)  # the next step goes on meanwhile
        return save(run, step, *given)

    machine.lag = 1_000_000  # nothing is known to be done but by waiting
    monkeypatch.setattr(writer, "_copied", lambda value: value)
    monkeypatch.setattr(Run, "save_checkpoint", late)
    with pytest.raises(Fault, match="takes what another one may still be writing"):
        saving(tmp_path)


def test_pinned_memory_that_is_used_again_too_early_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    staging: dict[tuple[Any, ...], Tensor] = {}

    def thrifty(tensor: Tensor, device: torch.device) -> Tensor:
        key = (tensor.shape, tensor.dtype)
        if key not in staging:
            staging[key] = tensor.pin_memory()
        return staging[key].copy_(tensor).to(device, non_blocking=True)

    monkeypatch.setattr(batch, "on_device", thrifty)
    with pytest.raises(Fault, match="changed memory that was still being copied from"):
        list(pretrain(quiet(tmp_path, device="cuda"), tmp_path / "run"))


def test_dropout_whose_seed_is_the_cpus_alone_does_not_repeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seed(noise: Noise, *numbers: int) -> None:
        torch.default_generator.manual_seed(sum(numbers))

    monkeypatch.setattr(Noise, "seed", seed)
    config = quiet(tmp_path, device="cuda", hidden_dropout=0.3, checkpoint_every_steps=2)
    whole = losses(pretrain(config, tmp_path / "whole"))
    stop_at(pretrain(config, tmp_path / "stopped"), 4)
    gone_on = of(Step, resume(tmp_path / "stopped"))
    assert [step.loss for step in gone_on] != whole[-len(gone_on) :]


def test_without_any_of_them_the_same_runs_are_quiet(tmp_path: Path) -> None:
    assert waited(tmp_path) == []
    machine.renew()
    (tmp_path / "saving").mkdir()
    saving(tmp_path / "saving")
