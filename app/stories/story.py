"""The parts of a story: everything that a window shows in its language before a person types.

Words in the English one are marked, for `words.tr_engine`: languages without a story of their own show it. In
others they are written in their language. Models and tables are named as in assets/.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SampleText:
    """A sentence or pair to look at, and what it shows."""

    text: str
    words: str
    pair: str = ""


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """Sentences that show the same kind of thing."""

    title: str
    texts: tuple[SampleText, ...]


@dataclass(frozen=True, slots=True)
class SampleTable:
    """The table to begin with. key: of `shipped.TABLES`. name: in a word or two. epochs: that the tour trains
    on it at most. asked: texts for its classifier.
    """

    key: str
    name: str
    epochs: int
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FamilyTexts:
    """What a family is asked at first. blanks: with the right word; senses: of a word, sentences of each."""

    blanks: tuple[tuple[str, str], ...]
    senses: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    near: str
    analogy: str
    beginning: str
    follows: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Story:
    """A story. starter, family: that are open first. classifier: that is offered first. text: to pretrain on,
    of a sample table and its column.

    first: what is looked at until a person chooses a text. start, tour: what Start and the tour show. All
    three are with the word that is hidden, where it stands first. pair: that the tour shows, and pair_words:
    the main words of each half. template: alternatives in a sentence, and words for its gap. pins: watched
    in a pretraining, each with its word in brackets.
    """

    starter: str
    classifier: str
    family: str
    table: SampleTable
    text: tuple[str, str]
    first: tuple[str, str]
    start: tuple[str, str]
    tour: tuple[str, str]
    pair: tuple[str, str]
    pair_words: tuple[tuple[str, ...], tuple[str, ...]]
    template: tuple[str, str]
    pins: tuple[str, ...]
    sentences: tuple[SampleGroup, ...]
    family_texts: FamilyTexts

    @property
    def texts(self) -> tuple[SampleText, ...]:
        """All sentences and pairs to look at."""
        return tuple(one for group in self.sentences for one in group.texts)
