"""Texts that have something in common, on which a model is worse than on the rest: by word, length, column.

What is named is corrected for how many slices were tried, and texts that repeat one another are one text to
the test, so that a slice found in a model without any weak side is a false alarm in at most one search of
twenty. The counts that are told are those of all texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.evaluation.calibration import bin_places
from engine.evaluation.report import Groups, groups_of
from engine.evaluation.statistics import Numbers, holm
from engine.events import Progress, Steps
from engine.text.languages import language_of, usual_languages
from engine.text.segmenter import word_spans
from engine.train.metrics import wilson_interval

# E texts, G groups of texts that repeat one another, M slices

Bools = npt.NDArray[np.bool_]

WORD, LENGTH, COLUMN = "word", "length", "column"
LANGUAGE, MEANING = "(language)", "(meaning)"  # names of columns that are made, and stand in no file
LEAST_TEXTS = 10  # of a slice, that are different ones
LARGEST_SHARE = 0.5  # of all texts; a larger slice is the rest
LEAST_SHARE = 0.005
MOST_VALUES = 50  # of a column whose values are slices
MOST_FOUND = 30
NUM_LENGTHS = 8
ALARM = 0.05
_TEXTS_AT_ONCE = 2048


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
    """Return the words of a text without case, as `word_spans` finds them."""
    text = text.casefold()
    return [text[start:stop] for start, stop in word_spans(text)]


def has_word(text: str, wanted: str) -> bool:
    """Whether a text contains a word, or several that follow each other, without case."""
    some = words_of(wanted)
    if len(some) < 2:
        return bool(some) and some[0] in words_of(text)
    own = words_of(text)
    return any(own[place : place + len(some)] == some for place in range(len(own) - len(some) + 1))


def by_length(
    lengths: npt.ArrayLike, right: npt.ArrayLike, count: int = NUM_LENGTHS, groups: Groups | None = None
) -> tuple[Slice, ...]:
    """Return the texts by length, as many in each slice as equal lengths allow, the short ones first.

    Each with its p_value, corrected for how many lengths there are. Args: groups: as of `finding_worse`.
    """
    hits = np.asarray(right, bool)
    once = _Once(np.arange(len(hits)) if groups is None else groups, hits)
    found = [(one, once.counted(one, own)) for one, own in _lengths(lengths, hits, count)]
    return _corrected(found) if found else ()


def _lengths(lengths: npt.ArrayLike, hits: Bools, count: int = NUM_LENGTHS) -> Iterator[tuple[Slice, Bools]]:
    """Yield slices by length, and (E,) which texts are in each."""
    sizes = np.asarray(lengths)
    places = bin_places(sizes.astype(np.float64), count)
    for place in range(int(places.max(initial=-1)) + 1):
        own = places == place
        low, high = int(sizes[own].min()), int(sizes[own].max())
        yield _slice(LENGTH, "", str(low), own, hits, low, high), own


def by_value(name: str, values: Sequence[str], right: npt.ArrayLike) -> tuple[Slice, ...]:
    """Return the texts by the value of a column, the commonest first; () where there are too many values."""
    found = (one for one, _ in _values(name, values, np.asarray(right, bool)))
    return tuple(sorted(found, key=lambda one: -one.count))


def _values(name: str, values: Sequence[str], hits: Bools) -> Iterator[tuple[Slice, Bools]]:
    """Yield slices by the value of a column, and (E,) which texts are in each."""
    kinds, places = np.unique(np.asarray(values, object).astype(str), return_inverse=True)
    if 1 < len(kinds) <= MOST_VALUES:
        for place, kind in enumerate(kinds):
            own = places == place
            yield _slice(COLUMN, name, str(kind), own, hits), own


def languages(texts: Sequence[str]) -> Steps[tuple[str, ...]]:
    """Return the language of each text, as LANGUAGE among the columns has it; () where there is one alone."""
    usual, found = usual_languages(texts), list[str]()
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        stop = min(start + _TEXTS_AT_ONCE, len(texts))
        found += [language_of(texts[place], usual) for place in range(start, stop)]
        yield Progress(stage=marked("engine", "Looking for slices"), done=start, total=len(texts))
    return tuple(found) if len(set(found)) > 1 else ()


def _slice(kind: str, name: str, value: str, own: Bools, hits: Bools, low: int = 0, high: int = 0) -> Slice:
    inside, total = int((own & hits).sum()), int(hits.sum())
    count = int(own.sum())
    return Slice(kind, name, value, count, inside, len(hits) - count, total - inside, 1.0, low, high)


class _Once:
    """Counts texts that repeat one another as one: in a slice its first one there, and else nowhere.

    groups: (E,), equal for such texts. firsts: (G,) the place of the first of each.
    """

    def __init__(self, groups: npt.ArrayLike, hits: Bools) -> None:
        self.groups = np.unique(np.asarray(groups), return_inverse=True)[1]
        self.hits = hits
        self.firsts = self._firsts(np.arange(len(hits)))

    def __len__(self) -> int:
        return int(self.groups.max(initial=-1)) + 1

    def _firsts(self, places: Groups) -> Groups:
        """Return (G,) the first of some places, ascending, in each group; -1 where none is."""
        found = np.full(len(self), -1)
        found[self.groups[places[::-1]]] = places[::-1]
        return found

    def counted(self, one: Slice, own: Bools) -> Slice:
        """Return a slice with what the test counts. Args: own: (E,) which texts are in it."""
        found = self._firsts(np.flatnonzero(own))
        inside, outside = found[found >= 0], self.firsts[found < 0]
        hits, other_hits = int(self.hits[inside].sum()), int(self.hits[outside].sum())
        return replace(one, count=len(inside), hits=hits, others=len(outside), other_hits=other_hits)


def finding_worse(
    texts: Sequence[str],
    pairs: Sequence[str] | None,
    right: npt.ArrayLike,
    lengths: npt.ArrayLike,
    columns: Mapping[str, Sequence[str]],
    groups: Groups | None = None,
) -> Steps[tuple[tuple[Slice, ...], int]]:
    """Return the slices that are worse than the rest, the surest first, and how many were tried.

    Args: texts: (E,), or () where they are not known. right: (E,) bool. columns: other cells of theirs.
    groups: (E,), equal for texts that the test takes for one; None: those are that repeat exactly.
    """
    hits = np.asarray(right, bool)
    if groups is None:
        groups = groups_of(texts, pairs) if len(texts) == len(hits) else np.arange(len(hits))
    once = _Once(groups, hits)
    tried = yield from _by_word(texts, pairs, once)
    tried += [(one, once.counted(one, own)) for one, own in _lengths(lengths, hits)]
    for name, values in columns.items():
        tried += [(one, once.counted(one, own)) for one, own in _values(name, values, hits)]
    most = max(LEAST_TEXTS, int(len(hits) * LARGEST_SHARE))
    tried = [(one, counted) for one, counted in tried if counted.count >= LEAST_TEXTS and one.count <= most]
    if not tried:
        return (), 0
    named = [one for one in _corrected(tried) if one.p_value < ALARM]
    named.sort(key=lambda one: (one.p_value, one.accuracy))
    return tuple(named[:MOST_FOUND]), len(tried)


def _corrected(tried: Sequence[tuple[Slice, Slice]]) -> tuple[Slice, ...]:
    """Return slices with their p_value. Args: tried: each, and again as the test counts it."""
    chance = holm(chances([counted for _, counted in tried])).tolist()
    return tuple(replace(one, p_value=p) for (one, _), p in zip(tried, chance, strict=True))


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
    texts: Sequence[str], pairs: Sequence[str] | None, once: _Once
) -> Steps[list[tuple[Slice, Slice]]]:
    """Return the texts by the words that they contain, of words that are neither rare nor everywhere; each
    slice a second time as the test counts it.
    """
    hits, groups, size = once.hits, once.groups, len(once.hits)
    if len(texts) != size:
        return []
    seen, right, counted, counted_right, firsts_right = (Counter[str]() for _ in range(5))
    order = np.argsort(groups, kind="stable").tolist()  # one group after another
    group, known = -1, set[str]()
    for start in range(0, size, _TEXTS_AT_ONCE):
        for place in order[start : start + _TEXTS_AT_ONCE]:
            own = set(words_of(texts[place]))
            if pairs is not None:
                own.update(words_of(pairs[place]))
            seen.update(own)
            if groups[place] != group:
                group, known = groups[place], set()
            new = own - known
            known |= new
            counted.update(new)
            if hits[once.firsts[group]]:
                firsts_right.update(new)
            if hits[place]:
                right.update(own)
                counted_right.update(new)
        yield Progress(stage=marked("engine", "Looking for slices"), done=start, total=size)
    least = max(LEAST_TEXTS, int(len(once) * LEAST_SHARE))
    total_right, firsts = int(hits.sum()), int(hits[once.firsts].sum())
    make = partial(Slice, WORD, "")
    return [
        (
            make(word, seen[word], right[word], size - seen[word], total_right - right[word]),
            make(word, count, counted_right[word], len(once) - count, firsts - firsts_right[word]),
        )
        for word, count in counted.items()
        if count >= least
    ]
