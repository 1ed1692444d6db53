"""Fine-tuning beside `transformers`: same weights, ids, batch size and dropout, taking turns in one run.

    python -m benchmarks.bench_finetune --work short --preset mini

Prints real tokens a second, the share of this machine's matrix peak, median ratios with their spread, and how
far the loss curves lie apart when both get the same batches. Other programs that run meanwhile make it noise.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from benchmarks.work import Work, make_work, read_rows, steps_of, write_table
from engine.device import CPU_MICRO_BATCH_TOKENS, CUDA_MICRO_BATCH_TOKENS, num_cores
from engine.events import Started, Step
from engine.model.kernels import ROW_MULTIPLE
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.batch import EncodedRows, epoch_batches, split_by_tokens
from engine.train.finetune import fine_tune
from engine.train.prepare import Setup

if TYPE_CHECKING:
    from benchmarks.peers import PeerSpec  # it imports transformers, which reads the environment

OURS = "Cloze"
# P1's group_by_length sorts 50 batches of short texts together, longest first: a turn takes in one such round
SEGMENT_STEPS = {"short": 50, "long": 14}
P0_SHARE = 0.2  # P0 is slow and steady: a fifth of the steps will do
CURVE_STEPS = {"short": 30, "long": 20}
CURVE_LIMIT = 0.01


@dataclass
class Result:
    """What a run of the benchmark found."""

    work: Work
    data: EncodedRows
    segments: dict[str, list[Segment]]
    peaks: dict[str, float]
    ours: str  # what Cloze computed on, and by what
    curve_difference: float | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if the loss curves lie apart."""
    chosen = _parser().parse_args(argv)
    peers = [name for name in chosen.peers.split(",") if name]
    need(*["accelerate"] * bool(peers), *["datasets"] * ("P0" in peers))
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRANSFORMERS_VERBOSITY="error")
    os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    torch.set_num_threads(chosen.threads or num_cores())
    print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        work = make_work(chosen.work, chosen.preset, Path(folder))
        result = _take_turns(work, peers, chosen, Path(folder))
        if not chosen.no_curves:
            result.curve_difference = _compare_curves(work, chosen, Path(folder))
    _print(result, chosen.device)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(_document(result, chosen), indent=1), encoding="utf-8")
    return int(result.curve_difference is not None and not result.curve_difference < CURVE_LIMIT)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_finetune", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--work", choices=("short", "long"), default="short", help="SST-2 or BBC news texts")
    parser.add_argument("--preset", default="mini", help="tiny, mini, small, ...")
    parser.add_argument(
        "--peers", default="P1,P1-shipped,P0", help="of P0, P1, P1-shipped, P1-bf16, with commas"
    )
    parser.add_argument(
        "--precision",
        choices=("auto", "float32", "bfloat16"),
        default="auto",
        help="Cloze's; P1's is float32",
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=0, help="of a turn; 0: by the work")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    parser.add_argument("--no-curves", action="store_true")
    parser.add_argument("--json", default="", metavar="FILE")
    return parser


# --- taking turns ------------------------------------------------------------------------------------


def serve_cloze(line: Line, values: dict[str, Any], run_dir: Path) -> None:
    """Pull the engine's own task, as many steps at a time as asked for."""
    task = fine_tune(with_values(FineTuneConfig(), values), run_dir)
    started = next(event for event in task if isinstance(event, Started))
    line.send(f"{started.device} · {Setup.load(run_dir / 'setup').about['recipe']['kernels']}")
    while (num_steps := line.recv()) is not None:
        clock, done, tokens = Stopwatch(), 0, 0
        while done < num_steps:
            event = next(task)
            if isinstance(event, Step):
                done, tokens = done + 1, tokens + event.num_tokens
        line.send(clock.segment(done, tokens))
    task.close()


def _take_turns(work: Work, peers: list[str], chosen: argparse.Namespace, folder: Path) -> Result:
    from benchmarks.peers import serve

    steps = chosen.steps or SEGMENT_STEPS[work.name]
    run_dir = folder / "run"
    peaks = [matrix_peaks(chosen.device)]
    with ExitStack() as stack:
        values = work.values(device=chosen.device, num_threads=chosen.threads, precision=chosen.precision)
        contenders = [stack.enter_context(Contender(OURS, serve_cloze, values, run_dir))]
        for name in peers:
            spec = _spec(name, work, run_dir / "setup", chosen)
            contenders.append(stack.enter_context(Contender(name, serve, spec)))
        turns = {c.name: max(2, round(steps * P0_SHARE)) if c.name == "P0" else steps for c in contenders}
        for contender in contenders:
            contender.ask(max(2, turns[contender.name] // 4))  # warm-up
        segments: dict[str, list[Segment]] = {contender.name: [] for contender in contenders}
        for repeat in range(chosen.repeats):
            for contender in contenders[:: 1 if repeat % 2 == 0 else -1]:
                segments[contender.name].append(contender.ask(turns[contender.name]))
        data = Setup.load(run_dir / "setup").sets["train"]
    peaks.append(matrix_peaks(chosen.device))
    best = {name: max(peak[name] for peak in peaks) for name in peaks[0]}
    return Result(work, data, segments, best, contenders[0].greeting)


def _spec(name: str, work: Work, setup: Path, chosen: argparse.Namespace) -> PeerSpec:
    from benchmarks.peers import PeerSpec

    return PeerSpec(name, work.model, setup, work.batch_size, work.max_length, chosen.device, chosen.threads)


# --- the same batches to both ------------------------------------------------------------------------


def _compare_curves(work: Work, chosen: argparse.Namespace, folder: Path) -> float:
    """Train both on identical batches, dropout 0; return the largest relative difference of the loss."""
    from benchmarks.peers import Recipe, model_of, train_by_hand

    num_steps = CURVE_STEPS[work.name]
    rows = read_rows(work.table)
    order = np.random.default_rng(0).permutation(len(rows))[: num_steps * work.batch_size]
    write_table(folder / "curve.csv", [rows[i] for i in order])
    values = work.values(
        data=str(folder / "curve.csv"),
        num_epochs=1,
        hidden_dropout=0.0,
        warmup_ratio=0.1,
        device=chosen.device,
        num_threads=chosen.threads,
        precision="auto" if chosen.device == "cuda" else "float32",  # as the peer's
    )
    config = with_values(FineTuneConfig(), values)
    steps = [event for event in fine_tune(config, folder / "curve") if isinstance(event, Step)]
    losses = np.array([step.loss for step in steps])
    setup = Setup.load(folder / "curve" / "setup")
    data = setup.sets["train"]
    spec = replace(_spec("P1", work, folder, chosen), hidden_dropout=0.0, attention_dropout=0.0)
    batches = steps_of(data, work.batch_size, config.training.seed, num_steps)
    recipe = Recipe(values["learning_rate"])
    theirs = train_by_hand(model_of(spec), data, batches, recipe, device=chosen.device)
    return float(np.abs(losses / theirs.losses - 1).max())


# --- what is said ------------------------------------------------------------------------------------


def _print(result: Result, device: str) -> None:
    work, lengths = result.work, result.data.lengths
    cost = flops_per_token(work.config, lengths)
    peaks = ", ".join(f"{name} {value / 1e9:,.0f} GFLOP/s" for name, value in result.peaks.items())
    shape = f"{work.config.num_hidden_layers}x{work.config.hidden_size}"
    print(f"{work.name} texts ({work.source}): {len(lengths):,} of {lengths.mean():.1f} tokens on average,")
    print(f"batch {work.batch_size}, at most {work.max_length}; model {shape}; matrix peak: {peaks}")
    print(f"Cloze on {result.ours}")
    print(f"\n{'':<12}{'tokens/s':>10}{'padding':>9}{'GFLOP/s':>9}  share of {' / '.join(result.peaks)}")
    for name, segments in result.segments.items():
        rate = float(np.median([segment.tokens_per_s for segment in segments]))
        shares = " / ".join(f"{rate * cost / peak:.0%}" for peak in result.peaks.values())
        padding = _padding(name, result, device)
        print(f"{name:<12}{rate:>10,.0f}{padding:>9.1%}{rate * cost / 1e9:>9,.1f}  {shares}")
    print(f"\n{'':<20}wall clock{'':<16}processor time")
    for name in list(result.segments)[1:]:
        wall, cpu = _ratios(result, name)
        print(f"Cloze / {name:<12}{spread(wall):<26}{spread(cpu)}")
    if result.curve_difference is not None:
        apart = f"{result.curve_difference:.1e} apart (limit {CURVE_LIMIT:.0%})"
        print(f"\nloss on the same batches, step by step: at most {apart}")


def _ratios(result: Result, name: str) -> tuple[list[float], list[float]]:
    """Return, turn by turn, how many times the peer's tokens we train: by wall clock, by processor time."""
    pairs = list(zip(result.segments[OURS], result.segments[name], strict=True))
    wall = [ours.tokens_per_s / theirs.tokens_per_s for ours, theirs in pairs]
    return wall, [ours.tokens_per_cpu_s / theirs.tokens_per_cpu_s for ours, theirs in pairs]


def _padding(name: str, result: Result, device: str) -> float:
    if name != OURS:
        slots = sum(segment.num_slots for segment in result.segments[name])
        return 1 - sum(segment.num_tokens for segment in result.segments[name]) / slots
    lengths = result.data.lengths
    budget = CPU_MICRO_BATCH_TOKENS if device == "cpu" else CUDA_MICRO_BATCH_TOKENS
    slots = 0
    for batch in epoch_batches(lengths, result.work.batch_size, 0, 0):
        for part in split_by_tokens(batch, lengths, budget):
            tokens = int(lengths[part].sum())
            slots += tokens + -tokens % ROW_MULTIPLE
    return float(1 - lengths.sum() / slots)


def _document(result: Result, chosen: argparse.Namespace) -> dict[str, Any]:
    return {
        "machine": machine(),
        "arguments": vars(chosen),
        "source": result.work.source,
        "cloze": result.ours,
        "peaks": result.peaks,
        "flops_per_token": flops_per_token(result.work.config, result.data.lengths),
        "segments": {name: [asdict(s) for s in segments] for name, segments in result.segments.items()},
        "padding": {name: _padding(name, result, chosen.device) for name in result.segments},
        "ratios": {
            name: dict(zip(("wall", "processor"), _ratios(result, name), strict=True))
            for name in list(result.segments)[1:]
        },
        "curve_difference": result.curve_difference,
    }


if __name__ == "__main__":
    sys.exit(main())
