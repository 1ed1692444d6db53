"""Which words stand in the place of [MASK]?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import marked
from engine.events import Steps
from engine.language import heads
from engine.questions.fields import off_field, pair_field, switches, text_field
from engine.questions.question import Models, Question, asked, json_field
from engine.questions.writing import columns_of, padded

if TYPE_CHECKING:
    from engine.inspect.masked.joint import Joint
    from engine.inspect.masked.probe import GapTable
    from engine.inspect.masked.score import Guess

MOST_PIECES = 10_000


@dataclass(frozen=True)
class FillMaskQuestion(
    Question["GapTable | Joint"],
    command="fill-mask",
    help="guess the words hidden by [MASK]",
):
    """The guesses for each gap, or for all together. words, pieces: what is hidden besides, as in `mask`."""

    text: str = text_field()
    text_pair: str | None = pair_field()
    top_k: int = asked(5, "guesses for each [MASK]", minimum=1, maximum=1000)
    joint: bool = asked(False, "guess all [MASK]s together, by beam search", kw_only=True)
    off: tuple[str, ...] = off_field()
    json: bool = json_field("print tokens, ids and probabilities as JSON")
    words: tuple[int, ...] = asked((), flag=None, kw_only=True, minimum=0, maximum=MOST_PIECES)
    pieces: tuple[int, ...] = asked((), flag=None, kw_only=True, minimum=0, maximum=MOST_PIECES)

    def answer(self, models: Models) -> GapTable | Steps[Joint]:
        from engine.inspect.masked.joint import fill_jointly
        from engine.inspect.masked.masked import mask
        from engine.inspect.masked.probe import ask

        subject = models.subject(self.model)
        on = switches(self.off, subject)
        masked = mask(subject.about, self.text, self.text_pair, words=self.words, pieces=self.pieces)
        if self.joint:
            return fill_jointly(subject, masked, top_k=self.top_k, on=on)
        return ask(subject, masked, top_k=self.top_k, on=on)

    def document(self, found: GapTable | Joint) -> Any:
        from engine.inspect.masked.joint import Joint

        if isinstance(found, Joint):
            names = ("words", "probability", "independent")
            return [{name: getattr(one, name) for name in names} for one in found.fillings]
        return [[_guess_document(guess) for guess in one.guesses] for one in found.answers]

    def lines(self, found: GapTable | Joint) -> Iterator[str]:
        from engine.inspect.masked.joint import Joint

        if isinstance(found, Joint):
            both, alone = heads(marked("table", "together"), marked("table", "each alone"))
            yield " " * (8 - columns_of(both)) + both + " " * (12 - columns_of(alone)) + alone
            for one in found.fillings:
                yield f"{one.probability:8.4f}  {one.independent:10.4f}  {' · '.join(one.words)}"
            return
        for number, answer in enumerate(found.answers, start=1):
            yield f"[MASK] {number}"
            for guess in answer.guesses:
                yield f"  {padded(guess.word, 20)}{guess.probability:8.4f}"


def _guess_document(guess: Guess) -> dict[str, Any]:
    return {"token": guess.word, "id": guess.ids[0], "probability": guess.probability}
