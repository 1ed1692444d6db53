"""Multiple choice: which ending goes on with a text, from the table to what transformers opens."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import DataError
from engine.evaluation.part import scoring_part
from engine.events import Evaluated, Predicted, result_of
from engine.export.onnx import exporting
from engine.model.heads import MultipleChoice
from engine.model.info import keep_temperature
from engine.model.inventory import take_stock
from engine.model.weights import load_headed
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.choices import finding_choices, likely_choices
from engine.text.roles import Roles
from engine.text.table import Table, read_table
from engine.train.finetune import fine_tune, resume
from engine.train.tasks.known import evaluate_file, guess_task, predict_file, task_of
from tests.engine.steps import stop_at
from tests.engine.tiny_runs import WAYS, assert_learned_alike, kill_and_end, tiny_config

NAMES = ("ending0", "ending1", "ending2")
WORDS = ["film", "good", "plot", "bad", "actor", "great", "story", "dull", "scene", "fine"]


def write(path: Path, labels: list[str], names: tuple[str, ...] = NAMES) -> Table:
    rng = random.Random(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["startphrase", *names, "label"])
        for row, label in enumerate(labels):
            endings = [
                f"{rng.choice(WORDS)} {rng.choice(WORDS)} {row} {place}" for place in range(len(names))
            ]
            out.writerow([f"a {rng.choice(WORDS)} film {row}", *endings, label.format(*endings)])
    return read_table(path)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["0", "1", "2", "1"], "from 0"),
        (["1", "2", "3", "2"], "from 1"),
        (["A", "B", "C", "B"], "by a letter"),
        (["ending0", "ending1", "ending2", "ending1"], "names the column"),
        (["{0}", "{1}", "{2}", "{1}"], "repeats the text"),
    ],
)
def test_the_right_ending_is_told_by_number_letter_column_or_its_own_text(
    labels: list[str], said: str, tmp_path: Path
) -> None:
    table = write(tmp_path / "rows.csv", labels)
    roles = likely_choices(table)
    assert roles == Roles("startphrase", label="label", choices=NAMES)
    found = result_of(finding_choices(table, roles))
    assert found.examples.labels.tolist() == [0, 1, 2, 1] and said in str(found.form)
    assert found.labels == NAMES and found.examples[0].parts[1:] == tuple(
        table.frame[name].array[0] for name in NAMES
    )


def test_a_label_that_is_none_of_the_endings_is_reported_by_its_line(tmp_path: Path) -> None:
    table = write(tmp_path / "rows.csv", ["0", "1", "7", "2"])
    found = result_of(finding_choices(table, likely_choices(table)))
    assert found.examples.rows.tolist() == [0, 1, 3] and [bad.line for bad in found.reported] == [4]
    with pytest.raises(DataError, match="2 to 9 columns"):
        result_of(finding_choices(table, Roles("startphrase", choices="ending0")))


def test_a_table_with_endings_looks_like_multiple_choice_and_another_does_not(tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", ["0", "1", "2", "1"])
    kind, reason = guess_task(DataConfig(data=str(tmp_path / "rows.csv"), label="label"))
    assert kind.name == "multiple-choice" and "ending0" in str(reason)
    (tmp_path / "plain.csv").write_text("text,label\na film,good\nb film,bad\n", encoding="utf-8")
    assert guess_task(DataConfig(data=str(tmp_path / "plain.csv"), label="label"))[0].name == "classification"


def config_of(folder: Path, **settings: Any) -> FineTuneConfig:
    path = folder / "rows.csv"
    if not path.exists():
        write(path, [str(row % 3) for row in range(36)])
    names = {"text": "startphrase", "choices": ", ".join(NAMES), "task": "multiple-choice"}
    return tiny_config(folder, **{"data": str(path), **names, "num_epochs": 1, **settings})


@pytest.mark.slow
def test_a_table_becomes_a_model_that_chooses_and_that_transformers_opens(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    events = list(fine_tune(config, tmp_path / "run"))
    assert any(isinstance(event, Evaluated) and "accuracy" in event.metrics for event in events)
    folder = tmp_path / "run" / "model"
    kind, data = task_of(folder), DataConfig(data=config.data.data)
    stock = take_stock(folder)
    assert kind.name == "multiple-choice" and not stock.refused
    assert stock.answers == ("BertForMultipleChoice",) and stock.labels == ()
    [measured] = [event for event in evaluate_file(folder, data, "cpu") if isinstance(event, Evaluated)]
    [found] = [
        event
        for event in predict_file(folder, data, tmp_path / "answers.csv", device="cpu")
        if isinstance(event, Predicted)
    ]
    right = sum(name == NAMES[row % 3] for row, name in enumerate(found.predictions))
    assert measured.metrics["accuracy"] == pytest.approx(right / 36) and set(found.predictions) <= set(NAMES)
    endings = ["good plot", "bad actor film", "dull", "story"]
    said = kind.answering(folder, "cpu")({"text": "a film", "choices": endings})
    assert said["prediction"] == endings[said["number"] - 1] and len(said["probabilities"]) == 4

    pytest.importorskip("onnxruntime")
    exported = result_of(exporting(folder, tmp_path / "onnx", ["a good film", "a bad plot"]))
    assert exported.num_answered == 3 and "ENDING" in (tmp_path / "onnx" / "answer.py").read_text()
    told = (tmp_path / "onnx" / "README.md").read_text(encoding="utf-8")
    assert "chooses which of several endings" in told and "multiple-choice" in told

    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertForMultipleChoice.from_pretrained(folder).eval()
    ours, _ = load_headed(folder, MultipleChoice)
    ids = torch.randint(5, 20, (3, 7))
    types = torch.tensor([[0, 0, 0, 1, 1, 1, 1]] * 3)
    with torch.no_grad():
        wanted = theirs(input_ids=ids[None], token_type_ids=types[None]).logits[0]
        torch.testing.assert_close(ours(ids, types)[:, 0], wanted, atol=1e-5, rtol=0)
    theirs.save_pretrained(tmp_path / "other")
    again, _ = load_headed(tmp_path / "other", MultipleChoice)
    with torch.no_grad():
        torch.testing.assert_close(again(ids, types)[:, 0], wanted, atol=1e-5, rtol=0)


@pytest.mark.slow
def test_a_temperature_that_is_kept_holds_for_the_runs_own_rows_as_for_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "others.csv", [str(row % 3) for row in range(12)]).path
    list(fine_tune(config_of(tmp_path, validation_data=str(path)), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    plain = result_of(scoring_part(tmp_path / "run", "validation", "cpu")).each.probabilities
    keep_temperature(folder, 0.1, num_fitted=40)
    own = result_of(scoring_part(tmp_path / "run", "validation", "cpu")).each.probabilities
    of_file = result_of(evaluate_file(folder, DataConfig(data=str(path)), "cpu")).each.probabilities
    np.testing.assert_allclose(own, of_file, atol=1e-5)
    assert (own.max(1) > plain.max(1)).all()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_stopped_goes_on_bit_for_bit(way: tuple[str, str], tmp_path: Path) -> None:
    config = config_of(tmp_path, num_epochs=2, kernels=way[0], precision=way[1])
    list(fine_tune(config, tmp_path / "whole"))
    stop_at(fine_tune(config, tmp_path / "halves"), 7)
    list(resume(tmp_path / "halves"))
    assert_learned_alike(tmp_path / "whole", tmp_path / "halves")


@pytest.mark.slow
def test_a_run_that_is_killed_twice_goes_on_without_its_table(tmp_path: Path) -> None:
    config = config_of(tmp_path, num_epochs=2)
    list(fine_tune(config, tmp_path / "whole"))
    kill_and_end(config, tmp_path / "killed", Path(config.data.data))
    assert_learned_alike(tmp_path / "whole", tmp_path / "killed")


@pytest.mark.slow
def test_each_ending_is_scored_in_a_packed_batch_as_alone(tmp_path: Path) -> None:
    list(fine_tune(config_of(tmp_path), tmp_path / "run"))
    answer = task_of(tmp_path / "run" / "model").answering(tmp_path / "run" / "model", "cpu")
    texts = ["good plot", "bad actor film bad actor", "dull"]
    together = answer({"text": "a film", "choices": texts})["probabilities"]
    turned = answer({"text": "a film", "choices": texts[::-1]})["probabilities"]
    assert together == pytest.approx(turned[::-1], abs=1e-5)
