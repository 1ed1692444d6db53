"""Where runs are made, and what was found there: which were cut off, and which models there are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.settings import AppSettings
from app.work.later import later
from app.work.library import LibraryContents, ModelLibrary, look
from app.work.titles import run_title
from app.work.worker import Channel, Workers
from engine.errors import UserError
from engine.events import Beat, Steps
from engine.train.run.lock import is_locked
from engine.train.run.mirrored import is_mirrored
from engine.train.run.runs import LOCK, RunState, default_root

if TYPE_CHECKING:
    from engine.remote.record import read_remote
else:
    read_remote = later("engine.remote.record", "read_remote")

MOST_TITLES = 200  # runs


class KnownRuns(QObject):
    """The folder of runs, looked through on a worker."""

    looking = Signal()
    crashed_changed = Signal()
    found = Signal()

    def __init__(
        self, settings: AppSettings, library: ModelLibrary, workers: Workers, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings, self._library, self._workers = settings, library, workers
        self.titles: dict[Path, str] = {}  # what the newest runs are called, as they were looked for last
        self.crashed: tuple[RunState, ...] = ()
        self.unfollowed: tuple[
            Path, ...
        ] = ()  # runs on other computers, started here, that nobody listens to
        self._dismissed: set[Path] = set()
        self._asked = Channel(self, workers.quick)
        library.look_wanted.connect(self.find)

    @property
    def root(self) -> Path:
        """The folder that new run folders are made in."""
        return Path(self._settings.runs_root) if self._settings.runs_root else default_root()

    def set_root(self, path: Path | str) -> None:
        """Say where new run folders are made."""
        self._settings.runs_root = str(path)
        self.find()

    def recipes_dir(self) -> Path:
        """Return the folder that mends of tables are kept in."""
        return self.root / ".recipes"

    def find(self) -> None:
        """Look, on a worker, for runs and models: what there is, and which runs were cut off."""
        known = {entry.path: entry for entry in self._library.entries}
        work = partial(_look, partial(look, self.root, self._library.recent, known))
        self._asked.ask(self.root, work, heard=self._take, again=True)
        self.looking.emit()

    def _take(self, looked: tuple[LibraryContents, dict[Path, str], tuple[Path, ...]]) -> None:
        found, self.titles, self.unfollowed = looked
        self._library.set_found(found.entries)
        cut_off = (run for run in found.runs if run.state == "crashed")
        self._set_crashed(tuple(run for run in cut_off if run.path not in self._dismissed))
        if found.problem is not None:
            self._workers.problem.emit(found.problem)
        self.found.emit()

    def dismiss(self, path: Path) -> None:
        """Do not offer a run again in this session."""
        self._dismissed.add(path)
        self._set_crashed(tuple(run for run in self.crashed if run.path != path))

    def _set_crashed(self, left: tuple[RunState, ...]) -> None:
        if left != self.crashed:
            self.crashed = left
            self.crashed_changed.emit()


def _look(
    looking: Callable[[], Steps[LibraryContents]],
) -> Steps[tuple[LibraryContents, dict[Path, str], tuple[Path, ...]]]:
    """Return what there is, what the newest runs are called, for which their files are read, and which of
    them train on another computer unheard.
    """
    found = yield from looking()
    titles = dict[Path, str]()
    for run in found.runs[:MOST_TITLES]:
        titles[run.path] = run_title(run.path)
        yield Beat()
    running = (run.path for run in found.runs if run.state == "running" and is_mirrored(run.path))
    return found, titles, tuple(path for path in running if _may_be_followed(path))


def _may_be_followed(run_dir: Path) -> bool:
    """Whether nobody follows a run of another computer, and it was started by this person."""
    try:
        read_remote(run_dir)
    except UserError:
        return False
    return not is_locked(run_dir / LOCK)
