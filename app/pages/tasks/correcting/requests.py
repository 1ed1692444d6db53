"""What the views of corrections ask a model: plain Python that touches no Qt object."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.work.models import OpenModels

if TYPE_CHECKING:
    from engine.train.tasks.correcting.answers import CorrectedText


def correct(models: OpenModels, folder: Path, text: str) -> CorrectedText:
    """Return a text as a model corrects it. Raises: ModelError."""
    from engine.train.tasks.correcting.predict import CorrectingModel  # here: on the worker

    predictor = models.predictor(folder)
    assert isinstance(predictor, CorrectingModel)
    return predictor.correct(text)
