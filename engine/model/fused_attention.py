"""Self-attention within each text on a CPU, by torch's fused kernel: one buffer in, one gradient out.

Called through `scaled_dot_product_attention`, the same kernel is surrounded by a dozen small operations a
layer and direction, which cut queries, keys and values out of one product and join their gradients again; in
bfloat16 each of them casts as well. Here they are copied once, into their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

# N tokens of all texts packed, B texts, T tokens of each of some neighbours, D width, H heads, d = D / H

Runs = Sequence[tuple[int, int]]  # neighbours of equal length: how many texts, tokens of each


def _found(name: str) -> Any:
    """Return an operation of torch that a build may be without, else None."""
    return getattr(torch.ops.aten, name, None)


_forward = _found("_scaled_dot_product_flash_attention_for_cpu")
_backward = _found("_scaled_dot_product_flash_attention_for_cpu_backward")


def serves(qkv: Tensor) -> bool:
    """Whether `attend` takes these: float32 or bfloat16 on a CPU, in a build that has the kernel."""
    is_known = qkv.device.type == "cpu" and qkv.dtype in (torch.float32, torch.bfloat16)
    return is_known and qkv.numel() > 0 and _forward is not None and _backward is not None


def attend(qkv: Tensor, runs: Runs, num_heads: int, queries: Tensor | None = None) -> Tensor:
    """Return what each token gathers from its own text: softmax(q k^T / sqrt(d)) v, computed in float32.

    Args:   qkv: (N, 3D), queries, keys and values side by side; rows behind the last run are filler, for
            which zeros are returned. runs: the texts, in order.
            queries: (B, D), of each text's first token, which alone gathers; qkv is then (N, 2D).

    Returns: (N, D) of qkv's type; (B, D) with queries.
    """
    return _Attend.apply(qkv, queries, tuple(runs), num_heads)  # type: ignore[no-any-return,no-untyped-call]


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, queries: Tensor | None, runs: Runs, num_heads: int) -> Tensor:
        ctx.runs, ctx.asking = runs, runs if queries is None else [(count, 1) for count, _ in runs]
        ctx.shapes = qkv.shape, None if queries is None else queries.shape
        width = qkv.shape[1] // 3 if queries is None else queries.shape[1]
        ctx.heads = num_heads, width // num_heads
        context = qkv.new_empty(len(qkv if queries is None else queries), width)
        qkv = qkv.float()
        parts = _parts(qkv, runs, ctx.heads)
        asking = _parts(qkv if queries is None else queries.float(), ctx.asking, ctx.heads)
        kept: list[Tensor] = []
        for part, own, rows in zip(parts, asking, _parts(context, ctx.asking, ctx.heads), strict=True):
            q, k, v = own[0], part[-2], part[-1]
            found, log_sums = _forward(q, k, v)
            rows[0].copy_(found)
            kept += [q, k, v, found, log_sums]
        context[_num_rows(ctx.asking) :].zero_()
        ctx.save_for_backward(*kept)
        return context

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        kept, dcontext = ctx.saved_tensors, grads[0].float()
        shape, asking_shape = ctx.shapes
        dqkv = grads[0].new_empty(shape)
        dqueries = None if asking_shape is None else grads[0].new_empty(asking_shape)
        parts = _parts(dqkv, ctx.runs, ctx.heads)
        asking = _parts(dqkv if dqueries is None else dqueries, ctx.asking, ctx.heads)
        rows = _parts(dcontext, ctx.asking, ctx.heads)
        for number, (part, own, drow) in enumerate(zip(parts, asking, rows, strict=True)):
            q, k, v, found, log_sums = kept[5 * number : 5 * number + 5]
            gradients = _backward(drow[0], q, k, v, found, log_sums, 0.0, False)
            for place, gradient in zip((own[0], part[-2], part[-1]), gradients, strict=True):
                place.copy_(gradient)
        dqkv[_num_rows(ctx.runs) :].zero_()
        return dqkv, dqueries, None, None


def _num_rows(runs: Runs) -> int:
    return sum(count * length for count, length in runs)


def _parts(rows: Tensor, runs: Runs, heads: tuple[int, int]) -> Iterable[Tensor]:
    """Yield (..., B, H, T, d) of each run, views of `rows`. Args: heads: how many, and how wide each."""
    start = 0
    for count, length in runs:
        stop = start + count * length
        yield rows[start:stop].view(count, length, -1, *heads).permute(2, 0, 3, 1, 4)
        start = stop
