"""From text to WordPieces and ids, as BERT was trained to see it, over the `tokenizers` library.

One `WordPiece` object is the truth: tokenizer.json, vocab.txt and tokenizer_config.json are all written
from it, and its ids are those of `transformers` 5 on the same folder. Never change one after it is built:
threads share it.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from engine.durable import write_text
from engine.errors import marked
from engine.text.special_tokens import ExtraToken
from engine.text.tokenizer import Ids, Tokenizer
from engine.text.vocabulary import (
    BERT,
    MASK,
    Vocabulary,
    check_tokens,
    read_folder,
    read_rules,
    read_vocab,
    usual,
    vocabulary_of,
)

GOES_ON = "##"  # before a piece that goes on with a word
_IDS = ("pad", "unk", "cls", "sep", "mask")
_TEXTS_AT_ONCE = 1024
_MAX_REMEMBERED = 2**18  # words, up to about 80 MB
_LONG_WORD = 64
_IDEOGRAPH = re.compile("[\u3400-\u9fff]")
_IDEOGRAPHS = "\u4e00-\u9fff"
_PUNCTUATION = string.punctuation + "\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f"


@dataclass(frozen=True)
class WordPiece(Vocabulary, Tokenizer):
    """A vocabulary and the way text is cleaned for it. Immutable, picklable, safe to share between threads.

    Special tokens written in a text, such as "[SEP]", become that token, as in `transformers`.

    Args: base: the vocabulary, a token's place is its id. strip_accents: None for "when lower-casing".
    added: tokens beside the five special ones; those not in `base` follow it, in order.
    Raises: DataError if the vocabulary is empty, holds a token twice, or lacks a special token.
    """

    kind = marked("engine", "WordPieces")
    tells_words = True
    way = marked("engine", "WordPiece: the longest match first")

    def __post_init__(self) -> None:
        known = set(self.base)
        extra = tuple(token.content for token in self.added if token.content not in known)
        tokens = self.base + extra
        ids = {token: number for number, token in enumerate(tokens)}
        check_tokens(tokens, ids)
        names = self.names
        looked_for = {name: usual(name, names) for name in names.named.values() if name in ids}
        looked_for.update((token.content, token) for token in self.added)
        built = self._build(ids, sorted(looked_for.values(), key=lambda token: ids[token.content]))
        own: dict[str, Any] = {"tokens": tokens, "vocab_size": len(tokens)}
        own.update((f"{key}_id", ids.get(getattr(names, key))) for key in _IDS)
        own.update(num_between=names.num_between, tells_segments=names.tells_segments)
        parts = _parts_of_words(tuple(looked_for.values()), self.chinese_chars)
        own.update(_tokenizer=built, _parts=parts, _remembered={}, _lock=threading.Lock())
        self.__dict__.update(own)  # frozen: set once, here

    _parts: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _remembered: dict[str, list[int]] = field(init=False, repr=False, compare=False)
    _lock: threading.Lock = field(init=False, repr=False, compare=False)

    def _build(self, ids: dict[str, int], looked_for: list[ExtraToken]) -> tokenizers.Tokenizer:
        base = {token: ids[token] for token in self.base}
        tokenizer = tokenizers.Tokenizer(
            models.WordPiece(base, unk_token=self.names.unk, max_input_chars_per_word=100)
        )
        tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=self.chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.lowercase,
        )
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(prefix="##")
        cls, sep = ((name, ids[name]) for name in (self.names.cls, self.names.sep))
        if self.names == BERT:
            tokenizer.post_processor = processors.TemplateProcessing(
                single="[CLS]:0 $A:0 [SEP]:0",
                pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
                special_tokens=[cls, sep],
            )
        else:  # spans without the space before a mask
            tokenizer.post_processor = processors.RobertaProcessing(sep, cls, True, False)
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
        return cls(*read_folder(Path(folder), read_rules(Path(folder))).said())

    def save(self, folder: Path | str, *, model_max_length: int | None = None) -> None:
        """Write tokenizer.json, vocab.txt and tokenizer_config.json: same bytes each time, synced, renamed.

        Args: model_max_length: the most positions the model has, for other programs; left out if None.
        Raises: UserError if the folder cannot be written.
        """
        config: dict[str, Any] = {
            **self.names.named,
            "mask_token": None if self.mask_id is None else self.names.mask,
            "do_lower_case": self.lowercase,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": self.chinese_chars,
            "tokenizer_class": self.names.own_class,
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

    @property
    def strips(self) -> bool:
        return self.lowercase if self.strip_accents is None else self.strip_accents

    @cached_property
    def special_ids(self) -> frozenset[int]:
        special = {token.content for token in self.added if token.special} | set(self.names.named.values())
        return frozenset(number for number, token in enumerate(self.tokens) if token in special)

    def continues(self, ids: Sequence[int]) -> list[bool]:
        found: list[bool] = self.may_go_on[np.asarray(ids, np.int64)].tolist()
        return found

    def spelled(self, ids: Sequence[int]) -> str:
        """Return pieces as they would be written: ## glued on, no space beside an ideograph."""
        text = ""
        for token in (self.tokens[number] for number in ids):
            if token.startswith(GOES_ON):
                text += token[len(GOES_ON) :]
            else:
                apart = text and not _IDEOGRAPH.match(text[-1]) and not _IDEOGRAPH.match(token)
                text += f" {token}" if apart else token
        return text

    def as_word(self, ids: Sequence[int]) -> str:
        return (GOES_ON if self.tokens[ids[0]].startswith(GOES_ON) else "") + self.spelled(ids)

    def encode_words(self, words: Sequence[str]) -> list[Ids]:
        return self.encode_ids(words)

    def ids_as_spelled(self, word: str) -> list[int]:
        """Return the pieces of a word; "##ing" is the piece that goes on with one, if there is such a one."""
        if word.startswith(GOES_ON) and len(word) > len(GOES_ON):
            return [self.tokens.index(word)] if word in self.tokens else []
        return self.ids_of_word(word)

    @cached_property
    def may_go_on(self) -> npt.NDArray[np.bool_]:
        goes_on = (token.startswith(GOES_ON) and len(token) > len(GOES_ON) for token in self.tokens)
        return np.fromiter(goes_on, bool, self.vocab_size)

    def with_masks(self, text: str) -> str:
        return text if self.mask_id is None else text.replace(MASK, self.names.mask)

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


def _parts_of_words(looked_for: Sequence[ExtraToken], chinese_chars: bool) -> re.Pattern[str] | None:
    """Return a pattern for the parts of a word that are cut alone; None if a token may reach across words.

    A space, a punctuation mark and (as `chinese_chars` says) an ideograph always end what stands before them.
    """
    text = "".join(token.content for token in looked_for)
    # blanks that a token takes beside it are no pieces anyway
    if any(token.single_word for token in looked_for) or not re.fullmatch("[!-~]+", text):
        return None
    alone = re.escape("".join(mark for mark in _PUNCTUATION if mark not in text))
    alone += _IDEOGRAPHS if chinese_chars else ""
    return re.compile(f"[{alone}]|[^{alone}]+")
