"""What a computer has that trains: cores, memory, GPUs, torch, room on its disk, and which Cloze."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from engine.errors import Sentence, listed, marked
from engine.settings.values import kinds_of

PACKAGE = "cloze-workbench"
_ENDINGS = (".py", ".ts")  # of the files that are the program
_ROOT = Path(__file__).parents[2]
_PACKAGED = "v"  # begins what a packaged program calls itself
LONGEST = 200  # characters of what another computer says of itself
MOST_GPUS = 1024
LOOK_S = 20.0  # that a driver may take to list its GPUs


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer:
    """A computer as it says itself; "" and 0 for what it could not say.

    program: which Cloze is there, a hash of its source; "" for none. version: of it, as pip says it.
    python: the newest there is. gpus: their names. free_bytes: where runs are kept.
    """

    name: str = ""
    system: str = ""
    num_cores: int = 0
    memory_bytes: int = 0
    gpus: tuple[str, ...] = ()
    torch: str = ""
    python: str = ""
    program: str = ""
    version: str = ""
    free_bytes: int = 0
    has_slurm: bool = False

    @property
    def has_cloze(self) -> bool:
        """Whether the same Cloze as here is there."""
        here = program()  # a packaged one knows its version alone
        return bool(self.program) and here in (self.program, f"{_PACKAGED}{self.version}")

    def said(self) -> Sentence:
        """Return the computer in one sentence, for a person."""
        values = {
            "name": self.name,
            "cores": self.num_cores,
            "memory": round(self.memory_bytes / 2**30),
            "gpus": listed(self.gpus),
            "free": round(self.free_bytes / 2**30),
        }
        if self.gpus:
            return Sentence(
                marked(
                    "engine",
                    "{name} has {cores} cores, {memory} GB of memory, {free} GB free on its disk, and these "
                    "GPUs: {gpus}.",
                ),
                values,
            )
        return Sentence(
            marked(
                "engine",
                "{name} has {cores} cores, {memory} GB of memory, {free} GB free on its disk, and no GPU.",
            ),
            values,
        )

    def document(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return asdict(self)


def computer_from(document: Mapping[str, Any]) -> Computer:
    """Return what another computer says of itself, each field held to what it can be."""
    found = Computer()
    known = Computer.__dataclass_fields__
    for name, value in document.items():
        with suppress(TypeError, ValueError, KeyError, OverflowError):
            made = kinds_of(Computer, {name: value}) if name in known else {}
            found = Computer(**{**asdict(found), **{one: _bounded(said) for one, said in made.items()}})
    return found


def _bounded(value: Any) -> Any:
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, tuple):
        return tuple(one[:LONGEST] for one in value[:MOST_GPUS])
    return value


def this_computer(folder: Path | None = None) -> Computer:
    """Return what this computer has. Args: folder: where runs are kept."""
    place = folder or Path.home()
    there = next(one for one in (place, *place.absolute().parents) if one.exists())
    return Computer(
        name=platform.node(),
        system=f"{platform.system()} {platform.machine()}",
        num_cores=num_cores(),
        memory_bytes=_memory(),
        gpus=gpus(),
        torch=_version("torch"),
        python=platform.python_version(),
        program=program(),
        version=_version(PACKAGE),
        free_bytes=shutil.disk_usage(there).free,
        has_slurm=shutil.which("sbatch") is not None,
    )


def num_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gpus() -> tuple[str, ...]:
    """Return the names of the GPUs that this process may use, as their driver lists them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and not visible.strip():
        return ()
    command = shutil.which("nvidia-smi")
    if command is None:
        return ()
    try:
        words = [command, "--query-gpu=name", "--format=csv,noheader"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=LOOK_S, check=True)
    except (OSError, subprocess.SubprocessError, ValueError):
        return ()
    found = tuple(line.strip() for line in done.stdout.splitlines() if line.strip())
    return found if visible is None else found[: len(visible.split(","))]


@cache
def program() -> str:
    """Return which Cloze this is: a hash of its source, so that two are alike only where all of it is; a
    packaged program, which has none, says its version.
    """
    package, whole = _ROOT / "engine", hashlib.sha256()
    files = sorted(file for file in package.rglob("*") if file.suffix in _ENDINGS)
    if not any(file.suffix == ".py" for file in files):
        return f"{_PACKAGED}{_version(PACKAGE)}"
    for file in files:
        whole.update(file.relative_to(package).as_posix().encode() + b"\0")
        whole.update(hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:16]


def source_root() -> Path | None:
    """Return the folder that holds this program's packages; None for a packaged program."""
    return None if getattr(sys, "frozen", False) else _ROOT


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
