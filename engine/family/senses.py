"""One word in several sentences: a single point for those with a vector for each word, a path for the others.

How much a vector changes with its sentence, layer by layer, and whether sentences of one sense lie together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import UserError, marked
from engine.family.ask import Family
from engine.family.members import HasStates, HasVectors
from engine.family.words import unit

# S sentences, L layers, D width


@dataclass(frozen=True, eq=False)
class Senses:
    """What a member makes of a word. states: (L + 1, S, D), of one layer where the word has one vector alone.

    likeness: (L + 1,) the mean cosine between two sentences; 1.0: the sentence changes nothing. points:
    (L + 1, S, 2), each layer's states seen flat, along their two directions of most spread.
    """

    states: np.ndarray
    likeness: tuple[float, ...]
    points: np.ndarray


def senses(family: Family, word: str, texts: Sequence[str]) -> dict[str, Senses]:
    """Return what each member with vectors makes of a word's first place in some sentences.

    Raises: UserError: the word is not in the vocabulary, or not in one of the sentences, or one is all.
    """
    number = family.word(word)
    if len(texts) < 2:
        raise UserError(marked("engine", "Give two sentences or more in which the word stands."))
    read = [family.words(text) for text in texts]
    for text, words in zip(texts, read, strict=True):
        if number not in words:
            raise UserError(marked("engine", "“{word}” is not in “{text}”."), word=word, text=text)
    found = dict[str, Senses]()
    for name, member in family.members.items():
        if isinstance(member, HasStates):
            states = [member.states(words)[:, words.index(number)] for words in read]
            found[name] = _seen(np.stack(states, 1))
        elif isinstance(member, HasVectors):
            found[name] = _seen(np.repeat(member.vectors()[None, [number]], len(texts), 1))
    return found


def _seen(states: np.ndarray) -> Senses:
    likeness, points = list[float](), list[np.ndarray]()
    for layer in states:
        units = unit(layer)
        cosine = units @ units.T
        likeness.append(float(cosine[np.triu_indices(len(cosine), 1)].mean()))
        points.append(flat(layer))
    return Senses(states, tuple(likeness), np.stack(points))


def flat(states: np.ndarray) -> np.ndarray:
    """Return (S, 2): states (S, D) along their two directions of most spread."""
    centred = states - states.mean(0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    found = np.zeros((len(states), 2))
    found[:, : min(2, len(s))] = (u * s)[:, :2]
    return found
