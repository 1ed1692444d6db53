"""What would each layer put in the place of a word?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import UserError, listed, marked
from engine.language import said
from engine.questions.fields import off_field, pair_field, switches, text_field
from engine.questions.flags import Flag
from engine.questions.question import Models, Question, asked, json_field
from engine.questions.writing import padded

if TYPE_CHECKING:
    from engine.inspect.masked.lens import Lens
    from engine.inspect.masked.score import GapAnswer


@dataclass(frozen=True)
class LayersQuestion(Question["Lens"], command="layers", help="show what each layer would guess for a word"):
    """The guesses of each layer. pieces: what is hidden besides, as in `mask`."""

    text: str = text_field()
    text_pair: str | None = pair_field()
    hide: tuple[int, ...] = asked(
        (),
        "hide the N-th word, counted from 1 over TEXT and TEXT_PAIR; repeatable; a [MASK] is always hidden",
        flag=Flag("N"),
        kw_only=True,
    )
    top_k: int = asked(5, "guesses of each layer", kw_only=True)
    off: tuple[str, ...] = off_field()
    json: bool = json_field("print each layer’s guesses, and the hidden word’s probability and rank, as JSON")
    pieces: tuple[int, ...] = asked((), flag=None, kw_only=True)

    def answer(self, models: Models) -> Lens:
        from engine.inspect.masked.lens import lens
        from engine.inspect.masked.masked import mask
        from engine.text.words import words_of

        subject = models.subject(self.model)
        texts = (self.text, self.text_pair)
        count = len(words_of(subject.about.encode(*texts), *texts))
        for number in self.hide:
            if not 0 < number <= count:
                template = marked(
                    "engine", "--hide {number}: this text has {count} words. Count them from 1."
                )
                raise UserError(template, number=number, count=count)
        words = [number - 1 for number in self.hide]
        masked = mask(subject.about, *texts, words=words, pieces=self.pieces)
        return lens(subject, masked, top_k=self.top_k, on=switches(self.off, subject))

    def document(self, found: Lens) -> Any:
        return [[_answer_document(answer) for answer in answers] for answers in found.layers]

    def lines(self, found: Lens) -> Iterator[str]:
        for number, gap in enumerate(found.masked.gaps):
            yield f"[MASK] {number + 1}  {gap.text}"
            for layer, answers in enumerate(found.layers):
                guesses = listed(f"{one.word} {one.probability:.4f}" for one in answers[number].guesses)
                name = padded(said(marked("engine", "layer {layer}"), layer=layer), 9)
                yield f"  {name}{guesses}{_stood_there(answers[number])}"


def _answer_document(answer: GapAnswer) -> dict[str, Any]:
    own, guesses = answer.original, [(one.word, one.probability) for one in answer.guesses]
    document: dict[str, Any] = {"guesses": [{"token": word, "probability": p} for word, p in guesses]}
    if own is not None:
        document["original"] = {"token": own.word, "probability": own.probability, "rank": own.rank}
    return document


def _stood_there(answer: GapAnswer) -> str:
    own = answer.original
    if own is None:
        return ""
    rank = "" if own.rank is None else " " + said(marked("engine", "rank {rank}"), rank=own.rank)
    return f"  |  {own.word} {own.probability:.4f}{rank}"
