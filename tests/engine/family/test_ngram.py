"""The n-gram: nltk's interpolated Kneser-Ney, a distribution in every context, kept in few bytes."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest

from engine.family.members import SEP
from engine.family.ngram import NGram

V = 40


def text(count: int = 600, seed: int = 3) -> np.ndarray:
    """Return words whose beginning comes again at the end, so that every n-gram has one before it."""
    rng = np.random.default_rng(seed)
    words = rng.zipf(1.5, count) % (V - 5) + 5
    return np.concatenate([words, words[:4]])


class Reference:
    """Interpolated Kneser-Ney as nltk.lm computes it: recursively, by dictionaries, one discount for all."""

    def __init__(self, words: list[int], n: int, discount: float) -> None:
        self.n, self.discount = n, discount
        self.counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for k in range(1, n + 1):
            for begin in range(len(words) - k + 1):
                *context, word = words[begin : begin + k]
                self.counts[tuple(context)][word] += 1

    def continuations(self, word: int, context: tuple[int, ...]) -> tuple[int, int]:
        longer = [
            counts
            for one, counts in self.counts.items()
            if len(one) == len(context) + 1 and one[1:] == context
        ]
        return sum(counts[word] > 0 for counts in longer), sum(
            sum(c > 0 for c in counts.values()) for counts in longer
        )

    def score(self, word: int, context: tuple[int, ...]) -> float:
        if not context:
            count, total = self.continuations(word, ())
            return count / total
        followers = self.counts.get(context)
        if not followers:
            return self.score(word, context[1:])
        if len(context) + 1 == self.n:
            count, total = followers[word], sum(followers.values())
        else:
            count, total = self.continuations(word, context)
        alpha = max(count - self.discount, 0.0) / total
        gamma = self.discount * sum(c > 0 for c in followers.values()) / total
        return alpha + gamma * self.score(word, context[1:])


def test_it_is_interpolated_kneser_ney_as_a_recursive_reference_computes_it() -> None:
    words = text()
    model = NGram.count(words, V, n=3, discounts=(0.0, 0.4, 0.4))
    reference = Reference(words.tolist(), 3, 0.4)
    for context in ((words[5], words[6]), (words[9], 39), (38, words[9]), (words[20],), ()):
        wanted = [reference.score(word, tuple(map(int, context))) for word in range(V)]
        np.testing.assert_allclose(model.given(list(map(int, context))), wanted, rtol=1e-12)


@pytest.mark.slow
def test_it_is_nltks() -> None:
    lm = pytest.importorskip("nltk.lm")
    words = text(300)
    ngrams = [tuple(map(str, words[b : b + k])) for k in (1, 2, 3) for b in range(len(words) - k + 1)]
    theirs = lm.KneserNeyInterpolated(3, discount=0.1)
    theirs.fit([ngrams], vocabulary_text=[str(word) for word in words])
    ours = NGram.count(words, V, n=3, discounts=(0.0, 0.1, 0.1))
    for begin in range(12):
        context = words[begin : begin + 2]
        p = ours.given(context.tolist())
        for word in map(int, np.unique(words)):
            assert p[word] == pytest.approx(theirs.score(str(word), [str(w) for w in context]), rel=1e-9)


def test_every_context_gives_a_distribution_also_one_never_seen() -> None:
    model = NGram.count(text(), V)
    for context in ([], [7], [39], [7, 8, 9, 10], [39, 39, 39, 39], text()[10:14].tolist()):
        p = model.given(context)
        assert p.min() > 0.0 and p.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_text_is_scored_at_once_as_word_by_word() -> None:
    model, held_out = NGram.count(text(), V), text(50, seed=4)
    one_by_one = [model.given(held_out[:place].tolist())[word] for place, word in enumerate(held_out)]
    np.testing.assert_allclose(model.probabilities(held_out), one_by_one, rtol=1e-12)
    assert np.exp(model.logs(held_out)[0]) == pytest.approx(model.given([SEP])[held_out[0]])


def test_what_is_kept_gives_the_same_model_and_counts_take_a_byte() -> None:
    model = NGram.count(text(), V)
    arrays = model.arrays()
    again = NGram.from_arrays(arrays)
    np.testing.assert_array_equal(again.given([7, 8, 9]), model.given([7, 8, 9]))
    assert all(array.dtype == np.uint8 for array in arrays.values())
    with pytest.raises(ValueError):
        NGram.from_arrays({**arrays, "followers_3": arrays["followers_3"][:-1]})


@pytest.mark.parametrize("words", [np.array([7]), np.array([7, 8]), np.zeros(0, np.int64)])
def test_a_text_of_a_word_or_none_gives_a_model_too(words: np.ndarray) -> None:
    assert NGram.count(words, V).given([7]).sum() == pytest.approx(1.0)
