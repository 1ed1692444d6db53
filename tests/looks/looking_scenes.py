"""A very small language model and classifier that know a few words, and the texts that are looked into."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from engine.model.heads import PreTraining, SequenceClassifier
from engine.model.weights import save_model
from engine.text.wordpiece import WordPiece
from tests.fakes import LABELS, scramble, tiny_config

SENTENCE = "The bank by the river was steep."
PAIR = ("She has [MASK] in the bank.", "The river is near the bank!")
CHINESE = ("我在银行的河边吃饭。", "他爱苹果，也爱钱。")
LONGEST = 64  # pieces that the model reads
TOO_LONG = "The boat by the river bank was old. " * 12

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOKENS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *_LETTERS,
    *(f"##{letter}" for letter in _LETTERS),
    *("the", "bank", "river", "money", "by", "was", "steep", "she", "has", "in", "is", "near", "boat"),
    *("old", "takes", "her", "to", "sat", "on", "and", "of", "loan", "asked", "for", "##bank"),
    *(".", ",", "!", "?", "。", "，"),
    *dict.fromkeys("我在银行的河边吃饭他爱苹果也钱"),
)
NUM_LAYERS, NUM_HEADS = 3, 4


def wordpiece() -> WordPiece:
    """Return the WordPieces of both models."""
    return WordPiece.from_tokens(list(TOKENS), lowercase=True)


def language_model(folder: Path, seed: int = 0, **changes: Any) -> Path:
    """Write a model that guesses words and next sentences, each head with a look of its own."""
    model = PreTraining(tiny_config(**{**_shape(), **changes}))
    _stir(model, seed)
    save_model(folder, model, wordpiece(), {"task": "pretraining"})
    return folder


def classifier(folder: Path, seed: int = 3) -> Path:
    """Write a model that tells three labels apart."""
    model = SequenceClassifier(tiny_config(id2label=LABELS, **_shape()))
    _stir(model, seed)
    save_model(folder, model, wordpiece(), {"task": "classification"})
    return folder


def _shape() -> dict[str, int]:
    return {
        "vocab_size": len(TOKENS),
        "hidden_size": 20,
        "num_hidden_layers": NUM_LAYERS,
        "num_attention_heads": NUM_HEADS,
        "max_position_embeddings": LONGEST,
    }


def _stir(model: PreTraining | SequenceClassifier, seed: int) -> None:
    """Give every weight a random value around what keeps each layer's part of the answer visible."""
    scramble(model, seed)
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, torch.nn.LayerNorm):
                part.weight += 1
        for layer in model.bert.layers:
            weight = layer.attention.qkv.weight
            weight[: 2 * weight.shape[1]] *= 0.7  # queries and keys: no head looks at one token alone
    model.eval()
