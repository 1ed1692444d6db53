"""BERT: summed embeddings, L post-norm blocks of self-attention and feed-forward, a pooler.

One encoder for two layouts: padded (B, T) with an attention_mask, and packed (N,) with the bounds of its
examples. Every seam (embeddings instead of ids, attention maps, hidden states, heads switched off) costs
nothing unused.
Source: Devlin et al. 2019; names of the published checkpoints.
"""

# B examples, T tokens of the longest, N tokens of all examples packed, D hidden_size, H heads, d = D / H,
# F intermediate_size, L layers. "..." stands for (B, T) when padded and (N,) when packed.

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.model.activations import activation
from engine.model.config import BertConfig
from engine.model.fused_attention import attend, serves
from engine.model.kernels import Dropout, Linear, Noise, exact, is_low, linear, low_where_asked
from engine.text.batch import Batch, Bounds, Unpadded

# tokens of texts that are attended to in float32 where all else is bfloat16: oneDNN prepares a product for
# each count and length of texts, and no two batches have the same
SHORT = 64


class Read(Enum):
    """What of the last layer is read where that is neither all nor some rows by number."""

    FIRSTS = "firsts"  # each example's first token, which is [CLS]


Packing = Bounds | Unpadded | None  # where the examples of packed rows are; None: padded
Rows = Tensor | Read | None  # what is computed of the last layer: (R,) rows, or what is read; None: all


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


class Attention(nn.Module):
    """Multi-head self-attention with one fused product for queries, keys and values."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.dropout_p = config.attention_probs_dropout_prob
        self.width = config.hidden_size // config.num_attention_heads
        # the packed kernel takes no others; scaled_dot_product_attention fills them up by itself
        self._fits = self.width % 8 == 0 and self.width <= 256
        self.qkv = Linear(config.hidden_size, 3 * config.hidden_size)
        self.output = Linear(config.hidden_size, config.hidden_size)

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
            asking: what `_of_rows` gives for these; of Read.FIRSTS the others then have no queries.
        """
        is_alone = rows is Read.FIRSTS and not want_maps  # a map has a row for each token
        queries, qkv = self._projected(hidden, asking if is_alone else None)
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
        return self.output(context if is_alone else _of_rows(context, bounds, rows)), maps

    def _projected(self, hidden: Tensor, asking: Tensor | None) -> tuple[Tensor | None, Tensor]:
        """Return queries, keys and values as one, (..., 3D); or the queries of those who ask alone, (B, D) or
        (B, 1, D), and the keys and values of all, (..., 2D).
        """
        if asking is None:
            return None, self.qkv(hidden)
        weight, bias, width = self.qkv.weight, self.qkv.bias, hidden.shape[-1]
        return linear(asking, weight[:width], bias[:width]), linear(hidden, weight[width:], bias[width:])

    def _is_fused(self, qkv: Tensor, bounds: Bounds | None) -> bool:
        """Whether the fused kernel serves and is the fastest; in bfloat16, for short texts in training."""
        longest = qkv.shape[1] if bounds is None else bounds.max_length
        is_fast = not is_low(qkv) or (longest < SHORT and torch.is_grad_enabled())
        return is_fast and not (self.training and self.dropout_p) and serves(qkv)

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
        if want_maps or is_trained_low:
            scores = (q[0] @ k.transpose(-1, -2)).div_(math.sqrt(self.width))  # (B, H, T, T)
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
        context = varlen_attn(q[0], k, v, offsets, offsets, longest, longest)
        context = context.flatten(-2)  # type: ignore[union-attr]
        return context if queries is None else context.index_select(0, bounds.firsts)


def _has_varlen(qkv: Tensor, dropout_p: float) -> bool:
    """Whether torch's packed kernel can serve: CUDA from Ampere on, half precision, no attention dropout."""
    if not qkv.is_cuda or qkv.dtype not in (torch.float16, torch.bfloat16) or dropout_p:
        return False
    return torch.cuda.get_device_capability(qkv.device) >= (8, 0)


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
        """Return hidden (..., D), or what `_of_rows` gives of it, and, if wanted, this layer's attention
        maps.
        """
        asking = _of_rows(hidden, bounds, rows)
        attended, maps = self.attention(hidden, mask, bounds, head_mask, want_maps, rows, asking)
        return self.feed_forward(attended, asking), maps

    def feed_forward(self, attended: Tensor, hidden: Tensor) -> Tensor:
        """Return what follows attention: norm, feed-forward, norm, with residuals. All (..., D)."""
        hidden = self.attention_norm(self.dropout(attended, hidden))
        output = self.output(self.activation(self.intermediate(hidden)))
        return self.output_norm(self.dropout(output, hidden))  # type: ignore[no-any-return]


def _of_rows(hidden: Tensor, bounds: Packing, rows: Rows) -> Tensor:
    """Return what is read of hidden states (..., D): (R, D), or of Read.FIRSTS (B, D), padded (B, 1, D)."""
    if rows is None:
        return hidden
    if rows is not Read.FIRSTS:
        return hidden.index_select(0, rows)
    return hidden[:, :1] if bounds is None else hidden.index_select(0, bounds.firsts)


class Bert(nn.Module):
    """The encoder. `pooler` is None in models that come without one."""

    def __init__(self, config: BertConfig, *, with_pooler: bool = True) -> None:
        super().__init__()
        self.config = config
        self.noise = Noise()
        family = config.family
        self.embeddings: Embeddings = family.embeddings(Embeddings, config, self.noise)
        self.layers: nn.ModuleList = family.layers(
            partial(Block, config, self.noise), config.num_hidden_layers
        )
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size) if with_pooler else None
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
            position_ids = _positions(shape, bounds, words.device)
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
        assert isinstance(layer, Block)
        layer.feed_forward = torch.compile(layer.feed_forward, dynamic=True)  # type: ignore[method-assign]


def initialize(module: nn.Module, std: float, seed: int) -> None:
    """Give new weights, in module order: normal(0, std) for matrices, zero biases, layer norms as the
    identity.
    """
    rng = torch.Generator().manual_seed(seed)
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, 0.0, std, generator=rng)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
        if isinstance(part, nn.LayerNorm):
            nn.init.ones_(part.weight)
            nn.init.zeros_(part.bias)


def _positions(shape: torch.Size, bounds: Packing, device: torch.device) -> Tensor:
    if bounds is None:
        return torch.arange(shape[1], device=device).expand(shape)
    assert isinstance(bounds, Bounds)  # others know their own
    positions = [torch.arange(length, device=device) for length in bounds.lengths]
    return torch.cat([*positions, positions[0].new_zeros(shape[0] - bounds.num_tokens)])
