"""Curves are read from what a run wrote, thinned so that no peak is lost, and averaged over seeds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.errors import RunError
from engine.events import result_of
from engine.runs.curves import LOSS, SCORE, band_of, read_curves, smoothed, thinned
from engine.train.run.runs import METRICS
from tests.engine.made_runs import made_run


def test_losses_and_evaluations_are_read_by_step(tmp_path: Path) -> None:
    path = made_run(tmp_path, "films", steps=5, losses=[0.5, 0.4, 0.3, 0.2, 0.1], right=90)
    found = result_of(read_curves(path))
    assert found.train[LOSS].mean.tolist() == [0.5, 0.4, 0.3, 0.2, 0.1]
    assert found.train[SCORE].steps.tolist() == [1, 2, 3, 4, 5]
    assert found.validation["accuracy"].mean.tolist() == [0.9] and found.validation[LOSS].steps.tolist() == [
        5
    ]


def test_lines_of_another_hand_are_read_too_and_broken_ones_left_out(tmp_path: Path) -> None:
    path = made_run(tmp_path, "films", steps=3, losses=[0.5, 0.4, 0.3])
    lines = (path / METRICS).read_text().splitlines()
    records = [json.loads(line) for line in lines]
    odd = [json.dumps(dict(reversed(record.items()))) for record in records if record["event"] == "step"]
    (path / METRICS).write_text(
        "\n".join([*lines[:2], *odd, '{"event": "step", "step": 9', "", "x" * 99]) + "\n"
    )
    assert result_of(read_curves(path)).train[LOSS].mean.tolist() == [0.5]
    straight = [line.replace('"epoch"', '"epok"') for line in lines]
    (path / METRICS).write_text("\n".join([*straight, *lines]) + "\n")
    assert result_of(read_curves(path)).train[LOSS].mean.tolist() == [0.5, 0.4, 0.3]


def test_steps_that_came_twice_after_a_run_was_gone_on_with_count_once(tmp_path: Path) -> None:
    path = made_run(tmp_path, "films", steps=3, losses=[0.5, 0.4, 0.3])
    text = (path / METRICS).read_text()
    again = [line.replace("0.4,", "0.45,") for line in text.splitlines() if '"step": 2,' in line]
    (path / METRICS).write_text(text + "\n".join(again) + "\n")
    assert result_of(read_curves(path)).train[LOSS].mean.tolist() == [0.5, 0.45, 0.3]


def test_a_run_that_has_written_nothing_has_no_curves_and_a_folder_in_its_place_is_refused(
    tmp_path: Path,
) -> None:
    path = made_run(tmp_path, "films")
    (path / METRICS).unlink()
    assert result_of(read_curves(path)).num_steps == 0
    (path / METRICS).mkdir()
    with pytest.raises(RunError):
        result_of(read_curves(path))


def test_thinning_keeps_mean_and_peaks() -> None:
    values = np.zeros(100_000)
    values[77_777] = 9.0
    curve = thinned(np.arange(100_000.0), values, 100)
    assert curve.size == 100 and curve.high.max() == 9.0 and curve.mean.sum() * 1000 == pytest.approx(9.0)
    assert (np.diff(curve.steps) > 0).all()


def test_a_band_is_the_mean_and_the_spread_over_seeds_whatever_their_steps() -> None:
    first, second = (thinned(np.arange(1.0, 101.0), np.full(100, value)) for value in (1.0, 3.0))
    band = band_of([first, second])
    assert band.mean.tolist() == [2.0] * 100 and band.spread[0] == pytest.approx(2**0.5)
    longer = thinned(np.arange(1.0, 201.0, 2), np.full(100, 5.0))
    band = band_of([first, longer])
    assert band.steps[0] == 1 and band.steps[-1] == 100 and set(band.mean) == {3.0}
    assert band_of([first]).spread.max() == 0 and not len(band_of([]).steps)


def test_smoothing_keeps_a_straight_line_but_at_its_ends() -> None:
    line = np.arange(200.0)
    assert np.allclose(smoothed(line, 0.1)[10:-10], line[10:-10])
    assert smoothed(line[:5]).tolist() == line[:5].tolist()
