"""Pretraining in miniature: made-up documents, a model 12 wide, and where its tokens are kept."""

from __future__ import annotations

import random
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from engine.commands.language import pretrain_command
from engine.events import Event, Noted
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.weights import save_model
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.text.wordpiece import WordPiece
from tests.engine.tiny_runs import outcome
from tests.fakes import scramble

Result, Kind = TypeVar("Result"), TypeVar("Kind", bound=Event)
TOPICS = (
    (("cat", "dog", "cow"), ("eats", "sees"), ("fish", "milk", "grass")),
    (("ship", "boat", "crew"), ("leaves", "finds"), ("port", "sea", "island")),
    (("king", "queen", "duke"), ("rules", "holds"), ("land", "crown", "castle")),
)
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_text(path: Path, num_documents: int = 40, seed: int = 0) -> Path:
    """Write documents of 1 to 8 sentences of 5 to 9 words, each on one subject, a sentence a line."""
    rng = random.Random(seed)
    path.write_text("\n\n".join(document(rng) for _ in range(num_documents)) + "\n", encoding="utf-8")
    return path


def document(rng: random.Random) -> str:
    """Return sentences on one subject, a sentence a line."""
    who, does, what = rng.choice(TOPICS)
    return "\n".join(
        f"the {rng.choice(who)} {rng.choice(does)} {' and '.join(rng.sample(what, rng.randint(1, 3)))} ."
        for _ in range(rng.randint(1, 8))
    )


def of(kind: type[Kind], events: Iterable[Event]) -> list[Kind]:
    """Return the events of a kind."""
    return [event for event in events if isinstance(event, kind)]


def text_config(folder: Path, **settings: Any) -> PretrainConfig:
    """Return settings of a run of 12 steps on text.txt, which is written to `folder` if absent."""
    if not (folder / "text.txt").exists():
        write_text(folder / "text.txt")
    values: dict[str, Any] = {
        "text": str(folder / "text.txt"),
        "layout": "sentences",
        "validation_share": 0.1,
        "model": "new:2x12x3",
        "vocab_size": 200,
        "max_positions": 41,
        "max_length": 24,
        "start_length": 0,
        "batch_tokens": 128,
        "learning_rate": 3e-3,
        "evaluations": 3,
        "checkpoint_every_steps": 2,
        "device": "cpu",
        "precision": "float32",  # auto would measure, and choose, in every process
        "kernels": "oneDNN",
        "num_threads": 1,
    }
    if not {"steps", "tokens", "minutes"} & settings.keys():
        values["steps"] = 12
    return with_values(PretrainConfig(), {**values, **settings})


def words_of(config: PretrainConfig, run_dir: Path) -> list[str]:
    """Return the words after `python -m engine` that do this run."""
    return shlex.split(pretrain_command(config, run_dir))[3:]


def all_words() -> list[str]:
    """Return every word of the made-up documents, in order, and the full stop."""
    return sorted({word for topic in TOPICS for words in topic for word in words} | {"the", "and", "."})


def word_vocabulary(path: Path, specials: Sequence[str] = SPECIALS) -> Path:
    """Write a vocab.txt with a piece for every word of the documents, and for every letter."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    tokens = [*specials, *letters, *(f"##{letter}" for letter in letters), *all_words()]
    path.write_text("\n".join(tokens) + "\n", encoding="utf-8")
    return path


def word_pieces(path: Path) -> WordPiece:
    """Return the WordPiece of `word_vocabulary`."""
    return WordPiece.from_vocab(word_vocabulary(path), lowercase=True)


def notes(events: Iterable[Event]) -> str:
    """Return all that was noted, a sentence a line."""
    return "\n".join(str(event.sentence) for event in events if isinstance(event, Noted))


def promised(run_dir: Path) -> dict[str, Any]:
    """Return what a run promises to repeat bit for bit, however often it was stopped or killed.

    Readings of pinned sentences are not in it: they are taken by the clock. Nor is "saved": one that is
    stopped saves once more.
    """
    found = outcome(run_dir)
    records = [record for record in found["metrics"] if record["event"] not in ("saved", "pinned")]
    return {**found, "metrics": records}


def encoder_folder(path: Path, num_filler: int = 0) -> Path:
    """Write an encoder without heads that knows the words; `num_filler`: rows beyond its vocabulary."""
    path.mkdir(parents=True)
    pieces = word_pieces(path / "vocab.txt")
    shape = BertConfig(
        vocab_size=pieces.vocab_size + num_filler,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=29,
        max_position_embeddings=41,
    )
    encoder = Bert(shape, with_pooler=False)
    scramble(encoder)
    shutil.rmtree(path)
    save_model(path, encoder, pieces)
    return path
