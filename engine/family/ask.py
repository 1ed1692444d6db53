"""A trained family, opened, and the first question to all of it: what belongs into the blank?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from engine.errors import ModelError, UserError, marked
from engine.family.bert import BertMember
from engine.family.layout import load_member
from engine.family.members import ABOUT, MASK, NUM_SPECIALS, UNK, About, Member
from engine.family.other import KnownVocabularies, OtherModel
from engine.family.starts import before_training
from engine.inspect.loaded_model import LoadedModel
from engine.own_process import command_words
from engine.settings.family import MEMBERS
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.train.run.runs import MODEL

MOST_WORDS = 256  # of a text that is asked about
BLANK = "____"  # what stands for [MASK] where a person reads it
_WIDE = "[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]"
_CLOSE = re.compile(f" (?=[.,;:!?])|(?<={_WIDE}) (?={_WIDE}|{BLANK})|(?<={BLANK}) (?={_WIDE})")


@dataclass(frozen=True, slots=True)
class MemberGuess:
    """A word, and what a member gives to it: a probability or a likeness, as `About.says`."""

    word: str
    value: float


@dataclass(frozen=True, slots=True)
class FilledBlank:
    """What one member says of a blank. rank: of the right word, 1 for the first guess; None if not asked."""

    about: About
    guesses: tuple[MemberGuess, ...]
    rank: int | None = None


@dataclass(frozen=True)
class Family:
    """The members that are there, the oldest first, and the vocabulary of all of them. open_model: opens a
    model that was not trained with them, for questions that name one.
    """

    folder: Path
    wordpiece: Tokenizer
    members: Mapping[str, Member]
    open_model: Callable[[Path], LoadedModel] = LoadedModel.open

    @classmethod
    def open(
        cls,
        folder: Path | str,
        names: Sequence[str] = MEMBERS,
        open_model: Callable[[Path], LoadedModel] = LoadedModel.open,
    ) -> Family:
        """Load the members of a family's folder. Raises: ModelError: none is there, or one is damaged."""
        folder = Path(folder)
        places = {name: folder / name / MODEL for name in names if (folder / name / MODEL).is_dir()}
        if not places:
            raise ModelError(
                marked(
                    "engine",
                    "There is no trained member of a family in {path}. Train one with: {command} "
                    "family --text FILE --minutes 8 --out {path}",
                ),
                path=folder,
                command=" ".join(command_words()),
            )
        wordpiece = read_tokenizer(next(iter(places.values())))
        members = dict[str, Member]()
        for name, place in places.items():
            members[name] = BertMember.open(place) if name == "bert" else load_member(place)
        return cls(folder, wordpiece, members, open_model)

    @cached_property
    def start(self) -> Family:
        """The same members as they were before they were trained, without those of whom there was nothing;
        nobody where the folder does not tell with what they began. Raises: UserError, as `read_family`.
        """
        found = before_training(self.folder, self.members, self.wordpiece.vocab_size)
        return Family(self.folder, self.wordpiece, found)

    def words(self, text: str) -> list[int]:
        """Return the ids of a text's words, [MASK] among them. Raises: UserError: none, or too many."""
        ids = self.wordpiece.encode(text).input_ids[1:-1]
        if not ids:
            raise UserError(marked("engine", "There is no text. Write a sentence with a [MASK]."))
        if len(ids) > MOST_WORDS:
            raise UserError(
                marked("engine", "The text has {count} words, and at most {most} are read. Shorten it."),
                count=len(ids),
                most=MOST_WORDS,
            )
        return ids

    def word(self, text: str) -> int:
        """Return the id of one word. Raises: UserError if the vocabulary does not have it."""
        ids = self.wordpiece.encode(text).input_ids[1:-1]
        if len(ids) != 1 or ids[0] < NUM_SPECIALS:
            raise UserError(
                marked(
                    "engine",
                    "“{word}” is not among the {count} words of this family. Choose a more frequent one.",
                ),
                word=text,
                count=self.wordpiece.vocab_size - NUM_SPECIALS,
            )
        return ids[0]

    def token(self, word: int) -> str:
        """Return a word as it is written."""
        return self.wordpiece.tokens[word]

    def said(self, words: Sequence[int]) -> str:
        """Return words one after another as people write them, Chinese ones without spaces."""
        return _CLOSE.sub("", " ".join(map(self.token, words)).replace("[MASK]", BLANK))

    def fill(self, text: str, count: int = 5, answer: str = "") -> dict[str, FilledBlank]:
        """Return the guesses of all members for the one [MASK] of a text. Args: answer: the right word.

        Raises: UserError: no [MASK], several, or an answer that is no word of the vocabulary.
        """
        words = self.words(text)
        places = [place for place, word in enumerate(words) if word == MASK]
        if len(places) != 1:
            raise UserError(
                marked(
                    "engine",
                    "The text has {count} blanks. Write it with one [MASK] in place of a word, such "
                    "as: The [MASK] flows into the sea.",
                ),
                count=len(places),
            )
        right = self.word(answer) if answer else None
        return {
            name: self.filled(name, self.scores(name, words, places[0]), count, right)
            for name in self.members
        }

    def filled(self, name: str, scores: np.ndarray, count: int, right: int | None) -> FilledBlank:
        """Return what scores (V,) of a member say of a blank. Args: right: the id of the word, if asked."""
        scores = np.where(np.arange(len(scores)) < NUM_SPECIALS, -2.0, scores)  # no word, so no guess
        best = np.argsort(-scores, kind="stable")[: min(count, len(scores) - NUM_SPECIALS)]
        guesses = tuple(MemberGuess(self.token(int(word)), float(scores[word])) for word in best)
        return FilledBlank(ABOUT[name], guesses, None if right is None else rank_of(scores, right))

    @cached_property
    def _vocabularies(self) -> KnownVocabularies:
        return KnownVocabularies(self.wordpiece)

    def other(self, subject: LoadedModel) -> OtherModel:
        """Return a model that is no member, as it is asked."""
        return self._vocabularies.of(subject)

    def scores(self, name: str, words: Sequence[int], place: int) -> np.ndarray:
        """Return (V,) what a member gives to every word at a place; other blanks are unknown words to it."""
        plain = [UNK if word == MASK else word for word in words]
        return self.members[name].blank(plain, place)


def rank_of(scores: np.ndarray, right: int) -> int:
    """Return where a word stands among all words, 1: the first; of equals the commoner one stands first."""
    words = scores[NUM_SPECIALS:]
    before = words[: right - NUM_SPECIALS]
    return 1 + int((words > scores[right]).sum()) + int((before == scores[right]).sum())
