"""Texts as sets of short stretches of characters, so that two that say nearly the same share most.

Five characters where words have spaces between them, two where most characters are Chinese or Japanese.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

WIDTH, WIDTH_CHINESE = 5, 2
LONGEST = 50_000  # characters of a text that are looked at
SIDES = "\x1f"  # between the two texts of a pair
_MANY_CHINESE = 0.3  # share of the characters from which on a text counts as Chinese
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_NO_WORD = re.compile(r"[\W_]+")
_CHINESE = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
_IS_CHINESE = re.compile(_CHINESE)
_BETWEEN_CHINESE = re.compile(f"(?<={_CHINESE}) (?={_CHINESE})")


def folded(text: str) -> str:
    """Return a text without what does not change what it says: case, width, punctuation, white space."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    words = _NO_WORD.sub(" ", plain).strip()
    return _BETWEEN_CHINESE.sub("", words) if words else plain.strip()


def is_chinese(text: str) -> bool:
    """Whether a text counts as Chinese or Japanese, which have no spaces between words."""
    return not text.isascii() and len(_IS_CHINESE.findall(text)) > _MANY_CHINESE * len(text)


def folded_pair(text: str, pair: str) -> str:
    """Return the same of a pair, whichever side stands first."""
    return SIDES.join(sorted((folded(text), folded(pair))))


@dataclass(frozen=True, slots=True, eq=False)
class Shingles:
    """The stretches of some texts, each text's from bounds[i] to bounds[i + 1]; one may stand there twice."""

    hashes: Hashes
    bounds: Numbers

    def texts(self) -> Numbers:
        """Return (S,), the text that each is of."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


def shingles_of(texts: Sequence[str]) -> Shingles:
    """Return the stretches of folded texts; each text has at least one."""
    padded = [f" {text} ".ljust(WIDTH) for text in texts]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    lengths = np.array([len(text) for text in padded], np.int64)
    ends = np.cumsum(lengths)
    text_of = np.repeat(np.arange(len(texts)), lengths)
    is_chinese = _chinese(codes, text_of, lengths)
    long = _rolled(codes, WIDTH)
    if is_chinese.any():
        long = np.where(is_chinese[text_of], _rolled(codes, WIDTH_CHINESE), long)
    width = np.where(is_chinese, WIDTH_CHINESE, WIDTH)
    whole = np.arange(len(codes)) + width[text_of] <= ends[text_of]
    counts = np.maximum(lengths - width + 1, 0)
    return Shingles(_mixed(long[whole]), np.append(0, np.cumsum(counts)))


def _chinese(codes: Hashes, text_of: Numbers, lengths: Numbers) -> npt.NDArray[np.bool_]:
    found = ((codes >= 0x3400) & (codes <= 0x9FFF)) | ((codes >= 0x3040) & (codes <= 0x30FF))
    if not found.any():
        return np.zeros(len(lengths), bool)
    counts = np.bincount(text_of, weights=found, minlength=len(lengths))
    return np.asarray(counts > _MANY_CHINESE * lengths)


def _rolled(codes: Hashes, width: int) -> Hashes:
    """Return (N,), a number for the `width` characters from each place on; the last ones reach too far."""
    rolled = codes + np.uint64(width)
    for further in range(1, width):
        rolled *= _BASE
        rolled[:-further] += codes[further:]
    return rolled


def _mixed(numbers: Hashes) -> Hashes:
    """Return numbers whose every bit depends on all bits of those given."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _MIX
    return numbers ^ (numbers >> np.uint64(31))


def ranges(starts: Numbers, counts: Numbers) -> Numbers:
    """Return the whole numbers from each start on, as many as it counts, end to end."""
    if not len(counts):
        return np.zeros(0, np.int64)
    before = np.cumsum(counts) - counts
    found: Any = np.arange(int(counts.sum())) - np.repeat(before - starts, counts)
    return np.asarray(found, np.int64)
