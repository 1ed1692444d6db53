"""Numbers on their way from a device to the host, so that the host need not wait for what it only tells."""

from __future__ import annotations

import torch
from torch import Tensor


class Underway:
    """Values that a device is still computing: asked for now, read when they have arrived.

    A GPU copies them into pinned memory behind the work that makes them; on a CPU they are there at once.
    """

    def __init__(self, values: Tensor) -> None:
        self._values = values.detach().double()
        self._arrival: torch.cuda.Event | None = None
        if values.is_cuda:
            host = torch.empty(values.shape, dtype=torch.float64, pin_memory=True)
            self._values = host.copy_(self._values, non_blocking=True)
            self._arrival = torch.cuda.Event()
            self._arrival.record()

    def has_arrived(self) -> bool:
        """Whether they can be read without waiting."""
        return self._arrival is None or self._arrival.query()

    def read(self) -> Tensor:
        """Return them, float64 on the CPU, and wait for them if they have not arrived."""
        if self._arrival is not None:
            self._arrival.synchronize()  # for this step alone: what was launched after it goes on
        return self._values
