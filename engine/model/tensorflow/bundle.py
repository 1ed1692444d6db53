"""A checkpoint's tensors: what the index says of each, checked before any is read.

`.index` names each tensor with its type, shape, and place in one of the `.data-*` files, where tensors lie as
bare numbers; each has a checksum.
Source: tensorflow/core/util/tensor_bundle and tensorflow/core/protobuf/tensor_bundle.proto.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from engine.errors import marked
from engine.model.tensorflow.table import entries_of, varint

MOST_INDEX = 64 * 2**20  # bytes of an index; a real one of BERT has some 10,000
MOST_TENSORS = 100_000
_MOST_DIMENSIONS, _MOST_NAME, _MOST_SHARDS = 8, 1000, 1000
_DTYPES = {
    1: torch.float32,
    2: torch.float64,
    3: torch.int32,
    9: torch.int64,
    14: torch.bfloat16,
    19: torch.float16,
}
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5

Fields = dict[int, list[int | bytes]]


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor that is not read yet: where it lies, and its masked crc32c."""

    name: str
    dtype: torch.dtype | None  # None for a type that is no number here
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    crc: int


def read_index(data: bytes) -> tuple[int, dict[str, TensorEntry]]:
    """Return how many data files there are, and every tensor. Raises: ValueError: a marked text."""
    num_shards, entries = 0, dict[str, TensorEntry]()
    for key, value in entries_of(data):
        if not key:
            num_shards = _num_shards(_fields(value))
            continue
        if len(entries) >= MOST_TENSORS or len(key) > _MOST_NAME:
            raise ValueError(marked("engine", "it names too many things"))
        name = key.decode("utf-8", "backslashreplace")
        entries[name] = _entry(name, _fields(value))
    if not num_shards:
        raise ValueError(marked("engine", "it does not say in how many files its tensors are"))
    if any(entry.shard >= num_shards for entry in entries.values()):
        raise ValueError(marked("engine", "a tensor is in a file that does not exist"))
    return num_shards, entries


def _num_shards(header: Fields) -> int:
    count = _number(header, 1)
    if _number(header, 2):
        raise ValueError(marked("engine", "its numbers have the wrong byte order (big-endian)"))
    if not 0 < count <= _MOST_SHARDS:
        raise ValueError(marked("engine", "it names too many files"))
    return count


def _entry(name: str, fields: Fields) -> TensorEntry:
    if 7 in fields:
        raise ValueError(marked("engine", "its tensors are split into slices"))
    dtype = _DTYPES.get(_number(fields, 1))
    shape = tuple(_dimensions(fields.get(2, [b""])[0]))
    offset, size = _number(fields, 4), _number(fields, 5)
    if dtype is not None and math.prod(shape) * dtype.itemsize != size:
        raise ValueError(marked("engine", "a tensor is not as long as its shape says"))
    return TensorEntry(name, dtype, shape, _number(fields, 3), offset, size, _number(fields, 6))


def _dimensions(shape: int | bytes) -> Iterator[int]:
    if not isinstance(shape, bytes):
        raise ValueError(marked("engine", "a shape in it is invalid"))
    sizes = _fields(shape).get(2, [])
    if len(sizes) > _MOST_DIMENSIONS:
        raise ValueError(marked("engine", "a tensor has too many dimensions"))
    for each in sizes:
        if not isinstance(each, bytes):
            raise ValueError(marked("engine", "a shape in it is invalid"))
        size = _number(_fields(each), 1)
        if size >= 2**40:
            raise ValueError(marked("engine", "a tensor is too large"))
        yield size


def _number(fields: Fields, number: int) -> int:
    value = fields.get(number, [0])[-1]
    if not isinstance(value, int):
        raise ValueError(marked("engine", "a number in it is invalid"))
    return value


def _fields(data: bytes) -> Fields:
    """Return the fields of a protocol buffer by their numbers."""
    found: Fields = {}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        value: int | bytes
        if kind == _VARINT:
            value, at = varint(data, at)
        elif kind == _BYTES:
            length, at = varint(data, at)
            value, at = _taken(data, at, length), at + length
        elif kind in (_LONG, _SHORT):
            width = 8 if kind == _LONG else 4
            value = struct.unpack("<Q" if kind == _LONG else "<I", _taken(data, at, width))[0]
            at += width
        else:
            raise ValueError(marked("engine", "a field in it is of an unknown kind"))
        found.setdefault(tag >> 3, []).append(value)
    return found


def _taken(data: bytes, at: int, count: int) -> bytes:
    if at + count > len(data):
        raise ValueError(marked("engine", "it is truncated"))
    return data[at : at + count]
