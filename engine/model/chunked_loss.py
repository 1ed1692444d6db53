"""The loss over a vocabulary on a GPU, a chunk of rows at a time, with its gradients in the same pass.

Whole, the logits of 10,000 words over 30,522 exist four to six times: 5 GB written and read again. Nothing
here reads a value on the host, so that nothing waits for the GPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# M chosen tokens, D width, V words of a vocabulary

CHUNK_BYTES = 256 * 2**20  # of float32 logits: enough rows for large products, little beside activations


def chunked_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the summed cross-entropy of hidden W^T + b, 0-d, and in how many rows argmax names the target.

    Products are in the precision of autocast where it is on; softmax and sums are float32.

    Args: hidden: (M, D), M above 0. weight: (V, D). bias: (V,). targets: (M,) int64.
    """
    kind = hidden.device.type
    low = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
    wanted = torch.is_grad_enabled() and any(part.requires_grad for part in (hidden, weight, bias))
    result: tuple[Tensor, Tensor] = _Chunked.apply(  # type: ignore[no-untyped-call]
        hidden, weight, bias, targets, low, wanted
    )
    return result


class _Chunked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor,
        targets: Tensor,
        low: torch.dtype,
        want_gradients: bool,
    ) -> tuple[Tensor, Tensor]:
        loss, hits = hidden.new_zeros((), dtype=torch.float32), targets.new_zeros(())
        rows_at_once = max(64, CHUNK_BYTES // (4 * weight.shape[0]) // 64 * 64)
        with torch.autocast(hidden.device.type, enabled=False):
            words = weight.to(low)
            gradients = None
            if want_gradients:
                gradients = torch.empty_like(hidden), torch.zeros_like(weight), torch.zeros_like(bias)
            for begin in range(0, len(hidden), rows_at_once):
                rows = hidden[begin : begin + rows_at_once].to(low)
                column = targets[begin : begin + rows_at_once, None]
                scores = torch.addmm(bias.to(low), rows, words.t()).float()  # (rows, V)
                hits += (scores.argmax(1, keepdim=True) == column).sum()
                total = scores.logsumexp(1, keepdim=True)
                loss += (total - scores.gather(1, column)).sum()
                if gradients is None:
                    continue
                dhidden, dweight, dbias = gradients
                scores.sub_(total).exp_()  # from here on the gradient of the loss
                scores.scatter_add_(1, column, scores.new_full((1, 1), -1.0).expand_as(column))
                dbias += scores.sum(0)
                slopes = scores.to(low)
                dhidden[begin : begin + rows_at_once] = slopes @ words
                dweight += slopes.t() @ rows
        ctx.gradients = gradients
        ctx.mark_non_differentiable(hits)
        return loss, hits

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        gradients = ctx.gradients
        ctx.gradients = ()  # theirs alone, so that they are scaled in place; a second backward fails
        dhidden, dweight, dbias = (one.mul_(grads[0]) for one in gradients)
        return dhidden, dweight, dbias, None, None, None
