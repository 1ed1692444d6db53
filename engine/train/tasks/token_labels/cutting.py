"""Words become WordPieces and windows of them; of each word its first piece is asked, in one window alone.

A text that is too long is read in windows that overlap by half; a word belongs to the one in which it has
most context.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.events import Progress, Steps
from engine.text.batch import IGNORE, NOT_ASKED
from engine.text.reading.lines import Numbers
from engine.text.tagged.texts import WordTable
from engine.text.tokenizer import Tokenizer
from engine.train.tasks.token_labels.kept import TaggedRows

_TEXTS_AT_ONCE = 2048
_MOST_REMEMBERED = 1 << 18  # words, some 60 MB
_SMALL_IDS = 1 << 16  # of vocabularies whose ids take two bytes: a gigabyte of text is kept in memory

Codes = npt.NDArray[np.int16]


def cutting(
    store: WordTable,
    places: Numbers,
    tags_of: Callable[[Numbers], Codes],
    num_labels: int,
    wordpiece: Tokenizer,
    max_length: int,
    *,
    is_measured: bool,
) -> Steps[TaggedRows]:
    """Cut the words of some texts; a generator whose return value is their `TaggedRows`.

    Args:   places: (S,) ascending, of the texts. tags_of: (n,) places in the task's tags, of (n,) words of
            the store; those from num_labels on are none that the head knows.
            is_measured: whether the words are kept beside their pieces.
    """
    pieces = _Pieces(wordpiece, max_length - 2)
    small = wordpiece.vocab_size <= _SMALL_IDS
    ids, targets = _Grown(np.uint16 if small else np.int32), _Grown(np.int8 if num_labels < 128 else np.int16)
    bounds, rows, firsts = _Grown(np.int64, 0), _Grown(np.int64), _Grown(np.int64, 0)
    words = _Words() if is_measured else None
    num_words = 0
    for start in range(0, len(places), _TEXTS_AT_ONCE):
        yield Progress(stage=marked("engine", "Tokenizing"), done=start, total=len(places))
        some = store.take(places[start : start + _TEXTS_AT_ONCE])
        tags = tags_of(store.word_places(places[start : start + _TEXTS_AT_ONCE]))
        flat, offsets = pieces.of(some.words())
        found = windows(offsets, some.firsts, max_length - 2)
        known = np.where(tags < num_labels, tags, IGNORE).astype(np.int16)
        block_ids, lengths, block_targets, asked = _encoded(flat, offsets, found, known, wordpiece)
        ids.add(block_ids)
        targets.add(block_targets)
        bounds.add(np.cumsum(lengths) + bounds.last)
        rows.add(found[:, 0] + start)
        firsts.add(some.firsts[1:] + num_words)
        if words is not None:
            words.add(some, tags, asked + num_words)
        num_words += len(tags)
    bounds_of = bounds.array()
    return TaggedRows(
        input_ids=ids.array(),
        bounds=bounds_of,
        num_a=np.diff(bounds_of).astype(np.int32),
        targets=targets.array(),
        rows=rows.array(),
        firsts=firsts.array(),
        **(words or _Words()).arrays(),
    )


def windows(offsets: Numbers, firsts: Numbers, room: int) -> Numbers:
    """Return (E, 5) windows: text, first word, end of its words, the first it decides on, end of those.

    A text without a piece has none.

    Args: offsets: (W + 1,) the first piece of each word. firsts: (S + 1,). room: pieces a window has.
    """
    begins, ends = firsts[:-1], firsts[1:]
    sizes = offsets[ends] - offsets[begins]
    short = np.flatnonzero((sizes > 0) & (sizes <= room))
    found = [np.stack([short, begins[short], ends[short], begins[short], ends[short]], axis=1)]
    for text in np.flatnonzero(sizes > room).tolist():
        one = _overlapping(offsets[begins[text] : ends[text] + 1], room) + int(begins[text])
        found.append(np.concatenate([np.full((len(one), 1), text), one], axis=1))
    every = np.concatenate(found)
    return every[np.argsort(every[:, 0], kind="stable")]


def _overlapping(offsets: Numbers, room: int) -> Numbers:
    """Return (n, 4) the windows of one long text: first word, end, first it decides on, end of those.

    Args: offsets: (w + 1,) pieces before each word; no word has more than `room`.
    """
    num_words, total = len(offsets) - 1, int(offsets[-1])
    bounds = [(0, int(np.searchsorted(offsets, offsets[0] + room, "right")) - 1)]
    while bounds[-1][1] < num_words:
        first, end = bounds[-1]
        following = int(np.searchsorted(offsets, offsets[first] + room // 2, "left"))
        last = int(np.searchsorted(offsets, total - room, "left"))  # where the end of the text fits
        following = min(max(following, first + 1), last, end)
        bounds.append((following, int(np.searchsorted(offsets, offsets[following] + room, "right")) - 1))
    middles = offsets[:-1] + offsets[1:]  # twice
    cuts = [
        int(np.searchsorted(middles, offsets[following] + offsets[end], "right"))
        for (_, end), (following, _) in pairwise(bounds)
    ]
    edges = [0, *cuts, num_words]
    return np.array([(*bound, *edge) for bound, edge in zip(bounds, pairwise(edges), strict=True)])


def _encoded(
    flat: Numbers, offsets: Numbers, found: Numbers, known: Codes, wordpiece: Tokenizer
) -> tuple[Numbers, Numbers, Codes, Numbers]:
    """Return the ids of windows, the length of each, the targets of all pieces, the words that are asked."""
    sizes = offsets[found[:, 2]] - offsets[found[:, 1]]
    lengths = sizes + 2
    ends = np.cumsum(lengths)
    begins = ends - lengths
    ids = np.empty(int(lengths.sum()), np.int64)
    ids[begins], ids[ends - 1] = wordpiece.cls_id, wordpiece.sep_id
    inside = np.ones(len(ids), bool)
    inside[begins] = inside[ends - 1] = False
    ids[inside] = flat[_ranges(offsets[found[:, 1]], sizes)]
    counts = found[:, 4] - found[:, 3]
    words = _ranges(found[:, 3], counts)
    window = np.repeat(np.arange(len(found)), counts)
    has_pieces = offsets[words + 1] > offsets[words]
    words, window = words[has_pieces], window[has_pieces]
    targets = np.full(len(ids), NOT_ASKED, np.int16)
    targets[begins[window] + 1 + offsets[words] - offsets[found[window, 1]]] = known[words]
    return ids, lengths, targets, words


def _ranges(starts: Numbers, counts: Numbers) -> Numbers:
    """Return the numbers from each start on, so many of each, end to end."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))


class _Pieces:
    """Cuts words, each once: a word's pieces do not depend on its neighbours."""

    def __init__(self, wordpiece: Tokenizer, most: int) -> None:
        self._wordpiece, self._most = wordpiece, most
        self._forget()

    def _forget(self) -> None:
        self._known: dict[bytes, int] = {}
        self._ids, self._bounds = array("i"), array("q", [0])

    def of(self, words: list[bytes]) -> tuple[Numbers, Numbers]:
        """Return the pieces of words end to end, and (W + 1,) where those of each begin."""
        if len(self._known) > _MOST_REMEMBERED:
            self._forget()
        known = self._known
        unseen = [word for word in dict.fromkeys(words) if word not in known]
        texts = [word.decode("utf-8", "replace") for word in unseen]
        for word, ids in zip(unseen, self._wordpiece.encode_words(texts), strict=True):
            known[word] = len(known)
            self._ids.frombytes(ids[: self._most].tobytes())
            self._bounds.append(len(self._ids))
        codes = np.fromiter(map(known.__getitem__, words), np.int64, len(words))
        bounds = np.array(self._bounds)
        counts = bounds[codes + 1] - bounds[codes]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return np.array(self._ids)[_ranges(bounds[codes], counts)].astype(np.int64), offsets


class _Words:
    """The words of a set that is measured, as `TaggedRows` has them."""

    def __init__(self) -> None:
        self._arrays = {
            "decided": _Grown(np.int64),
            "tags": _Grown(np.int16),
            "utf8": _Grown(np.uint8),
            "begins": _Grown(np.int64),
            "steps": _Grown(np.uint16),
            "sizes": _Grown(np.uint16),
            "lines": _Grown(np.int64),
        }
        self._num_bytes = 0

    def add(self, some: WordTable, tags: Codes, decided: Numbers) -> None:
        """Take the words of some texts. Args: decided: those that are asked, counted over all texts."""
        if not self._num_bytes:
            self._arrays["begins"].add(np.zeros(1, np.int64))
        kept = {
            "decided": decided,
            "tags": tags,
            "utf8": np.frombuffer(some.utf8, np.uint8),
            "begins": some.begins[1:] + self._num_bytes,
            "steps": some.steps,
            "sizes": some.lengths,
            "lines": some.first_lines,
        }
        for name, values in kept.items():
            self._arrays[name].add(values)
        self._num_bytes += len(some.utf8)

    def arrays(self) -> dict[str, Any]:
        """Return them by the names of the set's fields."""
        return {name: one.array() for name, one in self._arrays.items()}


class _Grown:
    """An array that grows at its end."""

    def __init__(self, kind: type[np.generic], *start: int) -> None:
        self._kind = np.dtype(kind)
        self._bytes = bytearray(np.array(start, kind).tobytes())

    @property
    def last(self) -> int:
        return int(np.frombuffer(self._bytes[-self._kind.itemsize :], self._kind)[0])

    def add(self, values: np.ndarray) -> None:
        self._bytes += values.astype(self._kind).tobytes()

    def array(self) -> np.ndarray:
        return np.frombuffer(self._bytes, self._kind)
