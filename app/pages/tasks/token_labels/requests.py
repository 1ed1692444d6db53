"""What the views of tags ask a model and a file: plain Python that touches no Qt object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.pages.tasks.requests import OpenPredictor
from engine.events import Steps

if TYPE_CHECKING:
    from engine.text.tagged.texts import TaggedTable
    from engine.train.tasks.token_labels.answers import TaggedAnswer
    from engine.train.tasks.token_labels.predict import TokenModel


@dataclass(frozen=True, slots=True)
class TaggedReply:
    """What is found in a text. types: all that the model knows. is_plain: its tags make no entities."""

    answer: TaggedAnswer
    types: tuple[str, ...]
    is_plain: bool


class OpenTagger(OpenPredictor["TokenModel"]):
    """A model that tags words."""

    def load(self, folder: Path) -> TokenModel:
        from engine.train.tasks.token_labels.predict import TokenModel  # here: on the worker

        return TokenModel.from_folder(folder)

    def ask(self, folder: Path, *texts: str) -> TaggedReply:
        """Return what is found in a text."""
        predictor = self.of(folder)
        return TaggedReply(predictor.answer(*texts), predictor.types, predictor.is_plain)


def read_written(path: Path) -> Steps[TaggedTable]:
    """Return the texts of a file of tags. Raises: DataError."""
    from engine.text.tagged.read import reading_tagged

    word, tag = "1", "2"
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as file:
            word, tag = ("text", "entities") if '"entities": [' in file.readline() else ("tokens", "tags")
    return (yield from reading_tagged(path, word=word, tag=tag))
