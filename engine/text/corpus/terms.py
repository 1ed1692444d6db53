"""Listed terms, found in examples: whole words only, the longest first, none over another."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

# N tokens of all examples together, W words, C places where a term may begin


class Terms:
    """Finds any of many terms at once.

    Args: terms: the pieces of each, at least one. num_tokens: of the vocabulary.
    """

    def __init__(self, terms: Iterable[tuple[int, ...]], num_tokens: int) -> None:
        unique = sorted({term for term in terms if term})
        longest = max(map(len, unique), default=0)
        # Odd and random: a window's sum of products is its hash. Raw bits are the same with every numpy.
        self._factors = np.random.PCG64(0).random_raw(longest) | np.uint64(1)
        self._firsts = np.zeros(num_tokens, bool)
        self._firsts[[term[0] for term in unique]] = True
        self._by_length: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for length in sorted({len(term) for term in unique}, reverse=True):
            pieces = np.array([term for term in unique if len(term) == length], np.int64)
            hashes = self._hashed(pieces)
            order = np.argsort(hashes)
            self._by_length[length] = pieces[order], hashes[order]

    def find(
        self, ids: np.ndarray, starts: np.ndarray, lasts: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where terms begin, and which tokens are inside one but do not begin it: two (N,) bool.

        Args: ids: (N,) int64. starts, lasts: (W,) first and last token of each word. bounds: (B + 1,) of the
            examples; a term lies within one.
        """
        begins, taken = np.zeros(len(ids), bool), np.zeros(len(ids), bool)
        ends = np.zeros(len(ids), bool)
        ends[lasts] = True
        places = starts[self._firsts[ids[starts]]]
        room = bounds[np.searchsorted(bounds, places, side="right")] - places
        for length, (pieces, hashes) in self._by_length.items():
            found = places[room >= length]
            found = found[ends[found + length - 1]]
            windows = ids[found[:, None] + np.arange(length)]
            likely = np.minimum(np.searchsorted(hashes, self._hashed(windows)), len(hashes) - 1)
            found = found[(pieces[likely] == windows).all(1)]
            while len(found := found[~taken[found[:, None] + np.arange(length)].any(1)]):
                apart = np.diff(found, prepend=-length) >= length  # of a heap of overlapping ones, the first
                begins[found[apart]] = True
                taken[found[apart][:, None] + np.arange(length)] = True
        return begins, taken & ~begins

    def _hashed(self, windows: np.ndarray) -> np.ndarray:
        """Return (C,) uint64 of windows (C, length)."""
        products = windows.astype(np.uint64) * self._factors[: windows.shape[1]]
        return np.asarray(products.sum(1, dtype=np.uint64))
