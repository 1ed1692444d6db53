"""Numbers on their way from a device to the host, so that the host need not wait for what it only tells."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from engine.device import gpu


class Underway:
    """Values that a device is still computing: asked for now, read when they have arrived.

    A GPU copies them into pinned memory behind the work that makes them; on a CPU they are there at once.
    """

    def __init__(self, values: Tensor) -> None:
        self._values = values.detach().double()
        self._arrival: Any = None
        if not values.is_cpu:
            self._values = self._values.to("cpu", non_blocking=True)  # pinned, so that nobody waits for it
            self._arrival = gpu().Event()
            self._arrival.record()

    def has_arrived(self) -> bool:
        """Whether they can be read without waiting."""
        return self._arrival is None or bool(self._arrival.query())

    def read(self) -> Tensor:
        """Return them, float64 on the CPU, and wait for them if they have not arrived."""
        if self._arrival is not None:
            self._arrival.synchronize()  # for this step alone: what was launched after it goes on
        return self._values
