"""Writing beside the training: one thing at a time on a thread, of values as they were when it was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor

from engine.device import gpu, is_out_of_memory


class Writer:
    """A thread that writes what it is given; what fails there is raised by the next call."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._writing: Future[None] | None = None

    def write(self, work: Callable[[], None]) -> None:
        """Begin `work`, when what was begun before has ended."""
        self.wait()
        self._writing = self._thread.submit(work)

    def is_done(self) -> bool:
        """Whether nothing is being written."""
        return self._writing is None or self._writing.done()

    def wait(self) -> None:
        """Wait for what is being written. Raises: what went wrong there."""
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()

    def close(self) -> None:
        """Wait, and end the thread."""
        try:
            self.wait()
        finally:
            self._thread.shutdown()


class Snapshot:
    """Tensors to be written: copied, so that they stay as they are now, or just where they lie.

    Copies of a GPU's tensors stay there until they are read; those that find no room there are the host's.
    """

    def __init__(self, tensors: Mapping[str, Tensor], is_copied: bool) -> None:
        self.tensors = {
            name: _copied(value.detach()) if is_copied else value.detach() for name, value in tensors.items()
        }
        self._made: Any = None
        if is_copied and not all(value.is_cpu for value in self.tensors.values()):
            self._made = gpu().Event()
            self._made.record()

    def reading(self) -> AbstractContextManager[Any]:
        """Return a context in which they are read beside what the GPU computes, not behind it."""
        if self._made is None:
            return nullcontext()
        stream = gpu().Stream()
        stream.wait_event(self._made)
        return gpu().stream(stream)  # type: ignore[no-any-return]


def _copied(value: Tensor) -> Tensor:
    """Return a copy where a tensor lies or, where memory has run out there, on the host."""
    try:
        return value.clone()
    except RuntimeError as error:
        if not is_out_of_memory(error) or value.device.type == "cpu":
            raise
        return value.cpu()
