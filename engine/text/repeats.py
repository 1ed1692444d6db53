"""Lines that say nearly exactly what an earlier one said: case, white space and digits do not count.

Eight bytes a line, whatever the text; two different lines among a billion share a hash once in 37 times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

Hashes = np.ndarray[Any, np.dtype[np.uint64]]

SHORTEST = 20  # characters; shorter lines repeat by nature
_DIGITS = re.compile(r"\d+")


def line_hashes(lines: Sequence[str]) -> Hashes:
    """Return (n,) uint64, equal for nearly equal lines, the same on every machine; 0 for a short line."""
    return np.frombuffer(b"".join(map(_hash, lines)), "<u8")


def _hash(line: str) -> bytes:
    if len(line) < SHORTEST:
        return bytes(8)
    folded = _DIGITS.sub("0", " ".join(line.lower().split()))
    return blake2b(folded.encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Repeats:
    """The hashes seen so far, in sorted runs that are merged as they grow."""

    def __init__(self) -> None:
        self._runs: list[Hashes] = []

    def first_seen(self, hashes: Hashes) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return (n,) bool, False where a hash has come before, here or in an earlier call. 0 never has."""
        fresh = np.zeros(len(hashes), dtype=bool)
        fresh[np.unique(hashes, return_index=True)[1]] = True
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            fresh &= run[places] != hashes
        added = np.sort(hashes[fresh & (hashes != 0)])
        while self._runs and len(self._runs[-1]) <= 2 * len(added):
            added = np.sort(np.concatenate((self._runs.pop(), added)), kind="stable")
        if len(added):
            self._runs.append(added)
        fresh[hashes == 0] = True
        return fresh
