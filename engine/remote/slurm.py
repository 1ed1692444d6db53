"""SLURM, as far as a run needs it: submitted, asked for its state, cancelled, put into the queue again.

The run folder says how a run is, not SLURM: sacct may be off, and squeue forgets a job when it has ended.
Source: the manual pages of sbatch, squeue, scancel and scontrol, SLURM 22.05.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from engine.errors import UserError, marked

BEFORE_END_S = 120  # before its time is over, a run is asked to keep what it has
ASK_S = 60.0  # that SLURM may take for an answer
_ID = re.compile(r"\d+")
_WAITING = frozenset(
    ("PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD")
)
_RUNNING = frozenset(
    ("RUNNING", "COMPLETING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED", "SUSPENDED")
)  # what has ended is none of both


def script_of(name: str, log: Path, words: Sequence[str]) -> str:
    """Return the batch script of a run. It is told `BEFORE_END_S` before its time is over, by SIGUSR1, and
    SLURM may begin it again.
    """
    lines = [
        "#!/bin/sh",
        f"#SBATCH --job-name={name}",
        f"#SBATCH --output={log}",
        "#SBATCH --open-mode=append",
        "#SBATCH --requeue",
        f"#SBATCH --signal=B:USR1@{BEFORE_END_S}",
        f"exec {shlex.join(words)}",
    ]
    return "\n".join(lines) + "\n"


def submit(script: Path, options: Sequence[str]) -> str:
    """Return the id of a script's job. Raises: UserError: what sbatch said."""
    said = _asked(["sbatch", "--parsable", *options, str(script)])
    found = said.strip().split(";")[0]  # on a cluster of clusters its name follows
    if not _ID.fullmatch(found):
        raise _refused("sbatch", said)
    return found


def job_named(name: str) -> str:
    """Return the id of the job of this name that has not ended; "" for none."""
    ids = _asked(["squeue", "--noheader", "--name", name, "--format", "%A"]).split()
    return ids[-1] if ids and _ID.fullmatch(ids[-1]) else ""


def state_of(job: str) -> str:
    """Return "waiting" or "running"; "" for a job that has ended. Raises: UserError: there is no answer."""
    try:
        said = _asked(["squeue", "--noheader", "--jobs", job, "--format", "%T"]).split()
    except UserError as error:
        if "Invalid job id" in str(error):  # it has been forgotten
            return ""
        raise
    if any(one in _RUNNING for one in said):
        return "running"
    return "waiting" if any(one in _WAITING for one in said) else ""


def cancel(job: str) -> None:
    """End a job, whether it waits or runs. Raises: UserError."""
    _asked(["scancel", job])


def requeue() -> None:
    """Have the job that this process belongs to begin again, in a time of its own. Raises: UserError."""
    _asked(["scontrol", "requeue", os.environ.get("SLURM_JOB_ID", "")])


def num_nodes() -> int:
    """Return over how many nodes the job of this process goes; 0 where it belongs to none."""
    said = os.environ.get("SLURM_JOB_NUM_NODES", "0")
    return int(said) if said.isdecimal() else 0


def first_node() -> str:
    """Return the name of the first of them. Raises: UserError."""
    nodes = os.environ.get("SLURM_JOB_NODELIST", "")
    return _asked(["scontrol", "show", "hostnames", nodes]).split()[0]


def _asked(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=ASK_S
        )
    except FileNotFoundError:
        raise UserError(
            marked("engine", "There is no SLURM: the command {name} was not found."), name=words[0]
        ) from None
    except subprocess.TimeoutExpired:
        raise UserError(
            marked("engine", "SLURM did not answer within {seconds:.0f} s ({name})."),
            name=words[0],
            seconds=ASK_S,
        ) from None
    if done.returncode:
        raise _refused(words[0], done.stderr or done.stdout)
    return done.stdout


def _refused(name: str, said: str) -> UserError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return UserError(
        marked("engine", "{name} refused: {reason}"), name=name, reason=lines[-1] if lines else "?"
    )
