"""What the open window costs training, and what training costs the window.

    python -m benchmarks.bench_window

The real window trains through its session, with its charts in view, and takes turns with the same run without
a window, on the same threads. Then a timer of 5 ms on the window's thread shows how long the window is kept
waiting while all cores train, beside the same window at rest. Without a display it is drawn offscreen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Contender, Line, Segment, Stopwatch, machine, spread
from benchmarks.work import make_work
from engine.device import num_cores
from engine.events import Event, Step
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.finetune import fine_tune

TICK_MS = 5
RATIO_FLOOR, RATIO_GOAL = 0.97, 0.995
P99_LIMIT_MS, MOST_MS = 33.0, 100.0


class Tap:
    """Notes the steps of a task as they pass, on whatever thread they do."""

    def __init__(self) -> None:
        self.steps: list[tuple[float, float, int]] = []  # wall clock, processor time, tokens

    def __call__(self, task: Iterator[Event]) -> Iterator[Event]:
        try:
            for event in task:
                if isinstance(event, Step):
                    self.steps.append((time.perf_counter(), time.process_time(), event.num_tokens))
                yield event
        finally:
            task.close()  # type: ignore[attr-defined]

    def segment(self, start: int) -> Segment:
        """Return what was done from the first step after `start` to the last so far."""
        steps = self.steps[start:]
        tokens = sum(num for _, _, num in steps[1:])
        wall, cpu = (steps[-1][i] - steps[0][i] for i in (0, 1))
        return Segment(len(steps) - 1, tokens, tokens, wall, cpu)


# --- the contenders ----------------------------------------------------------------------------------


def serve_headless(line: Line, values: dict[str, Any], run_dir: Path) -> None:
    """Train without a window: as many steps at a time as asked for."""
    tap = Tap()
    task = tap(fine_tune(with_values(FineTuneConfig(), values), run_dir))
    while not tap.steps:
        next(task)
    line.send("ready")
    while (question := line.recv()) is not None:
        start = len(tap.steps)
        while len(tap.steps) <= start + question[1]:
            next(task)
        line.send(tap.segment(start))
    task.close()  # type: ignore[attr-defined]


def serve_window(line: Line, values: dict[str, Any], folder: Path) -> None:
    """Train in the real window; answer ("steps", n) with a Segment, ("gaps", s) or ("idle", s) with gaps."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from app.application import make_application
    from app.main_window import MainWindow
    from app.session import Session
    from app.settings import AppSettings
    from app.work import training as training_module

    tap = Tap()
    training_module.fine_tune = lambda config, run_dir: tap(fine_tune(config, run_dir))  # type: ignore[assignment]
    settings = AppSettings(folder / "settings.ini")
    settings.runs_root = folder / "runs"
    application = make_application(["cloze"], settings)
    session = Session(settings)
    window = MainWindow(session)
    window.resize(1280, 800)
    window.show()
    window.show_page("finetune")
    session.data.open(values["data"])
    session.model.choose(values["model"])
    _spin(
        lambda: (
            session.data.summary is not None
            and session.model.chosen is not None
            and not session.data.is_counting
        )
    )
    session.training.start(with_values(FineTuneConfig(), {**session.values(), **values}))
    _spin(lambda: bool(tap.steps))
    session.training.pause()
    _settle(tap)
    line.send(application.platformName())
    while (question := line.recv()) is not None:
        line.send(_answer(question, session, tap))
    session.training.stop()
    _spin(lambda: not session.training.is_running)
    session.close()
    session.wait_idle()
    window.close()


def _answer(question: tuple[str, float], session: Any, tap: Tap) -> Any:
    kind, amount = question
    if kind == "idle":
        return _gaps(amount)
    start = len(tap.steps)
    session.training.go_on()
    if kind == "gaps":
        answer: Any = _gaps(amount)
    else:
        _spin(lambda: len(tap.steps) > start + amount)
        answer = tap.segment(start)
    session.training.pause()
    _settle(tap)
    return answer


def _spin(until: Callable[[], bool]) -> None:
    """Serve the window's events, as a running application does, until something is so."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop, timer = QEventLoop(), QTimer(interval=50)
    timer.timeout.connect(lambda: loop.quit() if until() else None)
    timer.start()
    loop.exec()
    timer.stop()


def _settle(tap: Tap) -> None:
    """Wait until the last micro-batch is done and drawn."""
    seen, since = -1, time.perf_counter()

    def is_quiet() -> bool:
        nonlocal seen, since
        if len(tap.steps) != seen:
            seen, since = len(tap.steps), time.perf_counter()
        return time.perf_counter() - since > 1.0

    _spin(is_quiet)


def _gaps(seconds: float) -> list[float]:
    """Return the milliseconds between two ticks of a 5 ms timer on the window's thread."""
    from PySide6.QtCore import Qt, QTimer

    gaps: list[float] = []
    last = end = time.perf_counter()
    end += seconds

    def tick() -> None:
        nonlocal last
        now = time.perf_counter()
        gaps.append((now - last) * 1000)
        last = now

    timer = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(tick)
    timer.start()
    _spin(lambda: time.perf_counter() > end)
    timer.stop()
    return gaps[1:]


# --- the benchmark -----------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print what it found."""
    chosen = _parser().parse_args(argv)
    torch.set_num_threads(chosen.threads or num_cores())
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        work = make_work(chosen.work, chosen.preset, folder)
        values = work.values(device=chosen.device, num_threads=chosen.threads)
        headless = stack.enter_context(Contender("headless", serve_headless, values, folder / "headless"))
        window = stack.enter_context(Contender("window", serve_window, values, folder))
        warm_up = Stopwatch()
        for contender in (headless, window):
            contender.ask(("steps", max(5, chosen.steps // 4)))
        print(
            f"{work.name} texts, {chosen.preset}, {window.greeting}; warm after {_seconds(warm_up)}",
            flush=True,
        )
        result = {
            "machine": machine(),
            "ratios": _ratios(headless, window, chosen),
            "gaps": _compare_gaps(window, chosen),
        }
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(result, indent=1), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_window", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--work", choices=("short", "long"), default="short", help="SST-2 or BBC news texts")
    parser.add_argument("--preset", default="mini", help="tiny, mini, small, ...")
    parser.add_argument("--repeats", type=int, default=7, help="turns of window and headless")
    parser.add_argument("--steps", type=int, default=80, help="of a turn")
    parser.add_argument("--gap-repeats", type=int, default=3)
    parser.add_argument("--gap-seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--json", default="", metavar="FILE")
    return parser


def _ratios(headless: Contender, window: Contender, chosen: argparse.Namespace) -> dict[str, list[float]]:
    wall, cpu = [], []
    for repeat in range(chosen.repeats):
        turns: dict[str, Segment] = {}
        for contender in (headless, window)[:: 1 if repeat % 2 == 0 else -1]:
            turns[contender.name] = contender.ask(("steps", chosen.steps))
        wall.append(turns["window"].tokens_per_s / turns["headless"].tokens_per_s)
        cpu.append(turns["window"].tokens_per_cpu_s / turns["headless"].tokens_per_cpu_s)
    print(f"tokens/s, window open / headless: {spread(wall)}   floor {RATIO_FLOOR}, goal {RATIO_GOAL}")
    print(f"tokens per processor second:      {spread(cpu)}", flush=True)
    return {"wall": wall, "processor": cpu}


def _compare_gaps(window: Contender, chosen: argparse.Namespace) -> dict[str, list[dict[str, float]]]:
    found: dict[str, list[dict[str, float]]] = {"training": [], "idle": []}
    for _ in range(chosen.gap_repeats):
        found["idle"].append(_summary(window.ask(("idle", chosen.gap_seconds))))
        found["training"].append(_summary(window.ask(("gaps", chosen.gap_seconds))))
    print(f"gaps between ticks of {TICK_MS} ms on the window's thread, {chosen.gap_seconds:g} s each:")
    for name, summaries in found.items():
        for s in summaries:
            figures = f"median {s['median']:.1f}  99 % {s['p99']:.1f}  most {s['max']:.1f} ms"
            print(f"  {name:<9} {figures}  ({s['ticks']:.0f} ticks)")
    best = min(found["training"], key=lambda s: (s["max"] > MOST_MS, s["p99"]))
    print(
        f"best of {chosen.gap_repeats}: 99 % under {best['p99']:.1f} ms (limit {P99_LIMIT_MS:g}), "
        f"most {best['max']:.1f} ms (limit {MOST_MS:g})"
    )
    return found


def _summary(gaps: list[float]) -> dict[str, float]:
    values = np.array(gaps)
    return {
        "median": float(np.median(values)),
        "p99": float(np.quantile(values, 0.99)),
        "max": float(values.max()),
        "ticks": float(len(values)),
    }


def _seconds(clock: Stopwatch) -> str:
    return f"{clock.segment(0, 1).seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
