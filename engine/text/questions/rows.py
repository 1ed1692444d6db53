"""A table with a question in each row: JSON lines, JSON lists, CSV and TSV, through the reader of tables.

An empty answer says that the passage has none; without a column of answers, nothing is known of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import Sentence
from engine.events import Beat, Steps
from engine.text.questions.columns import QuestionColumns, answers_in, starts_in
from engine.text.questions.gathering import Gathering, Given
from engine.text.questions.question import Place
from engine.text.table import Table

_AT_ONCE = 1024  # rows between two steps
_YES, _NO = ("true", "1", "yes", "1.0"), ("false", "0", "no", "0.0")


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
                gathering.report(Place(line=bad[0].line), bad.pop(0).sentence)
            _take(row, Place(line=line), bool(columns.answer), gathering)
        yield Beat()
    for one in bad:
        gathering.report(Place(line=one.line), one.sentence)


def _take(row: Sequence[str], place: Place, has_answers: bool, gathering: Gathering) -> None:
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
