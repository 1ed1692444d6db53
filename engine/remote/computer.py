"""What a computer has that trains: cores, memory, GPUs, torch, room on its disk, and which Cloze."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """A computer as it says itself; "" and 0 for what it could not say.

    program: which Cloze is there, a hash of its source; "" for none. python: the newest there is.
    gpus: their names. free_bytes: where runs are kept.
    """

    name: str = ""
    system: str = ""
    num_cores: int = 0
    memory_bytes: int = 0
    gpus: tuple[str, ...] = ()
    torch: str = ""
    python: str = ""
    program: str = ""
    free_bytes: int = 0
    has_slurm: bool = False

    @property
    def has_cloze(self) -> bool:
        """Whether the same Cloze as here is there."""
        raise NotImplementedError

    def said(self) -> Sentence:
        """Return the computer in one sentence, for a person."""
        raise NotImplementedError


def this_computer() -> Computer:
    """Return what this computer has."""
    raise NotImplementedError
