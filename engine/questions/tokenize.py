"""How does a text become pieces, and what became of its capitals, accents, Chinese, emoji and numbers?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import WORD, captioned, marked, sentences
from engine.language import heads, said, spoken
from engine.model.model_name import ModelName
from engine.questions.fields import pair_field, text_field
from engine.questions.question import Models, Question, asked, json_field
from engine.questions.writing import columns_of, padded

if TYPE_CHECKING:
    from engine.inspect.treatment import Treatment
    from engine.text.tokenizer import Encoding


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text or pair in pieces. treatments: what became of each text, whole."""

    encoding: Encoding
    treatments: tuple[Treatment, ...]


@dataclass(frozen=True)
class TokenizeQuestion(Question["TokenizedText"], command="tokenize", help="show how a text becomes pieces"):
    """The pieces of a text or pair, as a model reads them."""

    model: ModelName = asked(help="a model folder or a vocab.txt")
    text: str = text_field()
    text_pair: str | None = pair_field()
    max_length: int | None = asked(None, kw_only=True)
    truncation: str = asked("longest_first", choices=("longest_first", "head", "head_tail"), kw_only=True)
    json: bool = json_field("print ids, segments, spans and what was done to the text as JSON")

    def answer(self, models: Models) -> TokenizedText:
        from engine.inspect.treatment import treatment
        from engine.text.read_tokenizer import read_tokenizer
        from engine.text.trace import trace
        from engine.text.wordpiece import WordPiece

        place = self.model.folder
        tokenizer = WordPiece.from_vocab(place) if place.is_file() else read_tokenizer(place)
        encoding = tokenizer.encode(
            self.text, self.text_pair, max_length=self.max_length, truncation=self.truncation
        )
        texts = (self.text,) if self.text_pair is None else (self.text, self.text_pair)
        return TokenizedText(encoding, tuple(treatment(tokenizer, trace(tokenizer, text)) for text in texts))

    def document(self, found: TokenizedText) -> Any:
        names = ("tokens", "input_ids", "token_type_ids", "attention_mask", "offsets")
        return {name: getattr(found.encoding, name) for name in names} | {
            "treatment": [
                {"pieces": one.num_pieces, "unknown": one.num_unknown}
                | {topic: " ".join(map(str, said)) for topic, said in one.said.items()}
                for one in found.treatments
            ]
        }

    def lines(self, found: TokenizedText) -> Iterator[str]:
        one = found.encoding
        names = heads(
            marked("table", "token"),
            marked("table", "id"),
            marked("table", "segment"),
            marked("table", "characters"),
        )
        room = [" " * (width - columns_of(name)) for name, width in zip(names[1:3], (8, 9), strict=True)]
        yield f"{padded(names[0], 20)}{room[0]}{names[1]}{room[1]}{names[2]}  {names[3]}"
        for token, number, segment, span in zip(
            one.shown, one.input_ids, one.token_type_ids, one.offsets, strict=True
        ):
            yield f"{padded(token, 20)}{number:>8}{segment:>9}  {span[0]}-{span[1]}"
        template = marked("engine", "{name}: {pieces} pieces, {unknown} unknown")
        for name, told in zip("AB", found.treatments, strict=False):
            yield said(template, name=name, pieces=told.num_pieces, unknown=told.num_unknown)
            for topic, lines in told.said.items():
                yield f"   {captioned(spoken(topic, WORD), sentences(map(str, lines)))}"
