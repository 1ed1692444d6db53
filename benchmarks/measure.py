"""What every benchmark here needs: contenders in processes of their own, this machine's peaks, ratios.

A contender trains when it is asked to and stands still otherwise, so that two of them take turns on the same
cores and neither inherits the other's settings (memory allocator, threads, kernels).
"""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch

from engine.device import cpu_has_bfloat16, processor_name
from engine.model.config import BertConfig

# L layers, H width, S tokens of an example


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of training. num_slots: tokens computed, padding included; num_tokens: the real ones."""

    num_steps: int
    num_tokens: int
    num_slots: int
    seconds: float
    cpu_seconds: float

    @property
    def tokens_per_s(self) -> float:
        """Real tokens a second."""
        return self.num_tokens / self.seconds

    @property
    def tokens_per_cpu_s(self) -> float:
        """Real tokens a second of processor time, all threads together: steady on a busy machine too."""
        return self.num_tokens / self.cpu_seconds


class Stopwatch:
    """Wall clock and processor time since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def segment(self, num_steps: int, num_tokens: int, num_slots: int = 0) -> Segment:
        """Return what was done since."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return Segment(num_steps, num_tokens, num_slots or num_tokens, wall, cpu)


class Contender:
    """A program in a process of its own. Use it in a `with`.

    Args: serve: a module's function (line, *args) that sends one word when it is ready, then answers each
        question with `line.send`, and returns at the question None.
    """

    def __init__(self, name: str, serve: Callable[..., None], *args: Any) -> None:
        self.name = name
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_guarded, args=(serve, theirs, args), name=name, daemon=True)
        self._process.start()
        theirs.close()
        self.greeting = self._answer()

    def ask(self, question: Any) -> Any:
        """Send a question and wait for the answer. Raises: RuntimeError with the other side's traceback."""
        self._connection.send(question)
        return self._answer()

    def _answer(self) -> Any:
        try:
            kind, value = self._connection.recv()
        except EOFError as error:
            raise RuntimeError(f"{self.name} has died") from error
        if kind == "error":
            raise RuntimeError(f"{self.name}: {value}")
        return value

    def __enter__(self) -> Contender:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.is_alive():
            self._connection.send(None)
            self._process.join(60)
        if self._process.is_alive():
            self._process.kill()
        self._connection.close()


class Line:
    """The contender's end of the connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def send(self, value: Any) -> None:
        """Answer."""
        self._connection.send(("answer", value))

    def recv(self) -> Any:
        """Wait for a question; None means the end."""
        return self._connection.recv()


def _guarded(serve: Callable[..., None], connection: Connection, args: tuple[Any, ...]) -> None:
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        try:
            serve(Line(connection), *args)
        except BaseException:
            connection.send(("error", traceback.format_exc()))


# --- this machine ------------------------------------------------------------------------------------


def matrix_peaks(device: str) -> dict[str, float]:
    """Return FLOP/s of a large matrix product, by the library that computes it."""
    if device == "cuda":
        side, dtype = 8192, torch.bfloat16
        x, y = (torch.randn(side, side, device="cuda", dtype=dtype) for _ in range(2))
        return {"bf16 matmul": _best(lambda: torch.mm(x, y), 2 * side**3)}
    x, y = torch.randn(2048, 1024), torch.randn(1024, 1024)
    peaks = {"torch.mm": _best(lambda: torch.mm(x, y), 2 * 2048 * 1024**2)}
    if torch.backends.mkldnn.is_available():
        linear = torch.ops.mkldnn._linear_pointwise
        peaks["oneDNN"] = _best(lambda: linear(x, y, None, "none", [], ""), 2 * 2048 * 1024**2)
    if cpu_has_bfloat16():
        low_x, low_y = x.bfloat16(), y.bfloat16()
        peaks["bfloat16"] = _best(lambda: torch.mm(low_x, low_y), 2 * 2048 * 1024**2)
    return peaks


def _best(product: Callable[[], torch.Tensor], flops: int, repeats: int = 40) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        product()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return flops / min(times)


def need(*packages: str) -> None:
    """End in a sentence where packages that the peers need are not installed."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f"The peers need {' and '.join(missing)}. Install what benchmarks take: pip install -e '.[bench]'"
        )


def machine() -> str:
    """Return processor, threads, torch and load in one line."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else processor_name()
    return f"{name}, {torch.get_num_threads()} threads, torch {torch.__version__}, load {load:.1f}"


# --- arithmetic --------------------------------------------------------------------------------------


def flops_per_token(config: BertConfig, lengths: np.ndarray) -> float:
    """Return FLOPs of forward and backward for one real token, over texts of these lengths.

    6 x 12 L H^2 for the matrices, and 12 L S H for attention over the S tokens of the token's own text.
    """
    layers, width = config.num_hidden_layers, config.hidden_size
    seen = float((lengths.astype(float) ** 2).sum() / lengths.sum())
    return 72 * layers * width**2 + 12 * layers * width * seen


def spread(values: Sequence[float]) -> str:
    """Return "1.31 (1.28 to 1.35)": the median, the least and the most."""
    return f"{np.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"
