"""From text to merged pieces, as mmBERT was trained to see it with Gemma's vocabulary, over `tokenizers`.

Each space is written as "▁", and a word's first piece begins with it. Pairs of characters are joined in the
order in which they were found to be frequent; a character that the vocabulary lacks is its bytes, each a
piece such as "<0xE4>". What else is asked of pieces of bytes is asked of these alike.
Source: Kudo and Richardson 2018 (SentencePiece); Gemma Team 2024, section 2; Marone et al. 2025 (mmBERT).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from engine.errors import marked
from engine.text.byte_level import ByteLevel, Markers
from engine.text.special_tokens import ExtraToken
from engine.text.unigram import BLANK

MMBERT = Markers(
    "<pad>", "<unk>", "<bos>", "<eos>", "<mask>", 1, False, "PreTrainedTokenizerFast", "mmBERT", False
)
_BYTE = re.compile("<0x([0-9A-F]{2})>")


@dataclass(frozen=True)
class ByteFallback(ByteLevel):
    """A vocabulary of pieces of text, and one for each byte. Immutable, picklable, safe to share between
    threads.

    Args: as of `ByteLevel`, but that nothing is composed. splits: whether each word is cut alone; else pieces
    may reach across spaces.
    """

    kind = marked("engine", "BPE pieces")
    way = marked("engine", "BPE: merges in the order in which they were learned")
    splitting = marked(
        "engine",
        "Each space is written as ▁ and belongs to the word behind it. The most frequent pairs of characters "
        "are joined first. A character that the vocabulary lacks is read as its bytes.",
    )

    markers: Markers = MMBERT
    splits: bool = True

    def _build(self, ids: dict[str, int], looked_for: list[ExtraToken]) -> tokenizers.Tokenizer:
        base, names = {token: ids[token] for token in self.base}, self.markers
        model = models.BPE(base, list(self.merges), unk_token=names.unk, fuse_unk=True, byte_fallback=True)
        tokenizer = tokenizers.Tokenizer(model)
        tokenizer.normalizer = normalizers.Replace(" ", BLANK)
        scheme = "always" if self.begins_with_space else "never"
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(BLANK, scheme, self.splits)
        steps = [decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse()]
        tokenizer.decoder = decoders.Sequence(steps)
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{names.cls} $A {names.sep}",
            pair=f"{names.cls} $A {names.sep} $B:0 {names.sep}:0",
            special_tokens=[(name, ids[name]) for name in (names.cls, names.sep)],
        )
        tokenizer.add_tokens([AddedToken(**asdict(token)) for token in looked_for])
        return tokenizer

    def __reduce__(self) -> tuple[Any, ...]:
        _, said = super().__reduce__()
        return ByteFallback, (*said, self.splits)

    def _published(self) -> str:
        return self._tokenizer.to_str()

    def fingerprint(self) -> str:
        return hashlib.sha256(f"{super().fingerprint()} {self.splits}".encode()).hexdigest()

    def _spans(self, found: tokenizers.Encoding, text: str) -> Sequence[tuple[int, int]]:
        """Return the characters that each piece is from, without the spaces before a word.

        The library lets all bytes of a character but the last end where they begin.
        """
        spans = list[tuple[int, int]]()
        for number, (start, stop) in zip(found.ids, found.offsets, strict=True):
            if not self._bytes[number].strip():  # of nothing but blanks, and perhaps not of the text at all
                spans.append((start, start))
                continue
            stop = max(stop, start + 1)
            spans.append((stop - len(text[start:stop].lstrip()), stop))
        return spans

    def _pieces_of(self, word: str) -> list[int]:
        return [piece.id for piece in self._tokenizer.model.tokenize(word.replace(" ", BLANK))]

    @cached_property
    def _bytes(self) -> tuple[bytes, ...]:
        return tuple(
            token.encode() if number in self._specials else _stands_for(token)
            for number, token in enumerate(self.tokens)
        )


def _stands_for(token: str) -> bytes:
    byte = _BYTE.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace(BLANK, " ").encode()
