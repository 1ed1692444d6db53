"""What the questions share that are asked of every text of a file, or of an open table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.events import Noted, Steps
from engine.questions.how_read import ReadSettings, how_field
from engine.questions.question import Found, Question, asked, given, json_field, out_field
from engine.text.reading.kinds import A_TABLE
from engine.text.table import Table, reading_table

if TYPE_CHECKING:
    from engine.evaluation.inside.texts import EncodedText
    from engine.inspect.loaded_model import LoadedModel
    from engine.text.roles import Roles

USUAL_TEXTS = 200
MOST_LINES = 20  # told on a terminal


def numbers_field() -> Any:
    """Return the field of a table that is written."""
    return out_field("a new CSV with every number")


def figures_field() -> Any:
    """Return the field that has figures printed as JSON."""
    return json_field("print the figures as JSON on stdout")


def reading(data: Path, how: ReadSettings, table: Table | None) -> Steps[Table]:
    """Return the table of a question: the open one, or else that of the file, whose notes are told."""
    if table is None:
        table = yield from reading_table(data, **how.named())
        for note in table.notes:
            yield Noted(sentence=note)
    return table


@dataclass(frozen=True)
class TableQuestion(Question[Found]):
    """A question over texts. table: the file as it is open in the window, mended."""

    data: Path = asked(help=A_TABLE)
    text: str = asked(help="the column with the text")
    text_pair: str = asked("", "the column with the second text")
    limit: int = asked(USUAL_TEXTS, "at most this many texts, evenly spread; 0: all", kw_only=True)
    out: Path | None = numbers_field()
    json: bool = figures_field()
    how: ReadSettings = how_field()
    table: Table | None = given()

    def reading(self) -> Steps[Table]:
        """Return the table."""
        return reading(self.data, self.how, self.table)

    def roles(self, table: Table, label: str = "") -> Roles:
        """Return the columns that are asked."""
        from engine.text.roles import Roles

        return Roles(*(table.column(name) if name else "" for name in (self.text, self.text_pair, label)))

    def texts(self, subject: LoadedModel, table: Table, label: str = "") -> Steps[list[EncodedText]]:
        """Return the texts that are asked. Raises: DataError."""
        from engine.evaluation.inside.texts import finding_texts

        return finding_texts(subject, table, self.roles(table, label), self.limit)
