"""BERT without a window: text in, trained model out. Nothing in this package may import Qt or `app`.

Import it before torch: OpenMP's threads, which torch computes with, read how to wait for one another only
once. By default they spin, and beside another busy program they then take many times as long (two trainings
at once: over 20 times, instead of twice). A short spin costs a tenth on an idle machine and shares a busy one
fairly.

Import it before a thread begins, too: a thread keeps the memory arena that it began with.

What a notebook needs stands in `__all__` and is told in engine/README.md; it is loaded at its first use.
"""

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.library import (
        attention,
        attribute,
        embed,
        evaluate,
        fill_mask,
        fine_tune,
        load,
        predict,
        read_table,
        tokenize,
    )

__all__ = [
    "attention",
    "attribute",
    "embed",
    "evaluate",
    "fill_mask",
    "fine_tune",
    "load",
    "predict",
    "read_table",
    "tokenize",
]

if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")


def _keep_memory() -> None:
    """Ask glibc to keep freed memory: giving it back and taking it again costs 100,000 page faults a step."""
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return  # musl and others: slower, not wrong
    mallopt(-3, 32 * 2**20)  # M_MMAP_THRESHOLD, its largest value
    mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD
    mallopt(-8, 1)  # M_ARENA_MAX: a worker thread's own arena would be cut back at every large tensor


_keep_memory()


def __getattr__(name: str) -> Any:
    if name in __all__:
        from engine import library  # here: it brings torch with it

        return getattr(library, name)
    raise AttributeError(f"module 'engine' has no attribute {name!r}")
