"""How long a classifier takes to answer: Cloze in torch, the same model in onnxruntime, and that in 8 bits.

    python -m benchmarks.bench_export
    python -m benchmarks.bench_export --model DIR --batches 1,8,32 --repeats 40 --json export.json

Each answers in a process of its own, and they take turns on the same texts; told are medians, and the median
of the ratio of each pair, by the clock and by processor time, which others' work hardly changes. A batch is
padded to its longest text for the graph, as other programs do. For one thread each: OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Contender, Line, machine
from benchmarks.work import SAMPLES, read_rows
from engine.device import computing
from engine.events import result_of
from engine.export.int8 import quantizing
from engine.export.onnx import GRAPH, exporting
from engine.export.runtime import InItsPlace, open_session
from engine.model.fastest import kernels_for
from engine.model.heads import on_batch
from engine.model.kernels import ROW_MULTIPLE
from engine.model.weights import load_classifier, save_model
from engine.text.batch import EncodedRows, collate
from engine.text.wordpiece import WordPiece

STARTER = SAMPLES.parent / "models" / "starter"
TORCH, WHOLE, SMALL = "torch", "onnxruntime", "8 bits"
CLOCKS = ("by the clock", "processor time")
_WARM = 3  # turns that do not count


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the times and the ratios."""
    chosen = _parser().parse_args(arguments)
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        texts = [text for _, text in read_rows(SAMPLES / "sentence_polarity.csv")][: chosen.rows]
        graphs = _export(chosen.model, folder, texts)
        contenders = [
            stack.enter_context(Contender(kind, serve, kind, folder / "model", path, texts))
            for kind, path in ((TORCH, None), (WHOLE, graphs[0]), (SMALL, graphs[1]))
        ]
        found = [_race(contenders, size, chosen.repeats) for size in chosen.batches]
    for one in found:
        print(_told(one), flush=True)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(found, indent=2))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--model", type=Path, default=STARTER, help="a classifier; else a new one is put on it"
    )
    parser.add_argument(
        "--batches", type=lambda given: [int(one) for one in given.split(",")], default=[1, 32]
    )
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--json", type=Path)
    return parser


def _export(model: Path, folder: Path, texts: Sequence[str]) -> tuple[Path, Path]:
    """Write a classifier over a model, its graph, and that in 8 bits; return both graphs."""
    classifier, _ = load_classifier(model, ["no", "yes"])
    save_model(folder / "model", classifier, WordPiece.from_folder(model), {"task": "classification"})
    result_of(exporting(folder / "model", folder / "graph", texts[:20]))
    small = result_of(quantizing(folder / "model", folder / "graph", texts[:20]))
    return folder / "graph" / GRAPH, small.keep()


def serve(line: Line, kind: str, folder: Path, graph: Path | None, texts: Sequence[str]) -> None:
    """Answer (size, turn) by the seconds that a batch takes, by the clock and of the processor."""
    model, _ = load_classifier(folder)
    wordpiece = WordPiece.from_folder(folder)
    pieces = [wordpiece.assemble(ids, None, 128)[0] for ids in wordpiece.encode_ids(list(texts))]
    data = EncodedRows.from_pieces(
        pieces, [len(one) for one in pieces], [-1] * len(pieces), range(len(pieces))
    )
    ask: Callable[[Any], Any] = model if graph is None else InItsPlace(open_session(graph), model.config)
    line.send("ready")
    while (question := line.recv()) is not None:
        size, turn = question
        some = (np.arange(size) + turn * size) % len(data)
        some = some[np.argsort(-data.lengths[some], kind="stable")]
        began = time.perf_counter(), time.process_time()
        with torch.inference_mode(), computing(kernels_for(model.config), torch.float32):
            batch = collate(data, some, "cpu", ROW_MULTIPLE)
            on_batch(ask, batch).softmax(-1)
        line.send((time.perf_counter() - began[0], time.process_time() - began[1]))


def _race(contenders: Sequence[Contender], size: int, repeats: int) -> dict[str, Any]:
    """Let all answer the same batches in turns; return seconds by name, of each clock."""
    taken: dict[str, list[tuple[float, float]]] = {one.name: [] for one in contenders}
    for turn in range(_WARM + repeats):
        order = contenders if turn % 2 else contenders[::-1]
        for one in order:
            found = one.ask((size, turn))
            if turn >= _WARM:
                taken[one.name].append(found)
    return {"batch": size, **{clock: _of(taken, place) for place, clock in enumerate(CLOCKS)}}


def _of(taken: dict[str, list[tuple[float, float]]], place: int) -> dict[str, list[float]]:
    return {name: [one[place] for one in every] for name, every in taken.items()}


def _told(found: dict[str, Any]) -> str:
    return "\n".join(f"batch {found['batch']}, {clock}: {_told_by(found[clock])}" for clock in CLOCKS)


def _told_by(seconds: dict[str, list[float]]) -> str:
    parts = [f"{name} {1e3 * statistics.median(taken):.2f} ms" for name, taken in seconds.items()]
    for name in (WHOLE, SMALL):
        ratios = [ours / theirs for ours, theirs in zip(seconds[TORCH], seconds[name], strict=True)]
        parts.append(f"torch / {name} {statistics.median(ratios):.2f}")
    return ", ".join(parts)


if __name__ == "__main__":
    raise SystemExit(main())
