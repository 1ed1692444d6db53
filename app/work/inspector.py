"""What the pages that look inside share: the model, the text, and the workers that answer about them.

Pages ask by a key; the newest question of a key wins. Models are opened on the one worker and kept there; a
second one composes pictures, which must not wait for a model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.settings import AppSettings
from app.work.library import ModelLibrary
from app.work.service import Service
from app.work.tables import Answer
from app.work.titles import model_title
from engine.errors import marked
from engine.events import Event, Progress
from engine.inspect.subject import About, Subject
from engine.train.run.history import is_kept

KEPT_BYTES = 640 * 2**20  # of models that stay open beside the newest two
FIRST_TEXT = "The bank by the river was steep."
TEXT, PAIR = "looking/text", "looking/text_pair"  # what was looked at last
LONGEST_KEPT = 20_000  # characters


class Bench:
    """The models that are open, on the worker only: opened once, the oldest let go of first."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, int, int], Subject] = OrderedDict()

    def subject(self, folder: Path) -> Subject:
        """Return a model folder as a subject; slow the first time. Raises: ModelError, DataError."""
        folder = Path(folder)
        try:
            seen = folder.stat()
            key = (str(folder), seen.st_ino, seen.st_mtime_ns)
        except OSError:
            return Subject.open(folder, name=model_title(folder))  # refuses it in words
        if key not in self._open:
            self._open[key] = Subject.open(folder, name=model_title(folder))
        self._open.move_to_end(key)
        while len(self._open) > 2 and sum(one.num_bytes for one in self._open.values()) > KEPT_BYTES:
            self._open.popitem(last=False)
        return self._open[key]


Question = Callable[[Bench], Iterator[Event]]


class Laboratory(QObject):
    """The model and text under study, and the one worker that answers about them."""

    model_changed = Signal()
    text_changed = Signal()
    explanation_wanted = Signal()  # of the model's own answer to the text
    problem = Signal(object)  # an error that no page hears
    idle_changed = Signal()

    def __init__(self, settings: AppSettings, library: ModelLibrary, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings, self._library = settings, library
        self._bench = Bench()
        self._service = Service(self, name="laboratory")
        self._light = Service(self, name="pictures")
        for service in (self._service, self._light):
            service.problem.connect(self.problem)
            service.idle_changed.connect(self.idle_changed)
        self.folder: Path | None = None
        self.about: About | None = None
        self.refusal: BaseException | None = None
        self.text = settings.value(TEXT, FIRST_TEXT)[:LONGEST_KEPT]
        self.text_pair = settings.value(PAIR, "")[:LONGEST_KEPT]
        self._is_closed = False

    # ---- the model

    @property
    def is_opening(self) -> bool:
        """Whether the chosen model is still being read."""
        return self._service.is_asking("open")

    def choose(self, folder: Path | str) -> None:
        """Look into this model from now on; `model_changed` comes at once and again when it is open."""
        self.folder = Path(folder).absolute()
        self.about = self.refusal = None
        self.ask("open", partial(_open, self.folder), heard=self._take, failed=self._refuse)
        self.model_changed.emit()

    def models(self) -> list[tuple[str, Path]]:
        """Return names and folders to offer, the open one first."""
        return [(model_title(path), path) for path in self._library.folders(self.folder)]

    def _take(self, about: About) -> None:
        if about.folder == self.folder:
            self.about = about
            if not is_kept(about.folder):
                self._settings.add_recent_model(about.folder)
            self.model_changed.emit()

    def _refuse(self, error: BaseException) -> None:
        self.refusal = error
        self.model_changed.emit()

    # ---- the text

    def set_text(self, text: str, text_pair: str = "") -> None:
        """Study this text, or pair, from now on, on whatever page is open."""
        if (text, text_pair) != (self.text, self.text_pair):
            self.text, self.text_pair = text, text_pair
            self._settings.set_value(TEXT, text[:LONGEST_KEPT])
            self._settings.set_value(PAIR, text_pair[:LONGEST_KEPT])
            self.text_changed.emit()

    @property
    def pair(self) -> str | None:
        """The second text as the engine takes it: None where there is none."""
        return self.text_pair if self.text_pair.strip() else None

    # ---- asking

    def ask(
        self,
        key: str,
        task: Question,
        *,
        heard: Callable[[Any], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
        ended: Callable[[], None] | None = None,
        heard_progress: Callable[[Event], None] | None = None,
        light: bool = False,
    ) -> None:
        """Ask something on the worker; see `Service.ask`. The task gets the bench that holds the models.

        Args: light: the task asks no model and is quick; it does not wait for those that do.
        """
        if self._is_closed:  # an answer heard while closing asks the next question
            return
        service = self._light if light else self._service
        service.ask(
            key,
            partial(task, self._bench),
            heard=heard,
            failed=failed,
            ended=ended,
            heard_progress=heard_progress,
        )

    def drop(self, key: str) -> None:
        """Forget the question of this key."""
        self._service.drop(key)
        self._light.drop(key)

    def forget(self, key: str) -> None:
        """Forget it, and call nobody any more."""
        self._service.forget(key)
        self._light.forget(key)

    def is_asking(self, key: str) -> bool:
        """Whether a question of this key waits or is under way."""
        return self._service.is_asking(key) or self._light.is_asking(key)

    @property
    def is_idle(self) -> bool:
        return self._service.is_idle and self._light.is_idle

    def close(self) -> None:
        """End both workers; they are joined. What is asked from now on is not heard."""
        self._is_closed = True
        self._service.close()
        self._light.close()


def _open(folder: Path, bench: Bench) -> Iterator[Event]:
    yield Progress(stage=marked("engine", "Opening"), done=0, total=0)
    yield Answer(value=bench.subject(folder).about)
