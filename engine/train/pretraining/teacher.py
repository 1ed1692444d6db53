"""A teacher: a model that stays as it is, and whose reading of the text the trained one shares.

It reads the words themselves where the other has to guess them, and says what each layer makes of every word,
and the last one of the whole text. Not to be broken: it is no part of the model, so it is neither trained nor
kept with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import ConfigError, marked
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.kernels import ROW_MULTIPLE
from engine.model.weights import check_weights, load_encoder, read_config
from engine.settings.pretrain import ObjectiveConfig
from engine.text.corpus.instances import MaskedBatch
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer

# N tokens of a batch, B examples, D width, L layers of the model that learns


@dataclass(frozen=True)
class Teacher:
    """A frozen encoder that knows the learner's vocabulary by the learner's ids.

    weight: of the distance in the loss. sha256: of its weights.
    """

    encoder: Bert
    weight: float
    sha256: str

    def count(self, parts: Sequence[MaskedBatch]) -> tuple[float, float]:
        """Return over how many shown words, and how many examples, the distance of a step is a mean."""
        words = sum(part.num_tokens - len(part.masked) for part in parts)
        return float(words), float(sum(len(part.bounds) for part in parts))

    def distance(self, states: Sequence[Tensor], batch: MaskedBatch, words: float, examples: float) -> Tensor:
        """Return a part's share of the step's distance, 0-d: the mean over layers of one minus the cosine
        of the two models' hidden states.

        Of the layers between it is a mean over the words that are not hidden, of the last layer, where words
        are guessed, over the examples' [CLS]. The length of a state is not compared: norms set it.

        Args: states: (L + 1) of (N, D), as `PreTraining` gives them, the last beginning with each [CLS].
        """
        known = self._states(batch)
        between, last = range(1, len(states) - 1), len(states) - 1
        shown = torch.ones(batch.num_tokens, device=batch.masked.device).index_fill(0, batch.masked, 0.0)
        total = _apart(states[last], known[-1], len(batch.bounds)).sum() / max(1.0, examples)
        for layer in between:
            own = known[round(layer * (len(known) - 1) / last)]
            total = total + _apart(states[layer], own, batch.num_tokens) @ shown / max(1.0, words)
        return total / last

    def _states(self, batch: MaskedBatch) -> tuple[Tensor, ...]:
        """Return what each layer makes of the text with nothing hidden; the last one, of its [CLS] alone."""
        firsts = batch.bounds.firsts
        filler = -len(firsts) % ROW_MULTIPLE  # so that shapes come back
        with torch.no_grad():
            found = self.encoder(
                batch.input_ids.index_copy(0, batch.masked, batch.targets),
                batch.token_type_ids,
                position_ids=batch.position_ids,
                bounds=batch.bounds,
                rows=torch.cat([firsts, firsts.new_zeros(filler)]),
                output_hidden_states=True,
            )
        return found.hidden_states  # type: ignore[no-any-return]


def _apart(own: Tensor, known: Tensor, count: int) -> Tensor:
    """Return (count,) float32: one minus the cosine of the first rows of two matrices, (N, D) each."""
    return 1.0 - F.cosine_similarity(own[:count].float(), known[:count].float(), dim=-1)


def check_teacher(objective: ObjectiveConfig, shape: BertConfig, wordpiece: Tokenizer | None) -> None:
    """Refuse a teacher that cannot read what the model reads; no weights are loaded.

    Args:   wordpiece: the model's vocabulary; None where one is to be learned from the text.
    Raises: ConfigError, ModelError.
    """
    if not objective.teacher:
        return
    folder = Path(objective.teacher)
    own = read_config(folder)
    check_weights(folder)
    if own.hidden_size != shape.hidden_size:
        raise ConfigError(
            marked(
                "engine",
                "The teacher {path} is {own} wide, but the model {width}. Choose one of the same width.",
            ),
            field="teacher",
            path=folder,
            own=own.hidden_size,
            width=shape.hidden_size,
        )
    segments = 2 if objective.next_sentence else 1
    if own.max_position_embeddings < objective.max_length or own.type_vocab_size < segments:
        raise ConfigError(
            marked(
                "engine",
                "The teacher {path} reads at most {positions} pieces and {segments} "
                "segments, fewer than the examples have. Choose another, or lower max_length.",
            ),
            field="teacher",
            path=folder,
            positions=own.max_position_embeddings,
            segments=own.type_vocab_size,
        )
    if wordpiece is None:
        raise ConfigError(
            marked(
                "engine",
                "A teacher knows its own pieces, and none that are made from the text. Give "
                "its vocab.txt as {field}, or train a model further that has them.",
            ),
            field="vocab",
        )
    _rows(folder, wordpiece)


def open_teacher(objective: ObjectiveConfig, wordpiece: Tokenizer, device: torch.device) -> Teacher | None:
    """Return the teacher that the settings name, on a device; None where they name none.

    Raises: ConfigError, ModelError.
    """
    if not objective.teacher:
        return None
    folder = Path(objective.teacher)
    encoder, _ = load_encoder(folder)
    sha256 = hashlib.sha256()
    for value in encoder.state_dict().values():
        sha256.update(value.numpy().data)
    table = encoder.embeddings.word
    table.weight = nn.Parameter(table.weight[_rows(folder, wordpiece)].detach())
    return Teacher(encoder.requires_grad_(False).to(device), objective.teacher_weight, sha256.hexdigest())


def _rows(folder: Path, wordpiece: Tokenizer) -> Tensor:
    """Return (V,): where a teacher has each WordPiece of a vocabulary. Raises: ConfigError: it lacks some."""
    ids = {token: number for number, token in enumerate(read_tokenizer(folder).tokens)}
    missing = [token for token in wordpiece.tokens if token not in ids]
    if missing:
        raise ConfigError(
            marked(
                "engine",
                "The teacher {path} lacks {count} of the model’s pieces, such as {piece}. Choose one "
                "that has them all.",
            ),
            field="teacher",
            path=folder,
            count=len(missing),
            piece=missing[0],
        )
    return torch.tensor([ids[token] for token in wordpiece.tokens])
