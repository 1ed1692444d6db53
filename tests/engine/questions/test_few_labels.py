"""Shares of a table by a run, and labelling that is simulated: through their commands, on tiny models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from engine.text.table import read_table
from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import reviews, run_engine, tiny_config, write_table


@pytest.mark.slow
def test_a_run_tells_the_shares_of_a_table_and_counts_the_texts_it_knows_by_their_labels(
    tmp_path: Path,
) -> None:
    config = tiny_config(tmp_path)
    list(fine_tune(config, tmp_path / "run"))
    new = [(f"{text} {number}", "") for number, (text, _) in enumerate(reviews(40, seed=5))]
    data = write_table(tmp_path / "both.csv", [*reviews(), *new])
    code, out, err = run_engine("prevalence", "--model", tmp_path / "run", "--data", data, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert abs(sum(one["share"] for one in found["shares"].values()) - 1) < 1e-6
    for label, one in found["shares"].items():
        known = sum(own == label for _, own in reviews()) / 93
        assert known <= one["interval"][0] <= one["share"] <= one["interval"][1] <= known + 40 / 93
    assert (found["rows"], found["labelled"], found["left_out"]) == (93, 53, 0)
    assert found["held_out"]["part"] == "validation" and found["held_out"]["rows"] > 0
    assert found["sentence"].startswith("Of the 93 texts in both.csv, ")
    told = " ".join(err.split())
    assert "Only the shares may differ" in told and "53 texts count with the label" in told
    Path(config.data.data).unlink()  # then only the rows held out are known, and what was learned is left out
    code, out, _ = run_engine("prevalence", "--model", tmp_path / "run", "--data", data, "--json")
    found = json.loads(out)
    assert found["labelled"] < 20 and found["rows"] + found["left_out"] == 93 and found["left_out"] > 30
    code, _, err = run_engine("prevalence", "--model", config.model.model, "--data", data)
    assert code == 2 and "Name a run of fine-tuning." in " ".join(err.split())


@pytest.mark.slow
def test_shares_by_a_random_sample_are_written_with_the_predictions(tmp_path: Path) -> None:
    rows = reviews(90, seed=3)
    sample = write_table(tmp_path / "reviews-random-sample.csv", rows[:30])
    labelled = [(text, label if 30 <= number < 80 else "") for number, (text, label) in enumerate(rows)]
    data = write_table(tmp_path / "reviews.csv", labelled)
    config = tiny_config(tmp_path, test_data=str(sample))
    list(fine_tune(config, tmp_path / "run"))
    for name in ("out.csv", "out.xlsx"):
        asked = ("--model", tmp_path / "run" / "model", "--data", data, "--out", tmp_path / name, "--shares")
        code, _, err = run_engine("predict", *asked)
        told = " ".join(err.split())
        assert code == 0 and "Its errors are counted on 30 texts drawn at random." in told, err
    shares = read_table(tmp_path / "out-shares.csv").frame
    assert sorted(shares["label"]) == ["bad", "good"] and not (tmp_path / "out-shares.xlsx").exists()
    book = CalamineWorkbook.from_path(tmp_path / "out.xlsx")
    assert book.get_sheet_by_name("Shares").to_python()[1][5] == shares["sentence"][0]
    for label, low, high in zip(shares["label"], shares["low"], shares["high"], strict=True):
        assert float(low) <= sum(own == label for _, own in rows) / 90 <= float(high)


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
