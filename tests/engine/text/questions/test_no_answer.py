"""The threshold of "no answer": the best on one half of the questions, told on the other."""

from __future__ import annotations

import numpy as np
import pytest

from engine.text.questions.no_answer import choose_threshold


@pytest.mark.parametrize("seed", range(20))
def test_no_other_threshold_is_better_on_the_half_it_is_chosen_on(seed: int) -> None:
    rng = np.random.default_rng(seed)
    differences = np.round(rng.normal(size=60), 1)  # some are equal
    answered, unanswered = rng.random(60), (rng.random(60) < 0.4).astype(float)
    chosen = np.arange(60) % 2 == 0

    def mean(value: float, half: np.ndarray) -> float:
        return float(np.where(differences[half] > value, unanswered[half], answered[half]).mean())

    found = choose_threshold(differences, answered, unanswered, chosen)
    assert found.chosen == pytest.approx(max(mean(value, chosen) for value in np.linspace(-6, 6, 4801)))
    assert found.reported == mean(found.value, ~chosen) and found.at_zero == mean(0.0, ~chosen)
    assert (found.num_chosen, found.num_reported) == (30, 30)


def test_what_is_reported_on_does_not_move_the_threshold() -> None:
    rng = np.random.default_rng(0)
    differences, answered, unanswered = rng.normal(size=40), rng.random(40), rng.random(40)
    chosen = np.arange(40) < 20
    found = choose_threshold(differences, answered, unanswered, chosen)
    answered[~chosen], differences[~chosen] = 1 - answered[~chosen], -differences[~chosen]
    assert choose_threshold(differences, answered, unanswered, chosen).value == found.value


def test_where_every_question_has_an_answer_nearly_no_threshold_withholds_one() -> None:
    differences = np.array([-3.0, -1.0, 2.0, 5.0])
    found = choose_threshold(differences, np.ones(4), np.zeros(4), np.array([True, True, True, False]))
    assert found.value > 2 and found.chosen == 1.0


def test_infinite_differences_and_an_empty_half_are_no_trouble() -> None:
    differences = np.array([np.inf, -1.0])
    found = choose_threshold(differences, np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([True, True]))
    assert found.chosen == 1.0 and found.num_reported == 0 and -1.0 <= found.value < 1e31
