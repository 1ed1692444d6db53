"""Functions whose modules are imported when they are first called, by the thread that calls them.

What the window needs at once must not bring torch or pandas with it: importing them takes seconds. So what a
worker calls is named here, and the types beside it are imported for the type checker alone.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def later(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports `name` from `module` when it is called, and calls that."""

    def call(*args: Any, **values: Any) -> Any:
        return getattr(import_module(module), name)(*args, **values)

    call.__name__ = name
    return call
