"""The index of a checkpoint: a sorted table of keys and values, in blocks with checksums.

A footer of 48 bytes says where the index of blocks is; a block is entries whose keys leave out what they
share with the one before, then a byte that says whether it is packed, and a checksum of both.
Source: tensorflow/core/lib/io/format.cc and block.cc; the same layout as LevelDB's table_format.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import google_crc32c

from engine.errors import marked
from engine.model.tensorflow.snappy import unpacked
from engine.protobuf import varint

MOST_UNPACKED = 4 * 2**20  # bytes of all blocks together; those of a real index have some 20,000
_FOOTER, _MAGIC = 48, 0xDB4775248B80FB57
_RAW, _SNAPPY = 0, 1


def entries_of(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a table, in order. Raises: ValueError: a marked text, what is wrong."""
    if len(data) < _FOOTER or struct.unpack_from("<Q", data, len(data) - 8)[0] != _MAGIC:
        raise ValueError(marked("engine", "it is not the index of a checkpoint"))
    at = len(data) - _FOOTER
    for _ in range(2):  # the index of meta blocks, which nobody needs
        _, at = varint(data, at)
    place, at = varint(data, at)
    size, at = varint(data, at)
    index = _block(data, place, size, MOST_UNPACKED)
    left = MOST_UNPACKED - len(index)
    last: bytes | None = None
    for _, handle in _entries(index):
        begin, at = varint(handle, 0)
        length, _ = varint(handle, at)
        block = _block(data, begin, length, left)
        left -= len(block)  # the same block may be named again and again
        for key, value in _entries(block):
            if last is not None and key <= last:
                raise ValueError(marked("engine", "its names are not in order"))
            last = key
            yield key, value


def masked_crc(data: bytes) -> int:
    """Return a checksum as these files keep it: turned and shifted, so that one of one differs."""
    crc = int(google_crc32c.value(data))
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _block(data: bytes, begin: int, size: int, most: int) -> bytes:
    """Return what is in a block, once its checksum is found right. Args: most: bytes that it may have."""
    if begin + size + 5 > len(data):
        raise ValueError(marked("engine", "a block of it is missing"))
    if size > most:
        raise ValueError(marked("engine", "a block of it is too large"))
    if struct.unpack_from("<I", data, begin + size + 1)[0] != masked_crc(data[begin : begin + size + 1]):
        raise ValueError(marked("engine", "a block of it does not match its checksum"))
    kind = data[begin + size]
    if kind == _SNAPPY:
        return unpacked(data[begin : begin + size], most)
    if kind != _RAW:
        raise ValueError(marked("engine", "a block of it is packed in an unknown way"))
    return data[begin : begin + size]


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a block."""
    if len(block) < 4:
        raise ValueError(marked("engine", "a block of it is truncated"))
    num_restarts = struct.unpack_from("<I", block, len(block) - 4)[0]
    end = len(block) - 4 * (num_restarts + 1)
    if end < 0:
        raise ValueError(marked("engine", "a block of it is truncated"))
    key, at = b"", 0
    while at < end:
        shared, at = varint(block, at)
        own, at = varint(block, at)
        length, at = varint(block, at)
        if shared > len(key) or at + own + length > end:
            raise ValueError(marked("engine", "a key in it is truncated"))
        key = key[:shared] + block[at : at + own]
        at += own
        yield key, block[at : at + length]
        at += length
