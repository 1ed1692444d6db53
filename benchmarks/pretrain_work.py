"""What pretraining is measured on: one long text, models of random weights, the settings of a run, memory.

Real text is read from the folder that CLOZE_DATA names; without it the sentences that ship with Cloze serve.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.work import NEVER, SAMPLES, read_rows
from engine.events import Event, Step
from engine.model.bert import initialize
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.text.corpus.instances import MaskedBatch
from engine.text.wordpiece import WordPiece
from engine.train.pretrain import pretrain
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.text_feed import TextFeed
from engine.train.run.runs import SETUP

CHARACTERS = 3_000_000  # of text: some 700,000 WordPieces
WEIGHT_DECAY = 0.01


@dataclass(frozen=True, slots=True)
class Work:
    """A text and a starting model on disk."""

    source: str
    folder: Path
    config: BertConfig
    batch_size: int
    max_length: int

    @property
    def model(self) -> Path:
        """The starting model, which transformers opens too."""
        return self.folder / "start"

    def settings(self, **changes: Any) -> PretrainConfig:
        """Return the settings of a run over full blocks, that neither evaluates nor saves on its way."""
        values: dict[str, Any] = {
            "text": str(self.folder.parent / "text.txt"),
            "layout": "paragraphs",
            "validation_share": 0.0,
            "model": str(self.model),
            "next_sentence": False,
            "max_length": self.max_length,
            "batch_tokens": self.batch_size * self.max_length,
            "steps": NEVER,
            "learning_rate": 1e-4,
            "weight_decay": WEIGHT_DECAY,
            "adam_beta2": 0.999,
            "attention_dropout": 0.0,
            "evaluations": 1,
            "checkpoint_every_steps": NEVER,
            "device": "cpu",
        }
        return with_values(PretrainConfig(), {**values, **changes})

    def run(self, name: str, config: PretrainConfig) -> Iterator[Event]:
        """Return the engine's own task; its token store goes into this folder, not into the user's cache."""
        with patch.object(pretraining_setup, "default_store_root", lambda: self.folder.parent / "tokens"):
            yield from pretrain(config, self.folder / name)

    def tokens(self, name: str) -> Path:
        """Return the token store of a run."""
        return self.folder / name / SETUP / pretraining_setup.TOKENS


def make_text(folder: Path) -> str:
    """Write text.txt, one document without an end, and return where it is from."""
    root = os.environ.get("CLOZE_DATA")
    if root is None:
        source = "shipped sentences"
        lines = [text for _, text in read_rows(SAMPLES / "sentence_polarity.csv")]
    else:
        source, path = "Wikipedia", Path(root) / "corpora" / "enwiki2015-core.txt.xz"
        with lzma.open(path, "rt", encoding="utf-8") as file:
            lines = [line for line in file.read(CHARACTERS).split("\n") if line.strip()]
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return source


def make_work(source: str, preset: str, folder: Path, batch_size: int, max_length: int) -> Work:
    """Write a model of random weights, as published."""
    root = os.environ.get("CLOZE_DATA")
    vocab = SAMPLES / "vocab.txt" if root is None else Path(root) / "vocabs" / "bert-base-uncased-vocab.txt"
    wordpiece = WordPiece.from_vocab(vocab)
    work = Work(
        source,
        folder / preset,
        BertConfig.preset(preset, len(wordpiece.tokens)),
        batch_size,
        max_length,
    )
    work.folder.mkdir()
    model = PreTraining(work.config)
    initialize(model, model.config.initializer_range, seed=1)
    save_model(work.model, model, wordpiece)
    return work


def train_recorded(work: Work, config: PretrainConfig) -> tuple[list[Step], list[list[MaskedBatch]]]:
    """Train in a run of the engine; return its steps and the masked batches of each, in their parts."""
    batches: list[list[MaskedBatch]] = []
    made = TextFeed.parts

    def recorded(feed: TextFeed, *args: Any) -> list[MaskedBatch]:
        batches.append(made(feed, *args))
        return batches[-1]

    with patch.object(TextFeed, "parts", recorded):
        steps = [event for event in work.run("curve", config) if isinstance(event, Step)]
    return steps, batches


def memory() -> tuple[int, int]:
    """Return bytes of memory that this process takes now, and took at most; zeros where nobody tells."""
    try:
        with open("/proc/self/status", encoding="utf-8") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["VmRSS"].split()[0]) * 1024, int(lines["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError):
        return 0, 0
