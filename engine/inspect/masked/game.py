"""Pretraining as a game: a person guesses hidden words before the model does, from the same sentences."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.errors import UserError, marked
from engine.inspect.loaded_model import LoadedModel, ModelSummary
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import ask, score_spellings
from engine.inspect.masked.score import GapAnswer, WordScore, spell
from engine.text.corpus.sentences import split_sentences
from engine.text.segmenter import is_chinese_word
from engine.text.words import Word, words_of

ROUNDS = 10
GUESSES = 5  # of the model that are shown
FEWEST, MOST = 7, 28  # words of a sentence; of Chinese, characters
LONGEST = 220  # characters of a sentence
SHORTEST_WORD = 3  # letters: shorter ones are guessed by grammar alone


@dataclass(frozen=True, slots=True)
class Round:
    """A sentence with one word hidden. word: its place in `words_of`. start, stop: its characters."""

    text: str
    word: int
    start: int
    stop: int

    @property
    def answer(self) -> str:
        """The hidden word as it stood there."""
        return self.text[self.start : self.stop]

    @property
    def asked(self) -> str:
        """The sentence as the model reads it."""
        return f"{self.text[: self.start]}[MASK]{self.text[self.stop :]}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What both sides made of a round. said: by the person. model: its guesses and what stood there, scored.

    yours: how probable the model held the person's word; None where it is none, or cannot be spelled.
    """

    round: Round
    said: str
    is_right: bool
    model: GapAnswer
    yours: WordScore | None

    @property
    def model_is_right(self) -> bool:
        """Whether the model's first guess is what stood there."""
        return self.model.original is not None and self.model.rank_of(self.model.original) == 1


def deal(about: ModelSummary, texts: Sequence[str], seed: int, count: int = ROUNDS) -> tuple[Round, ...]:
    """Return rounds drawn from texts, no two from the same one: the same seed, the same rounds.

    A hidden word is one piece of the vocabulary, or Chinese, no name, and stands once in its sentence.
    Raises: UserError: too few sentences have such a word. ModelError: the model cannot guess words.
    """
    about.require("masked_words")
    rng = random.Random(seed)
    order = list(range(len(texts)))
    rng.shuffle(order)
    found = list[Round]()
    for place in order:
        rounds = [one for sentence in split_sentences(texts[place]) for one in _rounds(about, sentence)]
        if rounds:
            found.append(rng.choice(rounds))
        if len(found) == count:
            return tuple(found)
    template = marked(
        "engine", "Only {count} sentences have a word that is one piece for {name}. Choose another model."
    )
    raise UserError(template, count=len(found), name=about.name)


def play(subject: LoadedModel, one: Round, said: str) -> Verdict:
    """Return what the model makes of a round, and of what a person said first. Raises: UserError."""
    masked = mask(subject.about, one.text, words=(one.word,))
    model = ask(subject, masked, top_k=GUESSES).answers[0]
    spelled = spell(subject.wordpiece, said) if said.strip() else None
    is_right = spelled == masked.gaps[0].original or said.strip().casefold() == one.answer.casefold()
    yours = None
    if spelled is not None:
        (yours,) = score_spellings(subject, masked, 0, [(said, spelled)])
    return Verdict(one, said.strip(), is_right, model, yours)


def _rounds(about: ModelSummary, sentence: str) -> Iterator[Round]:
    """Yield every way to hide a word of a sentence; none where it is too short or too long."""
    sentence = " ".join(sentence.split())
    if len(sentence) > LONGEST:
        return
    encoding = about.wordpiece.encode(sentence)
    found = words_of(encoding, sentence)
    if not FEWEST <= len(found) <= MOST or about.wordpiece.unk_id in encoding.input_ids:
        return
    texts = [word.text.casefold() for word in found]
    for place, word in enumerate(found):
        is_one = len(word.pieces) == 1 or is_chinese_word(word.text)
        if place and is_one and texts.count(texts[place]) == 1 and _is_plain(word):
            yield Round(sentence, place, word.start, word.stop)


def _is_plain(word: Word) -> bool:
    """Whether a word is of letters, long enough, and no name; a Chinese word is."""
    if not word.text.isalpha():
        return False
    return (word.text.islower() and len(word.text) >= SHORTEST_WORD) or is_chinese_word(word.text)
