"""Answers of a model to questions: one about one passage at once, or a whole file's, measured or written."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.durable import check_writable
from engine.errors import Sentence, marked
from engine.events import Event, Finished, Noted, Predicted, Progress, Steps, result_of
from engine.model.heads import QuestionAnswering
from engine.settings.finetune import DataConfig
from engine.text.questions.decoding import LONGEST_ANSWER, Chances, FoundAnswer, answer, chances
from engine.text.questions.gathering import Gathering
from engine.text.questions.question import PassageTable, QuestionPlace
from engine.text.questions.windows import check_room
from engine.text.table import Table, reading_table
from engine.train.evaluate import answers_of
from engine.train.learned import telling_seen
from engine.train.tasks.kind import HeadedModel, ToMeasure, telling_measures
from engine.train.tasks.questions.kept import QuestionRows
from engine.train.tasks.questions.prepare import blocks_of_questions, encoded
from engine.train.tasks.questions.reading import (
    known_answers,
    on_each,
    on_rule,
    opening,
)
from engine.train.tasks.questions.task import QuestionTask
from engine.train.tasks.questions.writing import ADDED, is_table, sureness, writing

USUAL_WINDOW = 384  # WordPieces, where nobody has noted how a model was trained
_AT_ONCE = 64  # questions between two steps


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers to one question. chances: where it begins and ends, piece by piece.

    text: the answer; "" where the passage holds none. passage: as it was given; candidates are cut out of it.
    """

    passage: str
    text: str
    answered: FoundAnswer
    chances: Chances

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it: the answer, its characters in the passage, and the next best ones."""
        answered, best = self.answered, next(iter(self.answered.candidates), None)
        said: dict[str, Any] = {"answer": self.text, "no_answer_probability": answered.none_probability}
        if self.text and best is not None:
            said |= {"start": best.start, "stop": best.stop, "probability": best.probability}
        names = ("text", "start", "stop", "probability")
        said["candidates"] = [{name: getattr(one, name) for name in names} for one in answered.candidates]
        return said


@dataclass(frozen=True)
class QuestionModel(HeadedModel[QuestionAnswering]):
    """A model with a head for questions, ready to answer."""

    task: QuestionTask

    @classmethod
    def from_folder(cls, folder: Path, device: str = "auto") -> QuestionModel:
        """Load a model folder; takes seconds. Raises: ModelError if it holds no head for questions."""
        found = HeadedModel.opened(folder, QuestionAnswering, device, with_pair=True)
        return cls(**vars(found), task=_task(found.info, found.model))

    @property
    def cut(self) -> DataConfig:
        """How long windows and questions are, as in training."""
        most = self.model.config.max_position_embeddings
        length = min(_whole(self.info, "max_length", USUAL_WINDOW), most)
        stride, question = _whole(self.info, "stride", 128), _whole(self.info, "max_question", 64)
        cut = replace(DataConfig(), max_length=length, stride=stride, max_question=question)
        check_room(cut.max_length, cut.stride, cut.max_question, self.wordpiece)
        return cut

    def ask(self, question: str, passage: str) -> Reply:
        """Return the answer to a question that was typed. Raises: DataError if one of the texts is empty."""
        gathering = Gathering()
        gathering.add(QuestionPlace(line=1), passage, question, None)
        asked = gathering.finish(Path("-"), Sentence(""), "utf-8", "", ())
        windows = result_of(encoded(asked, self.wordpiece, self.cut, is_scored=False))
        start, end = result_of(self.scores(windows)).T
        how = {"with_none": self.task.with_none}
        found = answer(windows, 0, passage, start, end, longest=self.task.longest, **how)
        return Reply(passage, self.task.text(found), found, chances(windows, 0, start, end, **how))

    def task_for(self, questions: PassageTable) -> QuestionTask:
        """Return how its scores are read: where nobody has noted that, by what the questions are."""
        if self.info:
            return self.task
        return replace(self.task, with_none=questions.num_without_answer > 0)

    def scores(self, windows: QuestionRows) -> Steps[np.ndarray]:
        """Return (sum of lengths, 2), the scores of beginning and of ending at each token."""
        return answers_of(self.model, self.task, windows, self.device, marked("engine", "Predicting"))

    def measuring(self, data: DataConfig) -> Steps[ToMeasure]:
        read = yield from opening(data, data.data, "data", self.info.get("roles"))
        yield from on_each(read)
        questions = read.take(known_answers(read).tolist())
        unread = read.num_rows - len(read.questions)
        if unread or len(questions.questions) < len(read.questions):
            template = marked(
                "engine",
                "Measured questions: {used:,}. Without a known answer: {unknown:,}. Rows that "
                "are not questions and do not count: {unread:,}.",
            )
            values = {"used": len(questions.questions), "unread": unread}
            values["unknown"] = len(read.questions) - values["used"]
            yield Noted(sentence=Sentence(template, values))
        yield on_rule(questions)
        seen = yield from _telling_seen(self, questions)
        windows = yield from encoded(questions, self.wordpiece, self.cut, is_scored=True)
        return self.task_for(questions), windows, seen


def predict_file(
    model: Path | QuestionModel, data: DataConfig, out: Path, *, raw: bool = False, device: str = "auto"
) -> Iterator[Event]:
    """Write what a model answers to a file of questions: Progress, Noted, Predicted, Finished; and, where the
    file knows answers, one Evaluated says how good that is.

    The name says what is written: .json SQuAD's {id: answer}, .jsonl all that is known, else a table.
    """
    start, out = time.perf_counter(), Path(out)
    check_writable(out, Path(data.data))
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    predictor = model if isinstance(model, QuestionModel) else QuestionModel.from_folder(model, device)
    questions = yield from opening(data, data.data, "data", predictor.info.get("roles"))
    table = None
    if is_table(out) and questions.columns:
        table = yield from reading_table(data.data, **data.how)
        table.check_new(ADDED)
    yield from on_each(questions)
    windows = yield from encoded(questions, predictor.wordpiece, predictor.cut, is_scored=True)
    scores = yield from predictor.scores(windows)
    yield from _write(predictor, questions, windows, scores, out, table, raw=raw)
    if any(one.answers is not None for one in questions.questions):
        yield on_rule(questions)
        yield from _telling_seen(predictor, questions)
        measures = yield from predictor.task.measure(scores, windows)
        yield from telling_measures(predictor.task, measures)
    yield Finished(path=out, seconds=time.perf_counter() - start)


def _telling_seen(predictor: QuestionModel, questions: PassageTable) -> Steps[np.ndarray]:
    """Tell how many of some questions the model has learned from; return (Q,) bool, which."""
    blocks, count = blocks_of_questions(questions), len(questions.questions)
    return (yield from telling_seen(predictor.folder, blocks, count, questions.sha256))


def _write(
    predictor: QuestionModel,
    questions: PassageTable,
    windows: QuestionRows,
    scores: np.ndarray,
    out: Path,
    table: Table | None,
    *,
    raw: bool,
) -> Iterator[Event]:
    """Write the answers one after another, so that their lists never stand in memory together."""
    task, count = predictor.task, len(questions.questions)
    start, end = np.ascontiguousarray(scores.T)
    texts, chances_of = [], np.zeros((count, 1), np.float32)
    with writing(out, questions, table, raw=raw) as add:
        for asked, question in enumerate(questions.questions):
            passage = questions.passage_of(question)
            found = answer(
                windows, asked, passage, start, end, with_none=task.with_none, longest=task.longest
            )
            text = task.text(found)
            add(question, found, text)
            texts.append(text)
            chances_of[asked] = sureness(found, text)
            if asked % _AT_ONCE == 0:
                yield Progress(stage=marked("engine", "Writing"), done=asked, total=count)
    yield Predicted(rows=np.arange(count), predictions=tuple(texts), probabilities=chances_of, labels=())


def _task(info: dict[str, Any], model: QuestionAnswering) -> QuestionTask:
    """Return how a model's scores are read, as far as its notes can be believed."""
    threshold = info.get("threshold", 0.0)
    is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    longest = min(_whole(info, "longest_answer", LONGEST_ANSWER), model.config.max_position_embeddings)
    return QuestionTask(
        info.get("with_none") is True,
        longest,
        float(threshold) if is_number and math.isfinite(threshold) else 0.0,
    )


def _whole(info: dict[str, Any], name: str, usual: int) -> int:
    value = info.get(name)
    return value if type(value) is int and value > 0 else usual
