"""From text to pieces of bytes, as RoBERTa and ModernBERT were trained to see it: byte-level BPE, over
`tokenizers`.

A space is part of the piece behind it, which then begins with "Ġ". Each byte is written as a character, so no
text is unknown. One `ByteLevel` is the truth: all files are written from it, and its ids are those of
`transformers` 5 on the same folder. `Markers` is all in which one family's differ from another's.
Source: Radford et al. 2019, section 2.2 (GPT-2); Liu et al. 2019, section 4.4 (RoBERTa).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from engine.durable import write_text
from engine.errors import DataError, Sentence, marked
from engine.text.special_tokens import ExtraToken, SpecialNames
from engine.text.tokenizer import Ids, Tokenizer, without_halves
from engine.text.vocabulary import MASK


@dataclass(frozen=True, slots=True)
class Markers(SpecialNames):
    """What else is told apart. family: as it is published. has_pair: whether vocab.json and merges.txt
    alone say all, as older programs read them.
    """

    family: str
    has_pair: bool

    def usual(self, name: str) -> ExtraToken:
        """Return a special token as it is looked for in a text: a mask takes the space before it."""
        return ExtraToken(name, lstrip=name == self.mask)


ROBERTA = Markers("<pad>", "<unk>", "<s>", "</s>", "<mask>", 2, False, "RobertaTokenizer", "RoBERTa", True)
MODERNBERT = Markers(
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK, 1, False, "PreTrainedTokenizerFast", "ModernBERT", False
)
_COMPOSED = marked(
    "engine",
    "Nothing is removed: capitals, accents and every blank stay. A letter and the accent behind it become "
    "one character.",
)
_GLUED = "…"  # before a piece that would stand right behind what is before it
_IDEOGRAPHS = range(0x3400, 0xA000)


@dataclass(frozen=True)
class ByteLevel(Tokenizer):
    """A vocabulary of pieces of bytes. Immutable, picklable, safe to share between threads.

    Args: base: the pieces, a piece's place is its id. merges: which two become one, the first ones first.
    begins_with_space: whether a text's first word is cut as if a space stood before it. added: special tokens
    and others that are looked for in the text; those not in `base` follow it, in order. composes: whether a
    letter and the accent behind it become one character first (NFC).
    Raises: DataError if the vocabulary lacks a special token, or a merge is of pieces that it lacks.
    """

    tells_segments = False
    kind = marked("engine", "byte-level BPE")
    way = marked("engine", "Byte-level BPE: merges in the order in which they were learned")
    cleaning = marked("engine", "Nothing is removed: capitals, accents and every blank stay.")
    splitting = marked(
        "engine",
        "The text is split into words, numbers and marks. A space belongs to the word behind it, as Ġ. Each "
        "is read as bytes, and the most frequent pairs are joined first.",
    )

    base: tuple[str, ...] = field(repr=False)
    merges: tuple[tuple[str, str], ...] = field(repr=False)
    begins_with_space: bool = False
    added: tuple[ExtraToken, ...] = ()
    notes: tuple[Sentence, ...] = field(default=(), compare=False)
    markers: Markers = ROBERTA
    composes: bool = False

    def __post_init__(self) -> None:
        known = set(self.base)
        tokens = self.base + tuple(token.content for token in self.added if token.content not in known)
        ids = {token: number for number, token in enumerate(tokens)}
        self._check(ids)
        names = self.markers.named
        special = {name: self.markers.usual(name) for name in names.values() if name in ids}
        special |= {token.content: token for token in self.added}
        own: dict[str, Any] = {f"{key[:3]}_id": ids.get(name) for key, name in names.items()}
        own["num_between"] = self.markers.num_between
        own["cleaning"] = _COMPOSED if self.composes else self.cleaning
        own["mask_id"] = own.pop("mas_id")
        own.update(tokens=tokens, vocab_size=len(tokens), lowercase=False)
        own["_tokenizer"] = self._build(ids, sorted(special.values(), key=lambda token: ids[token.content]))
        own["_specials"] = frozenset(ids[token.content] for token in special.values() if token.special)
        self.__dict__.update(own)  # frozen: set once, here

    _specials: frozenset[int] = field(init=False, repr=False, compare=False)

    def _check(self, ids: dict[str, int]) -> None:
        needed = self.markers.needed
        if missing := [name for name in needed if name not in ids]:
            template = marked("engine", "The vocabulary lacks {missing}. {family} needs {needed}.")
            family = self.markers.family
            raise DataError(template, missing=missing, family=family, needed=list(needed))
        for first, second in self.merges:
            if not {first, second, first + second} <= ids.keys():
                template = marked(
                    "engine",
                    "The vocabulary is damaged: it joins {first!r} and {second!r}, and lacks one of the "
                    "pieces. Copy the file again from its source.",
                )
                raise DataError(template, first=first[:40], second=second[:40])

    def _build(self, ids: dict[str, int], looked_for: list[ExtraToken]) -> tokenizers.Tokenizer:
        base = {token: ids[token] for token in self.base}
        tokenizer = tokenizers.Tokenizer(models.BPE(base, list(self.merges), unk_token=None, fuse_unk=False))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=self.begins_with_space)
        tokenizer.decoder = decoders.ByteLevel()
        if self.composes:
            tokenizer.normalizer = normalizers.NFC()
        tokenizer.post_processor = processors.RobertaProcessing(  # spans without the space before a word
            (self.markers.sep, ids[self.markers.sep]),
            (self.markers.cls, ids[self.markers.cls]),
            trim_offsets=True,
            add_prefix_space=self.begins_with_space,
        )
        tokenizer.add_tokens([AddedToken(**asdict(token)) for token in looked_for])
        return tokenizer

    def __reduce__(self) -> tuple[Any, ...]:
        rules = (self.begins_with_space, self.added, self.notes, self.markers, self.composes)
        return ByteLevel, (self.base, self.merges, *rules)

    @property
    def strips(self) -> bool:
        return False

    @property
    def special_ids(self) -> frozenset[int]:
        return self._specials

    def save(self, folder: Path | str, *, model_max_length: int | None = None) -> None:
        """Write tokenizer.json and tokenizer_config.json, and where these say all vocab.json and merges.txt:
        see `Tokenizer.save`.
        """
        markers = self.markers
        config: dict[str, Any] = {
            key: (name if name in self.tokens else None) for key, name in markers.named.items()
        }
        if markers.has_pair:
            config |= {"bos_token": markers.cls, "eos_token": markers.sep, "trim_offsets": True}
            config["add_prefix_space"] = self.begins_with_space
        else:
            config["model_input_names"] = ["input_ids", "attention_mask"]
        config["tokenizer_class"] = markers.own_class
        if model_max_length is not None:
            config["model_max_length"] = model_max_length
        folder = Path(folder)
        vocab = {token: number for number, token in enumerate(self.base)}
        merges = "".join(f"{first} {second}\n" for first, second in self.merges)
        if markers.has_pair:
            write_text(folder / "vocab.json", json.dumps(vocab, ensure_ascii=False) + "\n")
            write_text(folder / "merges.txt", f"#version: 0.2\n{merges}")
        write_text(folder / "tokenizer.json", self._published() + "\n")
        write_text(folder / "tokenizer_config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")

    def _published(self) -> str:
        """Return tokenizer.json, which puts special tokens around texts as `assemble` does."""
        if self.markers.num_between == 2:  # as RobertaProcessing has it
            return self._tokenizer.to_str()
        whole, markers = tokenizers.Tokenizer.from_str(self._tokenizer.to_str()), self.markers
        whole.post_processor = processors.TemplateProcessing(
            single=f"{markers.cls} $A {markers.sep}",
            pair=f"{markers.cls} $A {markers.sep} $B:0 {markers.sep}:0",
            special_tokens=[(markers.cls, self.cls_id), (markers.sep, self.sep_id)],
        )
        return whole.to_str()

    def fingerprint(self) -> str:
        rules = [self.tokens, self.merges, self.begins_with_space, [asdict(token) for token in self.added]]
        if self.markers != ROBERTA or self.composes:
            rules += [asdict(self.markers), self.composes]
        return hashlib.sha256(json.dumps(rules).encode()).hexdigest()

    def continues(self, ids: Sequence[int]) -> list[bool]:
        """Return whether each piece of a text goes on with the word of the one before it.

        It does within a character, and between letters or digits that no space parts; an ideograph is a word.
        """
        parts = [b" " if number in self._specials else self._bytes[number] for number in ids]
        whole, ends = b"".join(parts), [0, *accumulate(map(len, parts))]
        return [_goes_on(whole, place) for place in ends[:-1]]

    def spelled(self, ids: Sequence[int]) -> str:
        return b"".join(self._bytes[number] for number in ids).decode("utf-8", "replace").strip()

    def as_word(self, ids: Sequence[int]) -> str:
        """Return pieces as they would be written; "…" before what would stand right behind a letter."""
        first, word = self._bytes[ids[0]], self.spelled(ids)
        if not word or not word.isprintable() or "\ufffd" in word:  # parts of a character, a line break
            return "".join(self.shown[number] for number in ids)
        glued = not first.startswith(b" ") and ids[0] not in self._specials and word[:1].isalnum()
        return f"{_GLUED}{word}" if glued else word

    def encode_words(self, words: Sequence[str]) -> list[Ids]:
        """Return the pieces of each of some words, behind a space."""
        return self.encode_ids([f" {word}" for word in words])

    def ids_as_spelled(self, word: str) -> list[int]:
        """Return the pieces of a word behind a space; of "…ing", right behind a letter."""
        if word.startswith(_GLUED) and len(word) > len(_GLUED):
            return self._pieces_of(word.removeprefix(_GLUED))
        return self.ids_of_word(word)

    def _pieces_of(self, word: str) -> list[int]:
        """Return the pieces of a word as it stands right behind another piece."""
        return [int(number) for number in self.encode_ids([word])[0]]

    @cached_property
    def may_go_on(self) -> npt.NDArray[np.bool_]:
        goes_on = np.fromiter(map(_may_go_on, self._bytes), bool, self.vocab_size)
        goes_on[list(self._specials)] = False
        return goes_on

    def with_masks(self, text: str) -> str:
        return text if self.mask_id is None else text.replace(MASK, self.markers.mask)

    def behind(self, text: str) -> str:
        """Return a text behind a space; behind an ideograph none is written."""
        return text if not text or ord(text[0]) in _IDEOGRAPHS else f" {text}"

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The pieces with their Ġ; what is whole characters is read as these and not as bytes."""
        return tuple(map(_shown, self.tokens, self._bytes))

    @cached_property
    def ranks(self) -> dict[tuple[str, str], int]:
        """The place of each merge in their order."""
        return {pair: rank for rank, pair in reversed(list(enumerate(self.merges)))}

    def parts(self, text: str) -> list[str]:
        """Return the parts of a text within which pieces are joined, a character for each byte."""
        return [part for part, _ in self._tokenizer.pre_tokenizer.pre_tokenize_str(self.cleaned(text))]

    def cleaned(self, text: str) -> str:
        """Return a text as it is before it is split."""
        cleaner = self._tokenizer.normalizer
        return text if cleaner is None else str(cleaner.normalize_str(without_halves(text)))

    def as_shown(self, piece: str) -> str:
        """Return a piece as a person reads it."""
        return _shown(piece, bytes(_byte_of()[mark] for mark in piece))

    @cached_property
    def _bytes(self) -> tuple[bytes, ...]:
        """What each piece stands for; of a special token, its name."""
        table, special = (
            _byte_of(),
            {token.content for token in self.added} | set(self.markers.named.values()),
        )
        return tuple(
            token.encode() if token in special else bytes(table[mark] for mark in token if mark in table)
            for token in self.tokens
        )


@cache
def _byte_of() -> dict[str, int]:
    """Return which byte each character stands for: those that can be printed for themselves."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + place): byte for place, byte in enumerate(others)}


def _shown(token: str, stands_for: bytes) -> str:
    text = stands_for.decode("utf-8", "replace")
    begins, rest = token[: len(text) - len(text.lstrip(" "))], text.lstrip(" ")
    return begins + rest if rest and rest.isprintable() and "\ufffd" not in rest else token


def _may_go_on(piece: bytes) -> bool:
    """Whether a piece goes on with a word where it stands right behind a letter."""
    first = piece.decode("utf-8", "ignore")[:1]
    return not piece.startswith(b" ") and (not first or first.isalnum())


def _goes_on(whole: bytes, place: int) -> bool:
    """Whether bytes go on at a place with the word before it."""
    if not 0 < place < len(whole):
        return False
    if whole[place] & 0xC0 == 0x80:  # within a character
        return True
    start = place - 1
    while start and whole[start] & 0xC0 == 0x80:
        start -= 1
    around = whole[start:place], whole[place : place + 4]
    before, behind = (part.decode("utf-8", "ignore")[:1] or " " for part in around)
    return all(one.isalnum() and ord(one) not in _IDEOGRAPHS for one in (before, behind))
