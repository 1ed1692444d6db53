"""The model that is to be trained, and how many WordPieces of a text it is given."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.work.busy import Busy
from app.work.later import later
from app.work.library import ModelLibrary
from app.work.worker import Channel, Workers
from engine.settings.finetune import USUAL_LENGTH

if TYPE_CHECKING:
    from app.work.tables import ModelInfo, read_model
else:
    read_model = later("app.work.tables", "read_model")

DEFAULT_LIMIT = 512  # the maximum length to offer while no model says another


class ModelChoice(QObject):
    """A model folder, or a new model; read on a worker."""

    changed = Signal()
    max_length_changed = Signal(int)
    refused = Signal(object)

    def __init__(
        self, library: ModelLibrary, workers: Workers, busy: Busy, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._busy = library, busy
        self.chosen: ModelInfo | None = None
        self.refusal: BaseException | None = None
        self.max_length: int = USUAL_LENGTH
        self._usual_length = USUAL_LENGTH  # of the task that the data are for
        self._lowercase = ""
        self._asked = Channel(self, workers.quick)

    def choose(self, model: str, vocab: str = "", lowercase: str = "") -> None:
        """Choose a model folder or new:PRESET; until it is read, and if it cannot be, the old one stays."""
        self._asked.drop()
        self.refusal = None
        if not model:
            self._take("", None)
            return
        self._busy.show("model", self.tr("Reading the model"))
        self._asked.ask(
            model,
            partial(read_model, model, vocab, lowercase),
            heard=partial(self._take, lowercase),
            refused=self._refuse,
            ended=partial(self._busy.end, "model"),
        )

    @property
    def is_reading(self) -> bool:
        return self._asked.is_asking

    def _refuse(self, error: BaseException) -> None:
        self.refusal = error
        self.refused.emit(error)

    def _take(self, lowercase: str, chosen: ModelInfo | None) -> None:
        self.chosen, self._lowercase = chosen, lowercase
        if chosen is not None and not chosen.is_new:
            self._library.remember(chosen.model)
        self.changed.emit()
        self.set_max_length(min(self.max_length, self.max_length_limit))

    @property
    def trained_folder(self) -> Path | None:
        """The chosen model's folder; None where none is chosen, or a new one that has learned nothing."""
        return Path(self.chosen.model) if self.chosen is not None and not self.chosen.is_new else None

    @property
    def max_length_limit(self) -> int:
        """The longest that the chosen model can read."""
        return self.chosen.max_length_limit if self.chosen else DEFAULT_LIMIT

    def set_max_length(self, pieces: int) -> None:
        """Say how many WordPieces of each text are kept."""
        if pieces != self.max_length and pieces >= 3:
            self.max_length = pieces
            self.max_length_changed.emit(pieces)

    def take_usual_length(self, length: int) -> None:
        """Take the maximum length that the data's task wants, unless a person chose another."""
        if self.max_length == min(self._usual_length, self.max_length_limit):
            self.set_max_length(min(length, self.max_length_limit))
        self._usual_length = length

    def values(self) -> dict[str, Any]:
        """Return the settings of a run that are known of the model, flat."""
        return {
            "model": self.chosen.model if self.chosen else "",
            "vocab": self.chosen.vocab if self.chosen else "",
            "lowercase": self._lowercase,
            "max_length": self.max_length,
        }
