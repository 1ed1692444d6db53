"""From text to the pieces that are likeliest together, as XLM-R, CamemBERT, ALBERT and DeBERTa read it.

A text is cleaned, split at blanks, and each blank written as "▁", with which a word's first piece begins. Of
all ways to spell a word in pieces, the one whose scores have the largest sum is taken: the `tokenizers`
library finds it. A character that no piece has is unknown, or is written as its bytes. One `Unigram` is the
truth: all files are written from it, and its ids are those of `transformers` 5 on the same folder; of a file
of DeBERTa's pieces alone, whose map and bytes `transformers` 5 leaves out, those of SentencePiece.
Source: Kudo 2018 (Unigram); Kudo and Richardson 2018 (SentencePiece).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from engine.durable import write_text
from engine.errors import DataError, Sentence, marked
from engine.text.special_tokens import ExtraToken, SpecialNames
from engine.text.tokenizer import Ids, Tokenizer, without_halves
from engine.text.vocabulary import MASK

BLANK = "▁"  # U+2581, before a word's first piece
_GLUED = "…"  # before a piece that would stand right behind what is before it
_IDEOGRAPHS = range(0x3400, 0xA000)
MOST_SCORE = 1e6  # above or below 0
_LONGEST = 1_000  # characters of a piece
# of the tree in which the library looks pieces up, half a KB each; XLM-R's has 782,751
_MOST_NODES = 1_000_000
_HEAD = 64  # bytes of a piece that are compared to count them
_IDS = ("pad", "unk", "cls", "sep", "mask")
_CLEANING = {  # whether capitals, whether accents are removed
    (False, False): marked(
        "engine",
        "Full-width letters, ligatures and the like become plain ones. Capitals and accents stay.",
    ),
    (False, True): marked(
        "engine", "Full-width letters, ligatures and the like become plain ones. Accents are removed."
    ),
    (True, False): marked(
        "engine", "Full-width letters, ligatures and the like become plain ones. Capitals are removed."
    ),
    (True, True): marked(
        "engine",
        "Full-width letters, ligatures and the like become plain ones. Capitals and accents are removed.",
    ),
}
_COMPOSED = {  # whether capitals are removed
    False: marked("engine", "A letter and its accents become one character. Capitals and accents stay."),
    True: marked("engine", "A letter and its accents become one character. Capitals are removed."),
}
_AS_IT_IS = marked("engine", "Nothing is changed: capitals, accents and full-width letters stay.")
_SPLIT = marked(
    "engine",
    "The text is split at blanks, and each word begins with ▁. Of all ways to spell a word in pieces, the "
    "most likely one is taken: each piece has a score, and the sum counts.",
)
_SPLIT_TO_BYTES = marked(
    "engine",
    "The text is split at blanks, and each word begins with ▁. Of all ways to spell a word in pieces, the "
    "most likely one is taken: each piece has a score, and the sum counts. A character that no piece has is "
    "written as its bytes.",
)
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_BYTES_OF_ONE = re.compile("(?:<0x[0-9A-F]{2}>)+")
RUNS = r"\s{2,}|[\n\r\t]"  # of blanks, which DeBERTa's class in `transformers` 5 makes one
TYPED = "<(?=0x[0-9A-F]{2}>)"  # the beginning of a byte’s name, which is no byte where it is typed


class _Built:
    """What the library looks pieces up in: XLM-R's takes 380 MB, so those that are alike share it."""

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
        self.tokenizer = tokenizer


_BUILT: WeakValueDictionary[tuple[Any, ...], _Built] = WeakValueDictionary()


XLM_R = SpecialNames("<pad>", "<unk>", "<s>", "</s>", "<mask>", 2, False, "XLMRobertaTokenizer")
ALBERT = SpecialNames("<pad>", "<unk>", "[CLS]", "[SEP]", MASK, 1, True, "AlbertTokenizer")
DEBERTA = SpecialNames("[PAD]", "[UNK]", "[CLS]", "[SEP]", MASK, 1, True, "DebertaV2Tokenizer")


@dataclass(frozen=True)
class Unigram(Tokenizer):
    """A vocabulary of scored pieces. Immutable, picklable, safe to share between threads.

    Args: base: the pieces, a piece's place is its id. scores: their log probabilities. names: of the special
    tokens. charsmap: what characters become, as SentencePiece keeps it. lowercase, strip_accents: whether
    text loses its capitals and its accents. plain_quotes: whether `` and '' become ". byte_fallback: whether
    a character that no piece has is written as its bytes. composes: whether several blanks become one, and a
    letter and its accents one character. added: special tokens and others that are looked for in the text;
    those not in `base` follow it, in order.
    Raises: DataError if the vocabulary lacks a special token, or a piece or score cannot be one.
    """

    kind = marked("engine", "Unigram pieces")
    way = marked("engine", "Unigram: the most likely of all ways")

    base: tuple[str, ...] = field(repr=False)
    scores: tuple[float, ...] = field(repr=False)
    names: SpecialNames = XLM_R
    charsmap: bytes = field(default=b"", repr=False)
    lowercase: bool = False
    strip_accents: bool = False
    plain_quotes: bool = False
    byte_fallback: bool = False
    composes: bool = False
    added: tuple[ExtraToken, ...] = ()
    notes: tuple[Sentence, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        known = set(self.base)
        tokens = self.base + tuple(token.content for token in self.added if token.content not in known)
        ids = {token: number for number, token in enumerate(tokens)}
        self._check(ids, tokens)
        special = {name: ExtraToken(name) for name in (*self.names.needed, self.names.mask) if name in ids}
        special |= {token.content: token for token in self.added}
        own: dict[str, Any] = {f"{key}_id": ids.get(getattr(self.names, key)) for key in _IDS}
        own.update(tokens=tokens, vocab_size=len(tokens))
        own.update(num_between=self.names.num_between, tells_segments=self.names.tells_segments)
        is_plain = not (self.charsmap or self.lowercase or self.strip_accents)
        usual = _AS_IT_IS if is_plain else _CLEANING[self.lowercase, self.strip_accents]
        own["cleaning"] = _COMPOSED[self.lowercase] if self.composes else usual
        own["splitting"] = _SPLIT_TO_BYTES if self.byte_fallback else _SPLIT
        own["byte_ids"] = frozenset(ids[name] for name in _BYTES if self.byte_fallback)
        looked_for = sorted(special.values(), key=lambda token: ids[token.content])
        said = self._said()
        built = _BUILT.get(said) or _BUILT.setdefault(said, _Built(self._build(ids, looked_for)))
        own.update(_built=built, _tokenizer=built.tokenizer)
        own["_specials"] = frozenset(ids[token.content] for token in special.values() if token.special)
        own.update(looked_for=frozenset(ids[content] for content in special), _ids=ids)
        self.__dict__.update(own)  # frozen: set once, here

    _specials: frozenset[int] = field(init=False, repr=False, compare=False)
    looked_for: frozenset[int] = field(init=False, repr=False, compare=False)  # found before a text is cut
    byte_ids: frozenset[int] = field(init=False, repr=False, compare=False)  # of pieces that are bytes
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _built: _Built = field(init=False, repr=False, compare=False)

    def _check(self, ids: dict[str, int], tokens: tuple[str, ...]) -> None:
        needed = self.names.needed + tuple(_BYTES) * self.byte_fallback
        if missing := [name for name in needed if name not in ids]:
            template = marked("engine", "The vocabulary lacks {missing}. This kind of model needs {needed}.")
            raise DataError(template, missing=missing[:4], needed=list(needed[:6]))
        if len(ids) < len(tokens):
            twice = next(token for number, token in enumerate(tokens) if ids[token] != number)
            template = marked(
                "engine",
                "The vocabulary holds {token!r} twice. Each piece may occur once. Use the file that came "
                "with the model.",
            )
            raise DataError(template, token=twice)
        for piece, score in zip(self.base, self.scores, strict=True):
            if not 0 < len(piece) <= _LONGEST or not (math.isfinite(score) and abs(score) <= MOST_SCORE):
                template = marked(
                    "engine",
                    "The vocabulary is damaged: {piece!r} with the score {score} cannot be a piece. Copy the "
                    "file again from its source.",
                )
                raise DataError(template, piece=piece, score=score)
        if sum(map(len, self.base)) > _MOST_NODES // 4 and _num_nodes(self.base) > _MOST_NODES:
            template = marked(
                "engine", "The pieces of the vocabulary have too many different beginnings (over {most})."
            )
            raise DataError(template, most=_MOST_NODES)

    def _build(self, ids: dict[str, int], looked_for: list[ExtraToken]) -> tokenizers.Tokenizer:
        pieces = list(zip(self.base, self.scores, strict=True))
        tokenizer = tokenizers.Tokenizer(models.Unigram(pieces, ids[self.names.unk], self.byte_fallback))
        steps: list[normalizers.Normalizer] = []
        if self.plain_quotes:
            steps += [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
        if self.strip_accents:
            steps += [normalizers.NFKD(), normalizers.StripAccents()]
        if self.lowercase:
            steps.append(normalizers.Lowercase())
        if self.charsmap:
            steps.append(normalizers.Precompiled(self.charsmap))
        if self.composes:
            steps += [normalizers.Replace(Regex(RUNS), " "), normalizers.NFC(), normalizers.Strip(left=False)]
        if steps:
            tokenizer.normalizer = normalizers.Sequence(steps)
        blanks = pre_tokenizers.Metaspace(replacement=BLANK, prepend_scheme="always")
        parts: list[pre_tokenizers.PreTokenizer] = [blanks]
        if not self.composes:
            parts.insert(0, pre_tokenizers.WhitespaceSplit())
        if self.byte_fallback:
            parts.append(pre_tokenizers.Split(Regex(TYPED), "merged_with_previous"))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
        tokenizer.decoder = decoders.Metaspace(replacement=BLANK, prepend_scheme="always")
        if self.byte_fallback:
            tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), tokenizer.decoder])
        cls, sep, second = self.names.cls, self.names.sep, int(self.names.tells_segments)
        between = [f"{sep}:0"] * self.names.num_between
        tokenizer.post_processor = processors.TemplateProcessing(
            single=[f"{cls}:0", "$A:0", f"{sep}:0"],
            pair=[f"{cls}:0", "$A:0", *between, f"$B:{second}", f"{sep}:{second}"],
            special_tokens=[(cls, ids[cls]), (sep, ids[sep])],
        )
        tokenizer.add_tokens([AddedToken(**asdict(token)) for token in looked_for])
        return tokenizer

    def _said(self) -> tuple[Any, ...]:
        """Return all that it is made of but the notes, in the order in which it takes them."""
        cleaning = self.charsmap, self.lowercase, self.strip_accents, self.plain_quotes
        return self.base, self.scores, self.names, *cleaning, self.byte_fallback, self.composes, self.added

    def __reduce__(self) -> tuple[Any, ...]:
        return Unigram, (*self._said(), self.notes)

    @property
    def strips(self) -> bool:
        return self.strip_accents

    @property
    def special_ids(self) -> frozenset[int]:
        return self._specials

    @property
    def _is_usual(self) -> bool:
        """Whether text is cleaned as by its class in `transformers`, which only knows the map and its own."""
        if self.names == ALBERT:
            return self.plain_quotes
        if self.names == DEBERTA:
            return self.composes and not self.byte_fallback
        return not (self.lowercase or self.strip_accents or self.plain_quotes)

    def save(self, folder: Path | str, *, model_max_length: int | None = None) -> None:
        """Write tokenizer.json and tokenizer_config.json: see `Tokenizer.save`."""
        names = self.names
        config: dict[str, Any] = {
            **names.named,
            "bos_token": names.cls,
            "eos_token": names.sep,
            "mask_token": None if self.mask_id is None else names.mask,
            "tokenizer_class": names.own_class if self._is_usual else "PreTrainedTokenizerFast",
        }
        if names == ALBERT:
            config["keep_accents"] = not self.strip_accents
        if names.tells_segments:
            config["do_lower_case"] = self.lowercase
            config["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
        if model_max_length is not None:
            config["model_max_length"] = model_max_length
        folder = Path(folder)
        write_text(folder / "tokenizer.json", self._tokenizer.to_str() + "\n")
        write_text(folder / "tokenizer_config.json", json.dumps(config, indent=2, sort_keys=True) + "\n")

    def fingerprint(self) -> str:
        cleaning = self.charsmap.hex(), self.lowercase, self.strip_accents, self.plain_quotes
        rules = [self.tokens, self.scores, asdict(self.names), cleaning]
        rules += [name for name in ("byte_fallback", "composes") if getattr(self, name)]
        return hashlib.sha256(
            json.dumps([*rules, [asdict(token) for token in self.added]]).encode()
        ).hexdigest()

    def continues(self, ids: Sequence[int]) -> list[bool]:
        """Return whether each piece of a text goes on with the word of the one before it.

        A piece with ▁ begins a word. Another goes on behind a bare ▁, between letters or digits, and between
        bytes; an ideograph is a word, and so is what is unknown.
        """
        found, before, is_byte = list[bool](), " ", False
        for number in ids:
            piece = self.tokens[number]
            is_known = number not in self.looked_for
            within = is_known and _in_word(before) and _in_word(piece[0])
            within = within or (is_byte and number in self.byte_ids)
            found.append(within or (before == BLANK and (is_known or number == self.unk_id)))
            before, is_byte = piece[-1] if is_known else " ", number in self.byte_ids
            if piece.startswith(BLANK):
                found[-1] = False
        return found

    def joined(self, ids: Sequence[int]) -> str:
        """Return pieces as one, bytes as the characters that they are of."""
        whole = "".join(self.tokens[number] for number in ids)
        return _BYTES_OF_ONE.sub(_decoded, whole) if self.byte_ids.intersection(ids) else whole

    def spelled(self, ids: Sequence[int]) -> str:
        return self.joined(ids).replace(BLANK, " ").strip()

    def as_word(self, ids: Sequence[int]) -> str:
        """Return pieces as they would be written; "…" before what would stand right behind a letter."""
        word = self.spelled(ids)
        if not word or not word.isprintable():  # a bare ▁
            return "".join(self.tokens[number] for number in ids)
        return f"{_GLUED}{word}" if self.may_go_on[ids[0]] else word

    def encode_words(self, words: Sequence[str]) -> list[Ids]:
        return self.encode_ids(words)

    def ids_as_spelled(self, word: str) -> list[int]:
        """Return the pieces of a word behind a blank; of "…ing", right behind a letter.

        An ideograph or a mark is the same in both places, so it is looked for without a blank.
        """
        if word.startswith(_GLUED) and len(word) > len(_GLUED):
            found = self._pieces_of(word.removeprefix(_GLUED))
            return [] if self.unk_id in found else found
        found = self.ids_of_word(word)
        is_apart = len(found) > 1 and self.tokens[found[0]] == BLANK and not self.may_go_on[found[1]]
        return found[1:] if is_apart else found

    def cleaned(self, text: str) -> str:
        """Return a text as it is before it is split at blanks."""
        cleaner = self._tokenizer.normalizer
        return text if cleaner is None else str(cleaner.normalize_str(without_halves(text)))

    def score_of(self, piece: str) -> float | None:
        """Return the score of a piece; None where there is no such piece to spell a word with."""
        number = self._ids.get(piece, self.unk_id)
        is_none = number == self.unk_id or number >= len(self.base) or number in self.byte_ids
        return None if is_none else self.scores[number]

    def _pieces_of(self, word: str) -> list[int]:
        """Return the pieces of a word as it stands right behind another piece."""
        return [piece.id for piece in self._tokenizer.model.tokenize(self.cleaned(word))]

    @cached_property
    def may_go_on(self) -> npt.NDArray[np.bool_]:
        goes_on = np.fromiter((_in_word(token[0]) for token in self.tokens), bool, self.vocab_size)
        goes_on[list(self.looked_for)] = False
        return goes_on

    def with_masks(self, text: str) -> str:
        return text if self.mask_id is None else text.replace(MASK, self.names.mask)


def _decoded(written: re.Match[str]) -> str:
    """Return the characters that some bytes are of; the bytes as they are written where they are of none."""
    try:
        return bytes.fromhex("".join(re.findall("x(..)", written[0]))).decode()
    except UnicodeDecodeError:
        return written[0]


def _in_word(letter: str) -> bool:
    """Whether a letter, digit or sign on one may stand within a word; an ideograph is a word of its own."""
    if letter.isalnum():
        return ord(letter) not in _IDEOGRAPHS
    return unicodedata.category(letter).startswith("M")


def _num_nodes(pieces: Sequence[str]) -> int:
    """Return how many different beginnings some pieces have, in bytes; beyond _HEAD, how many at most."""
    whole = sorted(piece.encode() for piece in pieces)
    heads = np.array([piece[:_HEAD] for piece in whole])
    table = heads.view(np.uint8).reshape(len(heads), -1)
    shared = np.logical_and.accumulate(table[1:] == table[:-1], axis=1).sum()
    return sum(map(len, whole)) - int(shared)
