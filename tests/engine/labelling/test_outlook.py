"""What more labels would bring: the power law, the interval, and where nothing is told."""

from __future__ import annotations

import numpy as np
import pytest

from engine.events import result_of
from engine.labelling.outlook import PARTS, followed, foretold, told
from engine.train.ways.regression import standardized
from tests.engine.labelling.test_labelling import clouds


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_curve_that_follows_a_power_is_continued_exactly(power: float) -> None:
    sizes = PARTS * 160
    curve = 0.9 - 3 * sizes**-power
    gain = 3 * (200.0**-power - 260.0**-power)
    assert followed(curve[None], sizes, 200, 260)[0] == pytest.approx(gain, rel=1e-6)


def test_a_curve_that_falls_promises_nothing() -> None:
    assert followed(np.array([[0.9, 0.8, 0.8, 0.7]]), PARTS * 80, 100, 160)[0] == 0


def test_more_labels_hardly_help_where_none_of_the_last_changed_an_answer() -> None:
    flat = np.repeat((np.arange(120) < 114)[None].astype(float), 4, axis=0)
    found = told(flat, 480)
    assert found is not None and found.is_little and found.low < 0 < found.high
    steep = np.stack([np.arange(120) < count for count in (60, 80, 95, 105)]).astype(float)
    rising = told(steep, 120)
    assert rising is not None and not rising.is_little and rising.low > 0


def test_a_small_or_undecided_sample_tells_nothing() -> None:
    vectors, targets = clouds(60, 2)
    places = np.arange(60)
    assert result_of(foretold(standardized(vectors), places, targets, places[:19], 10.0)) is None
    rng = np.random.default_rng(0)
    assert told(rng.integers(0, 2, (4, 20)).astype(float), 40) is None


def test_the_same_labels_are_told_the_same() -> None:
    vectors, targets = clouds(400, 2, seed=3)
    known, places = standardized(vectors), np.arange(300)
    once, again = (result_of(foretold(known, places, targets[:300], places[:100], 10.0)) for _ in range(2))
    assert once == again and once is not None and once.low < once.high
