"""How quickly Attention (512 tokens) and Anatomy (128) answer with a base-sized model, and what that takes.

    python -m benchmarks.bench_inspect

A model of random weights is opened in the real page, drawn offscreen. Each figure is the time from a key, or
a question, to the picture on screen, by way of the inspector's workers; it takes turns with an idle control:
the same way with nothing to compute and a bare widget to paint. What the machine adds, the control shows too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.measure import Contender, Line, machine
from engine.device import num_cores
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from engine.text.wordpiece import WordPiece

LAYERS, HEADS, WIDTH, VOCABULARY = 12, 12, 768, 30_522  # as BERT base
LENGTH, SHORT, ANATOMY = 512, 64, 128  # tokens
MEMORY_LIMIT = 1.5e9


@dataclass(frozen=True, slots=True)
class Aim:
    """What a figure should be, and what it must not pass, in ms."""

    name: str
    goal: float
    floor: float
    words: str


AIMS = (
    Aim("hover", 16, 50, "repaint, pointer moved"),
    Aim("repaint", 16, 50, "repaint, picture anew"),
    Aim("arcs", 16, 50, "repaint, 300 arcs anew"),
    Aim("head", 50, 100, "switch head, key to painted"),
    Aim("layer", 50, 100, "switch layer, key to painted"),
    Aim("mosaic", 200, 500, "mosaic of all heads, asked to painted"),
    Aim("mask", 150, 400, f"masked word of {SHORT} tokens, asked to heard"),
    Aim("step", 50, 100, f"Anatomy step of {ANATOMY} tokens, key to painted"),
    Aim("walk", 50, 100, "Anatomy layer, key to painted"),
)


def make_model(folder: Path, layers: int, heads: int) -> Path:
    """Write a model of random weights, large enough that heads differ; return its folder."""
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=LENGTH,
    )
    model = PreTraining(config).eval()
    with torch.no_grad():
        for layer in model.bert.layers:
            layer.attention.qkv.weight.normal_(0, 0.08)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = marks + [f"word{_spelled(i)}" for i in range(VOCABULARY - len(marks))]
    save_model(folder, model, WordPiece.from_tokens(tokens, lowercase=True), {"task": "pretraining"})
    return folder


def _spelled(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def text_of(length: int) -> str:
    """Return a text of this many tokens, [CLS] and [SEP] included."""
    return " ".join(f"word{_spelled(i * 59 % 30_000)}" for i in range(length - 2))


# --- the window ----------------------------------------------------------------------------------------


def serve_window(line: Line, folder: Path, model: Path) -> None:
    """Open the page; answer ("memory", 0) with bytes, and (name of an aim, n) with pairs of ms."""
    if sys.platform.startswith("linux"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from app.application import make_application
    from app.settings import AppSettings
    from benchmarks.inspect_scene import Scene

    settings = AppSettings(folder / "settings.ini")
    application = make_application(["cloze"], settings)
    scene = Scene(settings, model, text_of(LENGTH), text_of(ANATOMY))
    line.send(application.platformName())
    while (question := line.recv()) is not None:
        name, count = question
        if name == "memory":
            line.send(peak_bytes())
        else:
            line.send([(scene.time(name), scene.time_idle(name)) for _ in range(count)])
    scene.close()


def peak_bytes() -> float:
    """Return the most memory this process has held at once."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)


# --- the benchmark -------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print a table; 1 if a floor is not held."""
    chosen = _parser().parse_args(argv)
    torch.set_num_threads(chosen.threads or num_cores())
    print(machine(), flush=True)
    found: dict[str, Any] = {"machine": machine()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model", chosen.layers, chosen.heads)
        with Contender("window", serve_window, folder, model) as window:
            print(f"{chosen.layers} x {chosen.heads} heads, {LENGTH} tokens, {window.greeting}", flush=True)
            print(f"{'median of ' + str(chosen.repeats):<42}{'ms':>8}{'idle':>8}{'goal':>7}{'floor':>7}")
            for aim in AIMS:
                if aim.name == "step":  # what Anatomy takes comes beside what Attention does
                    found["memory_bytes"] = window.ask(("memory", 0))
                window.ask((aim.name, 3))
                pairs = np.array(window.ask((aim.name, chosen.repeats)))
                found[aim.name] = pairs.tolist()
                _print(aim, pairs)
    print(f"most memory {found['memory_bytes'] / 1e9:.2f} GB (limit {MEMORY_LIMIT / 1e9:g}); {machine()}")
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    late = [aim.name for aim in AIMS if np.median(np.array(found[aim.name])[:, 0]) > aim.floor]
    return int(bool(late) or found["memory_bytes"] > MEMORY_LIMIT)


def _print(aim: Aim, pairs: np.ndarray) -> None:
    took, idle = np.median(pairs, axis=0)
    mark = "" if took <= aim.goal else "  over its goal" if took <= aim.floor else "  OVER ITS FLOOR"
    print(f"{aim.words:<42}{took:>8.1f}{idle:>8.1f}{aim.goal:>7g}{aim.floor:>7g}{mark}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_inspect", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--heads", type=int, default=HEADS)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    parser.add_argument("--json", default="", metavar="FILE")
    return parser


if __name__ == "__main__":
    sys.exit(main())
