"""Which word belongs into the blank?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.errors import Sentence
from engine.family.questions.question import (
    FamilyQuestion,
    Rows,
    about_document,
    bert_arguments,
    one_text,
)

if TYPE_CHECKING:
    from engine.family.ask import Family, FilledBlank


@dataclass(frozen=True, slots=True)
class BlankGuesses:
    """What the members say of a blank. words: of the text, the blank among them at `place`. limits: an
    example at which a member fails. own: what the family's BERT says where another answers for it.
    num_words: among which they choose. written: the words as the text has them, where some are unknown.
    """

    filled: Mapping[str, FilledBlank]
    words: tuple[str, ...]
    place: int
    limits: Mapping[str, Sentence]
    own: FilledBlank | None = None
    num_words: int = 0
    written: tuple[str, ...] = ()


@dataclass(frozen=True)
class FillBlank(FamilyQuestion[BlankGuesses]):
    """A text with one [MASK]. right: the word that belongs there, "" for none. count: guesses of each. bert:
    the folder of a BERT that answers in the place of the family's.
    """

    text: str
    right: str = ""
    count: int = 5
    bert: Path | None = None

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        return cls(options.family, one_text(options), options.answer, max(1, options.count), options.bert)

    def found(self, family: Family) -> BlankGuesses:
        from engine.family.limits import limits
        from engine.family.members import MASK, NUM_SPECIALS

        filled, shown = family.fill(self.text, self.count, self.right), limits(family, self.text)
        own = None if self.bert is None else filled.get("bert")
        if self.bert is not None and own is not None:
            p = family.in_practice(self.bert).blank(self.text, family.wordpiece.tokens)
            right = family.word(self.right) if self.right else None
            filled["bert"] = family.filled("bert", p, self.count, right)
            shown.pop("bert", None)  # of the family's own
        written = tuple(self.text[a:b] for a, b in family.wordpiece.encode(self.text).offsets[1:-1])
        ids, count = family.words(self.text), family.wordpiece.vocab_size - NUM_SPECIALS
        return BlankGuesses(
            filled, tuple(map(family.token, ids)), ids.index(MASK), shown, own, count, written
        )

    def document(self, family: Family, found: BlankGuesses) -> Any:
        document: dict[str, Any] = {
            name: [{"word": guess.word, one.about.says: guess.value} for guess in one.guesses]
            for name, one in found.filled.items()
        }
        document["about"] = {
            name: {**about_document(name), **({} if one.rank is None else {"rank": one.rank})}
            for name, one in found.filled.items()
        }
        return document

    def rows(self, family: Family, found: BlankGuesses) -> Rows:
        rows: Rows = [("member", "may see", "says", "guesses")]
        for one in found.filled.values():
            guesses = ", ".join(f"{guess.word} {guess.value:.3f}" for guess in one.guesses)
            rank = "" if one.rank is None else f"; “{self.right}” is number {one.rank}"
            rows.append((one.about.said, one.about.seen, one.about.says, guesses + rank))
        return rows

    def arguments(self) -> list[str]:
        return [self.text, *(["--answer", self.right] if self.right else []), *bert_arguments(self.bert)]
