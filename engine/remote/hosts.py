"""The computers that can be named: those of ~/.ssh/config, and what is remembered of each: never a secret."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """What a person has said of a host. slurm: options of sbatch, such as "--partition=gpu --gpus=2
    --time=4:00:00", or "" where runs start at once; python: there, with Cloze in it; folder: there, in which
    all that is Cloze's lies.
    """

    slurm: str = ""
    python: str = ""
    folder: str = "~/.cloze"


def hosts() -> tuple[str, ...]:
    """Return the hosts that ~/.ssh/config names, those it includes among them, without patterns."""
    raise NotImplementedError


def check_host(host: str) -> str:
    """Return a host's name if ssh can take it for one. Raises: UserError."""
    raise NotImplementedError


def settings_of(host: str) -> HostSettings:
    """Return what is remembered of a host."""
    raise NotImplementedError


def remember(host: str, settings: HostSettings) -> None:
    """Remember the settings of a host. Raises: UserError."""
    raise NotImplementedError
