"""What every run needs around its loop: a true status, the machine it was begun on, room on the disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import torch

from engine.device import Device, has_bfloat16, is_out_of_memory, open_device
from engine.errors import RunError, Sentence, UserError, marked
from engine.events import Event, Noted
from engine.model.config import BertConfig, count_parameters
from engine.model.kernels import cpu_kernels
from engine.settings.finetune import DeviceConfig
from engine.settings.setting import check, convert
from engine.train.ranks import settled
from engine.train.run.checkpoint import Checkpoint
from engine.train.run.runs import MODEL, Run, read_status


@contextmanager
def reopened(path: Path) -> Iterator[Run]:
    """Hold a run folder to go on with it. Raises: RunError if it is finished, in use or not a run."""
    with Run.reopen(path) as run:
        if read_status(path).get("state") == "finished":
            raise RunError(
                marked("engine", "The run in {path} is finished; its model lies in {model}."),
                path=path,
                model=path / MODEL,
            )
        run.set_status("running")
        yield run


def guarded(run: Run, task: Iterator[Event]) -> Iterator[Event]:
    """Run a task and leave the folder's status true, however it ends; the first fault is the one told."""
    try:
        yield from noting(task, run.note)
    except (GeneratorExit, KeyboardInterrupt):
        run.set_status("stopped")
        raise
    except BaseException as error:
        fault = run.removed() or _plainly(error)
        with suppress(UserError):
            run.set_status("failed", reason=str(fault) if isinstance(fault, UserError) else repr(fault))
        if fault is error:
            raise
        raise fault from error
    run.set_status("finished")


@contextmanager
def keeping(keep: Callable[[], None]) -> Iterator[None]:
    """Call `keep`, which saves what was learned, where a run ends before its time.

    A save that fails when a run is stopped is told; beside another fault, that one is.
    """
    try:
        yield
    except GeneratorExit:
        keep()
        raise
    except BaseException:
        with suppress(UserError, MemoryError):
            keep()
        raise


def noting(task: Iterator[Event], note: Callable[[Noted], None]) -> Generator[Event, None, Any]:
    """Run a task, with its return value, and pass on what it notes before anybody else hears of it."""
    try:
        while True:
            try:
                event = next(task)
            except StopIteration as end:
                return end.value
            if isinstance(event, Noted):
                note(event)
            yield event
    finally:
        if isinstance(task, Generator):
            task.close()


def _plainly(error: BaseException) -> BaseException:
    """Return a sentence in the place of an error that says no more than that memory ran out."""
    if isinstance(error, UserError) or not is_out_of_memory(error):
        return error
    return UserError(
        marked(
            "engine",
            "Memory does not suffice for this model. Choose a smaller one, or end other programs; the last "
            "checkpoint is kept.",
        )
    )


def recipe_of(device: Device) -> dict[str, Any]:
    """Return what decides the last bits beside the settings, for the record of a run."""
    return {
        **settled(device),
        "cpu_kernels": cpu_kernels(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
    }


def as_before(
    config: DeviceConfig, recipe: dict[str, Any], checkpoint: Checkpoint | None
) -> tuple[Device, list[Sentence]]:
    """Return the device a run was begun on, as near as there is one here, and what differs from then."""
    names = ("device", "precision", "num_threads", "micro_batch_tokens")
    hints = get_type_hints(DeviceConfig)
    wanted = replace(config, **{name: convert(name, recipe.get(name), hints[name]) for name in names})
    check(wanted)  # it may have been edited
    if checkpoint is not None:  # smaller, where memory ran out on the way
        wanted = replace(wanted, micro_batch_tokens=int(checkpoint.state["micro_batch_tokens"]))
    if wanted.device == "cuda" and not torch.cuda.is_available():
        wanted = replace(wanted, device="cpu", precision="float32")
    if not has_bfloat16(wanted):
        wanted = replace(wanted, precision="auto")
    device = open_device(wanted)
    now = recipe_of(device)
    template = marked(
        "engine", "This run was begun with {name} {before}; here it is {now}, so its last digits may differ."
    )
    told = ("device", "precision", "cpu_kernels", "cpu_capability", "torch")
    return device, [
        Sentence(template, {"name": name, "before": recipe.get(name, "?"), "now": now[name]})
        for name in told
        if recipe.get(name) != now[name]
    ]


@contextmanager
def fitting(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Tell in a sentence that what a checkpoint holds does not fit the run. Raises: RunError."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
        if checkpoint is None or is_out_of_memory(error):
            raise
        raise RunError(
            marked(
                "engine",
                "The checkpoint {path} does not fit the run that it lies in, so the run cannot go on. Start "
                "a new one.",
            ),
            path=checkpoint.path,
        ) from error


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
                "The disk has too little room: checkpoints need {needed:.1f} GB in {path}, and "
                "{free:.1f} GB are free.",
            ),
            needed=needed / 1e9,
            free=free / 1e9,
            path=there,
        )
