"""BERT: summed embeddings, L post-norm blocks of self-attention and feed-forward, a pooler.

One encoder for two layouts: padded (B, T) with an attention_mask, and packed (N,) with the bounds of its
examples. Every seam (embeddings instead of ids, attention maps, hidden states, heads switched off) costs
nothing unused.
Source: Devlin et al. 2019; names of the published checkpoints.
"""

# B examples, T tokens of the longest, N tokens of all examples packed, D hidden_size, H heads, d = D / H,
# F intermediate_size, L layers. "..." stands for (B, T) when padded and (N,) when packed.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from engine.model.activations import activation
from engine.model.attention import Attention, Packing, Read, Rows, of_rows, places_of
from engine.model.config import BertConfig
from engine.model.kernels import Dropout, Linear, Noise, exact, low_where_asked
from engine.text.batch import Batch


@dataclass(slots=True)
class BertOutput:
    """What the encoder found.

    last_hidden_state: (..., D), or what is read of it. pooled_output: (B, D), or None without a pooler.
    hidden_states: L + 1 of (..., D) on request, the embeddings first. attentions: L of (B, H, T, T) when
    padded, L lists of B (H, T_i, T_i) when packed.
    """

    last_hidden_state: Tensor
    pooled_output: Tensor | None
    hidden_states: tuple[Tensor, ...] | None = None
    attentions: tuple[Tensor | list[Tensor], ...] | None = None


class Embeddings(nn.Module):
    """Token + position + segment embedding, summed, normed."""

    def __init__(self, config: BertConfig, noise: Noise) -> None:
        super().__init__()
        self.word = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.has_segments = config.has_segments
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob, noise)

    def forward(self, words: Tensor, token_type_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Args: words: (..., D), looked up already. Returns: (..., D)."""
        if not self.has_segments:
            token_type_ids = torch.zeros_like(token_type_ids)
        summed = words + self.token_type(token_type_ids) + self.position(position_ids)
        return self.dropout(low_where_asked(self.norm(summed)))  # type: ignore[no-any-return]


class Block(nn.Module):
    """Self-attention, then feed-forward (D -> F -> D), each with a residual and a layer norm after it."""

    def __init__(self, config: BertConfig, noise: Noise) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.intermediate = Linear(config.hidden_size, config.intermediate_size)
        self.activation = activation(config.hidden_act)
        self.output = Linear(config.intermediate_size, config.hidden_size)
        self.output_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob, noise)

    def forward(
        self,
        hidden: Tensor,
        mask: Tensor | None,
        bounds: Packing,
        head_mask: Tensor | None,
        want_maps: bool,
        rows: Rows = None,
    ) -> tuple[Tensor, Tensor | list[Tensor] | None]:
        """Return hidden (..., D), or what `of_rows` gives of it, and, if wanted, this layer's attention
        maps.
        """
        asking = of_rows(hidden, bounds, rows)
        attended, maps = self.attention(hidden, mask, bounds, head_mask, want_maps, rows, asking)
        return self.feed_forward(attended, asking), maps

    def feed_forward(self, attended: Tensor, hidden: Tensor) -> Tensor:
        """Return what follows attention: norm, feed-forward, norm, with residuals. All (..., D)."""
        hidden = self.attention_norm(self.dropout(attended, hidden))
        output = self.output(self.activation(self.intermediate(hidden)))
        return self.output_norm(self.dropout(output, hidden))  # type: ignore[no-any-return]

    def queries_keys_values(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what attention compares and reads of a text's states (T, D): three of (T, H, d)."""
        return self.attention.queries_keys_values(hidden)


class Bert(nn.Module):
    """The encoder. `pooler` is None in models that come without one."""

    def __init__(self, config: BertConfig, *, with_pooler: bool = True) -> None:
        super().__init__()
        self.config = config
        self.noise = Noise()
        family = config.family
        self.embeddings: Embeddings = family.embeddings(Embeddings, config, self.noise)
        self.layers: nn.ModuleList = family.layers(Block, config, self.noise)
        self.pooler: nn.Linear | None = family.pooler(config) if with_pooler else None
        self.pooler_activation = family.pooler_activation()
        self.num_frozen = 0  # of the first layers, whose `states` may be given

    def forward(
        self,
        input_ids: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        *,
        inputs_embeds: Tensor | None = None,
        bounds: Packing = None,
        head_mask: Tensor | None = None,
        rows: Rows = None,
        states: Tensor | None = None,
        output_attentions: bool = False,
        output_hidden_states: bool = False,
    ) -> BertOutput:
        """Encode padded (B, T) ids with their attention_mask, or packed (N,) ids with their bounds.

        Args:   input_ids: (...) int64, or inputs_embeds: (..., D) in their place. token_type_ids,
                position_ids: (...), default zeros and 0, 1, 2 ... (packed: counted within each example).
                attention_mask: (B, T), 0 where padded; leave it out when nothing is. head_mask: (L, H), or
                (L, B, H, 1), 0 switches a head off. rows: what is read, the last layer computes no others:
                last_hidden_state is then (R, D) of these rows of a packed batch, each example's first token
                first; or, of Read.FIRSTS, (B, D), padded (B, 1, D).
                states: (N, D), what the first `num_frozen` layers gave, which are not computed again; (R, D)
                where that is all of them. Only with bounds and rows, and with nothing else asked for.
        """
        if states is not None:
            return self._above(states, bounds, rows)
        words = self.embeddings.word(input_ids) if inputs_embeds is None else inputs_embeds
        shape = words.shape[:-1]
        if position_ids is None:
            position_ids = places_of(shape, bounds, words.device)
        if token_type_ids is None:
            token_type_ids = torch.zeros(shape, dtype=torch.long, device=words.device)
        mask = None if attention_mask is None else attention_mask.bool()[:, None, None, :]  # (B, 1, 1, T)
        hidden = self.embeddings(words, token_type_ids, position_ids)
        every, maps = [hidden], []
        for number, layer in enumerate(self.layers):
            heads = None if head_mask is None else head_mask[number]
            wanted = rows if number == len(self.layers) - 1 else None
            hidden, layer_maps = layer(hidden, mask, bounds, heads, output_attentions, wanted)
            if output_hidden_states:
                every.append(hidden)
            if output_attentions:
                maps.append(layer_maps)
        return BertOutput(
            last_hidden_state=hidden,
            pooled_output=self._pool(hidden, bounds, rows),
            hidden_states=tuple(every) if output_hidden_states else None,
            attentions=tuple(maps) if output_attentions else None,
        )

    def _above(self, states: Tensor, bounds: Packing, rows: Rows) -> BertOutput:
        """Return what the layers above the frozen ones make of their states."""
        hidden = low_where_asked(states)
        for number, layer in enumerate(self.layers[self.num_frozen :], start=self.num_frozen):
            wanted = rows if number == len(self.layers) - 1 else None
            hidden, _ = layer(hidden, None, bounds, None, False, wanted)
        return BertOutput(last_hidden_state=hidden, pooled_output=self._pool(hidden, bounds, rows))

    def frozen_states(self, batch: Batch) -> Tensor:
        """Return what the first `num_frozen` layers make of a packed batch: (N, D), fillers left out.

        No gradients flow.
        """
        with torch.no_grad():
            words = self.embeddings.word(batch.input_ids)
            hidden: Tensor = self.embeddings(words, batch.token_type_ids, batch.position_ids)
            for layer in self.layers[: self.num_frozen]:
                hidden, _ = layer(hidden, None, batch.bounds, None, False)
        return hidden[: batch.num_tokens]

    def first_states(self, batch: Batch) -> Tensor:
        """Return (B, L + 1, D): the first token of each example at the embeddings and every layer."""
        with torch.no_grad():
            found = self(
                batch.input_ids,
                batch.token_type_ids,
                position_ids=batch.position_ids,
                bounds=batch.bounds,
                rows=Read.FIRSTS,
                output_hidden_states=True,
            )
            return torch.stack(firsts_of(found.hidden_states, batch.bounds), 1)

    def _pool(self, hidden: Tensor, bounds: Packing, rows: Rows) -> Tensor | None:
        return None if self.pooler is None else self.pool(_first(hidden, bounds, rows))

    def pool(self, first: Tensor) -> Tensor:
        """Return the pooled output (B, D) of first tokens (B, D)."""
        assert self.pooler is not None
        return self.pooler_activation(exact(self.pooler, first))


def _first(hidden: Tensor, bounds: Packing, rows: Rows) -> Tensor:
    """Return (B, D), each example's first token of what the last layer gave."""
    if bounds is None:
        return hidden[:, 0]
    if rows is None:
        return hidden.index_select(0, bounds.firsts)
    return hidden if rows is Read.FIRSTS else hidden[: len(bounds.firsts)]


def firsts_of(states: Sequence[Tensor], bounds: Packing) -> list[Tensor]:
    """Return each example's first token, (B, D), of the `hidden_states` that `Bert` gave for Read.FIRSTS."""
    return [*(_first(state, bounds, None) for state in states[:-1]), _first(states[-1], bounds, Read.FIRSTS)]


def set_dropout(model: nn.Module, hidden: float, attention: float) -> None:
    """Set the shares of values that a model switches off in training: hidden ones, attention weights."""
    for part in model.modules():
        if isinstance(part, Dropout):
            part.p = hidden
        if isinstance(part, Attention):
            part.dropout_p = attention


def compile_blocks(bert: Bert) -> None:
    """Let torch.compile fuse what follows attention in each block; for CUDA, where it is bound by memory.

    Attention itself stays as it is: its kernel takes the bounds of a batch, which no two batches share.
    """
    for layer in bert.layers.children():
        layer.feed_forward = torch.compile(layer.feed_forward, dynamic=True)  # type: ignore[assignment, arg-type]


def initialize(module: nn.Module, std: float, seed: int) -> None:
    """Give new weights, in module order: normal(0, std) for matrices, zero biases, layer norms as the
    identity.
    """
    rng = torch.Generator().manual_seed(seed)
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, 0.0, std, generator=rng)
        if isinstance(part, nn.LayerNorm):
            nn.init.ones_(part.weight)
        if isinstance(part, nn.Linear | nn.LayerNorm) and part.bias is not None:
            nn.init.zeros_(part.bias)
