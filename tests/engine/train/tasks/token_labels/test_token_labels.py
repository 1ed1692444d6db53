"""Tags of words beside the references: loss as transformers', scores as conlleval.pl's; files in and out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score

from engine.errors import ConfigError, DataError
from engine.events import Evaluated, Event, Finished, Noted, Started, result_of
from engine.model.heads import TokenClassifier
from engine.model.weights import load_headed
from engine.settings.finetune import DataConfig
from engine.text.batch import collate
from engine.train.finetune import fine_tune
from engine.train.run.records import count_of
from engine.train.tasks.known import TASKS, evaluate_file, guess_task, predict_file, task_of
from engine.train.tasks.token_labels.details import confusion_in, error_counts, texts_in
from engine.train.tasks.token_labels.predict import TokenModel
from engine.train.tasks.token_labels.prepare import part_of
from engine.train.tasks.token_labels.task import PlainTags, TokenLabels, as_iob2, task_for
from tests.engine.read_at_once import read_tagged
from tests.engine.steps import stop_at
from tests.engine.tiny_runs import (
    assert_learned_alike,
    kill_and_end,
    outcome,
    run_engine,
)
from tests.engine.train.tasks.parity import assert_gradients_equal
from tests.engine.train.tasks.token_labels.tiny_words import (
    LABELS,
    sentences,
    tag_model,
    tags_config,
    write_conll,
)
from tests.fakes import scramble, tiny_wordpiece
from tests.fakes import tiny_config as tiny_shape

transformers = pytest.importorskip("transformers")


def said(events: list[Event]) -> str:
    return "\n".join(str(event.sentence) for event in events if isinstance(event, Noted))


def measured(events: list[Event]) -> Evaluated:
    return next(event for event in reversed(events) if isinstance(event, Evaluated))


def evaluate(model: Path, data: Path, **how: str) -> tuple[Evaluated, list[Event]]:
    events = list(evaluate_file(model, DataConfig(data=str(data), **how), "cpu"))
    return measured(events), events


def predict(model: Path, data: Path, out: Path, **how: str) -> list[Event]:
    return list(predict_file(model, DataConfig(data=str(data), **how), out, device="cpu"))


# beside transformers


def test_loss_and_gradients_equal_those_of_transformers(tmp_path: Path) -> None:
    shape = tiny_shape(id2label=LABELS)
    theirs: Any = transformers.BertForTokenClassification(transformers.BertConfig(**shape.to_json())).eval()
    scramble(theirs, 1)
    theirs.save_pretrained(tmp_path / "theirs")
    ours, _ = load_headed(tmp_path / "theirs", TokenClassifier)
    texts = read_tagged(write_conll(tmp_path / "words.conll", sentences(5)))
    data = result_of(part_of(texts, LABELS).encoded(5, tiny_wordpiece(), 41, is_measured=True))
    task = task_for(LABELS)
    parts = [collate(data, np.array([2, 0, 1])), collate(data, np.array([3, 4]))]
    totals = task.count(parts)
    loss = torch.stack([task.loss(ours, part, totals)[0] for part in parts]).sum()
    ids = torch.zeros(len(data), int(data.lengths.max()), dtype=torch.long)
    targets = torch.full_like(ids, -100)
    for row, (start, stop) in enumerate(zip(data.bounds[:-1], data.bounds[1:], strict=True)):
        ids[row, : stop - start] = torch.from_numpy(data.input_ids[start:stop].astype(np.int64))
        targets[row, : stop - start] = torch.from_numpy(data.targets[start:stop].astype(np.int64))
    wanted = theirs(ids, (ids > 0).long(), labels=targets).loss
    assert loss.item() == pytest.approx(wanted.item(), abs=1e-5)
    loss.backward()
    wanted.backward()
    assert_gradients_equal(ours, theirs)


@pytest.mark.slow
def test_a_run_ends_in_a_folder_that_transformers_opens_with_the_same_answers(tmp_path: Path) -> None:
    events = list(fine_tune(tags_config(tmp_path, num_epochs=40), tmp_path / "run"))
    started = next(event for event in events if isinstance(event, Started))
    assert started.labels == LABELS and started.metric == "entity_f1"
    assert "looks like a CoNLL file: the word in column 1, its tag in column 2" in said(events)
    folder = tmp_path / "run" / "model"
    info = json.loads((folder / "cloze.json").read_text())
    assert info["task"] == "token-labels" and info["scheme"] == "IOB2" and info["kind"] == "conll"
    assert info["roles"] == {"text": "1", "label": "2", "sentence": ""}
    assert measured(events).metrics["entity_f1"] > 0.9
    theirs = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    tokenizer = transformers.BertTokenizerFast.from_pretrained(folder)
    encoded = tokenizer(["a", "good", "filming", "play"], is_split_into_words=True, return_tensors="pt")
    with torch.no_grad():
        scores = theirs(**encoded).logits[0].softmax(-1)
    words = encoded.word_ids()
    firsts = [words.index(word) for word in range(4)]
    answer = TokenModel.from_folder(folder, "cpu").answer("a good filming play")
    assert list(answer.tags) == [theirs.config.id2label[int(scores[at].argmax())] for at in firsts]
    assert np.allclose(answer.probabilities, [float(scores[at].max()) for at in firsts], atol=1e-6)


def test_a_folder_that_transformers_saved_is_measured_and_answers(tmp_path: Path) -> None:
    theirs = transformers.BertForTokenClassification(
        transformers.BertConfig(**tiny_shape(id2label=("O", "I-PLAY", "B-PLAY")).to_json())
    )
    scramble(theirs, 7)
    theirs.save_pretrained(tmp_path / "theirs")
    tiny_wordpiece().save(tmp_path / "theirs")
    assert task_of(tmp_path / "theirs").name == "token-labels"
    data = write_conll(tmp_path / "words.conll", sentences(9))
    event, events = evaluate(tmp_path / "theirs", data)
    assert "tags that the model does not know, which count as errors" in said(events)
    assert set(event.per_label) >= {"FILM", "PLAY"} and event.per_label["FILM"][1] == 0


# scores


@pytest.mark.skipif(
    not os.environ.get("CLOZE_DATA") or not shutil.which("perl"), reason="conlleval.pl is not here"
)
@pytest.mark.parametrize("seed", range(3))
def test_scores_of_a_model_are_those_of_conlleval(seed: int, tmp_path: Path) -> None:
    tag_model(tmp_path / "model", seed=seed)
    data = write_conll(tmp_path / "words.conll", sentences(60, seed))
    event, _ = evaluate(tmp_path / "model", data)
    predict(tmp_path / "model", data, tmp_path / "out.conll")
    lines = zip(data.read_text().split("\n"), (tmp_path / "out.conll").read_text().split("\n"), strict=False)
    both = [f"{true} {found.split(' ')[1]}" if true else "" for true, found in lines]
    script = Path(os.environ["CLOZE_DATA"]) / "entity_f1" / "conlleval.pl"
    told = subprocess.run(
        ["perl", str(script)], input="\n".join(both) + "\n", capture_output=True, text=True, check=True
    ).stdout
    figures = event.metrics
    assert f"FB1: {100 * figures['entity_f1']:6.2f}" in told
    assert (
        f"precision: {100 * figures['entity_precision']:6.2f}%; "
        f"recall: {100 * figures['entity_recall']:6.2f}%" in told
    )
    assert f"accuracy: {100 * figures['token_accuracy']:6.2f}%" in told
    assert figures["entity_f1_strict"] <= figures["entity_f1"] + 0.2


def test_plain_tags_are_scored_as_scikit_learn_scores_classes(tmp_path: Path) -> None:
    labels = ("ADJ", "NOUN", "X")
    tag_model(tmp_path / "model", labels)
    texts = [[(word, {"good": "ADJ", "bad": "ADJ", "film": "NOUN", "play": "NOUN"}.get(word, "X"))
              for word, _ in text] for text in sentences(30)]  # fmt: skip
    data = write_conll(tmp_path / "words.conll", texts)
    event, _ = evaluate(tmp_path / "model", data)
    predict(tmp_path / "model", data, tmp_path / "out.tsv")
    found = [line.split("\t")[1] for line in (tmp_path / "out.tsv").read_text().split("\n") if line]
    true = [tag for text in texts for _, tag in text]
    assert event.metrics["token_accuracy"] == pytest.approx(accuracy_score(true, found))
    assert event.metrics["macro_f1"] == pytest.approx(f1_score(true, found, average="macro"))
    assert event.labels == labels and event.confusion is not None and event.confusion.sum() == len(true)
    assert event.details["confused"][0][2] == event.confusion[~np.eye(3, dtype=bool)].max()


def test_errors_are_counted_by_kind_and_shown_in_their_texts(tmp_path: Path) -> None:
    tag_model(tmp_path / "model")
    event, _ = evaluate(tmp_path / "model", write_conll(tmp_path / "words.conll", sentences(30)))
    details = event.details
    listed = [kind for one in details["texts"] for kind, _, _ in one["errors"]]
    assert details["errors"] == {kind: listed.count(kind) for kind in details["errors"]} and listed
    for one in details["texts"]:
        for start, stop, kind in one["true"]:
            assert one["text"][start:stop] == ("play" if kind == "PLAY" else "good film")
    counts = np.array(details["confusion"]["counts"])
    assert counts[:-1].sum() == sum(support for *_, support in event.per_label.values())
    json.dumps(details)


def test_details_that_cannot_be_are_left_out_when_they_are_read_back(tmp_path: Path) -> None:
    tag_model(tmp_path / "model")
    event, _ = evaluate(tmp_path / "model", write_conll(tmp_path / "words.conll", sentences(30)))
    whole = json.loads(json.dumps(event.details))
    assert len(texts_in(whole)) == len(whole["texts"]) and confusion_in(whole) is not None
    assert sum(error_counts(whole).values()) == sum(whole["errors"].values())
    for name in ("texts", "errors", "confusion", "num_examples"):
        for odd in (
            None,
            3,
            "x",
            [],
            [3],
            [{}],
            {"types": ["a"], "counts": [[1]]},
            {"missed": -1},
            [{"text": 3}],
        ):
            found = {**whole, name: odd}
            texts_in(found), confusion_in(found), error_counts(found), count_of(found, name)
    first = {**whole["texts"][0], "true": [[0, 99999, "x"]]}
    assert texts_in({"texts": [first, whole["texts"][1]]}) == texts_in({"texts": whole["texts"][1:2]})


def test_tags_of_any_scheme_become_iob2_and_of_none_stay(tmp_path: Path) -> None:
    assert as_iob2(["S-A", "O", "B-A", "E-A", "I-B"]) == ["B-A", "O", "B-A", "I-A", "B-B"]
    assert isinstance(task_for(("NOUN", "VERB")), PlainTags) and type(task_for(("O", "B-X"))) is TokenLabels


def test_a_word_that_the_model_does_not_see_counts_and_gets_no_entity(tmp_path: Path) -> None:
    tag_model(tmp_path / "model")
    data = write_conll(tmp_path / "words.conll", [[("\u200b", "B-PLAY"), ("good", "O")], [("\u200b", "O")]])
    event, events = evaluate(tmp_path / "model", data)
    assert "without a piece" in said(events) and event.details["num_unasked"] == 2
    assert event.details["num_words"] == 3 and event.per_label["PLAY"][3] == 1
    predict(tmp_path / "model", data, tmp_path / "out.conll")
    lines = (tmp_path / "out.conll").read_text().split("\n")
    assert lines[0] == "\u200b O" and lines[3] == "\u200b O"


# settings and files


def test_the_task_is_guessed_and_another_is_one_setting_away(tmp_path: Path) -> None:
    config = tags_config(tmp_path)
    assert guess_task(config.data)[0].name == "token-labels"
    with pytest.raises(DataError, match="task token-labels"):
        list(fine_tune(tags_config(tmp_path, task="classification", text="1", label="2"), tmp_path / "run"))
    with pytest.raises(ConfigError, match="text holds words of many tags"):
        list(fine_tune(tags_config(tmp_path, rare_labels="repeated"), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"encoder": "frozen"},
        {"frozen_layers": 1, "layer_decay": 0.9},
        {"layer_mix": True, "encoder": "frozen"},
        {"rare_labels": "weighted", "label_smoothing": 0.1},
        {"max_length": 7},
    ],
)
def test_every_way_to_adapt_works_and_goes_on_bit_for_bit(how: dict[str, Any], tmp_path: Path) -> None:
    from engine.train.finetune import resume

    config = tags_config(tmp_path, test_share=0.2, **how)
    events = list(fine_tune(config, tmp_path / "whole"))
    assert any(isinstance(event, Finished) for event in events)
    stop_at(fine_tune(config, tmp_path / "halves"), 5)
    (tmp_path / "words.conll").unlink()
    list(resume(tmp_path / "halves"))
    assert_learned_alike(tmp_path / "whole", tmp_path / "halves")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not of this system")
def test_a_run_that_is_killed_ends_with_the_same_bits_though_its_file_is_gone(tmp_path: Path) -> None:
    config = tags_config(tmp_path, num_epochs=4, evaluate_every_steps=3)
    list(fine_tune(config, tmp_path / "whole"))
    kill_and_end(config, tmp_path / "run", tmp_path / "words.conll")
    assert outcome(tmp_path / "run") == outcome(tmp_path / "whole")


def test_every_line_is_used_or_reported_and_each_is_told(tmp_path: Path) -> None:
    write_conll(tmp_path / "words.conll", sentences())
    good = (tmp_path / "words.conll").read_text()
    num_words = sum(map(len, sentences()))
    bad = "only\n" * 120 + "a I-PLAY\nb O\n\n"
    (tmp_path / "words.conll").write_text(bad + good)
    events = list(
        fine_tune(tags_config(tmp_path, text="1", label="2", task="token-labels"), tmp_path / "run")
    )
    text = said(events)
    assert "Line 1 has 1 column; most lines have 2." in text and "Line 100 has 1" in text
    assert "\nLine 101 has 1" not in text and "More lines are not used: 101-120" in text
    assert "Line 121: 'I-PLAY' is read as 'B-PLAY'" in text
    setup = json.loads((tmp_path / "run" / "setup" / "setup.json").read_text())
    assert len(setup["reported"]) == 120 and [one["line"] for one in setup["repaired"]] == [121]
    texts = read_tagged(tmp_path / "words.conll", word=1, tag=2)
    assert texts.num_rows_used == num_words + 2 and len(texts.reported) == 120


@pytest.mark.slow
def test_tables_of_spans_and_their_own_files_for_validation_and_test_are_learned_from(tmp_path: Path) -> None:
    rows = [
        {"text": "a good film!", "entities": [[2, 11, "FILM"]]},
        {"text": "bad play", "entities": [[4, 8, "PLAY"]]},
    ]
    for name in ("train", "valid", "test"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(one) for one in rows * 9) + "\n")
    config = tags_config(
        tmp_path,
        data=str(tmp_path / "train.jsonl"),
        validation_data=str(tmp_path / "valid.jsonl"),
        test_data=str(tmp_path / "test.jsonl"),
        num_epochs=40,
        learning_rate=1e-2,
    )
    events = list(fine_tune(config, tmp_path / "run"))
    assert "looks like JSON with tagged words" in said(events)
    assert measured(events).split == "test" and measured(events).metrics["entity_f1"] >= 0.5
    answer = TokenModel.from_folder(tmp_path / "run" / "model", "cpu").answer("bad play.")
    assert [answer.text[start:stop] for start, stop in answer.spans] == ["bad", "play", "."]
    assert answer.entities[0].type in ("PLAY", "FILM") and answer.entities[0].start == 4
    event, _ = evaluate(tmp_path / "run" / "model", tmp_path / "test.jsonl")
    assert event.metrics == measured(events).metrics


@pytest.mark.parametrize("ending", ["conll", "txt", "tsv", "jsonl"])
def test_what_is_written_of_a_plain_text_reads_back_with_its_places(ending: str, tmp_path: Path) -> None:
    tag_model(tmp_path / "model")
    lines = ["Good film, U.S. play!", "", "北京 good film。", "x"]
    (tmp_path / "plain.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = tmp_path / f"out.{ending}"
    events = predict(tmp_path / "model", tmp_path / "plain.txt", out)
    assert isinstance(events[-1], Finished) and events[-1].path == out
    if ending == "jsonl":
        found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        assert [one["text"] for one in found] == [line for line in lines if line]
        assert [one["line"] for one in found] == [1, 3, 4]
        for one in found:
            for entity in one["entities"]:
                assert one["text"][entity["start"] : entity["end"]] == entity["text"]
        return
    texts = out.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    words = [[line.split("\t" if ending == "tsv" else " ")[0] for line in text.split("\n")] for text in texts]
    assert words == [["Good", "film", ",", "U.S.", "play", "!"], ["北", "京", "good", "film", "。"], ["x"]]


def test_a_column_of_a_table_is_answered_and_bad_files_are_refused(tmp_path: Path) -> None:
    tag_model(tmp_path / "model")
    (tmp_path / "rows.csv").write_text('id,story\n1,"good film, play"\n2,\n3,bad\n')
    events = predict(tmp_path / "model", tmp_path / "rows.csv", tmp_path / "out.jsonl", text="story")
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [one["line"] for one in found] == [2, 4] and "Line 3 holds no word." in said(events)
    with pytest.raises(DataError, match="Which column holds the text"):
        predict(tmp_path / "model", tmp_path / "rows.csv", tmp_path / "out.jsonl")
    with pytest.raises(DataError, match="does not say how tags are written"):
        predict(tmp_path / "model", tmp_path / "rows.csv", tmp_path / "out.csv", text="story")
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(DataError, match="holds no text"):
        predict(tmp_path / "model", tmp_path / "empty.txt", tmp_path / "out.jsonl")


def test_labels_of_a_file_that_is_answered_are_scored_where_their_column_is_named(tmp_path: Path) -> None:
    tag_model(tmp_path / "model")
    data = write_conll(tmp_path / "words.conll", sentences(9))
    events = predict(tmp_path / "model", data, tmp_path / "out.conll", label="2")
    assert measured(events).metrics == evaluate(tmp_path / "model", data)[0].metrics
    assert not any(
        isinstance(one, Evaluated) for one in predict(tmp_path / "model", data, tmp_path / "o.conll")
    )


@pytest.mark.slow
def test_commands_learn_measure_and_answer(tmp_path: Path) -> None:
    config = tags_config(tmp_path)
    code, _, err = run_engine(
        "finetune", "--data", config.data.data, "--model", config.model.model, "--run", tmp_path / "run",
        "--task", "token-labels", "--set", "num_epochs=2", "--set", "encoder=frozen",
        "--set", "max_length=20",
    )  # fmt: skip
    assert code == 0, err
    model = str(tmp_path / "run" / "model")
    code, out, err = run_engine("evaluate", "--model", model, "--data", config.data.data, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert {"entity_f1", "entity_f1_strict", "token_accuracy"} <= found.keys() and "FILM" in found[
        "per_label"
    ]
    code, _, err = run_engine(
        "predict", "--model", model, "--data", config.data.data, "--out", tmp_path / "o.jsonl"
    )
    assert code == 0 and len((tmp_path / "o.jsonl").read_text().splitlines()) == 53, err


def test_a_damaged_setup_is_told_in_a_sentence(tmp_path: Path) -> None:
    from engine.errors import ModelError
    from engine.train.finetune import resume

    events = fine_tune(tags_config(tmp_path), tmp_path / "run")
    assert any(isinstance(event, Started) for event in events)
    events.close()  # type: ignore[attr-defined]
    path = tmp_path / "run" / "setup" / "setup.json"
    whole = json.loads(path.read_text())
    for changes in ({"tags": ["O"]}, {"tags": 3}, {"labels": ["O", "x"]}):
        path.write_text(json.dumps({**whole, **changes}))
        with pytest.raises(ModelError, match="is damaged"):
            list(resume(tmp_path / "run"))


def test_every_task_has_a_name_of_its_own() -> None:
    assert all(kind.name == name for name, kind in TASKS.items())
