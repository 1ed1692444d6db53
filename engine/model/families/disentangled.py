"""Attention that compares words with their distances too: DeBERTa's.

A score is a sum of three: a query with a key, a query with the vector of how far apart the two tokens are,
and such a vector with a key. No kernel computes it, so each map is written out.
Source: He et al. 2021 (DeBERTa), section 3.1; He et al. 2023 (DeBERTa-v3).
"""

# B examples, T tokens, Q of them that ask (T, or the first alone), D hidden_size, H heads, d = D / H

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from engine.model.attention import Attention
from engine.model.families.shape import Shape
from engine.model.kernels import Dropout, Linear, Noise, linear


class Distances(nn.Module):
    """A vector for each distance between two tokens, of which all layers make keys and queries.

    Args: buckets: distances that are told apart to either side, far ones by their logarithm; 0: each up to
    `most`. Those beyond have the vector of the last one.
    """

    def __init__(self, config: Shape, buckets: int, most: int, has_norm: bool) -> None:
        super().__init__()
        self.buckets, self.most = buckets, most
        self.span = buckets or most
        self.table = nn.Embedding(2 * self.span, config.hidden_size)
        norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps) if has_norm else nn.Identity()
        self.norm: nn.Module = norm

    def forward(self, length: int) -> Tensor:
        """Return the vectors of a text's distances, from 1 - T to T - 1: (2T - 1, D)."""
        apart = torch.arange(1 - length, length, device=self.table.weight.device)
        rows = in_buckets(apart, self.buckets, self.most) if self.buckets else apart
        return self.norm(self.table((rows + self.span).clamp(0, 2 * self.span - 1)))  # type: ignore[no-any-return]


def in_buckets(apart: Tensor, buckets: int, most: int) -> Tensor:
    """Return distances as they are told apart: up to half the buckets as they are, then by their logarithm.

    Args: apart: (...) int64. most: the distance that is in the last bucket.
    """
    middle, far = buckets // 2, apart.abs()
    steps = torch.log(far / middle) / torch.log(torch.tensor((most - 1) / middle)) * (middle - 1)
    return torch.where(far <= middle, apart.float(), (steps.ceil() + middle) * apart.sign()).long()


class DisentangledAttention(Attention):
    """Self-attention whose scores know how far apart two tokens are.

    Args: distances: those of all layers. keeps: whether they are stored here. has_own: whether the layer has
    products of its own for them; else those of its words are used.
    """

    is_plain = False

    def __init__(
        self, config: Shape, distances: Distances, noise: Noise, *, keeps: bool, has_own: bool
    ) -> None:
        super().__init__(config)
        self._shared = (distances,)  # a tuple: they are part of one layer alone
        if keeps:
            self.distances = distances
        self.position = Linear(config.hidden_size, 2 * config.hidden_size) if has_own else None
        self.dropout = Dropout(config.hidden_dropout_prob, noise)

    def compared(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Args: queries: (B, H, Q, d), at the first places. keys: (B, H, T, d). Returns: (B, H, Q, T)."""
        length, width = keys.shape[-2], self.num_heads * self.width
        vectors = self.dropout(self._shared[0](length)).to(keys.dtype)
        product = self.qkv if self.position is None else self.position
        both = linear(vectors, product.weight[: 2 * width], product.bias[: 2 * width])  # (2T - 1, 2D)
        asking, asked = both.unflatten(-1, (2, self.num_heads, -1)).permute(1, 2, 3, 0)  # (H, d, 2T - 1)
        places = torch.arange(length, device=keys.device)
        apart = places[: queries.shape[-2], None] - places + (length - 1)  # (Q, T), of 2T - 1
        scores = queries @ keys.transpose(-1, -2) + _picked(queries @ asked, apart)
        scores = scores + _picked(keys @ asking, apart.T).transpose(-1, -2)
        return scores / math.sqrt(3 * self.width)


def _picked(fits: Tensor, index: Tensor) -> Tensor:
    """Return (B, H, X, Y) of how well each token fits each distance (B, H, X, Z). Args: index: (X, Y)."""
    return fits.gather(-1, index.expand(*fits.shape[:-1], -1))
