"""What the views of questions ask a model and a file: plain Python that touches no Qt object."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.pages.tasks.requests import OpenPredictor
from engine.events import Steps
from engine.settings.finetune import DataConfig

if TYPE_CHECKING:
    from engine.text.questions.question import PassageTable
    from engine.train.tasks.questions.predict import QuestionModel, Reply


class OpenAnswerer(OpenPredictor["QuestionModel"]):
    """A model that finds answers in passages."""

    def load(self, folder: Path) -> QuestionModel:
        from engine.train.tasks.questions.predict import QuestionModel  # here: on the worker

        return QuestionModel.from_folder(folder)

    def ask(self, folder: Path, *texts: str) -> Reply:
        """Return the answer to a question. Args: texts: the question, and its passage."""
        question, passage = texts
        return self.of(folder).ask(question, passage)


def read_file(path: Path) -> Steps[PassageTable]:
    """Return the questions of a file. Raises: DataError."""
    from engine.train.tasks.questions.reading import opening

    return (yield from opening(DataConfig(data=str(path)), str(path), "data"))
