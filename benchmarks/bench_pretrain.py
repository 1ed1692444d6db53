"""Masked-word pretraining beside `transformers`: same weights, blocks, batch size and dropout, taking turns.

    python -m benchmarks.bench_pretrain
    python -m benchmarks.bench_pretrain --sizes tiny,mini --seconds 60

Prints tokens a second, the share of this machine's matrix peak, median ratios with their spread, the memory
of both, and how far the loss curves lie apart when both get the same batches and masks. Other programs that
run meanwhile make it noise.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import (
    Contender,
    Line,
    Segment,
    Stopwatch,
    flops_per_token,
    machine,
    matrix_peaks,
    need,
    spread,
)
from benchmarks.pretrain_work import (
    WEIGHT_DECAY,
    Work,
    make_text,
    make_work,
    memory,
    train_recorded,
)
from engine.device import num_cores
from engine.events import Started, Step
from engine.model.config import PRESETS, BertConfig
from engine.text.corpus.masking import Masking

OURS, OURS_WITHOUT, PEER = "Cloze", "Cloze-nodropout", "P1"
PAIRS = {"P1": OURS, "P1-shipped": OURS, "P1-nodropout": OURS_WITHOUT}  # which of ours is beside which
HIDDEN_DROPOUT = {OURS: 0.1, OURS_WITHOUT: 0.0}
DROPOUTS = {"P1": (0.1, 0.0), "P1-shipped": (0.1, 0.1), "P1-nodropout": (0.0, 0.0)}  # hidden, attention
TARGETS = {"tiny": (3.5, 5.0), "mini": (2.2, 3.0), "small": (1.6, 2.2), "base": (1.2, 1.4)}  # floor, goal
SECONDS = {"tiny": 35, "mini": 45, "small": 75, "base": 150}  # of all turns together
REPEATS = {"base": 3}
BATCH_SIZE, LENGTH = 32, 128
CURVE_STEPS, CURVE_LIMIT = 50, 0.01
CURVE_SIZES = ("tiny", "mini")
CURVE_BATCH_TOKENS, CURVE_PART_TOKENS, CURVE_RATE = 384, 256, 5e-4  # small steps of two parts each


@dataclass
class Result:
    """What was found for one size. memory: bytes before the first step and at most."""

    work: Work
    segments: dict[str, list[Segment]] = field(default_factory=dict)
    memory: dict[str, tuple[int, int]] = field(default_factory=dict)
    curve: np.ndarray | None = None  # relative differences of the loss, by step


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if a median is below its floor, or loss curves lie apart."""
    chosen = _parser().parse_args(argv)
    need("accelerate")
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRANSFORMERS_VERBOSITY="error")
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    torch.set_num_threads(chosen.threads or num_cores())
    print(machine(), flush=True)
    peaks = matrix_peaks("cpu")
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = make_text(folder)
        for preset in chosen.sizes.split(","):
            result = Result(make_work(source, preset, folder, BATCH_SIZE, LENGTH))
            _take_turns(result, preset, chosen)
            peaks = {name: max(value, peaks[name]) for name, value in matrix_peaks("cpu").items()}
            if preset in CURVE_SIZES and not chosen.no_curves:
                result.curve = _compare_curves(result.work, chosen)
            _print(preset, result, peaks)
            results.append(result)
    if chosen.json:
        document = json.dumps(_document(results, peaks, chosen), indent=1)
        Path(chosen.json).write_text(document, encoding="utf-8")
    return int(any(_misses(result) for result in results))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_pretrain", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--sizes", default=",".join(TARGETS), help="with commas, of " + ", ".join(PRESETS))
    parser.add_argument("--peers", default=",".join(PAIRS), help="with commas; P1 is among them in any case")
    parser.add_argument("--seconds", type=float, default=0.0, help="of all turns of a size; 0: by the size")
    parser.add_argument("--repeats", type=int, default=0, help="turns of each; 0: by the size")
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    parser.add_argument(
        "--precision",
        choices=("auto", "float32", "bfloat16"),
        default="auto",
        help="Cloze's; P1's is float32",
    )
    parser.add_argument("--no-curves", action="store_true")
    parser.add_argument("--json", default="", metavar="FILE")
    return parser


# --- taking turns ------------------------------------------------------------------------------------


def serve_cloze(line: Line, work: Work, changes: dict[str, Any]) -> None:
    """Pull the engine's own task, for as many seconds at a time as asked for."""
    task = work.run(multiprocessing.current_process().name, work.settings(**changes))
    next(event for event in task if isinstance(event, Started))
    next(task)  # the first checkpoint
    line.send("ready")
    while (question := line.recv()) is not None:
        if question == "memory":
            line.send(memory())
            continue
        _, seconds = question
        clock, end, done, tokens = Stopwatch(), time.perf_counter() + seconds, 0, 0
        while not done or time.perf_counter() < end:
            event = next(task)
            if isinstance(event, Step):
                done, tokens = done + 1, tokens + event.num_tokens
        line.send(clock.segment(done, tokens))
    os._exit(0)  # closing the task would save a run that nobody wants


def _take_turns(result: Result, preset: str, chosen: argparse.Namespace) -> None:
    """Let each train in turn, in an order that turns round, until the time is used up."""
    from benchmarks.pretrain_peer import PeerSpec, serve

    work, repeats = result.work, chosen.repeats or REPEATS.get(preset, 7)
    peers = [name for name in PAIRS if name == PEER or name in chosen.peers.split(",")]
    seconds = chosen.seconds or SECONDS.get(preset, 60)
    with ExitStack() as stack:
        turns: dict[str, Contender] = {}
        for name in dict.fromkeys(PAIRS[peer] for peer in peers):
            changes = {
                "hidden_dropout": HIDDEN_DROPOUT[name],
                "num_threads": chosen.threads,
                "precision": chosen.precision,
            }
            turns[name] = stack.enter_context(Contender(name, serve_cloze, work, changes))
        rate = work.settings().budget.learning_rate or 0.0
        spec = PeerSpec(work.model, work.tokens(OURS), LENGTH, BATCH_SIZE, rate, DROPOUTS, chosen.threads)
        turns[PEER] = stack.enter_context(Contender(PEER, serve, spec))
        before = {name: contender.ask("memory")[0] for name, contender in turns.items()}
        for name, contender in turns.items():
            contender.ask((name, 0.0))  # warm-up
        turns |= dict.fromkeys(peers, turns[PEER])
        result.segments = {name: [] for name in turns}
        began, each = time.perf_counter(), seconds / repeats / len(turns)
        for repeat in range(repeats):
            spent = time.perf_counter() - began
            if repeat >= 2 and spent * (repeat + 1) / repeat > 1.2 * seconds:
                break
            for name in list(turns)[:: 1 if repeat % 2 == 0 else -1]:
                result.segments[name].append(turns[name].ask((name, each)))
        for name in (OURS, PEER):
            result.memory[name] = (before[name], turns[name].ask("memory")[1])


# --- the same batches to both ------------------------------------------------------------------------


def _compare_curves(work: Work, chosen: argparse.Namespace) -> np.ndarray:
    """Train both on identical batches and masks, dropout 0; return the loss's relative differences."""
    from benchmarks.pretrain_peer import masked_language_model, train_by_hand

    config = work.settings(
        steps=CURVE_STEPS,
        batch_tokens=CURVE_BATCH_TOKENS,
        micro_batch_tokens=CURVE_PART_TOKENS,
        learning_rate=CURVE_RATE,
        hidden_dropout=0.0,
        num_threads=chosen.threads,
        precision="float32",  # as the peer's
    )
    steps, batches = train_recorded(work, config)
    rates = [step.learning_rate for step in steps]
    theirs = train_by_hand(masked_language_model(work.model), batches, rates, WEIGHT_DECAY)
    return np.abs(np.array([step.loss for step in steps]) / theirs - 1)


# --- what is said ------------------------------------------------------------------------------------


def _cost(config: BertConfig, head_share: float) -> float:
    """Return FLOPs of forward and backward for a token, with the head on a share of the positions."""
    width = config.hidden_size
    head = 6 * (width**2 + width * config.vocab_size)
    return flops_per_token(config, np.array([LENGTH])) + head_share * head


def _shares(result: Result) -> tuple[float, float]:
    """Return FLOPs of a token in Cloze, whose head sees the hidden words alone, and in the peer."""
    hidden = Masking().rate * (LENGTH - 2) / LENGTH  # [CLS] and [SEP] are never hidden
    return _cost(result.work.config, hidden), _cost(result.work.config, 1.0)


def _print(preset: str, result: Result, peaks: dict[str, float]) -> None:
    config = result.work.config
    ours, theirs = _shares(result)
    told = ", ".join(f"{name} {value / 1e9:,.0f} GFLOP/s" for name, value in peaks.items())
    shape = f"{config.num_hidden_layers}x{config.hidden_size}, {config.vocab_size:,} words"
    print(f"\n{preset} ({shape}), {BATCH_SIZE} x {LENGTH} tokens a step, {result.work.source}; {told}")
    print(f"{ours / 1e6:,.1f} MFLOP a token in Cloze, {theirs / 1e6:,.1f} in P1: {theirs / ours:.2f} times\n")
    shared = f"share of {' / '.join(peaks)}"
    print(f"{'':<20}{'tokens/s':>10}{'steps':>7}{'GFLOP/s':>9}  {shared}, by processor time")
    for name, segments in result.segments.items():
        cost = ours if name.startswith(OURS) else theirs
        wall = cost * float(np.median([segment.tokens_per_s for segment in segments]))
        cores = torch.get_num_threads() * cost * float(np.median([s.tokens_per_cpu_s for s in segments]))
        steps = sum(segment.num_steps for segment in segments)
        shares = (" / ".join(f"{rate / peak:.0%}" for peak in peaks.values()) for rate in (wall, cores))
        print(f"{name:<20}{wall / cost:>10,.0f}{steps:>7}{wall / 1e9:>9,.1f}  {', '.join(shares)}")
    print(f"\n{'':<24}{'wall clock':<26}processor time")
    for name, (wall_ratios, cpu_ratios) in _ratios(result).items():
        print(f"Cloze / {name:<16}{spread(wall_ratios):<26}{spread(cpu_ratios)}")
    if preset in TARGETS:
        print("floor {}, goal {} times P1".format(*TARGETS[preset]))
    for name, (before, peak) in result.memory.items():
        grown = f"{(peak - before) / 1e6:,.0f} MB above that before the first step"
        print(f"memory of {name}: {peak / 1e6:,.0f} MB at most, {grown}")
    if result.curve is not None:
        apart = f"{result.curve.max():.1e} apart (limit {CURVE_LIMIT:.0%})"
        print(f"loss on the same batches and masks, {len(result.curve)} steps: at most {apart}")
    sys.stdout.flush()


def _ratios(result: Result) -> dict[str, tuple[list[float], list[float]]]:
    """Return, turn by turn, how many times the peer's tokens we train: by wall clock, by processor time."""
    found = {}
    for name in [name for name in PAIRS if name in result.segments]:
        pairs = list(zip(result.segments[PAIRS[name]], result.segments[name], strict=True))
        wall = [ours.tokens_per_s / theirs.tokens_per_s for ours, theirs in pairs]
        found[name] = wall, [ours.tokens_per_cpu_s / theirs.tokens_per_cpu_s for ours, theirs in pairs]
    return found


def _misses(result: Result) -> bool:
    if result.curve is not None and not result.curve.max() < CURVE_LIMIT:
        return True
    floor, _ = TARGETS.get(result.work.folder.name, (0.0, 0.0))
    return float(np.median(_ratios(result)[PEER][0])) < floor


def _document(results: list[Result], peaks: dict[str, float], chosen: argparse.Namespace) -> dict[str, Any]:
    sizes = {}
    for result in results:
        sizes[result.work.folder.name] = {
            "flops_per_token": _shares(result),
            "segments": {name: [asdict(s) for s in segments] for name, segments in result.segments.items()},
            "ratios": {
                name: dict(zip(("wall", "processor"), both, strict=True))
                for name, both in _ratios(result).items()
            },
            "memory": result.memory,
            "curve": None if result.curve is None else result.curve.tolist(),
        }
    return {"machine": machine(), "arguments": vars(chosen), "peaks": peaks, "sizes": sizes}


if __name__ == "__main__":
    sys.exit(main())
