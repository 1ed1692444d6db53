"""Few labels: the regression against scikit-learn, the order of texts, the sample, shares with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import ThreadpoolController

from engine.errors import DataError
from engine.events import result_of
from engine.labelling.features import features
from engine.labelling.order import LIKE, NUM_SPREAD, RANDOM, SPREAD, LabelOrder
from engine.labelling.prevalence import most_likely, prevalence
from engine.labelling.simulate import simulate
from engine.train.ways.regression import _one_thread, chosen_strength, fit, folds_of, held_out, standardized


def clouds(count: int, labels: int, width: int = 24, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of overlapping clouds, one for each label."""
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, labels, count)
    middles = rng.normal(0, 1.2, (labels, width))
    return (middles[targets] + rng.normal(0, 1.5, (count, width))).astype(np.float32), targets


@pytest.mark.parametrize(("count", "labels"), [(12, 2), (12, 3), (200, 2), (200, 4)])
def test_the_regression_is_scikit_learns_whether_or_not_there_are_fewer_texts_than_numbers(
    count: int, labels: int
) -> None:
    vectors, targets = clouds(count + 50, labels)
    known = standardized(vectors)
    peer = LogisticRegression(C=3.0, max_iter=5000, tol=1e-8).fit(
        known[:count].astype(float), targets[:count]
    )
    found = fit(known[:count], targets[:count], 3.0).probabilities(known[count:], labels)
    assert np.abs(found - peer.predict_proba(known[count:].astype(float))).max() < 2e-3


def test_fits_under_way_share_one_thread_and_the_last_gives_all_back() -> None:
    pools = ThreadpoolController().select(user_api="blas")
    with pools.limit(limits=3):
        with _one_thread():
            with _one_thread():
                pass
            assert {one["num_threads"] for one in pools.info()} == {1}
        assert {one["num_threads"] for one in pools.info()} == {3}


def test_a_label_that_nobody_has_given_yet_has_no_probability() -> None:
    vectors, targets = clouds(40, 2)
    found = fit(standardized(vectors), 2 * targets).probabilities(standardized(vectors), 4)
    assert (found[:, [1, 3]] == 0).all() and np.allclose(found.sum(1), 1)
    alone = fit(standardized(vectors), np.full(40, 3)).probabilities(standardized(vectors), 4)
    assert (alone[:, 3] == 1).all()


def test_held_out_answers_of_labels_without_meaning_are_at_chance() -> None:
    vectors = standardized(clouds(400, 2)[0])
    targets = np.random.default_rng(5).integers(0, 2, 400)
    hits = held_out(vectors, targets, 2, 10.0, 0).argmax(1) == targets
    assert 0.4 < hits.mean() < 0.6
    assert (fit(vectors, targets, 1e4).probabilities(vectors, 2).argmax(1) == targets).mean() > 0.6


def test_each_label_is_spread_evenly_over_the_folds() -> None:
    targets = np.array([0] * 11 + [1] * 7 + [2])
    folds = folds_of(targets, 3)
    for label in range(3):
        counts = np.bincount(folds[targets == label], minlength=5)
        assert counts.max() - counts.min() <= 1


def test_noise_is_regularised_more_than_what_can_be_told_apart() -> None:
    rng = np.random.default_rng(1)
    noise, easy = rng.normal(0, 1, (120, 30)).astype(np.float32), clouds(120, 2, 30)
    labels = rng.integers(0, 2, 120)
    middles = np.where(easy[1][:, None] > 0, 2.5, -2.5) * np.ones(30)
    apart = (middles + rng.normal(0, 1, (120, 30))).astype(np.float32)
    assert chosen_strength(standardized(noise), labels, 2) < chosen_strength(standardized(apart), easy[1], 2)


def test_the_first_texts_are_spread_and_one_in_four_is_drawn_at_random() -> None:
    vectors, targets = clouds(300, 6, seed=2)
    order, labelled, why = LabelOrder(standardized(vectors), seed=4), list[int](), list[str]()
    for _ in range(60):
        likely = None
        if len(labelled) >= NUM_SPREAD:
            known = standardized(vectors)
            likely = fit(known[labelled], targets[labelled]).probabilities(known, 6)
        choice = order.next(labelled, likely)
        assert choice is not None
        labelled.append(choice.place)
        why.append(choice.why)
    assert len(set(labelled)) == 60
    assert why.count(RANDOM) == 15
    assert set(why[:NUM_SPREAD]) == {SPREAD, RANDOM}
    assert len(set(targets[labelled[:NUM_SPREAD]])) == 6  # no label is missed


def test_the_next_text_depends_on_the_labels_alone_so_that_taking_one_back_leads_there_again() -> None:
    known = standardized(clouds(100, 3)[0])
    order = LabelOrder(known, seed=1)
    first = [order.next([], None)]
    given = [first[0].place] if first[0] else []
    second = order.next(given, None)
    assert LabelOrder(known, seed=1).next(given, None) == second
    assert order.next([], None) == first[0]


def test_the_same_text_is_chosen_once_and_drawn_at_random_as_often_as_it_is_there() -> None:
    vectors = standardized(clouds(40, 3, seed=2)[0])
    order = LabelOrder(np.repeat(vectors, 3, axis=0), seed=4, same=np.repeat(np.arange(40), 3))
    labelled, why = list[int](), list[str]()
    while (choice := order.next(labelled, None)) is not None:
        labelled.append(choice.place)
        why.append(choice.why)
    assert sorted(labelled) == list(range(120))  # in the end all rows are asked
    first_seen = {place // 3: place for place in reversed(labelled)}
    again = [one for place, one in zip(labelled, why, strict=True) if first_seen[place // 3] != place]
    assert {*again} == {RANDOM} and {*why} > {RANDOM}
    drawn = [place for place, one in zip(labelled, why, strict=True) if one == RANDOM]
    assert drawn == [place for place in order.shuffled.tolist() if place in drawn]  # no row is passed over


def test_another_random_share_in_the_middle_follows_the_same_list_further() -> None:
    order = LabelOrder(standardized(clouds(300, 3, seed=2)[0]), seed=4)
    labelled, why = list[int](), list[str]()
    for number in range(80):
        choice = order.next(labelled, None, random_share=0.25 if number < 40 else 0.5)
        assert choice is not None
        labelled.append(choice.place)
        why.append(choice.why)
    assert (why[:40].count(RANDOM), why[40:].count(RANDOM)) == (10, 20)
    drawn = [place for place, reason in zip(labelled, why, strict=True) if reason == RANDOM]
    sample = order.sample(labelled).tolist()
    assert sample == order.shuffled[: len(sample)].tolist() and {*drawn} <= {*sample}


def test_texts_like_another_are_the_nearest_open_ones_and_take_no_turn() -> None:
    vectors = standardized(clouds(60, 3)[0])
    order = LabelOrder(vectors, seed=1)
    cosines = order.directions @ order.directions[8]
    nearest = [int(place) for place in np.argsort(-cosines) if place != 8]
    found = order.like(8, [nearest[0], nearest[2]])
    assert [choice.place for choice in found] == [nearest[1], *nearest[3:7]]
    assert {choice.why for choice in found} == {LIKE}
    three = [choice.place for choice in found[:3]]
    asked = order.next(three, None, turn=3)  # the fourth turn is one at random, whatever came between
    assert asked is not None and asked.why == RANDOM
    assert order.like(0, list(range(60))) == ()


def test_the_random_sample_is_the_labelled_beginning_of_one_shuffled_list() -> None:
    order = LabelOrder(standardized(clouds(50, 2)[0]), seed=9)
    start = order.shuffled[:7].tolist()
    assert order.sample([*start, int(order.shuffled[9])]).tolist() == start
    assert order.sample(list(range(50))).tolist() == order.shuffled.tolist()


def test_when_every_text_has_a_label_there_is_no_next_one() -> None:
    order = LabelOrder(standardized(clouds(5, 2)[0]))
    assert order.next([0, 1, 2], None, skipped=[3, 4]) is None


def test_a_simulation_asks_for_less_than_the_table_holds() -> None:
    vectors, targets = clouds(40, 2)
    with pytest.raises(DataError, match="the budget can be 39 labels at most"):
        result_of(simulate(vectors, targets, 40))
    made = result_of(simulate(vectors, targets, 30, seed=3))
    assert [count for count, _ in made.curve] == [10, 20, 30]
    assert made == result_of(simulate(vectors, targets, 30, seed=3))


# shares


def test_shares_that_the_counts_leave_no_doubt_of_are_found_exactly() -> None:
    rates = np.array([[[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.0, 0.3, 0.7]]])
    truth = np.array([[0.6, 0.1, 0.3]])
    counted = np.einsum("rc,rca->ra", truth, rates)
    assert np.abs(most_likely(rates, counted) - truth).max() < 1e-3


def test_a_model_that_takes_one_label_for_another_is_corrected() -> None:
    confusion = np.array([[90, 10], [40, 60]])
    found = prevalence(confusion, np.array([500, 500]))
    assert found.counted.tolist() == [0.5, 0.5]
    assert abs(found.shares[0] - 0.2) < 0.02  # 0.9 s + 0.4 (1 - s) = 0.5
    assert found.low[0] < 0.2 < found.high[0]


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.7, 0.95])
def test_intervals_of_shares_cover_the_truth_of_shifted_tables(accuracy: float) -> None:
    rng, covered = np.random.default_rng(0), []
    for number in range(40):
        rates = rng.dirichlet(np.ones(4), 4) * (1 - accuracy)
        rates[np.arange(4), np.arange(4)] += accuracy
        confusion = np.array([rng.multinomial(40, row) for row in rates])
        texts = rng.multinomial(800, rng.dirichlet(np.ones(4)))
        answers = sum(rng.multinomial(count, row) for count, row in zip(texts, rates, strict=True))
        found = prevalence(confusion, np.asarray(answers), number)
        covered += [(found.low <= texts / 800) & (texts / 800 <= found.high)]
    assert np.mean(covered) >= 0.93


def test_spelling_beside_the_vectors_learns_what_no_vector_tells_and_is_the_same_every_time() -> None:
    rng = np.random.default_rng(2)
    targets = rng.integers(0, 2, 200)
    texts = [
        f"{'please refund' if target else 'many thanks'} {rng.integers(1000, 9999)}" for target in targets
    ]
    noise = rng.normal(size=(200, 8)).astype(np.float32)
    known = features(noise, texts)
    assert np.array_equal(known, features(noise, texts)) and known.dtype == np.float32
    right = fit(known[:40], targets[:40]).probabilities(known[40:], 2).argmax(1) == targets[40:]
    assert right.mean() > 0.95
    assert (known[:, :8] == standardized(noise)).all()
    assert np.allclose([(part**2).sum(1).mean() for part in (known[:, :8], known[:, 8:])], 1, atol=1e-3)


@pytest.mark.parametrize("texts", [["a"], ["", ""], ["好", "坏"], ["same text", "same text"]])
def test_texts_with_too_little_in_common_have_the_encoders_vectors_and_nothing_that_is_not_a_number(
    texts: list[str],
) -> None:
    known = features(np.ones((len(texts), 3), np.float32), texts)
    assert len(known) == len(texts) and np.isfinite(known).all()


def test_a_fit_on_as_many_labels_as_texts_is_no_warning() -> None:
    vectors = standardized(clouds(30, 2)[0])
    assert fit(vectors, np.arange(30) % 20).weights.shape == (20, vectors.shape[1])
