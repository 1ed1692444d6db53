"""Answers of a model folder: to one question, and to files in each of their forms."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import DataError, ModelError, UserError
from engine.events import Evaluated, Finished, Noted, Predicted
from engine.model.heads import QuestionAnswering
from engine.model.weights import save_model
from engine.settings.finetune import DataConfig
from engine.train.tasks.known import evaluate_file, predict_file
from engine.train.tasks.questions.predict import QuestionModel
from tests.engine.tiny_questions import squad, write_squad
from tests.engine.tiny_runs import run_engine
from tests.fakes import model_folder, scramble, tiny_config, tiny_wordpiece

ABOUT = {"task": "questions", "max_length": 29, "stride": 9, "max_question": 4, "longest_answer": 6}
PASSAGE = "a b film good c d e f g h i j k l m n o p q r s t u v w x y z a b c d e bad f g"


def answerer(path: Path, **about: Any) -> Path:
    model = QuestionAnswering(tiny_config()).eval()
    scramble(model, 5)
    save_model(path, model, tiny_wordpiece(), {**ABOUT, **about})
    return path


def predicted(model: Path, data: Path, out: Path, **changes: Any) -> list[Any]:
    return list(predict_file(model, DataConfig(data=str(data), **changes), out, device="cpu"))


def test_one_question_has_answers_cut_out_of_its_passage_and_chances_that_sum_to_one(tmp_path: Path) -> None:
    predictor = QuestionModel.from_folder(answerer(tmp_path / "model", with_none=True, threshold=0.5), "cpu")
    reply = predictor.ask("film !", PASSAGE)
    best = reply.answered.candidates[0]
    assert reply.text in ("", best.text) and reply.passage == PASSAGE
    for one in reply.answered.candidates:
        assert PASSAGE[one.start : one.stop] == one.text
    shares = [one.probability for one in reply.answered.candidates]
    assert sum(shares) + reply.answered.none_probability == pytest.approx(1)
    assert reply.chances.start.sum() + reply.chances.none_start == pytest.approx(1)
    assert len(reply.chances.spans) == len(reply.chances.end) == 36
    assert (reply.text == "") == (reply.answered.difference > 0.5)


@pytest.mark.parametrize(
    ("question", "passage", "says"),
    [
        ("", PASSAGE, "The question is empty"),
        ("film", "  ", "There is no passage"),
        ("\ud800", PASSAGE, "half"),
    ],
)
def test_an_empty_question_is_refused_in_a_sentence(
    tmp_path: Path, question: str, passage: str, says: str
) -> None:
    predictor = QuestionModel.from_folder(answerer(tmp_path / "model"), "cpu")
    with pytest.raises(DataError, match=says):
        predictor.ask(question, passage)


def test_a_file_of_answers_is_squads_own_or_tells_all_or_is_a_table(tmp_path: Path) -> None:
    model = answerer(tmp_path / "model")
    data = write_squad(tmp_path / "asked.json", squad(3))
    for name in ("a.json", "a.jsonl", "a.csv", "a.tsv"):
        events = predicted(model, data, tmp_path / name)
        assert isinstance(events[-1], Finished) and events[-1].path == tmp_path / name
        (scored,) = [event for event in events if isinstance(event, Evaluated)]
        assert scored.details["num_examples"] == 12
    short = json.loads((tmp_path / "a.json").read_text())
    full = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert short == {one["id"]: one["answer"] for one in full} and len(short) == 12
    contexts = [p["context"] for article in squad(3)["data"] for p in article["paragraphs"] for _ in p["qas"]]
    for one, context in zip(full, contexts, strict=True):
        assert context[one["start"] : one["end"]] == one["answer"] == one["candidates"][0]["text"]
    for name, separator in (("a.csv", ","), ("a.tsv", "\t")):
        with (tmp_path / name).open(newline="") as file:
            rows = list(csv.DictReader(file, delimiter=separator))
        assert {one["id"]: one["prediction"] for one in rows} == short
        assert [int(one["prediction start"]) for one in rows] == [one["start"] for one in full]
    (answers,) = (event for event in events if isinstance(event, Predicted))
    assert answers.predictions == tuple(short.values())


def test_a_table_is_copied_with_its_answers_and_rows_without_one_stay_empty(tmp_path: Path) -> None:
    model = answerer(tmp_path / "model", roles={"text": "ask", "text_pair": "read", "label": "said"})
    rows = [("1", "film !", PASSAGE, "good"), ("2", "", PASSAGE, "bad"), ("3", "film", "=a b bad c", "bad")]
    table = tmp_path / "asked.csv"
    table.write_text("n,ask,read,said\n" + "".join(",".join(row) + "\n" for row in rows))
    events = predicted(model, table, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        copied = list(csv.DictReader(file))
    assert [one["n"] for one in copied] == ["1", "2", "3"] and copied[1]["prediction"] == ""
    assert copied[0]["prediction"] in PASSAGE and copied[2]["read"] == "'=a b bad c"
    told = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert any("The question is empty (line 3)" in one for one in told)
    with pytest.raises(DataError, match="already has a column named prediction"):
        predicted(model, tmp_path / "out.csv", tmp_path / "again.csv")
    predicted(model, table, tmp_path / "named.json", text="ask", text_pair="read")
    assert list(json.loads((tmp_path / "named.json").read_text())) == ["2", "4"]


def test_nothing_is_left_where_writing_is_stopped(tmp_path: Path) -> None:
    model, data = answerer(tmp_path / "model"), write_squad(tmp_path / "asked.json", squad(3))
    events = predict_file(model, DataConfig(data=str(data)), tmp_path / "a.json", device="cpu")
    for event in events:
        if getattr(event, "stage", "") == "Writing":
            break
    events.close()  # type: ignore[attr-defined]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked.json", "model"]


def test_a_file_without_answers_is_answered_and_cannot_be_measured(tmp_path: Path) -> None:
    model, document = answerer(tmp_path / "model"), squad(2)
    for article in document["data"]:
        for paragraph in article["paragraphs"]:
            for one in paragraph["qas"]:
                del one["answers"]
    data = write_squad(tmp_path / "asked.json", document)
    assert not any(isinstance(event, Evaluated) for event in predicted(model, data, tmp_path / "a.json"))
    with pytest.raises(DataError, match="holds no answers"):
        list(evaluate_file(model, DataConfig(data=str(data)), "cpu"))
    with pytest.raises(DataError, match="is the data itself"):
        predicted(model, data, data)


def test_notes_of_a_model_that_cannot_be_are_not_believed(tmp_path: Path) -> None:
    hostile = {"longest_answer": -3, "threshold": "x", "with_none": 3, "stride": [], "max_question": 0}
    predictor = QuestionModel.from_folder(
        answerer(tmp_path / "model", **hostile | {"max_question": 5}), "cpu"
    )
    assert predictor.task.longest == 30 and predictor.task.threshold == 0 and not predictor.task.with_none
    assert predictor.cut.stride == 128
    wide = QuestionModel.from_folder(answerer(tmp_path / "wide", max_question=60), "cpu")
    with pytest.raises(UserError, match="max_length is 29"):
        wide.ask("film", PASSAGE)
    with pytest.raises(ModelError, match="holds no head for questions"):
        QuestionModel.from_folder(model_folder(tmp_path / "classifier"), "cpu")


@pytest.mark.slow
def test_a_folder_of_transformers_is_measured_and_the_command_tells_the_figures(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(**tiny_config(max_position_embeddings=90, id2label=("a", "b")).to_json())
    reference = transformers.BertForQuestionAnswering(config).eval()
    scramble(reference, seed=2)
    reference.save_pretrained(tmp_path / "theirs")
    tiny_wordpiece().save(tmp_path / "theirs")
    data = write_squad(tmp_path / "asked.json", squad(2, impossible=True))
    code, out, err = run_engine("evaluate", "--model", tmp_path / "theirs", "--data", data, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert {"exact_match", "f1", "has_answer_f1", "no_answer_f1", "loss"} <= set(found)
    assert found["num_examples"] == 8 and found["details"]["rule"] == "SQuAD 2.0"
    predictor = QuestionModel.from_folder(tmp_path / "theirs", "cpu")
    reply = predictor.ask("film", PASSAGE)
    assert np.isfinite([one.score for one in reply.answered.candidates]).all()
