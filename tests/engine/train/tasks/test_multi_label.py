"""Several labels a row: loss as transformers', scores as scikit-learn's, runs that go on, bad input."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    f1_score,
    precision_recall_curve,
    precision_recall_fscore_support,
)

from engine.errors import ConfigError, DataError
from engine.events import Evaluated, Event, Finished, Noted, Started
from engine.inspect.loaded_model import LoadedModel
from engine.model.heads import SequenceClassifier
from engine.model.weights import read_config
from engine.settings.config import with_values
from engine.settings.finetune import DataConfig
from engine.text.batch import collate
from engine.train.finetune import fine_tune, resume
from engine.train.tasks.known import evaluate_file, guess_task, predict_file, task_of
from engine.train.tasks.multi_label.kind import MultiLabelling, positive_weights
from engine.train.tasks.multi_label.scores import best_thresholds, precision_recall, score_sets, thinned
from engine.train.tasks.multi_label.task import MultiLabel, choose
from tests.engine.steps import stop_at
from tests.engine.tiny_runs import (
    WAYS,
    assert_learned_alike,
    run_engine,
    tiny_config,
    write_table,
)
from tests.engine.train.tasks.parity import assert_loss_equals, tiny_set
from tests.fakes import tiny_config as tiny_shape
from tests.fakes import tiny_wordpiece

transformers = pytest.importorskip("transformers")
WORDS = {"bad": "bad", "good": "good", "play": "play"}


def moods(num_rows: int = 61, seed: int = 0) -> list[tuple[str, str]]:
    """Return (text, labels) rows that the fake can learn: a label for each of three words."""
    rng = random.Random(seed)
    rows = []
    for number in range(num_rows):
        there = [word for place, word in enumerate(WORDS) if (number + 1) >> place & 1]
        tail = [rng.choice("abcdefgh") for _ in range(rng.randrange(5))]
        words = [*there, *tail]
        rng.shuffle(words)
        rows.append((" ".join(words) or "film", "|".join(there) or "[]"))
    return rows


def moods_config(folder: Path, **settings: Any) -> Any:
    if not (folder / "moods.csv").exists():
        write_table(folder / "moods.csv", moods())
    return tiny_config(folder, data=str(folder / "moods.csv"), **settings)


def notes(events: list[Event]) -> str:
    return "\n".join(str(event.sentence) for event in events if isinstance(event, Noted))


def random_sets(seed: int, rows: int = 97, labels: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    targets = rng.random((rows, labels)) < np.linspace(0.05, 0.6, labels)
    answers = np.clip(targets * 0.3 + rng.random((rows, labels)) * 0.7, 0, 1).astype(np.float32)
    return targets, np.round(answers, 2)  # ties among them


@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_those_of_scikit_learn(seed: int) -> None:
    targets, answers = random_sets(seed)
    answered = answers >= 0.5
    found = score_sets(targets, answered)
    for kind in ("micro", "macro"):
        wanted = f1_score(targets, answered, average=kind, zero_division=0)
        assert found.summary[f"{kind}_f1"] == pytest.approx(wanted, abs=1e-12)
    assert found.summary["subset_accuracy"] == pytest.approx(accuracy_score(targets, answered), abs=1e-12)
    wanted = precision_recall_fscore_support(targets, answered, average=None, zero_division=0)
    for ours, theirs in zip((found.precision, found.recall, found.f1, found.support), wanted, strict=True):
        assert np.allclose(ours, theirs, atol=1e-12)


def test_labels_that_nobody_has_or_answers_score_0_as_in_scikit_learn() -> None:
    targets = np.array([[1, 0, 0], [1, 0, 1]], bool)
    answered = np.array([[1, 1, 0], [0, 0, 0]], bool)
    found = score_sets(targets, answered)
    assert found.f1.tolist() == f1_score(targets, answered, average=None, zero_division=0).tolist()
    assert score_sets(targets[:0], answered[:0]).summary["micro_f1"] == 0.0


def test_curves_equal_those_of_scikit_learn() -> None:
    targets, answers = random_sets(3)
    precision, recall, scores = precision_recall(targets[:, 2], answers[:, 2])
    their_precision, their_recall, their_scores = precision_recall_curve(targets[:, 2], answers[:, 2])
    assert np.allclose(scores[::-1], their_scores)
    assert np.allclose(precision[::-1], their_precision[:-1])
    assert np.allclose(recall[::-1], their_recall[:-1])
    measures = MultiLabel(tuple("abcde")).score(answers, targets)
    for place, label in enumerate("abcde"):
        wanted = average_precision_score(targets[:, place], answers[:, place])
        assert measures.details["curves"][label]["average_precision"] == pytest.approx(wanted, abs=1e-12)
    assert thinned(1000)[[0, -1]].tolist() == [0, 999] and len(thinned(1000)) == 25


@pytest.mark.slow
def test_a_threshold_is_the_best_there_is_and_rare_labels_keep_one_half() -> None:
    targets, answers = random_sets(1, rows=400)
    targets[:, 0] = False
    targets[:5, 0] = True
    found = best_thresholds(targets, answers)
    assert found[0] == 0.5
    for label in range(1, 5):
        sets = answers[:, [label]] >= np.linspace(0, 1, 301)  # a column for each threshold
        tried = f1_score(np.broadcast_to(targets[:, [label]], sets.shape), sets, average=None)
        ours = f1_score(targets[:, label], answers[:, label] >= found[label])
        assert ours >= max(tried) - 1e-12


def test_thresholds_are_chosen_on_one_half_and_told_on_the_other() -> None:
    targets, answers = random_sets(2, rows=300)
    found = choose(targets, answers)
    assert np.allclose(found["thresholds"], best_thresholds(targets[::2], answers[::2]))
    told = answers[1::2] >= np.array(found["thresholds"])
    assert found["micro_f1"] == pytest.approx(f1_score(targets[1::2], told, average="micro"))
    usual = f1_score(targets[1::2], answers[1::2] >= 0.5, average="micro")
    assert found["micro_f1_at_half"] == pytest.approx(usual) and found["num_examples"] == 150


def test_loss_and_gradients_equal_those_of_transformers(tmp_path: Path) -> None:
    targets = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 1]], bool)
    shape = tiny_shape(problem_type="multi_label_classification", id2label=("a", "b", "c"))
    assert_loss_equals(MultiLabel(("a", "b", "c")), shape, targets, tmp_path)


def test_rare_labels_weigh_more_and_the_weight_is_bounded() -> None:
    targets = np.zeros((100, 3), bool)
    targets[:1, 0] = targets[:20, 1] = targets[:80, 2] = True
    assert positive_weights(targets) == (10.0, 4.0, 1.0)
    data = tiny_set(targets[:2])
    plain, weighted = MultiLabel(tuple("abc")), MultiLabel(tuple("abc"), positive_weights(targets))
    torch.manual_seed(2)
    model = SequenceClassifier(tiny_shape(id2label=tuple("abc"))).eval()
    batch = collate(data, np.array([0, 1]))
    losses = [task.loss(model, batch, task.count([batch]))[0] for task in (plain, weighted)]
    assert losses[1] > losses[0]


@pytest.mark.slow
def test_a_table_becomes_a_model_that_knows_all_labels_of_a_row(tmp_path: Path) -> None:
    write_table(tmp_path / "others.csv", moods(45, seed=3))
    (tmp_path / "vocab").mkdir()
    tiny_wordpiece().save(tmp_path / "vocab")  # the fake is too small to find three words in a text
    new = {"model": "new:tiny", "vocab": str(tmp_path / "vocab" / "vocab.txt"), "learning_rate": 1e-3}
    others = str(tmp_path / "others.csv")
    config = moods_config(tmp_path, num_epochs=8, validation_data=others, checkpoint_every_steps=1000, **new)
    events = list(fine_tune(config, tmp_path / "run"))
    end = events[-1]
    assert isinstance(end, Finished) and end.best_metric is not None and end.best_metric > 0.9
    said = notes(events)
    assert "the task is multi-label" in said and '"|" separates those in column label' in said
    started = next(event for event in events if isinstance(event, Started))
    assert started.task == "multi-label" and started.labels == ("bad", "good", "play")
    folder = tmp_path / "run" / "model"
    assert task_of(folder).name == "multi-label" and read_config(folder).problem_type.startswith("multi")
    assert LoadedModel.open(folder, "cpu").labels == ()  # no softmax over labels that stand side by side

    data = DataConfig(data=str(tmp_path / "others.csv"), text="text", label="label")
    measured = next(event for event in evaluate_file(folder, data, "cpu") if isinstance(event, Evaluated))
    again = list(predict_file(folder, data, tmp_path / "answers.csv", device="cpu"))
    with (tmp_path / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    truth = np.array([[label in row["label"] for label in started.labels] for row in rows])
    answered = np.array(
        [[label in row["prediction"].split("; ") for label in started.labels] for row in rows]
    )
    assert measured.metrics["micro_f1"] == pytest.approx(f1_score(truth, answered, average="micro"))
    assert measured.metrics["subset_accuracy"] == pytest.approx(accuracy_score(truth, answered))
    told = next(event for event in again if isinstance(event, Evaluated))
    assert told.metrics == measured.metrics
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert theirs.config.problem_type == "multi_label_classification"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        wanted = theirs(**tokenizer([rows[0]["text"]], return_tensors="pt")).logits.sigmoid()[0]
    ours = [float(rows[0][f"probability: {label}"]) for label in started.labels]
    assert np.allclose(ours, wanted.numpy(), atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_stopped_goes_on_bit_for_bit(way: tuple[str, str], tmp_path: Path) -> None:
    how = {"kernels": way[0], "precision": way[1], "validation_share": 0.3}
    config = moods_config(tmp_path, **how)
    list(fine_tune(config, tmp_path / "whole"))
    stop_at(fine_tune(config, tmp_path / "halves"), 7)
    assert (tmp_path / "halves" / "model" / "model.safetensors").is_file()
    list(resume(tmp_path / "halves"))
    assert_learned_alike(tmp_path / "whole", tmp_path / "halves")


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"encoder": "frozen"},
        {"frozen_layers": 1, "layer_decay": 0.9},
        {"layer_mix": True},
        {"rare_labels": "weighted"},
    ],
)
def test_all_ways_to_adapt_a_model_work(how: dict[str, Any], tmp_path: Path) -> None:
    config = moods_config(tmp_path, label_smoothing=0.1, num_epochs=1, **how)
    events = list(fine_tune(config, tmp_path / "run"))
    assert isinstance(events[-1], Finished)


def test_the_task_is_guessed_with_its_reason_and_another_is_one_setting_away(tmp_path: Path) -> None:
    data = moods_config(tmp_path).data
    kind, reason = guess_task(data)
    assert kind.name == "multi-label" and "such as bad|good in column label" in str(reason)
    whole = with_values(moods_config(tmp_path), {"whole_labels": True}).data
    assert guess_task(whole)[0].name == "classification"
    with pytest.raises(DataError, match="choose the task multi-label"):
        list(fine_tune(moods_config(tmp_path, task="classification"), tmp_path / "run"))
    rows = [f"text {n},{n % 2},{n % 3 % 2},{n // 2 % 2}" for n in range(20)]
    path = tmp_path / "columns.csv"
    path.write_text("text,rude,angry,sad\n" + "\n".join(rows) + "\n")
    kind, reason = guess_task(DataConfig(data=str(path), text="text"))
    assert kind.name == "multi-label" and "rude, angry, sad" in str(reason)
    assert guess_task(DataConfig(data=str(path), text="text", label="rude"))[0].name == "classification"
    assert guess_task(DataConfig(data=str(tmp_path / "none.csv"), text="text"))[0].name == "classification"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rare_labels": "repeated"}, "cannot be repeated"),
        ({"task": "multi-label", "whole_labels": True}, "whole_labels takes each combination"),
    ],
)
def test_settings_that_the_task_cannot_obey_are_refused_at_once(
    settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=said):
        next(iter(fine_tune(moods_config(tmp_path, **settings), tmp_path / "run")))
        list(fine_tune(moods_config(tmp_path, **settings), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_rows_in_are_rows_used_and_rows_reported(tmp_path: Path) -> None:
    rows = [*moods(40), ("", "bad"), ("good film", ""), ("play", "|")]
    write_table(tmp_path / "moods.csv", rows)
    task = fine_tune(moods_config(tmp_path, num_epochs=1), tmp_path / "run")
    started = next(event for event in task if isinstance(event, Started))
    task.close()  # type: ignore[attr-defined]
    setup = json.loads((tmp_path / "run" / "setup" / "setup.json").read_text())
    assert [one["line"] for one in setup["reported"]] == [42, 43, 44]
    assert started.num_train + started.num_validation + 3 == setup["data"]["rows"] == 43


def test_a_model_that_answers_nothing_is_told_so() -> None:
    task = MultiLabel(("a", "b"))
    targets = np.array([[1, 0], [0, 1], [0, 0]], bool)
    measures = task.score(np.full((3, 2), 0.1, np.float32), targets)
    note, level = task.remarks(measures, "test")[0]
    assert level == "wrong" and "none of the 3 test rows a label, though 2 have one" in str(note)


def test_a_model_that_answers_by_its_own_thresholds_alone_is_not_called_useless() -> None:
    targets, answers = random_sets(2, rows=300)
    shy = np.minimum(answers * 0.6, 0.45)
    (note, level), *others = MultiLabel(tuple("abcde")).remarks(
        MultiLabel(tuple("abcde")).score(shy, targets), "validation"
    )
    assert level == "look" and "No label of any of the 300 validation rows" in str(note)
    assert [how for _, how in others] == ["fine"]


def test_thresholds_are_kept_and_used_only_where_they_help() -> None:
    kind = MultiLabelling()
    targets, answers = random_sets(2, rows=300)
    labels = tuple("abcde")
    measures = MultiLabel(labels).score(answers * 0.6, targets)  # too shy for 0.5
    event = Evaluated(
        step=1, epoch=1.0, split="validation", loss=1.0, metrics={}, labels=labels, confusion=None,
        per_label={}, details=measures.details,
    )  # fmt: skip
    kept = kind.chosen(event)["thresholds"]
    assert kept["a"] == 0.5 and max(kept[label] for label in labels[1:]) < 0.5  # "a" has too few rows
    used = kind.reading.answering(labels, {"thresholds": kept}, tiny_wordpiece())
    assert used.score(answers * 0.6, targets).metrics["micro_f1"] > measures.metrics["micro_f1"]
    odd = kind.reading.answering(labels, {"thresholds": {"a": "high"}}, tiny_wordpiece())
    assert odd.thresholds == ()


def test_thresholds_are_said_to_be_chosen_on_validation_rows_alone() -> None:
    task, (targets, answers) = MultiLabel(tuple("abcde")), random_sets(2, rows=300)
    for found in (answers, np.minimum(answers * 0.6, 0.45)):
        said = [str(note) for note, _ in task.remarks(task.score(found, targets), "test")]
        assert not [one for one in said if "threshold" in one], said


@pytest.mark.slow
def test_the_command_prints_the_figures_by_name(tmp_path: Path) -> None:
    config = moods_config(tmp_path, num_epochs=1)
    list(fine_tune(config, tmp_path / "run"))
    words = ("--model", tmp_path / "run" / "model", "--data", tmp_path / "moods.csv", "--device", "cpu")
    code, out, _ = run_engine("evaluate", *words, "--json")
    found = json.loads(out)
    assert code == 0 and {"micro_f1", "macro_f1", "subset_accuracy"} <= found.keys()
    assert set(found["per_label"]) == {"bad", "good", "play"} and found["num_examples"] == 61
