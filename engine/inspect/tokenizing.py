"""What a vocabulary makes of a whole table: pieces per word, [UNK], lengths, and the words it does not know.

A word is what the basic split leaves. Its pieces but the first go on with it, so they are counted on ids.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import marked
from engine.events import Event, Progress
from engine.text.roles import Roles
from engine.text.table import Table
from engine.text.tokenizer import Ids, Tokenizer
from engine.text.trace import kind_of, trace
from engine.text.wordpiece import WordPiece

AT_ONCE = 500  # rows between two yields
MOST_WORDS = 200  # unknown words that are told
_TOKENIZING = marked("engine", "Tokenizing")
_UNKNOWN = marked("engine", "Looking for unknown words")
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TableTokens:
    """A table in pieces. R rows; pieces are counted without [CLS] and [SEP], lengths with them."""

    lengths: Counts  # (R,) special tokens included, uncut
    unknown: Counts  # (R,) pieces that are [UNK]
    num_pieces: int
    num_words: int  # punctuation marks included
    num_marks: int  # words that are punctuation marks
    num_whole: int  # words that are one piece of the vocabulary, marks and [UNK] left out
    unknown_words: tuple[tuple[str, int], ...]  # cleaned, the most frequent first
    num_unknown_words: int  # different ones

    @property
    def fertility(self) -> float:
        """Pieces per word, punctuation left out; an unknown word is one piece. 0.0 without words."""
        words = self.num_words - self.num_marks
        return (self.num_pieces - self.num_marks) / words if words else 0.0

    @property
    def num_unknown(self) -> int:
        return int(self.unknown.sum())

    @property
    def unknown_share(self) -> float:
        """Share of all pieces that are [UNK], 0 to 1."""
        return self.num_unknown / self.num_pieces if self.num_pieces else 0.0

    @property
    def whole_share(self) -> float:
        """Share of the words that the vocabulary has as one piece, 0 to 1; punctuation left out."""
        words = self.num_words - self.num_marks
        return self.num_whole / words if words else 0.0

    def percentile(self, share: float) -> int:
        """Return the length that `share` (0 to 1) of the rows do not pass; 0 without rows."""
        if not len(self.lengths):
            return 0
        return int(np.quantile(self.lengths, share, method="inverted_cdf"))

    def cut_rows(self, max_length: int) -> Counts:
        """Return the rows that are longer than `max_length`, the longest first."""
        rows = np.flatnonzero(self.lengths > max_length)
        return rows[np.argsort(-self.lengths[rows], kind="stable")]

    def lost_share(self, max_length: int) -> float:
        """Return the share of all pieces that is cut off at `max_length`, 0 to 1."""
        lost = int(np.maximum(self.lengths - max_length, 0).sum())
        return lost / self.num_pieces if self.num_pieces else 0.0


def measure_table(wordpiece: Tokenizer, table: Table, roles: Roles) -> Generator[Event, None, TableTokens]:
    """Return what the vocabulary makes of a table's texts; both texts of a pair count to their row.

    A task: yields `Progress` and may be closed at any. Raises: DataError for a column that is not there.
    """
    columns = list(map(table.column, roles.read))
    texts = [table.frame[name].array for name in columns]
    num_rows, kinds = table.num_rows, _Kinds(wordpiece)
    num_special = 2 + (len(columns) - 1) * wordpiece.num_between
    lengths = np.full(num_rows, num_special, dtype=np.int64)
    unknown = np.zeros(num_rows, dtype=np.int64)
    totals = np.zeros(3, dtype=np.int64)
    for start in range(0, num_rows, AT_ONCE):
        stop = min(start + AT_ONCE, num_rows)
        for column in texts:
            ids = wordpiece.encode_ids(column[start:stop].tolist())
            lengths[start:stop] += [len(one) for one in ids]
            unknown[start:stop] += [int((one == wordpiece.unk_id).sum()) for one in ids]
            totals += kinds.count(ids)
        yield Progress(stage=_TOKENIZING, done=stop, total=num_rows)
    words = yield from _unknown_words(wordpiece, texts) if unknown.any() else _none()
    return TableTokens(
        lengths=lengths,
        unknown=unknown,
        num_pieces=int(lengths.sum()) - num_special * num_rows,
        num_words=int(totals[0]),
        num_marks=int(totals[1]),
        num_whole=int(totals[2]),
        unknown_words=tuple(words.most_common(MOST_WORDS)),
        num_unknown_words=len(words),
    )


class _Kinds:
    """What each piece of a vocabulary is, so that ids are counted without their words."""

    def __init__(self, wordpiece: Tokenizer) -> None:
        self._wordpiece = wordpiece
        shown = (wordpiece.spelled((number,)) for number in range(wordpiece.vocab_size))
        self._is_mark = np.array([len(text) == 1 and kind_of(text) == "punctuation" for text in shown])

    def count(self, texts: list[Ids]) -> Counts:
        """Return the words in some texts, the punctuation marks, and the other words of one known piece."""
        ids = np.concatenate(texts) if texts else np.empty(0, dtype=np.int32)
        found = [self._wordpiece.continues(one.tolist()) for one in texts]
        goes_on = np.concatenate(found).astype(bool) if texts else np.empty(0, dtype=bool)
        is_mark = self._is_mark[ids]
        alone = ~goes_on & ~np.append(goes_on[1:], False)  # a text never begins with a piece that goes on
        whole = alone & ~is_mark & (ids != self._wordpiece.unk_id)
        return np.array([len(ids) - goes_on.sum(), is_mark.sum(), whole.sum()], dtype=np.int64)


def _none() -> Generator[Event, None, Counter[str]]:
    yield from ()
    return Counter()


def _unknown_words(wordpiece: Tokenizer, texts: list[Any]) -> Generator[Event, None, Counter[str]]:
    """Return the cleaned words that become [UNK], and how often: each different part is cut once."""
    if not isinstance(wordpiece, WordPiece):
        return (yield from _unknown_pieces(wordpiece, texts))
    parts, pattern = Counter[str](), _parts(wordpiece)
    total = 2 * sum(len(column) for column in texts)
    done = 0
    for column in texts:
        for start in range(0, len(column), AT_ONCE):
            some = column[start : start + AT_ONCE].tolist()
            for text in some:
                parts.update(pattern.findall(text) if pattern else [text])
            done += len(some)
            yield Progress(stage=_UNKNOWN, done=done, total=total)
    found, items = Counter[str](), list(parts.items())
    for start in range(0, len(items), AT_ONCE):
        some_parts = items[start : start + AT_ONCE]
        ids = wordpiece.encode_ids([part for part, _ in some_parts])
        odd = [part for part, one in zip(some_parts, ids, strict=True) if (one == wordpiece.unk_id).any()]
        for word, count in _unknown_in(wordpiece, odd):
            found[word] += count
        done = total // 2 + total // 2 * min(start + AT_ONCE, len(items)) // max(1, len(items))
        yield Progress(stage=_UNKNOWN, done=done, total=total)
    return found


def _unknown_pieces(tokenizer: Tokenizer, texts: list[Any]) -> Generator[Event, None, Counter[str]]:
    """Return what is unknown as it stands in the texts, where it need not be a whole word."""
    found, total, done = Counter[str](), sum(len(column) for column in texts), 0
    for column in texts:
        for start in range(0, len(column), AT_ONCE):
            some = column[start : start + AT_ONCE].tolist()
            for text, (ids, spans) in zip(some, tokenizer.encode_spans(some), strict=True):
                found.update(text[begin:end] for begin, end in spans[ids == tokenizer.unk_id].tolist())
            done += len(some)
            yield Progress(stage=_UNKNOWN, done=done, total=total)
    return found


def _unknown_in(wordpiece: WordPiece, parts: list[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yield the unknown words in some parts, which are traced in one go, with the count of their part."""
    ends = np.cumsum([len(part) + 1 for part, _ in parts])
    found = trace(wordpiece, " ".join(part for part, _ in parts))
    for word in found.words:
        if wordpiece.unk_id in found.ids[word.first : word.last]:
            yield word.text, parts[int(np.searchsorted(ends, word.start, side="right"))][1]


def _parts(wordpiece: WordPiece) -> re.Pattern[str] | None:
    """Return a pattern for parts of a text that are cut alone, None where a token may reach across them."""
    added: list[Any] = [token.content for token in wordpiece.added]
    if not all(re.fullmatch("[!-~]+", content) for content in added):
        return None
    return re.compile(
        "[\u4e00-\u9fff]|[^ \t\r\n\u4e00-\u9fff]+" if wordpiece.chinese_chars else r"[^ \t\r\n]+"
    )
