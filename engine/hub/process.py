"""The child process that talks to a hub, from the side that asks.

huggingface_hub reads its surroundings as it is imported and cannot be interrupted: so each question gets a
process of its own, made for it. Closing the generator kills that process within a moment.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import asdict
from typing import Any

from engine import child
from engine.child import Line
from engine.errors import UserError, marked
from engine.events import Event
from engine.hub.asked import HubSettings, is_address


def _check_endpoint(settings: HubSettings) -> None:
    """Refuse surroundings that name no hub. Raises: UserError."""
    said = os.environ.get("HF_ENDPOINT", "")
    if said and not settings.mirror and not is_address(said):
        template = marked(
            "engine",
            "HF_ENDPOINT is {value}, which is not an address. An address begins with https:// or http://.",
        )
        raise UserError(template, value=said)


def asking(
    settings: HubSettings, question: Line, *, most_silent_s: float = 0.0
) -> Generator[Event | Line, None, Any]:
    """Ask a hub in a process of its own; yield what it tells on its way, return what it found.

    Args:   most_silent_s: after which it is killed; 0: it keeps its own time.
    Raises: UserError: what it was refused; Silent.
    """
    _check_endpoint(settings)
    around = {"HF_HUB_DISABLE_TELEMETRY": "1"}  # no hub is told what else is here
    if settings.mirror:
        around["HF_ENDPOINT"] = settings.mirror.rstrip("/")
    if settings.offline:
        around["HF_HUB_OFFLINE"] = "1"
    if settings.transport != "xet":
        around["HF_HUB_DISABLE_XET"] = "1"
    asked = question | {"settings": asdict(settings)}
    return child.asking("engine.hub", asked, around=around, most_silent_s=most_silent_s)
