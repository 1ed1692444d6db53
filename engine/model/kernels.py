"""The few operations of BERT that are slow as torch ships them on a CPU, with the same results to rounding.

Which library multiplies float32 matrices is `engine.device`'s to say, for the thread: none is the fastest
everywhere (two cores of a Zen 5: oneDNN 400 GFLOP/s, MKL 190; of an Intel with AMX: 150 and 170, and 90 and
140 for the gradient of a weight). In bfloat16 all that flows from layer to layer is bfloat16, and a weight is
cast once a step. Everywhere else (CUDA, float64) torch's own operations run. torch's dropout makes 0.16 G
values a second, sixteen random bits a value make 2 G. The loss over a vocabulary writes fresh memory for M x
V logits several times over in torch; here it works on one chunk, in place: a third of the time for a narrow
model (D = 128), nine tenths for a wide one (768).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.device import ONEDNN, cpu_kernels, gpu, is_bfloat16, onednn
from engine.model.chunked_loss import chunked_cross_entropy

# N rows, K inputs, M outputs of a linear layer; V words of a vocabulary, D width

# oneDNN prepares a kernel a shape, which takes 0.7 ms and 0.6 MB: rows are filled up to a multiple, so that
# shapes come back; those of a chunk of logits are dear
ROW_MULTIPLE, CHUNK_MULTIPLE = 32, 8
LOW_MULTIPLE = (
    64  # in bfloat16 the kernels of one more shape take 35 ms, 64 rows more a tenth of a short step
)
# of logits at a time: above 32 MiB memory is fresh each time, and its page faults cost more than the product;
# less multiplies small matrices slowly
CHUNK_BYTES = 30 * 2**20
TURN_BYTES = 10 * 2**20  # of a matrix that oneDNN reads across its rows: a larger one leaves the cache


def _product(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return a b^T + bias in float32, fresh, of two float32 or two bfloat16 matrices."""
    if a.dtype == torch.bfloat16:
        product = (a @ b.t()).float()
        return product if bias is None else product.add_(bias)
    return _by_onednn(a, b, bias) if cpu_kernels() == ONEDNN else F.linear(a, b, bias)


def _by_onednn(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return a b^T + bias of matrices of one type."""
    return onednn(a, b, bias, "none", [], "")  # type: ignore[no-any-return]


def _gradient(dy: Tensor, x: Tensor) -> Tensor:
    """Return dy^T x, (M, K), in float32, of two float32 or two bfloat16 matrices."""
    if dy.dtype == torch.float32 and cpu_kernels() == ONEDNN:
        return _gradient_by_onednn(dy, x)
    return (dy.t() @ x).float()


def _gradient_by_onednn(dy: Tensor, x: Tensor) -> Tensor:
    """Return dy^T x, (M, K). One of the two has to be turned: the narrower one costs less."""
    if x.shape[1] < dy.shape[1] and dy.numel() * dy.element_size() <= TURN_BYTES:
        return _by_onednn(x.t(), dy.t()).t().contiguous()
    return _by_onednn(dy.t().contiguous(), x.t())


class _OneDnnLinear(torch.autograd.Function):
    """y = x W^T + b, and its gradients, by oneDNN. x: (N, K); weight: (M, K); bias: (M,); all float32."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return _by_onednn(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        dy = grads[0].contiguous()
        need_x, need_weight, need_bias = ctx.needs_input_grad
        dbias = dy.sum(0) if need_bias and ctx.has_bias else None
        dx = _by_onednn(dy, weight.t()) if need_x else None
        dweight = _gradient_by_onednn(dy, x) if need_weight else None
        return dx, dweight, dbias


class _LowLinear(torch.autograd.Function):
    """y = x W^T + b in bfloat16, of float32 weights, whose gradients are float32 again.

    x: (N, K) bfloat16; weight: (M, K) and bias: (M,), float32; y: (N, M) bfloat16.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        low = low_of(weight)
        ctx.save_for_backward(x, low)
        ctx.has_bias = bias is not None
        # F.linear would write the bias into every row first, and add the product to it
        return _by_onednn(x, low, None if bias is None else low_of(bias))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, low = ctx.saved_tensors
        dy = grads[0]
        need_x, need_weight, need_bias = ctx.needs_input_grad
        # added up in float32 by the product as well; `sum` would write all of dy in float32 before
        dbias = (dy.new_ones(1, len(dy)) @ dy)[0].float() if need_bias and ctx.has_bias else None
        dx = dy @ low if need_x else None
        dweight = (dy.t() @ x).float() if need_weight else None
        return dx, dweight, dbias


def low_of(weight: Tensor) -> Tensor:
    """Return a float32 weight in bfloat16. It is cast once and kept until the weight is changed."""
    kept: tuple[int, Tensor] | None = getattr(weight, "low", None)
    if kept is None or kept[0] != weight._version or kept[1].shape != weight.shape:
        with torch.inference_mode(False):  # else training could not use what an evaluation has cast
            kept = weight._version, weight.detach().bfloat16()
        weight.low = kept  # type: ignore[attr-defined]
    return kept[1]


def low_where_asked(hidden: Tensor) -> Tensor:
    """Return hidden values as they flow from layer to layer: bfloat16 where this thread computes in it.

    Packed rows (N, D) are then filled up with rows that nobody reads, so that shapes come back.
    """
    if not is_bfloat16() or hidden.device.type != "cpu":
        return hidden
    return (_filled(hidden, LOW_MULTIPLE) if hidden.ndim == 2 else hidden).bfloat16()


def _is_float32(*tensors: Tensor | None) -> bool:
    """Whether what is given is float32 on a CPU, without autocast."""
    if torch.is_autocast_enabled("cpu"):
        return False
    return all(t is None or (t.device.type == "cpu" and t.dtype == torch.float32) for t in tensors)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear`, by what is fastest here. Args: input: (..., K). weight: (M, K), giving (..., M)."""
    rows = input.reshape(-1, input.shape[-1])
    if is_low(input) and _is_float32(weight, bias):
        low: Tensor = _LowLinear.apply(rows, weight, bias)  # type: ignore[no-untyped-call]
        return low.view(*input.shape[:-1], -1)
    if cpu_kernels() != ONEDNN or not _is_float32(input, weight, bias) or not input.numel():
        return F.linear(input, weight, bias)
    count = len(rows)
    if torch.is_grad_enabled():  # it pays where many steps follow
        rows = _filled(rows, ROW_MULTIPLE)
    output: Tensor = _OneDnnLinear.apply(rows, weight, bias)  # type: ignore[no-untyped-call]
    if len(output) > count:
        output = output[:count]
    return output.view(*input.shape[:-1], -1)


def is_low(input: Tensor) -> bool:
    """Whether a tensor is bfloat16 on a CPU."""
    return input.dtype == torch.bfloat16 and input.device.type == "cpu"


def _filled(rows: Tensor, multiple: int) -> Tensor:
    """Return rows (N, K) and as many of zeros as it takes to a multiple."""
    filler = -len(rows) % multiple
    return F.pad(rows, (0, 0, 0, filler)) if filler else rows


class Linear(nn.Linear):
    """`nn.Linear`, by what is fastest here."""

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
        ctx.kind = hidden.dtype
        num_chunks = -(-hidden.shape[0] * weight.shape[0] * 4 // CHUNK_BYTES)
        num_rows = -(-hidden.shape[0] // (num_chunks * CHUNK_MULTIPLE)) * CHUNK_MULTIPLE
        # oneDNN wants one of the two turned: the rows and, once, the gradient cost less than every chunk
        turn_rows = hidden.shape[1] < hidden.shape[0] and cpu_kernels() == ONEDNN and not is_bfloat16()
        losses, hits, dhidden = [], [], []
        dweight = dbias = None
        if is_bfloat16():
            hidden, weight = hidden.bfloat16(), low_of(weight)
        for rows, answers in zip(hidden.split(num_rows), targets.split(num_rows), strict=True):
            count = len(rows)
            rows = _filled(rows, CHUNK_MULTIPLE)
            scores = _product(rows, weight, bias)  # (rows, V)
            loss, num_hits = _cross_entropy_(scores[:count], answers)
            scores[count:].zero_()  # scores are their own gradient from here
            losses.append(loss)
            hits.append(num_hits)
            if want_gradients:
                slopes = scores.to(hidden.dtype)
                dhidden.append(_product(slopes, weight.t())[:count])
                if turn_rows:
                    part = _product(rows.t(), slopes.t())  # (D, V)
                else:
                    part = _gradient(slopes, rows)  # (V, D)
                dweight = part if dweight is None else dweight.add_(part)
                summed = (scores.new_ones(1, len(scores)) @ scores)[0]  # two thirds of the time of sum(0)
                dbias = summed if dbias is None else dbias.add_(summed)
        if dweight is not None:
            ctx.gradients = [
                torch.cat(dhidden).to(ctx.kind),
                dweight.t().contiguous() if turn_rows else dweight,
                dbias,
            ]
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
    and its bandwidth do not grow with M x V; so on a GPU. Elsewhere it is `F.cross_entropy` in float32.

    Args: hidden: (M, D). weight: (V, D). bias: (V,). targets: (M,) int64; M may be 0.
    """
    if (_is_float32(hidden) or is_low(hidden)) and _is_float32(weight, bias) and len(hidden):
        gradients = torch.is_grad_enabled() and any(t.requires_grad for t in (hidden, weight, bias))
        result: tuple[Tensor, Tensor] = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
            hidden, weight, bias, targets, gradients
        )
        return result
    if not hidden.is_cpu and len(hidden) and hidden.dtype != torch.float64:
        return chunked_cross_entropy(hidden, weight, bias, targets)
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
        """Start over from these numbers, here and in torch's own generators (used on a GPU)."""
        self._bits = np.random.Generator(np.random.SFC64(numbers))
        seed = int(self._bits.integers(2**63))
        torch.default_generator.manual_seed(
            seed
        )  # torch.manual_seed notes the stack for each GPU not begun: 0.8 ms
        if gpu().is_initialized():
            gpu().manual_seed_all(seed)

    def keep_mask(self, shape: torch.Size, p: float, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return a tensor of 0 with probability p (to 1 in 65,536) and 1 elsewhere."""
        count = shape.numel()
        words = self._bits.integers(0, 2**64, -(-count // 4), dtype=np.uint64)
        bits = torch.from_numpy(words.view(np.int16))[:count].view(shape)
        return torch.ge(bits, round(p * 65536) - 32768, out=torch.empty(shape, dtype=dtype))


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
        if x.device.type != "cpu" or x.dtype not in (torch.float32, torch.bfloat16):
            dropped = F.dropout(x, self.p)
            return dropped if residual is None else residual + dropped
        keep = self.noise.keep_mask(x.shape, self.p, x.dtype)
        scale = 1.0 / (1.0 - self.p)
        return x * keep.mul_(scale) if residual is None else torch.addcmul(residual, x, keep, value=scale)
