"""The figures of the model card: what the starter model reaches, and its recipe beside the Trainer.

    python -m benchmarks.bench_starter --what held-out cloze classifiers
    python -m benchmarks.bench_starter --what beside --encoder DIR --minutes 5

`CLOZE_DATA` names the folder with corpora/ and sst2/. "beside" trains the recipe's first stage and the
Trainer of `transformers` from the same weights (the trimmed encoder with its new head) for the same
minutes each on this machine, in turns, in float32, with the same rates by the clock, and measures both
on the same held-out Wikipedia articles. The engine's minutes are those of a run: its reading of the text
and its measuring are among them, the Trainer's are not.

"curves" reads the runs that `assets.models.make` left in --work. --json FILE keeps what it held of other
parts, and `starter_pictures` draws from it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.shipped import assets
from assets.models.make import STAGES
from benchmarks.measure import Contender, machine
from benchmarks.starter_work import (
    POLARITY,
    SST2,
    WIKIPEDIA,
    cloze_sentences,
    fine_tuned,
    on_held_out,
    random_twin,
    tables,
)
from engine.train.run.runs import read_metrics

TASKS = (POLARITY, SST2)
SEEDS = (42, 43, 44, 45, 46)
SHORT = {"max_length": 64, "precision": "bfloat16"}
POINTS = 5  # of each curve beside the peer's, and one before the first step
TURN_S = 20.0
Point = dict[str, float]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what was asked for, print it, and write it as JSON."""
    parser = _parser()
    chosen = parser.parse_args(argv)
    for what, option in (("beside", "encoder"), ("curves", "work")):
        if what in chosen.what and getattr(chosen, option) is None:
            parser.error(f"--what {what} needs --{option} DIR.")
    os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TRANSFORMERS_VERBOSITY="error")
    print(machine(), flush=True)
    parts = {
        "held-out": _held_out,
        "cloze": _cloze,
        "classifiers": _classifiers,
        "beside": _beside,
        "curves": _curves,
    }
    found = _known(chosen.json)
    for what in chosen.what:
        measured = parts[what](chosen)
        found[what] = {**found.get(what, {}), **measured} if what == "classifiers" else measured
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_starter", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--what",
        nargs="+",
        required=True,
        choices=("held-out", "cloze", "classifiers", "beside", "curves"),
    )
    parser.add_argument("--model", type=Path, default=assets() / "models" / "starter", metavar="DIR")
    parser.add_argument("--encoder", type=Path, metavar="DIR", help="all-MiniLM-L6-v2, for beside")
    parser.add_argument("--work", type=Path, metavar="DIR", help="the runs of the recipes, for curves")
    parser.add_argument("--minutes", type=float, default=5.0, help="of each, for beside")
    parser.add_argument("--tokens", type=int, default=262_144, help="of held-out text")
    parser.add_argument("--epochs", type=int, default=1, help="of each classifier")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS, help="of the classifiers")
    parser.add_argument("--threads", type=int, default=0, help="of each classifier; 0: one for each core")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser


def _known(file: Path | None) -> dict[str, Any]:
    """Return what was measured before."""
    if file is None or not file.is_file():
        return {}
    known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return known


def _data() -> Path:
    root = os.environ.get("CLOZE_DATA")
    if root is None:
        raise SystemExit("CLOZE_DATA names no folder of real data.")
    return Path(root)


def _held_out(chosen: argparse.Namespace) -> dict[str, Any]:
    found = {}
    for name, measures in on_held_out(chosen.model, _data(), chosen.tokens):
        print(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in measures.items()), flush=True)
        found[name] = measures
    return found


def _cloze(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    rows = cloze_sentences(chosen.model)
    for row in rows:
        print("+" if row["sensible"] else "-", row["text"], "|", ", ".join(row["guesses"]))
    print(f"{sum(bool(row['sensible']) for row in rows)} of {len(rows)}", flush=True)
    return rows


def _classifiers(chosen: argparse.Namespace) -> dict[str, Any]:
    """Fine-tune the model and its random twin in turns, once for each seed."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        all_tables = tables(_data(), Path(name))
        for task in chosen.tasks:
            scores: dict[str, list[float]] = {"starter": [], "random": []}
            for seed in SEEDS:
                twin = random_twin(chosen.model, Path(name), seed)
                for kind, model in (("starter", chosen.model), ("random", twin)):
                    changes = {"num_epochs": chosen.epochs, "num_threads": chosen.threads}
                    score = fine_tuned(model, all_tables[task], seed, **SHORT, **changes)
                    scores[kind].append(score)
                    print(f"{task} {kind} seed {seed}: {score:.4f}", flush=True)
            for kind, values in scores.items():
                mean, spread = statistics.mean(values), statistics.stdev(values)
                print(f"{task} {kind}: {mean:.4f} +- {spread:.4f} over {len(values)} seeds", flush=True)
            found[task] = scores
    return found


def _curves(chosen: argparse.Namespace) -> dict[str, list[Point]]:
    """Return what each stage of the starter's recipe measured on its way, by million tokens of all stages."""
    curves: dict[str, list[Point]] = {}
    tokens = 0
    for stage in STAGES:
        curves[stage] = points = []
        for record in read_metrics(chosen.work / stage):
            if record["event"] == "step":
                tokens += record["num_tokens"]
            elif record["event"] == "evaluated":
                names = {"mlm_loss": "loss", "mlm_accuracy": "accuracy", "nsp_accuracy": "next_sentence"}
                found = {
                    to: record["metrics"][name] for name, to in names.items() if name in record["metrics"]
                }
                points.append({"million_tokens": tokens / 1e6, **found})
                print(f"{stage}: " + ", ".join(f"{k} {v:.4g}" for k, v in points[-1].items()), flush=True)
    return curves


# --- beside the Trainer ------------------------------------------------------------------------------


def _beside(chosen: argparse.Namespace) -> dict[str, list[Point]]:
    """Train both for the same minutes, in turns; return their curves on held-out articles."""
    from benchmarks.starter_peer import Duel, serve_cloze, serve_trainer  # it imports transformers

    with tempfile.TemporaryDirectory() as name:
        duel = Duel(_data() / "corpora" / WIKIPEDIA, chosen.encoder, Path(name), chosen.minutes, POINTS)
        duel.prepare()
        with (
            Contender("Cloze", serve_cloze, duel) as ours,
            Contender("Trainer", serve_trainer, duel) as theirs,
        ):
            curves: dict[str, list[Point]] = {"Cloze": [], "Trainer": []}
            going = [ours, theirs]
            while going:
                for contender in list(going):
                    points, is_over = contender.ask(TURN_S)
                    curves[contender.name] += points
                    for point in points:
                        told = ", ".join(f"{key} {value:.4g}" for key, value in point.items())
                        print(f"{contender.name}: {told}", flush=True)
                    if is_over:
                        going.remove(contender)
    return curves


if __name__ == "__main__":
    raise SystemExit(main())
