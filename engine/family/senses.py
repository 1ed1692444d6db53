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
from engine.family.other import OtherModel
from engine.family.sense_sentences import SENTENCES
from engine.family.words import unit

# S sentences, L layers, D width


@dataclass(frozen=True, slots=True)
class SenseSeparation:
    """Whether sentences of one sense lie together in the last layer. within, between: mean cosines of two of
    one sense and of two senses. hits: for each sentence whether the one nearest to it is of its sense.
    """

    within: float
    between: float
    hits: tuple[bool, ...]


def told_apart(found: MemberSenses, groups: Sequence[int]) -> SenseSeparation | None:
    """Return whether a member tells senses apart; None where it has one vector, or there is one sense.

    Args: groups: (S,) which sense each sentence is of.
    """
    group = np.asarray(groups)
    same = group[:, None] == group[None]
    pairs = np.triu(np.ones_like(same), 1).astype(bool)
    if len(found.likeness) < 2 or not (pairs & same).any() or same.all():
        return None
    units = unit(found.states[-1])
    cosine = units @ units.T
    within, between = (float(cosine[pairs & one].mean()) for one in (same, ~same))
    np.fill_diagonal(cosine, -9.0)
    hits = tuple(bool(one) for one in group[cosine.argmax(1)] == group)
    return SenseSeparation(within, between, hits)


def chance_of_nearest() -> float:
    """Return how often, over `SENTENCES`, a sentence drawn at random has the sense of another of its word."""
    each = [
        (len(group) - 1) / (sum(map(len, groups)) - 1) for groups in SENTENCES.values() for group in groups
        for _ in group
    ]  # fmt: skip
    return sum(each) / len(each)


def read_groups(text: str) -> list[tuple[str, int]]:
    """Return sentences, a line each, and which sense each is of: an empty line begins another."""
    found, sense, is_open = list[tuple[str, int]](), 0, False
    for line in text.splitlines():
        if line.strip():
            found.append((line.strip(), sense))
            is_open = True
        elif is_open:
            sense, is_open = sense + 1, False
    return found


@dataclass(frozen=True, eq=False)
class MemberSenses:
    """What a member makes of a word. states: (L + 1, S, D), of one layer where the word has one vector alone.

    likeness: (L + 1,) the mean cosine between two sentences; 1.0: the sentence changes nothing. points:
    (L + 1, S, 2), each layer's states, all of length 1, seen flat along their two directions of most spread,
    turned so that each point moves little from one layer to the next.
    """

    states: np.ndarray
    likeness: tuple[float, ...]
    points: np.ndarray


def senses(family: Family, word: str, texts: Sequence[str]) -> dict[str, MemberSenses]:
    """Return what each member with vectors makes of a word's first place in some sentences.

    Raises: UserError: the word is not in the vocabulary, or not in one of the sentences, or one is all.
    """
    number = family.word(word)
    if len(texts) < 2:
        raise UserError(marked("engine", "Give two or more sentences that contain the word."))
    read = [family.words(text) for text in texts]
    for text, words in zip(texts, read, strict=True):
        if number not in words:
            raise UserError(marked("engine", "“{word}” is not in “{text}”."), word=word, text=text)
    found = dict[str, MemberSenses]()
    for name, member in family.members.items():
        if isinstance(member, HasStates):
            states = [member.states(words)[:, words.index(number)] for words in read]
            found[name] = _seen(np.stack(states, 1))
        elif isinstance(member, HasVectors):
            found[name] = _seen(np.repeat(member.vectors()[None, [number]], len(texts), 1))
    return found


def practice_senses(bert: OtherModel, word: str, texts: Sequence[str]) -> MemberSenses:
    """Return what another BERT makes of a word in some sentences. Raises: UserError: one lacks it."""
    return _seen(np.stack([bert.states(word, text) for text in texts], 1))


def _seen(states: np.ndarray) -> MemberSenses:
    likeness, points = list[float](), list[np.ndarray]()
    for layer in states:
        units = unit(layer)
        cosine = units @ units.T
        likeness.append(float(cosine[np.triu_indices(len(cosine), 1)].mean()))
        points.append(turned(flat(units), points[-1]) if points else flat(units))
    return MemberSenses(states, tuple(likeness), np.stack(points))


def flat(states: np.ndarray) -> np.ndarray:
    """Return (S, 2): states (S, D) along their two directions of most spread."""
    centred = states - states.mean(0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    found = np.zeros((len(states), 2))
    found[:, : min(2, len(s))] = (u * s)[:, :2]
    return found


def turned(points: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return (S, 2) points turned or mirrored so as to lie as near to others as they can: Procrustes."""
    u, _, vt = np.linalg.svd(points.T @ before)
    found: np.ndarray = points @ (u @ vt)
    return found
