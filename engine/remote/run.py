"""A run that trains on another computer and is mirrored into a folder here, which says where it lives.

The run folder here is a run as any other: settings, curves, scores and, at the end, weights. Two files of it are
not mirrored: remote.json says where the run is trained, mirror.json how far it has been heard. Every function
may be killed, or its generator closed, at any moment: `follow` then goes on where it was. Closing detaches; the
run goes on there. Stop and pause are wishes in the folder (engine/train/run/wanted.py), passed on by whoever
follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.events import Event, Steps
from engine.remote.computer import Computer
from engine.remote.contact import Contact
from engine.train.run.runs import AnyConfig


def look_at(host: str) -> Steps[Computer]:
    """Connect to a host and return what it has. Raises: UserError: what ssh said, in one sentence."""
    raise NotImplementedError
    yield


def install(host: str) -> Steps[Computer]:
    """Install the Cloze that runs here on a host, in a folder of its own there; return what it has then.

    Raises: UserError.
    """
    raise NotImplementedError
    yield


def train_there(
    config: AnyConfig, run_dir: Path, host: str, *, slurm: str | None = None, fetches: bool = True
) -> Iterator[Event]:
    """Train on a host: check it, send what is missing there, start, and follow until the run's end.

    Nothing is made here before the host was reached and has Cloze. Closing detaches once it is started.
    Args:   run_dir: a new folder here. slurm: options of sbatch; None: those remembered of the host.
            fetches: whether the weights come at the end; else `fetch` does.
    Raises: UserError.
    """
    raise NotImplementedError
    yield


def follow(run_dir: Path, *, told: int | None = None) -> Iterator[Event]:
    """Mirror a run until it has ended there, reconnecting as long as that takes, and tell what it says.

    Yields `Contact` whenever that changes, `Progress` while it sends or waits, `Fetched` for weights, and what
    the run says, `Finished` at the very end, when the weights are here. A run that crashed there is started
    again from its checkpoint.
    Args:   told: the bytes of metrics.jsonl whose events are known already; None: all that is there.
    Raises: UserError: it failed there (with its reason), is not remote, or is followed by another process.
    """
    raise NotImplementedError
    yield


def resume_there(run_dir: Path) -> Iterator[Event]:
    """Go on with a run there that was stopped, failed, crashed or paused, and follow it. Raises: UserError."""
    raise NotImplementedError
    yield


def fetch(run_dir: Path, *, everything: bool = False) -> Iterator[Event]:
    """Fetch the weights as they are there now; everything: the kept weights and checkpoints, too.

    Raises: UserError.
    """
    raise NotImplementedError
    yield


def host_of(run_dir: Path) -> str:
    """Return the host on which a run is trained; "" for one of this computer."""
    raise NotImplementedError


def last_contact(run_dir: Path) -> Contact | None:
    """Return what was last heard of a remote run, from its folder alone; None for a run of this computer."""
    raise NotImplementedError


def is_followed(run_dir: Path) -> bool:
    """Whether a process of this computer mirrors a run just now."""
    raise NotImplementedError
