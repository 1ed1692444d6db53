"""What the answers' view asks a model and a file: plain Python that touches no Qt object."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.events import Steps

if TYPE_CHECKING:
    from engine.text.tagged.texts import TaggedTexts
    from engine.train.tasks.token_labels.answers import TaggedAnswer
    from engine.train.tasks.token_labels.predict import TokenPredictor


class OpenTagger:
    """The one model that is asked, loaded anew where its folder has other files than before.

    Touched on the session's models worker only.
    """

    def __init__(self) -> None:
        self._loaded: tuple[Path, object, TokenPredictor] | None = None

    def ask(self, folder: Path, text: str) -> tuple[TaggedAnswer, tuple[str, ...], bool]:
        """Return the answer to a text, all types, and whether tags are plain. Raises: ModelError."""
        from engine.inspect.loaded_model import stamps  # here: on the worker
        from engine.train.tasks.token_labels.predict import TokenPredictor

        now = stamps(folder)
        if self._loaded is None or self._loaded[:2] != (folder, now):
            self._loaded = None
            self._loaded = (folder, now, TokenPredictor.from_folder(folder))
        predictor = self._loaded[2]
        return predictor.answer(text), predictor.types, predictor.is_plain


def read_written(path: Path) -> Steps[TaggedTexts]:
    """Return the texts of a file of tags. Raises: DataError."""
    from engine.text.tagged.read import reading_tagged

    word, tag = "1", "2"
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as file:
            word, tag = ("text", "entities") if '"entities": [' in file.readline() else ("tokens", "tags")
    return (yield from reading_tagged(path, word=word, tag=tag))
