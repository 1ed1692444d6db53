"""How long a library of many runs takes to be listed, looked at and compared, and how long the window waits.

    python -m benchmarks.bench_runs [--runs 1000] [--points 864000]

Run folders are made up, then listed without an index, with one, and in the window: a timer of 5 ms on its
thread tells the longest wait while it searches, sorts, groups, ticks and draws, beside the window at rest.
One run has as many points as a day at ten steps a second. Without a display it is drawn offscreen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.events import result_of
from engine.runs.curves import read_curves
from engine.runs.groups import ScoreColumn, listed
from engine.runs.index import INDEX, index_of
from engine.runs.scalars import write_events
from engine.runs.versus import versus
from engine.train.run.runs import METRICS
from tests.engine.made_runs import made_run

TICK_MS = 5
STEPS = 2700  # of an ordinary run: 0.7 MB of metrics


def make_library(root: Path, count: int) -> None:
    """Make run folders of five seeds each, over several settings and files."""
    rng = np.random.default_rng(0)
    first = made_run(root, "films", steps=STEPS, number=0)
    lines = (first / METRICS).read_text()
    for number in range(1, count):
        group = number // 5
        path = made_run(
            root,
            "films",
            seed=number % 5,
            right=int(rng.integers(1500, 1700)),
            rows=2000,
            number=number,
            data=f"/data/films-{group % 7}.csv",
            learning_rate=float(f"{10 ** rng.uniform(-5, -3):.2e}") if number % 5 == 0 else 1e-4,
            num_epochs=1 + group % 4,
            batch_size=(16, 32)[group % 2],
            warmup_ratio=(0.1, 0.2)[group // 2 % 2],
            steps=2,
        )
        own = (path / METRICS).read_text().splitlines(keepends=True)
        (path / METRICS).write_text("".join([own[0], lines, *own[1:]]))


def seconds(work: Callable[[], Any], times: int = 5) -> tuple[float, Any]:
    """Return the median time of some work, and what it found."""
    found, took = None, []
    for _ in range(times):
        start = time.perf_counter()
        found = work()
        took.append(time.perf_counter() - start)
    return sorted(took)[len(took) // 2], found


def in_engine(root: Path, points: int) -> dict[str, float]:
    """Return times of the engine alone, in ms."""
    told: dict[str, float] = {}
    start = time.perf_counter()
    result_of(index_of(root))
    told["listed without an index, every run read"] = time.perf_counter() - start
    told["listed from the index"], runs = seconds(lambda: result_of(index_of(root)))
    told["grouped"], _ = seconds(lambda: listed(runs))
    groups: dict[str, list[Any]] = {}
    for one in listed(runs):
        groups.setdefault(one.key, []).append(one.facts)
    two = [group for group in groups.values() if len(group) > 3][:2]
    if len(two) == 2:
        told["A and B of five seeds compared"], _ = seconds(lambda: versus(two[0], two[1], ScoreColumn()))
    long = made_run(
        root, "a day", number=5000, steps=points, losses=np.linspace(1, 0.1, points), batch_size=8
    )
    told[f"{points} points read"], curves = seconds(lambda: result_of(read_curves(long)), 3)
    assert curves.num_steps == points and curves.train["loss"].size <= 2000
    facts = next(one for one in result_of(index_of(root)) if one.path == str(long))
    told["... and written for TensorBoard"], _ = seconds(
        lambda: result_of(write_events(facts, root.parent / "board")), 1
    )
    return {name: 1000 * value for name, value in told.items()}


def in_window(root: Path) -> tuple[dict[str, float], dict[str, float]]:
    """Return (times in ms, longest waits of the window in ms)."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen" if sys.platform.startswith("linux") else "")
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from app.look import theme
    from app.pages.runs.page import RunsPage
    from app.session import Session
    from app.settings import AppSettings

    app = QApplication.instance() or QApplication([])
    theme.apply_theme(app, "light")
    settings = AppSettings(root.parent / "settings.ini")
    settings.runs_root = str(root)
    session = Session(settings)
    page = RunsPage(session)
    theme.dress(page)
    page.resize(1104, 772)
    gaps, last = list[float](), [time.perf_counter()]

    def beat() -> None:
        now = time.perf_counter()
        gaps.append(1000 * (now - last[0]))
        last[0] = now

    timer = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(beat)
    timer.start()

    def during(done: Callable[[], bool], do: Callable[[], Any], rest_s: float = 0.3) -> tuple[float, float]:
        """Return (how long it took, the longest wait), both in ms."""
        gaps.clear()
        last[0] = start = time.perf_counter()
        do()
        app.processEvents()
        took = 0.0
        while not done() or time.perf_counter() - start < rest_s:
            app.processEvents()
            time.sleep(0.001)
            if done() and not took:
                took = 1000 * (time.perf_counter() - start)
        return took or 1000 * (time.perf_counter() - start), max(gaps, default=0.0)

    def settled() -> bool:
        return session.workers.is_idle

    def tick(*places: int) -> None:
        for place in places:
            page.table.ticked.emit(page.shown.rows[place].key)

    times, waits = dict[str, float](), dict[str, float]()
    acts: list[tuple[str, Callable[[], Any], Callable[[], bool]]] = [
        ("shown", page.show, lambda: bool(page.shown.rows)),
        ("at rest", lambda: None, settled),
        ("searched", lambda: page.search.setText("films-3"), settled),
        ("search taken back", lambda: page.search.setText(""), settled),
        ("sorted", lambda: page.table.sorted_by.emit("when"), settled),
        ("run by run", lambda: (page.grouping.setCurrentIndex(1), page.grouping.activated.emit(1)), settled),
        ("by settings", lambda: (page.grouping.setCurrentIndex(0), page.grouping.activated.emit(0)), settled),
        ("two ticked", lambda: tick(1, 2), settled),
        ("the run of a day ticked", lambda: tick(0), settled),
        ("four more ticked", lambda: tick(3, 4, 5), settled),
        ("scrolled", lambda: page.table.verticalScrollBar().setValue(4000), settled),
    ]
    for name, do, done in acts:
        times[name], waits[name] = during(done, do)
    timer.stop()
    page.close()
    session.close()
    return times, waits


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--points", type=int, default=864_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "runs"
        make_library(root, options.runs)
        engine = in_engine(root, options.points)
        times, waits = in_window(root)
        size = (root / INDEX).stat().st_size
    print(f"{options.runs} runs of {STEPS} steps; the index has {size / 1e6:.1f} MB")
    for name, value in engine.items():
        print(f"  {name:<45}{value:10.1f} ms")
    print(f"{'in the window':<47}{'done after':>13}{'longest wait':>15}")
    for name in times:
        print(f"  {name:<45}{times[name]:10.1f} ms{waits[name]:12.1f} ms")
    if options.json is not None:
        options.json.write_text(json.dumps({"engine": engine, "times": times, "waits": waits}, indent=1))


if __name__ == "__main__":
    main()
