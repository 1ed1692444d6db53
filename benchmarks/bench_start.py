"""From the command to the window, beside `import torch`: seconds and memory, in turns, medians.

    python -m benchmarks.bench_start [--rounds 5] [--pages] [--json FILE]

Each start is the command itself in a fresh process with settings of its own, as it is the first time. Counted
from the start of the process: until the window is painted, until a click on the rail has been answered, and
until everything that the program gets ready by itself is there. `import torch` is counted until it is done,
without the end of its process. With --pages every page is opened once: how long its first click holds the
window. A gap is the longest silence of a 10 ms timer on the window's thread: from the first paint on, while
nothing is done, and in the 1.5 s after each click.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PATIENCE_S = 300
WATCHED = "CLOZE_BENCH_START"  # told to the process that is watched: when it was started

Figures = dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="starts of each, in turns")
    parser.add_argument("--pages", action="store_true", help="then open each page for the first time, too")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    chosen = parser.parse_args()
    starts: list[Figures] = []
    imports: list[Figures] = []
    for number in range(chosen.rounds + 1):
        torch, window = _watch("torch", pages=False), _watch("window", pages=chosen.pages)
        if number:  # the first of each reads the disk
            imports.append(torch)
            starts.append(window)
            print(_line(torch, window), flush=True)
    found = _summary(imports, starts)
    for name, value in found["medians"].items():
        print(f"{name:32} {value:8.2f}")
    for name, value in found["ratios"].items():
        print(f"{name:32} {value:8.2f} x import torch")
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


def _line(torch: Figures, window: Figures) -> str:
    return (
        f"import torch {torch['imported_s']:.2f} s; painted {window['painted_s']:.2f} s, "
        f"usable {window['usable_s']:.2f} s, all ready {window['ready_s']:.2f} s, {window['ready_mb']:.0f} MB"
    )


def _summary(imports: list[Figures], starts: list[Figures]) -> dict[str, Any]:
    """Return medians of all figures and, over `import torch` of the same round, of the ratios."""
    medians = {f"torch_{name}": _median(imports, name) for name in imports[0]}
    medians |= {name: _median(starts, name) for name in starts[0]}
    ratios = {
        name.removesuffix("_s"): statistics.median(
            start[name] / torch["imported_s"] for torch, start in zip(imports, starts, strict=True)
        )
        for name in ("painted_s", "usable_s", "ready_s")
    }
    return {"ratios": ratios, "medians": medians, "torch": imports, "starts": starts}


def _median(rounds: list[Figures], name: str) -> float:
    return statistics.median(each[name] for each in rounds)


def _watch(what: str, *, pages: bool) -> Figures:
    """Start a process and return what it says of itself."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "HOME": home}
        if not environment.get("DISPLAY"):
            environment.setdefault("QT_QPA_PLATFORM", "offscreen")
        environment[WATCHED] = repr(time.time())
        line = [sys.executable, "-m", "benchmarks.bench_start_process", what, "pages" if pages else ""]
        done = subprocess.run(
            line, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    told = [text for text in done.stdout.splitlines() if text.startswith("{")]
    if done.returncode or not told:
        raise SystemExit(f"The start failed:\n{done.stderr[-2000:]}")
    found: Figures = json.loads(told[-1])
    return found


if __name__ == "__main__":
    sys.exit(main())
