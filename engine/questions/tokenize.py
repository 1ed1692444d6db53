"""How does a text become WordPieces?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.model.model_name import ModelName
from engine.questions.fields import pair_field, text_field
from engine.questions.question import Models, Question, asked, json_field

if TYPE_CHECKING:
    from engine.text.tokenizer import Encoding


@dataclass(frozen=True)
class TokenizeQuestion(Question["Encoding"], command="tokenize", help="show how a text becomes pieces"):
    """The pieces of a text or pair, as a model reads them."""

    model: ModelName = asked(help="a model folder or a vocab.txt")
    text: str = text_field()
    text_pair: str | None = pair_field()
    max_length: int | None = asked(None, kw_only=True)
    truncation: str = asked("longest_first", choices=("longest_first", "head", "head_tail"), kw_only=True)
    json: bool = json_field("print ids, segments and spans as JSON")

    def answer(self, models: Models) -> Encoding:
        from engine.text.read_tokenizer import read_tokenizer
        from engine.text.wordpiece import WordPiece

        place = self.model.folder
        wordpiece = WordPiece.from_vocab(place) if place.is_file() else read_tokenizer(place)
        return wordpiece.encode(
            self.text, self.text_pair, max_length=self.max_length, truncation=self.truncation
        )

    def document(self, found: Encoding) -> Any:
        names = ("tokens", "input_ids", "token_type_ids", "attention_mask", "offsets")
        return {name: getattr(found, name) for name in names}

    def lines(self, found: Encoding) -> Iterator[str]:
        yield f"{'token':<20}{'id':>8}{'segment':>9}  characters"
        for token, number, segment, span in zip(
            found.shown, found.input_ids, found.token_type_ids, found.offsets, strict=True
        ):
            yield f"{token:<20}{number:>8}{segment:>9}  {span[0]}-{span[1]}"
