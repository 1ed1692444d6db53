"""Which word belongs into the blank?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from engine.errors import Sentence, clauses, listed, marked
from engine.events import AnswerSoFar, Steps
from engine.family.questions.question import (
    FamilyQuestion,
    Rows,
    about_document,
    bert_arguments,
    one_text,
    other_arguments,
)
from engine.language import said

if TYPE_CHECKING:
    from engine.family.ask import Family, FilledBlank
    from engine.family.other import ModelSize
    from engine.family.other_guesses import OtherGuesses
    from engine.family.per_word import PerWord, WordLogs


@dataclass(frozen=True, slots=True)
class BlankGuesses:
    """What the members say of a blank. words: of the text, the blank among them at `place`. limits: an
    example at which a member fails. own: what the family's BERT says where another answers for it.
    num_words: among which they choose. written: the words as the text has them, where some are unknown.
    others: models next to them. sizes, logs: of the members, where there are others; logs: of the words of
    the text with the right one in its place, of which there are num_spaced as spaces part them.
    """

    filled: Mapping[str, FilledBlank]
    words: tuple[str, ...]
    place: int
    limits: Mapping[str, Sentence]
    own: FilledBlank | None = None
    num_words: int = 0
    written: tuple[str, ...] = ()
    others: tuple[OtherGuesses, ...] = ()
    sizes: Mapping[str, ModelSize] = field(default_factory=dict)
    logs: Mapping[str, WordLogs] = field(default_factory=dict)
    num_spaced: int = 0

    def per_word(self) -> tuple[dict[str, PerWord], dict[int, PerWord]]:
        """Return the pseudo-perplexity per word, by member and by place among the others."""
        from engine.family.per_word import per_word

        others = {str(place): one.logs for place, one in enumerate(self.others) if one.logs is not None}
        found = per_word({**self.logs, **others})
        members = {name: one for name, one in found.items() if name not in others}
        return members, {int(name): one for name, one in found.items() if name in others}


@dataclass(frozen=True)
class FillBlank(FamilyQuestion[BlankGuesses]):
    """A text with one [MASK]. right: the word that belongs there, "" for none. count: guesses of each. bert:
    the folder of a BERT that answers in the place of the family's. others: folders of models next to them.
    """

    takes_others = True

    text: str
    right: str = ""
    count: int = 5
    bert: Path | None = None
    others: tuple[Path, ...] = ()

    @classmethod
    def given_by(cls, options: Namespace) -> Self:
        text, count = one_text(options), max(1, options.count)
        return cls(options.family, text, options.answer, count, options.bert, tuple(options.beside))

    @property
    def whole(self) -> str:
        """The text with the right word in its blank; "" where that is not known."""
        return self.text.replace("[MASK]", self.right) if self.right else ""

    def answer(self, family: Family) -> Steps[BlankGuesses]:
        found = self.found(family)
        return (yield from self._with_others(family, found)) if self.others else found

    def _with_others(self, family: Family, found: BlankGuesses) -> Steps[BlankGuesses]:
        """Return answers with those of the other models, one after the other."""
        from engine.family.other_guesses import OtherGuesses, ask_other, members_logs, sizes
        from engine.inspect.masked.perplexity import spaced_words

        others, place = [OtherGuesses(folder) for folder in self.others], 0
        found = replace(found, others=tuple(others), sizes=sizes(family, self.bert))
        yield AnswerSoFar(value=found)
        if self.whole:
            logs = yield from members_logs(family, self.whole, self.bert)
            found = replace(found, logs=logs, num_spaced=len(spaced_words(self.whole)))
            yield AnswerSoFar(value=found)
        for place, folder in enumerate(self.others):
            others[place] = yield from ask_other(
                family, folder, self.text, self.right, self.count, self.whole
            )
            found = replace(found, others=tuple(others))
            yield AnswerSoFar(value=found)
        return found

    def found(self, family: Family) -> BlankGuesses:
        from engine.family.limits import limits
        from engine.family.members import MASK, NUM_SPECIALS

        filled, shown = family.fill(self.text, self.count, self.right), limits(family, self.text)
        own = None if self.bert is None else filled.get("bert")
        if self.bert is not None and own is not None:
            p = family.other(family.open_model(self.bert)).blank(self.text).among_words()
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
        if self.others:
            self._add_others(document, found)
        return document

    def _add_others(self, document: dict[str, Any], found: BlankGuesses) -> None:
        from engine.family.other_guesses import document_of, per_word_document

        members, others = found.per_word()
        for name, size in found.sizes.items():
            document["about"][name]["size"] = asdict(size)
            document["about"][name]["per_word"] = per_word_document(members.get(name))
        document["others"] = [document_of(one, others.get(place)) for place, one in enumerate(found.others)]

    def rows(self, family: Family, found: BlankGuesses) -> Rows:
        from engine.family.other_guesses import row_of, size_words

        members, others = found.per_word()
        more = ("parameters", "vocabulary", "perplexity per word") if self.others else ()
        rows: Rows = [("member", "may see", "says", "guesses", *more)]
        for name, one in found.filled.items():
            guesses = listed(f"{guess.word} {guess.value:.3f}" for guess in one.guesses)
            rank = said(marked("engine", "“{word}” is number {rank}"), word=self.right, rank=one.rank)
            size = size_words(found.sizes.get(name), members.get(name)) if self.others else ()
            rows.append(
                (
                    one.about.said,
                    one.about.seen,
                    one.about.says,
                    clauses((guesses, *([] if one.rank is None else [rank]))),
                    *size,
                )
            )
        return [
            *rows,
            *(row_of(one, self.right, others.get(place)) for place, one in enumerate(found.others)),
        ]

    def lines(self, family: Family, found: BlankGuesses) -> list[str]:
        from engine.family.other_guesses import MAY_HAVE_READ, ONE_PIECE, PER_WORD

        notes = ["", ONE_PIECE, *([PER_WORD] if self.whole else []), MAY_HAVE_READ] if self.others else []
        return [*super().lines(family, found), *notes]

    def arguments(self) -> list[str]:
        right = ["--answer", self.right] if self.right else []
        return [self.text, *right, *bert_arguments(self.bert), *other_arguments(self.others)]
