"""Self-attention in the layouts that texts come in: padded, packed, unpadded; the fastest kernel for each.

A family whose attention differs has a subclass: `placed` is where its words learn their places, `near` says
which of them see each other, `compared` how well they fit.
"""

# B examples, T tokens of the longest, N tokens of all examples packed, D hidden_size, H heads, d = D / H.
# "..." stands for (B, T) when padded and (N,) when packed.

from __future__ import annotations

import math
from enum import Enum
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.device import gpu
from engine.model.families.shape import Shape
from engine.model.fused_attention import attend, serves
from engine.model.kernels import Linear, is_low, linear
from engine.text.batch import Bounds, Unpadded

# tokens of texts that are attended to in float32 where all else is bfloat16: oneDNN prepares a product for
# each count and length of texts, and no two batches have the same
SHORT = 64


class Read(Enum):
    """What of the last layer is read where that is neither all nor some rows by number."""

    FIRSTS = "firsts"  # each example's first token, which is [CLS]


Packing = Bounds | Unpadded | None  # where the examples of packed rows are; None: padded
Rows = Tensor | Read | None  # what is computed of the last layer: (R,) rows, or what is read; None: all


class Attention(nn.Module):
    """Multi-head self-attention with one fused product for queries, keys and values.

    is_plain: whether `compared` is of queries and keys alone, so that kernels may do it.
    """

    is_plain: ClassVar[bool] = True

    def __init__(self, config: Shape) -> None:
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.dropout_p = config.attention_probs_dropout_prob
        self.width = config.hidden_size // config.num_attention_heads
        # the packed kernel takes no others; scaled_dot_product_attention fills them up by itself
        self._fits = self.is_plain and self.width % 8 == 0 and self.width <= 256
        self.qkv = Linear(config.hidden_size, 3 * config.hidden_size)
        self.output = Linear(config.hidden_size, config.hidden_size)
        self.of_kernel: dict[str, Any] = {}  # what else the packed kernel is told

    def forward(
        self,
        hidden: Tensor,
        mask: Tensor | None,
        bounds: Packing,
        head_mask: Tensor | None,
        want_maps: bool,
        rows: Rows = None,
        asking: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | list[Tensor] | None]:
        """Attend from every token, or from some.

        Args: hidden: (..., D). mask: (B, 1, 1, T) bool, True where a key may be seen. head_mask: (H,), or
            (B, H, 1) where the examples of a padded batch differ. rows: whose result alone is returned.
            asking: what `of_rows` gives for these; of Read.FIRSTS the others then have no queries.
        """
        is_alone = rows is Read.FIRSTS and not want_maps  # a map has a row for each token
        queries, qkv = self._projected(hidden, asking if is_alone else None)
        qkv = self.placed(qkv, bounds)
        maps: Tensor | list[Tensor] | None = None
        if isinstance(bounds, Unpadded):
            context = self._attend_unpadded(qkv, bounds, queries)
        elif mask is None and not want_maps and self._is_fused(qkv, bounds):
            context = self._attend_fused(qkv, bounds, queries)
        elif bounds is None:
            context, maps = self._attend(qkv, mask, want_maps, queries)
        elif self._fits and not want_maps and _has_varlen(qkv, self.dropout_p if self.training else 0.0):
            context = self._attend_varlen(qkv, bounds, queries)
        else:
            context, maps = self._attend_runs(qkv, bounds, want_maps, queries)
        if head_mask is not None:
            heads = context.unflatten(-1, (self.num_heads, -1))  # (..., H, d)
            context = (heads * head_mask[:, None]).flatten(-2)
        return self.output(context if is_alone else of_rows(context, bounds, rows)), maps

    def _projected(self, hidden: Tensor, asking: Tensor | None) -> tuple[Tensor | None, Tensor]:
        """Return queries, keys and values as one, (..., 3D); or the queries of those who ask alone, (B, D) or
        (B, 1, D), and the keys and values of all, (..., 2D).
        """
        if asking is None:
            return None, self.qkv(hidden)
        weight, bias, width = self.qkv.weight, self.qkv.bias, hidden.shape[-1]
        own, others = (None, None) if bias is None else (bias[:width], bias[width:])
        return linear(asking, weight[:width], own), linear(hidden, weight[width:], others)

    def placed(self, qkv: Tensor, bounds: Packing) -> Tensor:
        """Return queries, keys and values, (..., 3D), or keys and values, as their places change them.

        BERT's words know theirs from the embeddings. What a text's first token asks must not change.
        """
        return qkv

    def queries_keys_values(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return what is compared and read of a text's states (T, D): three of (T, H, d)."""
        qkv = self.placed(self.qkv(states)[None], None)[0]
        queries, keys, values = qkv.unflatten(-1, (3, self.num_heads, -1)).unbind(1)
        return queries, keys, values

    def near(self, length: int, device: torch.device) -> Tensor | None:
        """Return which tokens of a text each one sees, (T, T) bool; None: all."""
        return None

    def compared(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return how well keys (B, H, T, d) fit the first places' queries (B, H, Q, d): (B, H, Q, T)."""
        return (queries @ keys.transpose(-1, -2)).div_(math.sqrt(self.width))

    def _is_fused(self, qkv: Tensor, bounds: Bounds | None) -> bool:
        """Whether the fused kernel serves and is the fastest; in bfloat16, for short texts in training."""
        longest = qkv.shape[1] if bounds is None else bounds.max_length
        is_fast = not is_low(qkv) or (longest < SHORT and torch.is_grad_enabled())
        return self.is_plain and is_fast and not (self.training and self.dropout_p) and serves(qkv)

    def _attend_fused(self, qkv: Tensor, bounds: Bounds | None, queries: Tensor | None) -> Tensor:
        if bounds is not None:
            return attend(qkv, bounds.runs, self.num_heads, queries)
        count, length, _ = qkv.shape
        asking = None if queries is None else queries.flatten(0, 1)
        context = attend(qkv.flatten(0, 1), [(count, length)], self.num_heads, asking)
        return context.view(count, -1, context.shape[-1])

    def _attend(
        self, qkv: Tensor, mask: Tensor | None, want_maps: bool, queries: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        dropout_p = self.dropout_p if self.training else 0.0
        is_trained_low = is_low(qkv) and torch.is_grad_enabled()  # where the fused one is slow backwards
        if is_trained_low and qkv.shape[1] < SHORT and not want_maps:
            context, _ = self._attend(qkv.float(), mask, False, None if queries is None else queries.float())
            return context.bfloat16(), None
        # (B, T, 3D) -> (B, H, T, d) each: views, no copy
        *q, k, v = qkv.unflatten(-1, (-1, self.num_heads, self.width)).permute(2, 0, 3, 1, 4).unbind(0)
        if queries is not None:
            q = [queries.unflatten(-1, (self.num_heads, self.width)).transpose(1, 2)]
        if want_maps or is_trained_low or not self.is_plain:
            scores = self.compared(q[0], k)  # (B, H, T, T)
            if mask is not None:
                scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            maps = scores.softmax(-1)
            context = F.dropout(maps, dropout_p) @ v if dropout_p else maps @ v
        else:
            maps = None
            context = F.scaled_dot_product_attention(q[0], k, v, attn_mask=mask, dropout_p=dropout_p)
        return context.transpose(1, 2).flatten(-2), maps if want_maps else None  # (B, T, D)

    def _attend_unpadded(self, qkv: Tensor, bounds: Unpadded, queries: Tensor | None) -> Tensor:
        asking = None if queries is None else queries[:, None]
        context, _ = self._attend(bounds.padded(qkv), bounds.mask[:, None, None], False, asking)
        return bounds.packed(context) if queries is None else context[:, 0]

    def _attend_runs(
        self, qkv: Tensor, bounds: Bounds, want_maps: bool, queries: Tensor | None
    ) -> tuple[Tensor, list[Tensor] | None]:
        """Attend inside each example: neighbours of equal length together, so no mask and no padding."""
        num_filler = qkv.shape[0] - bounds.num_tokens
        *parts, _ = qkv.split([count * length for count, length in bounds.runs] + [num_filler])
        counts = [count for count, _ in bounds.runs]
        asking = [None] * len(counts) if queries is None else queries.split(counts)
        contexts: list[Tensor] = []
        maps: list[Tensor] = []
        for part, some, (count, length) in zip(parts, asking, bounds.runs, strict=True):
            own = None if some is None else some[:, None]
            context, run_maps = self._attend(part.view(count, length, -1), None, want_maps, own)
            contexts.append(context.flatten(0, 1))
            if run_maps is not None:
                maps.extend(run_maps.unbind(0))
        if num_filler and queries is None:
            contexts.append(qkv.new_zeros(num_filler, contexts[0].shape[-1]))
        return (contexts[0] if len(contexts) == 1 else torch.cat(contexts)), (maps if want_maps else None)

    def _attend_varlen(self, qkv: Tensor, bounds: Bounds, queries: Tensor | None) -> Tensor:
        from torch.nn.attention.varlen import varlen_attn  # CUDA only; the import is costly

        *q, k, v = qkv.unflatten(-1, (-1, self.num_heads, self.width)).unbind(1)  # each (N, H, d)
        if queries is not None:  # the kernel wants one for each key: those of all others are zeros
            q = [torch.zeros_like(k).index_copy(0, bounds.firsts, queries.view(-1, *k.shape[1:]))]
        # the kernel never writes rows behind the last offset, neither these nor their gradients: filler is a
        # sequence of its own, whose gradients are exact zeros
        offsets = bounds.sequences(len(qkv))
        longest = max(bounds.max_length, len(qkv) - bounds.num_tokens)
        longest = 64 * math.ceil(longest / 64)  # a bucket: the kernel wants a Python int
        context = varlen_attn(q[0], k, v, offsets, offsets, longest, longest, **self.of_kernel)
        context = context.flatten(-2)  # type: ignore[union-attr]
        return context if queries is None else context.index_select(0, bounds.firsts)


def _has_varlen(qkv: Tensor, dropout_p: float) -> bool:
    """Whether torch's packed kernel can serve: CUDA from Ampere on, half precision, no attention dropout."""
    if qkv.is_cpu or qkv.dtype not in (torch.float16, torch.bfloat16) or dropout_p:
        return False
    return bool(gpu().get_device_capability(qkv.device) >= (8, 0))


def of_rows(hidden: Tensor, bounds: Packing, rows: Rows) -> Tensor:
    """Return what is read of hidden states (..., D): (R, D), or of Read.FIRSTS (B, D), padded (B, 1, D)."""
    if rows is None:
        return hidden
    if rows is not Read.FIRSTS:
        return hidden.index_select(0, rows)
    return hidden[:, :1] if bounds is None else hidden.index_select(0, bounds.firsts)


def places_of(shape: torch.Size, bounds: Packing, device: torch.device) -> Tensor:
    """Return the place of each token in its text, (...) int64; 0 of filler. Args: shape: (B, T) or (N,)."""
    if bounds is None:
        return torch.arange(shape[1], device=device).expand(shape)
    return bounds.places(shape[0])
