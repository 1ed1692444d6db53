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

MOST_BLOCK = 64 * 2**20  # bytes; a block of a real index has some 4,000
_FOOTER, _MAGIC = 48, 0xDB4775248B80FB57
_RAW, _SNAPPY = 0, 1


def entries_of(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a table, in order. Raises: ValueError: a marked text, what is wrong."""
    if len(data) < _FOOTER or struct.unpack_from("<Q", data, len(data) - 8)[0] != _MAGIC:
        raise ValueError(marked("engine", "it is no index of a checkpoint"))
    at = len(data) - _FOOTER
    for _ in range(2):  # the index of meta blocks, which nobody needs
        _, at = varint(data, at)
    place, at = varint(data, at)
    size, at = varint(data, at)
    for _, handle in _entries(_block(data, place, size)):
        begin, at = varint(handle, 0)
        length, _ = varint(handle, at)
        yield from _entries(_block(data, begin, length))


def masked_crc(data: bytes) -> int:
    """Return a checksum as these files keep it: turned and shifted, so that one of one differs."""
    crc = int(google_crc32c.value(data))
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, and the place behind it. Raises: ValueError."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError(marked("engine", "it is cut short"))
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError(marked("engine", "a number in it has no end"))


def _block(data: bytes, begin: int, size: int) -> bytes:
    """Return what is in a block, once its checksum is found right."""
    if size > MOST_BLOCK or begin + size + 5 > len(data):
        raise ValueError(marked("engine", "a block of it is not there"))
    if struct.unpack_from("<I", data, begin + size + 1)[0] != masked_crc(data[begin : begin + size + 1]):
        raise ValueError(marked("engine", "a block of it does not have the checksum that it should have"))
    kind = data[begin + size]
    if kind == _SNAPPY:
        return unpacked(data[begin : begin + size], MOST_BLOCK)
    if kind != _RAW:
        raise ValueError(marked("engine", "a block of it is packed in an unknown way"))
    return data[begin : begin + size]


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a block."""
    if len(block) < 4:
        raise ValueError(marked("engine", "a block of it is cut short"))
    num_restarts = struct.unpack_from("<I", block, len(block) - 4)[0]
    end = len(block) - 4 * (num_restarts + 1)
    if end < 0:
        raise ValueError(marked("engine", "a block of it is cut short"))
    key, at = b"", 0
    while at < end:
        shared, at = varint(block, at)
        own, at = varint(block, at)
        length, at = varint(block, at)
        if shared > len(key) or at + own + length > end:
            raise ValueError(marked("engine", "a key in it is cut short"))
        key = key[:shared] + block[at : at + own]
        at += own
        yield key, block[at : at + length]
        at += length
