"""A model that was not trained with the family: of any family of models, with a vocabulary of its own.

It reads the text itself, not what the family's vocabulary makes of it. A blank is one piece to it: a word
that it spells in several has no probability there. Its rank is among the family's words, whatever their
capitals, so that it is among the same words as the ranks of all others.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from engine.errors import UserError, marked
from engine.inspect.loaded_model import LoadedModel, looking
from engine.inspect.passes import InputRow, check_row, layer_states, parts, word_logs
from engine.model.families.known import family_of
from engine.model.folder import read_json
from engine.text.tokenizer import Tokenizer

# V pieces of the model, W words of the family, L layers, D width

MOST_KEPT = 8  # vocabularies
_FIRST = 1  # place of a text's first piece
_NONE = 0  # [PAD], which is no word
_SOME = 200  # words that tell whether the beginning of a text has other pieces


@dataclass(frozen=True, slots=True)
class ModelSize:
    """How large a model is, and what it reads. kind: of its pieces, marked. lowercase, strips: whether it
    loses capitals, and accents.
    """

    num_weights: int
    num_pieces: int
    kind: str
    lowercase: bool
    strips: bool


@dataclass(frozen=True, slots=True)
class AboutOther:
    """What a model is, as its own files say. family: of models, as it is published, of which `year` and
    `paper` are.
    """

    family: str
    year: int
    paper: str
    size: ModelSize


@dataclass(frozen=True, eq=False)
class PieceWords:
    """Which pieces of a model are whole words, and which of the family's. words: the family's vocabulary."""

    pieces: Tokenizer
    words: Tokenizer

    @cached_property
    def spelled(self) -> tuple[str, ...]:
        """The pieces as they would be written."""
        return tuple(self.pieces.spelled([piece]) for piece in range(self.pieces.vocab_size))

    @cached_property
    def within(self) -> np.ndarray:
        """(V,) which pieces are no special ones and go on with no word where others stand before them."""
        found: np.ndarray = ~self.pieces.may_go_on & np.array([bool(one) for one in self.spelled])
        found[list(self.pieces.special_ids)] = False
        return found

    @cached_property
    def at_start(self) -> np.ndarray:
        """(V,) the same where nothing stands before them: some vocabularies have other pieces for it."""
        some = [self.spelled[piece] for piece in np.flatnonzero(self.within)[-_SOME:]]
        ways = (self.pieces.encode_ids(some), self.pieces.encode_words(some))
        if all(map(np.array_equal, *ways)):
            return self.within
        cut = self.pieces.encode_ids(self.spelled)
        found: np.ndarray = self.within | np.array([ids.tolist() == [piece] for piece, ids in enumerate(cut)])
        found[list(self.pieces.special_ids)] = False
        return found

    def has(self, word: int) -> bool:
        """Whether a word of the family is one piece."""
        return bool((self.word_of[self.within] == word).any())

    @cached_property
    def word_of(self) -> np.ndarray:
        """(V,) which word of the family each piece is, [PAD] where it is none."""
        known, special = set(map(_plain, self.words.tokens)), self.words.special_ids
        near = [piece for piece, word in enumerate(self.spelled) if _plain(word) in known]
        cut = self.words.encode_words([self.spelled[piece] for piece in near])
        found = np.full(len(self.spelled), _NONE)
        for piece, ids in zip(near, cut, strict=True):
            if len(ids) == 1 and int(ids[0]) not in special:
                found[piece] = ids[0]
        return found


@dataclass(frozen=True, eq=False, slots=True)
class OtherBlank:
    """What a model says of a blank. p: (V,) of each piece that is a whole word there, else 0."""

    p: np.ndarray
    vocabulary: PieceWords

    def among_words(self) -> np.ndarray:
        """Return (W,) the probability of each word of the family, with capitals or without."""
        vocabulary = self.vocabulary
        found = np.bincount(vocabulary.word_of, self.p, vocabulary.words.vocab_size)
        found[_NONE] = 0.0
        return found

    def guesses(self, count: int) -> list[tuple[str, float]]:
        """Return the likeliest words as it writes them; pieces that are written alike are one word."""
        found = dict[str, float]()
        for piece in np.argsort(-self.p, kind="stable")[: 2 * count]:
            word = self.vocabulary.spelled[piece]
            found[word] = found.get(word, 0.0) + float(self.p[piece])
        best = sorted(found.items(), key=lambda one: -one[1])[:count]
        return [one for one in best if one[1] > 0]  # what is no word has none


@dataclass(frozen=True)
class OtherModel:
    """A model, and what its pieces are to the family."""

    subject: LoadedModel
    vocabulary: PieceWords

    def blank(self, text: str) -> OtherBlank:
        """Return what it says of the one [MASK] of a text.

        Raises: UserError: the text is too long. ModelError: it guesses no words.
        """
        return next(self.blanks([text]))[1]

    def blanks(self, texts: Sequence[str]) -> Iterator[tuple[int, OtherBlank]]:
        """Yield the number of a text, and what it says of its one [MASK], the longest texts first, as many
        together as memory allows. Raises: as `blank`.
        """
        self.subject.require("masked_words")
        rows = [self._hidden(text) for text in texts]
        for part in parts(self.subject, rows):
            with looking(self.subject):
                every = word_logs(self.subject, [rows[number] for number in part]).exp().cpu().numpy()
            for number, p in zip(part, every, strict=True):
                is_first = rows[number].wanted == (_FIRST,)
                is_word = self.vocabulary.at_start if is_first else self.vocabulary.within
                yield number, OtherBlank(np.where(is_word, p, 0.0), self.vocabulary)

    def _hidden(self, text: str) -> InputRow:
        wordpiece = self.subject.wordpiece
        ids = wordpiece.encode(wordpiece.with_masks(text)).input_ids
        assert wordpiece.mask_id is not None  # it guesses words
        return self._row(ids, (ids.index(wordpiece.mask_id),))

    def states(self, word: str, text: str) -> np.ndarray:
        """Return (L + 1, D), what each layer gives for a word's first place: the mean of its pieces.

        Args: word: it may have a capital in the text.
        Raises: UserError: the text is too long, or the word is not in it.
        """
        wordpiece = self.subject.wordpiece
        ids = wordpiece.encode(text).input_ids
        forms = [
            pieces
            for form in (word, word.capitalize())
            for pieces in (wordpiece.ids_of_word(form), wordpiece.encode_ids([form])[0].tolist())
        ]
        starts = (
            (at, pieces)
            for at in range(len(ids))
            for pieces in forms
            if pieces and ids[at : at + len(pieces)] == pieces
        )
        first, pieces = next(starts, (None, []))
        if first is None:
            raise UserError(marked("engine", "“{word}” is not in “{text}”."), word=word, text=text)
        row = self._row(ids, tuple(range(first, first + len(pieces))))
        with looking(self.subject):
            found: np.ndarray = layer_states(self.subject, row).mean(1).cpu().numpy()
        return found

    def _row(self, ids: Sequence[int], wanted: tuple[int, ...]) -> InputRow:
        return check_row(self.subject, InputRow(tuple(ids), (0,) * len(ids), wanted))


@dataclass
class KnownVocabularies:
    """What the pieces of the models that were asked last are to a family, for the next question."""

    words: Tokenizer
    _known: dict[tuple[Path, str], PieceWords] = field(default_factory=dict)

    def of(self, subject: LoadedModel) -> OtherModel:
        """Return a model as a family asks it."""
        key = subject.folder, subject.fingerprint
        found = self._known.pop(key, None)
        if found is None or found.pieces != subject.wordpiece:
            found = PieceWords(subject.wordpiece, self.words)
        self._known[key] = found
        for old in [*self._known][:-MOST_KEPT]:
            del self._known[old]
        return OtherModel(subject, found)


def _plain(word: str) -> str:
    """Return a word without capitals and accents."""
    lower = word.lower()
    if lower.isascii():
        return lower
    return "".join(one for one in unicodedata.normalize("NFD", lower) if unicodedata.category(one) != "Mn")


def about_other(subject: LoadedModel) -> AboutOther:
    """Return what a model is. Raises: ModelError: its config.json went away meanwhile."""
    family = family_of(read_json(subject.folder / "config.json"))  # some are read as another
    whole = subject.masked_head() if subject.has_masked_words else subject.bert
    unread = () if subject.has_next_sentence else ("next_sentence.",)  # not in its files
    weights = (one for name, one in whole.named_parameters() if not name.startswith(unread))
    num_weights = sum(weight.numel() for weight in weights)
    cut = subject.wordpiece
    size = ModelSize(num_weights, cut.vocab_size, cut.kind, cut.lowercase, cut.strips)
    return AboutOther(family.name, family.year, family.paper, size)
