"""Checkpoints as TensorFlow writes them, byte by byte: raw or packed, in any number of data files."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from engine.model.tensorflow.table import masked_crc
from tests.fakes import TOKENS, tiny_config

WIDTH, WORDS, LAYERS, WIDE = 12, len(TOKENS), 2, 29  # of the fake
DTYPES = {"float32": 1, "float64": 2, "int32": 3, "int64": 9, "float16": 19}


def number(value: int) -> bytes:
    """Return a number of 7 bits a byte."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(place: int, value: int | bytes) -> bytes:
    """Return a field of a protocol buffer."""
    if isinstance(value, bytes):
        return number(place << 3 | 2) + number(len(value)) + value
    return number(place << 3) + number(value)


def packed(data: bytes) -> bytes:
    """Return data as Snappy would: literals, and a copy where 8 bytes stand twice in a row."""
    out, at = number(len(data)), 0
    while at < len(data):
        if at >= 8 and data[at : at + 8] == data[at - 8 : at] and len(data) >= at + 8:
            out += bytes([(8 - 1) << 2 | 2]) + struct.pack("<H", 8)
            at += 8
        else:
            some = data[at : at + 8]
            out += bytes([(len(some) - 1) << 2]) + some
            at += len(some)
    return out


def block(entries: Sequence[tuple[bytes, bytes]], snappy: bool) -> bytes:
    """Return a block of a table, with its kind and checksum."""
    content, last = b"", b""
    for key, value in entries:
        shared = 0
        while shared < min(len(key), len(last)) and key[shared] == last[shared]:
            shared += 1
        content += number(shared) + number(len(key) - shared) + number(len(value)) + key[shared:] + value
        last = key
    content += struct.pack("<II", 0, 1)
    content = (packed(content) + b"\x01") if snappy else content + b"\x00"
    return content + struct.pack("<I", masked_crc(content))


def entry(dtype: str, shape: Sequence[int], raw: bytes, *, shard: int = 0, offset: int = 0) -> bytes:
    """Return what an index says of a tensor."""
    sizes = b"".join(field(2, field(1, size)) for size in shape)
    said = field(1, DTYPES[dtype]) + field(2, sizes) + field(3, shard) + field(4, offset) + field(5, len(raw))
    return said + number(6 << 3 | 5) + struct.pack("<I", masked_crc(raw))


def index_of(
    entries: Sequence[tuple[bytes, bytes]], *, shards: int = 1, snappy: bool = False, times: int = 1
) -> bytes:
    """Return an .index. Args: entries: by name, in order. times: how often each block is named."""
    entries = [(b"", field(1, shards) + field(3, field(1, 1))), *entries]
    blocks, handles = b"", []
    for start in range(0, len(entries), 16):
        some = entries[start : start + 16]
        made = block(some, snappy)
        handles += [(some[-1][0], number(len(blocks)) + number(len(made) - 5))] * times
        blocks += made
    meta, index = block([], False), block(handles, snappy)
    footer = (
        number(len(blocks)) + number(len(meta) - 5) + number(len(blocks) + len(meta)) + number(len(index) - 5)
    )
    return blocks + meta + index + footer.ljust(40, b"\x00") + struct.pack("<Q", 0xDB4775248B80FB57)


def write_checkpoint(
    prefix: Path, tensors: Mapping[str, np.ndarray], *, shards: int = 1, snappy: bool = False
) -> None:
    """Write a checkpoint's .index and data files."""
    data = [bytearray() for _ in range(shards)]
    entries = []
    for place, name in enumerate(sorted(tensors)):
        value, shard = tensors[name], place % shards
        said = entry(str(value.dtype), value.shape, value.tobytes(), shard=shard, offset=len(data[shard]))
        entries.append((name.encode(), said))
        data[shard] += value.tobytes()
    prefix.parent.mkdir(parents=True, exist_ok=True)
    prefix.with_name(prefix.name + ".index").write_bytes(index_of(entries, shards=shards, snappy=snappy))
    for shard, content in enumerate(data):
        prefix.with_name(f"{prefix.name}.data-{shard:05}-of-{shards:05}").write_bytes(content)


def tensors_of(*, with_heads: bool = True) -> dict[str, np.ndarray]:
    """Return the tensors of a checkpoint as Google's scripts name them, with an optimizer's beside."""
    rng = np.random.default_rng(0)

    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.1, shape).astype(np.float32)

    shapes = {"word": (WORDS, WIDTH), "position": (41, WIDTH), "token_type": (2, WIDTH)}
    found = {f"bert/embeddings/{name}_embeddings": drawn(*shape) for name, shape in shapes.items()}
    norms = ["bert/embeddings"]
    kernels = {"bert/pooler/dense": (WIDTH, WIDTH)}
    for layer in range(LAYERS):
        at = f"bert/encoder/layer_{layer}"
        norms += [f"{at}/attention/output", f"{at}/output"]
        kernels |= {f"{at}/attention/self/{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")}
        kernels |= {f"{at}/attention/output/dense": (WIDTH, WIDTH)}
        kernels |= {f"{at}/intermediate/dense": (WIDTH, WIDE), f"{at}/output/dense": (WIDE, WIDTH)}
    if with_heads:
        norms.append("cls/predictions/transform")
        kernels["cls/predictions/transform/dense"] = (WIDTH, WIDTH)
        found["cls/predictions/output_bias"] = drawn(WORDS)
        found["cls/seq_relationship/output_weights"] = drawn(2, WIDTH)
        found["cls/seq_relationship/output_bias"] = drawn(2)
    for name in norms:
        found |= {f"{name}/LayerNorm/gamma": drawn(WIDTH), f"{name}/LayerNorm/beta": drawn(WIDTH)}
    for name, shape in kernels.items():
        found |= {f"{name}/kernel": drawn(*shape), f"{name}/bias": drawn(shape[1])}
    found["global_step"] = np.array(7, np.int64)
    found["bert/embeddings/word_embeddings/adam_m"] = drawn(WORDS, WIDTH)
    return found


def written(folder: Path, tensors: dict[str, np.ndarray], *, shards: int = 1, snappy: bool = False) -> Path:
    """Write a checkpoint with what lies beside it; return the folder."""
    write_checkpoint(folder / "bert_model.ckpt", tensors, shards=shards, snappy=snappy)
    config = {name: value for name, value in tiny_config().to_json().items() if name != "model_type"}
    (folder / "bert_config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    return folder
