"""One process or many: what the training loop asks of the others, over PyTorch's DistributedDataParallel.

`torchrun -m engine pretrain ...`, or finetune, starts the processes. Every rank draws the same step, takes
its share of the step's tokens, and the gradients are summed, so a step means the same whatever the number of
ranks.

The first rank reads, prepares and settles on a device; till then the others only look at torchrun's store now
and then, for a group that was formed would lose patience. In the group, gradients go the fast way, whose
patience is short; all else goes over gloo, which waits as long as the first rank measures or saves.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from engine.device import Device, gpu, open_device, setting_of
from engine.errors import ConfigError, RunError, UserError, marked
from engine.events import Beat, Event
from engine.settings.shared import DeviceConfig

GRADIENTS_WAIT = timedelta(minutes=30)  # for a rank that is as far as the others
OTHERS_WAIT = timedelta(days=7)  # while the first one measures or saves; a rank that died is noticed at once
_LOOK_S = 0.2  # between two looks into the store
_REASON_S = 3.0  # that a rank which died is given to have told why
_SETTLED, _READY, _FAULT, _LEFT = "cloze/settled", "cloze/ready", "cloze/fault", "cloze/left"
_MOST_REASON = 300  # characters


class PeerLost(RunError):
    """Another process of the run ended before its time, and so does this one."""


class Ranks:
    """A process alone. Its sums are its own."""

    rank = 0
    world_size = 1
    seeds: tuple[int, ...] = ()  # more numbers for the randomness that differs between ranks: dropout

    @property
    def is_first(self) -> bool:
        """Whether this process writes the run folder."""
        return self.rank == 0

    def check(self, device: Device) -> None:
        """Refuse more processes than there are devices of this kind. Raises: ConfigError."""

    def told(self, config: DeviceConfig) -> Generator[Event, None, Device]:
        """Wait until the first rank has prepared everything, and return the device that it settled on."""
        raise AssertionError("nobody tells the first one")
        yield

    def join(self, device: Device) -> Iterator[Event]:
        """Form the group; the first one tells the others its device by that. All have read what they need."""
        yield from ()

    def watched(self, task: Iterator[Event]) -> Iterator[Event]:
        """Run a task that works with the others. Raises: PeerLost, with its reason, if one is gone."""
        yield from task

    def blamed(self, error: BaseException) -> PeerLost:
        """Return what the run's files say of this rank's own fault."""
        return _failed(self.rank, _in_words(error), self.world_size)

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

    def gathered(self, value: Any) -> list[Any]:
        """Return each rank's value, in their order."""
        return [value]

    def share(self, chosen: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return this rank's share of a step, as good as equal in tokens, longest first.

        Args: chosen: the step's examples, at least as many as there are ranks. lengths: tokens of each.
        """
        longest_first = np.argsort(-lengths, kind="stable")
        order, lengths = chosen[longest_first], lengths[longest_first]
        if self.world_size == 1:
            return order
        middles = np.cumsum(lengths) - lengths / 2
        owner = (middles * self.world_size / lengths.sum()).astype(int)
        if len(np.unique(owner)) < self.world_size:  # a few examples of very different lengths
            owner = np.arange(len(order)) % self.world_size
        own: np.ndarray = order[owner == self.rank]
        return own


class _Together(Ranks):
    """One of several processes that torchrun started."""

    def __init__(self, store: Any, rank: int, world_size: int) -> None:
        import torch.distributed as dist

        self._dist, self._store = dist, store
        self.rank, self.world_size = rank, world_size
        self.seeds = (rank,) if rank else ()
        self._control: Any = None

    # --- before there is a group -----------------------------------------------------------------

    def check(self, device: Device) -> None:
        beside = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
        if device.device.type != "cpu" and beside > gpu().device_count():
            raise ConfigError(
                marked(
                    "engine",
                    "{count} processes were started on this machine, which has {gpus} GPUs, and each "
                    "needs its own. Start fewer, or compute on the processor with --set device=cpu.",
                ),
                field="device",
                count=beside,
                gpus=gpu().device_count(),
            )

    def told(self, config: DeviceConfig) -> Generator[Event, None, Device]:
        while not self._store.check([_SETTLED]):
            if self._store.check([_FAULT]) or self._store.check([_LEFT]):
                raise self._lost()
            yield Beat()
            time.sleep(_LOOK_S)
        device = open_device(replace(config, **json.loads(self._store.get(_SETTLED))))
        self.check(device)
        return device

    def join(self, device: Device) -> Iterator[Event]:
        if self.is_first:
            self._store.set(_SETTLED, json.dumps(settled(device)))
        self._store.add(_READY, 1)
        while self._store.add(_READY, 0) < self.world_size:
            if self._store.check([_FAULT]):
                raise self._lost()
            yield Beat()
            time.sleep(_LOOK_S)
        from torch.distributed.distributed_c10d import PrefixStore

        on_gpu = device.device.type != "cpu"
        if on_gpu:
            gpu().set_device(int(os.environ.get("LOCAL_RANK", "0")))
        self._dist.init_process_group(
            "nccl" if on_gpu else "gloo",
            store=PrefixStore("cloze/group", self._store),
            rank=self.rank,
            world_size=self.world_size,
            timeout=GRADIENTS_WAIT,
        )
        self._control = self._dist.new_group(backend="gloo", timeout=OTHERS_WAIT)

    # --- when one is gone ------------------------------------------------------------------------

    def watched(self, task: Iterator[Event]) -> Iterator[Event]:
        try:
            yield from task
        except RuntimeError as error:
            if not is_lost_peer(error):
                raise
            raise self._lost(_REASON_S if self.is_first else 0.0) from error

    def tell(self, error: BaseException) -> None:
        """Leave in the store why this rank ends; the first reason stands."""
        if isinstance(error, PeerLost | GeneratorExit | KeyboardInterrupt):
            return
        fault = {"rank": self.rank, "reason": _in_words(error)}
        with suppress(RuntimeError):  # the store may be gone as well
            self._store.compare_set(_FAULT, "", json.dumps(fault))

    def part(self) -> None:
        """Wait until all have ended.

        WORKAROUND: gloo's threads may still hold a tensor of what was summed last; one that lets go of it
        while Python ends its process aborts that. Nothing is held of what comes before a barrier.
        """
        if self._dist.is_initialized():
            with suppress(RuntimeError):  # another is gone: the work of this one is done all the same
                self._dist.barrier(group=self._control)

    def leave(self) -> None:
        """Leave the group, or say that there will be none."""
        with suppress(RuntimeError):
            if self.is_first:
                self._store.set(_LEFT, "")
        if self._dist.is_initialized():
            self._dist.destroy_process_group()

    def _lost(self, patience_s: float = 0.0) -> PeerLost:
        """Return what is known of the rank that is gone."""
        until = time.monotonic() + patience_s
        with suppress(RuntimeError, ValueError):
            while not self._store.check([_FAULT]) and time.monotonic() < until:
                time.sleep(_LOOK_S)
            if self._store.check([_FAULT]):
                return _failed(**json.loads(self._store.get(_FAULT)), count=self.world_size)
        return PeerLost(
            marked(
                "engine",
                "Another of the {count} processes of this run was killed or cannot be reached, "
                "so all of them ended. The last checkpoint is kept.",
            ),
            count=self.world_size,
        )

    # --- in the group ----------------------------------------------------------------------------

    def wrap(self, model: nn.Module) -> nn.Module:
        from torch.nn.parallel import DistributedDataParallel

        # BERT has no buffers; gradients lie where they are summed, and are not copied there and back
        return DistributedDataParallel(model, find_unused_parameters=False, gradient_as_bucket_view=True)

    def quiet(self, wrapped: nn.Module, is_partial: bool) -> AbstractContextManager[Any]:
        return wrapped.no_sync() if is_partial else nullcontext()  # type: ignore[operator,union-attr,no-any-return]

    def total(self, values: Tensor) -> Tensor:
        summed = values.detach().to(torch.float64, copy=True)
        self._dist.all_reduce(summed, group=self._control if values.is_cpu else None)
        return summed.to(values.dtype)

    def agreed(self, value: float) -> float:
        told = torch.tensor([value], dtype=torch.float64)
        self._dist.broadcast(told, 0, group=self._control)
        return float(told)

    def gathered(self, value: Any) -> list[Any]:
        found: list[Any] = [None] * self.world_size
        self._dist.all_gather_object(found, value, group=self._control)
        return found


ALONE = Ranks()


def _in_words(error: BaseException) -> str:
    said = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    return said[:_MOST_REASON]


def _failed(rank: int, reason: str, count: int) -> PeerLost:
    return PeerLost(
        marked(
            "engine",
            "Process {rank} of {count} failed, so all of them ended. The last checkpoint is "
            "kept. Its message: {reason}",
        ),
        rank=rank,
        count=count,
        reason=reason,
    )


def num_ranks() -> int:
    """Return how many processes torchrun's environment tells of; 1 where it tells of none."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_restarted() -> bool:
    """Whether torchrun started these processes again, after their first ones failed."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0


def check_alone() -> None:
    """Refuse more than one process for work that is not shared. Raises: RunError."""
    if num_ranks() > 1:
        raise RunError(
            marked(
                "engine",
                "{count} processes were started, but only pretraining and fine-tuning can share "
                "several. Start this one without torchrun: python -m engine ...",
            ),
            count=num_ranks(),
        )


def settled(device: Device) -> dict[str, Any]:
    """Return what the others need to open a device like this one, as values of `DeviceConfig`."""
    return {
        "device": setting_of(device.device),
        "precision": str(device.precision).removeprefix("torch."),
        "kernels": device.kernels,
        "num_threads": device.num_threads,
        "micro_batch_tokens": device.micro_batch_tokens,
    }


def is_lost_peer(error: RuntimeError) -> bool:
    """Whether an error says that another process is gone. PyTorch has no kind of its own for most of them."""
    import torch.distributed as dist

    said = str(error).lower()
    words = ("closed by peer", "connection reset", "broken pipe", "gloo", "nccl", "timed out waiting")
    return isinstance(error, dist.DistError) or any(word in said for word in words)


@contextmanager
def joined_ranks() -> Iterator[Ranks]:
    """Give the ranks that torchrun's environment tells of; this process alone where it tells of none."""
    if num_ranks() < 2:
        yield ALONE
        return
    from torch.distributed.rendezvous import rendezvous

    ranks = _Together(*next(iter(rendezvous("env://"))))
    try:
        yield ranks
    except BaseException as error:
        ranks.tell(error)
        raise
    else:
        ranks.part()
    finally:
        ranks.leave()
