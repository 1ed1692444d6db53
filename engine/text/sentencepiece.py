"""What stands in a file of SentencePiece: the pieces with their scores, and the map that cleans characters.

Bytes come from strangers, and a map that leads out of itself would end the library that follows it, so each
step that it could take is checked before.
Source: Kudo and Richardson 2018; src/sentencepiece_model.proto and src/normalizer.cc of sentencepiece.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from engine.errors import marked
from engine.protobuf import Fields, fields_of, number_in

CONTROL, USER_DEFINED = 3, 4  # kinds of pieces; 1 is a plain one, 2 the unknown one
MOST_BYTES = 16 * 2**20  # of a file; the largest known has 5
_PIECES, _TRAINER, _CLEANING = 1, 2, 3  # fields of the file
_FIELDS_OF_A_PIECE, _FIELDS_OF_THE_REST = 6, 10_000
_UNIGRAM = 1
_MOST_MAP = 2**20  # bytes of a map of characters; that of nmt_nfkc has 237,539
_LONGEST_IN_MAP = 256  # bytes that one character may become; 33 in nmt_nfkc


@dataclass(frozen=True, slots=True)
class SentencePieces:
    """A model's pieces by id, with scores (log probabilities) and kinds, and its map of characters."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    kinds: tuple[int, ...]
    charsmap: bytes
    byte_fallback: bool  # whether what no piece has is written as its bytes


def read_pieces(data: bytes, most: int) -> SentencePieces:
    """Return what a file says. Args: most: pieces that it may have. Raises: ValueError: a marked text."""
    fields = fields_of(data, most + _FIELDS_OF_THE_REST)
    trainer, cleaning = (_message(fields, number) for number in (_TRAINER, _CLEANING))
    if number_in(trainer, 3, _UNIGRAM) != _UNIGRAM:
        raise ValueError(marked("engine", "its model is no Unigram model"))
    if number_in(trainer, 24):  # blanks behind words
        raise ValueError(marked("engine", "it splits words differently from the models that Cloze reads"))
    if not number_in(cleaning, 3, 1) or not number_in(cleaning, 5, 1):  # a blank before a text; written as ▁
        raise ValueError(marked("engine", "it splits words differently from the models that Cloze reads"))
    read = [_piece(piece) for piece in fields.get(_PIECES, [])]
    bits = np.array([score for _, score, _ in read], np.uint64).astype(np.uint32)
    charsmap = _bytes_in(cleaning, 2)
    check_charsmap(charsmap)
    if not read:
        raise ValueError(marked("engine", "it holds no pieces"))
    pieces, kinds = tuple(piece for piece, _, _ in read), tuple(kind for _, _, kind in read)
    scores, by_bytes = tuple(bits.view(np.float32).tolist()), bool(number_in(trainer, 35))
    return SentencePieces(pieces, scores, kinds, charsmap, by_bytes)


def check_charsmap(data: bytes) -> None:
    """Refuse a map of characters that leads out of itself. Raises: ValueError: a marked text.

    It is a double array, a trie of bytes whose leaves are places in the text behind it, where what a
    character becomes ends at a zero.
    """
    if not data:
        return
    wrong = ValueError(marked("engine", "its map of characters is damaged"))
    size = struct.unpack_from("<I", data)[0] if len(data) >= 4 else 0
    if len(data) > _MOST_MAP or not size or size % 4 or 4 + size > len(data):
        raise wrong
    text, units = data[4 + size :], np.frombuffer(data, "<u4", size // 4, 4).astype(np.int64)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise wrong from error
    if any(len(part) > _LONGEST_IN_MAP for part in text.split(b"\0")):
        raise wrong
    inner = np.flatnonzero(units >> 31 == 0)  # the others are leaves
    offsets = (units[inner] >> 10) << ((units[inner] & 512) >> 6)
    below = inner ^ offsets  # a node's children are at this place, each of them turned by its byte
    if (below | 255).max(initial=0) >= len(units):
        raise wrong
    places = units[below[(units[inner] >> 8 & 1) == 1]] & (2**31 - 1)
    begins = np.append(np.frombuffer(text, np.uint8) & 0xC0 != 0x80, True)  # of a character, and the end
    if places.max(initial=0) >= len(begins) or not begins[places].all():
        raise wrong


def _piece(value: int | bytes) -> tuple[str, int, int]:
    """Return a piece, the bits of its score, and its kind."""
    fields = fields_of(value, _FIELDS_OF_A_PIECE) if isinstance(value, bytes) else {}
    try:
        text = _bytes_in(fields, 1).decode()
    except UnicodeDecodeError as error:
        raise ValueError(marked("engine", "a piece in it is no text")) from error
    return text, number_in(fields, 2) & 0xFFFFFFFF, number_in(fields, 3, 1)


def _message(fields: Fields, number: int) -> Fields:
    return fields_of(_bytes_in(fields, number), _FIELDS_OF_THE_REST)


def _bytes_in(fields: Fields, number: int) -> bytes:
    value = fields.get(number, [b""])[-1]
    if not isinstance(value, bytes):
        raise ValueError(marked("engine", "a text in it is invalid"))
    return value
