"""The layer lens: the masked-word head applied to each layer's hidden state at a gap, as if it were the last.

The head was trained on the last layer alone; what it says of earlier ones is a hint, no answer of the model.
Source: nostalgebraist 2020, interpreting GPT: the logit lens, carried over to BERT.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.masked.masked import GappedText
from engine.inspect.masked.score import GapAnswer, answers_of, check_count
from engine.inspect.passes import InputRow, layer_states


@dataclass(frozen=True, slots=True)
class Lens:
    """The answer of each layer for each gap: layers[layer][gap].

    Layer 0 are the embeddings; the last, L, is the model's own answer.
    """

    masked: GappedText
    layers: tuple[tuple[GapAnswer, ...], ...]


def lens(subject: LoadedModel, masked: GappedText, *, top_k: int = 5, on: np.ndarray | None = None) -> Lens:
    """Ask every layer for the gaps of a text. Raises: ModelError without the head."""
    check_count(top_k)
    model, size = subject.masked_head(), subject.wordpiece.vocab_size
    gaps = [(len(gap.places), gap.original) for gap in masked.gaps]
    with looking(subject):
        states = layer_states(subject, InputRow(masked.input_ids, masked.types, masked.places), on)
        layers = []
        family, num_layers = subject.config.family, len(subject.bert.layers)
        for number, layer in enumerate(states):  # one by one: together they take L + 1 times the memory
            layer = layer if number == num_layers else family.as_last(subject.bert.layers, layer)
            logits = model.logits(model.read(layer)).float()
            logits -= logits.logsumexp(-1, keepdim=True)
            layers.append(answers_of(subject.wordpiece, logits[:, :size], gaps, top_k))
    return Lens(masked, tuple(layers))
