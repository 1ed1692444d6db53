"""What is open and under way in a window: its parts are made here, and closed. Pages ask a part and hear it.

Everything slow is a task on a worker; every signal comes on the window's thread. Nothing here draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QElapsedTimer, QEventLoop, QObject, QTimer, Signal

from app.settings import AppSettings
from app.work.busy import Busy
from app.work.doctor import Doctor
from app.work.hosts import Hosts
from app.work.hub import Hub
from app.work.inspector import Inspector
from app.work.known_runs import KnownRuns
from app.work.labels import Labels
from app.work.library import ModelLibrary
from app.work.model_choice import ModelChoice
from app.work.open_data import OpenData
from app.work.page_state import PageState
from app.work.queue import QueueWatch
from app.work.training import TrainingJob
from app.work.worker import Workers
from engine.errors import UserError
from engine.train.run.lock import is_locked
from engine.train.run.runs import LOCK, MODEL
from engine.train.run.wanted import STOP, want


class Session(QObject):
    """The parts of a window, and which page leads where."""

    page_requested = Signal(str, object)  # its key, and the state to show there: None: as it stands

    def __init__(self, settings: AppSettings | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = AppSettings() if settings is None else settings
        self.workers = Workers(self)
        self.busy = Busy(self)
        self.library = ModelLibrary(self.settings, self)
        self.runs = KnownRuns(self.settings, self.library, self.workers, self)
        self.hub = Hub(self.settings, lambda: self.runs.root, self.workers, self)
        self.hub.fetched.connect(self.library.remember)
        self.inspector = Inspector(self.settings, self.library, self.workers, self)
        self.queue = QueueWatch(lambda: self.runs.root, self.workers.quick, self)
        self.queue.ended.connect(self.runs.find)
        self.runs.looking.connect(self.queue.look)
        self.model = ModelChoice(self.library, self.workers, self.busy, self)
        self.data = OpenData(self.settings, self.workers, self.runs, self.model, self.busy, self)
        self.labels = Labels(self.data, self.runs.recipes_dir, self.workers, self)
        self.doctor = Doctor(self.data, self.model, self.runs, self.workers, self)
        self.training = TrainingJob(self.runs, self.library, self.data.mends, self.queue, self)
        self.training.result_changed.connect(self.doctor.hear_of_run)
        self.training.left.connect(self.inspector.offer)
        self.hosts = Hosts(self.settings, self.workers, self.busy, self)
        self.hosts.copied.connect(self._take_weights)

    def stop_there(self, run_dir: Path, allowed: str = "") -> None:
        """Stop a run of another computer that this window does not follow. Raises: UserError.

        Args: allowed: the host that a person has allowed to be asked, where the folder was not made here.

        Where nobody does, it is followed from now on, so that what it has learned comes here; while another
        one is followed or trains here, its host is asked to stop it.
        """
        if not is_locked(run_dir / LOCK) and not self.training.is_running:
            want(run_dir, STOP)
            self.training.follow(run_dir, allowed)
        else:
            self.hosts.want(run_dir, STOP, allowed)

    def _take_weights(self, run_dir: Path) -> None:
        """Offer what a run has learned on another computer, which is here now."""
        self.library.remember(run_dir / MODEL, trained=True)
        self.inspector.offer(run_dir / MODEL)
        self.runs.find()

    def values(self) -> dict[str, Any]:
        """Return the settings of a run that are known here, flat."""
        return {**self.data.values(), **self.model.values()}

    def show_page(self, key: str, state: PageState | None = None) -> None:
        """Lead to a page, and to what is to be looked at there; without a state, to the page as it stands."""
        self.page_requested.emit(key, state)

    def close(self) -> None:
        """End all asking and join the workers; not the training, which is asked about first."""
        self.queue.close()
        self.doctor.close()
        try:
            self.data.mends.close()
        except UserError as error:
            self.workers.problem.emit(error)
        self.workers.close()

    def wait_idle(self, timeout_s: float = 120) -> bool:
        """Spin until all that was asked has ended; False when the time is over."""
        loop, clock, timer = QEventLoop(), QElapsedTimer(), QTimer(interval=2)
        timer.timeout.connect(loop.quit)
        timer.start()
        clock.start()
        while not self.workers.is_idle:
            if clock.elapsed() > 1000 * timeout_s:
                return False
            loop.exec()
        return True
