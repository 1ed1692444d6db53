"""From text to WordPieces and ids, as BERT was trained to see it, over the `tokenizers` library.

One `WordPiece` object is the truth: tokenizer.json, vocab.txt and tokenizer_config.json are all written
from it, and its ids are those of `transformers` 5 on the same folder. Never change one after it is built:
threads share it.

TOKENIZERS_PARALLELISM is left as the person set it. Unset, the library cuts a batch on all cores and stops
doing so by itself in a forked child; "true" can hang there, "false" would leave the other cores idle.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from engine.durable import write_text
from engine.errors import ConfigError, marked, not_among
from engine.text.vocabulary import (
    MASK,
    SPECIALS,
    ExtraToken,
    Vocabulary,
    check_tokens,
    read_folder,
    read_vocab,
    vocabulary_of,
)

Ids = npt.NDArray[np.int32]

TRUNCATIONS = ("longest_first", "head", "head_tail")
_TEXTS_AT_ONCE = 1024
_MAX_REMEMBERED = 2**18  # words, up to about 80 MB
_LONG_WORD = 64
_SURROGATES = re.compile("[\ud800-\udfff]")
_IDEOGRAPHS = "\u4e00-\u9fff"
_PUNCTUATION = string.punctuation + "\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"


@dataclass(frozen=True, slots=True)
class Encoding:
    """One text or pair with its special tokens; `offsets` are spans in the text that each piece is from."""

    input_ids: list[int]
    token_type_ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]  # (0, 0) for special tokens
    special_tokens_mask: list[int]
    attention_mask: list[int]
    num_cut: int


@dataclass(frozen=True)
class WordPiece(Vocabulary):
    """A vocabulary and the way text is cleaned for it. Immutable, picklable, safe to share between threads.

    Special tokens written in a text, such as "[SEP]", become that token, as in `transformers`.

    Args: base: the vocabulary, a token's place is its id. strip_accents: None for "when lower-casing".
    added: tokens beside the five special ones; those not in `base` follow it, in order.
    Raises: DataError if the vocabulary is empty, holds a token twice, or lacks a special token.
    """

    def __post_init__(self) -> None:
        known = set(self.base)
        extra = tuple(token.content for token in self.added if token.content not in known)
        tokens = self.base + extra
        ids = {token: number for number, token in enumerate(tokens)}
        check_tokens(tokens, ids)
        looked_for = {name: ExtraToken(name) for name in (*SPECIALS.values(), MASK) if name in ids}
        looked_for.update((token.content, token) for token in self.added)
        built = self._build(ids, sorted(looked_for.values(), key=lambda token: ids[token.content]))
        own: dict[str, Any] = {"tokens": tokens, "vocab_size": len(tokens), "mask_id": ids.get(MASK)}
        own.update((key[:3] + "_id", ids[name]) for key, name in SPECIALS.items())
        parts = _parts_of_words(tuple(looked_for.values()), self.chinese_chars)
        own.update(_tokenizer=built, _parts=parts, _remembered={}, _lock=threading.Lock())
        self.__dict__.update(own)  # frozen: set once, here

    tokens: tuple[str, ...] = field(init=False, repr=False, compare=False)
    vocab_size: int = field(init=False, compare=False)
    pad_id: int = field(init=False, repr=False, compare=False)
    unk_id: int = field(init=False, repr=False, compare=False)
    cls_id: int = field(init=False, repr=False, compare=False)
    sep_id: int = field(init=False, repr=False, compare=False)
    mask_id: int | None = field(init=False, repr=False, compare=False)
    _tokenizer: Tokenizer = field(init=False, repr=False, compare=False)
    _parts: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _remembered: dict[str, list[int]] = field(init=False, repr=False, compare=False)
    _lock: threading.Lock = field(init=False, repr=False, compare=False)

    def _build(self, ids: dict[str, int], looked_for: list[ExtraToken]) -> Tokenizer:
        base = {token: ids[token] for token in self.base}
        tokenizer = Tokenizer(models.WordPiece(base, unk_token="[UNK]", max_input_chars_per_word=100))
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=self.chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.lowercase,
        )
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(prefix="##")
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS]:0 $A:0 [SEP]:0",
            pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
            special_tokens=[(name, ids[name]) for name in ("[CLS]", "[SEP]")],
        )
        tokenizer.add_tokens([AddedToken(**asdict(token)) for token in looked_for])
        return tokenizer

    def __reduce__(self) -> tuple[Any, ...]:
        return WordPiece, self.said()

    @classmethod
    def from_tokens(cls, tokens: Sequence[str], *, lowercase: bool | None = None) -> WordPiece:
        """Return the WordPiece of a list of tokens; `lowercase` None: guessed from them, with a note."""
        return cls(*vocabulary_of(tokens, lowercase).said())

    @classmethod
    def from_vocab(cls, path: Path | str, *, lowercase: bool | None = None) -> WordPiece:
        """Return the WordPiece of a vocab.txt; `lowercase` as in `from_tokens`. Raises: DataError."""
        return cls.from_tokens(read_vocab(Path(path)), lowercase=lowercase)

    @classmethod
    def from_folder(cls, folder: Path | str) -> WordPiece:
        """Return the WordPiece of a model folder.

        Reads tokenizer_config.json and tokenizer.json, or else vocab.txt. Padding and truncation that are
        switched on in tokenizer.json are left out. Where files disagree, tokenizer.json's tokens and
        tokenizer_config.json's casing win, as in `transformers` 5, and a note says so. Casing that no file
        states is guessed from the tokens.
        Raises: ModelError, DataError.
        """
        return cls(*read_folder(Path(folder)).said())

    def save(self, folder: Path | str, *, model_max_length: int | None = None) -> None:
        """Write tokenizer.json, vocab.txt and tokenizer_config.json: same bytes each time, synced, renamed.

        Args: model_max_length: the most positions the model has, for other programs; left out if None.
        Raises: UserError if the folder cannot be written.
        """
        config: dict[str, Any] = {
            **SPECIALS,
            "mask_token": None if self.mask_id is None else MASK,
            "do_lower_case": self.lowercase,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.chinese_chars,
            "tokenizer_class": "BertTokenizer",
        }
        if model_max_length is not None:
            config["model_max_length"] = model_max_length
        folder = Path(folder)
        write_text(folder / "vocab.txt", "".join(token + "\n" for token in self.tokens))
        write_text(folder / "tokenizer.json", self._tokenizer.to_str() + "\n")  # vocab.txt is for reading
        write_text(folder / "tokenizer_config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")

    def fingerprint(self) -> str:
        """Return the sha256 of all that decides how a text is cut, in hex digits."""
        rules = {
            "tokens": self.tokens,
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "chinese_chars": self.chinese_chars,
            "added": [asdict(token) for token in self.added],
        }
        return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()

    def encode(
        self,
        text: str,
        text_pair: str | None = None,
        *,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> Encoding:
        """Return [CLS] text [SEP], or [CLS] text [SEP] text_pair [SEP], cut to `max_length` (see `kept`)."""
        parts = [
            self._tokenizer.encode(_whole(part), add_special_tokens=False) for part in (text, text_pair or "")
        ]
        pieces = [list(zip(part.ids, part.offsets, strict=True)) for part in parts]
        pair = text_pair is not None
        keep = kept(len(pieces[0]), len(pieces[1]) if pair else None, max_length, truncation)
        cls, sep = (self.cls_id, (0, 0)), (self.sep_id, (0, 0))
        first = _cut(pieces[0], keep[0], truncation)
        second = [*_cut(pieces[1], keep[1], truncation), sep] if pair else []
        ids, offsets = zip(cls, *first, sep, *second, strict=True)
        special = [1, *[0] * len(first), 1, *[0] * (len(second) - 1), *[1] * pair]
        return Encoding(
            input_ids=list(ids),
            token_type_ids=[0] * (len(first) + 2) + [1] * len(second),
            tokens=[self.tokens[number] for number in ids],
            offsets=list(offsets),
            special_tokens_mask=special,
            attention_mask=[1] * len(ids),
            num_cut=len(pieces[0]) + len(pieces[1]) - sum(keep),
        )

    def encode_ids(self, texts: Sequence[str]) -> list[Ids]:
        """Return each text's ids, without special tokens and uncut: for whole data sets.

        A word's pieces do not depend on its neighbours, so each word is cut once and remembered: three to
        five times as fast as cutting each text anew, once most words have been seen.
        """
        if self._parts is None:
            return [np.array(ids, dtype=np.int32) for ids in self._cut_batch(texts)]
        return [
            ids
            for start in range(0, len(texts), _TEXTS_AT_ONCE)
            for ids in self._from_words(texts[start : start + _TEXTS_AT_ONCE], self._parts)
        ]

    def encode_spans(self, texts: Sequence[str]) -> list[tuple[Ids, Ids]]:
        """Return each text's ids, as `encode_ids`, and (T, 2) the characters of the text each is from."""
        whole = [_whole(text) for text in texts]
        return [
            (np.array(one.ids, np.int32), np.array(one.offsets, np.int32).reshape(-1, 2))
            for one in self._tokenizer.encode_batch(whole, add_special_tokens=False)
        ]

    def assemble(
        self,
        ids_a: Ids,
        ids_b: Ids | None = None,
        max_length: int | None = None,
        truncation: str = "longest_first",
    ) -> tuple[Ids, int, int]:
        """Put special tokens around ids from `encode_ids` and cut them (see `kept`).

        Returns: input_ids (T,) int32; the length of segment 0, [CLS] and first [SEP] included; pieces cut.
        """
        total = len(ids_a) + (0 if ids_b is None else len(ids_b))
        num_a, num_b = kept(len(ids_a), None if ids_b is None else len(ids_b), max_length, truncation)
        out = np.empty(num_a + 2 + (0 if ids_b is None else num_b + 1), dtype=np.int32)
        out[0], out[num_a + 1], out[-1] = self.cls_id, self.sep_id, self.sep_id
        out[1 : num_a + 1] = _cut(ids_a, num_a, truncation)
        if ids_b is not None:
            out[num_a + 2 : -1] = _cut(ids_b, num_b, truncation)
        return out, num_a + 2, total - num_a - num_b

    def _from_words(self, texts: Sequence[str], parts_of: re.Pattern[str]) -> list[Ids]:
        split = [text.split(" ") for text in texts]
        with self._lock:
            cache = self._remembered
            if len(cache) > _MAX_REMEMBERED:
                cache.clear()
            new = {word for words in split for word in words if word not in cache}
            parts = {word: parts_of.findall(word) for word in new}
            unseen = list({part for found in parts.values() for part in found if part not in cache})
            cache.update(zip(unseen, self._cut_batch(unseen), strict=True))
            for word, found in parts.items():
                if len(found) != 1:
                    cache[word] = [number for part in found for number in cache[part]]
            done = [
                np.array(list(chain.from_iterable(map(cache.__getitem__, words))), np.int32)
                for words in split
            ]
            for word in chain(new, unseen):
                if len(word) > _LONG_WORD:
                    cache.pop(word, None)
        return done

    def _cut_batch(self, texts: Sequence[str]) -> list[list[int]]:
        whole = [_whole(text) for text in texts]
        return [one.ids for one in self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)]


def _parts_of_words(looked_for: Sequence[ExtraToken], chinese_chars: bool) -> re.Pattern[str] | None:
    """Return a pattern for the parts of a word that are cut alone; None if a token may reach across words.

    A space, a punctuation mark and (as `chinese_chars` says) an ideograph always end what stands before them.
    """
    text = "".join(token.content for token in looked_for)
    flags = any(token.single_word or token.lstrip or token.rstrip for token in looked_for)
    if flags or not re.fullmatch("[!-~]+", text):
        return None
    alone = re.escape("".join(mark for mark in _PUNCTUATION if mark not in text))
    alone += _IDEOGRAPHS if chinese_chars else ""
    return re.compile(f"[{alone}]|[^{alone}]+")


def kept(num_a: int, num_b: int | None, max_length: int | None, truncation: str) -> tuple[int, int]:
    """Return how many pieces of the first and of the second text stay; num_b is None for a single text.

    longest_first: the longer text gives way until both are equal, then both do; the same pieces as in
        `transformers`. Each text keeps its head.
    head: each keeps its head. Of a pair, the first text stays whole and the second is cut, but not below a
        quarter of the room: for a question or a title before a long passage.
    head_tail: as longest_first, but a text that is cut keeps its first quarter and its last three quarters:
        128 and 382 of 510. Source: Sun et al. 2019, How to Fine-Tune BERT for Text Classification, 5.3.1.
    Raises: ConfigError if max_length has no room for the special tokens, or truncation is unknown.
    """
    if truncation not in TRUNCATIONS:
        raise not_among("truncation", truncation, ", ".join(TRUNCATIONS))
    total, num_special = num_a + (num_b or 0), 2 if num_b is None else 3
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


def _whole(text: str) -> str:
    """Return `text` with half characters (lone surrogates, as JSON can hold) replaced, one for one."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)
