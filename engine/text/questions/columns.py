"""Which columns of a table hold questions, passages and answers: by their names, else by what stands in them.

What tells an answer is not its name: it stands in its passage.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from engine.errors import DataError, Sentence, marked
from engine.text.questions.gathering import Given
from engine.text.questions.placing import place_of, stands_at
from engine.text.questions.squad import given_answers, offset
from engine.text.table import Table, check_distinct

LOOKED_AT = 200  # rows that a guess is made from, spread over the table
_ENOUGH = 0.8  # share of the rows in which an unnamed column has to be what it is taken for
_MOST_CELL, _MOST_PYTHON = 1 << 20, 1 << 14  # characters of a cell that is read as a list, of Python's
_ARRAY = re.compile(
    r"array\((\[.*?\])(?:, *dtype=[\w.<>'\"]+)?\)", re.S
)  # as pandas writes those of `datasets`

# Names as people write them, lower-cased, _ for all but letters and digits; the best first.
_QUESTION = "question questions query query_text question_text 问题 提问 问"
_CONTEXT = (
    "context passage context_text paragraph passage_text document article text 上下文 文章 段落 原文 正文"
)
_ANSWER = "answers answer answer_text answers_text answer_span span 答案 回答 答"
_START = "answer_start answers_answer_start start answer_begin start_position offset begin 起始 开始 开始位置"
_NAMES: dict[str, tuple[str, ...]] = {
    "question": tuple(str.split(_QUESTION)),
    "context": tuple(str.split(_CONTEXT)),
    "answer": tuple(str.split(_ANSWER)),
    "start": tuple(str.split(_START)),
    "id": ("id", "question_id", "query_id", "qid"),
    "title": ("title", "article_title", "标题"),
    "impossible": ("is_impossible", "impossible", "no_answer", "unanswerable"),
}


@dataclass(frozen=True, slots=True)
class QuestionColumns:
    """Which columns are what, by name; "" for none."""

    question: str
    context: str
    answer: str = ""
    start: str = ""
    id: str = ""
    title: str = ""
    impossible: str = ""

    def given(self) -> dict[str, str]:
        """Return role -> column of those that are."""
        named = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {role: name for role, name in named if name}

    def in_table(self, table: Table) -> QuestionColumns:
        """Return them by the table's own names. Raises: DataError if one is not there."""
        return QuestionColumns(
            **{"question": "", "context": ""}
            | {role: table.column(name) for role, name in self.given().items()}
        )

    def resolved(self, table: Table) -> QuestionColumns:
        """Return them by the table's own names. Raises: DataError if one is missing or has two roles."""
        named = self.in_table(table)
        found = {one.name: getattr(named, one.name) for one in fields(self)}
        for role in ("question", "context"):
            if not found[role]:
                raise DataError(_NOT_CHOSEN[role], names=list(table.columns[:20]))
        check_distinct([name for name in found.values() if name])
        return named


_NOT_CHOSEN = {
    "question": marked("engine", "No column is chosen for the questions. The columns are: {names}."),
    "context": marked("engine", "No column is chosen for the passages. The columns are: {names}."),
}
_STANDS = marked(
    "engine",
    "{question} is the question, {context} the passage. {answer} occurs in it in "
    "{percent:.0f} % of the rows.",
)
_ASKS = marked("engine", "{question} is the question, {context} the passage. No column occurs in it.")


def guess_columns(
    table: Table, chosen: QuestionColumns | None = None
) -> tuple[QuestionColumns, Sentence] | None:
    """Return the columns that a table of questions most likely has, and why; None if it looks like none.

    Args: chosen: those that are known, by the table's own names.
    """
    step = -(-table.num_rows // LOOKED_AT) or 1
    cells = {name: table.frame[name].iloc[::step].tolist() for name in table.columns}
    return columns_of(cells, chosen)


def columns_of(
    cells: Mapping[str, Sequence[str]], chosen: QuestionColumns | None = None
) -> tuple[QuestionColumns, Sentence] | None:
    """Return the columns of questions among some columns of cells, all of one length, and why.

    Args: chosen: those that are known.
    """
    given = chosen.given() if chosen else {}
    plain = {_plain(name): name for name in reversed(list(cells)) if name not in given.values()}
    named = {
        role: next((plain[name] for name in names if name in plain), "") for role, names in _NAMES.items()
    } | given
    if not (named["question"] and named["context"]):
        named |= _by_content(cells, named)
    if not (named["question"] and named["context"]) or named["question"] == named["context"]:
        return None
    context, questions = cells[named["context"]], {named["question"], named["context"]}
    if not named["answer"]:
        named["answer"] = _standing(cells, context, {*named.values()})
    found = QuestionColumns(**named)
    if found.answer and not found.start:
        found = replace(found, start=_starting(cells, found, questions | {found.answer}))
    values = {"question": found.question, "context": found.context, "answer": found.answer}
    if not found.answer:
        return found, Sentence(_ASKS, values)
    return found, Sentence(_STANDS, {**values, "percent": 100 * share_standing(cells, found)})


def share_standing(cells: Mapping[str, Sequence[str]], columns: QuestionColumns) -> float:
    """Return the share of the rows with an answer, 0..1, in which it stands in the passage."""
    return _share(
        (place_of(context, given[0][0], None) is not None if given else None)
        for context, given in zip(cells[columns.context], map(answers_in, cells[columns.answer]), strict=True)
    )


def answers_in(cell: str) -> list[Given]:
    """Return the answers that a cell holds: a text, or a list or an object of JSON or of Python."""
    cell = cell.strip()
    if (cell[:1], cell[-1:]) not in (("[", "]"), ("{", "}")) or len(cell) > _MOST_CELL:
        return [(cell, None)] if cell else []
    for read in _READERS:
        try:
            value = read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list) or (isinstance(value, dict) and "text" in value):
            return given_answers(value)
    return [(cell, None)]


def starts_in(cell: str) -> list[int | None]:
    """Return the places that a cell holds: one number, or a list of them."""
    text = cell.strip().strip("[]() ")
    return [offset(part) for part in re.split(r"[\s,;]+", text)] if text else []


def _of_python(cell: str) -> Any:
    if len(cell) > _MOST_PYTHON or cell.count("array(") > 2:
        raise ValueError("no list of answers")
    return ast.literal_eval(_ARRAY.sub(r"\1", cell))


_READERS: tuple[Callable[[str], Any], ...] = (json.loads, _of_python)


def _by_content(cells: Mapping[str, Sequence[str]], named: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of questions and passages as they read: the longest texts, and those that ask."""
    lengths = {name: _mean(len(cell) for cell in column) for name, column in cells.items()}
    longest = sorted(cells, key=lambda name: -lengths[name])
    context = named["context"] or next((name for name in longest if name != named["question"]), "")
    asking = {
        name: _share(cell.rstrip().endswith(("?", "？")) for cell in column)
        for name, column in cells.items()
        if name != context
    }
    best = max(asking, key=lambda name: asking[name], default="")
    question = named["question"] or (best if best and asking[best] >= _ENOUGH else "")
    return {"question": question, "context": context}


def _standing(cells: Mapping[str, Sequence[str]], context: Sequence[str], taken: set[str]) -> str:
    """Return the column whose texts stand in the passages, the longest of them; "" for none."""
    fitting = [
        name
        for name, column in cells.items()
        if name not in taken
        and not all(cell.strip().isdigit() or not cell.strip() for cell in column)
        and _share(
            cell.strip() in passage if cell.strip() else None
            for cell, passage in zip(column, context, strict=True)
        )
        >= _ENOUGH
    ]
    return max(fitting, key=lambda name: _mean(len(cell) for cell in cells[name]), default="")


def _starting(cells: Mapping[str, Sequence[str]], columns: QuestionColumns, taken: set[str]) -> str:
    """Return the column of numbers at which the answers begin; "" for none."""
    context, answers = cells[columns.context], [answers_in(cell) for cell in cells[columns.answer]]
    for name, column in cells.items():
        if name in taken:
            continue
        right = _share(
            stands_at(passage, given[0][0], (starts_in(cell) or [None])[0]) if given else None
            for passage, given, cell in zip(context, answers, column, strict=True)
        )
        if right >= _ENOUGH:
            return name
    return ""


def _share(found: Any) -> float:
    """Return the share that is true of those that are not None; 0 of none."""
    return _mean(one for one in found if one is not None)


def _mean(values: Any) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def _plain(name: str) -> str:
    return re.sub(r"\W+|_+", "_", name.strip().lower()).strip("_")
