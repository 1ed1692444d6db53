"""Which of two sentences is likelier, line by line?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.events import Steps
from engine.language import said
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.over_table import MOST_LINES, figures_field, numbers_field, reading
from engine.questions.question import Models, Question, asked, given
from engine.questions.writing import between, write_numbers
from engine.text.table import Table

if TYPE_CHECKING:
    from engine.evaluation.inside.pairs import PairRows


@dataclass(frozen=True)
class PairsQuestion(
    Question["tuple[Table, PairRows]"],
    command="pairs",
    help="show which of two sentences is more likely, line by line",
):
    """The likelihood of both sentences of each line. table: the file as it is open in the window."""

    data: Path = asked(help="a table with a pair of sentences per line")
    first: str = asked(help="the column whose sentence should be more likely")
    second: str = asked(help="the column of the other sentence")
    out: Path | None = numbers_field()
    json: bool = figures_field()
    how: ReadSettings = how_field()
    table: Table | None = given()

    def answer(self, models: Models) -> Steps[tuple[Table, PairRows]]:
        from engine.evaluation.inside.pairs import minimal_pairs

        subject = models.subject(self.model)
        subject.require("masked_words")
        table = yield from reading(self.data, self.how, self.table)
        return table, (yield from minimal_pairs(subject, table, self.first, self.second))

    def write(self, answer: tuple[Table, PairRows], out: Path) -> None:
        table, found = answer
        per_pair = (table.lines[found.rows], *found.logs.T, found.differences)
        columns = ["line", "log of first", "log of second", "difference"]
        write_numbers(out, columns, zip(*(one.tolist() for one in per_pair), strict=True))

    def document(self, answer: tuple[Table, PairRows]) -> Any:
        found = answer[1]
        return {
            "pairs": len(found.rows),
            "first_likelier": found.share,
            "interval": found.interval,
            "differences": found.differences.tolist(),
            "rows": found.rows.tolist(),
            "left_out": [str(sentence) for sentence in found.left_out.values()],
        }

    def lines(self, answer: tuple[Table, PairRows]) -> Iterator[str]:
        found = answer[1]
        left_out = [str(sentence) for sentence in found.left_out.values()]
        yield "\n".join(left_out[:MOST_LINES])
        share = f"{found.share:.3f}{between(found.interval)}"
        yield said(
            marked("engine", "first sentence more likely  {share}  of {count:,} pairs"),
            share=share,
            count=len(found.rows),
        )
