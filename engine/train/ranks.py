"""One process or many: what the training loop asks of the others, over PyTorch's DistributedDataParallel.

`torchrun -m engine pretrain ...` starts the processes. Every rank draws the same step, takes its share of the
step's tokens, and the gradients are summed, so a step means the same whatever the number of ranks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn


class Ranks:
    """A process alone. Its sums are its own."""

    rank = 0
    world_size = 1
    seeds: tuple[int, ...] = ()  # more numbers for the randomness that differs between ranks: dropout

    @property
    def is_first(self) -> bool:
        """Whether this process writes the run folder."""
        return self.rank == 0

    def wrap(self, model: nn.Module) -> nn.Module:
        """Return what to call for a forward pass, so that gradients are shared."""
        return model

    def quiet(self, wrapped: nn.Module, is_partial: bool) -> AbstractContextManager[Any]:
        """Return a context in which gradients are only gathered, when more parts of the step follow."""
        return nullcontext()

    def total(self, values: Tensor) -> Tensor:
        """Return the sum over all ranks."""
        return values

    def agreed(self, value: float) -> float:
        """Return the first rank's value, the same on all ranks."""
        return value

    def wait(self) -> None:
        """Return when every rank is here."""


class _Together(Ranks):
    """One of several processes that torchrun started."""

    def __init__(self) -> None:
        import torch.distributed as dist

        self._dist = dist
        self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
        self.seeds = (self.rank,) if self.rank else ()
        self._device = torch.device("cuda") if dist.get_backend() == "nccl" else torch.device("cpu")

    def wrap(self, model: nn.Module) -> nn.Module:
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(model, find_unused_parameters=False)  # BERT has no buffers

    def quiet(self, wrapped: nn.Module, is_partial: bool) -> AbstractContextManager[Any]:
        return wrapped.no_sync() if is_partial else nullcontext()  # type: ignore[operator,union-attr,no-any-return]

    def total(self, values: Tensor) -> Tensor:
        summed = values.detach().to(self._device, torch.float64, copy=True)
        self._dist.all_reduce(summed)
        return summed.to(values.device, values.dtype)

    def agreed(self, value: float) -> float:
        told = torch.tensor([value], dtype=torch.float64, device=self._device)
        self._dist.broadcast(told, 0)
        return float(told)

    def wait(self) -> None:
        self._dist.barrier()


ALONE = Ranks()


@contextmanager
def joined_ranks() -> Iterator[Ranks]:
    """Give the ranks that torchrun's environment tells of; this process alone where it tells of none."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield ALONE
        return
    import torch.distributed as dist

    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    dist.init_process_group("nccl" if on_gpu else "gloo")
    try:
        yield _Together()
    finally:
        dist.destroy_process_group()
