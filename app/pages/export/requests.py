"""What the export dialog asks a worker: one export, and what becomes of 8-bit numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.child import asking, events
from engine.events import Steps
from engine.export.targets.target import ExportedTarget, ExportTarget

if TYPE_CHECKING:
    from engine.export.int8 import Small

PATIENCE_S = 10.0  # that an export is given to take back what it began


def export(target: ExportTarget) -> Steps[ExportedTarget]:
    """Write a model for another tool; yields Progress. Raises: UserError; nothing is left then.

    In a process of its own: torch's exporter keeps Python's lock for up to a second, and the window would
    wait for it.
    """
    from engine.export.int8 import Small  # here: it brings torch's exporter, and most sessions need none

    found = yield from events(asking("engine.export", target.to_line(), patience_s=PATIENCE_S))
    path, small = Path(found["path"]), found["small"]
    waiting = small and Small(Path(small["path"]), path, tuple(small["said"]))
    return ExportedTarget(path, tuple(found["said"]), waiting)


def answer(small: Small, is_kept: bool) -> Path | None:
    """Keep 8-bit numbers or leave nothing of them; return where they are. Raises: UserError."""
    if is_kept:
        return small.keep()
    small.drop()
    return None
