"""A number a row: loss as transformers', correlations as scipy's, runs that go on, bad input."""

from __future__ import annotations

import csv
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from engine.errors import ConfigError, DataError
from engine.evaluation.part import scoring_part
from engine.events import Evaluated, Event, Finished, Noted, Started, result_of
from engine.inspect.loaded_model import LoadedModel
from engine.model.inventory import take_stock
from engine.model.weights import load_classifier, read_config
from engine.settings.finetune import DataConfig
from engine.train.finetune import fine_tune, resume
from engine.train.run.kept import kept_along
from engine.train.run.runs import read_metrics
from engine.train.tasks.known import evaluate_file, guess_task, predict_file, task_of
from engine.train.tasks.regression.details import MOST_POINTS
from engine.train.tasks.regression.scores import (
    pearson,
    pearson_interval,
    ranks,
    spearman,
    spearman_interval,
)
from engine.train.tasks.regression.task import Regression
from tests.engine.steps import stop_at
from tests.engine.tiny_runs import (
    WAYS,
    assert_learned_alike,
    losses,
    run_engine,
    tiny_config,
    write_table,
)
from tests.engine.train.tasks.parity import assert_loss_equals
from tests.fakes import tiny_config as tiny_shape

transformers = pytest.importorskip("transformers")


def ratings(num_rows: int = 61, seed: int = 0) -> list[tuple[str, str]]:
    """Return (text, score) rows that the fake can learn: how many of four words are "good"."""
    rng = random.Random(seed)
    rows = []
    for number in range(num_rows):
        good = number % 5
        words = ["good"] * good + ["bad"] * (4 - good)
        rng.shuffle(words)
        rows.append((" ".join(words), f"{20 + 1.25 * good + rng.random() / 4:.3f}"))
    return rows


def ratings_config(folder: Path, **settings: Any) -> Any:
    if not (folder / "ratings.csv").exists():
        write_table(folder / "ratings.csv", ratings(), "text,score")
    return tiny_config(folder, **{"data": str(folder / "ratings.csv"), "label": "score", **settings})


def notes(events: list[Event]) -> str:
    return "\n".join(str(event.sentence) for event in events if isinstance(event, Noted))


@pytest.mark.parametrize("seed", range(5))
def test_correlations_equal_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = np.round(rng.normal(2.5, 1.3, 103), 1)  # with ties
    other = 0.4 * one + rng.normal(1e4, 1, 103)
    theirs = stats.pearsonr(one, other)
    linear, ranked = pearson(one, other), spearman(one, other)
    assert linear == pytest.approx(theirs.statistic, abs=1e-10)
    assert ranked == pytest.approx(stats.spearmanr(one, other).statistic, abs=1e-10)
    assert ranks(one).tolist() == stats.rankdata(one).tolist()
    assert linear is not None and ranked is not None
    low, high = theirs.confidence_interval()
    assert pearson_interval(linear, 103) == pytest.approx((low, high), abs=1e-10)
    wide = spearman_interval(ranked, 103)
    assert wide is not None and wide[0] < ranked < wide[1]


def test_the_interval_of_a_rank_correlation_holds_its_value_as_often_as_it_says() -> None:
    rng, held = np.random.default_rng(7), 0
    true = 6 / np.pi * np.arcsin(0.6 / 2)  # of ranks, where that of two normal values is 0.6
    for _ in range(1000):
        one = rng.normal(size=60)
        found = spearman(one, 0.6 * one + 0.8 * rng.normal(size=60))
        assert found is not None
        low, high = spearman_interval(found, 60) or (0, 0)
        held += low <= true <= high
    assert 930 <= held <= 970


@pytest.mark.parametrize(
    ("truth", "found", "which"),
    [
        ([1, 2, 3, 4.5], [2, 2, 2, 2], "predicted"),
        ([3, 3, 3], [1, 2, 3], "true"),
        ([1, 2], [np.nan, 1], "predicted"),
    ],
)
def test_no_spread_is_said_and_never_nan(truth: list[float], found: list[float], which: str) -> None:
    measures = Regression().score(np.array(found, np.float32)[:, None], np.array(truth))
    assert measures.metrics["pearson"] == measures.metrics["spearman"] == 0.0
    assert measures.details["no_spread"] == which and not measures.details["intervals"]
    note, level = Regression().remarks(measures, "validation")[0]
    assert "do not vary" in str(note) and level == ("wrong" if which == "predicted" else "look")


def test_few_rows_and_none_have_figures_that_are_numbers() -> None:
    for count in (0, 1, 2, 3):
        truth = np.arange(count, dtype=float)
        measures = Regression().score(truth[:, None].astype(np.float32), truth)
        assert all(np.isfinite(list(measures.metrics.values()))) and not measures.details["intervals"]
        json.dumps(measures.details, allow_nan=False)
    assert measures.metrics["pearson"] == pytest.approx(1.0)
    many = np.arange(3000.0)
    assert len(Regression().score(many[:, None].astype(np.float32), many).details["points"]) == MOST_POINTS


def test_loss_and_gradients_equal_those_of_transformers(tmp_path: Path) -> None:
    shape = tiny_shape(problem_type="regression", id2label=("LABEL_0",))
    assert_loss_equals(Regression(), shape, np.array([0.0, 2.5, -1.25, 5.0, 3.2]), tmp_path)


@pytest.mark.slow
def test_a_table_becomes_a_model_that_predicts_its_numbers(tmp_path: Path) -> None:
    write_table(tmp_path / "others.csv", ratings(45, seed=3), "text,score")
    others = str(tmp_path / "others.csv")
    config = ratings_config(tmp_path, num_epochs=25, validation_data=others, checkpoint_every_steps=1000)
    events = list(fine_tune(config, tmp_path / "run"))
    end = events[-1]
    assert isinstance(end, Finished) and end.best_metric is not None and end.best_metric > 0.9
    said = notes(events)
    assert "the task is regression" in said and "begins at the mean of the numbers to learn, 22." in said
    started = next(event for event in events if isinstance(event, Started))
    assert started.task == "regression" and started.metric == "pearson"

    folder = tmp_path / "run" / "model"
    config_json = read_config(folder)
    assert (config_json.problem_type, config_json.id2label) == ("regression", ("LABEL_0",))
    assert LoadedModel.open(folder, "cpu").labels == () and take_stock(folder).answers == ("regression",)
    data = DataConfig(data=others, text="text", label="score")
    measured = next(event for event in evaluate_file(folder, data, "cpu") if isinstance(event, Evaluated))
    list(predict_file(folder, data, tmp_path / "answers.csv", device="cpu"))
    with (tmp_path / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["text", "score", "prediction"]
    truth, found = (np.array([float(row[name]) for row in rows]) for name in ("score", "prediction"))
    for name, wanted in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        assert measured.metrics[name] == pytest.approx(wanted(truth, found).statistic, abs=1e-6)
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        number = theirs(**tokenizer([rows[0]["text"]], return_tensors="pt")).logits[0, 0]
    assert float(number) == pytest.approx(found[0], rel=1e-5)


@pytest.mark.slow
def test_a_model_of_one_output_that_others_have_saved_predicts_numbers(tmp_path: Path) -> None:
    config = transformers.BertConfig(**tiny_shape(id2label=("LABEL_0",)).to_json())
    model = transformers.BertForSequenceClassification(config)
    list(fine_tune(ratings_config(tmp_path, num_epochs=1), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    model.save_pretrained(folder)  # over the weights of ours, without a problem_type
    (folder / "cloze.json").unlink()
    assert task_of(folder).name == "regression"
    again = ratings_config(tmp_path, model=str(folder), num_epochs=1)
    events = list(fine_tune(again, tmp_path / "further"))
    assert "The classifier is new" not in notes(events)  # its own head is gone on with
    assert load_classifier(tmp_path / "further" / "model")[0].config.id2label == ("LABEL_0",)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_stopped_goes_on_bit_for_bit(way: tuple[str, str], tmp_path: Path) -> None:
    config = ratings_config(tmp_path, kernels=way[0], precision=way[1])
    list(fine_tune(config, tmp_path / "whole"))
    stop_at(fine_tune(config, tmp_path / "halves"), 7)
    list(resume(tmp_path / "halves"))
    assert_learned_alike(tmp_path / "whole", tmp_path / "halves")


@pytest.mark.slow
@pytest.mark.parametrize(
    "how", [{"encoder": "frozen"}, {"frozen_layers": 1, "layer_decay": 0.9}, {"layer_mix": True}]
)
def test_all_ways_to_adapt_a_model_work(how: dict[str, Any], tmp_path: Path) -> None:
    events = list(fine_tune(ratings_config(tmp_path, num_epochs=1, **how), tmp_path / "run"))
    assert isinstance(events[-1], Finished)


def test_a_column_of_numbers_is_guessed_and_classification_still_refuses_it(tmp_path: Path) -> None:
    kind, reason = guess_task(ratings_config(tmp_path).data)
    assert kind.name == "regression" and "numbers that are not classes" in str(reason)
    with pytest.raises(DataError, match="free text or a number"):
        list(fine_tune(ratings_config(tmp_path, task="classification"), tmp_path / "run"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rare_labels": "weighted"}, "rare_labels is weighted"),
        ({"label_smoothing": 0.1}, "label_smoothing is 0.1"),
        ({"merge_labels": True}, "merge_labels means nothing"),
    ],
)
def test_settings_that_mean_nothing_to_it_are_refused_before_anything_is_read(
    settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        list(fine_tune(ratings_config(tmp_path, **settings), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_rows_in_are_rows_used_and_rows_reported(tmp_path: Path) -> None:
    rows = [*ratings(40), ("good", "nan"), ("bad", "high"), ("", "2"), ("good bad", "")]
    write_table(tmp_path / "ratings.csv", rows, "text,score")
    task = fine_tune(ratings_config(tmp_path, task="regression"), tmp_path / "run")
    started = next(event for event in task if isinstance(event, Started))
    task.close()  # type: ignore[attr-defined]
    setup = json.loads((tmp_path / "run" / "setup" / "setup.json").read_text())
    assert [one["line"] for one in setup["reported"]] == [42, 43, 44, 45]
    assert started.num_train + started.num_validation + 4 == setup["data"]["rows"] == 44


@pytest.mark.slow
def test_the_command_prints_the_figures_by_name(tmp_path: Path) -> None:
    list(fine_tune(ratings_config(tmp_path, num_epochs=1), tmp_path / "run"))
    words = ("--model", tmp_path / "run" / "model", "--data", tmp_path / "ratings.csv", "--device", "cpu")
    code, out, _ = run_engine("evaluate", *words, "--json")
    found = json.loads(out)
    assert code == 0 and {"pearson", "spearman", "r2", "mse", "mae"} <= found.keys()
    assert len(found["details"]["intervals"]["pearson"]) == 2


def in_another_unit(folder: Path, times: float, more: float, num_rows: int = 61) -> Path:
    """Write the ratings in another unit."""
    rows = [(text, f"{float(score) * times + more:.12g}") for text, score in ratings(num_rows)]
    return write_table(folder / f"times-{times}-more-{more}.csv", rows, "text,score")


def learned(
    folder: Path, data: Path, name: str, **settings: Any
) -> tuple[list[float], dict[str, float], Path]:
    """Train; return the losses, the last measures on validation and the model."""
    events = list(
        fine_tune(ratings_config(folder, data=str(data), task="regression", **settings), folder / name)
    )
    measured = [event for event in events if isinstance(event, Evaluated)]
    return losses(events), dict(measured[-1].metrics), folder / name / "model"


@pytest.mark.slow
@pytest.mark.parametrize(("times", "more"), [(100.0, 0.0), (1.0, 1e6), (0.001, 0.0)])
def test_the_unit_of_the_numbers_changes_nothing_that_is_learned(
    times: float, more: float, tmp_path: Path
) -> None:
    one, measured, model = learned(tmp_path, in_another_unit(tmp_path, 1, 0), "one")
    data = in_another_unit(tmp_path, times, more)
    other, elsewhere, folder = learned(tmp_path, data, "other")
    assert other == pytest.approx(one, rel=1e-4)
    for name, unit in (("pearson", 1.0), ("r2", 1.0), ("mae", times), ("mse", times**2)):
        assert elsewhere[name] == pytest.approx(measured[name] * unit, rel=2e-3, abs=1e-4 * unit)
    text = "good bad good good"
    answers = [task_of(each).answering(each, "cpu")({"text": text})["prediction"] for each in (model, folder)]
    step = abs(more) * 2.0**-23  # that weights of 32 bits can tell
    assert answers[1] == pytest.approx(answers[0] * times + more, rel=1e-5 if not more else 0, abs=2 * step)
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        number = float(theirs(**tokenizer([text], return_tensors="pt")).logits[0, 0])
    assert number == pytest.approx(answers[1], rel=1e-5)


def test_a_result_is_measured_in_the_unit_of_the_table_wherever_it_is_asked(tmp_path: Path) -> None:
    data = in_another_unit(tmp_path, 100, 0)
    _, measured, _ = learned(tmp_path, data, "run", kept_weights=2, validation_share=0.4)
    shutil.rmtree(tmp_path / "run" / "answers")  # so that the result is asked again
    again = result_of(scoring_part(tmp_path / "run", "validation", "cpu")).evaluated.metrics
    told = [one for one in read_metrics(tmp_path / "run") if one["event"] == "evaluated"]
    best = max(told, key=lambda one: one["metrics"]["r2"])["metrics"]  # not of the highest correlation
    assert again == pytest.approx(best, rel=1e-4) and set(measured) == set(again)
    for kept in kept_along(tmp_path / "run"):
        answer = task_of(kept.path).answering(kept.path, "cpu")({"text": "good good"})["prediction"]
        assert 1500 < answer < 3500


@pytest.mark.slow
def test_a_model_goes_on_with_numbers_of_its_unit_and_of_another(tmp_path: Path) -> None:
    model = learned(tmp_path, in_another_unit(tmp_path, 1, 0), "first", num_epochs=25)[2]
    same = in_another_unit(tmp_path, 1, 0, num_rows=55)
    first = learned(tmp_path, same, "same", model=str(model), learning_rate=1e-6, num_epochs=1)
    assert first[0][0] < 0.3 and first[1]["r2"] > 0.7  # it begins where the other has ended
    for times, more in ((1000.0, 0.0), (1.0, 1e5)):
        other = in_another_unit(tmp_path, times, more, num_rows=55)
        further = learned(
            tmp_path, other, f"{times}-{more}", model=str(model), learning_rate=1e-6, num_epochs=1
        )
        assert further[0] == pytest.approx(first[0], abs=0.05) and further[1]["r2"] > 0.7


def test_training_rows_of_one_number_are_refused_in_a_sentence(tmp_path: Path) -> None:
    rows = [("good " * (1 + number % 5), "3.5") for number in range(20)]
    data = write_table(tmp_path / "same.csv", rows, "text,score")
    write_table(tmp_path / "apart.csv", [("good", "1.5"), ("bad", "2.5")], "text,score")
    settings = {"data": str(data), "validation_data": str(tmp_path / "apart.csv"), "task": "regression"}
    with pytest.raises(DataError, match="the same number, 3.5"):
        list(fine_tune(ratings_config(tmp_path, **settings), tmp_path / "run"))


@pytest.mark.parametrize(("share", "is_told"), [(0.09, True), (0.3, False)])
def test_predictions_that_hardly_differ_are_told(share: float, is_told: bool) -> None:
    truth = np.linspace(0, 5e4, 40)
    measures = Regression().score((share * truth)[:, None], truth)
    told = [(str(note), level) for note, level in Regression().remarks(measures, "validation")]
    assert bool(told) == is_told
    if is_told:
        sentence, level = told[0]
        assert "The predictions hardly differ" in sentence and level == "wrong"
    assert measures.metrics["r2"] == pytest.approx(1 - ((1 - share) ** 2 * (truth**2).mean()) / truth.var())


def test_rows_keep_their_numbers_apart_however_far_from_zero_these_are() -> None:
    truth = 1e6 + np.array([0.0, 0.2, 3.8, 5.0])
    measures = Regression().score(truth[:, None] + 0.1, truth)
    assert measures.each is not None
    each = measures.each()
    assert [each.names[place] for place in each.true] == ["1000000", "1000000.2", "1000003.8", "1000005"]
