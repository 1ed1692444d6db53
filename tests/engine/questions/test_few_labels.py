"""Shares of a table by a run, and labelling that is simulated: through their commands, on tiny models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import run_engine, tiny_config


@pytest.mark.slow
def test_a_run_tells_the_shares_of_a_table_without_labels(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "run"))
    data = config.data.data
    code, out, err = run_engine("prevalence", "--model", tmp_path / "run", "--data", data, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert abs(sum(one["share"] for one in found["shares"].values()) - 1) < 1e-6
    for one in found["shares"].values():
        assert 0 <= one["interval"][0] <= one["share"] <= one["interval"][1] <= 1
    assert found["held_out"]["part"] == "validation" and found["held_out"]["rows"] > 0
    told = " ".join(err.split())
    assert "Only the shares may differ" in told and "errs less on them, so the shares are off" in told
    code, _, err = run_engine("prevalence", "--model", config.model.model, "--data", data)
    assert code == 2 and "Name a run of fine-tuning." in " ".join(err.split())


@pytest.mark.slow
def test_a_simulation_says_what_each_ten_labels_bring(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "run"))
    asked = ["label", "--data", config.data.data, "--text", "text", "--label", "label"]
    model = ["--model", tmp_path / "run" / "model"]
    code, out, err = run_engine(*asked, *model, "--simulate", "--budget", "20", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert [count for count, _ in found["curve"]] == [10, 20]
    assert 0 < found["full_accuracy"] <= 1 and found["order"] == "active"
    code, _, err = run_engine(*asked, *model)
    assert code == 2 and "add --simulate" in " ".join(err.split())
