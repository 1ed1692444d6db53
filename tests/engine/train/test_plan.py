"""As much of a fine-tuning as fits into a time: planned from a measured pace, told, kept, run to its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.events import Evaluated, Event, Finished, Noted, Saved, Started, Step
from engine.model.config import BertConfig
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig, TrainingConfig
from engine.train import finetune
from engine.train.finetune import fine_tune, resume
from engine.train.loop import Loop
from engine.train.plan import PLANNED, Pace, Plan, fitted, learned, on_fitted, plan, told
from engine.train.schedule import Epochs
from tests.engine.tiny_runs import losses, outcome, tiny_config
from tests.fakes import tiny_config as tiny_shape

FULL = Epochs(steps_per_epoch=100, num_epochs=2, warmup_ratio=0.1)


def test_so_many_steps_are_planned_as_fit_with_each_look_at_the_validation_rows() -> None:
    pace = Pace(step_s=1.0, evaluation_s=10.0)
    assert pace.seconds(100, 100) == 110 and pace.seconds(101, 100) == 121
    assert pace.steps_within(60, 200, 100) == 50
    assert pace.steps_within(110, 200, 100) == pace.steps_within(120, 200, 100) == 100
    assert pace.steps_within(121, 200, 100) == 101
    assert pace.steps_within(1e9, 200, 100) == 200 and pace.steps_within(3, 200, 100) == 1


@pytest.mark.parametrize(
    ("step_s", "steps", "says"),
    [
        (1.0, 47, "376 of 800 rows, each once: as many as fit into 1 min here, by measurement."),
        (0.3, 170, "Each of 800 rows 1.7 times: as often as fits into 1 min here, by measurement."),
        (0.1, 200, "fits into 1 min here, by measurement: each of 800 rows 2 times."),
    ],
)
def test_a_slower_machine_gets_fewer_rows_and_is_told_why(step_s: float, steps: int, says: str) -> None:
    found = fitted(FULL, 1.0, Pace(step_s, 10 * step_s))
    assert found.num_steps == steps and says in str(
        on_fitted(found, TrainingConfig(batch_size=8, minutes=1.0), 800).sentence
    )
    assert found.steps_s == 60 - 10 * step_s  # until the clock overtakes


def planned(num_labels: int, rows_a_label: int, **values: object) -> Plan:
    """Return the plan of a run on a table of short rows."""
    counts, config = [rows_a_label] * num_labels, with_values(FineTuneConfig(), values)
    num = sum(counts)
    return plan(config, num_examples=num, num_tokens=9 * num, model=tiny_shape(), label_counts=counts)


def test_a_plan_knows_which_ways_are_judged_and_that_this_takes_longer() -> None:
    few, more = planned(2, 32, way="auto"), planned(2, 60, way="auto")
    assert few.ways == ("regression", "tfidf", "contrastive") and few.num_steps == 0
    assert more.ways[-1] == "fine-tuning" and more.num_steps >= 60
    assert few.num_validation == more.num_validation == 0 and few.num_train == 64
    solved = planned(2, 32, way="regression")
    assert solved.num_steps == 0 < solved.num_validation
    assert solved.seconds < planned(2, 32, way="contrastive").seconds < few.seconds < more.seconds
    assert planned(2, 32, way="auto", take="fine-tuning").num_steps >= 60


def test_a_small_table_can_be_given_steps_instead_of_epochs() -> None:
    assert planned(2, 32).num_steps == 6 and planned(2, 32, least_steps=60).num_steps == 60
    assert planned(2, 3200, least_steps=60).num_steps == planned(2, 3200).num_steps


def at_pace(monkeypatch: pytest.MonkeyPatch, pace: Pace) -> None:
    def measured(*_: object) -> object:
        yield from ()
        return pace

    monkeypatch.setattr(finetune, "measure", measured)


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


@pytest.mark.slow
def test_a_run_in_a_time_makes_the_steps_that_it_announced_and_lets_its_rate_run_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_pace(monkeypatch, Pace(step_s=4.0, evaluation_s=1.0))
    events = list(fine_tune(tiny_config(tmp_path, num_epochs=3, minutes=1.0), tmp_path / "run"))
    started = next(event for event in events if isinstance(event, Started))
    made, end = steps(events), events[-1]
    assert started.num_steps == len(made) == 13 and started.steps_per_epoch == 9
    assert made[-1].learning_rate < 0.1 * max(step.learning_rate for step in made)
    assert made[-1].progress == 1.0
    assert [event.step for event in events if isinstance(event, Evaluated)] == [9, 13]
    assert isinstance(end, Finished) and not end.stopped_early
    said = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert any("1.4 times: as often as fits into 1 min here" in one for one in said)
    about = json.loads((tmp_path / "run" / "model" / "cloze.json").read_text())
    assert about["planned_steps"] == 13 and about["planned_s"] == 59.0
    assert about["pace"] == {"step_s": 4.0, "evaluation_s": 1.0}


@pytest.mark.slow
def test_a_run_in_a_time_goes_on_by_its_first_plan_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_pace(monkeypatch, Pace(step_s=4.0, evaluation_s=1.0))
    config = tiny_config(tmp_path, num_epochs=3, minutes=1.0, checkpoint_every_steps=1)
    whole = list(fine_tune(config, tmp_path / "whole"))
    task, before = fine_tune(config, tmp_path / "cut"), list[Event]()
    for event in task:
        before.append(event)
        if isinstance(event, Step) and event.step == 5:
            break
    task.close()
    at_pace(monkeypatch, Pace(step_s=1.0, evaluation_s=1.0))  # it is not measured again
    after = list(resume(tmp_path / "cut"))
    assert losses(before) + losses(after) == losses(whole)
    assert outcome(tmp_path / "cut") == outcome(tmp_path / "whole")


def test_a_plan_that_cannot_be_read_back_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_pace(monkeypatch, Pace(step_s=4.0, evaluation_s=1.0))
    task = fine_tune(tiny_config(tmp_path, num_epochs=3, minutes=1.0), tmp_path / "run")
    for event in task:
        if isinstance(event, Step):
            break
    task.close()
    path = tmp_path / "run" / "setup" / "setup.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "planned_steps": "many"}))
    with pytest.raises(ModelError, match="planned_steps"):
        list(resume(tmp_path / "run"))


@pytest.mark.slow
def test_the_speed_is_measured_on_a_model_that_is_thrown_away(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, num_epochs=2)
    timed = tiny_config(tmp_path, num_epochs=2, minutes=600.0)
    plain = list(fine_tune(config, tmp_path / "plain"))
    found = list(fine_tune(timed, tmp_path / "timed"))
    assert losses(found)[0] == losses(plain)[0]  # the weights are the first ones
    assert len(losses(found)) == len(losses(plain)) == 18
    said = [str(event.sentence) for event in found if isinstance(event, Noted)]
    assert any("fits into 600 min here, by measurement: each of 42 rows 2 times." in one for one in said)


def test_the_forecast_before_a_run_knows_the_time_too(tmp_path: Path) -> None:
    def asked(**changes: object) -> tuple[int, float]:
        config = tiny_config(tmp_path, num_epochs=300, **changes)
        found = plan(config, num_examples=53_000, num_tokens=600_000, model=tiny_shape())
        return found.num_steps, found.seconds

    whole, seconds = asked()
    some, shorter = asked(minutes=seconds / 120)
    assert some < whole / 2 and shorter <= PLANNED * seconds / 2
    assert asked(minutes=seconds) == (whole, seconds)


@pytest.mark.slow
def test_a_run_that_the_clock_ends_says_so_is_measured_there_and_has_the_next_one_measure_kernels_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubted: list[BertConfig] = []
    monkeypatch.setattr("engine.train.finetune.measure_again", doubted.append)
    at_pace(monkeypatch, Pace(step_s=1e-6, evaluation_s=0.0))
    config = tiny_config(tmp_path, num_epochs=10_000, minutes=0.05)
    events = list(fine_tune(config, tmp_path / "run"))
    made, end = steps(events), events[-1]
    assert 0 < len(made) < 90_000 and made[-1].progress > 0.5  # a busy machine may use up the rest at once
    said = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert any(
        one.startswith(f"Training was slower than when it was measured. In the time, {len(made):,} of")
        for one in said
    )
    assert isinstance(end, Finished) and not end.stopped_early
    assert any(isinstance(event, Evaluated) and event.step == len(made) for event in events)
    list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "in-time"))
    assert [one.hidden_size for one in doubted] == [tiny_shape().hidden_size]  # the first run alone


def test_a_run_whose_time_runs_out_while_it_saves_is_measured_where_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_pace(monkeypatch, Pace(step_s=1e-6, evaluation_s=0.0))
    config = tiny_config(tmp_path, num_epochs=1000, minutes=1.0, evaluate_every_steps=10_000)
    save = Loop._save

    def slowly(loop: Loop) -> Saved:
        loop.at.used_s += 60.0 if loop.at.step == 4 else 0.0
        return save(loop)

    monkeypatch.setattr(Loop, "_save", slowly)
    events = list(fine_tune(config, tmp_path / "run"))
    assert [
        event.step for event in events if isinstance(event, Evaluated) and event.split == "validation"
    ] == [4]
    assert isinstance(events[-1], Finished) and events[-1].best_step == 4


def test_a_run_of_a_busy_computer_is_told_as_a_range_that_holds_how_long_it_takes() -> None:
    first = told(55.0, busy=2.25)  # as it was seen: told 55 s, took 3 min at a load of 4.5 on two cores
    assert first.is_busy and first.low <= 55 and first.low < 180 < first.high
    slowness = learned(55.0, 180.0, busy=3.25)
    quiet = told(55.0, busy=0.05, slowness=slowness)
    assert not quiet.is_busy and quiet.low < 55.4 < quiet.high < 75
    assert told(55.0, busy=2.25, slowness=slowness).high > 180
    assert told(55.0, busy=0.05, slowness=float("nan")) == told(55.0, busy=0.05)
