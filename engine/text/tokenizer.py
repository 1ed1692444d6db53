"""What is asked of a tokenizer, whichever kind it is: ids, pieces, spans, pairs, words.

`Tokenizer` is what everybody takes; `WordPiece`, `ByteLevel`, `ByteFallback` and `Unigram` are its kinds, and
`read_tokenizer` opens the one that a folder has. Nobody spells a special token or a mark of a piece, or asks
which kind it is, but for what each kind does in its own way: explaining its steps, and leaving pieces out of
a vocabulary. Never change one after it is built: threads share it.

TOKENIZERS_PARALLELISM is left as the person set it. Unset, the library cuts a batch on all cores and stops
doing so by itself in a forked child; "true" can hang there, "false" would leave the other cores idle.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.errors import ConfigError, Sentence, marked, not_among
from engine.text.special_tokens import ExtraToken

if TYPE_CHECKING:
    import tokenizers  # what a vocabulary's files say is known before the window is painted

Ids = npt.NDArray[np.int32]

TRUNCATIONS = ("longest_first", "head", "head_tail")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Encoding:
    """One text or pair with its special tokens; `offsets` are spans in the text that each piece is from."""

    input_ids: list[int]
    token_type_ids: list[int]
    tokens: list[str]
    shown: list[str]  # the tokens as a person reads them
    offsets: list[tuple[int, int]]  # (0, 0) for special tokens
    special_tokens_mask: list[int]
    attention_mask: list[int]
    continues: list[bool]  # whether a piece goes on with the word of the one before it
    num_cut: int


class Tokenizer:
    """A vocabulary, and how a text becomes its pieces. Immutable, picklable, safe to share between threads.

    tokens: the pieces by id, as they are published. mask_id: None where no word can be masked. lowercase:
    whether text loses its capitals. added: tokens that are found in the text itself, before it is cut. notes:
    what a person should know of its files. num_between: separators between the two texts of a pair.
    tells_segments: whether it numbers the texts of a pair for the model. tells_words: whether a piece alone
    says that it goes on with a word. kind: what its pieces are called. cleaning, splitting: how a text is
    prepared, and how it is cut; "" where each step is known. way: what it is called, and how it finds pieces.
    All of these are marked.
    """

    num_between: int = 1
    tells_segments: bool = True
    kind: str = ""
    tells_words: bool = False
    cleaning: str = ""
    splitting: str = ""
    way: str = ""

    tokens: tuple[str, ...]
    vocab_size: int
    pad_id: int
    unk_id: int
    cls_id: int
    sep_id: int
    mask_id: int | None
    lowercase: bool
    added: tuple[ExtraToken, ...]
    notes: tuple[Sentence, ...]
    _tokenizer: tokenizers.Tokenizer

    @property
    def strips(self) -> bool:
        """Whether text loses its accents."""
        raise NotImplementedError

    @property
    def shown(self) -> tuple[str, ...]:
        """The pieces as a person reads them."""
        return self.tokens

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids that stand for no text: padding, unknown, first, separator, mask and other special ones."""
        raise NotImplementedError

    def save(self, folder: Path | str, *, model_max_length: int | None = None) -> None:
        """Write what `read_tokenizer` and `transformers` read: same bytes each time, synced, renamed.

        Args: model_max_length: the most positions the model has, for other programs; left out if None.
        Raises: UserError if the folder cannot be written.
        """
        raise NotImplementedError

    def fingerprint(self) -> str:
        """Return the sha256 of all that decides how a text is cut, in hex digits."""
        raise NotImplementedError

    def continues(self, ids: Sequence[int]) -> list[bool]:
        """Return whether each piece of a text goes on with the word of the one before it."""
        raise NotImplementedError

    def spelled(self, ids: Sequence[int]) -> str:
        """Return pieces as they would be written, marks of the vocabulary left out."""
        raise NotImplementedError

    def as_word(self, ids: Sequence[int]) -> str:
        """Return pieces as they would be written, with a mark before those that go on with a word."""
        raise NotImplementedError

    def encode_words(self, words: Sequence[str]) -> list[Ids]:
        """Return the pieces of each of some words as it stands within a text."""
        raise NotImplementedError

    def ids_of_word(self, word: str) -> list[int]:
        """Return the pieces of a word as it stands within a text."""
        return [int(number) for number in self.encode_words([word])[0]]

    def ids_as_spelled(self, word: str) -> list[int]:
        """Return the pieces of what `as_word` spells so; none where no piece goes on with a word so."""
        raise NotImplementedError

    @property
    def may_go_on(self) -> npt.NDArray[np.bool_]:
        """(V,) which pieces go on with a word where they stand right behind its beginning."""
        raise NotImplementedError

    def with_masks(self, text: str) -> str:
        """Return a text in which each [MASK] is this vocabulary's own mask, of as many characters."""
        return text

    def behind(self, text: str) -> str:
        """Return a text as it is written behind another one, so that its first word is a word there too."""
        return text

    def encode(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Return [CLS] text [SEP], or [CLS] text [SEP] text_pair [SEP], cut to `max_length` (see `kept`).

        Args: text_pair: `num_between` separators stand before it. Its token_type_ids are 1, whether or not
              the model tells segments apart.
        """
        pieces = []
        for part in map(without_halves, (text, text_pair or "")):
            found = self._tokenizer.encode(part, add_special_tokens=False)
            pieces.append(list(zip(found.ids, self._spans(found, part), strict=True)))
        pair = text_pair is not None
        lengths = len(pieces[0]), len(pieces[1]) if pair else None
        keep = kept(*lengths, max_length, truncation, self.num_between)
        cls, sep = (self.cls_id, (0, 0)), (self.sep_id, (0, 0))
        first = _cut(pieces[0], keep[0], truncation)
        second = [*_cut(pieces[1], keep[1], truncation), sep] if pair else []
        between = self.num_between if pair else 1
        ids, offsets = zip(cls, *first, *[sep] * between, *second, strict=True)
        special = [1, *[0] * len(first), *[1] * between, *[0] * (len(second) - 1), *[1] * pair]
        goes_on = [*self.continues([number for number, _ in first]), *[False] * between]
        goes_on += self.continues([number for number, _ in second])
        return Encoding(
            input_ids=list(ids),
            token_type_ids=[0] * (len(first) + 1 + between) + [1] * len(second),
            tokens=[self.tokens[number] for number in ids],
            shown=[self.shown[number] for number in ids],
            offsets=list(offsets),
            special_tokens_mask=special,
            attention_mask=[1] * len(ids),
            continues=[False, *goes_on],
            num_cut=len(pieces[0]) + len(pieces[1]) - sum(keep),
        )

    def encode_ids(self, texts: Sequence[str]) -> list[Ids]:
        """Return each text's ids, without special tokens and uncut: for whole data sets."""
        return [np.array(ids, dtype=np.int32) for ids in self._cut_batch(texts)]

    def encode_spans(self, texts: Sequence[str]) -> list[tuple[Ids, Ids]]:
        """Return each text's ids, as `encode_ids`, and (T, 2) the characters of the text each is from."""
        whole = [without_halves(text) for text in texts]
        found = self._tokenizer.encode_batch(whole, add_special_tokens=False)
        return [
            (np.array(one.ids, np.int32), np.array(self._spans(one, text), np.int32).reshape(-1, 2))
            for one, text in zip(found, whole, strict=True)
        ]

    def assemble(
        self,
        ids_a: Ids,
        ids_b: Ids | None = None,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> tuple[Ids, int, int]:
        """Put special tokens around ids from `encode_ids` and cut them (see `kept`).

        Returns: input_ids (T,) int32; the length of segment 0, its special tokens included; pieces cut.
        """
        total = len(ids_a) + (0 if ids_b is None else len(ids_b))
        lengths = len(ids_a), None if ids_b is None else len(ids_b)
        num_a, num_b = kept(*lengths, max_length, truncation, self.num_between)
        end_a = num_a + 1 + (1 if ids_b is None else self.num_between)
        out = np.empty(end_a + (0 if ids_b is None else num_b + 1), dtype=np.int32)
        out[0], out[num_a + 1 : end_a], out[-1] = self.cls_id, self.sep_id, self.sep_id
        out[1 : num_a + 1] = _cut(ids_a, num_a, truncation)
        if ids_b is not None:
            out[end_a:-1] = _cut(ids_b, num_b, truncation)
        return out, end_a, total - num_a - num_b

    def _spans(self, found: tokenizers.Encoding, text: str) -> Sequence[tuple[int, int]]:
        """Return the characters of a text that each of its pieces is from."""
        spans: Sequence[tuple[int, int]] = found.offsets
        return spans

    def _cut_batch(self, texts: Sequence[str]) -> list[list[int]]:
        whole = [without_halves(text) for text in texts]
        return [one.ids for one in self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)]


def kept(
    num_a: int, num_b: int | None, max_length: int | None, truncation: str, num_between: int = 1
) -> tuple[int, int]:
    """Return how many pieces of the first and of the second text stay; num_b is None for a single text.

    num_between: separators between the two of a pair.
    longest_first: the longer text gives way until both are equal, then both do; the same pieces as in
        `transformers`. Each text keeps its head.
    head: each keeps its head. Of a pair, the first text stays whole and the second is cut, but not below a
        quarter of the room: for a question or a title before a long passage.
    head_tail: as longest_first, but a text that is cut keeps its first quarter and its last three quarters:
        128 and 382 of 510. Source: Sun et al. 2019, How to Fine-Tune BERT for Text Classification, 5.3.1.
    Raises: ConfigError if max_length has no room for the special tokens, or truncation is unknown.
    """
    if truncation not in TRUNCATIONS:
        raise not_among("truncation", truncation, TRUNCATIONS)
    total, num_special = num_a + (num_b or 0), 2 if num_b is None else 2 + num_between
    if max_length is not None and max_length < num_special:
        raise ConfigError(
            marked("engine", "{field} is {value}; the special tokens alone take {least}."),
            field="max_length",
            value=max_length,
            least=num_special,
        )
    if max_length is None or total + num_special <= max_length:
        return num_a, num_b or 0
    room = max_length - num_special
    if num_b is None:
        return room, 0
    if truncation == "head":
        keep_b = max(room - num_a, min(num_b, room // 4))
        return room - keep_b, keep_b
    shorter = min(num_a, num_b, room // 2)
    # Where both are cut, the odd place goes to the longer text, and to the second if they are equal.
    return (room - shorter, shorter) if num_a > num_b else (shorter, room - shorter)


def _cut(pieces: Any, keep: int, truncation: str) -> Any:
    if keep == len(pieces):
        return pieces
    if truncation != "head_tail":
        return pieces[:keep]
    head = (keep * 128 + 255) // 510
    tail = pieces[len(pieces) - (keep - head) :]
    return np.concatenate((pieces[:head], tail)) if isinstance(pieces, np.ndarray) else pieces[:head] + tail


def without_halves(text: str) -> str:
    """Return a text with half characters (lone surrogates, as JSON can hold) replaced, one for one."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
