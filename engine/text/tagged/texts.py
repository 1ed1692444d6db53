"""Texts whose words carry tags, as one run of UTF-8 and numbers: five bytes a word beside its text.

A gigabyte of CoNLL is a hundred million words, so nothing here may be an object a word; texts are made when
they are asked for, and never kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from engine.errors import Sentence
from engine.events import Beat, Steps, result_of
from engine.text.reading.lines import Numbers
from engine.text.table import BadLine
from engine.text.tagged.repairs import RepairRows

MOST_BYTES = 1 << 15  # of a word, or of what stands between two words of a text
_CJK_FIRST, _CJK_LAST = "\u2e80", "\u9fff"


class Entity(NamedTuple):
    """Words first to stop - 1 of a text, with their type."""

    first: int
    stop: int
    type: str


@dataclass(frozen=True, slots=True)
class TaggedText:
    """One text. spans: the characters of each word in it. tags: IOB2, or the file's own without a scheme.

    Where the file gives words alone, `text` is made of them, with spaces between.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]
    lines: tuple[int, ...]  # 1-based, of each word

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.text[start:stop] for start, stop in self.spans)

    @property
    def entities(self) -> tuple[Entity, ...]:
        """What the IOB2 tags say; of plain tags nothing is to be asked here."""
        return entities_of(self.tags)


def entities_of(tags: Sequence[str], *, is_strict: bool = False) -> tuple[Entity, ...]:
    """Return the entities of IOB2 tags; an I- that continues nothing begins one, as conlleval has it, or is
    none where it `is_strict`.
    """
    found: list[Entity] = []
    first, kind = 0, ""
    for place, tag in enumerate([*tags, "O"]):
        if kind and tag != f"I-{kind}":
            found.append(Entity(first, place, kind))
            kind = ""
        if not kind and (tag.startswith("B-") if is_strict else tag != "O"):
            first, kind = place, tag[2:]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class TaggedFormat:
    """How a file was read; word, tag, sentence and scheme given back as overrides read the same again."""

    kind: str  # "conll", "conllu", "spans", "lists" (a row a text) or "tokens" (a row a word)
    word: str  # the column of words or texts: its number from 1, in a table its name
    tag: str
    sentence: str  # the column that numbers the texts; "" without one
    reasons: tuple[Sentence, ...]  # why this kind, these columns, this scheme
    encoding: str = ""
    separator: str = ""  # "" for JSON, " " for any run of spaces and tabs
    scheme: str = ""  # "IOB1", "IOB2", "BIOES", "BILOU" or "none"


@dataclass(frozen=True, slots=True, eq=False)
class TaggedTable(Sequence[TaggedText]):
    """All texts of a file: S of them, of W words. Nobody can change them.

    Rows in = rows used + rows reported: a row is a line with a word, or a text in the files that have a text
    a row.
    """

    path: Path
    format: TaggedFormat
    tags: tuple[str, ...]  # "O" first where there is a scheme, then B- and I- of each type
    codes: np.ndarray[Any, Any]  # (W,) uint8 or uint16, places in `tags`
    num_rows_used: int
    reported: tuple[BadLine, ...]  # rows that are not used
    repairs: RepairRows  # what was written otherwise than it is read, by line
    notes: tuple[Sentence, ...]
    sha256: str  # of the file's bytes
    store: WordTable

    @property
    def num_words(self) -> int:
        return len(self.codes)

    @property
    def types(self) -> tuple[str, ...]:
        """The types of entities; without a scheme the tags themselves."""
        if self.format.scheme == "none":
            return self.tags
        return tuple(tag[2:] for tag in self.tags[1::2])

    @property
    def counts(self) -> Numbers:
        """(number of tags,) words with each tag; those of a B- tag are the entities of its type."""
        return result_of(counting(self.codes, len(self.tags)))

    def codes_of(self, place: int) -> np.ndarray[Any, Any]:
        """Return (words of the text,) places in `tags`."""
        firsts = self.store.firsts
        return self.codes[firsts[place] : firsts[place + 1]]

    def __len__(self) -> int:
        return len(self.store)

    @overload
    def __getitem__(self, place: int) -> TaggedText: ...

    @overload
    def __getitem__(self, place: slice) -> list[TaggedText]: ...

    def __getitem__(self, place: int | slice) -> TaggedText | list[TaggedText]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        text, spans = self.store.text(place)
        tags = tuple(self.tags[code] for code in self.codes_of(place).tolist())
        return TaggedText(text, spans, tags, tuple(self.store.lines(place).tolist()))

    def __iter__(self) -> Iterator[TaggedText]:
        return (self[place] for place in range(len(self)))


@dataclass(frozen=True, slots=True, eq=False)
class WordTable:
    """Where the words of S texts stand, in one run of UTF-8 and in the lines of the file."""

    utf8: bytes | bytearray
    begins: Numbers  # (S + 1,) the first byte of each text; one byte stands between two
    firsts: Numbers  # (S + 1,) the first word of each
    steps: np.ndarray[Any, Any]  # (W,) uint16, bytes from the beginning of the word before, or of the text
    lengths: np.ndarray[Any, Any]  # (W,) uint16, bytes
    first_lines: np.ndarray[Any, Any]  # (S,) uint32, the line of each text's first word
    skipped: Numbers  # (K, 2): before this word so many lines of its text hold no word
    line_step: int  # 1: a word a line, 0: a text a line

    def __len__(self) -> int:
        return len(self.firsts) - 1

    def text(self, place: int) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return a text, and the characters of each of its words."""
        data = self.utf8[self.begins[place] : self.begins[place + 1] - 1]
        words = slice(self.firsts[place], self.firsts[place + 1])
        starts = np.cumsum(self.steps[words], dtype=np.int64)
        stops = starts + self.lengths[words]
        if not data.isascii():
            is_first = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
            characters = np.concatenate([[0], np.cumsum(is_first)])
            starts, stops = characters[starts], characters[stops]
        return data.decode(), tuple(zip(starts.tolist(), stops.tolist(), strict=True))

    def words(self) -> list[bytes]:
        """Return all words in UTF-8, end to end."""
        steps = np.concatenate([[0], np.cumsum(self.steps, dtype=np.int64)])
        before = steps[self.firsts[:-1]]  # bytes stepped over in the texts above
        starts = steps[1:] + np.repeat(self.begins[:-1] - before, np.diff(self.firsts))
        stops = starts + self.lengths
        data = bytes(self.utf8)
        return [data[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]

    def take(self, places: Numbers) -> WordTable:
        """Return some texts. Of their lines only each text's first is known."""
        which, firsts = self._words_of(places)
        utf8, begins = bytearray(), np.zeros(len(places) + 1, np.int64)
        for number, place in enumerate(places.tolist()):
            utf8 += self.utf8[self.begins[place] : self.begins[place + 1]]
            begins[number + 1] = len(utf8)
        return WordTable(
            utf8,
            begins,
            firsts,
            self.steps[which],
            self.lengths[which],
            self.first_lines[places],
            np.zeros((0, 2), np.int64),
            0,
        )

    def word_places(self, places: Numbers) -> Numbers:
        """Return which of all words are those of some texts, end to end."""
        return self._words_of(places)[0]

    def _words_of(self, places: Numbers) -> tuple[Numbers, Numbers]:
        counts = self.firsts[places + 1] - self.firsts[places]
        firsts = np.concatenate([[0], np.cumsum(counts)])
        return np.repeat(self.firsts[places] - firsts[:-1], counts) + np.arange(firsts[-1]), firsts

    def lines(self, place: int) -> Numbers:
        """Return the line of each word of a text."""
        return self.lines_of(np.arange(self.firsts[place], self.firsts[place + 1]))

    def lines_of(self, words: Numbers) -> Numbers:
        """Return (n,) the lines of (n,) words, counted over all texts."""
        places = np.searchsorted(self.firsts, words, "right") - 1
        lines = self.first_lines[places].astype(np.int64)
        if self.line_step:
            firsts = self.firsts[places]
            lines += words - firsts + self._num_skipped(words) - self._num_skipped(firsts)
        return lines

    def _num_skipped(self, words: Numbers) -> Numbers:
        sums = np.concatenate([[0], np.cumsum(self.skipped[:, 1])])
        return np.asarray(sums[np.searchsorted(self.skipped[:, 0], words, "right")])


class WordTableWriter:
    """Takes words a batch at a time and keeps little more than the store that it becomes."""

    def __init__(self, line_step: int) -> None:
        self._line_step = line_step
        self._utf8 = bytearray()
        self._begins, self._firsts, self._skipped = array("q"), array("q"), array("q")
        self._steps, self._lengths, self._codes = array("H"), array("H"), array("B")
        self._first_lines = array("I")
        self._last = 0  # bytes from the beginning of the last word to the next one's
        self._tail = ""  # the last word, and whether no space stands behind it
        self._is_glued = False

    @property
    def num_words(self) -> int:
        return len(self._steps)

    def extend(
        self,
        words: list[str],
        codes: list[int],
        firsts: list[int],
        first_lines: list[int],
        skipped: list[tuple[int, int]],
        glued: Sequence[int] = (),
    ) -> None:
        """Add words, each at most MOST_BYTES long, with their tags.

        Args:   firsts: places in `words` at which texts begin; those before go on with the text before.
                skipped: place in `words`, and how many lines of its text before it hold no word.
                glued: places of words after which no space stands.
        """
        if not words:
            return
        if self._tail and (not firsts or firsts[0]) and (self._is_glued or _meet(self._tail, words[0])):
            del self._utf8[-1:]  # the space behind it
            self._last -= 1
        self._tail, self._is_glued = words[-1], len(words) - 1 in glued[-1:]
        before = self.num_words
        ends = np.array([*firsts, len(words)], np.int64) - 1
        data, lengths, gaps = _joined(words, ends[ends >= 0], glued)
        places = np.concatenate([[0], np.cumsum(lengths + gaps)])[:-1]
        steps = np.concatenate([[self._last], (lengths + gaps)[:-1]])
        steps[firsts] = 0
        self._last = int(lengths[-1] + gaps[-1])
        self._begins.frombytes((places[firsts] + len(self._utf8)).astype(np.int64).tobytes())
        self._firsts.frombytes((np.array(firsts, np.int64) + before).tobytes())
        self._first_lines.extend(first_lines)
        for place, count in skipped:
            self._skipped.extend((place + before, count))
        self._utf8 += data
        self._add_numbers(steps, lengths, codes)

    def add(self, text: str, spans: Sequence[tuple[int, int]], codes: list[int], line: int) -> bool:
        """Add a text of its own with the characters of its words; False if two words stand too far apart."""
        data = text.encode()
        bounds = np.array(spans, np.int64).reshape(-1, 2)
        if len(data) != len(text):
            is_first = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
            bounds = np.append(np.flatnonzero(is_first), len(data))[bounds]
        steps = np.diff(bounds[:, 0], prepend=0)
        lengths = bounds[:, 1] - bounds[:, 0]
        if max(steps.max(), lengths.max()) > MOST_BYTES:
            return False
        self._begins.append(len(self._utf8))
        self._firsts.append(self.num_words)
        self._first_lines.append(line)
        self._utf8 += data + b"\n"
        self._add_numbers(steps, lengths, codes)
        return True

    def finish(self) -> tuple[WordTable, np.ndarray[Any, Any]]:
        """Return the store and (W,) the codes, which may still be changed."""
        self._begins.append(len(self._utf8))
        self._firsts.append(self.num_words)
        store = WordTable(
            self._utf8,
            _fixed(self._begins, np.int64),
            _fixed(self._firsts, np.int64),
            _fixed(self._steps, np.uint16),
            _fixed(self._lengths, np.uint16),
            _fixed(self._first_lines, np.uint32),
            _fixed(self._skipped, np.int64).reshape(-1, 2),
            self._line_step,
        )
        return store, np.frombuffer(self._codes, np.uint8 if self._codes.typecode == "B" else np.uint16)

    def _add_numbers(self, steps: Numbers, lengths: Numbers, codes: list[int]) -> None:
        self._steps.frombytes(steps.astype(np.uint16).tobytes())
        self._lengths.frombytes(lengths.astype(np.uint16).tobytes())
        if self._codes.typecode == "B" and max(codes) > 255:
            self._codes = array("H", self._codes)
        self._codes.extend(codes)


def _fixed(numbers: array[int], kind: Any) -> np.ndarray[Any, Any]:
    """Return numbers as an array that nobody can change, over the same bytes."""
    found = np.frombuffer(numbers, kind)
    found.flags.writeable = False
    return found


def _meet(word: str, following: str) -> bool:
    """Whether two words stand together without a space, as Chinese and Japanese ones do."""
    return _CJK_FIRST <= word[-1] <= _CJK_LAST and _CJK_FIRST <= following[0] <= _CJK_LAST


def _joined(words: list[str], ends: Numbers, glued: Sequence[int]) -> tuple[bytes, Numbers, Numbers]:
    """Return words as one run of UTF-8 with a space or nothing behind each, the bytes of each, the spaces.

    Args: ends: places of the last words of texts, behind which a space stands in any case.
    """
    gaps = np.ones(len(words), np.int64)
    whole = " ".join(words)
    if whole.isascii():
        lengths = np.fromiter(map(len, words), np.int64, len(words))
    else:
        lengths = np.fromiter((len(word.encode()) for word in words), np.int64, len(words))
        gaps[:-1][[_meet(*pair) for pair in pairwise(words)]] = 0
    gaps[list(glued)] = 0
    gaps[ends] = 1
    if gaps.all():
        return whole.encode() + b" ", lengths, gaps
    pieces = [word + " " if gap else word for word, gap in zip(words, gaps.tolist(), strict=True)]
    return "".join(pieces).encode(), lengths, gaps


def counting(codes: np.ndarray[Any, Any], num_codes: int) -> Steps[Numbers]:
    """Return (num_codes,) how often each code occurs; a block at a time, as numpy counts in 64 bits."""
    counts = np.zeros(num_codes, np.int64)
    for start in range(0, len(codes), 1 << 20):
        counts += np.bincount(codes[start : start + (1 << 20)], minlength=num_codes)
        yield Beat()
    return counts
