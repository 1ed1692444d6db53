"""Intervals and tests equal scipy and statsmodels on random and odd input, and hold what they promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests

from engine.evaluation.statistics import (
    MOST_KINDS,
    SURE,
    TallyTable,
    bca,
    bounded_interval,
    compared,
    compared_hits,
    f1_of,
    holm,
    in_groups,
    interval_of,
    mcnemar,
    mean_f1_of,
    over_seeds,
    pearson_of,
    share_interval,
    share_of,
)
from engine.train.metrics import wilson_interval


def of_pairs(truth: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return (E, 6), what pairs of numbers add to a correlation."""
    return np.stack([truth, found, truth**2, found**2, truth * found, np.ones(len(truth))], 1)


def of_classes(truth: np.ndarray, found: np.ndarray, size: int) -> np.ndarray:
    """Return (E, 3 * size), what answers add to the F1 of each class."""
    labels = np.arange(size)
    answered, true = found[:, None] == labels, truth[:, None] == labels
    parts = answered & true, answered, true
    return np.stack(parts, 2).reshape(len(truth), -1).astype(float)


def exact(hits: int, count: int) -> tuple[float, float]:
    """Return scipy's interval of a share by Clopper and Pearson."""
    if not count:
        return 0.0, 1.0
    return tuple(stats.binomtest(int(hits), count).proportion_ci(method="exact"))


@pytest.mark.parametrize("seed", range(5))
def test_scores_from_sums_are_those_of_scikit_learn_and_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, found = rng.integers(0, 4, (2, 60))
    columns = of_classes(truth, found, 5)
    assert mean_f1_of(columns.sum(0)) == pytest.approx(metrics.f1_score(truth, found, average="macro"))
    one = np.stack([(truth == 1) & (found == 1), found == 1, truth == 1], 1).astype(float)
    assert f1_of(one.sum(0)) == pytest.approx(metrics.f1_score(truth == 1, found == 1, zero_division=0.0))
    x, y = rng.normal(size=(2, 30))
    assert pearson_of(of_pairs(x, y).sum(0)) == pytest.approx(stats.pearsonr(x, y).statistic)


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_of_given_draws_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.exponential(size=25 + seed)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=999, method="BCa", rng=rng)
    without = (values.sum() - values) / (len(values) - 1)
    low, high = bca(values.mean(), theirs.bootstrap_distribution, without) or (0.0, 0.0)
    assert (low, high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-12)


@pytest.mark.parametrize("name", ["share", "f1", "pearson", "mean f1"])
def test_the_interval_of_a_score_is_that_of_scipy_up_to_its_draws(name: str) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 200)
    found = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200))
    x = rng.normal(size=120)
    y = 0.6 * x + rng.normal(size=120)
    columns, score = {
        "share": (np.stack([truth == found, np.ones(200)], 1), share_of),
        "f1": (np.stack([(truth == 1) & (found == 1), found == 1, truth == 1], 1), f1_of),
        "pearson": (of_pairs(x, y), pearson_of),
        "mean f1": (of_classes(truth, found, 3), mean_f1_of),
    }[name]
    columns = np.asarray(columns, float)

    def of_rows(places: np.ndarray, axis: int = -1) -> np.ndarray:
        return score(columns[places].sum(-2))

    every = np.arange(len(columns))
    theirs = stats.bootstrap((every,), of_rows, n_resamples=9999, method="BCa", rng=np.random.default_rng(1))
    ours = interval_of(TallyTable.of(columns), score)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.012)


def test_resampling_by_group_takes_whole_groups() -> None:
    rng = np.random.default_rng(0)
    hits = np.repeat(rng.random(100) < 0.8, 5)
    columns, groups = np.stack([hits, np.ones(500)], 1), np.repeat(np.arange(100), 5)
    apart = interval_of(TallyTable.of(columns), share_of)
    together = interval_of(TallyTable.of(columns, groups), share_of)
    alone = interval_of(TallyTable.of(columns[::5]), share_of)
    assert apart is not None and together is not None and alone is not None
    assert together[1] - together[0] > 1.8 * (apart[1] - apart[0])
    assert together == pytest.approx(alone, abs=0.01)
    assert share_interval(hits.sum(), 500) == wilson_interval(hits.sum(), 500)
    assert share_interval(hits.sum(), 500, columns, np.arange(500)) == wilson_interval(hits.sum(), 500)
    by_group = share_interval(hits.sum(), 500, columns, groups)
    assert by_group == pytest.approx(together, abs=0.012)
    assert by_group == pytest.approx(exact(hits[::5].sum(), 100), abs=0.012)


def test_sums_by_group_take_any_names() -> None:
    found = in_groups(np.array([[1.0], [2.0], [4.0]]), np.array(["b", "a", "b"]))
    assert found.tolist() == [[2.0], [5.0]]


def test_many_texts_have_the_interval_of_their_error() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=MOST_KINDS + 1000)
    y = 0.5 * x + rng.normal(size=len(x))
    found = interval_of(TallyTable.of(of_pairs(x, y)), pearson_of)
    theirs = stats.pearsonr(x, y).confidence_interval()
    assert found == pytest.approx((theirs.low, theirs.high), abs=5e-4)


@pytest.mark.parametrize("hits", [[], [1], [0], [1, 1, 1], [0, 0]])
def test_texts_without_spread_have_the_interval_of_a_share(hits: list[int]) -> None:
    columns = np.stack([np.array(hits, float), np.ones(len(hits))], 1)
    tallies = TallyTable.of(columns)
    assert interval_of(tallies, share_of) is None
    assert bounded_interval(tallies, share_of) == pytest.approx(exact(sum(hits), len(hits)))


@given(st.integers(0, 400), st.integers(0, 400))
@given_settings(max_examples=60, deadline=None)
def test_mcnemar_is_that_of_statsmodels(first: int, second: int) -> None:
    theirs = their_mcnemar([[7, first], [second, 11]], exact=True).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(theirs)


@given(st.lists(st.floats(0, 1), max_size=12))
@given_settings(max_examples=40, deadline=None)
def test_holm_is_that_of_statsmodels(found: list[float]) -> None:
    theirs = multipletests(found, method="holm")[1].tolist() if found else []
    assert holm(found).tolist() == pytest.approx(theirs)


def test_equal_answers_are_no_difference_as_far_as_so_few_texts_tell() -> None:
    hits = np.random.default_rng(0).random(50) < 0.8
    found = compared_hits(hits, hits)
    assert (found.value, found.p_value, found.is_sure) == (0.0, 1.0, False)
    most = wilson_interval(0, 50)[1]
    assert found.interval == pytest.approx((-most, most))
    nothing = compared_hits([], [])
    assert (nothing.value, nothing.interval, nothing.p_value) == (0.0, None, 1.0)
    one = compared_hits([True], [False])
    assert (one.value, one.interval, one.p_value, one.only_first) == (-1.0, None, 1.0, 1)
    other = compared_hits([False] * 12, [True] * 12)
    assert other.value == 1.0 and other.is_sure and other.interval is not None
    assert 0.4 < other.interval[0] < 0.5 and other.interval[1] == 1.0  # of 12 texts, not of all there are


@given(st.data(), st.integers(2, 40))
@given_settings(max_examples=150, deadline=None)
def test_what_is_called_a_difference_has_an_interval_without_nothing(data: st.DataObject, count: int) -> None:
    """By McNemar's test and by groups, of shares and of F1: verdict and interval are one thing."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    lean = data.draw(st.floats(0, 1))
    one, other = rng.random(count) < 0.5, rng.random(count) < lean
    groups = rng.integers(0, max(2, count // 3), count) if data.draw(st.booleans()) else None
    adds = [np.stack([hits, hits + rng.integers(0, 2, count), np.ones(count)], 1) for hits in (one, other)]
    for found in (compared_hits(one, other, groups), compared(adds[0], adds[1], f1_of, groups)):
        assert found.interval is not None or not found.is_sure
        if found.interval is not None:
            low, high = found.interval
            assert low <= found.value <= high and found.is_sure == (low > 0 or high < 0)


def test_the_interval_of_a_difference_is_that_of_scipy() -> None:
    rng = np.random.default_rng(5)
    one, other = rng.random((2, 300)) < np.array([[0.8], [0.86]])
    found = compared_hits(one, other)
    apart = other.astype(float) - one
    theirs = stats.bootstrap((apart,), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(1))
    assert found.value == pytest.approx(apart.mean())
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval), abs=0.008)
    assert (found.only_first, found.only_second) == (int((one & ~other).sum()), int((other & ~one).sum()))
    assert found.p_value == stats.binomtest(found.only_first, found.only_first + found.only_second).pvalue


def equally_good(rng: np.random.Generator, count: int, gain: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return where two classifiers are right: hard texts are so for both, the second gains."""
    ease = rng.beta(6, 0.8, count)
    return rng.random(count) < ease, rng.random(count) < np.minimum(1.0, ease + gain)


@pytest.mark.slow
def test_equally_good_classifiers_are_called_different_in_at_most_5_percent() -> None:
    rng = np.random.default_rng(0)
    told = [compared_hits(*equally_good(rng, 2000)).is_sure for _ in range(200)]
    assert sum(told) <= 10


@pytest.mark.slow
def test_a_score_of_sums_is_called_different_by_chance_in_about_5_percent() -> None:
    rng = np.random.default_rng(1)
    told = 0
    for _ in range(80):
        true = rng.poisson(2, 300) + 1
        one, other = rng.binomial(true, 0.8), rng.binomial(true, 0.8)
        columns = [np.stack([hits, true, true], 1) for hits in (one, other)]
        told += compared(columns[0], columns[1], f1_of).is_sure
    assert told <= 9  # 4 are due; more than 9 would come once in 100


@pytest.mark.slow
def test_a_difference_of_3_points_on_2000_rows_is_seen() -> None:
    rng = np.random.default_rng(2)
    seen = 0
    for _ in range(100):
        shared = rng.random(2000)
        one, other = shared < 0.88, (shared < 0.86) | ((shared > 0.88) & (shared < 0.93))
        found = compared_hits(one, other)
        seen += found.is_sure and found.value > 0 and found.interval is not None and found.interval[0] > 0
    assert seen >= 95


@pytest.mark.slow
def test_the_interval_of_f1_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(200):
        truth = rng.random(150) < 0.3
        found = np.where(rng.random(150) < 0.85, truth, ~truth)
        columns = np.stack([truth & found, found, truth], 1).astype(float)
        low, high = bounded_interval(TallyTable.of(columns), f1_of)
        held += low <= 2 * 0.255 / (0.3 + 0.255 + 0.105) <= high
    assert 180 <= held <= 199


def test_seeds_are_compared_in_pairs() -> None:
    first, second = [0.80, 0.82, 0.79, 0.81], [0.83, 0.84, 0.80, 0.85]
    found = over_seeds(first, second)
    theirs = stats.ttest_rel(second, first)
    assert found.mean == pytest.approx(0.025) and found.p_value == pytest.approx(theirs.pvalue)
    assert found.interval == pytest.approx(tuple(theirs.confidence_interval()), rel=1e-4)
    assert (found.higher, found.lower, found.sign) == (4, 0, pytest.approx(0.125))
    one = over_seeds([0.5], [0.6])
    assert one.interval is None and one.p_value is None and one.sign == 1.0
    same = over_seeds([0.5, 0.6, 0.7], [0.5, 0.6, 0.7], rows=100)
    assert same.p_value == 1.0 and (same.higher, same.lower) == (0, 0)
    with pytest.raises(ValueError):
        over_seeds([], [])


def test_seeds_that_tie_are_never_certain() -> None:
    """A score of 100 rows moves in steps of 0.01, so equal differences lie up to half a step apart."""
    two = over_seeds([0.80, 0.82], [0.82, 0.84], rows=100)
    assert two.mean == pytest.approx(0.02) and two.interval is None and two.p_value is None
    unknown = over_seeds([0.80, 0.82, 0.81], [0.82, 0.84, 0.83])
    assert unknown.interval is None and unknown.p_value is None
    tied = over_seeds([0.80, 0.82, 0.81], [0.81, 0.83, 0.82], rows=100)
    assert tied.p_value is not None and tied.p_value > 0.01
    assert tied.interval is not None and tied.interval[0] < 0.01 < tied.interval[1]


@pytest.mark.slow
def test_equally_good_ways_of_three_seeds_that_often_tie_are_rarely_called_different() -> None:
    """Scores of 50 rows: two ways tie in all three differences in 1 of 40 cases."""
    rng = np.random.default_rng(0)
    called = 0
    for _ in range(2000):
        found = over_seeds(*(rng.binomial(50, 0.9, (2, 3)) / 50), rows=50)
        called += found.p_value is not None and found.p_value < SURE
    assert called <= 0.055 * 2000


def held(truth: float, found: list[tuple[float, float]]) -> tuple[float, float]:
    """Return how often intervals hold the truth, and how wide they are on average."""
    low, high = np.array(found).T
    return float(((low <= truth + 1e-12) & (truth <= high + 1e-12)).mean()), float((high - low).mean())


@pytest.mark.parametrize("right", [0.9, 0.5, 1.0, 0.0])
@pytest.mark.parametrize(("support", "widest"), [(3, 0.85), (5, 0.75), (10, 0.6), (25, 0.4), (50, 0.3)])
def test_the_f1_of_a_rare_class_is_in_its_interval(right: float, support: int, widest: float) -> None:
    """Precision and recall of a class of so many among 1,000 texts; all right and never right, too."""
    rng = np.random.default_rng(support)
    kinds = np.array([[1, 1, 1], [0, 1, 0], [0, 0, 1]], np.float64)
    wrongly = support * (1 - right) if right else support
    found = []
    for _ in range(600):
        true = rng.binomial(1000, support / 1000)
        hits, answered = rng.binomial(true, right), rng.binomial(1000 - true, wrongly / 1000)
        found.append(bounded_interval(TallyTable(kinds, np.array([hits, answered, true - hits])), f1_of))
    share, width = held(2 * right / (2 * right + 1 - right + wrongly / support), found)
    assert share >= 0.93 and width < widest


@pytest.mark.parametrize("count", [5, 10, 20, 30, 100])
@pytest.mark.parametrize("how", ["copies", "alike", "of all sizes"])
def test_the_accuracy_of_few_groups_is_in_its_interval(count: int, how: str) -> None:
    """Groups of copies, all right or all wrong; of texts alike, right more or less often; of other sizes."""
    rng = np.random.default_rng(count)
    for share in (0.6, 0.8, 0.95):
        found = []
        for _ in range(300):
            size = rng.integers(1, 10, count) if how == "of all sizes" else np.full(count, 5)
            ease = (
                rng.beta(2 * share, 2 * (1 - share), count) if how == "alike" else rng.random(count) < share
            )
            hits = rng.binomial(size, ease)
            found.append(bounded_interval(TallyTable.of(np.stack([hits, size], 1)), share_of))
        assert held(share, found)[0] >= 0.93


@pytest.mark.parametrize(("classes", "rows"), [(2, 200), (6, 100), (20, 100), (20, 1000)])
def test_the_mean_f1_is_in_its_interval(classes: int, rows: int) -> None:
    """Classes of few texts are right by chance, and F1 of few is too low on average."""
    rng = np.random.default_rng(classes)
    found = []
    for _ in range(300):
        true = rng.integers(0, classes, rows)
        answered = np.where(rng.random(rows) < 0.9, true, (true + rng.integers(1, classes, rows)) % classes)
        found.append(bounded_interval(TallyTable.of(of_classes(true, answered, classes)), mean_f1_of))
    share, width = held(0.9, found)
    assert share >= 0.93 and width < 0.22


@pytest.mark.slow
@pytest.mark.parametrize("count", [20, 50])
def test_the_f1_of_rare_entities_is_in_its_interval(count: int) -> None:
    rng = np.random.default_rng(count)
    for rate in (0.2, 2.0):
        for right in (1.0, 0.9):
            found = []
            for _ in range(400):
                true = rng.poisson(rate, count)
                hits = rng.binomial(true, right)
                answered = hits + rng.poisson(rate * (1 - right), count)
                found.append(bounded_interval(TallyTable.of(np.stack([hits, answered, true], 1)), f1_of))
            assert held(right, found)[0] >= 0.93


@pytest.mark.parametrize("count", [5, 10, 20])
@pytest.mark.parametrize("likeness", [0.0, 0.6])
def test_equally_good_models_on_few_groups_are_rarely_called_different(count: int, likeness: float) -> None:
    rng = np.random.default_rng(count)
    called = 0
    for _ in range(500):
        groups = np.repeat(np.arange(count), rng.integers(1, 6, count))
        ease = rng.random(count)
        other = np.where(rng.random(count) < likeness, ease, rng.random(count))
        called += compared_hits((ease < 0.7)[groups], (other < 0.7)[groups], groups).is_sure
    assert called <= 0.06 * 500


def test_nothing_warns_on_odd_input() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for columns in (np.zeros((3, 2)), np.zeros((0, 2)), np.ones((1, 2))):
            bounded_interval(TallyTable.of(columns), share_of)
            compared(columns, columns, share_of)
        assert pearson_of(of_pairs(np.ones(4), np.arange(4.0)).sum(0)) == 0.0
