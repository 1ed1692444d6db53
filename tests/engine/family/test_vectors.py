"""GloVe against a direct calculation; CBOW and skip-gram are gensim's, with a loss of their own."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from engine.family import glove
from engine.family.members import NUM_SPECIALS, SEP, UNK
from engine.family.word2vec import NEGATIVES, WINDOW, HeldOutPlaces, Word2Vec

V, D = 20, 6


def words(count: int = 300, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    drawn = rng.integers(NUM_SPECIALS, V, count)
    drawn[rng.random(count) < 0.1] = SEP
    drawn[rng.random(count) < 0.05] = UNK
    return drawn.astype(np.int32)


def model(seed: int = 1) -> glove.GloVe:
    rng = np.random.default_rng(seed)
    w, w_out = rng.normal(0, 0.5, (2, V, D))
    b, b_out = rng.normal(0, 0.5, (2, V))
    return glove.GloVe(w, w_out, b, b_out)


def test_cooccurrences_are_counted_as_one_by_the_distance_within_a_sentence_without_unknown_words() -> None:
    text, wanted = words(), Counter[tuple[int, int]]()
    for sentence in np.split(text, np.flatnonzero(text == SEP)):
        known = sentence[sentence >= NUM_SPECIALS].tolist()
        for i, j in combinations(range(len(known)), 2):
            if j - i <= glove.WINDOW:
                wanted[known[i], known[j]] += 1 / (j - i)
                wanted[known[j], known[i]] += 1 / (j - i)
    X = glove.cooccurrences(text, V).toarray()  # noqa: N806
    assert X.sum() > 100.0
    for i in range(V):
        for j in range(V):
            assert X[i, j] == pytest.approx(wanted[i, j]), (i, j)


def test_gloves_loss_and_gradients_are_those_of_a_direct_calculation() -> None:
    one = model()
    X = glove.cooccurrences(words(), V).tocoo()  # noqa: N806
    i, j, x = X.row, X.col, 40 * X.data

    def direct() -> float:
        total = 0.0
        for a, b, count in zip(i, j, x, strict=True):
            weight = (count / 100.0) ** 0.75 if count < 100.0 else 1.0
            total += weight * (one.w[a] @ one.w_out[b] + one.b[a] + one.b_out[b] - np.log(count)) ** 2
        return total

    loss, gradients = one.gradients(i, j, x)
    assert loss == pytest.approx(direct(), rel=1e-9) and one.loss(i, j, x) == pytest.approx(loss)
    for weight, gradient in zip(one.weights, gradients, strict=True):
        for place in ((7, 2), (11, 0)) if weight.ndim == 2 else ((7,), (11,)):
            before, small = weight[place], 1e-5
            weight[place] = before + small
            up = direct()
            weight[place] = before - small
            down = direct()
            weight[place] = before
            assert gradient[place] == pytest.approx((up - down) / (2 * small), rel=1e-4)


def test_adagrad_divides_by_the_root_of_all_squares_so_far_and_goes_down() -> None:
    one = model()
    X = glove.cooccurrences(words(), V).tocoo()  # noqa: N806
    descent = glove.AdaGrad(one, rate=0.1)
    _, gradients = one.gradients(X.row, X.col, X.data)
    before = one.w.copy()
    descent.step(X.row, X.col, X.data)
    np.testing.assert_allclose(one.w, before - 0.1 * gradients[0], rtol=1e-5)  # the squares begin at 1
    np.testing.assert_allclose(descent.squares[0], 1 + gradients[0] ** 2, rtol=1e-5)
    losses = [descent.step(X.row, X.col, X.data) for _ in range(30)]
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("is_skipgram", [False, True])
def test_the_held_out_loss_is_negative_samplings_on_one_fixed_sample(is_skipgram: bool) -> None:
    rng = np.random.default_rng(0)
    one = Word2Vec(*rng.normal(0, 0.5, (2, V, D)))
    text = words(400)
    counts = np.bincount(text, minlength=V)
    sample = HeldOutPlaces.of(text, counts)

    def log_sigma(x: float) -> float:
        return -float(np.log1p(np.exp(-x)))

    each = []
    for word, around, drawn in zip(sample.words, sample.around, sample.drawn, strict=True):
        known = [int(neighbour) for neighbour in around if neighbour >= 0]
        inputs = (
            [one.v[n] for n in known] if is_skipgram else [sum(one.v[n] for n in known) / max(1, len(known))]
        )
        for h in inputs:
            each.append(-log_sigma(h @ one.v_out[word]) - sum(log_sigma(-(h @ one.v_out[n])) for n in drawn))
    assert sample.loss(one, is_skipgram) == pytest.approx(np.mean(each), rel=1e-6)
    assert sample.drawn.shape[1] == NEGATIVES and sample.around.shape[1] == 2 * WINDOW
    assert (sample.drawn >= NUM_SPECIALS).all() and (sample.words >= NUM_SPECIALS).all()
    np.testing.assert_array_equal(HeldOutPlaces.of(text, counts).drawn, sample.drawn)


@pytest.mark.parametrize("is_skipgram", [False, True])
def test_the_vectors_are_gensims_in_the_order_of_the_vocabulary(is_skipgram: bool) -> None:
    models = pytest.importorskip("gensim.models", reason="gensim is not installed")
    from engine.family.word2vec import ALPHA, LEAST_ALPHA, Gensim

    text = words(2000)
    counts = np.bincount(text, minlength=V)
    ours = Gensim(is_skipgram, counts, D, seed=3)
    ours.learn(text, 0.0, 1.0)
    sentences = [
        [str(word) for word in part if word >= NUM_SPECIALS]
        for part in np.split(text, np.flatnonzero(text == SEP))
    ]
    theirs = models.Word2Vec(
        vector_size=D, window=WINDOW, negative=NEGATIVES, sg=int(is_skipgram), min_count=1, workers=1, seed=3
    )
    theirs.build_vocab_from_freq({str(word): int(counts[word]) for word in range(NUM_SPECIALS, V)})
    kept = [sentence for sentence in sentences if len(sentence) > 1]
    theirs.train(kept, total_examples=len(kept), epochs=1, start_alpha=ALPHA, end_alpha=LEAST_ALPHA)
    made = ours.model()
    for word in range(NUM_SPECIALS, V):
        np.testing.assert_array_equal(made.v[word], theirs.wv[str(word)])
    assert not made.v[:NUM_SPECIALS].any()
    again = Gensim(is_skipgram, counts, D, seed=3)
    again.take(made)
    np.testing.assert_array_equal(again.model().v_out, made.v_out)
