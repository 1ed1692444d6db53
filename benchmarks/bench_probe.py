"""Click to mask: how long a base model of random weights takes to guess a word among 64 WordPieces.

    python -m benchmarks.bench_probe

Takes turns with a control, plain products of the same sizes, that tells what the machine gives just now: what
others take of it, both lose. The goal is 150 ms on two cores, and never more than 400.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch.nn import functional as F

from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.lens import lens
from engine.inspect.masked.probe import probe, score_words
from engine.model.bert import initialize
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from engine.text.wordpiece import WordPiece

VOCAB_SIZE, NUM_TOKENS = 30522, 64
GOAL_MS = 150


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 1 if the median of a click is over the goal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_probe")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=20)
    chosen = parser.parse_args(argv)
    torch.set_num_threads(chosen.threads)
    with tempfile.TemporaryDirectory() as place:
        subject = base_model(Path(place) / "model")
    text = " ".join(f"w{number}" for number in range(NUM_TOKENS - 2))
    assert len(subject.encode(text).input_ids) == NUM_TOKENS
    masked = probe(subject, text, words=[5]).masked
    contenders: dict[str, Callable[[], object]] = {
        "control": products,
        "one word": lambda: probe(subject, text, words=[5]),
        "three words": lambda: probe(subject, text, words=[5, 20, 40]),
        "typed word": lambda: score_words(subject, masked, 0, ["w77"]),
        "layer lens": lambda: lens(subject, masked),
    }
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(chosen.repeats + 3):
        for name, work in contenders.items():
            start = time.perf_counter()
            work()
            if turn >= 3:
                taken[name].append(1000 * (time.perf_counter() - start))
    for name, values in taken.items():
        middle = statistics.median(values)
        print(f"{name:12} median {middle:6.0f} ms, from {min(values):.0f} to {max(values):.0f}")
    return int(statistics.median(taken["one word"]) > GOAL_MS)


def base_model(folder: Path) -> LoadedModel:
    """Return a model of BERT-base's shape with random weights."""
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [f"w{number}" for number in range(VOCAB_SIZE - len(specials))]
    model = PreTraining(BertConfig(vocab_size=VOCAB_SIZE))
    initialize(model, 0.02, seed=0)
    save_model(folder, model, WordPiece.from_tokens(specials + words, lowercase=True))
    return LoadedModel.open(folder, "cpu")


def products() -> None:
    """Multiply as a layer does, twelve times, with torch's own product."""
    with torch.inference_mode():
        tokens, wide = torch.ones(NUM_TOKENS, 768), torch.ones(NUM_TOKENS, 3072)
        square, up, down = torch.ones(768, 768), torch.ones(3072, 768), torch.ones(768, 3072)
        for _ in range(12):
            for weight in (square, square, square, square, up):
                F.linear(tokens, weight)
            F.linear(wide, down)


if __name__ == "__main__":
    raise SystemExit(main())
