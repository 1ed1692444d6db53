"""What the answers' view asks a model and a file: plain Python that touches no Qt object."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.events import Steps
from engine.settings.finetune import DataConfig

if TYPE_CHECKING:
    from engine.text.questions.question import Questions
    from engine.train.tasks.questions.predict import Predictor, Reply


class OpenAnswerer:
    """The one model that is asked, loaded anew where its folder has other files than before.

    Touched on the session's models worker only.
    """

    def __init__(self) -> None:
        self._loaded: tuple[Path, object, Predictor] | None = None

    def ask(self, folder: Path, question: str, passage: str) -> Reply:
        """Return the answer to a question. Raises: ModelError, DataError, ConfigError."""
        from engine.inspect.loaded_model import stamps  # here: on the worker
        from engine.train.tasks.questions.predict import Predictor

        now = stamps(folder)
        if self._loaded is None or self._loaded[:2] != (folder, now):
            self._loaded = None
            self._loaded = (folder, now, Predictor.from_folder(folder))
        return self._loaded[2].ask(question, passage)


def read_file(path: Path) -> Steps[Questions]:
    """Return the questions of a file. Raises: DataError."""
    from engine.train.tasks.questions.reading import opening

    return (yield from opening(DataConfig(data=str(path)), str(path), "data"))
