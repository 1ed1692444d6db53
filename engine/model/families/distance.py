"""Modules of encoders that add to each score of attention a number for how far apart two words are.

Each head has such a number for each of NUM_BUCKETS distances: for near ones each its own, for far ones one
for several, before and behind apart. One table holds them for all layers, and the first layer has it.
Source: Raffel et al. 2020 (T5), section 2.1; Song et al. 2020 (MPNet).
"""

# "..." stands for (B, T) when padded and (N,) when packed. T tokens of a text, D hidden_size, H heads,
# d = D / H

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from engine.model.attention import Attention
from engine.model.families.shape import Shape
from engine.model.kernels import Dropout, Noise, low_where_asked
from engine.model.parts import NUM_BUCKETS

_FARTHEST = 128  # tokens; what is farther counts as this


class DistanceAttention(Attention):
    """Self-attention that adds to each score a number for the distance. No fused kernel serves for that.

    Args: first: that of the first layer, whose table the others look into; None: this is it.
    """

    is_plain = False

    def __init__(self, config: Shape, first: DistanceAttention | None = None) -> None:
        super().__init__(config)
        if first is None:
            self.distances = nn.Embedding(NUM_BUCKETS, config.num_attention_heads)
        # within a tuple: a module of the first layer alone
        self._table: tuple[nn.Embedding] = (self.distances,) if first is None else first._table

    def compared(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Args: queries: (B, H, Q, d), at the first places. keys: (B, H, T, d). Returns: (B, H, Q, T)."""
        added: Tensor = self._table[0](buckets(keys.shape[-2], keys.device))[: queries.shape[-2]]  # (Q, T, H)
        return super().compared(queries, keys) + added.permute(2, 0, 1).to(keys.dtype)


class PlacedEmbeddings(nn.Module):
    """Token + position embedding, summed, normed. What text a word is of is not told."""

    def __init__(self, config: Shape, noise: Noise) -> None:
        super().__init__()
        self.word = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob, noise)

    def forward(self, words: Tensor, token_type_ids: Tensor, position_ids: Tensor) -> Tensor:
        """Args: words: (..., D), looked up already. Returns: (..., D)."""
        summed = words + self.position(position_ids)
        return self.dropout(low_where_asked(self.norm(summed)))  # type: ignore[no-any-return]


def buckets(length: int, device: torch.device) -> Tensor:
    """Return the bucket of each distance, (T, T): from each token to each; behind it, in the second half.

    Up to 7 tokens each distance has its own; beyond, they grow with its logarithm.
    """
    half, near = NUM_BUCKETS // 2, NUM_BUCKETS // 4
    places = torch.arange(length, device=device)
    behind = places - places[:, None]
    apart = behind.abs()
    # in this order: where a distance is just at an edge, rounding decides
    far = torch.log(apart.clamp(min=1).float() / near) / math.log(_FARTHEST / near) * (half - near)
    grown = (near + far.long()).clamp(max=half - 1)
    return half * (behind > 0) + torch.where(apart < near, apart, grown)
