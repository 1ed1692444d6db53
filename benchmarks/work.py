"""What is trained in the benchmarks: a table, a starting model of random weights, and the settings of a run.

Real data is read from the folder that CLOZE_DATA names; without it the sentences that ship with Cloze serve.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.model.bert import initialize
from engine.model.config import BertConfig
from engine.model.heads import SequenceClassifier
from engine.model.weights import save_model
from engine.text.batch import EncodedRows, epoch_batches
from engine.text.wordpiece import WordPiece

SAMPLES = Path(__file__).parents[1] / "assets" / "samples"
SENTENCES_A_TEXT = 12  # of the shipped sentences make one text of some 300 WordPieces
NEVER = 10**9


@dataclass(frozen=True)
class Work:
    """One workload on disk. `values` are flat settings for `engine.settings.config.with_values`."""

    name: str
    source: str
    labels: tuple[str, ...]
    table: Path
    model: Path
    config: BertConfig
    batch_size: int
    max_length: int

    def values(self, **changes: Any) -> dict[str, Any]:
        """Return the settings of a run that never evaluates, and saves only when it is closed."""
        settings: dict[str, Any] = {
            "data": str(self.table),
            "text": "text",
            "label": "label",
            "model": str(self.model),
            "max_length": self.max_length,
            "batch_size": self.batch_size,
            "validation_share": 0.0,
            "num_epochs": 10_000,
            "learning_rate": 5e-5,
            "warmup_ratio": 0.0,
            "hidden_dropout": 0.1,
            "attention_dropout": 0.0,
            "evaluate_every_steps": NEVER,
            "checkpoint_every_steps": NEVER,
        }
        return {**settings, **changes}


def make_work(name: str, preset: str, folder: Path) -> Work:
    """Write the table and the model of "short" or "long" texts under `folder`."""
    source, rows = (_short if name == "short" else _long)()
    labels = tuple(sorted({label for label, _ in rows}))
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "data.csv", rows)
    wordpiece = WordPiece.from_vocab(_vocabulary())
    model = SequenceClassifier(BertConfig.preset(preset, len(wordpiece.tokens), id2label=labels))
    initialize(model, model.config.initializer_range, seed=1)
    save_model(folder / "start", model, wordpiece, {"task": "classification"})
    batch_size, max_length = (32, 128) if name == "short" else (16, 256)
    return Work(
        name, source, labels, folder / "data.csv", folder / "start", model.config, batch_size, max_length
    )


def write_table(path: Path, rows: Iterable[tuple[str, str]]) -> None:
    """Write (label, text) rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("label", "text"))
        writer.writerows(rows)


def read_rows(path: Path) -> list[tuple[str, str]]:
    """Read what `write_table` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [(label, text) for label, text in csv.reader(file)][1:]


def steps_of(data: EncodedRows, batch_size: int, seed: int, num_steps: int) -> list[list[np.ndarray]]:
    """Return the batches of the first steps of a run without accumulation, as the engine draws them."""
    batches: list[np.ndarray] = []
    epoch = 0
    while len(batches) < num_steps:
        batches += epoch_batches(data.lengths, batch_size, seed, epoch)
        epoch += 1
    return [[batch] for batch in batches[:num_steps]]


def _short() -> tuple[str, list[tuple[str, str]]]:
    root = os.environ.get("CLOZE_DATA")
    if root is None:
        return "shipped sentences", read_rows(SAMPLES / "sentence_polarity.csv")
    lines = (Path(root) / "sst2" / "train.tsv").read_text(encoding="utf-8").splitlines()
    pairs = (line.rsplit("\t", 1) for line in lines if "\t" in line)
    return "SST-2", [(label, text) for text, label in pairs]


def _long() -> tuple[str, list[tuple[str, str]]]:
    root = os.environ.get("CLOZE_DATA")
    if root is not None:
        return "BBC news", read_rows(Path(root) / "bbc_news" / "bbc-text.csv")
    rows = read_rows(SAMPLES / "sentence_polarity.csv")
    texts = []
    for label in sorted({label for label, _ in rows}):
        mine = [text for other, text in rows if other == label]
        joined = (" ".join(mine[i : i + SENTENCES_A_TEXT]) for i in range(0, len(mine), SENTENCES_A_TEXT))
        texts += [(label, text) for text in joined]
    return "shipped sentences, twelve a text", texts


def _vocabulary() -> Path:
    root = os.environ.get("CLOZE_DATA")
    return SAMPLES / "vocab.txt" if root is None else Path(root) / "vocabs" / "bert-base-uncased-vocab.txt"
