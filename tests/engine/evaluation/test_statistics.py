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
    Tallies,
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
    ours = interval_of(Tallies.of(columns), score)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.012)


def test_resampling_by_group_takes_whole_groups() -> None:
    rng = np.random.default_rng(0)
    hits = np.repeat(rng.random(100) < 0.8, 5)
    columns, groups = np.stack([hits, np.ones(500)], 1), np.repeat(np.arange(100), 5)
    apart = interval_of(Tallies.of(columns), share_of)
    together = interval_of(Tallies.of(columns, groups), share_of)
    alone = interval_of(Tallies.of(columns[::5]), share_of)
    assert apart is not None and together is not None and alone is not None
    assert together[1] - together[0] > 1.8 * (apart[1] - apart[0])
    assert together == pytest.approx(alone, abs=0.01)
    assert share_interval(hits.sum(), 500) == wilson_interval(hits.sum(), 500)
    assert share_interval(hits.sum(), 500, columns, np.arange(500)) == wilson_interval(hits.sum(), 500)
    assert share_interval(hits.sum(), 500, columns, groups) == together


def test_sums_by_group_take_any_names() -> None:
    found = in_groups(np.array([[1.0], [2.0], [4.0]]), np.array(["b", "a", "b"]))
    assert found.tolist() == [[2.0], [5.0]]


def test_many_texts_have_the_interval_of_their_error() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=MOST_KINDS + 1000)
    y = 0.5 * x + rng.normal(size=len(x))
    found = interval_of(Tallies.of(of_pairs(x, y)), pearson_of)
    theirs = stats.pearsonr(x, y).confidence_interval()
    assert found == pytest.approx((theirs.low, theirs.high), abs=5e-4)


@pytest.mark.parametrize("hits", [[], [1], [0], [1, 1, 1], [0, 0]])
def test_texts_without_spread_have_the_interval_of_a_share(hits: list[int]) -> None:
    columns = np.stack([np.array(hits, float), np.ones(len(hits))], 1)
    tallies = Tallies.of(columns)
    assert interval_of(tallies, share_of) is None
    assert bounded_interval(tallies, share_of) == wilson_interval(sum(hits), len(hits))


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


def test_equal_answers_are_no_difference() -> None:
    hits = np.random.default_rng(0).random(50) < 0.8
    found = compared_hits(hits, hits)
    assert (found.value, found.interval, found.p_value, found.is_sure) == (0.0, (0.0, 0.0), 1.0, False)
    nothing = compared_hits([], [])
    assert (nothing.value, nothing.interval, nothing.p_value) == (0.0, None, 1.0)
    one = compared_hits([True], [False])
    assert (one.value, one.interval, one.p_value, one.only_first) == (-1.0, None, 1.0, 1)
    other = compared_hits([False] * 12, [True] * 12)
    assert other.value == 1.0 and other.interval == (1.0, 1.0) and other.is_sure


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
        low, high = bounded_interval(Tallies.of(columns), f1_of)
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
    same = over_seeds([0.5, 0.6], [0.5, 0.6])
    assert same.p_value == 1.0 and (same.higher, same.lower) == (0, 0)
    with pytest.raises(ValueError):
        over_seeds([], [])


def test_nothing_warns_on_odd_input() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for columns in (np.zeros((3, 2)), np.zeros((0, 2)), np.ones((1, 2))):
            bounded_interval(Tallies.of(columns), share_of)
            compared(columns, columns, share_of)
        assert pearson_of(of_pairs(np.ones(4), np.arange(4.0)).sum(0)) == 0.0
