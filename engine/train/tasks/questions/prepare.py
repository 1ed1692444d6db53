"""Questions and passages: read, split by article, cut into windows, and kept with the run."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from engine.errors import DataError, Sentence, marked
from engine.events import Event, Noted, Progress, Steps
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.settings.values import as_kind
from engine.text.example_rows import Indices
from engine.text.questions.decoding import longest_answer
from engine.text.questions.question import PassageTable
from engine.text.questions.splitting import split_questions
from engine.text.questions.windows import check_room, cutting
from engine.text.tokenizer import Tokenizer
from engine.train import data_notes
from engine.train.learned import AT_ONCE, Block, HashedRows, hashes_of_parts, telling_start
from engine.train.prepare import SPLITS, Setup, about_data, check_fit, of_setting, on_ignored, starting
from engine.train.tasks.questions.kept import QuestionRows
from engine.train.tasks.questions.reading import (
    known_answers,
    on_file,
    on_rule,
    opening,
    remarks_document,
)

_KINDS = {"with_none": bool, "longest_answer": int}
_UNUSED = ("truncation", "merge_labels", "whole_labels", "max_labels")
_NO_LABELS = marked("engine", "questions have no labels, and no passage is truncated")
_LEAKS = marked(
    "engine",
    "{leaks:,} of {total:,} passages of the {part} data are also in the training "
    "data, so the {part} score will look too good.",
)
_APART = marked(
    "engine",
    "The {part} data is held out: {questions:,} questions about {total:,} passages, "
    "none of them in the training data.",
)


@dataclass(frozen=True)
class QuestionSetup(Setup):
    """Windows of each part; those to measure on bring their questions."""

    set_kind: ClassVar[type[QuestionRows]] = QuestionRows

    def belongs_together(self) -> bool:
        """Whether those to measure on bring questions, and what is known of all of them can be."""
        try:
            for name, kind in _KINDS.items():
                as_kind(kind, self.about[name])
        except (KeyError, TypeError, ValueError):
            return False
        longest = self.about["longest_answer"]
        asked = [one for name, one in self.sets.items() if name != "train"]
        brings = all(isinstance(one, QuestionRows) and len(one.document) for one in asked)
        return brings and 1 <= longest <= self.config.max_position_embeddings


def prepare(config: FineTuneConfig) -> Steps[QuestionSetup]:
    """Read, check, split and cut; a generator of events whose return value is the `QuestionSetup`.

    Raises: DataError, ModelError, ConfigError in one sentence, before long work.
    """
    data = config.data
    shape, wordpiece = starting(config)
    check_fit(shape, wordpiece, with_pair=True)
    check_room(data.max_length, data.stride, data.max_question, wordpiece)
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    yield from on_ignored(config)
    yield from data_notes.on_unused(data, _UNUSED, _NO_LABELS)
    read, parts, places = yield from reading_parts(config)
    own, train = read[0], parts["train"]
    split = about_data(config, own.path.name, own.sha256, own.num_rows, places)
    hashes = yield from told_again(parts)
    known = yield from telling_start(config.model.model, hashes, split["split"])
    yield from _on_parts(parts, known)
    yield on_rule(parts.get("validation", train))
    sets: dict[str, QuestionRows] = {}
    for name, questions in parts.items():
        sets[name] = yield from encoded(questions, wordpiece, data, is_scored=name != "train")
    about = {
        "task": "questions",
        "labels": [],
        "roles": _roles(own),
        **split,
        "cut_share": 0.0,  # what is too long is read in windows
        "stride": data.stride,
        "max_question": data.max_question,
        "longest_answer": min(longest_answer(sets["train"]), data.max_length),
        "with_none": train.num_without_answer > 0,
        "reported": remarks_document(read, "reported"),
        "repaired": remarks_document(read, "repaired"),
    }
    shape, learned = dataclasses.replace(shape, id2label=()), hashes["train"].hashes
    return QuestionSetup(shape, wordpiece, about, (), dict(sets), learned=learned)


def reading_parts(
    config: FineTuneConfig,
) -> Steps[tuple[list[PassageTable], dict[str, PassageTable], Sequence[Indices]]]:
    """Read and split; return the files, the data first; each part by name; and which of the data's questions
    are in each of SPLITS.

    Raises: DataError, ConfigError in one sentence.
    """
    data = config.data
    own = yield from opening(data, data.data, "data")
    yield from on_file(own)
    places, together = split_questions(own, known_answers(own), data.drawn, data.split_seed)
    if any(data.drawn):
        yield Noted(sentence=together, level="fine")
    parts = {name: own.take(part.tolist()) for name, part in zip(SPLITS, places, strict=True) if len(part)}
    read = [own]
    for name, path in data.apart.items():
        with of_setting(f"{name}_data"):
            other = yield from opening(data, path, f"{name}_data")
            known = known_answers(other).tolist()
        yield from on_file(other)
        parts[name] = other.take(known)
        read.append(other)
    parts["train"] = _learnable(parts.get("train"))
    return read, parts, places


def told_again(parts: Mapping[str, PassageTable]) -> Steps[dict[str, HashedRows]]:
    """Return what tells the questions of each part again, each with its passage."""
    return hashes_of_parts({name: (blocks_of_questions(part), part.sha256) for name, part in parts.items()})


def blocks_of_questions(questions: PassageTable) -> Iterator[Block]:
    """Yield questions with their passages, some at a time."""
    for start in range(0, len(questions.questions), AT_ONCE):
        some = questions.questions[start : start + AT_ONCE]
        yield [one.text for one in some], [questions.passage_of(one) for one in some]


def encoded(
    questions: PassageTable, wordpiece: Tokenizer, cut: DataConfig, *, is_scored: bool
) -> Steps[QuestionRows]:
    """Cut questions into windows and tell of what is not read or learned. Args: cut: its lengths are read."""
    windows, notes = yield from cutting(
        questions,
        wordpiece,
        max_length=cut.max_length,
        stride=cut.stride,
        max_question=cut.max_question,
    )
    for note in notes:
        yield Noted(sentence=note)
    return QuestionRows.over(windows, questions if is_scored else None)


def _learnable(questions: PassageTable | None) -> PassageTable:
    """Return the questions that can be learned from. Raises: DataError if there are none."""
    usable = [place for place, one in enumerate(questions.questions) if one.is_used] if questions else []
    if questions is None or not usable:
        raise DataError(marked("engine", "No questions are left to train on."))
    return questions.take(usable)


def _roles(questions: PassageTable) -> dict[str, str]:
    named = {"text": "question", "text_pair": "context", "label": "answer"}
    return {role: questions.columns.get(column, "") for role, column in named.items()}


def _on_parts(parts: Mapping[str, PassageTable], known: Collection[str]) -> Iterator[Event]:
    """Tell how many passages a part shares with the training data.

    Args: known: the parts that the model to start from has learned from.
    """
    learned = {" ".join(one.text.split()) for one in parts["train"].passages}
    if "validation" not in parts:
        yield Noted(sentence=Sentence(data_notes.NONE_APART), level="wrong")
    for name in SPLITS[1:]:
        if name not in parts:
            continue
        passages = [" ".join(one.text.split()) for one in parts[name].passages]
        leaks = int(np.sum([one in learned for one in passages]))
        values = {
            "leaks": leaks,
            "total": len(passages),
            "part": name,
            "questions": len(parts[name].questions),
        }
        if not leaks and name in known:
            continue
        template = _LEAKS if leaks else _APART
        yield Noted(sentence=Sentence(template, values), level="look" if leaks else "fine")
