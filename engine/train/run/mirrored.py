"""Which run folders mirror a run of another computer, and what was last heard of it; see engine/remote/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.files import read_json_object

REMOTE, MIRROR = "remote.json", "mirror.json"  # where it is trained; how far it was heard
MOST_MIRROR = 2**16  # bytes of either
ALIVE = ("waiting", "running", "paused")  # states there that a list of runs shows as running
ENDED = ("finished", "stopped", "failed", "crashed")


def is_mirrored(run_dir: Path | str) -> bool:
    """Whether a run is trained on another computer."""
    return os.path.isfile(f"{run_dir}/{REMOTE}")


def host_of(run_dir: Path) -> str:
    """Return the host on which a run is trained; "" for one of this computer."""
    host = _document(run_dir / REMOTE).get("host") if is_mirrored(run_dir) else ""
    return host[:255] if isinstance(host, str) else ""


def mirrored_state(run_dir: Path) -> str:
    """Return the state of a run of another computer, as a list shows it; "" for one of this computer."""
    if not is_mirrored(run_dir):
        return ""
    state = _document(run_dir / MIRROR).get("state")
    return "running" if state in ALIVE else state if state in ENDED else "crashed"


def _document(path: Path) -> dict[str, Any]:
    try:
        return read_json_object(path, most=MOST_MIRROR)
    except UserError:
        return {}
