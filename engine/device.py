"""Where it runs: device, precision, threads, and how much is taken at once."""

from __future__ import annotations

import math
import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from engine.errors import ConfigError, UserError, marked
from engine.language import said
from engine.settings.shared import DeviceConfig

CPU_MICRO_BATCH_TOKENS = 2048  # activations of small models stay in the cache; measured best of 512 to 4,096
CUDA_MICRO_BATCH_TOKENS = 65536
GPU = "cuda"  # the GPUs that are computed on, as torch and the settings call them
TORCH, ONEDNN = "torch", "oneDNN"  # what multiplies float32 matrices on a CPU: torch itself (MKL), or oneDNN


@dataclass(frozen=True, slots=True)
class Device:
    """A device that is ready to compute on."""

    device: torch.device
    precision: (
        torch.dtype
    )  # of matrix products and, on a CPU, of what flows between them; weights stay float32
    num_threads: int
    micro_batch_tokens: int
    kernels: str = TORCH  # what multiplies float32 matrices on a CPU

    def autocast(self) -> AbstractContextManager[Any]:
        """Return the context for forward passes. Never yield inside it."""
        if self.device.type == "cpu":
            return computing(self.kernels, self.precision)
        if self.precision == torch.float32:
            return nullcontext()
        return _on_gpu(self.precision)

    def memory(self) -> dict[str, float]:
        """Return {"memory_bytes": taken on the GPU}, without waiting for it; nothing on a CPU."""
        if self.device.type == "cpu":
            return {}
        return {"memory_bytes": float(gpu().memory_allocated(self.device))}

    def describe(self) -> str:
        """Return a few words for the status bar, such as "CPU · 2 cores"."""
        if self.device.type != "cpu":
            return f"{gpu().get_device_name(self.device)} · {str(self.precision).removeprefix('torch.')}"
        cores = _cpu_words(self.num_threads)
        return cores if self.precision == torch.float32 else f"{cores} · bfloat16"


def gpu() -> Any:
    """Return torch's module of the GPUs that are computed on; nothing else asks one of them by its kind."""
    return torch.get_device_module(GPU)


def place_of(asked: str) -> torch.device:
    """Return where a setting of `DeviceConfig.device` computes here: on a GPU, if it may and there is one."""
    return torch.device(GPU if asked != "cpu" and gpu().is_available() else "cpu")


def setting_of(device: torch.device) -> str:
    """Return what the setting of a device is."""
    return "cpu" if device.type == "cpu" else "cuda"


def finish(device: torch.device) -> None:
    """Wait until a GPU has done what it was asked for; a CPU is never behind."""
    if device.type != "cpu":
        gpu().synchronize(device)


def release(device: torch.device) -> None:
    """Let go of a GPU's memory that is kept for tensors to come."""
    if device.type != "cpu":
        gpu().empty_cache()


def check_device(config: DeviceConfig) -> None:
    """Refuse a device or precision this machine does not have. Raises: ConfigError naming the field."""
    if config.device == "cuda" and not gpu().is_available():
        raise ConfigError(
            marked("engine", "device is cuda, but PyTorch finds no GPU here. Use auto or cpu."),
            field="device",
        )
    if config.precision == "bfloat16" and not has_bfloat16(config):
        raise ConfigError(
            marked("engine", "precision is bfloat16, which this machine does not have. Use auto or float32."),
            field="precision",
        )


def open_device(config: DeviceConfig) -> Device:
    """Choose and prepare a device; sets torch's thread count. Raises: ConfigError."""
    check_device(config)
    beside = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))  # processes of one run on this machine
    num_threads = config.num_threads or max(1, num_cores() // beside)
    if torch.get_num_threads() != num_threads:
        torch.set_num_threads(num_threads)
    place = place_of(config.device)
    if place.type == "cpu":
        tokens = config.micro_batch_tokens or CPU_MICRO_BATCH_TOKENS
        kind = torch.bfloat16 if config.precision == "bfloat16" else torch.float32
        return Device(place, kind, num_threads, tokens, usable_kernels(config.kernels))
    # TF32 stays as it was found: it is one switch for the whole process, and float32 is to mean float32
    bf16 = config.precision != "float32" and has_bfloat16(config)
    tokens = config.micro_batch_tokens or CUDA_MICRO_BATCH_TOKENS
    return Device(place, torch.bfloat16 if bf16 else torch.float32, num_threads, tokens)


@contextmanager
def same_threads() -> Iterator[None]:
    """Leave torch's thread count as it was found: it is one for the whole process, so it is its owner's."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)


def has_bfloat16(config: DeviceConfig) -> bool:
    """Whether what these settings compute on multiplies bfloat16 itself; older GPUs only emulate it."""
    if place_of(config.device).type == "cpu":
        return cpu_has_bfloat16()
    return bool(gpu().is_bf16_supported(including_emulation=False))


@contextmanager
def _on_gpu(precision: torch.dtype) -> Iterator[None]:
    """Run products in half precision, without cuDNN's attention, which builds a plan per new shape: 0.245 ->
    0.100 s a step. Its switch is one for the whole process, so it is given back.
    """
    before = torch.backends.cuda.cudnn_sdp_enabled()
    torch.backends.cuda.enable_cudnn_sdp(False)
    try:
        with torch.autocast(GPU, precision):
            yield
    finally:
        torch.backends.cuda.enable_cudnn_sdp(before)


_thread = threading.local()  # .kernels, .precision: how this thread multiplies matrices on the CPU


@contextmanager
def computing(kernels: str, precision: torch.dtype) -> Iterator[None]:
    """Let this thread multiply float32 matrices by `kernels`, or compute its forward passes in bfloat16.

    With bfloat16 the values between the products are bfloat16 as well; weights, sums, norms and softmax stay
    float32. See model/kernels.py, which obeys. A backward pass follows what its forward pass did.
    """
    before = getattr(_thread, "kernels", TORCH), getattr(_thread, "precision", torch.float32)
    _thread.kernels, _thread.precision = kernels, precision
    try:
        yield
    finally:
        _thread.kernels, _thread.precision = before


def cpu_kernels() -> str:
    """Return what multiplies float32 matrices on this thread, `TORCH` or `ONEDNN`."""
    return getattr(_thread, "kernels", TORCH)


def is_bfloat16() -> bool:
    """Whether forward passes on this thread compute in bfloat16 on the CPU."""
    return getattr(_thread, "precision", torch.float32) == torch.bfloat16


def find_onednn() -> Any:
    """Return oneDNN's linear operation if this build has it and it is right, else None."""
    try:
        operation = torch.ops.mkldnn._linear_pointwise
        x, weight = torch.arange(35.0).view(5, 7) / 35, torch.arange(21.0).view(3, 7) / 21
        same = torch.allclose(operation(x, weight, None, "none", [], ""), x @ weight.t(), atol=1e-5)
        turned = torch.allclose(
            operation(x[:, :3], weight.t(), None, "none", [], ""), x[:, :3] @ weight, atol=1e-5
        )
        return operation if same and turned else None
    except (AttributeError, RuntimeError, NotImplementedError):
        return None


onednn: Any = find_onednn() if torch.backends.mkldnn.is_available() else None


def usable_kernels(asked: str) -> str:
    """Return the kernels that are asked for, or torch's where this build has no others."""
    return ONEDNN if asked == ONEDNN and onednn is not None else TORCH


def processor_name() -> str:
    """Return what the processor calls itself, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "CPU"


def cpu_has_bfloat16() -> bool:
    """Whether this CPU multiplies bfloat16 faster than float32."""
    names = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # private, and not in every torch
    found = [getattr(torch.cpu, name) for name in names if hasattr(torch.cpu, name)]
    return torch.backends.mkldnn.is_available() and any(is_supported() for is_supported in found)


def num_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_flops = 1e11  # of a CPU, until warm_up has measured it


def flops_estimate(config: DeviceConfig) -> float:
    """Return roughly how many operations a second training reaches here, for predictions of time."""
    return _flops if place_of(config.device).type == "cpu" else 1e14


def busy() -> float:
    """Return how many processes each core worked on in the last minute; 0 where the system does not tell."""
    return os.getloadavg()[0] / num_cores() if hasattr(os, "getloadavg") else 0.0


def warm_up() -> None:
    """Measure the CPU for 50 ms. Call on a worker thread."""
    global _flops
    matrix = torch.ones(512, 512)
    began = time.perf_counter()
    fastest = math.inf  # the least disturbed of many
    while time.perf_counter() - began < 0.05:
        start = time.perf_counter()
        matrix @ matrix
        fastest = min(fastest, time.perf_counter() - start)
    _flops = 2 * 512**3 / fastest


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out, on a GPU or a CPU."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def too_long_for_memory(length: int) -> UserError:
    """Return the refusal of a text that memory does not suffice for even alone."""
    return UserError(
        marked(
            "engine",
            "There is not enough memory for one text of {length} pieces. Choose a "
            "smaller model or a smaller maximum length.",
        ),
        length=length,
    )


def has_gpu() -> bool:
    """Whether `auto` means a GPU here."""
    return bool(gpu().is_available())


def describe_device() -> str:
    """Return what `auto` means here, in a few words: "CPU · 2 cores", or the GPU's name."""
    if has_gpu():
        return str(gpu().get_device_name())
    return _cpu_words(num_cores())


def _cpu_words(count: int) -> str:
    cores = marked("engine", "CPU · {count} core") if count == 1 else marked("engine", "CPU · {count} cores")
    return said(cores, count=count)
