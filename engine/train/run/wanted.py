"""What somebody wants of a run that trains in another process: a file in its folder, heard at its next yield.

The same file asks a run that trains on another computer: whoever mirrors that run here passes it on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import cast

from engine.durable import write_text
from engine.errors import RunError, UserError, marked
from engine.events import Beat, Event
from engine.files import read_regular
from engine.train.run.runs import CONFIG

WANTED = "wanted"  # the file
PAUSE, STOP, GO = "pause", "stop", "go"  # what it may say; GO: on, after a pause
FETCH = "fetch"  # of a run on another computer: its weights as they are there now
LOOK_S = 0.2  # between two looks
_MOST = 64  # bytes


def want(run_dir: Path, what: str) -> None:
    """Ask a run to pause, to go on, or to stop and keep what it has. Raises: RunError, UserError."""
    if not (run_dir / CONFIG).is_file():
        raise RunError(
            marked("engine", "{path} is not a run folder: it has no config.toml. Start the run again."),
            path=run_dir,
        )
    write_text(run_dir / WANTED, what)


def wanted(run_dir: Path) -> str:
    """Return what is wanted of a run; "" for nothing."""
    with suppress(UserError):
        said = read_regular(run_dir / WANTED, most=_MOST).decode(errors="replace").strip()
        return said if said in (PAUSE, STOP, GO, FETCH) else ""
    return ""


def heeded(run_dir: Path) -> None:
    """Forget what was wanted: it is done, or can no longer be."""
    with suppress(OSError):
        (run_dir / WANTED).unlink()


def obeying(
    task: Iterator[Event], run_dir: Path, most_pause_s: float = math.inf
) -> Generator[Event, None, None]:
    """Train as is wanted: pausing is not asking for the next event, stopping is closing the task.

    Args: most_pause_s: after which a pause becomes a stop, for others may wait for this process.
    """
    heeded(run_dir)  # of an earlier process that was killed
    looked = 0.0
    with closing(cast(Generator[Event, None, None], task)):
        try:
            for event in task:
                yield event
                if time.monotonic() - looked < LOOK_S:
                    continue
                until = time.monotonic() + most_pause_s
                while (what := wanted(run_dir)) == PAUSE and time.monotonic() < until:
                    time.sleep(LOOK_S)
                    yield Beat()
                if what in (PAUSE, STOP):
                    return
                looked = time.monotonic()
        finally:
            heeded(run_dir)
