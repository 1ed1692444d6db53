"""A question to the model that a run has left, on a worker with a model of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.work.tables import Answer
from engine.errors import marked
from engine.events import Event, Pinned, Progress, Reading
from engine.model.guess import Pins
from engine.model.weights import load_pretraining
from engine.text.wordpiece import WordPiece


def answer_task(folder: Path, sentence: str) -> Iterator[Event]:
    """Answer with a `Pinned`: what the model in a folder makes of a sentence. Raises: UserError."""
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    wordpiece = WordPiece.from_folder(folder)
    pins = Pins([sentence], wordpiece)
    model, _report = load_pretraining(folder)
    yield Progress(stage=marked("engine", "Reading"), done=1, total=0)
    found = pins.look(model)
    readings = tuple(
        Reading(
            sentence=sentence,
            guesses=one.guesses,
            right=one.right,
            probability=one.probability,
            rank=one.rank,
        )
        for one in found
    )
    yield Answer(value=Pinned(step=0, progress=1.0, readings=readings, is_question=True))
