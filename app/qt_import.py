"""Imports Qt without what PySide does to every import that follows.

WORKAROUND: PySide6 puts an `__import__` of its own in the place of Python's. It reads the source of each
module that is imported from then on, to find out whether that wants Qt's methods by other names
(`__feature__`), and keeps it: 50 MB, and a tenth of the time that torch and the pages take. Nothing here
wants those names.
"""

from __future__ import annotations

import builtins


def import_qt() -> None:
    """Import PySide6 and leave `__import__` as it was."""
    plain = builtins.__import__
    try:
        import PySide6.QtWidgets  # noqa: F401
    finally:
        builtins.__import__ = plain
