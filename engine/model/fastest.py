"""What computes a model's layers fastest on this CPU: measured in a second, once for a machine and a build.

A block of the model's own sizes is trained for a moment in each way, in turns, and the least processor time
of each counts, which others' work hardly changes. What was measured while others computed as well, or in a
few turns only, is used and not kept. No library and no precision is the fastest on every processor, so
nothing here goes by a processor's name.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import platformdirs
import torch

from engine.device import ONEDNN, TORCH, Device, computing, cpu_has_bfloat16, onednn, processor_name
from engine.durable import write_text
from engine.errors import Sentence, UserError, marked
from engine.files import read_json_object
from engine.model.bert import Block, initialize
from engine.model.config import BertConfig
from engine.model.kernels import Noise, low_where_asked
from engine.settings.shared import DeviceConfig

BFLOAT16 = "bfloat16"
WORTH_IT = 1.2  # times as fast as the fastest in float32; less does not pay for the digits that it costs
MOST_S, LEAST_ROUNDS = 0.8, 8  # of which fewer are used and not kept
LEAST_S = 1e-6  # that a clock of coarse ticks may show as nothing
NUM_FLOPS = 7e8  # of a block's forward pass, at most: two dozen rounds on two cores
LENGTH = 32  # tokens of a text
CROWDED = 1.1  # seconds for each that this thread computes, where others compute as well; alone it is 1.0

_lock = threading.Lock()  # two that measure at once would measure each other


def fastest(device: Device, asked: DeviceConfig, config: BertConfig) -> Device:
    """Return `device` with the kernels and the precision that `asked` leaves open; a GPU as it is.

    Measures for at most a second where this machine has not yet been measured for a model of such sizes.
    """
    if device.device.type != "cpu":
        return device
    kernels, precision = device.kernels, device.precision
    if asked.kernels == "auto" and precision == torch.float32:
        kernels = kernels_for(config)
    if asked.precision == "auto" and cpu_has_bfloat16() and gain(config) >= WORTH_IT:
        precision = torch.bfloat16
    return replace(device, kernels=kernels, precision=precision)


def said_of(device: Device, asked: DeviceConfig, config: BertConfig) -> Sentence | None:
    """Return the sentence on a precision that was not asked for by name; None where none is needed."""
    if device.device.type != "cpu" or device.precision == torch.float32 or asked.precision != "auto":
        return None
    template = marked(
        "engine",
        "Computed in bfloat16, which has three digits. When it was measured, this "
        "processor trained {gain:.1f} times as fast with it as in float32. Weights are "
        "kept in float32. Precision float32 computes with seven digits.",
    )
    return Sentence(template, {"gain": gain(config)})


def kernels_for(config: BertConfig) -> str:
    """Return what multiplies float32 matrices fastest here for a model of these sizes."""
    seconds = seconds_of(config)
    return min((TORCH, ONEDNN), key=lambda name: seconds.get(name, math.inf))


def gain(config: BertConfig) -> float:
    """Return how many times as fast as the fastest in float32 a model's blocks train in bfloat16 here."""
    seconds = seconds_of(config)
    return min(seconds[TORCH], seconds.get(ONEDNN, math.inf)) / seconds.get(BFLOAT16, math.inf)


def seconds_of(config: BertConfig) -> Mapping[str, float]:
    """Return the seconds that a block of these sizes takes each way, as measured now or kept from before."""
    return _seconds_of(config.hidden_size, config.intermediate_size, config.num_attention_heads)


@cache
def _seconds_of(width: int, inner: int, heads: int) -> Mapping[str, float]:
    # whoever asks may have switched gradients off, and what is measured is a step of training
    with _lock, torch.inference_mode(False), torch.enable_grad():
        path, key = _path(), _key(width, inner, heads)
        kept = _read(path)
        if key not in kept:
            found, is_sure = measure(width, inner, heads)
            if not is_sure:
                return found
            with suppress(UserError, OSError):  # not kept, so measured again next time: slower, not wrong
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text(path, json.dumps({**_read(path), key: found}, indent=1))
            return found
        return kept[key]


def _path() -> Path:
    return Path(platformdirs.user_cache_dir("cloze", appauthor=False)) / "speeds.json"


def _key(width: int, inner: int, heads: int) -> str:
    build = f"{processor_name()}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    return f"{build}, {width} x {inner}, {heads} heads, processor time"


def measure_again(config: BertConfig) -> None:
    """Let the next run of a model of these sizes measure anew, for this one was slower than it was told.

    The run itself keeps its kernels to its end: resumed, it is to give the same numbers.
    """
    key = _key(config.hidden_size, config.intermediate_size, config.num_attention_heads)
    with _lock:
        forget()
        kept = _read(_path())
        if kept.pop(key, None) is not None:
            with suppress(UserError, OSError):
                write_text(_path(), json.dumps(kept, indent=1))


def forget() -> None:
    """Forget what this process knows: the next question is answered from the file, or measured."""
    _seconds_of.cache_clear()


def _read(path: Path) -> dict[str, dict[str, float]]:
    """Return what was measured before: what of a file can be understood."""
    try:
        found = read_json_object(path)
    except (UserError, OSError):
        return {}
    return {key: times for key, times in found.items() if _is_whole(times)}


def _is_whole(times: object) -> bool:
    if not isinstance(times, dict) or TORCH not in times:
        return False
    return all(isinstance(one, float) and 0.0 < one < math.inf for one in times.values())


def measure(width: int, inner: int, heads: int) -> tuple[dict[str, float], bool]:
    """Time a forward and a backward pass of one block, each way there is on this CPU.

    Returns: the least seconds of each way, and whether they are sure enough to be kept.
    """
    ways = {TORCH: (TORCH, torch.float32)}
    if onednn is not None:
        ways[ONEDNN] = (ONEDNN, torch.float32)
    if cpu_has_bfloat16():
        ways[BFLOAT16] = (TORCH, torch.bfloat16)
    config = BertConfig(hidden_size=width, intermediate_size=inner, num_attention_heads=heads)
    block = Block(replace(config, attention_probs_dropout_prob=0.0), Noise()).train()
    initialize(block, 0.02, 0)
    num_texts = max(4, min(32, int(NUM_FLOPS / (2 * (4 * width**2 + 2 * width * inner) * LENGTH))))
    texts = torch.randn(num_texts, LENGTH, width, generator=torch.Generator().manual_seed(0))

    num_threads = torch.get_num_threads()

    def train(kernels: str, precision: torch.dtype) -> float:
        start = _used(num_threads)
        with computing(kernels, precision):
            hidden, _ = block(low_where_asked(texts), None, None, None, False)
        hidden.float().square().mean().backward()
        return _used(num_threads) - start

    began = time.perf_counter()
    for way in ways.values():
        train(*way)  # what a first time prepares is not counted
    taken: dict[str, list[float]] = {name: [] for name in ways}
    first, own, rounds = time.perf_counter(), time.thread_time(), 0
    while not rounds or time.perf_counter() - began < MOST_S:
        for name, way in ways.items():
            taken[name].append(train(*way))
        rounds += 1
    is_free = time.perf_counter() - first <= CROWDED * (time.thread_time() - own)
    least = {name: max(min(times), LEAST_S) for name, times in taken.items()}
    return least, is_free and rounds >= LEAST_ROUNDS


def _used(num_threads: int) -> float:
    """Return the processor time that has been used by each of so many threads that compute together."""
    return time.thread_time() if num_threads == 1 else time.process_time() / num_threads
