"""The few operations of BERT that are slow as torch ships them on a CPU, with the same results to rounding.

Everywhere else (CUDA, half precision, builds without oneDNN) torch's own operations run. Measured on two
cores of a Zen 5 CPU in float32: oneDNN's matrix product reaches 400 GFLOP/s where MKL's reaches 190; torch's
dropout makes 0.16 G values a second, sixteen random bits a value make 2 G.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

# N rows, K inputs, M outputs of a linear layer

ROW_MULTIPLE = (
    32  # oneDNN prepares a kernel a shape (0.6 ms): pack rows to a multiple, so that shapes come back
)


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


def cpu_kernels() -> str:
    """Return what multiplies matrices on the CPU, for the record of a run: bits repeat only on the same."""
    return "oneDNN" if _onednn is not None else "torch"


class _OneDnnLinear(torch.autograd.Function):
    """y = x W^T + b, and its gradients, by oneDNN. x: (N, K); weight: (M, K); bias: (M,)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return _onednn(x, weight, bias, "none", [], "")  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        dy = grads[0].contiguous()
        need_x, need_weight, need_bias = ctx.needs_input_grad
        dx = _onednn(dy, weight.t(), None, "none", [], "") if need_x else None
        dweight = _onednn(dy.t().contiguous(), x.t(), None, "none", [], "") if need_weight else None
        return dx, dweight, dy.sum(0) if need_bias and ctx.has_bias else None


class Linear(nn.Linear):
    """`nn.Linear`, by oneDNN where that is faster: float32 on a CPU."""

    def forward(self, input: Tensor) -> Tensor:
        """Args: input: (..., K). Returns: (..., M)."""
        usable = _onednn is not None and input.device.type == "cpu" and input.dtype == torch.float32
        if not usable or self.weight.dtype != torch.float32 or torch.is_autocast_enabled("cpu"):
            return super().forward(input)
        rows = input.reshape(-1, input.shape[-1])
        output: Tensor = _OneDnnLinear.apply(rows, self.weight, self.bias)  # type: ignore[no-untyped-call]
        return output.view(*input.shape[:-1], -1)


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
