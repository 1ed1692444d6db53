"""The small heads that turn what BERT found into an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from engine.model.activations import activation
from engine.model.bert import Bert, firsts_of
from engine.model.config import BertConfig
from engine.model.kernels import ROW_MULTIPLE, Dropout, Linear, exact, linear, linear_cross_entropy
from engine.text.batch import Bounds

# B examples, N tokens of all examples packed, M chosen tokens, D hidden_size, V words of the vocabulary


class LayerMix(nn.Module):
    """A learned mean of what all layers give: a softmax weight each, and a scale.

    Source: Peters et al. 2018, equation 1 (ELMo).
    """

    def __init__(self, num_states: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(num_states))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, states: Sequence[Tensor]) -> Tensor:
        """Args: states: of the embeddings and each layer, (B, D). Returns: (B, D), in the weights' type."""
        every = torch.stack(tuple(states)).to(self.weights.dtype)  # (L + 1, B, D)
        return self.scale * torch.einsum("l,lbd->bd", self.weights.softmax(0), every)


class SequenceClassifier(nn.Module):
    """A label for a text or a pair of texts: dropout and one linear layer on the pooled output.

    Where config.json says layer_mix, what is pooled is a mix of all layers, not the last one.
    Source: Devlin et al. 2019, section 4.1; the published BertForSequenceClassification.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        dropout = config.classifier_dropout
        self.dropout = Dropout(config.hidden_dropout_prob if dropout is None else dropout, self.bert.noise)
        self.mix = LayerMix(config.num_hidden_layers + 1) if config.layer_mix else None
        self.classifier = nn.Linear(config.hidden_size, len(config.id2label))

    def forward(self, *args: Any, states: Tensor | None = None, **kwargs: Any) -> Tensor:
        """Take what `Bert` takes; return logits (B, C).

        Args: states: as `Bert` takes them; of a mix (B, L + 1, D), each example's first token at every layer.
        """
        if self.mix is None:
            pooled = self.bert(*args, states=states, **kwargs).pooled_output  # (B, D)
            return exact(self.classifier, self.dropout(pooled))
        if states is not None:
            return self.of_firsts(states.unbind(1))
        found = self.bert(*args, output_hidden_states=True, **kwargs)
        return self.of_firsts(firsts_of(found.hidden_states, kwargs.get("bounds"), kwargs.get("rows")))

    def of_firsts(self, firsts: Sequence[Tensor]) -> Tensor:
        """Return logits (B, C). Args: firsts: what the embeddings and each layer gave for the first token."""
        first = firsts[-1] if self.mix is None else self.mix(firsts)
        return exact(self.classifier, self.dropout(self.bert.pool(first)))


@dataclass(slots=True)
class PreTrainingOutput:
    """What the two heads of pretraining found.

    hidden: (M, D), what `logits` and `masked_loss` take, of the chosen tokens. next_sentence: (B, 2) logits,
    0 for a second segment that follows the first, 1 for a random one; (0, 2) of an encoder without a pooler.
    states: if wanted, what `Bert` gives as its hidden_states.
    """

    hidden: Tensor
    next_sentence: Tensor
    states: tuple[Tensor, ...] | None = None


class PreTraining(nn.Module):
    """BERT with the heads it is pretrained with: masked words, and whether B follows A.

    The vocabulary's product uses the word embeddings themselves, and is computed for chosen tokens alone.
    Source: Devlin et al. 2019, section 3.1; the published BertForPreTraining.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        self.transform = Linear(config.hidden_size, config.hidden_size)
        self.activation = activation(config.hidden_act)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        self.next_sentence = nn.Linear(config.hidden_size, 2)

    def forward(
        self,
        input_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        *,
        masked: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        bounds: Bounds | None = None,
        head_mask: Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> PreTrainingOutput:
        """Take what `Bert` takes, padded or packed.

        Args: masked: (M,) int64, rows of the tokens counted through (B, T) or (N,); None for all of them.
        """
        rows = None if masked is None or bounds is None else _wanted(bounds, masked)
        found = self.bert(
            input_ids,
            token_type_ids,
            attention_mask,
            position_ids,
            inputs_embeds=inputs_embeds,
            bounds=bounds,
            head_mask=head_mask,
            rows=rows,
            output_hidden_states=output_hidden_states,
        )
        chosen = found.last_hidden_state.flatten(0, -2)  # (B * T, D) or (N, D)
        if masked is not None:
            chosen = chosen.index_select(0, masked) if rows is None else _after_firsts(chosen, bounds, masked)
        pooled = found.pooled_output
        return PreTrainingOutput(
            hidden=self.read(chosen),
            next_sentence=chosen.new_zeros(0, 2) if pooled is None else exact(self.next_sentence, pooled),
            states=found.hidden_states,
        )

    def read(self, states: Tensor) -> Tensor:
        """Return what `logits` takes, (M, D), of the encoder's hidden states (M, D) of chosen tokens."""
        return self.norm(self.activation(self.transform(states)))  # type: ignore[no-any-return]

    def logits(self, hidden: Tensor) -> Tensor:
        """Return the score of every word. Args: hidden: (M, D) from `forward`. Returns: (M, V)."""
        return linear(hidden, self.bert.embeddings.word.weight, self.bias)

    def masked_loss(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the summed cross-entropy, 0-d, and how many words were guessed right, 0-d int64.

        Args: hidden: (M, D) from `forward`. targets: (M,) int64, the words that stood there.
        """
        return linear_cross_entropy(hidden, self.bert.embeddings.word.weight, self.bias, targets)


def _wanted(bounds: Bounds, masked: Tensor) -> Tensor:
    """Return the rows that the heads read: each example's first, the chosen ones, and some to fill up."""
    filler = -(len(bounds) + len(masked)) % ROW_MULTIPLE  # so that shapes come back
    return torch.cat([bounds.firsts, masked, masked.new_zeros(filler)])


def _after_firsts(hidden: Tensor, bounds: Bounds | None, masked: Tensor) -> Tensor:
    assert bounds is not None
    return hidden[len(bounds) : len(bounds) + len(masked)]


def start_bias(model: PreTraining, counts: Tensor) -> None:
    """Let a new model guess words by their frequency: each word's bias becomes the log of its share.

    Spares the first steps of learning just that. Every word counts once more than it was seen, so that one
    never seen, as special tokens are, has a small share and no infinite bias.

    Args: counts: (V,), how often each word stands in the text; 0 for what is never to be guessed.
    """
    seen = counts.to(torch.float64) + 1.0
    with torch.no_grad():
        model.bias.copy_((seen / seen.sum()).log())
