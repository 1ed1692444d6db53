"""Whether training on this GPU is right: every check with its figures, and exit code 1 where one fails.

python -m benchmarks.gpu_check

Without a GPU, or with --cpu, the part of each check that needs none is done, and what no GPU has seen is
said. A check that breaks off counts as failed, with what it said.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from benchmarks import gpu_parity
from benchmarks.gpu_runs import (
    CURVES,
    Scene,
    apart,
    killed,
    memory_over_shapes,
    steps_without_waiting,
    stopped,
)
from benchmarks.measure import machine
from engine.device import gpu

FALL = 0.3  # of loss, that a curve has to fall by, else two that agree say little
HELD, TAKEN_MB, SLACK_MB = 1.1, 1.0, 48.0  # growth of memory from the second quarter on


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found. passed: None for what only a GPU could tell, where there is none."""

    name: str
    passed: bool | None
    figures: str


def parity(scene: Scene, has_gpu: bool) -> Iterator[Finding]:
    """Losses and all gradients: packed beside padded, one kernel beside another, GPU beside CPU."""
    for pair in gpu_parity.pairs(has_gpu):
        yield Finding(pair.name, pair.passed, pair.figures())
    if not has_gpu:
        for name in ("GPU float32 beside CPU float32", "packed kernel beside run by run, GPU bfloat16"):
            yield Finding(name, None, "")
        yield Finding("GPU bfloat16 beside CPU float32", None, "")


def curves(scene: Scene, has_gpu: bool) -> Iterator[Finding]:
    """The same run on both, from one seed."""
    full = scene.losses("cpu", scene.settings("cpu", precision="float32"))
    again = scene.losses("cpu again", scene.settings("cpu", precision="float32"))
    fell = full[0] - full[-1]
    figures = f"{len(full)} steps of {scene.preset}, loss {full[0]:.3f} to {full[-1]:.3f}"
    told = f"{figures}; {sum(a != b for a, b in zip(full, again, strict=True))} steps differ"
    yield Finding("the same curve twice, CPU float32", full == again, told)
    name = "curve of the GPU, bfloat16, beside the CPU's, float32"
    if not has_gpu:
        yield Finding(name, None, "")
        return
    off = apart(scene.losses("gpu", scene.settings("cuda")), full)
    figures += f"; means over a tenth of the steps at most {off:.4f} apart (at most {CURVES})"
    yield Finding(name, off <= CURVES and (fell > FALL or scene.num_steps < 100), figures)


def going_on(scene: Scene, has_gpu: bool) -> Iterator[Finding]:
    """A run that is stopped, and one that is killed, beside one that is neither."""
    for device in ("cpu", "cuda") if has_gpu else ("cpu",):
        steps = max(6, min(30, scene.num_steps // 2))
        changes = {"steps": steps, "checkpoint_every_steps": 2, "batch_tokens": 512}
        precision = "auto" if device == "cuda" else "float32"
        config = scene.settings(device, precision=precision, **changes)
        whole = scene.losses(f"whole {device}", config)
        for name, ended in (("stopped", stopped), ("killed", killed)):
            found = ended(scene, f"{name} {device}", config, steps // 2)
            off = max((abs(a - b) for a, b in zip(whole, found, strict=False)), default=float("inf"))
            limit = 0.0 if device == "cpu" else CURVES
            told = f"{len(found)} of {steps} steps, losses at most {off:.2e} apart (at most {limit})"
            passed = len(found) == steps and off <= limit
            yield Finding(f"a run that is {name} and goes on, {device.upper()}", passed, told)
    if not has_gpu:
        yield Finding("a run that is stopped or killed and goes on, GPU", None, "")


def waiting(scene: Scene, has_gpu: bool) -> Iterator[Finding]:
    """Ten steps in which the processor never waits for the GPU."""
    name = "ten steps without waiting for the GPU"
    if not has_gpu:
        yield Finding(name, None, "")
        return
    found = steps_without_waiting(scene)
    yield Finding(name, len(found) == 10, f"{len(found)} steps told of, loss {found[-1]:.3f}")


def compiled(scene: Scene, has_gpu: bool) -> Iterator[Finding]:
    """The same run with compile=true."""
    name = "compile=true beside compile=false, GPU"
    if not has_gpu:
        yield Finding(name, None, "")
        return
    curves = []
    for is_compiled in (False, True):
        config = scene.settings("cuda", steps=min(60, scene.num_steps), compile=is_compiled)
        curves.append(scene.losses(f"compile {is_compiled}", config))
    off = apart(*curves)
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    yield Finding(name, off <= CURVES, f"means {off:.4f} apart (at most {CURVES}), {graphs} graphs")


def shapes(scene: Scene, has_gpu: bool) -> Iterator[Finding]:
    """Memory while every batch has another shape."""
    for device in ("cuda", "cpu") if has_gpu else ("cpu",):
        found = memory_over_shapes(scene, device)
        taken, held = found["taken"], found["held"]
        passed = held[-1] <= HELD * held[1] + SLACK_MB
        if device == "cuda":
            passed = passed and taken[-1] - taken[1] <= TAKEN_MB
        told = ", ".join(f"{a:.0f} ({b:.0f})" for a, b in zip(taken, held, strict=True))
        name = f"memory over {scene.num_shapes} batches of other shapes, {device.upper()}"
        yield Finding(name, passed, f"MB taken (held) at the quarters: {told}")
    if not has_gpu:
        yield Finding("memory over batches of other shapes, GPU", None, "")


CHECKS: dict[str, Callable[[Scene, bool], Iterator[Finding]]] = {
    "parity": parity,
    "curves": curves,
    "resume": going_on,
    "sync": waiting,
    "compile": compiled,
    "memory": shapes,
}


def check(names: Sequence[str], scene: Scene, has_gpu: bool) -> Iterator[Finding]:
    """Yield what each check finds; one that breaks off has failed."""
    for name in names:
        try:
            yield from CHECKS[name](scene, has_gpu)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {str(error)[:300]} ({place.filename}:{place.lineno})"
            yield Finding(name, False, said)


def main(words: Sequence[str] | None = None) -> int:
    """Check, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=",".join(CHECKS), help="of these checks, separated by commas")
    parser.add_argument("--preset", default="mini", help="size of the model whose curves are compared")
    parser.add_argument("--steps", type=int, default=200, help="of these curves")
    parser.add_argument("--shapes", type=int, default=2000, help="batches whose memory is watched")
    parser.add_argument("--cpu", action="store_true", help="leave a GPU alone")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    given = parser.parse_args(words)
    has_gpu, names = gpu().is_available() and not given.cpu, given.only.split(",")
    if unknown := [name for name in names if name not in CHECKS]:
        parser.error(f"there is no check {unknown[0]}; there are {', '.join(CHECKS)}")
    print(machine(), flush=True)
    found: list[Finding] = []
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for finding in check(names, Scene(Path(folder), given.preset, given.steps, given.shapes), has_gpu):
            found.append(finding)
            if finding.passed is not None:
                print(
                    f"{'pass' if finding.passed else 'FAIL'}  {finding.name}: {finding.figures}", flush=True
                )
    unseen = [finding.name for finding in found if finding.passed is None]
    failed = sum(finding.passed is False for finding in found)
    if unseen:
        print("No GPU was there for:", *unseen, sep="\n      ")
    seconds = time.monotonic() - began
    passed = len(found) - failed - len(unseen)
    print(f"{failed} failed, {passed} passed, {len(unseen)} not seen; {seconds:.0f} s")
    if given.json:
        about = {"machine": machine(), "findings": [asdict(finding) for finding in found]}
        given.json.write_text(json.dumps(about, indent=1), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
