"""Questions to the vectors of words: which are near, what is to c as b is to a, who is like whom to people.

Files of such questions are those that are published: analogies a b c d, a line each, with ": section" lines;
pairs of words with the likeness that people gave. What has a word beyond the vocabulary is left out and
counted; a Chinese word of several characters is the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import DataError, UserError, marked
from engine.family.ask import Family, MemberGuess
from engine.family.members import NUM_SPECIALS, UNK, HasVectors
from engine.family.reached import ReachedScore, correlations, shares
from engine.files import read_regular

MOST_BYTES = 16 * 2**20  # of a file of questions
_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class WordFileScore:
    """What a member reached on a file of questions. left_out: questions with a word that it does not know."""

    score: ReachedScore | None
    left_out: int


def nearest(family: Family, word: str, count: int = 8) -> dict[str, tuple[MemberGuess, ...]]:
    """Return the nearest words of each member that has a vector for each word, by cosine."""
    number, found = family.word(word), dict[str, tuple[MemberGuess, ...]]()
    for name, member in family.members.items():
        if isinstance(member, HasVectors):
            units = unit(member.vectors())
            cosine = units @ units[number]
            found[name] = _likest(family, cosine, [number], count)
    return found


def _likest(family: Family, cosine: np.ndarray, besides: list[int], count: int) -> tuple[MemberGuess, ...]:
    """Return the words of the highest cosines (V,), which is written over. Args: besides: left out."""
    cosine[:NUM_SPECIALS], cosine[besides] = -2.0, -2.0
    best = np.argsort(-cosine, kind="stable")[:count]
    return tuple(MemberGuess(family.token(int(one)), float(cosine[one])) for one in best)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return vectors (V, D) of length 1; empty ones stay so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: np.ndarray = vectors / np.maximum(lengths, 1e-12)
    return found


def ids_of(family: Family, word: str) -> tuple[int, ...]:
    """Return the ids of a word; () where part of it is unknown."""
    ids = family.wordpiece.encode(word).input_ids[1:-1]
    return () if UNK in ids else tuple(ids)


def read_analogies(path: Path) -> list[tuple[str, str, str, str]]:
    """Return a, b, c, d: b is to a as d is to c. Raises: DataError where no line is one."""
    lines = _lines(path)
    found = [tuple(line.split()) for line in lines if line.strip() and not line.startswith(":")]
    four = [(a, b, c, d) for a, b, c, d in (one for one in found if len(one) == 4)]
    if not four:
        raise DataError(
            marked(
                "engine", "{path} holds no analogies. A line has four words, such as king man queen woman."
            ),
            path=path,
        )
    return four


def read_pairs(path: Path) -> list[tuple[str, str, float]]:
    """Return pairs of words with the likeness that people gave. Raises: DataError where no line is one."""
    found = []
    for line in _lines(path):
        parts = line.replace(",", "\t").split("\t") if "\t" in line or "," in line else line.split()
        try:
            found.append((parts[0].strip(), parts[1].strip(), float(parts[2])))
        except (IndexError, ValueError):
            continue  # a heading, or an empty line
    if len(found) < 3:
        raise DataError(
            marked("engine", "{path} holds no pairs of words. A line has two words and their similarity."),
            path=path,
        )
    return found


def _lines(path: Path) -> list[str]:
    return read_regular(path, most=MOST_BYTES, kind=DataError).decode("utf-8-sig", "replace").splitlines()


def answered(family: Family, path: Path) -> tuple[bool, dict[str, WordFileScore]]:
    """Return whether a file holds analogies, else likeness as people see it, and what members answer to all.

    Args: path: a file, or a folder of analogies in several. Raises: DataError: it is neither; UserError:
    nobody here has vectors.
    """
    check_has_vectors(family)
    files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    try:
        asked = [one for file in files for one in read_analogies(file)]
    except DataError:
        try:
            return False, similarities(family, read_pairs(path))
        except DataError as error:
            if not path.exists():
                raise
            raise DataError(
                marked(
                    "engine",
                    "{path} holds no questions about words. A line has four words, such as king man "
                    "queen woman, or two words and their similarity, a number.",
                ),
                path=path,
            ) from error
    return True, analogies(family, asked)


def analogy(family: Family, a: str, b: str, c: str, count: int = 6) -> dict[str, tuple[MemberGuess, ...]]:
    """Return what is to c as b is to a, by each member with vectors: nearest to b - a + c, but for these."""
    asked, found = [family.word(word) for word in (a, b, c)], dict[str, tuple[MemberGuess, ...]]()
    for name, member in family.members.items():
        if isinstance(member, HasVectors):
            units = unit(member.vectors())
            wanted = units[asked[1]] - units[asked[0]] + units[asked[2]]
            cosine = units @ (wanted / max(1e-12, float(np.linalg.norm(wanted))))
            found[name] = _likest(family, cosine, asked, count)
    return found


def analogies(family: Family, asked: Sequence[tuple[str, str, str, str]]) -> dict[str, WordFileScore]:
    """Return how often the word nearest to b - a + c, but for these three, is d.

    Whoever has a vector for each word is asked; the words of the questions are candidates beside the
    vocabulary.
    """
    names = list(dict.fromkeys(word for one in asked for word in one))
    ids = {name: ids_of(family, name) for name in names}
    known = [one for one in asked if all(ids[word] for word in one)]
    hits, before = (
        {
            name: _analogies(member.vectors(), known, ids)
            for name, member in one.members.items()
            if isinstance(member, HasVectors)
        }
        for one in (family, family.start)
    )
    found = shares(hits, 0.0, before)
    return {name: WordFileScore(found.get(name), len(asked) - len(known)) for name in hits}


def _analogies(
    vectors: np.ndarray, asked: Sequence[tuple[str, str, str, str]], ids: dict[str, tuple[int, ...]]
) -> np.ndarray:
    several = {
        word: number for number, word in enumerate((w for w, i in ids.items() if len(i) > 1), len(vectors))
    }
    means = [vectors[list(ids[word])].mean(0) for word in several]
    units = unit(np.concatenate([vectors, np.reshape(means, (-1, vectors.shape[1]))]).astype(np.float32))
    places = {word: several.get(word, one[0] if one else -1) for word, one in ids.items()}
    abcd = np.array([[places[word] for word in one] for one in asked], np.int64).reshape(-1, 4)
    hits = np.zeros(len(abcd), bool)
    for begin in range(0, len(abcd), _AT_ONCE):
        a, b, c, d = abcd[begin : begin + _AT_ONCE].T
        cosine = (units[b] - units[a] + units[c]) @ units.T
        cosine[:, :NUM_SPECIALS] = -9.0
        for one in (a, b, c):
            cosine[np.arange(len(one)), one] = -9.0
        hits[begin : begin + len(d)] = cosine.argmax(1) == d
    return hits


def similarities(family: Family, asked: Sequence[tuple[str, str, float]]) -> dict[str, WordFileScore]:
    """Return Spearman's correlation of cosines with what people said, with Fisher's interval."""
    known = [(ids_of(family, a), ids_of(family, b), said) for a, b, said in asked]
    known = [one for one in known if one[0] and one[1]]
    sides = [[list(one[0]) for one in known], [list(one[1]) for one in known]]
    said = np.array([one[2] for one in known])
    cosines, before = (
        {
            name: _cosines(member.vectors(), sides)
            for name, member in one.members.items()
            if isinstance(member, HasVectors)
        }
        for one in (family, family.start)
    )
    found = correlations(cosines, said, before)
    return {name: WordFileScore(found.get(name), len(asked) - len(known)) for name in cosines}


def _cosines(vectors: np.ndarray, sides: Sequence[Sequence[list[int]]]) -> np.ndarray:
    """Return (E,) the cosines of pairs of words. Args: vectors: (V, D). sides: the ids of each word."""
    a, b = (np.array([vectors[ids].mean(0) for ids in side]).reshape(-1, vectors.shape[1]) for side in sides)
    found: np.ndarray = (unit(a) * unit(b)).sum(1)
    return found


def check_has_vectors(family: Family) -> None:
    """Refuse a family none of whose members has vectors. Raises: UserError."""
    if not any(isinstance(member, HasVectors) for member in family.members.values()):
        raise UserError(marked("engine", "No member of this family has word vectors: an n-gram only counts."))
