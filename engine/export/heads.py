"""A model folder as one graph: ids, mask and segments in, scores out, called as its head calls them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from engine.model.folder import open_weights
from engine.model.heads import MaskedWords
from engine.model.info import length_in, read_info, truncation_in
from engine.model.sentence_files import read_sentence_files
from engine.model.source import StoredModel
from engine.model.weights import load_encoder, load_headed, load_pretraining, read_config, tuned_head
from engine.text.batch import Unpadded
from engine.text.tokenizer import TRUNCATIONS
from engine.train.tasks.kind import Kind
from engine.train.tasks.known import task_of

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
WORDS, VECTORS = ("logits", "next_sentence_logits"), ("last_hidden_state",)  # outputs without a task


@dataclass(frozen=True, slots=True)
class Graph:
    """A model ready to be traced.

    outputs: what its scores are called. longest: the places that it has. max_length, truncation: how many
    WordPieces Cloze reads at once, and how it cuts what is longer. task: that it was fine-tuned for; without
    one, it guesses WORDS or gives VECTORS.
    """

    module: nn.Module
    outputs: tuple[str, ...]
    longest: int
    max_length: int
    truncation: str = TRUNCATIONS[0]
    task: Kind | None = None


def _real(input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> dict[str, Any]:
    """Return the real tokens of a padded batch as `Bert` takes them: padding costs as much as text does."""
    bounds = Unpadded(attention_mask)
    places = torch.arange(input_ids.shape[1]).expand(input_ids.shape)
    ids, types, places = map(bounds.packed, (input_ids, token_type_ids, places))
    return {"input_ids": ids, "token_type_ids": types, "position_ids": places, "bounds": bounds}


class _Masked(nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.outputs = WORDS if model.config.family.has_next_sentence else WORDS[:1]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Any:
        real = _real(input_ids, attention_mask, token_type_ids)
        found = self.model(**real)
        scores = real["bounds"].padded(self.model.logits(found.hidden))  # (B, T, V)
        return (scores, found.next_sentence) if len(self.outputs) > 1 else scores


class _Headed(nn.Module):
    """Of classes (B, C), of endings (B, 1), of tags (B, T, C); of questions two times (B, T)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Any:
        if self.model.config.pooling:  # a mean is taken over a padded batch
            return self.model(input_ids, token_type_ids, attention_mask)
        real = _real(input_ids, attention_mask, token_type_ids)
        found = self.model(**real)
        if not self.model.reads_firsts:
            found = real["bounds"].padded(found)
        return found.unbind(-1) if len(self.model.outputs) > 1 else found


class _Words(nn.Module):
    """Of the words of a vocabulary at each place (B, T, V)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        real = _real(input_ids, attention_mask, token_type_ids)
        found: Tensor = real["bounds"].padded(self.model.logits(self.model(**real)))
        return found


class _Encoder(nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        real = _real(input_ids, attention_mask, token_type_ids)
        found: Tensor = real["bounds"].padded(self.model(**real).last_hidden_state)
        return found


def graph_of(folder: Path) -> Graph:
    """Open a model folder as a graph. Raises: ModelError."""
    config = read_config(folder)
    longest = config.max_position_embeddings
    head = tuned_head(folder, config)
    if head is not None:
        model, _ = load_headed(folder, head)
        info, task = read_info(folder), task_of(folder)
        length = length_in(info, longest, task.max_length if task.reads_windows else None)
        module = (_Words if head is MaskedWords else _Headed)(model).eval()
        return Graph(module, head.outputs, longest, length, truncation_in(info), task)
    with open_weights(folder) as stored:
        is_language = StoredModel(stored, config).has("masked_word")
    if is_language:
        language, _ = load_pretraining(folder)
        masked = _Masked(language).eval()
        return Graph(masked, masked.outputs, longest, longest)
    bert, _ = load_encoder(folder)
    own = read_sentence_files(folder)[0]
    length = min(own.max_length or longest, longest) if own is not None else longest
    return Graph(_Encoder(bert).eval(), VECTORS, longest, length)


def example(rows: int, length: int, vocab_size: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, mask and segments (B, T) of a made-up batch whose texts are of unlike lengths."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, vocab_size, (rows, length), generator=generator)
    mask, types = torch.ones_like(ids), torch.zeros_like(ids)
    types[:, length // 2 + 1 :] = 1
    for row in range(1, rows):
        mask[row, max(1, length - row * length // rows) :] = 0
    return ids, mask, types
