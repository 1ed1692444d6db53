"""Modules of encoders that turn their vectors by their place, with a gated feed-forward.

The pairs of numbers of each query and key are turned by an angle that grows with the token's place, so that
their product depends on how far apart two tokens are. Nothing but the layout has to be known for that.
Source: Su et al. 2021 (RoFormer), section 3.2; Shazeer 2020 (the gate); Warner et al. 2024 (ModernBERT);
Nussbaum et al. 2024 (NomicBERT); Zhang et al. 2024 (GTE).
"""

# "..." stands for (B, T) when padded and (N,) when packed. D hidden_size, H heads, d = D / H, F
# intermediate_size, V words

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from engine.model.activations import activation
from engine.model.attention import Attention, Packing, Rows, of_rows, places_of
from engine.model.families.rotary_shape import RotaryConfig, RotaryLayer
from engine.model.families.shape import Shape
from engine.model.kernels import Dropout, Linear, Noise, low_where_asked
from engine.text.batch import Bounds


class RotaryAttention(Attention):
    """Self-attention whose queries and keys are turned by their place; it may see near tokens alone."""

    def __init__(self, config: Shape, layer: RotaryLayer, has_bias: bool) -> None:
        super().__init__(config)
        self.theta, self.reach, self.slowed = layer.theta, layer.reach, layer.slowed
        if not has_bias:
            self.qkv = Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
            self.output = Linear(config.hidden_size, config.hidden_size, bias=False)
        if self.reach is not None:
            self.of_kernel = {"window_size": (self.reach, self.reach)}

    def placed(self, qkv: Tensor, bounds: Packing) -> Tensor:
        """Turn queries and keys, but no values. A first token's query, which may be apart, is at place 0."""
        parts = qkv.unflatten(-1, (-1, self.num_heads, self.width))  # (..., 3, H, d), or 2
        places = places_of(qkv.shape[:-1], bounds, qkv.device)
        pairs = torch.arange(0, self.width, 2, device=qkv.device, dtype=torch.float32) / self.width
        angles = places[..., None].float() * (1.0 / self.theta**pairs / self.slowed)  # (..., d / 2)
        cosines, sines = (part[..., None, None, :] for part in (angles.cos(), angles.sin()))
        first, second = parts[..., :-1, :, :].float().chunk(2, -1)
        turned = torch.cat([first * cosines - second * sines, second * cosines + first * sines], -1)
        return torch.cat([turned.to(qkv.dtype), parts[..., -1:, :, :]], -3).flatten(-3)

    def near(self, length: int, device: torch.device) -> Tensor | None:
        """Return which tokens of a text each one sees, (T, T); None: all. A graph's length is not known."""
        if self.reach is None or (not torch.compiler.is_exporting() and length <= self.reach + 1):
            return None
        places = torch.arange(length, device=device)
        return (places[:, None] - places).abs() <= self.reach

    def _is_fused(self, qkv: Tensor, bounds: Bounds | None) -> bool:
        longest = qkv.shape[1] if bounds is None else bounds.max_length
        return (self.reach is None or longest <= self.reach + 1) and super()._is_fused(qkv, bounds)

    def _attend(
        self, qkv: Tensor, mask: Tensor | None, want_maps: bool, queries: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        near = self.near(qkv.shape[1], qkv.device)
        if near is not None and mask is not None:
            # padding sees itself: a row that sees nothing would be made of what are no numbers
            near = (mask & near) | torch.eye(near.shape[0], dtype=torch.bool, device=qkv.device)
        mask = mask if near is None else near
        return super()._attend(qkv, mask if queries is None else _of_first(mask), want_maps, queries)


def _of_first(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else mask[..., :1, :]


class RotaryBlock(nn.Module):
    """A norm and self-attention, a norm and a gated feed-forward (D -> 2F -> F -> D), each with a residual.

    The first block has no norm before attention, for the embeddings have just been normed; the last has one
    behind all, so that what it gives is what a head reads.
    """

    def __init__(self, config: Shape, own: RotaryConfig, number: int, noise: Noise) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        is_last = number == config.num_hidden_layers - 1
        self.attention_norm = norm_of(config, own) if number else nn.Identity()
        self.attention = RotaryAttention(config, own.layer(number), own.attention_bias)
        self.output_norm = norm_of(config, own)
        self.intermediate = Linear(width, 2 * inner, bias=own.feed_forward_bias)
        self.activation = activation(config.hidden_act)
        self.output = Linear(inner, width, bias=own.has_output_bias)
        self.dropout = Dropout(config.hidden_dropout_prob, noise)
        self.attention_dropout = Dropout(config.attention_probs_dropout_prob, noise)
        self.final_norm = norm_of(config, own) if is_last else nn.Identity()

    def forward(
        self,
        hidden: Tensor,
        mask: Tensor | None,
        bounds: Packing,
        head_mask: Tensor | None,
        want_maps: bool,
        rows: Rows = None,
    ) -> tuple[Tensor, Tensor | list[Tensor] | None]:
        """Take and return what BERT's `Block` does."""
        normed = self.attention_norm(hidden)
        asking = of_rows(normed, bounds, rows)
        attended, maps = self.attention(normed, mask, bounds, head_mask, want_maps, rows, asking)
        return self.feed_forward(attended, of_rows(hidden, bounds, rows)), maps

    def feed_forward(self, attended: Tensor, hidden: Tensor) -> Tensor:
        """Return what follows attention. All (..., D)."""
        hidden = self.attention_dropout(attended, hidden)
        inner, gate = self.intermediate(self.output_norm(hidden)).chunk(2, -1)
        hidden = hidden + self.output(self.dropout(self.activation(inner) * gate))
        return self.final_norm(hidden)  # type: ignore[no-any-return]

    def queries_keys_values(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what attention compares and reads of a text's states (T, D): three of (T, H, d)."""
        return self.attention.queries_keys_values(self.attention_norm(hidden))


class PostNormBlock(nn.Module):
    """BERT's block but for rotation, the gate of the feed-forward (D -> 2F -> F -> D), and biases."""

    def __init__(self, config: Shape, own: RotaryConfig, number: int, noise: Noise) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.attention = RotaryAttention(config, own.layer(number), own.attention_bias)
        self.attention_norm = norm_of(config, own)
        self.intermediate = Linear(width, 2 * inner, bias=own.feed_forward_bias)
        self.activation = activation(config.hidden_act)
        self.output = Linear(inner, width, bias=own.has_output_bias)
        self.output_norm = norm_of(config, own)
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
        """Take and return what BERT's `Block` does."""
        asking = of_rows(hidden, bounds, rows)
        attended, maps = self.attention(hidden, mask, bounds, head_mask, want_maps, rows, asking)
        return self.feed_forward(attended, asking), maps

    def feed_forward(self, attended: Tensor, hidden: Tensor) -> Tensor:
        """Return what follows attention. All (..., D)."""
        hidden = self.attention_norm(self.dropout(attended, hidden))
        inner, gate = self.intermediate(hidden).chunk(2, -1)
        output = self.output(self.activation(inner) * gate)
        return self.output_norm(self.dropout(output, hidden))  # type: ignore[no-any-return]

    def queries_keys_values(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what attention compares and reads of a text's states (T, D): three of (T, H, d)."""
        return self.attention.queries_keys_values(hidden)


class UpGateBlock(PostNormBlock):
    """The same, but that the gate comes second, and dropout between."""

    def feed_forward(self, attended: Tensor, hidden: Tensor) -> Tensor:
        """Return what follows attention. All (..., D)."""
        hidden = self.attention_norm(self.dropout(attended, hidden))
        inner, gate = self.intermediate(hidden).chunk(2, -1)
        output = self.output(self.dropout(self.activation(gate) * inner))
        return self.output_norm(self.dropout(output, hidden))  # type: ignore[no-any-return]


def rotary_layers(config: Shape, own: RotaryConfig, noise: Noise) -> nn.ModuleList:
    """Return all layers."""
    block = RotaryBlock if own.norms_first else UpGateBlock if own.gate_last else PostNormBlock
    return nn.ModuleList(block(config, own, number, noise) for number in range(config.num_hidden_layers))


class SegmentedEmbeddings(nn.Module):
    """Token + segment embedding, summed, normed: places come with attention."""

    def __init__(self, config: Shape, own: RotaryConfig, noise: Noise) -> None:
        super().__init__()
        self.word = nn.Embedding(config.vocab_size, config.hidden_size)
        self.token_type = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.norm = norm_of(config, own)
        self.dropout = Dropout(config.hidden_dropout_prob, noise)

    def forward(self, words: Tensor, token_type_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Args: words: (..., D), looked up already. Returns: (..., D)."""
        summed = words + self.token_type(token_type_ids)
        return self.dropout(low_where_asked(self.norm(summed)))  # type: ignore[no-any-return]


class OneSegmentEmbeddings(SegmentedEmbeddings):
    """The same, where all words are of the first text."""

    def forward(self, words: Tensor, token_type_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Args: words: (..., D), looked up already. Returns: (..., D)."""
        return super().forward(words, torch.zeros_like(token_type_ids), position_ids)


class NormedPooler(Linear):
    """A product, an activation and a norm, below a classifier of texts or of tokens."""

    def __init__(self, config: Shape, own: RotaryConfig) -> None:
        super().__init__(config.hidden_size, config.hidden_size, bias=own.head_bias)
        self.activation = activation(own.head_act)
        self.norm = norm_of(config, own)

    def forward(self, input: Tensor) -> Tensor:
        """Args: input: (..., D). Returns: (..., D)."""
        return self.norm(self.activation(super().forward(input)))  # type: ignore[no-any-return]


def guessing_of(
    config: Shape, own: RotaryConfig
) -> tuple[nn.Linear, Callable[[Tensor], Tensor], nn.LayerNorm]:
    """Return what a masked-word head does before words are scored: as a pooler does."""
    product = Linear(config.hidden_size, config.hidden_size, bias=own.head_bias)
    return product, activation(own.head_act), norm_of(config, own)


def norm_of(config: Shape, own: RotaryConfig) -> nn.LayerNorm:
    """Return a layer norm, with a bias where the model's have one."""
    return nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps, bias=own.norm_bias)
