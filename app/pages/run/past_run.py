"""What a run was before it was resumed, or an earlier run as a whole, read from its files on a worker."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from app.work.page_state import MISFIT
from engine.errors import UserError
from engine.events import AnswerSoFar, Evaluated, Event, Finished, Judged, Noted, Pinned, Started, Step
from engine.runs.index import index_of
from engine.settings.pretrain import PretrainConfig
from engine.train.run.runs import RunState, read_config, read_events, run_info

CHUNK = 2_000  # events in one answer


def past_events(run_dir: Path, first_step: int | None) -> Iterator[Event]:
    """Answer with lists of the notes, of how ways were judged, and the steps, evaluations and readings before
    `first_step`, in order; None: with all there is to show.

    The run may append to the file meanwhile; what it adds is at `first_step` or after, and is heard live.
    """
    chunk: list[Event] = []
    for event in read_events(run_dir):
        if isinstance(event, Step | Evaluated | Pinned):
            keep = first_step is None or event.step < first_step
        else:
            is_end = first_step is None and isinstance(event, Started | Finished)
            keep = is_end or isinstance(event, Noted | Judged)
        if keep:
            chunk.append(event)
        if len(chunk) == CHUNK:
            yield AnswerSoFar(value=chunk)
            chunk = []
    yield AnswerSoFar(value=chunk)


def read_run(path: Path, kind: type) -> tuple[RunState, Any]:
    """Return a run and its settings. Raises: as `read_config`; UserError: they are of another kind."""
    config = read_config(path)
    if not isinstance(config, kind):
        raise UserError(MISFIT, name="run")
    return run_info(path), config


def earlier_runs(root: Path, kind: type, most: int) -> Generator[Event, None, list[RunState]]:
    """Return the newest runs of a kind under `root`; damaged ones are passed over."""
    found: list[RunState] = []
    for facts in (yield from index_of(root)):
        is_pretraining = facts.kind == "pretrain"
        if is_pretraining != (kind is PretrainConfig) or "/" in facts.folder:  # within a comparison
            continue
        path = Path(facts.path)
        with suppress(UserError):
            found.append(read_run(path, kind)[0])
        if len(found) == most:
            break
    return found
