"""Memory, time and silence from a table on the disk to the encoded set that training reads.

    python -m benchmarks.bench_table
    python -m benchmarks.bench_table --rows 400000 --kinds texts,short --json table.json

Silence is the longest time between two yields: as long is a Stop unheard. Memory is the peak of a process of
its own above what it held after its imports, as a multiple of the file.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import machine
from benchmarks.work import SAMPLES

ROWS = 2_000_000
KINDS = {
    "texts": "sentences, numbered, with a label",
    "lines": "the same over several lines, in quotes",
    "short": "their first eight words",
    "tiny": "a number, a word and a label",
    "json": "the same sentences as JSON lines",
}
READERS = ("table", "prepare", "pandas")
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each kind of table and each reader."""
    chosen = _parser().parse_args(arguments)
    if chosen.read:
        reader, path = chosen.read
        print(json.dumps(_measure(reader, Path(path))))
        return 0
    print(machine(), flush=True)
    found: dict[str, Any] = {"rows": chosen.rows, "kinds": {}}
    with tempfile.TemporaryDirectory() as folder:
        for kind in chosen.kinds.split(","):
            path = Path(folder) / (f"{kind}.jsonl" if kind == "json" else f"{kind}.csv")
            _write(kind, path, chosen.rows)
            size = path.stat().st_size
            print(f"\n{kind}: {KINDS[kind]}, {chosen.rows:,} rows, {size / 1e6:.0f} MB", flush=True)
            found["kinds"][kind] = {"bytes": size}
            for reader in chosen.readers.split(","):
                if reader == "pandas" and kind == "json":
                    continue
                known = found["kinds"][kind][reader] = _in_a_process(reader, path)
                known["times_file"] = known["peak"] / size
                print(
                    f"  {reader:8} {known['peak'] / 1e6:7.0f} MB = {known['times_file']:5.2f} x the file, "
                    f"{known['seconds']:6.1f} s, silent for {known['silence']:.2f} s at most; of processor "
                    f"time {known['cpu_seconds']:.1f} and {known['cpu_silence']:.2f} s",
                    flush=True,
                )
            path.unlink()
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench_table", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--kinds", default=",".join(KINDS), help="default: %(default)s")
    parser.add_argument(
        "--readers",
        default=",".join(READERS),
        help="table: its cells; prepare: up to the encoded set; pandas: read_csv (default: %(default)s)",
    )
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--read", nargs=2, metavar=("READER", "FILE"), help=argparse.SUPPRESS)
    return parser


def _write(kind: str, path: Path, num_rows: int) -> None:
    with open(SAMPLES / "sentence_polarity.csv", encoding="utf-8", newline="") as file:
        rows = [(row["text"], row["label"]) for row in csv.DictReader(file)]
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        if kind != "json":
            writer.writerow(("text", "label"))
        for number, (text, label) in enumerate(islice(cycle(rows), num_rows), 1):
            if kind == "short":
                writer.writerow((f"{number} {' '.join(text.split()[:8])}", label))
            elif kind == "tiny":
                writer.writerow((f"{number} {text.split()[0]}", label))
            elif kind == "lines":
                half = len(text) // 2
                writer.writerow((f"{number}\n{text[:half]}\n{text[half:]}", label))
            elif kind == "json":
                out.write(json.dumps({"text": f"{number} {text}", "label": label}) + "\n")
            else:
                writer.writerow((f"{number} {text}", label))


def _in_a_process(reader: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.bench_table", "--read", reader, str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    known: dict[str, float] = json.loads(said.splitlines()[-1])
    return known


def _measure(reader: str, path: Path) -> dict[str, float]:
    steps = {"table": _table, "prepare": _prepared, "pandas": _pandas}[reader](path)
    held = _peak()
    clocks = [(time.perf_counter(), time.process_time())]
    for _ in steps:
        clocks.append((time.perf_counter(), time.process_time()))
    clocks.append((time.perf_counter(), time.process_time()))
    wall, cpu = np.array(clocks).T
    found = {"seconds": wall[-1] - wall[0], "silence": np.diff(wall).max()}
    found |= {"cpu_seconds": cpu[-1] - cpu[0], "cpu_silence": np.diff(cpu).max()}
    return {"peak": float(_peak() - held), **{name: float(value) for name, value in found.items()}}


def _table(path: Path) -> Iterator[object]:
    from engine.text.table import reading_table

    return reading_table(path)


def _prepared(path: Path) -> Iterator[object]:
    from engine.settings.config import with_values
    from engine.settings.finetune import FineTuneConfig
    from engine.train.tasks.known import CLASSIFICATION

    values = {"data": str(path), "text": "text", "label": "label", "model": "new:tiny", "max_length": 128}
    return CLASSIFICATION.prepare(
        with_values(FineTuneConfig(), {**values, "vocab": str(SAMPLES / "vocab.txt")})
    )


def _pandas(path: Path) -> Iterator[object]:
    import pandas

    def steps() -> Iterator[object]:
        yield pandas.read_csv(path, dtype=str, keep_default_na=False)

    return steps()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT


if __name__ == "__main__":
    sys.exit(main())
