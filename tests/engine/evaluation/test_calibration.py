"""Calibration: bins of equal mass, an error that follows from them, a temperature as scikit-learn fits it."""

from __future__ import annotations

import numpy as np
import pytest

from engine.evaluation.calibration import (
    NUM_BINS,
    abstaining,
    bin_places,
    calibration,
    fit_temperature,
    temperature_on_halves,
    tempered,
)
from engine.train.metrics import wilson_interval


def drawn(seed: int, count: int = 600, too_sure: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return (E, 3) probabilities of a model that is too sure by a temperature, and what is right."""
    rng = np.random.default_rng(seed)
    truly = tempered(rng.dirichlet((0.6, 0.6, 0.6), count), 1.0)
    targets = np.array([rng.choice(3, p=row) for row in truly])
    return tempered(truly, 1 / too_sure), targets


def test_bins_have_as_many_texts_as_equal_values_allow() -> None:
    rng = np.random.default_rng(0)
    places = bin_places(rng.random(600))
    assert np.bincount(places).tolist() == [40] * NUM_BINS
    assert bin_places(np.full(7, 0.5)).tolist() == [0] * 7
    assert len(bin_places(np.zeros(0))) == 0
    some = bin_places(np.array([0.5] * 30 + [0.9] * 30))
    assert np.bincount(some).tolist() == [30, 30]


def test_the_error_is_the_mean_distance_of_bins() -> None:
    probabilities, targets = drawn(1, too_sure=2.0)
    sure, right = probabilities.max(1), probabilities.argmax(1) == targets
    found = calibration(sure, right)
    by_hand = 0.0
    for place in np.unique(places := bin_places(sure)):
        own = places == place
        by_hand += own.mean() * abs(right[own].mean() - sure[own].mean())
    assert found.error == pytest.approx(by_hand)
    assert sum(one.count for one in found.bins) == 600 and sum(one.hits for one in found.bins) == right.sum()
    assert all(one.low <= one.confidence <= one.high for one in found.bins)
    assert found.bins[0].interval == wilson_interval(found.bins[0].hits, found.bins[0].count)
    assert found.interval is not None and found.interval[0] < found.error < found.interval[1] + 0.02
    assert found.p_value < 0.01 and found.error > 3 * found.chance


@pytest.mark.slow
def test_a_calibrated_model_shows_no_more_than_chance() -> None:
    rng = np.random.default_rng(2)
    told = 0
    for _ in range(10):
        sure = rng.uniform(0.5, 1.0, 200)
        told += calibration(sure, rng.random(200) < sure).p_value < 0.05
    assert told <= 3


@pytest.mark.parametrize("hits", [[], [True], [True, True, True], [False]])
def test_odd_texts_have_an_error_or_none(hits: list[bool]) -> None:
    found = calibration([0.75] * len(hits), hits)
    assert found.error == pytest.approx(abs(0.75 - np.mean(hits)) if hits else 0.0)
    assert len(found.bins) == min(len(hits), 1)


@pytest.mark.parametrize("seed", range(3))
def test_the_temperature_is_that_of_scikit_learn(seed: int) -> None:
    calibrated = pytest.importorskip("sklearn.calibration")
    if not hasattr(calibrated, "_TemperatureScaling"):
        pytest.skip("this scikit-learn fits none")
    probabilities, targets = drawn(seed, too_sure=2.5)
    theirs = calibrated._TemperatureScaling().fit(np.log(probabilities), targets)
    assert fit_temperature(probabilities, targets) == pytest.approx(1 / theirs.beta_, rel=1e-3)
    assert 1.8 < fit_temperature(probabilities, targets) < 3.3


def test_a_temperature_is_fitted_on_one_half_and_told_on_the_other() -> None:
    found = temperature_on_halves(*drawn(4, too_sure=3.0))
    assert found is not None and found.num_fitted + found.num_shown == 600
    assert (
        found.value > 1.5 and found.loss_after < found.loss_before and found.error_after < found.error_before
    )
    assert temperature_on_halves(*drawn(4, count=20)) is None


def test_answers_stay_what_they_are_at_any_temperature() -> None:
    probabilities, _ = drawn(5, count=50)
    for value in (0.3, 1.0, 7.0):
        assert (tempered(probabilities, value).argmax(1) == probabilities.argmax(1)).all()
    assert tempered(probabilities, 1.0) == pytest.approx(probabilities)


def test_who_abstains_answers_fewer_texts_better() -> None:
    found = abstaining([0.9, 0.8, 0.8, 0.6], [True, True, False, False])
    assert found.threshold.tolist() == [0.9, 0.8, 0.6]
    assert found.coverage.tolist() == [0.25, 0.75, 1.0]
    assert found.accuracy.tolist() == pytest.approx([1.0, 2 / 3, 0.5])
    assert found.at(0.8) == pytest.approx((0.75, 2 / 3)) and found.at(0.85) == (0.25, 1.0)
    assert found.at(0.95) == (0.0, 0.0) and found.at(0.0) == (1.0, 0.5)
    assert found.for_accuracy(0.6) == 1 and found.for_accuracy(1.1) is None
    assert abstaining([], []).at(0.5) == (0.0, 0.0)
