"""What a model folder answers as one graph: ids, mask and segments in, named scores out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from engine.model.folder import open_weights
from engine.model.heads import MultipleChoice, QuestionAnswering, SequenceClassifier, TokenClassifier
from engine.model.info import length_in, read_info, temperature_in, truncation_in
from engine.model.sentence_files import read_sentence_files
from engine.model.source import StoredModel
from engine.model.weights import head_of, load_encoder, load_headed, load_pretraining, read_config
from engine.text.wordpiece import TRUNCATIONS
from engine.train.tasks.known import task_of

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
CHOICES = "choices"
MASKED, CLASSES, TAGS, QUESTIONS, ENCODER = "masked-words", "classes", "tags", "questions", "encoder"
OUTPUTS = {
    MASKED: ("logits", "next_sentence_logits"),
    CLASSES: ("logits",),
    TAGS: ("logits",),
    CHOICES: ("logits",),
    QUESTIONS: ("start_logits", "end_logits"),
    ENCODER: ("last_hidden_state",),
}
_OF_HEAD: dict[str, tuple[str, type[Any]]] = {
    SequenceClassifier.architecture: (CLASSES, SequenceClassifier),
    MultipleChoice.architecture: (CHOICES, MultipleChoice),
    TokenClassifier.architecture: (TAGS, TokenClassifier),
    QuestionAnswering.architecture: (QUESTIONS, QuestionAnswering),
}


@dataclass(frozen=True, slots=True)
class Graph:
    """A model ready to be traced.

    kind: of OUTPUTS. labels: of its head, in the order of the scores. longest: the places that it has.
    max_length, truncation: how many WordPieces Cloze reads at once, and how it cuts what is longer. problem:
    what scores of classes mean. temperature: that was kept with it; the scores are not divided by it yet.
    """

    module: nn.Module
    kind: str
    labels: tuple[str, ...]
    longest: int
    max_length: int
    truncation: str = TRUNCATIONS[0]
    problem: str = ""
    temperature: float = 1.0


class _Masked(nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor
    ) -> tuple[Tensor, Tensor]:
        found = self.model(input_ids, token_type_ids, attention_mask)
        scores = self.model.logits(found.hidden)  # (B * T, V)
        return scores.view(*input_ids.shape, -1), found.next_sentence


class _Headed(nn.Module):
    """Of classes (B, C), of endings (B, 1), of tags (B, T, C); of questions two times (B, T)."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Any:
        found = self.model(input_ids, token_type_ids, attention_mask)
        return found.unbind(-1) if isinstance(self.model, QuestionAnswering) else found


class _Encoder(nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        found: Tensor = self.model(input_ids, token_type_ids, attention_mask).last_hidden_state
        return found


def graph_of(folder: Path) -> Graph:
    """Open a model folder as a graph. Raises: ModelError."""
    config = read_config(folder)
    longest = config.max_position_embeddings
    kind, head = _OF_HEAD.get(head_of(config), ("", None))
    if head is not None:
        model, _ = load_headed(folder, head)
        info, labels = read_info(folder), model.config.id2label
        usual = (
            None if kind in (CLASSES, CHOICES) else task_of(folder).max_length
        )  # the others read in windows
        return Graph(
            _Headed(model).eval(),
            kind,
            labels,
            longest,
            length_in(info, longest, usual),
            truncation_in(info),
            config.problem,
            temperature_in(info),
        )
    with open_weights(folder) as stored:
        is_language = StoredModel(stored).has("masked_word")
    if is_language:
        language, _ = load_pretraining(folder)
        return Graph(_Masked(language).eval(), MASKED, (), longest, longest)
    bert, _ = load_encoder(folder)
    own = read_sentence_files(folder)[0]
    length = min(own.max_length or longest, longest) if own is not None else longest
    return Graph(_Encoder(bert).eval(), ENCODER, (), longest, length)


def example(rows: int, length: int, vocab_size: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, mask and segments (B, T) of a made-up batch whose texts are of unlike lengths."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, vocab_size, (rows, length), generator=generator)
    mask, types = torch.ones_like(ids), torch.zeros_like(ids)
    types[:, length // 2 + 1 :] = 1
    for row in range(1, rows):
        mask[row, max(1, length - row * length // rows) :] = 0
    return ids, mask, types
