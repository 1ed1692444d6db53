"""Cuts many sentences into pieces at once, for a token store: the ids of `Tokenizer.encode_ids`, flat.

Of WordPieces each word is cut once and looked up from then on. What comes out never depends on what was cut
before, so texts may be cut in any order, in any number of processes.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from itertools import chain

import numpy as np
import numpy.typing as npt

from engine.text.segmenter import IDEOGRAPHS, PACKAGES, segmenter_named
from engine.text.tokenizer import Ids, Tokenizer
from engine.text.wordpiece import WordPiece

# N pieces of all sentences, S sentences, W parts of words

_MAX_KNOWN = 2**18  # parts of words, up to about 60 MB
_PARTS_AT_ONCE = 256
_LONG_PART = 64
_PUNCTUATION = string.punctuation + "\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"
_NUM_CHARACTERS = 0x110000
_NO_SPANS: Ids = np.zeros((0, 2), np.int32)


@dataclass(frozen=True, slots=True)
class Cut:
    """Sentences as pieces, without special tokens.

    ids: (N,) uint16 or uint32. sizes: (S,) int32, pieces of each sentence. continues: (N,) bool, where a
    piece goes on with the word before it; None where the pieces say that by themselves.
    """

    ids: np.ndarray
    sizes: npt.NDArray[np.int32]
    continues: npt.NDArray[np.bool_] | None


def id_type(vocab_size: int) -> np.dtype:
    """Return the smallest type that holds every id, little-endian."""
    return np.dtype("<u2" if vocab_size < 2**16 else "<u4")


def segmenter_version(name: str) -> str:
    """Return what finds the words and which version, for a header; "" for none.

    Raises: ConfigError if there is no such segmenter, UserError if its package is not installed.
    """
    if not name:
        return ""
    segmenter_named(name)
    return f"{PACKAGES[name]} {metadata.version(PACKAGES[name])}"


class WholeCutter:
    """Cuts sentences with any vocabulary, each anew. Not for several threads at once.

    Args:   segmenter: of `SEGMENTERS`. With "jieba", all pieces of a word that it finds in Chinese text
            continue that word, except the first. Elsewhere a word is what the vocabulary says.
    Raises: ConfigError, UserError, as `segmenter_version`.
    """

    def __init__(self, tokenizer: Tokenizer, segmenter: str = "") -> None:
        self._tokenizer = tokenizer
        self._words_of = segmenter_named(segmenter)
        self._type = id_type(tokenizer.vocab_size)
        self._is_ideograph = _ideographs()

    def cut(self, sentences: Sequence[str]) -> Cut:
        """Return the pieces of some sentences; the ids are those of `Tokenizer.encode_ids`."""
        if self._words_of is None:
            found = [(ids, _NO_SPANS) for ids in self._tokenizer.encode_ids(sentences)]
        else:
            found = self._tokenizer.encode_spans(sentences)
        ids = np.concatenate([np.empty(0, np.int32), *(ids for ids, _ in found)]).astype(self._type)
        sizes = np.fromiter((len(ids) for ids, _ in found), np.int32, len(found))
        if self._words_of is None and self._tokenizer.tells_words:
            return Cut(ids, sizes, None)
        continues = [self._continues_of(text, *one) for text, one in zip(sentences, found, strict=True)]
        return Cut(ids, sizes, np.concatenate([np.empty(0, bool), *continues]))

    def _continues_of(self, sentence: str, ids: Ids, spans: Ids) -> npt.NDArray[np.bool_]:
        """Return which pieces of a sentence go on with a word. Args: spans: unread without a segmenter."""
        goes_on = np.array(self._tokenizer.continues(ids.tolist()), bool)
        if self._words_of is None:
            return goes_on
        ends = np.cumsum(self._word_lengths(sentence))
        ideograph = self._is_ideograph[_codes(" " + sentence)]  # one place on: what stands before it
        starts = set(ends.tolist()) | {0}
        inside = [
            bool(ideograph[first] or ideograph[first + 1])
            and not (first == 0 or sentence[first - 1] == " ")
            and first not in starts
            for first in spans[:, 0].tolist()
        ]
        return np.asarray(goes_on | np.array(inside, bool))

    def _word_lengths(self, sentence: str) -> list[int]:
        if sentence.isascii() or self._words_of is None:
            return [len(sentence)] if sentence else []
        try:
            words = self._words_of(sentence)
        except UnicodeEncodeError:  # half characters, as a table of JSON can hold
            words = self._words_of(sentence.encode("utf-8", "replace").decode())
        return [len(word) for word in words if word]


class Cutter(WholeCutter):
    """Cuts sentences with one vocabulary of WordPieces, each word once. Args: as `WholeCutter`."""

    def __init__(self, wordpiece: WordPiece, segmenter: str = "") -> None:
        super().__init__(wordpiece, segmenter)
        self._is_inner = wordpiece.may_go_on
        self._is_ideograph, self._is_alone = _characters(wordpiece)
        self._parts = _parts(wordpiece, self._is_alone)
        self._known = _Numbers()
        self._starts = self._lengths = np.empty(0, np.int32)
        self._pieces = np.empty(0, self._type)

    def cut(self, sentences: Sequence[str]) -> Cut:
        """Return the pieces of some sentences; the ids are those of `WordPiece.encode_ids`."""
        if self._parts is None:  # with tokens that reach across words, parts of words tell too little
            return super().cut(sentences)
        parts = list(map(self._parts.findall, sentences))
        num_parts = np.fromiter(map(len, parts), np.int64, len(parts))
        numbers = self._numbers_of(parts, int(num_parts.sum()))
        lengths = self._lengths[numbers]
        ends = np.cumsum(lengths, dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        places = np.repeat(self._starts[numbers] - (ends - lengths), lengths) + np.arange(total)
        ids = self._pieces[places]
        bounds = np.concatenate(([0], ends))[np.concatenate(([0], np.cumsum(num_parts)))]
        continues = None
        if self._words_of is not None:
            continues = self._is_inner[ids]
            inside = self._inside_words(sentences, len(numbers)) & (lengths > 0)
            continues[(ends - lengths)[inside]] = True
        return Cut(ids, np.diff(bounds).astype(np.int32), continues)

    def _numbers_of(self, parts: list[list[str]], num_parts: int) -> npt.NDArray[np.int64]:
        """Return (W,) the place of each part in the table of known ones; new ones are cut and added."""
        known = self._known
        if known.count > _MAX_KNOWN:
            known.forget()
            self._starts, self._lengths, self._pieces = self._starts[:0], self._lengths[:0], self._pieces[:0]
        numbers = np.fromiter(map(known.__getitem__, chain.from_iterable(parts)), np.int64, num_parts)
        if known.new:
            each = [known.new[i : i + _PARTS_AT_ONCE] for i in range(0, len(known.new), _PARTS_AT_ONCE)]
            pieces, sizes = zip(*map(self._cut_parts, each), strict=True)
            lengths = np.concatenate(sizes)
            starts = len(self._pieces) + np.cumsum(lengths) - lengths
            self._starts = np.concatenate((self._starts, starts.astype(np.int32)))
            self._lengths = np.concatenate((self._lengths, lengths.astype(np.int32)))
            self._pieces = np.concatenate((self._pieces, *pieces))
            for part in known.new:
                if len(part) > _LONG_PART:
                    del known[part]
            known.new.clear()
        return numbers

    def _cut_parts(self, parts: Sequence[str]) -> tuple[np.ndarray, npt.NDArray[np.int64]]:
        """Return the pieces of some parts, flat, and how many are of each: one text is cut fastest."""
        encoding = self._tokenizer.encode(" ".join(parts))
        ids = np.array(encoding.input_ids[1:-1], self._type)
        firsts = [first for first, _ in encoding.offsets[1:-1]]
        ends = np.cumsum([len(part) + 1 for part in parts])
        return ids, np.bincount(np.searchsorted(ends, firsts, "right"), minlength=len(parts))

    def _inside_words(self, sentences: Sequence[str], num_parts: int) -> npt.NDArray[np.bool_]:
        """Return (W,) where a part goes on with a word of the segmenter, of which an ideograph is a part."""
        characters = _codes("".join(sentences))
        space, alone = characters == ord(" "), self._is_alone[characters]
        ideograph = self._is_ideograph[characters]
        word, sentence = np.zeros((2, len(characters)), bool)
        lengths = np.fromiter(chain.from_iterable(map(self._word_lengths, sentences)), np.int64)
        assert int(lengths.sum()) == len(characters), "the segmenter lost characters"
        word[np.cumsum(lengths) - lengths] = True
        starts = np.cumsum([0, *map(len, sentences)])
        sentence[starts[starts < len(characters)]] = True
        word |= sentence
        before = slice(0, -1)
        begins, after_space, after_ideograph = sentence | alone, sentence.copy(), np.zeros_like(sentence)
        after_space[1:] |= space[before]
        begins[1:] |= space[before] | alone[before]
        after_ideograph[1:] = ideograph[before]
        begins &= ~space
        inside = ~word & ~after_space & (ideograph | after_ideograph)
        found = inside[begins]
        assert len(found) == num_parts
        return found


def cutter_for(tokenizer: Tokenizer, segmenter: str = "") -> WholeCutter:
    """Return what cuts sentences with a vocabulary of any kind. Raises: as `WholeCutter`."""
    if isinstance(tokenizer, WordPiece):
        return Cutter(tokenizer, segmenter)
    return WholeCutter(tokenizer, segmenter)


class _Numbers(dict[str, int]):
    """Parts of words -> their places in a table; one that is asked for and not there is given the next."""

    def __init__(self) -> None:
        self.count = 0
        self.new: list[str] = []

    def __missing__(self, part: str) -> int:
        number = self[part] = self.count
        self.count += 1
        self.new.append(part)
        return number

    def forget(self) -> None:
        self.clear()
        self.count = 0


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _ideographs() -> npt.NDArray[np.bool_]:
    """Return for each character whether it is an ideograph."""
    found = np.zeros(_NUM_CHARACTERS, bool)
    for some in IDEOGRAPHS:
        found[some.start : some.stop] = True
    return found


def _characters(wordpiece: WordPiece) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return for each character whether it is an ideograph, and whether it ends what stands before it."""
    is_ideograph = _ideographs() if wordpiece.chinese_chars else np.zeros(_NUM_CHARACTERS, bool)
    is_alone = is_ideograph.copy()
    in_tokens = set("".join(_looked_for(wordpiece)))
    is_alone[[ord(mark) for mark in _PUNCTUATION if mark not in in_tokens]] = True
    return is_ideograph, is_alone


def _parts(wordpiece: WordPiece, is_alone: npt.NDArray[np.bool_]) -> re.Pattern[str] | None:
    """Return a pattern for the parts of a text that are cut alone; None if a token may reach across them.

    It finds smaller parts than `WordPiece.encode_ids` looks for, for the same reasons.
    """
    flags = any(token.single_word or token.lstrip or token.rstrip for token in wordpiece.added)
    if flags or not re.fullmatch("[!-~]+", "".join(_looked_for(wordpiece))):
        return None
    edges = np.flatnonzero(np.diff(is_alone, prepend=False, append=False)).reshape(-1, 2)
    alone = "".join(f"{re.escape(chr(a))}-{re.escape(chr(b - 1))}" for a, b in edges.tolist())
    return re.compile(f"[{alone}]|[^ {alone}]+")


def _looked_for(wordpiece: WordPiece) -> list[str]:
    """Return the tokens that are found in the text itself, before it is cut into words."""
    usual = [name for name in wordpiece.names.named.values() if name in set(wordpiece.tokens)]
    return usual + [token.content for token in wordpiece.added]
