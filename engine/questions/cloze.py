"""How well are the words of many texts foreseen?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.events import Steps
from engine.language import heads, said
from engine.questions.fields import off_field, switches
from engine.questions.over_table import TableQuestion
from engine.questions.question import Models
from engine.questions.writing import between, padded, write_numbers

if TYPE_CHECKING:
    from engine.evaluation.inside.cloze import Cloze
    from engine.text.table import Table


@dataclass(frozen=True)
class ClozeQuestion(
    TableQuestion["tuple[Table, Cloze]"],
    command="cloze",
    help="measure how well the words of many texts are predicted",
):
    """Each word of the texts hidden in turn; the table is that in which their lines are."""

    off: tuple[str, ...] = off_field()

    def answer(self, models: Models) -> Steps[tuple[Table, Cloze]]:
        from engine.evaluation.inside.cloze import cloze

        subject = models.subject(self.model)
        subject.require("masked_words")
        on = switches(self.off, subject)
        table = yield from self.reading()
        texts = yield from self.texts(subject, table)
        return table, (yield from cloze(subject, texts, on=on))

    def write(self, answer: tuple[Table, Cloze], out: Path) -> None:
        table, found = answer
        columns = ["line", "tokens", "first guess", "first five", "pseudo-perplexity"]
        per_text = (table.lines[found.rows], found.tokens, found.right, found.among, found.perplexities)
        write_numbers(out, columns, zip(*(one.tolist() for one in per_text), strict=True))

    def document(self, answer: tuple[Table, Cloze]) -> Any:
        found = answer[1]
        return {
            "texts": len(found.rows),
            "tokens": int(found.tokens.sum()),
            "cloze_accuracy": found.accuracy,
            "cloze_accuracy_interval": found.accuracy_interval,
            "cloze_accuracy_5": found.accuracy_among,
            "pseudo_perplexity": found.perplexity,
            "pseudo_perplexity_interval": found.perplexity_interval,
        }

    def lines(self, answer: tuple[Table, Cloze]) -> Iterator[str]:
        found = answer[1]
        template = marked("engine", "{texts:,} texts, {pieces:,} pieces, each hidden in turn")
        yield said(template, texts=len(found.rows), pieces=int(found.tokens.sum()))
        names = heads(
            marked("table", "first guess right"),
            marked("table", "among five guesses"),
            marked("table", "pseudo-perplexity"),
        )
        told = (
            f"{found.accuracy:.3f}{between(found.accuracy_interval)}",
            f"{found.accuracy_among:.3f}",
            f"{found.perplexity:.2f}{between(found.perplexity_interval)}",
        )
        yield from (f"{padded(name, 20)}{one}" for name, one in zip(names, told, strict=True))
