"""The models that are open: each folder is in memory once and loaded once, whoever asks it.

Touched on the session's models worker only, which is what keeps two questions from loading the same model.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.work.titles import model_title
from engine.model.model_name import ModelName

if TYPE_CHECKING:
    from engine.inspect.loaded_model import LoadedModel, ModelSummary, Stamps
    from engine.train.tasks.rows.predict import RowModel

KEPT_BYTES = 640 * 2**20  # of models that stay open beside the newest two


@dataclass(slots=True)
class _Open:
    """A model in memory. stamps: of its files when it was read. predictor: over the subject's weights."""

    stamps: Stamps
    subject: LoadedModel
    predictor: RowModel | None = None


class OpenModels:
    """Model folders as they are on the disk now; the one not asked for longest is let go of first."""

    def __init__(self) -> None:
        self._open: OrderedDict[Path, _Open] = OrderedDict()

    def subject(self, folder: ModelName | Path | str) -> LoadedModel:
        """Return a model for looking inside; slow the first time. Raises: ModelError, DataError."""
        return self._opened(folder).subject

    def predictor(self, folder: ModelName | Path | str) -> RowModel:
        """Return a model for predicting; slow the first time. Raises: ModelError if it is no classifier."""
        opened = self._opened(folder)
        if opened.predictor is None:
            opened.predictor = opened.subject.predictor()
        return opened.predictor

    def about(self, folder: ModelName | Path | str) -> ModelSummary:
        """Return what is known of a model once it is open. Raises: ModelError, DataError."""
        return self.subject(folder).about

    @property
    def num_bytes(self) -> int:
        """What the weights take that are open."""
        return sum(opened.subject.num_bytes for opened in self._open.values())

    def _opened(self, model: ModelName | Path | str) -> _Open:
        from engine.inspect.loaded_model import LoadedModel, stamps  # here: on the worker

        folder = Path(str(model)).absolute()
        now = stamps(folder)
        if folder in self._open and self._open[folder].stamps != now:
            del self._open[folder]  # a training has put another model in its place
        if folder not in self._open:
            self._open[folder] = _Open(now, LoadedModel.open(folder, name=model_title(folder)))
        self._open.move_to_end(folder)
        while len(self._open) > 2 and self.num_bytes > KEPT_BYTES:
            self._open.popitem(last=False)
        return self._open[folder]
