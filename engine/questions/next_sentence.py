"""Does a second text follow a first?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.language import said
from engine.questions.fields import off_field, switches, text_field
from engine.questions.question import Models, Question, given, json_field
from engine.questions.writing import percent

if TYPE_CHECKING:
    from engine.inspect.masked.follows import Follows


@dataclass(frozen=True)
class NextSentenceQuestion(
    Question["Follows"], command="next-sentence", help="show whether a second text follows the first"
):
    """Whether B follows A, and swapped. others: sentences of which some are asked in the place of B."""

    text: str = text_field("A")
    text_pair: str = text_field("B")
    off: tuple[str, ...] = off_field()
    json: bool = json_field("print is_next and its probability as JSON")
    others: tuple[str, ...] = given(())

    def answer(self, models: Models) -> Follows:
        from engine.inspect.masked.follows import follows

        subject = models.subject(self.model)
        on = switches(self.off, subject)
        return follows(subject, self.text, self.text_pair, others=self.others, on=on)

    def document(self, found: Follows) -> Any:
        return {"is_next": found.probability >= 0.5, "probability": found.probability}

    def lines(self, found: Follows) -> Iterator[str]:
        share = found.probability
        template = marked("engine", "B follows A: {share} that it does")
        if share < 0.5:
            template = marked("engine", "B does not follow A: {share} that it does")
        yield said(template, share=percent(share))
