"""How well does a model foresee each piece of a text?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.events import Steps
from engine.language import said
from engine.questions.fields import off_field, pair_field, switches, text_field
from engine.questions.question import Models, Question, json_field
from engine.questions.writing import padded

if TYPE_CHECKING:
    from engine.inspect.masked.perplexity import PseudoPerplexity


@dataclass(frozen=True)
class SurpriseQuestion(
    Question["PseudoPerplexity"],
    command="perplexity",
    help="show how well a model predicts each piece of a text",
):
    """The probability of each piece, hidden in turn, and what that comes to."""

    text: str = text_field()
    text_pair: str | None = pair_field()
    off: tuple[str, ...] = off_field()
    json: bool = json_field("print each piece’s probability and rank as JSON")

    def answer(self, models: Models) -> Steps[PseudoPerplexity]:
        from engine.inspect.masked.perplexity import pseudo_perplexity

        subject = models.subject(self.model)
        return pseudo_perplexity(subject, self.text, self.text_pair, on=switches(self.off, subject))

    def document(self, found: PseudoPerplexity) -> Any:
        names = ("piece", "probability", "rank")
        pieces = [{name: getattr(one, name) for name in names} for one in found.scores]
        return {"pseudo_perplexity": found.perplexity, "pieces": pieces}

    def lines(self, found: PseudoPerplexity) -> Iterator[str]:
        for one in found.scores:
            rank = said(marked("engine", "rank {rank}"), rank=one.rank)
            yield f"{padded(one.piece, 20)}{one.probability:8.4f}  {rank}"
        yield said(marked("engine", "pseudo-perplexity {value:.2f}"), value=found.perplexity)
