"""The parts of the lectures that differ from language to language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Said = Mapping[str, tuple[str, str]]  # title and sentence of each scene, by its key

GAP = "[MASK]"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How BERT reads a sentence. model: in assets/models. Words and pieces are named as they stand there.

    cut: the text whose word `torn` is split into pieces. main: the text of most scenes, of which `piece` is
    looked at. before, after: layer and head, from 1, that look at the piece before and after. guessed: a text
    with its hidden word, which the model finds. grammar, forms: the same, and words in the order in which
    they come. both, left: the same, and the text without what decides. first, next, other: a sentence, one
    that follows it, and one that does not. missed: a pair that belongs together, though the model says not.
    """

    file: str
    title: str
    model: str
    cut: str
    torn: str
    main: str
    piece: str
    before: tuple[int, int]
    after: tuple[int, int]
    guessed: tuple[str, str]
    grammar: tuple[str, str]
    forms: tuple[str, ...]
    both: tuple[str, str]
    left: str
    first: str
    next: str
    other: str
    missed: tuple[str, str] = ("", "")
    said: Said


@dataclass(frozen=True, kw_only=True)
class Counting:
    """From counting to BERT. family, model: in assets/models. Each text is with its right word.

    begun: what the first scene asks. blank: a text that only reading both sides fills. bag: one that the
    words around the blank give away, in any order. near: a word. beginning: of a text. sense: a word with
    sentences of two of its senses. practice: whether the starter answers in the place of the family's BERT.
    word, sentences: the same for a map of the starter, with the name of each sense.
    """

    file: str
    title: str
    family: str
    model: str
    begun: tuple[str, str]
    blank: tuple[str, str]
    bag: tuple[str, str]
    near: str
    beginning: str
    sense: tuple[str, tuple[tuple[str, ...], ...]]
    practice: bool
    word: str
    sentences: tuple[tuple[str, str], ...]
    group: str
    said: Said


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What fine-tuning changes. before, after: in assets/models.

    blank: what is asked of both. text: what the classifier is asked. meaning: what its labels are called;
    score: of one, as it is said. of: what the compared texts are, of_each label at most. card: the heading in
    assets/models/README.md under which its score stands.
    """

    file: str
    title: str
    before: str
    after: str
    blank: str
    text: str
    meaning: Mapping[str, str]
    score: str
    of: str
    group: str
    card: str
    of_each: int
    said: Said
