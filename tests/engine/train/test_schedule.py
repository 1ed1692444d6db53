"""How long a run lasts and which learning rate it has on its way, whatever the budget is counted in."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from engine.train.schedule import Budget, Epochs, TimedEpochs, TrainState

STEPS = Budget(steps=200, tokens=0, minutes=0.0, warmup_ratio=0.1, evaluations=7)
TOKENS = replace(STEPS, steps=0, tokens=200 * 37)
MINUTES = replace(STEPS, steps=0, minutes=10.0)


def after(steps: int) -> TrainState:
    """Return where a run is whose steps take 37 tokens and 3 s each."""
    return TrainState(step=steps, tokens=37 * steps, used_s=3.0 * steps)


def rates(budget: Budget) -> list[float]:
    """Return the rate of each of the 200 steps, at a peak of 1."""
    return [budget.learning_rate(step, budget.progress(after(step - 1)), 1.0) for step in range(1, 201)]


@pytest.mark.parametrize("budget", [STEPS, TOKENS, MINUTES], ids=("steps", "tokens", "minutes"))
def test_a_budget_in_steps_tokens_or_minutes_gives_the_same_rates(budget: Budget) -> None:
    assert rates(budget) == pytest.approx(rates(STEPS), abs=1e-6)
    assert [budget.progress(after(step)) for step in (0, 50, 200, 300)] == pytest.approx([0, 0.25, 1, 1])


def test_the_rate_climbs_to_the_peak_over_the_warm_up_and_falls_to_nothing() -> None:
    found = rates(STEPS)
    assert all(one < other for one, other in pairwise(found[:20]))
    assert all(one > other for one, other in pairwise(found[20:]))
    assert max(found) == pytest.approx(1.0, abs=0.03) and found.index(max(found)) in (19, 20)
    assert 0 < found[0] < 0.01 and 0 < found[-1] < 0.01
    assert found[110] == pytest.approx((200 - 110.5) / 180)  # a straight line, seen from a step's middle


@pytest.mark.parametrize(("warmup", "first"), [(0.0, 1.0), (1.0, 1e-4)])
def test_all_or_nothing_may_be_warm_up(warmup: float, first: float) -> None:
    budget = replace(STEPS, warmup_ratio=warmup)
    found = [budget.learning_rate(step, budget.progress(after(step - 1)), 1.0) for step in range(1, 201)]
    assert found[0] == pytest.approx(first, rel=1e-3) and min(found) >= 0 and max(found) <= 1


def evaluated(budget: Budget, steps: list[int]) -> list[int]:
    """Return after which of these steps the held-out text is looked at, each but once."""
    at, found = TrainState(), []
    for step in steps:
        here = after(step)
        at = replace(at, step=here.step, tokens=here.tokens, used_s=here.used_s)
        while budget.is_due(at):
            found.append(step)
            at = replace(
                at,
                evaluated_step=step,
                evaluated_progress=budget.progress(at),
                num_evaluations=at.num_evaluations + 1,
            )
    return found


def test_evaluations_are_spread_evenly_with_one_before_the_first_step_and_one_after_the_last() -> None:
    found = evaluated(replace(STEPS, evaluations=8), list(range(201)))
    assert found == [0, *range(25, 201, 25)]
    assert evaluated(STEPS, list(range(201)))[-1] == 200 and len(evaluated(STEPS, list(range(201)))) == 8


def test_fewer_steps_than_evaluations_give_one_each_and_late_ones_are_not_made_up_for() -> None:
    assert evaluated(replace(STEPS, evaluations=1000), [0, 1, 2, 3]) == [0, 1, 2, 3]
    assert evaluated(MINUTES, [0, 1, 150, 151, 152, 153, 200]) == [0, 150, 200]  # step 150 took half the time


def test_what_remains_is_told_from_the_clock_or_from_the_pace_so_far() -> None:
    assert [STEPS.remaining_s(after(step)) for step in (0, 50, 200)] == pytest.approx([0, 450, 0])
    assert [TOKENS.remaining_s(after(step)) for step in (0, 50, 200)] == pytest.approx([0, 450, 0])
    assert [MINUTES.remaining_s(after(step)) for step in (0, 50, 300)] == pytest.approx([600, 450, 0])
    assert (STEPS.num_steps, TOKENS.num_steps, MINUTES.num_steps) == (200, 0, 0)


def test_epochs_count_steps_and_are_looked_at_after_each_or_every_so_many() -> None:
    epochs = Epochs(steps_per_epoch=9, num_epochs=2, warmup_ratio=0.1)
    at = [TrainState(step=step, elapsed_s=2.0 * step) for step in range(19)]
    assert epochs.num_steps == 18 and [place.step for place in at if epochs.is_due(place)] == [9, 18]
    assert [place.step for place in at if replace(epochs, evaluate_every_steps=7).is_due(place)] == [
        7,
        14,
        18,
    ]
    assert not epochs.is_due(replace(at[9], evaluated_step=9))
    assert epochs.progress(at[9]) == 0.5 and epochs.remaining_s(at[9]) == pytest.approx(18)
    assert epochs.learning_rate(3, 0.0, 1.0) == 1.0 and epochs.learning_rate(18, 0.0, 1.0) == 1 / 16


TIMED = TimedEpochs(steps_per_epoch=80, num_epochs=3, warmup_ratio=0.1, most_steps=200, steps_s=690.0)


def run_at(speeds: list[float]) -> tuple[list[float], float]:
    """Return the rate of each step of TIMED, and its seconds. Args: speeds: of each step, in turn."""
    at, rates = TrainState(), []
    while TIMED.progress(at) < 1.0:
        rates.append(TIMED.learning_rate(at.step + 1, TIMED.progress(at), 1.0))
        at = replace(at, step=at.step + 1, used_s=at.used_s + speeds[min(at.step, len(speeds) - 1)])
    return rates, at.used_s


def test_steps_that_keep_their_pace_are_all_made_and_a_clock_within_the_time_moves_no_rate() -> None:
    found, _ = run_at([3.0])
    assert found == pytest.approx(rates(STEPS), abs=1e-6)
    assert run_at([0.1])[0] == run_at([2.0, 3.4, 0.5])[0] == found


def test_a_machine_that_becomes_slower_ends_in_time_with_its_rate_run_out() -> None:
    found, seconds = run_at([*[3.0] * 100, 9.0])
    assert 690 <= seconds <= 699 and 140 < len(found) < 145
    assert found[-1] < 0.02 and all(one > other for one, other in pairwise(found[20:]))
    assert max(one - other for one, other in pairwise(found[20:])) < 0.03  # no leap where the clock overtakes


def test_a_timed_run_is_looked_at_after_each_epoch_and_after_its_last_step_whatever_ended_it() -> None:
    def is_due(step: int, used_s: float) -> bool:
        return TIMED.is_due(TrainState(step=step, used_s=used_s))

    assert is_due(80, 240.0) and is_due(200, 600.0) and is_due(143, 690.0)
    assert not is_due(143, 600.0) and not is_due(0, 0.0)
