"""Python's collection of reference cycles, on the window's thread alone.

Python collects on whichever thread happens to allocate, and a collection destroys what it finds: a widget
whose last cycle is found by a worker is destroyed beside the window that paints, which can end the program.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 200
LONG_S = 0.02  # of a collection, during which no thread does anything


class GarbageCollector(QObject):
    """Collects by a timer, at Python's own thresholds, as long as it lives; Python itself does no more."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()
        self.destroyed.connect(gc.enable)

    def collect(self) -> None:
        """Collect the oldest generation whose threshold is passed, unless collecting is put off."""
        if _put_off.is_set():
            return
        counted = zip(gc.get_count(), gc.get_threshold(), strict=True)
        due = [generation for generation, (count, most) in enumerate(counted) if count > most]
        if due:
            gc.collect(due[-1])


def leave_what_is_there() -> None:
    """Look no more at what is there now, nor at what a long collection finds in use: it is there to stay.

    A full collection over all that torch brings held every thread for 0.6 s.
    """
    gc.collect()
    gc.freeze()
    if _leave_in_peace not in gc.callbacks:
        gc.callbacks.append(_leave_in_peace)


@contextmanager
def put_off() -> Iterator[None]:
    """Collect nothing meanwhile, on any thread; what is there at the end is there to stay."""
    was_enabled = gc.isenabled()
    _put_off.set()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        _put_off.clear()
        if was_enabled:
            gc.enable()


def _leave_in_peace(phase: str, about: Mapping[str, int]) -> None:
    if about["generation"] == 2:
        if phase == "start":
            _collection.began = time.thread_time()
        elif time.thread_time() - _collection.began > LONG_S:
            gc.freeze()


_put_off = threading.Event()
_collection = threading.local()  # a collection begins and ends on one thread
