"""Answering questions as a task among others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import Sentence, marked
from engine.events import Evaluated, Event, Steps
from engine.model.heads import QuestionAnswering
from engine.settings.finetune import AdaptConfig, DataConfig, FineTuneConfig
from engine.text.batch import EncodedRows
from engine.text.questions.reading import looks_like_questions
from engine.train.learned import HashedRows
from engine.train.prepare import Setup, about_split
from engine.train.scored import ScoredTable
from engine.train.tasks.kind import Kind, text_in
from engine.train.tasks.program import AnswerProgram
from engine.train.tasks.questions.details import threshold_in, used_threshold
from engine.train.tasks.questions.predict import QuestionModel, predict_file
from engine.train.tasks.questions.prepare import QuestionSetup, prepare, reading_parts, told_again
from engine.train.tasks.questions.program import program_of
from engine.train.tasks.questions.reading import OpenedQuestions, columns_named, opening
from engine.train.tasks.questions.task import QuestionTask


class AnsweringQuestions(Kind):
    """Where in a passage the answer to a question stands."""

    name = QuestionTask.name
    # `transformers` has no pipeline for it any more
    does = marked("engine", "marks the answer to a question in a passage")
    has_marks = True
    head = QuestionAnswering
    setup = QuestionSetup
    max_length = 384
    reads_tables = False
    without = ("rare_labels", "label_smoothing")

    def looks(self, path: Path, data: DataConfig) -> Sentence | None:
        return looks_like_questions(path, columns_named(data))

    def open(self, data: DataConfig) -> Steps[OpenedQuestions]:
        return OpenedQuestions((yield from opening(data, data.data, "data")))

    def prepare(self, config: FineTuneConfig) -> Steps[Setup]:
        return prepare(config)

    def apart(self, config: FineTuneConfig) -> Steps[tuple[dict[str, HashedRows], dict[str, Any]]]:
        _, parts, places = yield from reading_parts(config)
        return (yield from told_again(parts)), about_split(config.data, places)

    def task(self, setup: Setup, adapt: AdaptConfig) -> QuestionTask:
        return QuestionTask(
            setup.about["with_none"], setup.about["longest_answer"], float(setup.about.get("threshold", 0.0))
        )

    def chosen(self, measured: Evaluated) -> dict[str, Any]:
        threshold = threshold_in(measured.details)
        return {"threshold": threshold["value"]} if threshold else {}

    def as_it_answers(
        self, found: ScoredTable, data: EncodedRows, info: Mapping[str, Any]
    ) -> ScoredTable | None:
        used = used_threshold(found.evaluated.details)
        return found if used is None or used == float(info.get("threshold", 0.0)) else None

    def predictor(self, folder: Path, device: str = "auto") -> QuestionModel:
        return QuestionModel.from_folder(folder, device)

    def answer(self, predictor: QuestionModel, document: Mapping[str, Any]) -> dict[str, Any]:
        question, passage = text_in(document, "question", "text"), text_in(document, "context", "text_pair")
        assert question is not None and passage is not None
        return predictor.ask(question, passage).document()

    def program(self, folder: Path) -> AnswerProgram:
        return program_of(self.predictor(folder, "cpu"))

    def likeliest(self, scores: Sequence[np.ndarray], read: Any) -> np.ndarray:
        """Return (B, 2), where the answer to each begins and ends."""
        return np.stack([np.where(read, one, -np.inf).argmax(-1) for one in scores], -1)

    def predict_file(
        self, model: Path, data: DataConfig, out: Path, *, raw: bool, device: str
    ) -> Iterator[Event]:
        return predict_file(model, data, out, raw=raw, device=device)
