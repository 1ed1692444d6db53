"""From a file of questions to a model, and going on with a run that was stopped or killed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.errors import ConfigError, DataError, ModelError, UserError
from engine.events import Evaluated, Finished, Noted, Started, result_of
from engine.model.weights import load_tensors
from engine.settings.config import with_values
from engine.train.finetune import fine_tune, resume
from engine.train.tasks.known import evaluate_file, guess_task, task_of
from engine.train.tasks.questions.kind import AnsweringQuestions
from tests.engine.steps import stop_at
from tests.engine.text.questions.test_broken_questions import TAKEN
from tests.engine.tiny_questions import question_config, squad, write_squad
from tests.engine.tiny_runs import kill_and_end, outcome, without_saved


def notes(events: list[Any]) -> str:
    return "\n".join(str(event.sentence) for event in events if isinstance(event, Noted))


def evaluations(events: list[Any], split: str) -> list[Evaluated]:
    return [event for event in events if isinstance(event, Evaluated) and event.split == split]


@pytest.mark.slow
def test_a_squad_file_is_known_for_what_it_is_and_becomes_a_model(tmp_path: Path) -> None:
    config = question_config(tmp_path, num_epochs=2, test_share=0.2)
    events = list(fine_tune(config, tmp_path / "run"))
    assert "It looks like a SQuAD file" in notes(events)
    assert "Whole articles are kept together" in notes(events) and "the rule of SQuAD 1.1" in notes(events)
    started = next(event for event in events if isinstance(event, Started))
    assert (started.task, started.labels, started.metric) == ("questions", (), "f1")
    assert started.num_train + started.num_validation + started.num_test == 48
    end = events[-1]
    assert isinstance(end, Finished) and end.metrics and set(end.metrics) == {"exact_match", "f1"}
    said = json.loads((tmp_path / "run" / "model" / "cloze.json").read_text())
    assert said["task"] == "questions" and said["with_none"] is False and said["longest_answer"] == 29
    assert (said["max_length"], said["stride"], said["max_question"]) == (29, 9, 4)
    assert "repaired" not in said and "threshold" not in said
    assert task_of(tmp_path / "run" / "model").name == "questions"
    shape = json.loads((tmp_path / "run" / "model" / "config.json").read_text())
    assert shape["architectures"] == ["BertForQuestionAnswering"] and "problem_type" not in shape


@pytest.mark.slow
def test_a_new_head_is_begun_and_a_trained_one_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = list[str]()
    for name in ("begin", "go_on"):
        monkeypatch.setattr(AnsweringQuestions, name, lambda *_args, name=name: told.append(name) or [])
    list(fine_tune(question_config(tmp_path), tmp_path / "first"))
    again = question_config(tmp_path, model=str(tmp_path / "first" / "model"))
    list(fine_tune(again, tmp_path / "second"))
    assert told == ["begin", "go_on"]


@pytest.mark.slow
def test_the_result_measured_again_gives_the_figures_of_its_best_evaluation(tmp_path: Path) -> None:
    apart = write_squad(tmp_path / "apart.json", squad(5, seed=7))
    config = question_config(tmp_path, num_epochs=2, validation_data=str(apart))
    events = list(fine_tune(config, tmp_path / "run"))
    best = [event for event in evaluations(events, "validation") if event.is_best][-1]
    data = with_values(config, {"data": str(apart)}).data
    again = evaluations(list(evaluate_file(tmp_path / "run" / "model", data, "cpu")), "test")
    assert again[0].metrics == best.metrics and again[0].loss == pytest.approx(best.loss, rel=1e-5)
    assert [one["id"] for one in again[0].details["mistakes"]] == [
        one["id"] for one in best.details["mistakes"]
    ]


@pytest.mark.slow
def test_the_threshold_of_the_best_validation_is_kept_with_the_model(tmp_path: Path) -> None:
    config = question_config(tmp_path, impossible=True, num_epochs=2, test_share=0.2)
    events = list(fine_tune(config, tmp_path / "run"))
    best = [event for event in evaluations(events, "validation") if event.is_best][-1]
    said = json.loads((tmp_path / "run" / "model" / "cloze.json").read_text())
    assert said["with_none"] is True and said["threshold"] == best.details["threshold"]["value"]
    (tested,) = evaluations(events, "test")
    assert tested.details["threshold"]["used"] == said["threshold"]
    assert {"has_answer_f1", "no_answer_exact_match"} <= set(best.metrics)


@pytest.mark.slow
@pytest.mark.parametrize(
    "way",
    [{"encoder": "frozen"}, {"frozen_layers": 1}, {"layer_mix": True}, {"layer_decay": 0.8},
     {"encoder": "frozen", "layer_mix": True}, {"gradient_accumulation_steps": 3}],
)  # fmt: skip
def test_every_way_to_adapt_a_model_works_and_goes_on_bit_for_bit(
    tmp_path: Path, way: dict[str, Any]
) -> None:
    config = question_config(tmp_path, **way)
    list(fine_tune(config, tmp_path / "whole"))
    stop_at(fine_tune(config, tmp_path / "run"), 2)
    list(resume(tmp_path / "run"))
    assert without_saved(outcome(tmp_path / "run")) == without_saved(outcome(tmp_path / "whole"))
    kept = load_tensors(tmp_path / "run" / "model" / "model.safetensors")
    assert "qa_outputs.weight" in kept


@pytest.mark.slow
def test_a_run_stopped_at_any_yield_goes_on_to_the_same_end(tmp_path: Path) -> None:
    write_squad(tmp_path / "asked.json", squad(6))
    config = question_config(tmp_path, batch_size=16, evaluate_every_steps=2, test_share=0.2)
    count = len(list(fine_tune(config, tmp_path / "whole")))
    wanted = without_saved(outcome(tmp_path / "whole"))
    for number in range(1, count + 1, 3):
        run_dir = tmp_path / f"run{number}"
        events = fine_tune(config, run_dir)
        for _ in range(number):
            next(events)
        events.close()  # type: ignore[attr-defined]
        if run_dir.exists():
            list(resume(run_dir))
            assert without_saved(outcome(run_dir)) == wanted, number
            shutil.rmtree(run_dir)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_run_that_is_killed_ends_with_the_same_bits_though_its_file_is_gone(tmp_path: Path) -> None:
    config = question_config(tmp_path, impossible=True, num_epochs=4, evaluate_every_steps=3)
    list(fine_tune(config, tmp_path / "whole"))
    kill_and_end(config, tmp_path / "run", tmp_path / "asked.json")
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


def test_a_damaged_setup_is_told_in_a_sentence(tmp_path: Path) -> None:
    events = fine_tune(question_config(tmp_path), tmp_path / "run")
    assert any(isinstance(event, Started) for event in events)
    events.close()  # type: ignore[attr-defined]
    path = tmp_path / "run" / "setup" / "setup.json"
    whole = json.loads(path.read_text())
    for changes in ({"longest_answer": 0}, {"with_none": "yes"}, {"longest_answer": 10**9}):
        path.write_text(json.dumps({**whole, **changes}))
        with pytest.raises(ModelError, match="is damaged"):
            list(resume(tmp_path / "run"))


def test_where_no_length_is_asked_for_windows_are_as_long_as_the_model_reads(tmp_path: Path) -> None:
    events = fine_tune(question_config(tmp_path, max_length=0), tmp_path / "run")
    assert any(isinstance(event, Started) for event in events)
    events.close()  # type: ignore[attr-defined]
    said = json.loads((tmp_path / "run" / "setup" / "setup.json").read_text())
    assert said["max_length"] == 41


# Bad input: one sentence, and nothing is made


BAD_VALUES: list[tuple[dict[str, Any], type[UserError], str]] = [
    ({"rare_labels": "weighted"}, ConfigError, "rare_labels is weighted, but the task questions has no"),
    ({"label_smoothing": 0.1}, ConfigError, "label_smoothing is 0.1, but the task questions has no labels"),
    ({"max_length": 42}, ConfigError, "max_length is 42, but the model has positions for 41"),
    ({"max_question": 64}, ConfigError, "for questions of up to 64 pieces it must be at least 75"),
    ({"validation_data": "nowhere.json"}, ConfigError, "validation_data: There is no file nowhere.json"),
    ({"data": ""}, ConfigError, "No data was chosen"),
    ({"data": "unknown.csv"}, DataError, "unknown.csv holds no answers"),
    ({"data": "reviews.csv"}, DataError, "does not look like questions about passages"),
    ({"data": "lost.json"}, DataError, "No question of"),
    ({"data": "cut.json"}, DataError, "is not valid JSON in line"),
    ({"data": "unknown.csv", "text": "nowhere"}, DataError, "has no column nowhere"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "kind", "says"), BAD_VALUES)
def test_what_cannot_be_trained_on_is_refused_and_no_folder_is_made(
    tmp_path: Path, values: dict[str, Any], kind: type[UserError], says: str
) -> None:
    (tmp_path / "unknown.csv").write_text("question,context\nfilm?,a film good\n")
    (tmp_path / "reviews.csv").write_text("text,label\nfilm,good\nplay,bad\n")
    lost = {"context": "a b c", "qas": [{"id": "1", "question": "x", "answers": ["z"]}]}
    write_squad(tmp_path / "lost.json", {"data": [{"paragraphs": [lost]}]})
    (tmp_path / "cut.json").write_text(json.dumps(squad(2))[:-40])
    if values.get("data", "").partition(".")[0] in ("unknown", "reviews", "lost", "cut"):
        values = {**values, "data": str(tmp_path / values["data"])}
    with pytest.raises(kind) as refused:
        list(fine_tune(question_config(tmp_path, task="questions", **values), tmp_path / "run"))
    assert says in str(refused.value) and not (tmp_path / "run").exists()


def test_every_row_is_used_or_reported_by_its_place(tmp_path: Path) -> None:
    document = squad(12)
    first, second = document["data"][0]["paragraphs"], document["data"][1]["paragraphs"]
    first[0]["qas"][0]["answers"][0]["answer_start"] += 1  # mended
    first[0]["qas"][1]["answers"][0]["text"] = "nowhere to be seen"
    first[1]["qas"].append({"question": "", "answers": [], "id": "x"})
    second[0]["qas"].append(7)
    second[1].pop("qas")
    write_squad(tmp_path / "asked.json", document)
    events = fine_tune(question_config(tmp_path, validation_share=0.0), tmp_path / "run")
    heard = []
    for event in events:
        heard.append(event)
        if isinstance(event, Started):
            break
    events.close()  # type: ignore[attr-defined]
    said = json.loads((tmp_path / "run" / "setup" / "setup.json").read_text())
    # 48 less two of a paragraph, and what was added: the empty one, the 7 and the paragraph itself
    assert said["data"]["rows"] == 48 - 2 + 3
    assert isinstance(heard[-1], Started) and heard[-1].num_train + len(said["reported"]) == 49
    assert len(said["repaired"]) == 1 and "begins at character" in said["repaired"][0]["reason"]
    reasons = " ".join(one["reason"] for one in said["reported"])
    assert "article 1, paragraph 1, question 2" in reasons and "article 2, paragraph 2" in reasons
    assert "4 of 49 rows of asked.json cannot be used" in notes(heard)


@pytest.mark.parametrize(
    ("columns", "task"),
    [
        ({}, "questions"),
        ({"text": "question", "text_pair": "context", "label": "answer"}, "questions"),
        ({"text": "2", "text_pair": "3"}, "questions"),
        ({"text": "question", "label": "topic"}, "classification"),
        ({"text": "question", "text_pair": "context", "label": "topic"}, "classification"),
        ({"task": "classification"}, "classification"),
    ],
)
def test_a_table_is_of_questions_unless_its_columns_are_chosen_otherwise(
    tmp_path: Path, columns: dict[str, str], task: str
) -> None:
    rows = "".join(f"t,Who is {n}?,it is {n} I know,{n}\n" for n in range(5))
    (tmp_path / "asked.csv").write_text("topic,question,context,answer\n" + rows)
    data = question_config(tmp_path, data=str(tmp_path / "asked.csv"), **columns).data
    assert guess_task(data)[0].name == task


@pytest.mark.parametrize("kind", TAKEN)
def test_of_an_odd_file_every_row_is_learned_from_or_reported(tmp_path: Path, kind: str) -> None:
    name, content, used, repaired, reported, _ = TAKEN[kind]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    config = question_config(tmp_path, data=str(tmp_path / name), validation_share=0.0)
    try:
        setup = result_of(AnsweringQuestions().prepare(config))
    except DataError as error:
        assert "holds no answers" in str(error)
        return
    assert setup.sets["train"].num_rows == used
    assert (len(setup.about["repaired"]), len(setup.about["reported"])) == (repaired, reported)
    assert setup.about["data"]["rows"] == used + reported
