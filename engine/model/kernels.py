"""The few operations of BERT that are slow as torch ships them on a CPU, with the same results to rounding.

Everywhere else (CUDA, half precision, builds without oneDNN) torch's own operations run. Measured on two
cores of a Zen 5 CPU in float32: oneDNN's matrix product reaches 400 GFLOP/s where MKL's reaches 190; torch's
dropout makes 0.16 G values a second, sixteen random bits a value make 2 G. The loss over a vocabulary writes
fresh memory for M x V logits several times over in torch; here it works on one chunk, in place: a third of
the time for a narrow model (D = 128), nine tenths for a wide one (768).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.device import rounds_products

# N rows, K inputs, M outputs of a linear layer; V words of a vocabulary, D width

# oneDNN prepares a kernel a shape, which takes 0.7 ms and 0.6 MB: rows are filled up to a multiple, so that
# shapes come back; those of a chunk of logits are dear
ROW_MULTIPLE, CHUNK_MULTIPLE = 32, 8
# of logits at a time: above 32 MiB memory is fresh each time, and its page faults cost more than the product;
# less multiplies small matrices slowly
CHUNK_BYTES = 30 * 2**20
TURN_BYTES = 10 * 2**20  # of a matrix that oneDNN reads across its rows: a larger one leaves the cache


def _find_onednn() -> Any:
    """Return oneDNN's linear operation if this build has it and it is right, else None."""
    try:
        operation = torch.ops.mkldnn._linear_pointwise
        x, weight = torch.arange(35.0).view(5, 7) / 35, torch.arange(21.0).view(3, 7) / 21
        same = torch.allclose(operation(x, weight, None, "none", [], ""), x @ weight.t(), atol=1e-5)
        turned = torch.allclose(
            operation(x[:, :3], weight.t(), None, "none", [], ""), x[:, :3] @ weight, atol=1e-5
        )
        return operation if same and turned else None
    except (AttributeError, RuntimeError, NotImplementedError):
        return None


_onednn: Any = _find_onednn() if torch.backends.mkldnn.is_available() else None


def _product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return a b^T + bias in float32, of two float32 or two bfloat16 matrices."""
    if a.dtype == torch.float32:
        return _onednn(a, b, bias, "none", [], "")  # type: ignore[no-any-return]
    product: Tensor = _onednn(a, b, None, "none", [], "").float()
    return product if bias is None else product.add_(bias)


def cpu_kernels() -> str:
    """Return what multiplies matrices on the CPU, for the record of a run: bits repeat only on the same."""
    return "oneDNN" if _onednn is not None else "torch"


class _OneDnnLinear(torch.autograd.Function):
    """y = x W^T + b, and its gradients, by oneDNN. x: (N, K); weight: (M, K); bias: (M,)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if rounds_products():
            x, weight = x.bfloat16(), weight.bfloat16()
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return _product(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        dy = grads[0].contiguous()
        need_x, need_weight, need_bias = ctx.needs_input_grad
        dbias = dy.sum(0) if need_bias and ctx.has_bias else None
        dy = dy.to(x.dtype)
        dx = _product(dy, weight.t()) if need_x else None
        dweight = _weight_gradient(dy, x) if need_weight else None
        return dx, dweight, dbias


def _weight_gradient(dy: Tensor, x: Tensor) -> Tensor:
    """Return dy^T x, (M, K). One of the two has to be turned: the narrower one costs less."""
    if x.shape[1] < dy.shape[1] and dy.numel() * dy.element_size() <= TURN_BYTES:
        return _product(x.t(), dy.t()).t().contiguous()
    return _product(dy.t().contiguous(), x.t())


def _is_fast(*tensors: Tensor | None) -> bool:
    """Whether oneDNN serves here: float32 on a CPU, without autocast."""
    if _onednn is None or torch.is_autocast_enabled("cpu"):
        return False
    return all(t is None or (t.device.type == "cpu" and t.dtype == torch.float32) for t in tensors)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear`, by oneDNN where that is faster. Args: input: (..., K). weight: (M, K), giving (..., M)."""
    if not _is_fast(input, weight, bias) or not input.numel():
        return F.linear(input, weight, bias)
    rows = input.reshape(-1, input.shape[-1])
    count = len(rows)
    if torch.is_grad_enabled():  # it pays where many steps follow
        rows = _filled(rows, ROW_MULTIPLE)
    output: Tensor = _OneDnnLinear.apply(rows, weight, bias)  # type: ignore[no-untyped-call]
    if len(output) > count:
        output = output[:count]
    return output.view(*input.shape[:-1], -1)


def _filled(rows: Tensor, multiple: int) -> Tensor:
    """Return rows (N, K) and as many of zeros as it takes to a multiple."""
    filler = -len(rows) % multiple
    return F.pad(rows, (0, 0, 0, filler)) if filler else rows


class Linear(nn.Linear):
    """`nn.Linear`, by oneDNN where that is faster."""

    def forward(self, input: Tensor) -> Tensor:
        """Args: input: (..., K). Returns: (..., M)."""
        return linear(input, self.weight, self.bias)


def exact(layer: nn.Linear, input: Tensor) -> Tensor:
    """Return layer(input) in the precision of its weights, also where autocast would round its factors.

    For the few rows that a decision rests on. Args: input: (..., K). Returns: (..., M).
    """
    with torch.autocast(input.device.type, enabled=False):
        return layer(input.to(layer.weight.dtype))  # type: ignore[no-any-return]


class _LinearCrossEntropy(torch.autograd.Function):
    """The loss and its gradients in one go, a chunk of rows at a time: (M, V) never exists whole."""

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, want_gradients: bool
    ) -> tuple[Tensor, Tensor]:
        num_chunks = -(-hidden.shape[0] * weight.shape[0] * 4 // CHUNK_BYTES)
        num_rows = -(-hidden.shape[0] // (num_chunks * CHUNK_MULTIPLE)) * CHUNK_MULTIPLE
        turn_rows = hidden.shape[1] < hidden.shape[0]  # and the gradient, once: less than every chunk
        losses, hits, dhidden = [], [], []
        dweight = dbias = None
        low = torch.bfloat16 if rounds_products() else torch.float32
        hidden, weight = hidden.to(low), weight.to(low)
        for rows, answers in zip(hidden.split(num_rows), targets.split(num_rows), strict=True):
            count = len(rows)
            rows = _filled(rows, CHUNK_MULTIPLE)
            scores = _product(rows, weight, bias)  # (rows, V)
            loss, num_hits = _cross_entropy_(scores[:count], answers)
            scores[count:].zero_()  # scores are their own gradient from here
            losses.append(loss)
            hits.append(num_hits)
            if want_gradients:
                slopes = scores.to(low)
                dhidden.append(_product(slopes, weight.t())[:count])
                if turn_rows:
                    part = _product(rows.t(), slopes.t())  # (D, V)
                else:
                    part = _product(slopes.t().contiguous(), rows.t())  # (V, D)
                dweight = part if dweight is None else dweight.add_(part)
                summed = (scores.new_ones(1, len(scores)) @ scores)[0]  # two thirds of the time of sum(0)
                dbias = summed if dbias is None else dbias.add_(summed)
        if dweight is not None:
            ctx.gradients = [torch.cat(dhidden), dweight.t().contiguous() if turn_rows else dweight, dbias]
        total = torch.stack(hits).sum()
        ctx.mark_non_differentiable(total)
        return torch.stack(losses).sum(), total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        dhidden, dweight, dbias = ctx.gradients
        ctx.gradients = ()  # theirs alone, so that autograd adds to them in place; a second backward fails
        if grads[0] != 1.0:
            for gradient in (dhidden, dweight, dbias):
                gradient.mul_(grads[0])
        return dhidden, dweight, dbias, None, None


def _cross_entropy_(scores: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the summed loss and the hits, and leave the gradient of the loss in `scores`, (M, V)."""
    column = targets[:, None]
    best, right = scores.amax(1, keepdim=True), scores.gather(1, column)
    hits = _hits(scores, targets, (right == best)[:, 0])
    torch.softmax(scores, 1, out=scores)
    share = scores.gather(1, column)
    if share.amin() < torch.finfo(share.dtype).tiny:  # its logarithm is lost
        # log(sum of exp(score)) is best - log(share of the best), and that share is no less than 1 / V
        loss = best - scores.amax(1, keepdim=True).log() - right
    else:
        loss = -share.log()
    scores.scatter_add_(1, column, scores.new_full((1, 1), -1.0).expand_as(column))
    return loss.sum(), hits


def _hits(scores: Tensor, targets: Tensor, is_best: Tensor) -> Tensor:
    """Return in how many rows argmax names the target, which it can only where that has the best score.

    Of equal scores it names the first. On a CPU it takes ten times as long as the maximum, so few are asked.
    """
    rows = is_best.nonzero()[:, 0]
    return (scores.index_select(0, rows).argmax(1) == targets.index_select(0, rows)).sum()


def linear_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the summed cross-entropy of hidden W^T + b, 0-d, and in how many rows argmax names the target.

    On a CPU the logits exist a few rows at a time and the gradients are computed with them, so that memory
    and its bandwidth do not grow with M x V. Elsewhere it is `F.cross_entropy` in float32.

    Args: hidden: (M, D). weight: (V, D). bias: (V,). targets: (M,) int64; M may be 0.
    """
    if _is_fast(hidden, weight, bias) and len(hidden):
        gradients = torch.is_grad_enabled() and any(t.requires_grad for t in (hidden, weight, bias))
        result: tuple[Tensor, Tensor] = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
            hidden, weight, bias, targets, gradients
        )
        return result
    logits = F.linear(hidden, weight, bias)
    logits = logits if logits.dtype == torch.float64 else logits.float()
    hits = (logits.detach().argmax(1) == targets).sum()
    return F.cross_entropy(logits, targets, reduction="sum"), hits


class Noise:
    """Random bits for dropout on the CPU; seeded at every step, so that a run resumes from its seed and
    step.
    """

    def __init__(self) -> None:
        self._bits = np.random.Generator(np.random.SFC64())

    def seed(self, *numbers: int) -> None:
        """Start over from these numbers, here and in torch's own generators (used on CUDA)."""
        self._bits = np.random.Generator(np.random.SFC64(numbers))
        torch.manual_seed(int(self._bits.integers(2**63)))

    def keep_mask(self, shape: torch.Size, p: float) -> Tensor:
        """Return a float32 tensor of 0 with probability p (to 1 in 65,536) and 1 elsewhere."""
        count = shape.numel()
        words = self._bits.integers(0, 2**64, -(-count // 4), dtype=np.uint64)
        bits = torch.from_numpy(words.view(np.int16))[:count].view(shape)
        return torch.ge(bits, round(p * 65536) - 32768, out=torch.empty(shape))


class Dropout(nn.Module):
    """Dropout, with the residual added in the same pass when one is given."""

    def __init__(self, p: float, noise: Noise) -> None:
        super().__init__()
        self.p = p
        self.noise = noise

    def forward(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        """Args: x, residual: of one shape. Returns: dropout(x) + residual."""
        if not self.training or self.p == 0.0:
            return x if residual is None else residual + x
        if x.device.type != "cpu" or x.dtype != torch.float32:
            dropped = F.dropout(x, self.p)
            return dropped if residual is None else residual + dropped
        keep = self.noise.keep_mask(x.shape, self.p)
        scale = 1.0 / (1.0 - self.p)
        return x * keep.mul_(scale) if residual is None else torch.addcmul(residual, x, keep, value=scale)
