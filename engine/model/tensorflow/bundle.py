"""A checkpoint's tensors: what the index says of each, checked before any is read.

`.index` names each tensor with its type, shape, and place in one of the `.data-*` files, where tensors lie as
bare numbers; each has a checksum.
Source: tensorflow/core/util/tensor_bundle and tensorflow/core/protobuf/tensor_bundle.proto.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from engine.errors import marked
from engine.model.tensorflow.table import entries_of
from engine.protobuf import Fields, fields_of, number_in

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
            num_shards = _num_shards(fields_of(value))
            continue
        if len(entries) >= MOST_TENSORS or len(key) > _MOST_NAME:
            raise ValueError(marked("engine", "it names too many things"))
        name = key.decode("utf-8", "backslashreplace")
        entries[name] = _entry(name, fields_of(value))
    if not num_shards:
        raise ValueError(marked("engine", "it does not say in how many files its tensors are"))
    if any(entry.shard >= num_shards for entry in entries.values()):
        raise ValueError(marked("engine", "a tensor is in a file that does not exist"))
    return num_shards, entries


def _num_shards(header: Fields) -> int:
    count = number_in(header, 1)
    if number_in(header, 2):
        raise ValueError(marked("engine", "its numbers have the wrong byte order (big-endian)"))
    if not 0 < count <= _MOST_SHARDS:
        raise ValueError(marked("engine", "it names too many files"))
    return count


def _entry(name: str, fields: Fields) -> TensorEntry:
    if 7 in fields:
        raise ValueError(marked("engine", "its tensors are split into slices"))
    dtype = _DTYPES.get(number_in(fields, 1))
    shape = tuple(_dimensions(fields.get(2, [b""])[0]))
    offset, size = number_in(fields, 4), number_in(fields, 5)
    if dtype is not None and math.prod(shape) * dtype.itemsize != size:
        raise ValueError(marked("engine", "a tensor is not as long as its shape says"))
    return TensorEntry(name, dtype, shape, number_in(fields, 3), offset, size, number_in(fields, 6))


def _dimensions(shape: int | bytes) -> Iterator[int]:
    if not isinstance(shape, bytes):
        raise ValueError(marked("engine", "a shape in it is invalid"))
    sizes = fields_of(shape).get(2, [])
    if len(sizes) > _MOST_DIMENSIONS:
        raise ValueError(marked("engine", "a tensor has too many dimensions"))
    for each in sizes:
        if not isinstance(each, bytes):
            raise ValueError(marked("engine", "a shape in it is invalid"))
        size = number_in(fields_of(each), 1)
        if size >= 2**40:
            raise ValueError(marked("engine", "a tensor is too large"))
        yield size
