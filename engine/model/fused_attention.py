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


def attend(qkv: Tensor, runs: Runs, num_heads: int, of_firsts: bool = False) -> Tensor:
    """Return what each token gathers from its own text: softmax(q k^T / sqrt(d)) v, computed in float32.

    Args:   qkv: (N, 3D), queries, keys and values side by side; rows behind the last run are filler, for
            which zeros are returned. runs: the texts, in order.
            of_firsts: gather for each text's first token alone.

    Returns: (N, D) of qkv's type; (B, D) with of_firsts.
    """
    return _Attend.apply(qkv, tuple(runs), num_heads, of_firsts)  # type: ignore[no-any-return,no-untyped-call]


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, runs: Runs, num_heads: int, of_firsts: bool) -> Tensor:
        width = qkv.shape[1] // 3
        num_rows = sum(count for count, _ in runs) if of_firsts else len(qkv)
        context = qkv.new_empty(num_rows, width)
        kept: list[Tensor] = []
        done = 0
        for part in _parts(qkv.float(), runs, num_heads):
            q, k, v = part.permute(2, 0, 3, 1, 4)  # (B, H, T, d) each
            if of_firsts:
                q = q[:, :, :1]
            found, log_sums = _forward(q, k, v)
            rows = context[done : done + found.shape[0] * found.shape[2]]
            rows.view(len(found), -1, num_heads, found.shape[3]).copy_(found.transpose(1, 2))
            done += len(rows)
            kept += [q, k, v, found, log_sums]
        context[done:].zero_()
        ctx.save_for_backward(*kept)
        ctx.runs, ctx.num_heads, ctx.of_firsts, ctx.shape = runs, num_heads, of_firsts, qkv.shape
        return context

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        kept, dcontext = ctx.saved_tensors, grads[0].float()
        dqkv = grads[0].new_empty(ctx.shape)
        done = 0
        for number, part in enumerate(_parts(dqkv, ctx.runs, ctx.num_heads)):
            q, k, v, found, log_sums = kept[5 * number : 5 * number + 5]
            rows = dcontext[done : done + found.shape[0] * found.shape[2]]
            done += len(rows)
            dfound = rows.view(len(found), -1, ctx.num_heads, found.shape[3]).transpose(1, 2)
            dq, dk, dv = _backward(dfound, q, k, v, found, log_sums, 0.0, False)
            part[:, : q.shape[2], 0].copy_(dq.transpose(1, 2))
            part[:, q.shape[2] :, 0].zero_()  # tokens that asked nothing
            part[:, :, 1].copy_(dk.transpose(1, 2))
            part[:, :, 2].copy_(dv.transpose(1, 2))
        dqkv[sum(count * length for count, length in ctx.runs) :].zero_()
        return dqkv, None, None, None


def _parts(qkv: Tensor, runs: Runs, num_heads: int) -> Iterable[Tensor]:
    """Yield (B, T, 3, H, d) of each run, views of `qkv`."""
    start = 0
    for count, length in runs:
        stop = start + count * length
        yield qkv[start:stop].view(count, length, 3, num_heads, -1)
        start = stop
