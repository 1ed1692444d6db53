"""A file of questions as the settings name it, and what a person is told of it.

Rows in = questions used + rows reported: what is mended or cannot be used is told by its place in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import ConfigError, DataError, Sentence, clauses, marked, some_of
from engine.events import Event, Noted, Steps
from engine.settings.finetune import DataConfig
from engine.text.questions.columns import QuestionColumns
from engine.text.questions.question import PassageTable, Remark
from engine.text.questions.reading import document_layout, questions_in, reading_questions
from engine.text.reading.kinds import A_TABLE
from engine.text.table import BadLine, Table, reading_table
from engine.train.answer_scores import rule_for, rule_sentence

MOST_TOLD = 100  # remarks on rows that are told one by one
_MOST_PLACES = 20  # named in one sentence

_REPORTED = marked(
    "engine", "{count:,} of {total:,} rows of {name} cannot be used: {places}. The first: {first}"
)
_REPAIRED = marked("engine", "{count:,} answers of {name} were fixed: {places}. The first: {first}")
_MORE = marked("engine", "The same applies to {count:,} more rows: {places}.")


@dataclass(frozen=True, slots=True)
class OpenedQuestions:
    """A file of questions as a window shows it."""

    questions: PassageTable

    @property
    def path(self) -> Path:
        return self.questions.path

    @property
    def num_examples(self) -> int:
        return self.questions.num_used

    @property
    def label_counts(self) -> Mapping[str, int]:
        return {}

    @property
    def reported(self) -> tuple[BadLine, ...]:
        return tuple(BadLine(one.place.line, one.sentence) for one in self.questions.reported)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        return tuple(
            event.sentence for event in on_file(self.questions) if event.sentence.template != _REPORTED
        )

    def texts(self) -> Iterator[tuple[str, str | None]]:
        for question in self.questions.questions:
            yield question.text, self.questions.passage_of(question)


def columns_named(data: DataConfig) -> QuestionColumns:
    """Return the columns that the settings name."""
    return QuestionColumns(data.text, data.text_pair, data.label, data.answer_start)


def opening(
    data: DataConfig, path: str, field: str, roles: Mapping[str, str] | None = None
) -> Steps[PassageTable]:
    """Read a file of questions. Args: roles: columns that are read where the settings name none, and the file
    has them.

    Raises: ConfigError if no path is given; DataError.
    """
    if not path:
        template = marked("engine", "No data was chosen. Give questions: SQuAD’s JSON, or {a_table}.")
        raise ConfigError(template, field=field, a_table=Sentence(A_TABLE))
    if not data.separator and document_layout(Path(path), data.encoding):
        return (yield from reading_questions(path, encoding=data.encoding))
    table = yield from reading_table(path, **data.how_of(field.removesuffix("_data")))
    return (yield from questions_in(table, _columns(data, table, roles or {})))


def _columns(data: DataConfig, table: Table, roles: Mapping[str, str]) -> QuestionColumns:
    named = columns_named(data)
    known = {role: name for role, name in roles.items() if name in table.columns}
    if not named.given() and {"text", "text_pair"} <= known.keys():
        return QuestionColumns(known["text"], known["text_pair"], known.get("label", ""))
    return named


def known_answers(questions: PassageTable) -> np.ndarray:
    """Return (Q,) the places of the questions whose answers are known. Raises: DataError if none are."""
    known = [place for place, one in enumerate(questions.questions) if one.answers is not None]
    if not known:
        template = marked(
            "engine",
            "{path} holds no answers. Choose the column of answers, or a file that has them.",
        )
        raise DataError(template, path=questions.path)
    return np.array(known, np.int64)


def on_file(questions: PassageTable) -> Iterator[Noted]:
    """Tell how a file was read: its notes, and in a sentence each what was mended and what cannot be used."""
    for note in questions.notes:
        yield Noted(sentence=note, level="fine")
    for template, remarks in ((_REPAIRED, questions.repaired), (_REPORTED, questions.reported)):
        if remarks:
            values = {
                "count": len(remarks),
                "total": questions.num_rows,
                "name": questions.path.name,
                "places": _places(remarks),
                "first": remarks[0].sentence,
            }
            yield Noted(sentence=Sentence(template, values))


def on_each(questions: PassageTable) -> Iterator[Event]:
    """Tell how a file was read: its notes, and every row that was mended or cannot be used."""
    for note in questions.notes:
        yield Noted(sentence=note, level="fine")
    remarks = (*questions.repaired, *questions.reported)
    for remark in remarks[:MOST_TOLD]:
        yield Noted(sentence=remark.sentence)
    for start in range(MOST_TOLD, len(remarks), MOST_TOLD):
        some = remarks[start : start + MOST_TOLD]
        values = {"count": len(some), "places": [str(one.place.sentence()) for one in some]}
        yield Noted(sentence=Sentence(_MORE, values))


def on_rule(questions: PassageTable) -> Noted:
    """Say by which rule answers are scored."""
    return Noted(sentence=rule_sentence(rule_for(questions)), level="fine")


def remarks_document(read: Sequence[PassageTable], which: str) -> list[dict[str, Any]]:
    """Return what was `repaired` or `reported` in files, for setup/setup.json."""
    return [
        {"file": one.path.name, "line": remark.place.line, "reason": str(remark.sentence)}
        for one in read
        for remark in getattr(one, which)
    ]


def _places(remarks: Sequence[Remark]) -> str:
    return clauses(some_of([str(one.place.sentence()) for one in remarks], _MOST_PLACES))
