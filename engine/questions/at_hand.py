"""The models of a command or a notebook: given open, or opened from their folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.model_name import ModelName

if TYPE_CHECKING:
    from engine.inspect.loaded_model import LoadedModel
    from engine.train.tasks.rows.predict import RowModel


class ModelsAtHand:
    """Models that stay open as long as this."""

    def __init__(self, *given: LoadedModel) -> None:
        self._open: dict[Path, LoadedModel] = {one.folder: one for one in given}
        self._predictors: dict[Path, RowModel] = {}

    def subject(self, model: ModelName) -> LoadedModel:
        """Return a model for looking inside. Raises: ModelError, DataError."""
        from engine.inspect.loaded_model import LoadedModel

        if model.folder not in self._open:
            self._open[model.folder] = LoadedModel.open(model.folder)
        return self._open[model.folder]

    def predictor(self, model: ModelName) -> RowModel:
        """Return a model for predicting. Raises: ModelError if it is no classifier."""
        if model.folder not in self._predictors:
            self._predictors[model.folder] = self.subject(model).predictor()
        return self._predictors[model.folder]
