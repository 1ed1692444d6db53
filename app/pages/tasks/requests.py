"""What the views of a task ask a model: plain Python that touches no Qt object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Generic, TypeVar

Predictor = TypeVar("Predictor")


class OpenPredictor(ABC, Generic[Predictor]):
    """The one model that is asked, loaded anew where its folder has other files than before.

    Touched on the session's models worker only.
    """

    def __init__(self) -> None:
        self._loaded: tuple[Path, object, Predictor] | None = None

    @abstractmethod
    def load(self, folder: Path) -> Predictor:
        """Return what answers for a model folder; takes seconds. Raises: ModelError."""

    @abstractmethod
    def ask(self, folder: Path, *texts: str) -> Any:
        """Return the reply to what was typed. Raises: ModelError, DataError, ConfigError."""

    def of(self, folder: Path) -> Predictor:
        """Return what answers for a model folder. Raises: ModelError."""
        from engine.inspect.loaded_model import stamps  # here: on the worker

        now = stamps(folder)
        if self._loaded is None or self._loaded[:2] != (folder, now):
            self._loaded = None
            self._loaded = (folder, now, self.load(folder))
        return self._loaded[2]
