"""A file of questions, whatever its layout, becomes `PassageTable`; and whether a file looks like one.

Rows in = questions used + rows reported. The beginning of a file alone decides its layout.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps
from engine.text.questions.columns import (
    QuestionColumns,
    answers_in,
    columns_of,
    guess_columns,
    share_standing,
    starts_in,
)
from engine.text.questions.gathering import Gathering, Given
from engine.text.questions.question import PassageTable, QuestionPlace
from engine.text.questions.squad import reading_squad
from engine.text.reading.encoding import check_kind, cut_note, decode, encoding_name, guess_note
from engine.text.reading.file_check import opened
from engine.text.reading.sheets.known import sheet_kind
from engine.text.reading.whole import reading_whole
from engine.text.table import Table, reading_table

_HEAD = 1 << 20  # bytes that are looked at, for a passage may be long
_FEW = 20  # rows
_AT_ONCE = 1024  # rows between two steps
_YES, _NO = ("true", "1", "yes", "1.0"), ("false", "0", "no", "0.0")
_PARAGRAPHS = re.compile(r'"(paragraphs|qas)"\s*:\s*\[')
_QUERIES = re.compile(r'"(query_text|context_text)"\s*:')
_FLAT = re.compile(r'\s*\{(?:[^\[{]*,)?\s*"data"\s*:\s*\[\s*\{')
_ASKED = re.compile(r'"(question|query)"\s*:')

_SQUAD = marked("engine", "SQuAD")
_CMRC = marked("engine", "CMRC 2018")
_LOOKS_SQUAD = marked("engine", "It looks like a SQuAD file: passages with questions and their answers.")
_LOOKS_CMRC = marked("engine", "It looks like a CMRC file: passages with questions and their answers.")
_LOOKS_TABLE = marked(
    "engine", "It looks like questions: {question} asks about {context}, which contains {answer}."
)
_NO_COLUMNS = marked(
    "engine",
    "{path} does not look like questions about passages. Choose the columns of questions, passages and "
    "answers among: {names}.",
)


def reading_questions(
    path: str | Path, *, columns: QuestionColumns | None = None, **how: str
) -> Steps[PassageTable]:
    """Read a file of questions, step by step.

    Args:   columns: of a table; what is not given is guessed. how: it is read, as `reading_table` takes it.
    Raises: DataError if the file cannot be read, is laid out otherwise, breaks off, or none of its questions
            can be used.
    """
    path = Path(path)
    encoding = how.get("encoding", "")
    if not how.get("separator") and (layout := document_layout(path, encoding)):
        return (yield from _document(path, layout, encoding))
    table = yield from reading_table(path, **how)
    return (yield from questions_in(table, columns))


def questions_in(table: Table, columns: QuestionColumns | None = None) -> Steps[PassageTable]:
    """Take the questions of a table. Args, Raises: as `reading_questions`."""
    gathering, notes = Gathering(), list(table.notes)
    columns = columns.in_table(table) if columns else QuestionColumns("", "")
    guess = guess_columns(table, columns)
    if guess is not None:
        if not (columns.question and columns.context and columns.answer):
            notes.append(guess[1])
        columns = guess[0]
    elif not (columns.question or columns.context):
        raise DataError(_NO_COLUMNS, path=table.path, names=list(table.columns[:20]))
    yield from reading_rows(table, columns, gathering)
    found = gathering.finish(table.path, layout_of(table), table.format.encoding, table.sha256, notes)
    return replace(found, columns=columns.given())


def reading_rows(table: Table, columns: QuestionColumns, gathering: Gathering) -> Steps[None]:
    """Take a question from each row, and what the table's reader reported. Raises: DataError for columns."""
    columns = columns.resolved(table)
    wanted = [
        getattr(columns, role)
        for role in ("question", "context", "answer", "start", "id", "title", "impossible")
    ]
    arrays = [table.frame[name].array if name else None for name in wanted]
    bad = list(table.reported)
    for start in range(0, table.num_rows, _AT_ONCE):
        stop = min(start + _AT_ONCE, table.num_rows)
        cells = [[""] * (stop - start) if one is None else one[start:stop].tolist() for one in arrays]
        for line, *row in zip(table.lines[start:stop].tolist(), *cells, strict=True):
            while bad and bad[0].line < line:
                gathering.report(QuestionPlace(line=bad[0].line), bad.pop(0).sentence)
            _take(row, QuestionPlace(line=line), bool(columns.answer), gathering)
        yield Beat()
    for one in bad:
        gathering.report(QuestionPlace(line=one.line), one.sentence)


def _take(row: Sequence[str], place: QuestionPlace, has_answers: bool, gathering: Gathering) -> None:
    question, context, answer, start, id, title, impossible = row
    gathering.add(
        place,
        context,
        question,
        given_in(answer, start) if has_answers else None,
        title=title.strip(),
        id=id,
        impossible=_flag(impossible),
    )


def given_in(answer: str, start: str) -> list[Given]:
    """Return the answers of a cell, with their places from the cell of starts where they bring none."""
    given, starts = answers_in(answer), starts_in(start)
    return [
        (text, starts[place] if own is None and place < len(starts) else own)
        for place, (text, own) in enumerate(given)
    ]


def _flag(cell: str) -> bool | None:
    cell = cell.strip().lower()
    return True if cell in _YES else False if cell in _NO else None


def layout_of(table: Table) -> Sentence:
    """Return how the file is laid out, for a person."""
    return Sentence("{format}", {"format": str(table.format)})


def looks_like_questions(path: str | Path, chosen: QuestionColumns | None = None) -> Sentence | None:
    """Return why a file looks like questions with answers in passages, by its beginning; None if it does not.

    A file that cannot be read looks like nothing: whoever reads it says what is wrong with it.
    Args: chosen: the columns that are to be read: with others, a table does not look like questions.
    """
    try:
        head = _head(Path(path), "")
    except DataError:
        return None
    layout = _layout_of(head)
    if layout:
        return Sentence(_LOOKS_CMRC if layout == _CMRC else _LOOKS_SQUAD)
    for cells in _samples(head):
        found = columns_of(cells)
        if found and found[0].answer and share_standing(cells, found[0]) >= 0.5:
            columns = found[0]
            if chosen and not _agree(columns, chosen, list(cells)):
                return None
            values = {"question": columns.question, "context": columns.context, "answer": columns.answer}
            return Sentence(_LOOKS_TABLE, values)
    return None


def _document(path: Path, layout: str, encoding: str) -> Steps[PassageTable]:
    found, sha256 = yield from reading_whole(path, encoding)
    notes = [guess_note(found)] if found.guessed else []
    notes += [cut_note(found.num_cut)] if found.num_cut else []
    gathering = Gathering()
    yield from reading_squad(found.text, path, gathering)
    return gathering.finish(path, Sentence(layout), found.encoding, sha256, notes)


def _head(path: Path, encoding: str) -> str:
    """Return how a file begins; half a character at its end does not matter. Raises: DataError."""
    with opened(path) as file:
        data = file.read(_HEAD)
    check_kind(data, path)
    return data.decode(encoding_name(encoding), "replace") if encoding else decode(data, path).text


def _agree(found: QuestionColumns, chosen: QuestionColumns, names: list[str]) -> bool:
    """Whether columns that were chosen, by name or 1-based number, have the roles that were found for them.

    A text without a second one is to be classified.
    """
    given = chosen.given()
    if "question" in given and "context" not in given:
        return False
    numbers = {str(place): name for place, name in enumerate(names, 1)}
    named = {role: name if name in names else numbers.get(name, name) for role, name in given.items()}
    return found.given() | named == found.given()


def document_layout(path: Path, encoding: str = "") -> str:
    """Return which layout of passages with questions a file has, as a marked word; "" for a table's.

    Raises: DataError if it cannot be read.
    """
    return "" if sheet_kind(path) else _layout_of(_head(path, encoding))


def _layout_of(head: str) -> str:
    if not head.lstrip().startswith(("{", "[")):
        return ""
    if _PARAGRAPHS.search(head):
        return _CMRC if _QUERIES.search(head) else _SQUAD
    return _SQUAD if _FLAT.match(head) and _ASKED.search(head) else ""


def _samples(head: str) -> Iterator[dict[str, list[str]]]:
    """Yield the first rows of a text as columns, for each way in which it may be a table."""
    if head.lstrip().startswith(("{", "[")):
        rows = list(islice(_objects(head), _FEW))
        names = dict.fromkeys(name for row in rows for name in row)
        yield {name: [_cell(row.get(name)) for row in rows] for name in names}
        return
    for separator in ",\t;|":
        with suppress(csv.Error):
            lines = iter(head.splitlines(keepends=True))
            records = list(islice(csv.reader(lines, delimiter=separator), _FEW + 1))
            width = len(records[0]) if records else 0
            full = [record for record in records if len(record) == width]
            if width > 1 and len(full) > 1 and len(set(full[0])) == width:
                yield {name: [row[place] for row in full[1:]] for place, name in enumerate(full[0])}


def _objects(head: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that a text begins with, one after another or in a list."""
    decoder, place = json.JSONDecoder(), 0
    with suppress(ValueError, RecursionError):
        while (place := head.find("{", place)) >= 0:
            value, place = decoder.raw_decode(head, place)
            yield value


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
