"""Texts that have something in common, on which a model is worse than on the rest: by word, length, column.

What is named is corrected for how many slices were tried, so that a slice found in a model without any weak
side is a false alarm in at most one search of twenty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.evaluation.calibration import bin_places
from engine.evaluation.statistics import Numbers, holm
from engine.events import Progress, Steps
from engine.text.languages import language_of
from engine.train.metrics import wilson_interval

# E texts, M slices

WORD, LENGTH, COLUMN = "word", "length", "column"
LANGUAGE, MEANING = "(language)", "(meaning)"  # names of columns that are made, and stand in no file
LEAST_TEXTS = 10  # of a slice
LARGEST_SHARE = 0.5  # of all texts; a larger slice is the rest
LEAST_SHARE = 0.005
MOST_VALUES = 50  # of a column whose values are slices
MOST_FOUND = 30
NUM_LENGTHS = 8
ALARM = 0.05
_TEXTS_AT_ONCE = 2048
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+(?:['’][^\W_]+)*"
)


@dataclass(frozen=True, slots=True)
class Slice:
    """Some texts and how many of them are right. kind: WORD, LENGTH or COLUMN. name: of the column, else "".

    value: the word, the column's value, or "12" of a length from 12. low, high: of a LENGTH, in characters.
    p_value: how often chance makes some texts that much worse than the rest, corrected for how many slices
    were tried; 1 where nobody asked.
    """

    kind: str
    name: str
    value: str
    count: int
    hits: int
    others: int
    other_hits: int
    p_value: float = 1.0
    low: int = 0
    high: int = 0

    @property
    def accuracy(self) -> float:
        return self.hits / self.count if self.count else 0.0

    @property
    def other_accuracy(self) -> float:
        """The share that is right of the texts beside it."""
        return self.other_hits / self.others if self.others else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.hits, self.count)


def words_of(text: str) -> list[str]:
    """Return the words of a text without case; of Chinese and Japanese, characters."""
    return _WORD.findall(text.casefold())


def has_word(text: str, wanted: str) -> bool:
    """Whether a text contains a word, or several that follow each other, without case."""
    some = words_of(wanted)
    if len(some) < 2:
        return bool(some) and some[0] in words_of(text)
    own = words_of(text)
    return any(own[place : place + len(some)] == some for place in range(len(own) - len(some) + 1))


def by_length(lengths: npt.ArrayLike, right: npt.ArrayLike, count: int = NUM_LENGTHS) -> tuple[Slice, ...]:
    """Return the texts by length, as many in each slice as equal lengths allow, the short ones first."""
    sizes, hits = np.asarray(lengths), np.asarray(right, bool)
    if not len(sizes):
        return ()
    places = bin_places(sizes.astype(np.float64), count)
    found = []
    for place in range(int(places.max()) + 1):
        own = places == place
        low, high = int(sizes[own].min()), int(sizes[own].max())
        found.append(_slice(LENGTH, "", str(low), own, hits, low, high))
    return tuple(found)


def by_value(name: str, values: Sequence[str], right: npt.ArrayLike) -> tuple[Slice, ...]:
    """Return the texts by the value of a column, the commonest first; () where there are too many values."""
    kinds, places = np.unique(np.asarray(values, object).astype(str), return_inverse=True)
    if not 1 < len(kinds) <= MOST_VALUES:
        return ()
    hits = np.asarray(right, bool)
    found = [_slice(COLUMN, name, str(kind), places == place, hits) for place, kind in enumerate(kinds)]
    return tuple(sorted(found, key=lambda one: -one.count))


def languages(texts: Sequence[str]) -> Steps[tuple[str, ...]]:
    """Return the language of each text, as LANGUAGE among the columns has it; () where there is one alone."""
    found = list[str]()
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        stop = min(start + _TEXTS_AT_ONCE, len(texts))
        found += [language_of(texts[place]) for place in range(start, stop)]
        yield Progress(stage=marked("engine", "Looking for slices"), done=start, total=len(texts))
    return tuple(found) if len(set(found)) > 1 else ()


def _slice(
    kind: str,
    name: str,
    value: str,
    own: npt.NDArray[np.bool_],
    hits: npt.NDArray[np.bool_],
    low: int = 0,
    high: int = 0,
) -> Slice:
    inside, total = int((own & hits).sum()), int(hits.sum())
    count = int(own.sum())
    return Slice(kind, name, value, count, inside, len(hits) - count, total - inside, 1.0, low, high)


def finding_worse(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    right: npt.ArrayLike,
    lengths: npt.ArrayLike,
    columns: Mapping[str, Sequence[str]],
) -> Steps[tuple[tuple[Slice, ...], int]]:
    """Return the slices that are worse than the rest, the surest first, and how many were tried.

    Args: texts: (E,), or () where they are not known. right: (E,) bool. columns: other cells of theirs.
    """
    hits = np.asarray(right, bool)
    tried = list((yield from _by_word(texts, pairs, hits)))
    tried += by_length(lengths, hits)
    for name, values in columns.items():
        tried += by_value(name, values, hits)
    most = max(LEAST_TEXTS, int(len(hits) * LARGEST_SHARE))
    tried = [one for one in tried if LEAST_TEXTS <= one.count <= most]
    if not tried:
        return (), 0
    corrected = holm(chances(tried))
    named = [replace(one, p_value=p) for one, p in zip(tried, corrected.tolist(), strict=True) if p < ALARM]
    named.sort(key=lambda one: (one.p_value, one.accuracy))
    return tuple(named[:MOST_FOUND]), len(tried)


def chances(slices: Sequence[Slice]) -> Numbers:
    """Return (M,) how often chance makes some texts that much worse than the rest: Fisher's exact test.

    Source: Fisher 1922; scipy.stats.fisher_exact(alternative="less").
    """
    count, hits, others, other_hits = (
        np.array([getattr(one, name) for one in slices]) for name in ("count", "hits", "others", "other_hits")
    )
    from scipy import stats  # here: it takes long to import

    return np.asarray(stats.hypergeom.cdf(hits, count + others, hits + other_hits, count), np.float64)


def _by_word(
    texts: Sequence[str], pairs: Sequence[str] | None, hits: npt.NDArray[np.bool_]
) -> Steps[list[Slice]]:
    """Return the texts by the words that they contain, of words that are neither rare nor everywhere."""
    if len(texts) != len(hits):
        return []
    seen, right = Counter[str](), Counter[str]()
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        for place in range(start, min(start + _TEXTS_AT_ONCE, len(texts))):
            own = set(words_of(texts[place]))
            if pairs is not None:
                own.update(words_of(pairs[place]))
            seen.update(own)
            if hits[place]:
                right.update(own)
        yield Progress(stage=marked("engine", "Looking for slices"), done=start, total=len(texts))
    least = max(LEAST_TEXTS, int(len(hits) * LEAST_SHARE))
    total, total_hits = len(hits), int(hits.sum())
    make = partial(Slice, WORD, "")
    return [
        make(word, count, right[word], total - count, total_hits - right[word])
        for word, count in seen.items()
        if count >= least
    ]
