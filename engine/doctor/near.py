"""Which of many texts say nearly the same: candidates by what they share, then compared stretch by stretch.

Texts that share only what stands everywhere ("what is the capital of") are not alike: a stretch counts by how
rare it is among all texts, and what short ones differ in has to be slight (differing.py). Nothing here is
random: the same texts always give the same pairs.

Source: Broder 1997 for min-wise hashes, Indyk and Motwani 1998 for bands of them; the words but one as a key
are those of Garbe's SymSpell, with words for letters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from engine.doctor.differing import LONG, Count, TextDifference, WordCounts, differ_in_figures, is_one_edit
from engine.doctor.shingles import SIDES, Numbers, is_chinese, ranges, shingles_of
from engine.errors import marked
from engine.events import Beat, Progress, Steps
from engine.text.example_rows import distinct

ALIKE = 0.5  # from here on two texts are near duplicates
ALIKE_BUT_ONE = 0.38  # or from here on, where few words differ among many
LEAST_ALIKE = 0.19  # or from here on, where it is spelling and small words alone
LEAST_LETTERS = 8  # of one side of a pair without spaces, in which one letter may differ
CONTAINED, LEAST_CONTAINED = 0.9, 40  # or one is all but contained in the other, of so many stretches

_BANDS, _IN_BAND = 30, 3  # two texts of half their stretches in common share a band 98 times in 100
_CHARACTERS = 400_000  # of the texts that are hashed at once
_BUCKETS = 2**22  # in which stretches are counted
_LEAST_SHARED = 0.12  # of the smallest hashes, below which a candidate is not looked at
_FEW_LETTERS = 24  # of texts that are compared without one of their letters
_LETTERS = 512  # of a text whose words are counted
_MOST_WORDS, _LEAST_WORDS = 64, 3  # of texts that are compared without one of their words
_ALL_OF, _BESIDE = 48, 8  # candidates with one key are all compared up to so many, then with so many before
_KEYS_AT_ONCE = 500_000  # sorted between two steps
_PAIRS_AT_ONCE = 2048
_NEAR = marked("engine", "Looking for near-duplicates")

Texts = Callable[[Numbers], Sequence[str]]  # the folded texts at some places
_Compared = tuple[Numbers, Numbers, npt.NDArray[np.float32], npt.NDArray[np.bool_], Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of texts that are alike: first < second, (P,) places of them, and how alike they are, 0..1."""

    first: Numbers
    second: Numbers
    similarity: npt.NDArray[np.float32]


def finding_near(count: int, texts: Texts, num_characters: int) -> Steps[NearPairs]:
    """Return which of the folded texts, all different, are near duplicates of one another, step by step.

    Args: count: of them. num_characters: of all of them, to about.
    """
    at_once = int(np.clip(_CHARACTERS * count // max(1, num_characters), 1, 4096))
    sketch = _Sketch(count)
    for start in range(0, count, at_once):
        sketch.add(start, texts(np.arange(start, min(start + at_once, count))))
        yield Progress(stage=_NEAR, done=start, total=count)
    keys = yield from sketch.candidates()
    first, second = keys // max(1, count), keys % max(1, count)
    found: list[_Compared] = []
    for start in range(0, len(keys), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        a, b = first[some], second[some]
        likely = (sketch.shared(a, b) >= _LEAST_SHARED) | (sketch.is_short[a] & sketch.is_short[b])
        found.append(_compared(texts, a[likely], b[likely], sketch))
        yield Beat()
    if not found:
        none = np.zeros(0, np.int64)
        return NearPairs(none, none, np.zeros(0, np.float32))
    a, b, alike, same, frames = map(np.concatenate, zip(*found, strict=True))
    kept = same & ~_are_filled_in(a, b, frames)
    return NearPairs(a[kept], b[kept], alike[kept])


def _are_filled_in(first: Numbers, second: Numbers, frames: Numbers) -> npt.NDArray[np.bool_]:
    """Return which pairs have a frame in which three texts or more differ: what differs is what they say."""
    framed = np.flatnonzero(frames)
    texts_of: dict[int, set[int]] = {}
    for pair in framed.tolist():
        texts_of.setdefault(int(frames[pair]), set()).update((int(first[pair]), int(second[pair])))
    found = np.zeros(len(frames), bool)
    found[framed] = [len(texts_of[frame]) > 2 for frame in frames[framed].tolist()]
    return found


class _Sketch:
    """What is kept of each text: the keys of its bands, a byte of each smallest hash, and how often stretches
    stand anywhere.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._bands = np.zeros((_BANDS, count), np.uint32)
        self._bytes = np.zeros((count, _BANDS * _IN_BAND), np.uint8)
        self.seen = np.zeros(_BUCKETS, np.uint32)
        self._words = np.zeros(_BUCKETS, np.uint32)  # in how many texts each word stands
        self.is_short = np.zeros(count, bool)
        self._without: list[tuple[Numbers, Numbers]] = []  # keys without a word or letter, and their texts
        drawn = np.random.PCG64(0).random_raw(_BANDS * _IN_BAND)  # its raw stream never changes
        self._factors = drawn | np.uint64(1)

    def add(self, start: int, texts: Sequence[str]) -> None:
        """Take the texts from a place on."""
        shingles = shingles_of(texts)
        np.add.at(self.seen, shingles.hashes % _BUCKETS, 1)
        words = [word for text in texts for word in set(text[:_LETTERS].split())]
        np.add.at(self._words, [_bucket(word) for word in words], 1)
        here = slice(start, start + len(texts))
        low, begins = shingles.hashes & np.uint64(0xFFFFFFFF), shingles.bounds[:-1]
        for band in range(_BANDS):
            key = np.zeros(len(texts), np.uint64)
            for number in range(band * _IN_BAND, (band + 1) * _IN_BAND):
                smallest = np.minimum.reduceat((low * self._factors[number]) >> np.uint64(32), begins)
                self._bytes[here, number] = smallest & np.uint64(0xFF)
                key = (key ^ smallest) * np.uint64(0x9E3779B97F4A7C15)
                key ^= key >> np.uint64(29)
            self._bands[band, here] = key >> np.uint64(32)
        self.is_short[here] = [len(text) <= _FEW_LETTERS for text in texts]
        self._without += [_keys_without(start, texts), _keys_without_letter(start, texts)]

    def count_of(self, word: str) -> int:
        """Return in about how many texts a word stands."""
        return int(self._words[_bucket(word)])

    def candidates(self) -> Steps[Numbers]:
        """Return pairs of texts that share a band, all words but one or all letters but one: first * count +
        second.
        """
        found = []
        for band in self._bands:
            found.append(self._pairs(band, np.arange(self.count)))
            yield Beat()
        if self._without:
            keys, places = (np.concatenate(each) for each in zip(*self._without, strict=True))
            self._without.clear()
            num_shares = 1 + len(keys) // _KEYS_AT_ONCE
            for share in range(num_shares):
                yield Beat()
                mine = keys % num_shares == share
                found.append(self._pairs(keys[mine], places[mine]))
        return distinct(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def _pairs(self, keys: npt.NDArray, places: Numbers) -> Numbers:
        """Return the pairs of places whose keys are the same."""
        order = np.argsort(keys, kind="stable")
        keys, places = keys[order], places[order]
        begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        sizes = np.diff(np.append(begins, len(keys)))
        runs = sizes > 1
        member = ranges(begins[runs], sizes[runs])
        size, begin = np.repeat(sizes[runs], sizes[runs]), np.repeat(begins[runs], sizes[runs])
        found = []
        for behind in range(1, min(_ALL_OF, int(size.max(initial=1)))):
            near = (member - behind >= begin) & ((size <= _ALL_OF) | (behind <= _BESIDE))
            found.append(self._as_keys(places[member[near] - behind], places[member[near]]))
        large = size > _ALL_OF
        found.append(self._as_keys(places[begin[large]], places[member[large]]))
        return distinct(np.concatenate(found))

    def _as_keys(self, a: Numbers, b: Numbers) -> Numbers:
        first, second = np.minimum(a, b), np.maximum(a, b)
        return np.asarray((first * self.count + second)[first != second])

    def shared(self, a: Numbers, b: Numbers) -> npt.NDArray[np.float64]:
        """Return which share of the smallest hashes two texts have in common: about their likeness."""
        return np.asarray((self._bytes[a] == self._bytes[b]).mean(1))


def _bucket(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass")) % _BUCKETS


def _keys_without(start: int, texts: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Return a key for each text without each of its words in turn, and one for the whole text.

    Two texts that differ in one word share one, wherever that stands.
    """
    words = [text.split() if " " in text else list(text) for text in texts]
    counts = np.array([len(each) for each in words], np.int64)
    counts[(counts > _MOST_WORDS) | (counts < _LEAST_WORDS)] = 0
    kept = [word for each, count in zip(words, counts, strict=True) if count for word in each]
    numbers = np.fromiter(map(hash, kept), np.int64, len(kept))
    numbers *= np.int64(0x2545F4914F6CDD1D)
    text_of = np.repeat(np.arange(len(texts)), counts)
    sums = np.zeros(len(texts), np.int64)
    np.add.at(sums, text_of, numbers)
    used = np.flatnonzero(counts)
    keys = np.concatenate((sums[text_of] - numbers, sums[used]))
    places = np.concatenate((text_of, used)) + start
    return keys, places


def _keys_without_letter(start: int, texts: Sequence[str]) -> tuple[Numbers, Numbers]:
    """Return a key for each short text without each of its letters in turn, and one for the whole text.

    Two that differ in one letter, or in two side by side that are exchanged, share one.
    """
    short = [(place, text) for place, text in enumerate(texts, start) if len(text) <= _FEW_LETTERS]
    keys = [
        hash(key)
        for _place, text in short
        for key in (text, *(text[:at] + text[at + 1 :] for at in range(len(text))))
    ]
    places = np.array([place for place, _text in short], np.int64)
    return np.array(keys, np.int64), np.repeat(places, [len(text) + 1 for _place, text in short])


def _compared(texts: Texts, first: Numbers, second: Numbers, sketch: _Sketch) -> _Compared:
    """Return the pairs that are alike at all: both places, how alike, whether they say nearly the same, and
    the frame around a word in the place of which others may stand, 0 for none.
    """
    if not len(first):
        none = np.zeros(0, np.int64)
        return none, none, np.zeros(0, np.float32), np.zeros(0, bool), none
    places, where = np.unique(np.concatenate((first, second)), return_inverse=True)
    a, b = where[: len(first)], where[len(first) :]
    said = texts(places)
    alike = _likeness(said, a, b, sketch)
    for pair in np.flatnonzero(sketch.is_short[first] & sketch.is_short[second]).tolist():
        one, other = said[a[pair]], said[b[pair]]
        if is_one_edit(one, other):  # so short that no stretch may be left in common
            alike[pair] = max(alike[pair], 1 - 1 / max(len(one), len(other)))
    likely = np.flatnonzero(alike >= LEAST_ALIKE)
    weigh = lru_cache(maxsize=None)(WordCounts)
    verdicts = [
        _says_the_same(said[one], said[other], share, sketch.count_of, weigh)
        for one, other, share in zip(a[likely], b[likely], alike[likely].tolist(), strict=True)
    ]
    same = np.array([each[0] for each in verdicts], bool)
    frames = np.array([each[1] for each in verdicts], np.int64)
    return first[likely], second[likely], alike[likely], same, frames


def _says_the_same(
    a: str, b: str, alike: float, count: Count, weigh: Callable[[str], WordCounts]
) -> tuple[bool, int]:
    """Return whether two alike texts say nearly the same, and the frame around what differs.

    Of Chinese and Japanese likeness decides: a letter is a word there.
    """
    if SIDES in a:
        return _is_one_side(a, b, alike, count, weigh), 0
    first, second = weigh(a), weigh(b)
    if first.is_chinese and second.is_chinese:
        return alike >= ALIKE and not differ_in_figures(a, b), 0
    if max(first.total, second.total) >= LONG:
        return alike >= ALIKE, 0
    if not first.is_near(second):
        return False, 0
    difference = TextDifference(first, second, count)
    if difference.is_slight:
        return True, difference.frame if difference.is_guessed else 0
    kept = alike >= ALIKE_BUT_ONE and difference.is_small and not difference.is_number
    return kept, difference.frame


def _is_one_side(a: str, b: str, alike: float, count: Count, weigh: Callable[[str], WordCounts]) -> bool:
    """Whether two pairs, whichever side stands first, say nearly the same: if both sides differ, only where
    they are alike on the whole.
    """
    sides, others = a.split(SIDES, 1), b.split(SIDES, 1)
    for turned in (others, others[::-1]):
        changed = [each for each in zip(sides, turned, strict=True) if each[0] != each[1]]
        if len(changed) == 1 and _is_one_letter(*changed[0]):
            return True
        if (len(changed) == 1 or alike >= ALIKE) and all(
            _says_the_same(*each, max(alike, ALIKE_BUT_ONE), count, weigh)[0] for each in changed
        ):
            return True
    return False


def _is_one_letter(a: str, b: str) -> bool:
    """Whether two Chinese texts of some length differ in one letter, or in two side by side."""
    begin = len(os.path.commonprefix((a, b)))
    end = len(os.path.commonprefix((a[begin:][::-1], b[begin:][::-1])))
    middle = (a[begin : len(a) - end], b[begin : len(b) - end])
    is_short = len(a) < LEAST_LETTERS or not (is_chinese(a) and is_chinese(b))
    return not is_short and max(map(len, middle)) <= 2 and "".join(middle).isalpha()


def _likeness(said: Sequence[str], a: Numbers, b: Numbers, sketch: _Sketch) -> npt.NDArray[np.float32]:
    """Return how alike the texts at two places each are, 0..1; of pairs of texts the less alike side."""
    if SIDES not in said[0]:
        return _Weighed(said, sketch).alike(a, b)
    sides = [text.split(SIDES, 1) for text in said]
    weighed = _Weighed([side for each in sides for side in each], sketch)
    straight = np.minimum(weighed.alike(2 * a, 2 * b), weighed.alike(2 * a + 1, 2 * b + 1))
    crossed = np.minimum(weighed.alike(2 * a, 2 * b + 1), weighed.alike(2 * a + 1, 2 * b))
    return np.asarray(np.maximum(straight, crossed))


class _Weighed:
    """The different stretches of some texts, each weighed by how rare it is."""

    def __init__(self, texts: Sequence[str], sketch: _Sketch) -> None:
        shingles = shingles_of(texts)
        keys = (shingles.texts().astype(np.uint64) << np.uint64(40)) | (shingles.hashes >> np.uint64(24))
        self._keys, at = np.unique(keys, return_index=True)
        times = np.maximum(sketch.seen[shingles.hashes[at] % _BUCKETS], 1)
        self._weights = np.log1p(sketch.count / times)
        text_of = (self._keys >> np.uint64(40)).astype(np.int64)
        self._counts = np.bincount(text_of, minlength=len(texts))
        self._begins = np.cumsum(self._counts) - self._counts
        self._sums = np.bincount(text_of, self._weights, len(texts))

    def alike(self, a: Numbers, b: Numbers) -> npt.NDArray[np.float32]:
        """Return the likeness of texts at some places: what they share, by weight, of what they have."""
        less = self._counts[a] <= self._counts[b]
        a, b = np.where(less, a, b), np.where(less, b, a)
        sizes = self._counts[a]
        own = ranges(self._begins[a], sizes)
        pair = np.repeat(np.arange(len(a)), sizes)
        wanted = (b[pair].astype(np.uint64) << np.uint64(40)) | (self._keys[own] & np.uint64(2**40 - 1))
        places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        there = self._keys[places] == wanted
        shared = np.bincount(pair, self._weights[own] * there, len(a))
        alike = shared / np.maximum(self._sums[a] + self._sums[b] - shared, 1e-9)
        contained = shared / np.maximum(self._sums[a], 1e-9)
        is_part = (contained >= CONTAINED) & (sizes >= LEAST_CONTAINED)
        return np.asarray(np.where(is_part, np.maximum(alike, ALIKE), alike), np.float32)
