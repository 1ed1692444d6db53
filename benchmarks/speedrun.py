"""A speed run for two cores: mini from nothing to a held-out masked-word loss of 3.4 on the Wikipedia text.

    python -m benchmarks.speedrun                        the defaults, for 25 minutes
    python -m benchmarks.speedrun --recipe words-only    one of `RECIPES`
    python -m benchmarks.speedrun --minutes 45 --set batch_tokens=4096

`CLOZE_DATA` names the folder with corpora/. Every recipe trains the same model (4 x 256, 8,192 WordPieces) on
the same text for the same minutes. What stands in the table is the loss over the same held-out articles in
texts of 128 with BERT's masks, whatever the recipe trained with, and when the run's own evaluations first
passed the goal. The clock begins when the text has been read: no recipe changes that. The machine's speed is
told beside it, as products of matrices before and after. A line of the table in README.md is printed at the
end, and the run's evaluations go to speedrun/RECIPE.jsonl beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measure import machine, matrix_peaks
from benchmarks.starter_work import AT_ONCE, WIKIPEDIA, measure
from engine.events import Evaluated, Step, result_of
from engine.model.weights import load_pretraining
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.train.pretrain import pretrain
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run.runs import MODEL

GOAL, MINUTES = 3.4, 25.0
MEASURED = 131_072  # tokens of held-out text
LOGS = Path(__file__).parent / "speedrun"


@dataclass(frozen=True, slots=True)
class Recipe:
    """One change of the defaults. said: in the table. values: settings by name."""

    said: str
    values: Mapping[str, Any] = field(default_factory=dict)


RECIPES = {
    "defaults": Recipe("the defaults"),
    "words-only": Recipe("masked words only", {"next_sentence": False}),
    "longer-batches": Recipe("batches of 4,096 tokens", {"batch_tokens": 4096}),
    "rate-20": Recipe("20 % masked", {"mask_rate": 0.2}),
    "growing": Recipe("texts grow from 32 to 128", {"next_sentence": False, "start_length": 32}),
    "random-start": Recipe("random weights at the start", {"informed_start": False}),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a recipe, print its line, and write its log."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speedrun", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--recipe", choices=RECIPES, default="defaults")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="one more change")
    chosen = parser.parse_args(argv)
    recipe = RECIPES[chosen.recipe]
    changes = dict(one.split("=", 1) for one in chosen.set)
    text = Path(os.environ["CLOZE_DATA"]) / "corpora" / WIKIPEDIA
    config = with_values(
        PretrainConfig(),
        {"text": str(text), "model": "new:mini", "vocab_size": 8192, "minutes": chosen.minutes}
        | {"kept_weights": 0, "evaluations": 25}
        | dict(recipe.values)
        | changes,
    )
    print(machine(), flush=True)
    speeds = [matrix_peaks("cpu")]
    log: list[dict[str, Any]] = []
    tokens, seconds, passed = 0, 0.0, None
    with tempfile.TemporaryDirectory() as folder:
        for event in pretrain(config, Path(folder) / "run"):
            if isinstance(event, Step):
                tokens, seconds = tokens + event.num_tokens, event.elapsed_s
            elif isinstance(event, Evaluated):
                loss = event.metrics["mlm_loss"]
                log.append({"minutes": round(seconds / 60, 2), "tokens": tokens, **event.metrics})
                print(f"{seconds / 60:5.1f} min  {tokens / 1e6:6.2f} M tokens  {loss:.3f}", flush=True)
                passed = seconds / 60 if passed is None and loss <= GOAL else passed
        reached = held_out(Path(folder) / "run" / MODEL, text)
    speeds.append(matrix_peaks("cpu"))
    told = ", ".join(
        f"{name} {speeds[0][name] / 1e9:.0f} and {speeds[1][name] / 1e9:.0f}" for name in speeds[0]
    )
    said = ", ".join([recipe.said, *chosen.set])
    when = "" if passed is None else f"{passed:.1f} min"
    print(
        f"| {said} | {reached['mlm_loss']:.3f} | {reached['mlm_accuracy']:.3f} | {when} "
        f"| {tokens / 1e6:.1f} M in {seconds / 60:.0f} min | {told} |"
    )
    LOGS.mkdir(exist_ok=True)
    about = {"recipe": said, "machine": machine(), "peaks": speeds, "held_out": reached, "passed": passed}
    lines = [json.dumps(one) for one in ({"about": about}, *log)]
    (LOGS / f"{chosen.recipe}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def held_out(model_dir: Path, text: Path) -> dict[str, float]:
    """Return what a model reaches on the held-out articles, in texts of 128, with BERT's masks."""
    model, _ = load_pretraining(model_dir, seed=0)
    model.eval()
    values = {"text": str(text), "model": str(model_dir), "next_sentence": False, "max_length": 128}
    config = with_values(PretrainConfig(), values)
    setup = result_of(pretraining_setup.prepare(config))
    return measure(model, pretraining_setup.validation_batches(setup, config, MEASURED, AT_ONCE))


if __name__ == "__main__":
    raise SystemExit(main())
