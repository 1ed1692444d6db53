"""Which words do the answers of a classifier rest on?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.events import Steps
from engine.language import heads
from engine.questions.attribute import METHODS
from engine.questions.over_table import MOST_LINES, TableQuestion
from engine.questions.question import Models, asked
from engine.questions.writing import aligned, write_numbers

if TYPE_CHECKING:
    from engine.evaluation.inside.words import RestingWordRows

COLUMNS = ("word", "mean", "low", "high", "total", "texts")


@dataclass(frozen=True)
class RestingWordsQuestion(
    TableQuestion["RestingWordRows"],
    command="rests-on",
    help="show the most influential words of a classifier",
):
    """What each word adds to a label, over many texts."""

    label: str = asked(help="the label that words support or oppose", kw_only=True)
    method: str = asked(METHODS[0], choices=METHODS, kw_only=True)

    def answer(self, models: Models) -> Steps[RestingWordRows]:
        from engine.evaluation.inside.words import resting_words

        subject = models.subject(self.model)
        subject.require("labels")
        table = yield from self.reading()
        texts = yield from self.texts(subject, table)
        return (yield from resting_words(subject, texts, self.label, method=self.method))

    def write(self, found: RestingWordRows, out: Path) -> None:
        write_numbers(out, COLUMNS, _rows(found))

    def document(self, found: RestingWordRows) -> Any:
        words = [dict(zip(COLUMNS, row, strict=True)) for row in _rows(found)]
        return {"label": found.label, "texts": found.num_texts, "residual": found.residual, "words": words}

    def lines(self, found: RestingWordRows) -> Iterator[str]:
        rows, half = _rows(found), MOST_LINES // 2
        shown = rows if len(rows) <= MOST_LINES else [*rows[:half], *rows[-half:]]
        lines = [[str(row[0]), *(f"{value:+.3f}" for value in row[1:4]), str(row[5])] for row in shown]
        yield from aligned(
            [
                heads(
                    marked("table", "word"),
                    marked("table", "mean share"),
                    marked("table", "from"),
                    marked("table", "to"),
                    marked("table", "texts"),
                ),
                *lines,
            ]
        )


def _rows(found: RestingWordRows) -> list[list[Any]]:
    return [[getattr(one, name) for name in COLUMNS] for one in found.words]
