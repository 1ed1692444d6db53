"""The machine that a run is on: what of it decides the last bits, its device as before, room on its disk."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from engine.device import TORCH, Device, gpu, has_bfloat16, open_device
from engine.errors import Sentence, UserError, marked
from engine.model.config import BertConfig, count_parameters
from engine.settings.setting import check, convert, types_of
from engine.settings.shared import DeviceConfig
from engine.train.ranks import settled
from engine.train.run.checkpoint import Checkpoint


def recipe_of(device: Device) -> dict[str, Any]:
    """Return what decides the last bits beside the settings, for the record of a run."""
    return {
        **settled(device),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
    }


def as_before(
    config: DeviceConfig, recipe: dict[str, Any], checkpoint: Checkpoint | None
) -> tuple[Device, list[Sentence]]:
    """Return the device a run was begun on, as near as there is one here, and what differs from then."""
    recipe = {"kernels": recipe.get("cpu_kernels", TORCH), **recipe}  # as runs of version 0.1 called it
    names = ("device", "precision", "kernels", "num_threads", "micro_batch_tokens")
    hints = types_of(DeviceConfig)
    wanted = replace(config, **{name: convert(name, recipe.get(name), hints[name]) for name in names})
    check(wanted)  # it may have been edited
    if checkpoint is not None:  # smaller, where memory ran out on the way
        wanted = replace(wanted, micro_batch_tokens=int(checkpoint.state["micro_batch_tokens"]))
    if wanted.device == "cuda" and not gpu().is_available():
        wanted = replace(wanted, device="cpu", precision="float32")
    if not has_bfloat16(wanted):
        wanted = replace(wanted, precision="auto")
    device = open_device(wanted)
    now = recipe_of(device)
    template = marked(
        "engine", "This run was begun with {name} {before}. Here it is {now}, so its last digits may differ."
    )
    told = ("device", "precision", "kernels", "cpu_capability", "torch")
    return device, [
        Sentence(template, {"name": name, "before": recipe.get(name, "?"), "now": now[name]})
        for name in told
        if recipe.get(name) != now[name]
    ]


def check_space(run_dir: Path, config: BertConfig, num_kept: int) -> None:
    """Refuse a run whose checkpoints and kept copies the disk cannot hold. Raises: UserError."""
    weights = 4 * sum(count_parameters(config).values())
    # two checkpoints of weights and two moments each, a third in the making, the result
    needed = 8 * weights + num_kept * weights // 2
    there = next(folder for folder in (run_dir, *run_dir.absolute().parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < needed:
        raise UserError(
            marked(
                "engine",
                "The disk has too little room. Checkpoints need {needed} in {path}, but {free} are free.",
            ),
            needed=_room(needed),
            free=_room(free),
            path=there,
        )


def _room(num_bytes: int) -> str:
    size, unit = next((one for one in _UNITS if num_bytes >= one[0]), _UNITS[-1])
    return f"{num_bytes / size:.1f} {unit}"


_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
