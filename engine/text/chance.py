"""Randomness that follows from numbers alone: no generator runs along, so no order of work matters.

These bits decide which words are hidden. Change one constant, and every recorded run repeats differently.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

_ALL_BITS = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


@lru_cache
def key(*numbers: int) -> int:
    """Return 64 bits that name a stream of random numbers, as (seed, epoch, purpose) does."""
    bits = 0
    for number in numbers:
        bits = (bits + number + 1) * _GOLDEN & _ALL_BITS
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & _ALL_BITS
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & _ALL_BITS
        bits ^= bits >> 31
    return bits


def hashes(places: np.ndarray, stream: int) -> np.ndarray:
    """Return 64 random bits (uint64) for each of `places` (int64), of the stream with this key.

    Source: splitmix64; Steele, Lea and Flood 2014, Fast splittable pseudorandom number generators.
    """
    bits = places.view(np.uint64) * _GOLDEN
    bits += stream
    bits ^= bits >> 30
    bits *= 0xBF58476D1CE4E5B9
    bits ^= bits >> 27
    bits *= 0x94D049BB133111EB
    bits ^= bits >> 31
    return bits


def uniform(bits: np.ndarray) -> np.ndarray:
    """Return numbers from 0 to below 1, of the 24 lowest bits: so few that a count added to one is exact."""
    return (bits & (2**24 - 1)).astype(np.float64) * 2.0**-24
