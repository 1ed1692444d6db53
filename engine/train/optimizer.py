"""AdamW as BERT is fine-tuned with: bias-corrected, fused, no decay on biases and norms, warm-up, linear
decay.

On a CPU the word embeddings' gradient is kept sparse until the weights move: only a step's own rows are
filled, measured and cleared, instead of the whole table. The result is the same as with the dense gradient.

The kernel is the one of torch.optim.AdamW(fused=True), called by itself: that class imports torch's compiler
when it is made, which takes 70 MB and two seconds in which no other thread gets on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.autograd.graph import increment_version

from engine.model.bert import Bert
from engine.model.config import BertConfig


def learning_rate_at(step: int, num_steps: int, warmup_ratio: float, peak: float) -> float:
    """Return the rate of a 1-based step: a linear climb over the warm-up, then linearly towards 0.

    The climb begins at 0; a run of one step has none, for it would learn nothing.
    """
    warmup = math.ceil(num_steps * warmup_ratio) if num_steps > 1 else 0
    done = step - 1
    if done < warmup:
        return peak * done / warmup
    return peak * max(0.0, (num_steps - done) / max(1, num_steps - warmup))


SMALL = 15e6  # weights of an encoder, embeddings left out, below which it is a small one


def default_learning_rate(config: BertConfig, least: float = 0.0) -> float:
    """Return a good peak rate by the encoder's size; small models want more (Turc et al. 2019).

    Args: least: what a small encoder learns at at least, as its task has it.
    """
    weights = 12 * config.num_hidden_layers * config.hidden_size**2  # embeddings left out
    for limit, rate in ((2e6, 3e-4), (5e6, 2e-4), (SMALL, 1e-4), (50e6, 5e-5), (150e6, 3e-5)):
        if weights < limit:
            return max(rate, least) if limit <= SMALL else rate
    return 2e-5


EPSILON = 1e-8
STEP, MOMENTS = "step", ("exp_avg", "exp_avg_sq")  # as torch.optim names them


@dataclass(frozen=True, slots=True)
class _Group:
    """Weights that are moved alike. times: how many times the learning rate they learn at."""

    names: tuple[str, ...]
    weight_decay: float
    times: float


class Optimizer:
    """AdamW over a model's weights that learn: with decay, biases and norms without.

    Args:   sparse: whether the word embeddings' gradient may be sparse on a CPU. rates: name of a weight ->
            how many times the learning rate it learns at; 1 where it is not named.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        weight_decay: float,
        max_gradient_norm: float,
        betas: tuple[float, float] = (0.9, 0.999),
        sparse: bool = True,
        rates: Mapping[str, float] | None = None,
    ) -> None:
        self._named = {name: p for name, p in model.named_parameters() if p.requires_grad}
        self._max_norm = max_gradient_norm
        self.betas = betas
        word = next((m.embeddings.word for m in model.modules() if isinstance(m, Bert)), None)
        alike: dict[tuple[float, float], list[str]] = {}
        for name, weight in self._named.items():
            decay = weight_decay if weight.ndim >= 2 else 0.0  # biases and norms are vectors
            alike.setdefault((decay, (rates or {}).get(name, 1.0)), []).append(name)
        self._groups = tuple(_Group(tuple(names), *kind) for kind, names in alike.items())
        self._moments: dict[str, dict[str, Tensor]] = {}
        self._table: Tensor | None = None  # the parameter whose gradient is sparse
        self._rows: Tensor | None = None  # its dense gradient where it has one, zero between steps
        if sparse and word is not None and word.weight.device.type == "cpu" and word.weight.requires_grad:
            word.sparse = True
            self._table = word.weight

    def clear(self) -> None:
        """Forget gathered gradients."""
        for parameter in self._named.values():
            parameter.grad = None

    def reserve(self) -> None:
        """Take the memory of its moments now, not at its first step, if it has not yet.

        Before the first activations, so that these share out what is left, and not the other way round.
        """
        for name, parameter in self._named.items():
            if name not in self._moments:
                moments = {key: torch.zeros_like(parameter) for key in MOMENTS}
                self._moments[name] = {STEP: torch.zeros((), device=parameter.device), **moments}

    def step(self, learning_rate: float, loss: Tensor | None = None) -> Tensor:
        """Clip, move the weights, clear the gradients. Returns: the gradient's norm before clipping, 0-d.

        Where that norm or `loss` (0-d, detached) is not finite, neither weights nor moments move; on a GPU
        the kernel sees to that, and nobody waits.
        """
        touched = self._scatter()
        norm = self._clip(touched)
        is_lost = ~norm.isfinite() if loss is None else ~(norm.isfinite() & loss.isfinite())
        if not is_lost.is_cpu:
            self._move(learning_rate, is_lost.float())
        elif not is_lost:  # a CPU is never behind; telling its kernel costs small models a tenth of a step
            self._move(learning_rate, None)
        increment_version(self._named.values())  # AdamW's kernel leaves it, and casts are kept by it
        if touched is not None and self._rows is not None:
            self._rows.index_fill_(0, touched, 0.0)
        self.clear()
        return norm

    @torch.no_grad()
    def _move(self, learning_rate: float, is_lost: Tensor | None) -> None:
        """Move the weights that have a gradient.

        Args: is_lost: 0-d, 1.0 where the kernel is to leave all as it is, else 0.0; None: nobody asks it to.
        """
        self.reserve()
        beta1, beta2 = self.betas
        for group in self._groups:
            named = {name: self._named[name] for name in group.names}
            gradients = {name: p.grad for name, p in named.items() if p.grad is not None}
            if not gradients:
                continue
            first, second = ([self._moments[name][key] for name in gradients] for key in MOMENTS)
            steps = [self._moments[name][STEP] for name in gradients]
            torch._foreach_add_(steps, 1)
            torch._fused_adamw_(
                [named[name] for name in gradients],
                list(gradients.values()),
                first,
                second,
                [],
                steps,
                lr=learning_rate * group.times,
                beta1=beta1,
                beta2=beta2,
                weight_decay=group.weight_decay,
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
                found_inf=is_lost,
            )
            if is_lost is not None:
                torch._foreach_sub_(steps, [is_lost] * len(steps))

    def _scatter(self) -> Tensor | None:
        """Put the sparse gradient into the dense rows; return which rows those are."""
        if self._table is None or self._table.grad is None:
            return None
        sparse = self._table.grad
        if not sparse.is_sparse:
            return None  # a tied masked-word head has filled every row
        if self._rows is None:
            self._rows = torch.zeros_like(self._table)
        indices, values = sparse._indices()[0], sparse._values()
        self._rows.index_add_(0, indices, values)
        self._table.grad = self._rows
        rows: Tensor = indices.unique()
        return rows

    def _clip(self, touched: Tensor | None) -> Tensor:
        kept_apart = self._table if touched is not None else None
        grads = [p.grad for p in self._named.values() if p.grad is not None and p is not kept_apart]
        norms = list(torch._foreach_norm(grads))
        rows = None
        if touched is not None and self._rows is not None:
            rows = self._rows.index_select(0, touched)
            norms.append(torch.linalg.vector_norm(rows))
        norm: Tensor = torch.linalg.vector_norm(torch.stack(norms))
        if not self._max_norm:
            return norm
        factor = (self._max_norm / (norm + 1e-6)).clamp(max=1.0)
        if not norm.is_cpu:
            torch._foreach_mul_(grads, factor)  # no look at its value: that would wait for the GPU
        elif factor < 1.0:
            torch._foreach_mul_(grads, factor)
            if rows is not None and touched is not None and self._rows is not None:
                self._rows.index_copy_(0, touched, rows * factor)
        return norm

    def state(self) -> dict[str, Tensor]:
        """Return its memory as named tensors, for a checkpoint."""
        return {f"{name}/{key}": value for name, kept in self._moments.items() for key, value in kept.items()}

    def load_state(self, tensors: dict[str, Tensor]) -> None:
        """Take up the memory that `state` returned."""
        for name, parameter in self._named.items():
            keys = [key for key in (STEP, *MOMENTS) if f"{name}/{key}" in tensors]
            if keys:
                device = parameter.device
                self._moments[name] = {key: tensors[f"{name}/{key}"].to(device, copy=True) for key in keys}
