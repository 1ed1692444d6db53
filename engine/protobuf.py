"""The wire format of protocol buffers: the fields of a message by their numbers, with no scheme of them.

Bytes come from strangers: a length is never trusted, and what is wrong is a ValueError with a marked text.
Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from engine.errors import marked

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}  # kind -> its bytes

Fields = dict[int, list[int | bytes]]


def fields_of(data: bytes, most: int = 1_000_000) -> Fields:
    """Return the values of a message by their fields' numbers, each in order.

    Args: most: values that it may have. Raises: ValueError: a marked text, what is wrong.
    """
    found: Fields = {}
    at, count, end = 0, 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        kind = tag & 7
        value: int | bytes
        if kind == _BYTES:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        elif kind == _VARINT:
            value, at = varint(data, at)
        elif kind in _FIXED:
            value, at = int.from_bytes(data[at : at + _FIXED[kind]], "little"), at + _FIXED[kind]
        else:
            raise ValueError(marked("engine", "a field in it is of an unknown kind"))
        if at > end:
            raise ValueError(marked("engine", "it is truncated"))
        count += 1
        if count > most:
            raise ValueError(marked("engine", "it has too many fields"))
        found.setdefault(tag >> 3, []).append(value)
    return found


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, and the place behind it. Raises: ValueError."""
    if at < len(data) and data[at] < 128:  # as most are
        return data[at], at + 1
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError(marked("engine", "it is truncated"))
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError(marked("engine", "a number in it has no end"))


def number_in(fields: Fields, number: int, usual: int = 0) -> int:
    """Return a number of a message, the last where it is there again. Raises: ValueError: it is none."""
    value = fields.get(number, [usual])[-1]
    if not isinstance(value, int):
        raise ValueError(marked("engine", "a number in it is invalid"))
    return value
