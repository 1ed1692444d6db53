"""What the page asks of workers: plain functions, none of which touches a widget."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QFile

from app.words import translate
from app.work.later import later
from engine.errors import UserError, marked
from engine.events import Event
from engine.remote.contact import Contact
from engine.remote.record import last_contact
from engine.runs.curves import SCORE, Curves, RunCurve, band_of, read_curves
from engine.runs.facts import RunFacts, stamp_of
from engine.runs.groups import ListedRun, ScoreColumn, listed
from engine.runs.index import index_of
from engine.runs.marks import set_marks
from engine.runs.slim import slim
from engine.train.run.lock import is_locked
from engine.train.run.runs import LOCK

if TYPE_CHECKING:
    from engine.runs.versus import Versus, versus
else:
    versus = later("engine.runs.versus", "versus")

MOST_KEPT = 100  # curves of runs, some 0.2 MB each


@dataclass(frozen=True, slots=True)
class CurveRequest:
    """A ticked line whose curves are wanted."""

    letter: str
    name: str
    paths: tuple[str, ...]
    metric: str


@dataclass(frozen=True, slots=True, eq=False)
class CurveLine:
    """A ticked line as it is drawn. num_runs: that had something to draw."""

    letter: str
    name: str
    steps: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    num_runs: int


class CurveStore:
    """Curves that have been read, as long as their files stay what they were. A worker's alone."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, Curves]] = {}

    def read(self, path: str) -> Generator[Event, None, Curves]:
        """Return the curves of a run."""
        stamp, known = stamp_of(Path(path)), self._kept.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        found = yield from read_curves(Path(path))
        while len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[path] = (stamp, found)
        return found


@dataclass(frozen=True, slots=True)
class ReadRuns:
    """All runs under a root. heard: how those stand that train on other computers, by their paths."""

    runs: tuple[ListedRun, ...] = ()
    heard: Mapping[str, Contact] = field(default_factory=dict)


def read_runs(root: Path) -> Generator[Event, None, ReadRuns]:
    """Return all runs under a root."""
    runs, heard = listed((yield from index_of(root))), dict[str, Contact]()
    for run in runs:
        contact = last_contact(Path(run.facts.path)) if run.facts.host else None
        if contact is not None and run.facts.state == "running":
            # one that is heard now is the same a moment later
            heard[run.facts.path] = replace(contact, since=0.0) if contact.is_connected else contact
    return ReadRuns(runs, heard)


def draw_curves(
    store: CurveStore, asked: Sequence[CurveRequest], what: str
) -> Generator[Event, None, tuple[CurveLine, ...]]:
    """Return the lines of all that is ticked. Args: what: LOSS of training, or SCORE on validation rows."""
    found = []
    for one in asked:
        curves = list[RunCurve]()
        for path in one.paths:
            read = yield from store.read(path)
            curve = read.validation.get(one.metric) if what == SCORE else read.train.get(what)
            if curve is not None and curve.size:
                curves.append(curve)
        band = band_of(curves, smooth=what != SCORE)
        found.append(CurveLine(one.letter, one.name, band.steps, band.mean, band.spread, len(curves)))
    return tuple(found)


def compare(first: tuple[RunFacts, ...], second: tuple[RunFacts, ...], measure: ScoreColumn) -> Versus | None:
    """Return whether the second is better than the first."""
    return versus(first, second, measure)


def mark(paths: Sequence[str], changes: dict[str, Any]) -> None:
    """Write name, note or tags of runs. Raises: UserError."""
    for path in paths:
        set_marks(Path(path), **changes)


def slim_runs(root: Path, paths: Sequence[str]) -> int:
    """Delete the checkpoints of runs; return how many bytes are free then. Raises: UserError, and the runs
    after that one stay as they are.
    """
    return sum(slim(root, Path(path)) for path in paths)


def move_to_bin(paths: Sequence[str]) -> int:
    """Move runs to the bin; return how many. Raises: UserError, and what was not moved stays."""
    for path in paths:
        if is_locked(Path(path) / LOCK):
            raise UserError(
                marked("engine", "{path} is in training. Stop it before deleting. Nothing was deleted."),
                path=Path(path),
            )
    for number, path in enumerate(paths):
        if not QFile.moveToTrash(path):
            raise UserError(
                translate(
                    "runs", "{path} could not be moved to the bin and stays. {count} were moved before it."
                ),
                path=Path(path),
                count=number,
            )
    return len(paths)
