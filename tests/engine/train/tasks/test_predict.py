"""Answers: the same rows and columns with more columns beside them, safe to open, and never over the data."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import DataError, ModelError, UserError
from engine.events import Evaluated, Event, Finished, Noted, Predicted
from engine.model.info import read_info
from engine.model.weights import load_classifier, save_model
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.roles import ROLE_NAMES, Roles
from engine.text.table import read_table
from engine.train.finetune import fine_tune
from engine.train.tasks.classification.task import Classification
from engine.train.tasks.known import CLASSIFICATION, evaluate_file
from engine.train.tasks.rows.predict import RowModel, predict_file
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.fakes import LABELS, model_folder, tiny_classifier, tiny_wordpiece

LONG = "good " * 60


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "model")


def said_of(folder: Path, **info: Any) -> Path:
    """Write a model folder with a cloze.json."""
    save_model(folder, tiny_classifier(), tiny_wordpiece(), {"task": "classification", **info})
    return folder


def opening(model: Path) -> Callable[[], RowModel]:
    return partial(CLASSIFICATION.predictor, model)


def predict(model: Path, data: Path, **options: Any) -> tuple[list[dict[str, str]], list[Event]]:
    out = data.with_name("answers.csv")
    columns = Roles(**{name: options.pop(name) for name in ROLE_NAMES if name in options})
    events = list(predict_file(opening(model), data, out, columns, **options))
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)), events


def notes(events: list[Event]) -> list[str]:
    return [str(event.sentence) for event in events if isinstance(event, Noted)]


# One text


def test_probabilities_are_those_of_the_model_on_the_same_ids(model: Path) -> None:
    predictor = CLASSIFICATION.predictor(model)
    encoding = predictor.wordpiece.encode("good film", "a play")
    ids, segments = torch.tensor([encoding.input_ids]), torch.tensor([encoding.token_type_ids])
    own, _ = load_classifier(model)
    with torch.inference_mode():
        wanted = own(ids, segments, torch.ones_like(ids)).softmax(-1)[0].numpy()
    assert np.allclose(predictor.predict("good film", "a play"), wanted, atol=1e-6)
    assert predictor.labels == LABELS and predictor.predict("good film").sum() == pytest.approx(1)


def test_a_text_too_long_or_empty_has_an_answer(model: Path) -> None:
    predictor = CLASSIFICATION.predictor(model)
    for text in (LONG, "", "\n", "评论", "\ud800"):
        assert np.isfinite(predictor.predict(text)).all()


def test_a_model_is_used_as_it_was_trained(tmp_path: Path) -> None:
    info = {
        "max_length": 7,
        "truncation": "head_tail",
        "roles": {"text": "a", "text_pair": "b", "label": "c"},
    }
    predictor = CLASSIFICATION.predictor(said_of(tmp_path / "model", **info))
    assert (predictor.max_length, predictor.truncation, predictor.wants_pair) == (7, "head_tail", True)
    assert np.array_equal(predictor.predict("bad good good good good"), predictor.predict(f"bad {LONG}"))


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"roles": null}', '{"roles": [1]}', '{"max_length": "long"}', '{"max_length": 0}',
     '{"truncation": "tail"}', "[" * 5000, '{"max_length": Infinity}', '{"labels": 5}', '{"labels": [[]]}',
     '{"roles": {"text": []}}', '{"truncation": []}', '{"chain": [{"steps": 1' + "0" * 400 + "}]}"],
)  # fmt: skip
def test_a_damaged_cloze_json_is_told_in_a_sentence(model: Path, text: str) -> None:
    (model / "cloze.json").write_text(text)
    with pytest.raises(ModelError, match=r"cloze\.json is damaged"):
        CLASSIFICATION.predictor(model)


@pytest.mark.skipif(os.name == "nt", reason="no pipes or devices among this system's files")
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir])
def test_a_cloze_json_that_is_no_file_is_refused_at_once(model: Path, make: Callable[[Path], None]) -> None:
    (model / "cloze.json").unlink()
    make(model / "cloze.json")
    with pytest.raises(ModelError, match=r"cloze.json .* was not opened|cloze.json is damaged"):
        read_info(model)


def test_a_model_without_cloze_json_is_used_at_its_full_length(model: Path) -> None:
    (model / "cloze.json").unlink()
    predictor = CLASSIFICATION.predictor(model)
    assert predictor.max_length == 41 and not predictor.wants_pair and predictor.info == {}


def test_a_vocabulary_of_another_model_is_refused(model: Path) -> None:
    (model / "tokenizer.json").unlink()
    (model / "vocab.txt").write_text((model / "vocab.txt").read_text() + "zebra\n")
    with pytest.raises(ModelError, match="They do not belong together"):
        CLASSIFICATION.predictor(model)


def test_a_pair_for_a_model_of_one_segment_is_refused(tmp_path: Path) -> None:
    predictor = CLASSIFICATION.predictor(model_folder(tmp_path / "model", type_vocab_size=1))
    predictor.predict("good")
    with pytest.raises(ModelError, match="it cannot read pairs"):
        predictor.predict("good", "bad")


# A file


def test_rows_and_columns_stay_and_answers_stand_beside_them(tmp_path: Path, model: Path) -> None:
    rows = [("1", "good film", "x"), ("2", " ", "y"), ("3", "bad, bad", ""), ("4", LONG, "z")]
    with (tmp_path / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "text", "note"), *rows])
    found, events = predict(model, tmp_path / "data.csv", text="text")
    assert [(row["id"], row["text"], row["note"]) for row in found] == rows
    assert list(found[0])[3:] == ["prediction", "probability: bad", "probability: good", "probability: odd"]
    assert list(found[1].values())[3:] == ["", "", "", ""]
    assert notes(events) == [
        "Line 3 has no text in column text.",
        "Truncated at 41 pieces, as in training: 1 of 3 texts.",
    ]
    predictor = CLASSIFICATION.predictor(model)
    for number in (0, 2, 3):
        wanted = predictor.predict(rows[number][1])
        shown = [float(found[number][f"probability: {label}"]) for label in LABELS]
        assert shown == pytest.approx(wanted.tolist(), abs=1e-6)
        assert found[number]["prediction"] == LABELS[int(wanted.argmax())]
    told = next(event for event in events if isinstance(event, Predicted))
    assert told.rows.tolist() == [0, 2, 3] and told.probabilities.shape == (3, 3)
    assert isinstance(events[-1], Finished) and events[-1].path == tmp_path / "answers.csv"


def test_a_label_that_is_known_stays_the_label_of_its_row_and_of_the_same_text(
    tmp_path: Path, model: Path
) -> None:
    texts = ["good film", "Good  film", "bad film", "bad film", "bad film", "film"]
    data = write_table(tmp_path / "data.csv", [(text,) for text in texts], "text")
    answers = [row["prediction"] for row in predict(model, data, text="text")[0]]
    one, other = (label for label in LABELS if label != answers[0])
    assert {*answers} == {answers[0]}  # so the model says something else of each label that is known
    known = {0: (one, "hand"), 2: (one, "hand"), 3: (other, "hand")}
    (tmp_path / "answers.csv").unlink()
    found, events = predict(model, data, text="text", known=known)
    finals = [(row["final_label"], row["final_label_from"]) for row in found]
    assert finals[:4] == [(one, "hand"), (one, "same text"), (one, "hand"), (other, "hand")]
    assert finals[4:] == [(answers[4], "model"), (answers[5], "model")]  # unlike labels say nothing of others
    assert [row["prediction"] for row in found] == answers
    said = "4 rows have a label that was given before, which final_label keeps. "
    assert said + "The model says something else of 4 of them." in notes(events)


def test_a_table_and_a_model_that_are_open_give_the_same_file(tmp_path: Path, model: Path) -> None:
    data = tmp_path / "in.csv"
    data.write_text("id,text\n1,good film\n2,\n3,=bad\n", encoding="utf-8")
    list(predict_file(opening(model), data, tmp_path / "one.csv", Roles("text")))
    table, predictor = read_table(data), CLASSIFICATION.predictor(model)
    list(predict_file(predictor, table, tmp_path / "two.csv", Roles("text")))
    assert (tmp_path / "two.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    with pytest.raises(DataError):
        list(predict_file(predictor, table, data, Roles("text")))  # over the table itself


def test_a_line_that_is_no_row_is_reported(tmp_path: Path, model: Path) -> None:
    (tmp_path / "data.csv").write_text("id,text\n1,good\n2,bad,worse\n3,odd\n")
    found, events = predict(model, tmp_path / "data.csv", text="text")
    assert [row["id"] for row in found] == ["1", "3"]
    assert any("Line 3 has 3 columns" in note for note in notes(events))


def test_columns_are_those_of_the_training_data_unless_others_are_named(tmp_path: Path) -> None:
    trained = said_of(tmp_path / "model", roles={"text": "review", "text_pair": "", "label": "y"})
    write_table(tmp_path / "data.csv", [("good", "bad")] * 3, header="review,other")
    first, _ = predict(trained, tmp_path / "data.csv")
    second, _ = predict(trained, tmp_path / "data.csv", text="2")
    assert first[0]["probability: bad"] != second[0]["probability: bad"]
    write_table(tmp_path / "data.csv", [("good", "bad")] * 3, header="a,b")
    with pytest.raises(DataError, match="has no column review"):
        predict(trained, tmp_path / "data.csv")


def test_cells_that_a_spreadsheet_would_run_are_guarded_unless_raw(tmp_path: Path, model: Path) -> None:
    write_table(tmp_path / "data.csv", [("=1+1", "good"), ("@sum", "bad")], header="note,text")
    guarded, _ = predict(model, tmp_path / "data.csv", text="text", header="yes")
    raw, _ = predict(model, tmp_path / "data.csv", text="text", header="yes", raw=True)
    assert [row["note"] for row in guarded] == ["'=1+1", "'@sum"]
    assert [row["note"] for row in raw] == ["=1+1", "@sum"]


def test_a_label_that_is_a_number_stays_one_and_a_formula_does_not(tmp_path: Path) -> None:
    write_table(tmp_path / "data.csv", [("good",), ("bad",)] * 3, header="text")
    numbers, _ = predict(
        model_folder(tmp_path / "a", labels=("-1", "0", "1.5")), tmp_path / "data.csv", text="text"
    )
    assert {row["prediction"] for row in numbers} <= {"-1", "0", "1.5"}
    formulas, _ = predict(
        model_folder(tmp_path / "b", labels=("=a", "=b", "=c")), tmp_path / "data.csv", text="text"
    )
    assert {row["prediction"] for row in formulas} <= {"'=a", "'=b", "'=c"}


@pytest.mark.parametrize("name", ["prediction", "probability: odd"])
def test_a_column_is_never_written_over(tmp_path: Path, model: Path, name: str) -> None:
    write_table(tmp_path / "data.csv", [("good", "mine")] * 3, header=f"text,{name}")
    with pytest.raises(DataError, match=f"already has a column named {name}"):
        predict(model, tmp_path / "data.csv", text="text")
    assert not (tmp_path / "answers.csv").exists()


def test_places_that_cannot_take_the_answers_are_refused_before_the_model_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RowModel, "from_folder", lambda *_: pytest.fail("the model was read"))
    data = write_table(tmp_path / "data.csv", [("good",)] * 3, header="text")
    (tmp_path / "link.csv").symlink_to(data)
    before = data.read_bytes()
    for out, says in (
        (data, "is the data itself"),
        (tmp_path / "link.csv", "is the data itself"),
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "out.csv", "There is no folder"),
        (data / "out.csv", "There is no folder"),
        (Path("/proc/out.csv"), "could not be written|read-only|There is no folder"),
    ):
        with pytest.raises(UserError, match=says):
            list(predict_file(opening(tmp_path / "model"), data, out, Roles("text")))
    assert data.read_bytes() == before


def test_what_stood_in_the_place_of_the_answers_stays_when_they_fail(tmp_path: Path, model: Path) -> None:
    (tmp_path / "answers.csv").write_text("old")
    write_table(tmp_path / "data.csv", [("",)] * 3, header="text")
    with pytest.raises(DataError):
        predict(model, tmp_path / "data.csv", text="text", header="yes")
    assert (tmp_path / "answers.csv").read_text() == "old"
    assert not list(tmp_path.glob(".*"))


# Measuring


def test_an_evaluation_counts_what_predictions_say(tmp_path: Path, model: Path) -> None:
    rows = [*reviews(31), ("odd film", "strange"), ("", "good")]
    data = write_table(tmp_path / "data.csv", rows)
    found, _ = predict(model, data, text="text")
    config = with_values(FineTuneConfig(), {"data": str(data), "text": "text", "label": "label"})
    events = list(evaluate_file(model, config.data))
    measured = next(event for event in events if isinstance(event, Evaluated))
    wanted = np.zeros((3, 3), int)
    for row in found[:31]:
        wanted[LABELS.index(row["label"]), LABELS.index(row["prediction"])] += 1
    assert measured.confusion is not None and measured.confusion.tolist() == wanted.tolist()
    assert measured.metrics["accuracy"] == pytest.approx(np.trace(wanted) / 31)
    assert any("the label strange, which the model does not know" in note for note in notes(events))


def test_memory_that_ends_while_answering_costs_time_and_no_answer(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_table(tmp_path / "data.csv", reviews(31))
    wanted, _ = predict(model, data, text="text")
    forward = Classification.forward

    def cramped(self: Classification, model: Any, batch: Any) -> torch.Tensor:
        if batch.num_tokens > 30:
            raise torch.OutOfMemoryError
        return forward(self, model, batch)

    monkeypatch.setattr(Classification, "forward", cramped)
    found, _ = predict(model, data, text="text")
    assert [row["prediction"] for row in found] == [row["prediction"] for row in wanted]
    monkeypatch.setattr(Classification, "forward", lambda *_: (_ for _ in ()).throw(MemoryError()))
    with pytest.raises(UserError, match="There is not enough memory for one text of"):
        predict(model, data, text="text")


def test_a_pair_model_reads_both_columns(tmp_path: Path) -> None:
    rows = [
        (text, other, label) for (text, label), (other, _) in zip(reviews(30), reviews(30, 4), strict=True)
    ]
    write_table(tmp_path / "reviews.csv", rows, header="a,b,same")
    config = tiny_config(tmp_path, text="a", text_pair="2", label="same", num_epochs=1)
    list(fine_tune(config, tmp_path / "run"))
    model = tmp_path / "run" / "model"
    assert json.loads((model / "cloze.json").read_text())["roles"] == {
        "text": "a",
        "text_pair": "b",
        "label": "same",
    }
    found, _ = predict(model, tmp_path / "reviews.csv")
    predictor = CLASSIFICATION.predictor(model)
    assert predictor.wants_pair
    shown = float(found[7]["probability: good"])
    assert shown == pytest.approx(predictor.predict(rows[7][0], rows[7][1])[1], abs=1e-6)


# What a score hides


def constant_model(folder: Path, answer: int = 1) -> Path:
    """Write a model that answers one label whatever it reads."""
    model = tiny_classifier()
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 0.0, 0.0]))
        model.classifier.bias[answer] = 3.0
    info = {"task": "classification", "roles": {"text": "text", "text_pair": "", "label": "label"}}
    save_model(folder, model, tiny_wordpiece(), info)
    return folder


def measured_on(model: Path, data: Path, **named: str) -> tuple[Evaluated, list[str]]:
    config = with_values(FineTuneConfig(), {"data": str(data), **named})
    events = list(evaluate_file(model, config.data))
    return next(event for event in events if isinstance(event, Evaluated)), notes(events)


def test_a_model_that_answers_one_label_only_is_told_by_evaluate_and_by_predict(tmp_path: Path) -> None:
    data = write_table(tmp_path / "data.csv", reviews(31))
    constant = constant_model(tmp_path / "model")
    _, said = measured_on(constant, data)
    assert said == [
        "The model predicts good for all 31 test rows, though they carry 2 labels. It "
        "does not distinguish them."
    ]
    _, events = predict(constant, data)
    assert any("All 31 rows got the same answer, good" in note for note in notes(events))
    (tmp_path / "answers.csv").unlink()
    _, events = predict(constant, data, label="label")
    assert notes(events) == said
    write_table(tmp_path / "alike.csv", [("good", "good"), ("good film", "good")] * 9)
    assert measured_on(constant, tmp_path / "alike.csv")[1] == []  # all right, and nothing to tell apart


def test_the_score_of_a_predicted_file_is_the_one_that_evaluate_gives(tmp_path: Path, model: Path) -> None:
    rows = [*reviews(31), ("odd film", "strange"), ("", "good"), ("good", ""), (LONG, "odd")]
    data = write_table(tmp_path / "data.csv", rows)
    wanted, said = measured_on(model, data, text="text", label="label")
    found, events = predict(model, data, text="text", label="label")
    event = next(event for event in events if isinstance(event, Evaluated))
    assert event.confusion is not None and wanted.confusion is not None
    assert event.confusion.tolist() == wanted.confusion.tolist() and event.confusion.sum() == 32
    assert event.metrics == wanted.metrics and event.per_label == wanted.per_label
    assert event.loss == pytest.approx(wanted.loss, rel=1e-5)
    told = notes(events)
    assert "Line 33 has the label strange, which the model does not know." in told
    assert "Line 35 has no label in column label." in told and len(told) == len(set(told))
    assert "Measured rows: 32. Rows that cannot be used and do not count: 3." in said
    assert [bool(row["prediction"]) for row in found[31:]] == [True, False, True, True]


def test_labels_that_the_model_does_not_know_leave_the_answers_without_a_score(
    tmp_path: Path, model: Path
) -> None:
    data = write_table(tmp_path / "data.csv", [("good", "x"), ("bad", "y")] * 3)
    found, events = predict(model, data, text="text", label="label")
    assert len(found) == 6 and not any(isinstance(event, Evaluated) for event in events)
    assert any(note.startswith("The answers have no score. None of the 6 rows") for note in notes(events))


def test_a_second_text_for_a_model_of_single_texts_is_told(tmp_path: Path) -> None:
    data = write_table(tmp_path / "data.csv", [("good", "bad")] * 3, header="text,other")
    _, events = predict(constant_model(tmp_path / "model"), data, text_pair="other")
    assert any("was trained on single texts, but column other" in note for note in notes(events))


def test_texts_that_are_not_read_to_their_end_are_counted(tmp_path: Path) -> None:
    trained = said_of(tmp_path / "model", max_length=7, roles={"text": "text"})
    data = write_table(tmp_path / "data.csv", [(LONG,), ("good",), (LONG,)], header="text")
    _, events = predict(trained, data)
    assert notes(events) == ["Truncated at 7 pieces, as in training: 2 of 3 texts."]


def test_every_line_that_is_not_used_is_named_however_many_there_are(tmp_path: Path, model: Path) -> None:
    lines = ["good", *["a,b"] * 150, "bad", *["a,b"] * 30, "odd"]
    (tmp_path / "data.csv").write_text("\n".join(["text", *lines]) + "\n", encoding="utf-8")
    _, events = predict(model, tmp_path / "data.csv", text="text", separator=",")
    said = notes(events)
    assert sum(note.startswith("Line ") for note in said) == 100
    assert any(
        note.startswith("More lines are not used: 103-152, 154-183. For example: Line 103 ") for note in said
    )


def test_a_table_with_semicolons_is_answered_in_one_with_semicolons(tmp_path: Path, model: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text('text;id\ngood, film;1\n"bad; film";2\n', encoding="utf-8")
    list(predict_file(opening(model), data, tmp_path / "answers.csv", Roles("text")))
    table = read_table(tmp_path / "answers.csv")
    assert table.format.separator == ";" and table.columns[:2] == ("text", "id")
    assert table.frame["text"].tolist() == ["good, film", "bad; film"]


def test_a_name_that_ends_in_tsv_is_written_with_tabs(tmp_path: Path, model: Path) -> None:
    data = write_table(tmp_path / "data.csv", [("good, film", "1")], header="text,id")
    data.write_text('text,id\n"good, film",1\n', encoding="utf-8")
    list(predict_file(opening(model), data, tmp_path / "answers.tsv", Roles("text")))
    lines = (tmp_path / "answers.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[1].split("\t")[:2] == ["good, film", "1"]
