"""Whether a run on another computer is heard just now."""

from __future__ import annotations

import time
from dataclasses import dataclass

from engine.errors import Sentence, marked
from engine.events import Event
from engine.train.run.mirrored import ALIVE

WAITING, RUNNING, PAUSED, CRASHED = "waiting", "running", "paused", "crashed"


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
        """Return it for a person: "Not connected to gpu1 since 14:02; it continues there."."""
        since, now = time.localtime(self.since), time.localtime()
        form = "%H:%M" if since[:3] == now[:3] else "%Y-%m-%d %H:%M"
        values = {"host": self.host, "time": time.strftime(form, since)}
        if not self.is_connected and self.state in ALIVE:
            return Sentence(
                marked("engine", "Not connected to {host} since {time}; it continues there."), values
            )
        if not self.is_connected:
            return Sentence(marked("engine", "Not connected to {host} since {time}."), values)
        return Sentence(_SAID.get(self.state, _SAID[CRASHED]), values)


_SAID = {
    WAITING: marked("engine", "Connected to {host}; the run is waiting to begin there."),
    RUNNING: marked("engine", "Connected to {host}; the run is training there."),
    PAUSED: marked("engine", "Connected to {host}; the run is paused there."),
    "finished": marked("engine", "The run on {host} is finished."),
    "stopped": marked("engine", "The run on {host} was stopped, and what it learned is kept."),
    "failed": marked("engine", "The run on {host} failed."),
    CRASHED: marked("engine", "The run on {host} was interrupted."),
}
