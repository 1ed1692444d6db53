"""Snappy, as the index of a checkpoint may be packed. Only unpacking; nothing is taken that is not checked.

Source: format_description.txt of google/snappy.
"""

from __future__ import annotations

from engine.errors import marked


def unpacked(data: bytes, most: int) -> bytes:
    """Return what was packed. Args: most: bytes that it may have. Raises: ValueError: it is damaged."""
    size, at = _varint(data)
    if size > most:
        raise ValueError(marked("engine", "a packed block of it is too large"))
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            length = (tag >> 2) + 1
            if length > 60:
                extra = length - 60
                length = int.from_bytes(_taken(data, at, extra), "little") + 1
                at += extra
            out += _taken(data, at, length)
            at += length
        else:
            length, offset, at = _copy(data, tag, at)
            if not 0 < offset <= len(out):
                raise ValueError(marked("engine", "a packed block of it copies what is not there"))
            some = out[len(out) - offset :][:length]
            out += (some * -(-length // len(some)))[:length]  # it may go on into what it has just written
        if len(out) > size:
            raise ValueError(marked("engine", "a packed block of it is longer than it says"))
    if len(out) != size:
        raise ValueError(marked("engine", "a packed block of it is shorter than it says"))
    return bytes(out)


def _copy(data: bytes, tag: int, at: int) -> tuple[int, int, int]:
    """Return length and offset of a copy, and the place behind it."""
    kind = tag & 3
    if kind == 1:
        return 4 + ((tag >> 2) & 7), ((tag >> 5) << 8) | _taken(data, at, 1)[0], at + 1
    width = 2 if kind == 2 else 4
    return (tag >> 2) + 1, int.from_bytes(_taken(data, at, width), "little"), at + width


def _taken(data: bytes, at: int, count: int) -> bytes:
    if at + count > len(data):
        raise ValueError(marked("engine", "a packed block of it is truncated"))
    return data[at : at + count]


def _varint(data: bytes) -> tuple[int, int]:
    """Return a number of 7 bits a byte, and the place behind it."""
    value = 0
    for at, byte in enumerate(data[:5]):
        value |= (byte & 127) << (7 * at)
        if byte < 128:
            return value, at + 1
    raise ValueError(marked("engine", "a packed block of it has no length"))
