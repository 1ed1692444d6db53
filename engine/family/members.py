"""What every member of the family is: its paper, what it may see of a sentence, what it says, what it cannot.

What a trained member can be asked is told by the protocols that it fulfils.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from engine.errors import marked
from engine.text.corpus.new_vocabulary import SPECIAL_TOKENS

# V words of the vocabulary, N words of a text, D width, L layers

PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL_TOKENS))  # the first ids, which are no words
NUM_SPECIALS = len(SPECIAL_TOKENS)

PROBABILITY, LIKENESS = "probability", "likeness"
LEFT, NEAR, ALL, SIDES, BOTH = "left", "near", "all", "sides", "both"  # what is seen around a blank
COUNTS, WORD_VECTORS, PLACE_VECTORS = "counts", "words", "places"  # the three ages

CAPTIONS = {
    COUNTS: marked("engine", "Counts"),
    WORD_VECTORS: marked("engine", "A vector per word"),
    PLACE_VECTORS: marked("engine", "A vector per place"),
}


@dataclass(frozen=True, slots=True)
class About:
    """A member in words. age: which of the three captions it stands under. reach: words that it sees on each
    side; 0: all of them. says: what its guesses are. seen, cannot: sentences for
    a person.
    """

    name: str
    said: str
    year: int
    paper: str
    age: str
    sees: str
    reach: int
    says: str
    seen: str
    cannot: str


ABOUT = {
    one.name: one
    for one in (
        About(
            "ngram", "n-gram", 1995, "Kneser and Ney 1995", COUNTS, LEFT, 4, PROBABILITY,
            marked("engine", "left, 4 words"),
            marked("engine", "Knows only sequences of words that it has counted, and sees nothing to the "
"right."),
        ),
        About(
            "nnlm", "NNLM", 2003, "Bengio et al. 2003", WORD_VECTORS, LEFT, 5, PROBABILITY,
            marked("engine", "left, 5 words"),
            marked("engine", "Sees five words back and none ahead."),
        ),
        About(
            "cbow", "CBOW", 2013, "Mikolov et al. 2013", WORD_VECTORS, NEAR, 5, LIKENESS,
            marked("engine", "near, no order"),
            marked("engine", "Reads a bag of words: “dog bites man” equals “man bites dog”."),
        ),
        About(
            "skipgram", "skip-gram", 2013, "Mikolov et al. 2013", WORD_VECTORS, NEAR, 5, LIKENESS,
            marked("engine", "near, no order"),
            marked("engine", "Gives similarity, not probability, and ignores word order."),
        ),
        About(
            "glove", "GloVe", 2014, "Pennington et al. 2014", WORD_VECTORS, ALL, 0, LIKENESS,
            marked("engine", "all, no order"),
            marked("engine", "Has one vector for “bank”, whether for money or a river."),
        ),
        About(
            "elmo", "ELMo", 2018, "Peters et al. 2018", PLACE_VECTORS, SIDES, 0, PROBABILITY,
            marked("engine", "each side alone"),
            marked("engine", "Joins its two sides only at the end."),
        ),
        About(
            "gpt", "GPT", 2018, "Radford et al. 2018", PLACE_VECTORS, LEFT, 0, PROBABILITY,
            marked("engine", "left, all of it"),
            marked("engine", "Writes from left to right and cannot look ahead."),
        ),
        About(
            "bert", "BERT", 2018, "Devlin et al. 2018", PLACE_VECTORS, BOTH, 0, PROBABILITY,
            marked("engine", "both at once"),
            marked("engine", "Cannot continue a text, and guesses each blank on its own."),
        ),
    )
}  # fmt: skip


class Member(Protocol):
    """A trained member. A text is the ids of its words, without special tokens."""

    @property
    def num_weights(self) -> int:
        """How many numbers it has learned."""

    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        """Return (V,) what it gives to every word at a place, as `About.says`; what stands there is unread.

        Probabilities sum to 1 over the vocabulary, special tokens among it.
        """


@runtime_checkable
class Continues(Protocol):
    """A member that reads from the left, so that it can go on writing and has a perplexity."""

    def after(self, left: Sequence[int]) -> np.ndarray:
        """Return (V,) the probability of every word after the beginning of a sentence."""

    def logs(self, words: np.ndarray) -> np.ndarray:
        """Return (N,) the natural log of the probability of each word of a stream after those before it."""


@runtime_checkable
class HasVectors(Protocol):
    """A member that has a vector for each word, wherever it stands."""

    def vectors(self) -> np.ndarray:
        """Return (V, D)."""


@runtime_checkable
class HasStates(Protocol):
    """A member that has a vector for each place in a sentence."""

    def states(self, words: Sequence[int]) -> np.ndarray:
        """Return (L + 1, N, D): of each layer, that of the words alone first."""


def started(left: Sequence[int]) -> list[int]:
    """Return the beginning of a sentence as streams have it: after the end of another."""
    return [SEP, *left]
