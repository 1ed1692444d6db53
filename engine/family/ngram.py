"""The n-gram: how often words followed one another, with interpolated Kneser-Ney smoothing.

    P(w | h) = max(c(h w) - D, 0) / c(h) + D N1+(h .) / c(h) P(w | h'),   h' = h without its first word

Of the longest n-grams c counts occurrences; of shorter ones in how many words they were preceded by, which is
what makes it Kneser and Ney's. Beneath the single words stand all words alike.
Source: Kneser and Ney 1995; Chen and Goodman 1998, equation 21; D = n1 / (n1 + 2 n2) of each order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.family.members import SEP, started

# N words of a text, V of the vocabulary, G different k-grams, H different (k - 1)-grams, their contexts

ORDER = 5  # n: a word and the four before it


@dataclass(frozen=True)
class Order:
    """All k-grams of one k. keys: (G,) int64, context * V + word, ascending, where the context is a place
    among the (k - 1)-grams. alpha: (G,) what is left of each after the discount. gamma: (H,) what that sets
    free for shorter contexts; 1 where nothing followed.
    """

    keys: np.ndarray
    counts: np.ndarray
    alpha: np.ndarray
    gamma: np.ndarray


def _discount(counts: np.ndarray) -> float:
    """Return D of an order, from how many of its n-grams there are once and twice."""
    n1, n2 = int((counts == 1).sum()), int((counts == 2).sum())
    return n1 / (n1 + 2 * n2) if n1 and n2 else 0.75


@dataclass(frozen=True)
class NGram:
    """P(w | the n - 1 words before). counts: (V,); first: (V,), P(w); orders: those of 2, 3, ..., n words."""

    counts: np.ndarray
    first: np.ndarray
    orders: tuple[Order, ...]

    @property
    def n(self) -> int:
        return len(self.orders) + 1

    @classmethod
    def count(
        cls, words: np.ndarray, num_words: int, n: int = ORDER, discounts: Sequence[float] | None = None
    ) -> NGram:
        """Return the model of a text. Args: words: (N,). discounts: D of 1, 2, ..., n; None: estimated."""
        place = words = words.astype(np.int64)  # of the k-gram that ends at each word, among its order
        keys, counts = list[np.ndarray](), [np.bincount(words, minlength=num_words)]
        for k in range(2, n + 1):
            key = place[:-1] * num_words + words[k - 1 :]
            found, at, inverse, times = np.unique(
                key, return_index=True, return_inverse=True, return_counts=True
            )
            counts[-1] = np.bincount(place[1:][at], minlength=len(counts[-1]))  # N1+(. h w)
            place = inverse
            keys.append(found)
            counts.append(times)
        return cls.of_counts(keys, counts, num_words, discounts)

    @classmethod
    def of_counts(
        cls,
        keys: Sequence[np.ndarray],
        counts: Sequence[np.ndarray],
        num_words: int,
        discounts: Sequence[float] | None = None,
    ) -> NGram:
        """Return the model of counted n-grams, as `keys` and `counts` of a model give them."""
        taken = [_discount(one) for one in counts] if discounts is None else list(discounts)
        c, D = counts[0], taken[0]  # noqa: N806 (as in the paper)
        if not c.any():  # no word was preceded by any
            c = np.ones(num_words)
        first = (np.maximum(c - D, 0.0) + np.minimum(c, D).sum() / num_words) / c.sum()
        orders = []
        for k, (key, c) in enumerate(zip(keys, counts[1:], strict=True)):
            D = taken[k + 1]  # noqa: N806
            context = key // num_words
            total = np.bincount(context, weights=c, minlength=len(counts[k]))
            freed = D * np.bincount(context, weights=c > 0, minlength=len(counts[k]))
            gamma = np.divide(freed, total, out=np.ones(len(total)), where=total > 0)
            alpha = np.maximum(c - D, 0.0) / np.maximum(total[context], 1)
            orders.append(Order(key, c, alpha, gamma))
        return cls(counts[0], np.asarray(first), tuple(orders))

    def probabilities(self, words: np.ndarray) -> np.ndarray:
        """Return (N,), P of each word of a text after those before it, the first ones after fewer."""
        place = words = words.astype(np.int64)
        p: np.ndarray = self.first[words]
        for k, order in enumerate(self.orders, start=2):
            if len(words) < k or not len(order.keys):
                break
            context, w = place[:-1], words[k - 1 :]
            key = np.where(context < 0, -1, context * len(self.first) + w)
            at = np.minimum(np.searchsorted(order.keys, key), len(order.keys) - 1)
            is_there = order.keys[at] == key
            gamma = np.where(context < 0, 1.0, order.gamma[context])
            p[k - 1 :] = np.where(is_there, order.alpha[at], 0.0) + gamma * p[k - 1 :]
            place = np.where(is_there, at, -1)
        return p

    def given(self, h: Sequence[int]) -> np.ndarray:
        """Return (V,), P(w | h) of every word w; of h the last n - 1 words count."""
        p, num_words = self.first.copy(), len(self.first)
        for length in range(1, min(len(self.orders), len(h)) + 1):
            context = self._place(h[-length:])
            if context < 0:
                break  # nor is any longer one there
            order = self.orders[length - 1]
            low, high = np.searchsorted(order.keys, [context * num_words, (context + 1) * num_words])
            p *= order.gamma[context]
            p[order.keys[low:high] % num_words] += order.alpha[low:high]
        return p

    def _place(self, words: Sequence[int]) -> int:
        """Return where a k-gram stands among its order, or -1."""
        place = words[0]
        for order, word in zip(self.orders, words[1:], strict=False):
            key = place * len(self.first) + word
            place = int(np.searchsorted(order.keys, key))
            if place == len(order.keys) or order.keys[place] != key:
                return -1
        return place

    @property
    def num_weights(self) -> int:
        """How many different n-grams were counted, of all orders."""
        return len(self.first) + sum(len(order.keys) for order in self.orders)

    def after(self, left: Sequence[int]) -> np.ndarray:
        return self.given(started(left))

    def blank(self, words: Sequence[int], place: int) -> np.ndarray:
        return self.after(words[:place])

    def logs(self, words: np.ndarray) -> np.ndarray:
        with_end = np.concatenate([[SEP], words])  # a text begins as if after another sentence
        found: np.ndarray = np.log(np.maximum(self.probabilities(with_end)[1:], 1e-300))
        return found

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what it counted, in as few bytes as it takes; `from_arrays` takes it back.

        Of each k-gram its last word and its count; of each context how many different words follow it.
        """
        found, num_words = {"counts_1": _small(self.counts)}, len(self.first)
        for k, order in enumerate(self.orders, start=2):
            followers = np.bincount(order.keys // num_words, minlength=len(order.gamma))
            found |= {
                f"words_{k}": _small(order.keys % num_words),
                f"followers_{k}": _small(followers),
                f"counts_{k}": _small(order.counts),
            }
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> NGram:
        """Return the model that `arrays` tells of. Raises: KeyError, ValueError where they do not fit."""
        counts, keys = [arrays["counts_1"].astype(np.int64)], list[np.ndarray]()
        for k in range(2, 2 + sum(name.startswith("words_") for name in arrays)):
            followers = arrays[f"followers_{k}"].astype(np.int64)
            if len(followers) != len(counts[-1]):
                raise ValueError(k)
            context = np.repeat(np.arange(len(followers)), followers)
            keys.append(context * len(counts[0]) + arrays[f"words_{k}"].astype(np.int64))
            counts.append(arrays[f"counts_{k}"].astype(np.int64))
        return cls.of_counts(keys, counts, len(counts[0]))


def _small(counts: np.ndarray) -> np.ndarray:
    """Return whole numbers from 0 on in as few bytes as the largest takes."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
