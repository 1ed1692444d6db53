"""Whether a run on another computer is heard just now."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import Sentence
from engine.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact(Event):
    """A host was reached, is not reached any more, or tells another state of the run.

    since: seconds since 1970 at which it was last heard, where it is not connected. state: of the run there,
    as last heard: waiting (for SLURM, or to be started), running, paused, finished, stopped, failed, crashed.
    """

    host: str
    is_connected: bool
    since: float
    state: str
    why: Sentence | None = None  # it is not connected: as ssh says it

    def said(self) -> Sentence:
        """Return it for a person: "Not connected to gpu1 since 14:02; the run goes on there."."""
        raise NotImplementedError
