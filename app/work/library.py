"""Which models are on this computer: the one answer to that question, in the same order for every page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.settings import AppSettings
from app.shipped import history_run, starter_model
from engine.train.run.runs import MODEL, RunInfo

MOST_TRAINED = 50  # of the newest runs; a box is no place for hundreds


class ModelLibrary(QObject):
    """The models of this computer as far as the window knows them; it reads no folder by itself."""

    changed = Signal()

    def __init__(self, settings: AppSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.last_trained: Path | None = None
        self._trained: tuple[Path, ...] = ()  # results of the runs, newest first

    def take_runs(self, runs: Iterable[RunInfo]) -> None:
        """Learn which runs there are, the newest first."""
        found = tuple(run.path.absolute() / MODEL for run in runs)[:MOST_TRAINED]
        if found != self._trained:
            self._trained = found
            self.changed.emit()

    def folders(self, *first: Path | str | None) -> tuple[Path, ...]:
        """Return the folders to offer, each once: those named first, the last trained, those used lately,
        what ships with Cloze, the results of all other runs. What is gone is left out, unless it is named.
        """
        run = history_run()
        shipped = (starter_model(), None if run is None else run / MODEL)
        named = [Path(path).absolute() for path in first if path]
        known = (self.last_trained, *map(Path, self._settings.recent_models), *shipped, *self._trained)
        found = [path.absolute() for path in known if path is not None]
        return tuple(
            path
            for path in dict.fromkeys([*named, *found])
            if path in named or (path / "config.json").is_file()
        )
