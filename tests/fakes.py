"""Small things in the shape of real ones: a 2-layer BERT, 12 wide, 3 heads, 37 pieces, and folders of it.

Sizes are odd, and no two alike, so that swapped axes fail.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from engine.model.config import BertConfig
from engine.model.heads import PreTraining, SequenceClassifier
from engine.model.weights import save_model
from engine.text.byte_fallback import MMBERT, ByteFallback
from engine.text.byte_level import ROBERTA, ByteLevel, Markers
from engine.text.special_tokens import ExtraToken
from engine.text.unigram import ALBERT, BLANK, DEBERTA, Unigram
from engine.text.wordpiece import WordPiece

TOKENS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *"abcdefghijklmnopqrstuvwxyz",
    *("good", "bad", "film", "play", "##ing", "!"),
)  # 37
LABELS = ("bad", "good", "odd")


def tiny_config(**changes: Any) -> BertConfig:
    """Return the shape of the fake; `changes` are keys of `BertConfig`."""
    values: dict[str, Any] = {
        "vocab_size": len(TOKENS),
        "hidden_size": 12,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 29,
        "max_position_embeddings": 41,
    }
    return BertConfig(**{**values, **changes})


def tiny_wordpiece() -> WordPiece:
    """Return the fake's WordPieces: lower case letters and a few words."""
    return WordPiece.from_tokens(list(TOKENS), lowercase=True)


def tiny_mpnet_pieces() -> WordPiece:
    """Return the fake's WordPieces as MPNet numbers them: its own special tokens around BERT's vocabulary."""
    return WordPiece.from_tokens(["<s>", "<pad>", "</s>", "<unk>", *TOKENS, "<mask>"], lowercase=True)


def tiny_byte_level(markers: Markers = ROBERTA) -> ByteLevel:
    """Return the 256 bytes, a few pieces of them and 5 special tokens, as RoBERTa or ModernBERT has them."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    letters = [*map(chr, shown), *(chr(256 + place) for place in range(256 - len(shown)))]
    merges = ["Ġ t", "h e", "Ġt he", "f i", "fi l", "fil m", "Ġ film", "Ġ a", "g o", "o d", "go od", "Ġ good"]
    merges += ["p l", "a y", "pl ay", "Ġ play", "Ã ©"]
    pairs = [tuple(merge.split(" ")) for merge in merges]
    joined = [first + second for first, second in pairs]
    if markers is not ROBERTA:
        added = tuple(map(markers.usual, markers.named.values()))
        base = (*letters, *joined)
        return ByteLevel(base, tuple(pairs), added=added, markers=markers, composes=True)
    names = ("<s>", "<pad>", "</s>", "<unk>")
    return ByteLevel((*names, *letters, *joined, "<mask>"), tuple(pairs))


def tiny_fallback(*, begins_with_space: bool = True, splits: bool = True) -> ByteFallback:
    """Return letters, a few words and all bytes as mmBERT's vocabulary has them: 4 for `<mask>`."""
    merges = ["▁ t", "h e", "▁t he", "f i", "l m", "fi lm", "▁ film", "▁ a", "p l", "a y", "pl ay", "▁ play"]
    merges += ["i n", "in g", "o o", "g oo", "goo d", "▁ good", "b a", "ba d", "▁ bad", "今 天", "▁ ▁"]
    pairs = [tuple(merge.split(" ")) for merge in merges]
    letters = (BLANK, *"abcdefghijklmnopqrstuvwxyzé今天()12!,\n")
    names = (MMBERT.pad, MMBERT.sep, MMBERT.cls, MMBERT.unk, MMBERT.mask)
    base = (*names, *(f"<0x{byte:02X}>" for byte in range(256)), *letters, *(a + b for a, b in pairs))
    return ByteFallback(base, tuple(pairs), begins_with_space, splits=splits)


def tiny_unigram(kind: str = "xlm-roberta") -> Unigram:
    """Return letters and a few words with scores, and the special tokens of a kind; bytes for "deberta"."""
    likely = {"▁": -4.0, "▁the": -3.0, "▁a": -3.5, "▁film": -4.0, "film": -5.0, "▁good": -4.5, "▁bad": -4.5}
    likely |= {"▁play": -5.0, "ing": -5.5, "fi": -6.0, "▁caf": -7.0, "今天": -7.0, "!": -4.0, ",": -4.0}
    scored = [*likely.items(), *((letter, -8.0) for letter in "abcdefghijklmnopqrstuvwxyzé今天()12")]
    first = {
        "xlm-roberta": ("<s>", "<pad>", "</s>", "<unk>"),
        "camembert": ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>"),
        "albert": ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"),
        "deberta": ("[PAD]", "[CLS]", "[SEP]", "[UNK]", *(f"<0x{byte:02X}>" for byte in range(256))),
    }[kind]
    if kind in ("xlm-roberta", "camembert"):
        scored.append(("<mask>", 0.0))
    pieces = [*((name, -100.0 * (name == "<unk>NOTUSED")) for name in first), *scored]
    base, scores = tuple(piece for piece, _ in pieces), tuple(score for _, score in pieces)
    if kind == "albert":
        return Unigram(base, scores, ALBERT, lowercase=True, strip_accents=True, plain_quotes=True)
    if kind == "deberta":
        return Unigram(base, scores, DEBERTA, byte_fallback=True, added=(ExtraToken("[MASK]"),))
    return Unigram(base, scores)


def tiny_classifier(labels: Sequence[str] = LABELS, seed: int = 0, **changes: Any) -> SequenceClassifier:
    """Return a classifier of which every weight is random, biases and norms too, in `eval` mode."""
    model = SequenceClassifier(tiny_config(id2label=tuple(labels), **changes))
    scramble(model, seed)
    return model.eval()


def tiny_pretraining(seed: int = 0, **changes: Any) -> PreTraining:
    """Return a model with the heads of pretraining, every weight random, in `eval` mode."""
    model = PreTraining(tiny_config(**changes))
    scramble(model, seed)
    return model.eval()


def scramble(model: torch.nn.Module, seed: int = 0) -> None:
    """Give every parameter random values, so large that a mistake in any of them shows."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.3, generator=generator)


def model_folder(path: Path, labels: Sequence[str] = LABELS, seed: int = 0, **changes: Any) -> Path:
    """Write a whole model folder as Cloze saves it; return it."""
    save_model(path, tiny_classifier(labels, seed, **changes), tiny_wordpiece(), {"task": "classification"})
    return path


def stored_tensors(folder: Path) -> dict[str, Tensor]:
    """Return what lies in a folder's model.safetensors, by its published names."""
    return load_file(folder / "model.safetensors")


def foreign_folder(
    path: Path, tensors: Mapping[str, Tensor], config: Mapping[str, Any] | None = None
) -> Path:
    """Write a folder as others would: any tensors by any names, and the fake's config.json with changes."""
    path.mkdir(parents=True, exist_ok=True)
    document = {**tiny_config(id2label=LABELS).to_json(), **(config or {})}
    (path / "config.json").write_text(json.dumps(document))
    save_file(dict(tensors), path / "model.safetensors", metadata={"format": "pt"})
    return path


def same_weights(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    """Whether two modules of one shape hold the same bits."""
    there = other.state_dict()
    return all(torch.equal(value, there[name]) for name, value in one.state_dict().items())
