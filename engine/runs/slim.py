"""Runs that have ended are made slim: what only going on needs is deleted, what was learned stays.

A run keeps two checkpoints, each with the weights and two moments of the optimizer, so that it can go on; its
model has the best weights beside them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.errors import RunError, marked
from engine.runs.facts import size_of
from engine.runs.queue import jobs_in
from engine.train.run.runs import CHECKPOINTS, MODEL, run_info

ENDED, WEIGHTS = ("finished", "stopped"), "model.safetensors"


def spare(run: Path, state: str) -> int:
    """Return how many bytes slimming a run sets free; 0 where it has not ended, or left no model."""
    has_model = (run / MODEL / "config.json").is_file() and (run / MODEL / WEIGHTS).is_file()
    return size_of(run / CHECKPOINTS) if state in ENDED and has_model else 0


def slim(root: Path, run: Path) -> int:
    """Delete the checkpoints of a run; return how many bytes that set free.

    Args:   root: where runs are kept, with their queue.
    Raises: RunError if it has nothing to spare, is in training, or waits in the queue to go on.
    """
    from engine.train.run.folder import Run  # here: it brings torch with it, and a window needs none

    if any(job.is_open and job.run == run.name for job in jobs_in(root)):
        raise RunError(
            marked("engine", "{path} waits in the queue and needs its checkpoints to continue."), path=run
        )
    with Run.reopen(run) as held:
        state = run_info(run).state
        freed = spare(run, state)
        if not freed:
            raise RunError(marked("engine", "{path} has no checkpoints that can be deleted."), path=run)
        shutil.rmtree(run / CHECKPOINTS)
        held.set_status(state)
    return freed
