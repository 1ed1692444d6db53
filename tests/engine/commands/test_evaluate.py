"""`evaluate` and `compare` as a program reads them: intervals, baselines, parts of a run, two models."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from engine.errors import ModelError
from engine.evaluation.calibration import tempered
from engine.evaluation.part import scoring_part
from engine.events import result_of
from engine.model.info import keep_temperature, read_info
from engine.settings.finetune import DataConfig
from engine.train.finetune import fine_tune
from engine.train.metrics import wilson_interval
from engine.train.tasks.classification.reading import OneLabel
from engine.train.tasks.known import evaluate_file
from engine.train.tasks.rows.predict import RowModel
from tests.engine.commands.conftest import Engine
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.fakes import model_folder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate")
    for seed in (1, 2):
        config = tiny_config(folder, validation_share=0.3, num_epochs=3, seed=seed)
        for _ in fine_tune(config, folder / f"run-{seed}"):
            pass
    write_table(folder / "test.csv", [*reviews(40, seed=5), reviews(40, seed=5)[0]])
    return folder


def test_evaluate_tells_intervals_baselines_calibration_and_slices(place: Path, engine: Engine) -> None:
    model, data = str(place / "run-1" / "model"), str(place / "test.csv")
    code, out, err = engine("evaluate", "--model", model, "--data", data, "--json")
    assert code == 0, err
    found = json.loads(out)
    hits = round(found["accuracy"] * 41)
    assert found["accuracy_interval"] == pytest.approx(wilson_interval(hits, 41))
    theirs = stats.binomtest(hits, 41).proportion_ci(method="wilson")
    assert found["accuracy_interval"] == pytest.approx([theirs.low, theirs.high])
    assert found["score"]["metric"] == "accuracy" and found["score"]["interval"] == found["accuracy_interval"]
    assert found["num_repeating"] >= 1 and len(found["score"]["interval_by_group"]) == 2
    assert [(one["name"], one["trained_on"]) for one in found["baselines"]] == [
        ("majority", 0),
        ("tfidf", 37),
    ]
    assert all(0 <= one["p_value"] <= 1 for one in found["baselines"])
    assert sum(one["count"] for one in found["calibration"]["bins"]) == 41
    low, high = found["macro_f1_interval"]
    assert 0 <= low <= found["macro_f1"] <= high <= 1
    assert set(found["f1_intervals"]) == {"bad", "good"} and found["slices"]["worse"] == []
    code, _, err = engine("evaluate", "--model", model, "--data", data, "--quick")
    assert code == 0 and "accuracy" in err and "calibration error" in err and "TF-IDF" not in err


def test_the_largest_class_is_that_of_these_texts_and_that_of_training_is_called_so(
    place: Path, engine: Engine, tmp_path: Path
) -> None:
    run, rows, num_told = place / "run-1", reviews(80, seed=6), 0
    for most, least in (("bad", "good"), ("good", "bad")):
        some = [row for row in rows if row[1] == most][:30] + [row for row in rows if row[1] == least][:10]
        write_table(tmp_path / f"{most}.csv", some)
        words = (
            "evaluate",
            "--model",
            str(run / "model"),
            "--data",
            str(tmp_path / f"{most}.csv"),
            "--quick",
        )
        code, out, err = engine(*words, "--json", "--report", str(tmp_path / f"{most}.md"))
        assert code == 0, err
        found = json.loads(out)
        largest = found["baselines"][0]
        assert (largest["label"], largest["accuracy"], largest["name"]) == (most, 0.75, "majority")
        assert largest["difference"] == pytest.approx(found["accuracy"] - 0.75)
        assert found["majority_baseline"] == {"label": most, "accuracy": 0.75}
        said = (tmp_path / f"{most}.md").read_text(encoding="utf-8")
        assert f"always “{most}”, the majority class of these texts | 0.7500" in said
        learned = found["baselines"][1:]
        assert [one["name"] for one in learned] == ["training_majority"] * len(learned)
        assert all((one["label"], one["accuracy"], one["trained_on"]) == (least, 0.25, 37) for one in learned)
        assert (f"always “{least}”, the majority class of the training rows | 0.2500" in said) == bool(
            learned
        )
        num_told += len(learned)
    assert num_told == 1  # where it is another class than that of the texts


def test_evaluate_reads_a_runs_own_part_and_writes_its_rows(
    place: Path, engine: Engine, tmp_path: Path
) -> None:
    rows, report = tmp_path / "rows.csv", tmp_path / "report.md"
    named = ("--model", str(place / "run-1"), "--part", "validation", "--report", str(report))
    words = ("evaluate", *named, "--rows", str(rows), "--json")
    code, out, err = engine(*words)
    assert code == 0, err
    found = json.loads(out)
    with rows.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == found["num_examples"] == 16
    assert "| bad |" in report.read_text(encoding="utf-8")
    assert sum(one["true"] == one["predicted"] for one in written) == round(16 * found["accuracy"])
    assert all(reviews()[int(one["row"])] == (one["text"], one["true"]) for one in written)
    assert all(int(one["line"]) == int(one["row"]) + 2 for one in written)


def test_compare_sets_two_models_side_by_side(place: Path, engine: Engine, tmp_path: Path) -> None:
    models = [str(place / f"run-{seed}" / "model") for seed in (1, 2)]
    data, rows = str(place / "test.csv"), str(tmp_path / "differ.csv")
    named = ("--model", models[0], "--model", models[1])
    code, out, err = engine("compare", *named, "--data", data, "--rows", rows, "--json")
    assert code == 0, err
    found = json.loads(out)
    first, second = (
        result_of(evaluate_file(Path(one), DataConfig(data=data), "cpu")).each.right > 0.5 for one in models
    )
    only = int((first & ~second).sum()), int((second & ~first).sum())
    assert (found["only_first_right"], found["only_second_right"]) == only
    assert found["difference"] == pytest.approx((only[1] - only[0]) / 41)
    assert found["p_value"] == pytest.approx(stats.binomtest(only[0], sum(only)).pvalue if sum(only) else 1.0)
    assert found["interval"][0] <= found["difference"] <= found["interval"][1]
    assert found["sentence"].endswith(".") and found["num_examples"] == 41
    assert len(found["differing_rows"]) == found["num_differing"] == sum(only)
    code, out, err = engine("compare", "--model", models[0], "--model", models[0], "--part", "validation")
    assert code == 0 and "equally good" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--data", "x.csv", "--part", "test"), "Give either --data, a file, or --part"),
        ((), "Give either --data, a file, or --part"),
        (("--part", "test"), "held out no test texts"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_a_sentence(
    place: Path, engine: Engine, words: tuple[str, ...], sentence: str
) -> None:
    code, _, err = engine("evaluate", "--model", str(place / "run-1"), *words)
    assert code == 2 and sentence in err


def test_models_for_different_things_are_not_compared(place: Path, engine: Engine, tmp_path: Path) -> None:
    other = model_folder(tmp_path / "other", labels=("LABEL_0",), problem_type="regression")
    write_table(tmp_path / "n.csv", [("good film", "1"), ("bad film", "0")], "text,label")
    named = ("--model", str(place / "run-1" / "model"), "--model", str(other))
    code, _, err = engine("compare", *named, "--data", str(tmp_path / "n.csv"), "--text", "text")
    assert code == 2 and err.strip()
    code, _, err = engine("compare", "--model", str(other), "--data", "x.csv")
    assert code == 2 and "Name two models" in err


def test_a_temperature_is_kept_with_the_model_used_everywhere_and_taken_back(
    place: Path, engine: Engine, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(place / "run-1" / "model", model)
    before, text = (model / "cloze.json").read_bytes(), reviews(40, seed=5)[0][0]
    write_table(
        tmp_path / "test.csv", [*reviews(60, seed=7), *[(said, "bad") for said, _ in reviews(20, seed=7)]]
    )
    named = ("evaluate", "--model", str(model), "--data", str(tmp_path / "test.csv"), "--quick", "--json")

    def told() -> tuple[np.ndarray, dict[str, Any]]:
        code, out, err = engine(*named)
        assert code == 0, err
        return RowModel.from_folder(OneLabel(), model).predict(text), json.loads(out)

    cold, first = told()
    value = first["calibration"]["temperature"]["value"]
    assert first["calibration"]["kept_temperature"] == 1 and value != pytest.approx(1, abs=0.05)
    assert engine(*named, "--temperature", "keep")[0] == 0
    warm, second = told()
    assert warm == pytest.approx(tempered(cold[None], value)[0], abs=1e-6)
    assert second["calibration"]["kept_temperature"] == value and second["accuracy"] == first["accuracy"]
    assert second["loss"] != first["loss"]
    assert engine(*named, "--temperature", "forget")[0] == 0
    again, _ = told()
    assert again.tolist() == cold.tolist() and json.loads((model / "cloze.json").read_bytes()) == json.loads(
        before
    )


def test_a_temperature_is_fitted_on_validation_rows_and_never_on_a_test_without_a_word(
    engine: Engine, tmp_path: Path
) -> None:
    rows = write_table(tmp_path / "reviews.csv", reviews(140))
    config = tiny_config(tmp_path, data=str(rows), validation_share=0.4, test_share=0.4, num_epochs=3)
    for _ in fine_tune(config, tmp_path / "run"):
        pass
    model, copy = tmp_path / "run" / "model", tmp_path / "copy"
    shutil.copytree(model, copy)  # without its run: nobody knows its validation rows
    write_table(
        tmp_path / "new.csv",
        [(f"{text} {number}", name) for number, (text, name) in enumerate(reviews(80, 4))],
    )
    once, said = "The model’s temperature was fitted on half of these texts", dict[str, Any]()

    def told(folder: Path, *words: str) -> dict[str, Any]:
        code, out, err = engine("evaluate", "--model", str(folder), *words, "--quick", "--json")
        assert code == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    on_validation = told(model, "--part", "validation")["calibration"]["temperature"]
    assert on_validation["fitted_on"] is None and on_validation["num_fitted"] == 28
    for words in (("--part", "test"), ("--data", str(tmp_path / "new.csv"))):
        said = told(model, *words, "--temperature", "keep")
        warmth = said["calibration"]["temperature"]
        assert (warmth["value"], warmth["fitted_on"]) == (on_validation["value"], "validation")
        assert warmth["num_shown"] == said["num_examples"]
        assert read_info(model)["temperature"]["fitted_on"] == "validation"
        again = told(model, *words)
        assert again["calibration"]["kept_fitted_on"] == "validation" and again["loss"] == pytest.approx(
            warmth["loss_after"], abs=1e-4
        )
        assert not [note for one in (said, again) for note in one["notes"] if once in note]
        told(model, *words, "--temperature", "forget")
    said = told(copy, "--data", str(tmp_path / "new.csv"), "--temperature", "keep")
    assert said["calibration"]["temperature"]["fitted_on"] is None and once in said["notes"][-1]
    assert once in told(copy, "--data", str(tmp_path / "new.csv"))["notes"][-1]
    write_table(tmp_path / "others.csv", reviews(60, 9))
    assert not [note for note in told(copy, "--data", str(tmp_path / "others.csv"))["notes"] if once in note]


def test_a_runs_own_part_is_as_sure_as_the_kept_temperature_makes_it(place: Path, tmp_path: Path) -> None:
    run = tmp_path / "run-1"
    shutil.copytree(place / "run-1", run)
    cold = result_of(scoring_part(run, "validation"))
    keep_temperature(run / "model", 2.5, 8)
    warm = result_of(scoring_part(run, "validation"))
    shutil.rmtree(run / "answers")
    asked = result_of(scoring_part(run, "validation"))
    wanted = tempered(cold.each.probabilities, 2.5)
    for found in (warm, asked):
        assert found.each.probabilities == pytest.approx(wanted, abs=1e-5)
        assert found.each.sure == pytest.approx(wanted.max(1), abs=1e-5)
    assert warm.evaluated.loss == pytest.approx(asked.evaluated.loss, abs=1e-5) != cold.evaluated.loss


@pytest.mark.parametrize("written", ['"hot"', '{"value": 0}', '{"value": NaN}', '{"value": 1e9}', "[]"])
def test_a_temperature_that_is_none_is_refused(place: Path, tmp_path: Path, written: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(place / "run-1" / "model", folder)
    info = json.loads((folder / "cloze.json").read_text(encoding="utf-8"))
    text = json.dumps({**info, "temperature": 0}).replace('"temperature": 0', f'"temperature": {written}')
    (folder / "cloze.json").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match="damaged"):
        read_info(folder)
