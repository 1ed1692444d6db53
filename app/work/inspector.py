"""What the pages that look inside share: the model and the text, and whom to ask about them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.settings import AppSettings
from app.work.library import ModelLibrary
from app.work.worker import Channel, Workers

if TYPE_CHECKING:
    from engine.inspect.loaded_model import ModelSummary

FIRST_TEXT = "The doctor asked the superstitious patient."  # one word is split, another one is guessed well
TEXT, PAIR = "looking/text", "looking/text_pair"  # what was looked at last
LONGEST_KEPT = 20_000  # characters


class Inspector(QObject):
    """The model and the text that are looked into, on whatever page is open."""

    model_changed = Signal()
    text_changed = Signal()

    def __init__(
        self, settings: AppSettings, library: ModelLibrary, workers: Workers, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings, self._library = settings, library
        self.workers = workers
        self.open_models = workers.open_models  # for work on the models worker
        self._opening = Channel(self, workers.models)
        self.folder: Path | None = None
        self.about: ModelSummary | None = None
        self.refusal: BaseException | None = None
        self.text = settings.value(TEXT, FIRST_TEXT)[:LONGEST_KEPT]
        self.text_pair = settings.value(PAIR, "")[:LONGEST_KEPT]

    # ---- the model

    @property
    def is_opening(self) -> bool:
        """Whether the chosen model is still being read."""
        return self._opening.is_asking

    def choose(self, folder: Path | str) -> None:
        """Look into this model from now on; `model_changed` comes at once and again when it is open."""
        self.folder = Path(folder).absolute()
        self.about = self.refusal = None
        self._opening.ask(
            self.folder,
            partial(self.open_models.about, self.folder),
            heard=self._take,
            refused=self._refuse,
            ended=self._end,
            again=True,
        )
        self.model_changed.emit()

    def _take(self, about: ModelSummary) -> None:
        if about.folder == self.folder:
            self.about = about
            self._library.remember(about.folder)
            self.model_changed.emit()

    def _refuse(self, error: BaseException) -> None:
        self.refusal = error
        self.model_changed.emit()

    def _end(self) -> None:
        if self.about is None and self.refusal is None and not self.is_opening:  # a fault of ours
            self.model_changed.emit()

    # ---- the text

    def set_text(self, text: str, text_pair: str = "") -> None:
        """Look at this text, or pair, from now on, on whatever page is open."""
        if (text, text_pair) != (self.text, self.text_pair):
            self.text, self.text_pair = text, text_pair
            self._settings.set_value(TEXT, text[:LONGEST_KEPT])
            self._settings.set_value(PAIR, text_pair[:LONGEST_KEPT])
            self.text_changed.emit()

    @property
    def pair(self) -> str | None:
        """The second text as the engine takes it: None where there is none."""
        return self.text_pair if self.text_pair.strip() else None
