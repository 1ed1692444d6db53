"""Labels of words as a task among others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import Sentence, marked
from engine.events import Event, Steps
from engine.model.heads import TokenClassifier
from engine.settings.finetune import AdaptConfig, DataConfig, FineTuneConfig
from engine.text.batch import IGNORE
from engine.text.tagged.read import looks_tagged
from engine.train.adapt import WEIGHTED, label_weights, on_rare
from engine.train.learned import HashedRows
from engine.train.prepare import Setup, about_split
from engine.train.tasks.kind import Kind, OpenedFile, text_in
from engine.train.tasks.program import AnswerProgram
from engine.train.tasks.token_labels.predict import TokenModel, predict_file
from engine.train.tasks.token_labels.prepare import TaggedSetup, prepare, reading_parts, told_again
from engine.train.tasks.token_labels.program import program_of
from engine.train.tasks.token_labels.reading import OpenedTexts, opening
from engine.train.tasks.token_labels.task import TokenLabels, task_for


class TokenLabelling(Kind):
    """A tag for each word of a text."""

    name = TokenLabels.name
    does = marked("engine", "answers each word of a text with a tag")
    pipeline = '"token-classification", aggregation_strategy="first"'
    least_rate = 3e-4  # most words are none: at 1e-4 nothing else was learned in 60 steps of tweets
    has_marks = True
    head = TokenClassifier
    setup = TaggedSetup
    reads_tables = False

    def looks(self, path: Path, data: DataConfig) -> Sentence | None:
        guess = None if data.whole_labels else looks_tagged(path)
        return guess.sentence if guess else None

    def open(self, data: DataConfig) -> Steps[OpenedFile]:
        return OpenedTexts((yield from opening(data, data.data)))

    def prepare(self, config: FineTuneConfig) -> Steps[Setup]:
        return prepare(config)

    def apart(self, config: FineTuneConfig) -> Steps[tuple[dict[str, HashedRows], dict[str, Any]]]:
        _, parts, places = yield from reading_parts(config)
        return (yield from told_again(parts)), about_split(config.data, places)

    def task(self, setup: Setup, adapt: AdaptConfig) -> TokenLabels:
        assert isinstance(setup, TaggedSetup)
        weights: tuple[float, ...] = ()
        if adapt.rare_labels == WEIGHTED:
            weights = label_weights(_known(setup), len(setup.labels))
        return task_for(setup.labels, setup.tags, weights, adapt.label_smoothing)

    def on_rare(self, setup: Setup, how: str) -> Sentence:
        return on_rare(setup.labels, _known(setup), how)

    def predictor(self, folder: Path, device: str = "auto") -> TokenModel:
        return TokenModel.from_folder(folder, device)

    def answer(self, predictor: TokenModel, document: Mapping[str, Any]) -> dict[str, Any]:
        text = text_in(document, "text")
        assert text is not None
        return predictor.answer(text).document()

    def program(self, folder: Path) -> AnswerProgram:
        return program_of(self.predictor(folder, "cpu"))

    def predict_file(
        self, model: Path, data: DataConfig, out: Path, *, raw: bool, device: str
    ) -> Iterator[Event]:
        return predict_file(model, data, out, device)


def _known(setup: Setup) -> np.ndarray:
    """Return the tags of the words that are learned from."""
    targets = setup.sets["train"].targets
    return targets[targets > IGNORE]
