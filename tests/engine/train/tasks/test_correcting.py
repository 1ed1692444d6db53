"""Correcting texts: from a table of wrong and right ones to what transformers opens."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ConfigError, UserError
from engine.evaluation.comparing import compare_scored
from engine.evaluation.part import scoring_part
from engine.evaluation.report import ScoreReport
from engine.events import Evaluated, Noted, Predicted, result_of
from engine.export.archive import writing_zip
from engine.export.onnx import exporting
from engine.model.bert import initialize
from engine.model.heads import MaskedWords, PreTraining
from engine.model.inventory import take_stock
from engine.model.weights import load_headed, load_pretraining, save_model, tuned_head
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.batch import NOT_ASKED, collate
from engine.text.example_rows import Example, ExampleRows
from engine.text.examples import ExampleTable
from engine.train.comparison import compare
from engine.train.finetune import fine_tune, resume
from engine.train.run.kept import history
from engine.train.tasks.correcting.answers import corrected_text
from engine.train.tasks.correcting.details import texts_in
from engine.train.tasks.correcting.kept import CorrectedRows, encode_corrections, windows
from engine.train.tasks.correcting.kind import Correcting
from engine.train.tasks.correcting.task import Correction
from engine.train.tasks.known import evaluate_file, predict_file, task_of
from tests.engine.steps import stop_at
from tests.engine.tiny_runs import WAYS, assert_learned_alike, kill_and_end, run_engine, tiny_config
from tests.fakes import model_folder, tiny_byte_level, tiny_pretraining, tiny_wordpiece
from tests.fakes import tiny_config as tiny_shape

LETTERS = "bcdefghijk"


def write_pairs(path: Path, rows: int = 60, seed: int = 0) -> Path:
    """Write texts of letters in half of which a q stands where z belongs."""
    rng, made = random.Random(seed), []
    for row in range(rows):
        right = [rng.choice(LETTERS) for _ in range(rng.randrange(5, 12))]
        if row % 2:
            right[rng.randrange(len(right))] = "z"
        made.append((" ".join(right).replace("z", "q"), " ".join(right)))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "right"), *made])
    return path


def config_of(folder: Path, **settings: Any) -> FineTuneConfig:
    if not (folder / "pairs.csv").exists():
        write_pairs(folder / "pairs.csv")
    if not (folder / "start").exists():
        save_model(folder / "start", tiny_pretraining(), tiny_wordpiece())
    values = {"data": str(folder / "pairs.csv"), "label": "right", "task": "correction", **settings}
    return tiny_config(folder, **values)


def learned(folder: Path) -> Path:
    """Train until the error is learned, from a model that begins as new ones do; return the run."""
    write_pairs(folder / "pairs.csv", 120)
    start = PreTraining(tiny_shape(hidden_size=24))
    initialize(start, 0.2, 1)
    save_model(folder / "start", start.eval(), tiny_wordpiece())
    values = {"num_epochs": 6, "learning_rate": 0.01, "hidden_dropout": 0.0, "batch_size": 6}
    config = config_of(folder, **values, kept_weights=2, checkpoint_every_steps=100)
    list(fine_tune(config, folder / "run"))
    return folder / "run"


# ---- windows


@pytest.mark.parametrize(
    ("num_pieces", "room"), [(0, 7), (1, 7), (7, 7), (8, 7), (15, 7), (40, 7), (41, 8), (5, 1)]
)
def test_each_piece_is_decided_in_one_window_that_shows_it(num_pieces: int, room: int) -> None:
    decided = []
    for begin, end, first, stop in windows(num_pieces, room):
        assert begin <= first <= stop <= end <= num_pieces and end - begin <= room
        decided += range(first, stop)
        if first > 0 and room > 3:
            assert first - begin >= room // 4 - 1  # there is context before it
    assert decided == list(range(num_pieces))


def table_with(right: str | None, text: str) -> ExampleTable:
    """Return one text with its right one."""
    examples = ExampleRows.of([Example(0, (text,), None if right is None else 0)])
    values = None if right is None else np.array([right], object)
    return ExampleTable(examples, (), (), values=values)


def test_a_long_text_is_read_in_windows_and_nothing_of_it_is_lost() -> None:
    text = " ".join("abcdefghijklmnopqrstuvwxyz")
    found = table_with(text.replace("q", "z"), text)
    encoded, num_cut = result_of(encode_corrections(found, found.examples, tiny_wordpiece(), 9))
    assert len(encoded) > 3 and num_cut == 0 and encoded.lengths.max() == 9 and encoded.num_rows == 1
    assert encoded.firsts.tolist() == [0, 26]
    assert "".join(text[start:stop] for start, stop in encoded.spans) == text.replace(" ", "")
    own, right = encoded.input_ids[encoded.asked], encoded.targets[encoded.asked]
    assert np.flatnonzero(own != right).tolist() == [16]


def test_what_the_vocabulary_does_not_know_is_not_learned_as_an_answer() -> None:
    found = table_with("a 日 b", "a c b")
    kept, _ = result_of(encode_corrections(found, found.examples, tiny_wordpiece(), 9))
    taught, _ = result_of(encode_corrections(found, found.examples, tiny_wordpiece(), 9, is_learned=True))
    unknown = tiny_wordpiece().unk_id
    assert unknown in kept.targets and unknown not in taught.targets
    assert (taught.targets != NOT_ASKED).sum() == 2 and not len(taught.spans)


# ---- the loss, beside transformers


def test_loss_and_gradients_are_those_of_transformers_over_all_places(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    shape = transformers.BertConfig(**tiny_shape(hidden_dropout_prob=0.0).to_json())
    theirs = transformers.BertForMaskedLM(shape).eval()
    theirs.save_pretrained(tmp_path / "theirs")
    ours, _ = load_headed(tmp_path / "theirs", MaskedWords)
    texts, rights = ["a b q d", "good film q b c d e"], ["a b z d", "good film z b c d e"]
    examples = ExampleRows.of([Example(row, (text,), row) for row, text in enumerate(texts)])
    found = ExampleTable(examples, (), (), values=np.array(rights, object))
    data, _ = result_of(encode_corrections(found, examples, tiny_wordpiece(), 20, is_learned=True))
    task, batch = Correction(tiny_wordpiece()), collate(data, np.array([1, 0]), multiple=8)
    loss, _ = task.loss(ours, batch, task.count([batch]))
    width = int(data.lengths.max())
    ids, labels = torch.zeros(2, width, dtype=torch.long), torch.full((2, width), -100)
    for row, (start, stop) in enumerate(zip(data.bounds[:-1], data.bounds[1:], strict=True)):
        ids[row, : stop - start] = torch.from_numpy(data.input_ids[start:stop].astype(np.int64))
        labels[row, : stop - start] = torch.from_numpy(data.targets[start:stop].astype(np.int64))
    wanted = theirs(ids, (ids > 0).long(), labels=labels)
    assert loss.item() == pytest.approx(wanted.loss.item(), abs=1e-5)
    loss.backward()
    wanted.loss.backward()
    for own, name in ((ours.transform, "transform.dense"), (ours.norm, "transform.LayerNorm")):
        gradient = theirs.cls.predictions.get_submodule(name).weight.grad
        torch.testing.assert_close(own.weight.grad, gradient, atol=1e-5, rtol=0)
    words = ours.bert.embeddings.word.weight.grad
    assert words is not None
    torch.testing.assert_close(
        words.to_dense() if words.is_sparse else words,
        theirs.bert.embeddings.word_embeddings.weight.grad,
        atol=1e-5,
        rtol=0,
    )
    with torch.no_grad():
        answers = task.forward(ours, batch).numpy()
        shares = theirs(ids, (ids > 0).long()).logits.softmax(-1)[[1, 0]]
    asked = torch.stack([labels[1], labels[0]]) != -100
    best = shares[asked].max(-1)
    assert answers[:, 0].tolist() == best.indices.tolist()
    np.testing.assert_allclose(answers[:, 1], best.values.numpy(), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("stem", ["Roberta", "Albert", "Electra", "ModernBert"])
def test_the_head_of_other_families_opens_there_and_comes_back(stem: str, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    sizes = {
        "vocab_size": 37, "max_position_embeddings": 41, "hidden_size": 12, "num_hidden_layers": 2,
        "num_attention_heads": 3, "intermediate_size": 29, "pad_token_id": 0,
    }  # fmt: skip
    sizes |= {"type_vocab_size": 1} if stem == "Roberta" else {}
    sizes |= {"embedding_size": 7} if stem in ("Albert", "Electra") else {}
    sizes |= {f"{name}_token_id": 0 for name in ("bos", "eos", "cls", "sep")}
    torch.manual_seed(0)
    theirs = getattr(transformers, f"{stem}ForMaskedLM")(
        getattr(transformers, f"{stem}Config")(**sizes)
    ).eval()
    theirs.save_pretrained(tmp_path / "theirs")
    ids = torch.tensor([[2, 7, 11, 3, 36, 9, 3]])
    with torch.no_grad():
        wanted = theirs(ids).logits
    ours, _ = load_headed(tmp_path / "theirs", MaskedWords)
    with torch.no_grad():
        torch.testing.assert_close(ours.logits(ours(ids)), wanted, atol=1e-5, rtol=0)
    save_model(tmp_path / "ours", ours, tiny_wordpiece(), {"task": "correction"})
    assert tuned_head(tmp_path / "ours") is MaskedWords and tuned_head(tmp_path / "theirs") is None
    again = getattr(transformers, f"{stem}ForMaskedLM").from_pretrained(tmp_path / "ours").eval()
    with torch.no_grad():
        torch.testing.assert_close(again(ids).logits, wanted, atol=1e-5, rtol=0)
    named = json.loads((tmp_path / "ours" / "config.json").read_text())["architectures"]
    assert named == [f"{stem}ForMaskedLM"]


def test_some_right_pieces_are_masked_in_training_and_no_wrong_one() -> None:
    found = table_with(" ".join("abcdefz" * 5), " ".join("abcdefq" * 5))
    data, _ = result_of(encode_corrections(found, found.examples, tiny_wordpiece(), 40, is_learned=True))
    batch = collate(data, np.array([0]))
    torch.manual_seed(0)
    masked = Correction(tiny_wordpiece(), 0.5).masked(batch).input_ids
    hidden = masked != batch.input_ids
    own = torch.from_numpy(data.input_ids.astype(np.int64))
    assert (masked[hidden] == tiny_wordpiece().mask_id).all() and 8 < int(hidden.sum()) < 24
    assert not hidden[own == tiny_wordpiece().encode_ids(["q"])[0][0]].any() and not hidden[[0, -1]].any()
    torch.manual_seed(0)
    assert torch.equal(Correction(tiny_wordpiece(), 0.5).masked(batch).input_ids, masked)
    assert Correction(tiny_wordpiece()).masked(batch) is batch


# ---- a run


@pytest.mark.slow
def test_a_table_of_pairs_becomes_a_model_that_corrects_and_that_transformers_opens(tmp_path: Path) -> None:
    run = learned(tmp_path)
    folder, data = run / "model", DataConfig(data=str(write_pairs(tmp_path / "new.csv", 40, seed=7)))
    document = json.loads((folder / "config.json").read_text())
    assert document["architectures"] == ["BertForMaskedLM"] and task_of(folder).name == "correction"
    stock = take_stock(folder)
    assert stock.answers == ("BertForMaskedLM", "masked_words") and stock.task == "BertForMaskedLM"
    scored = result_of(evaluate_file(folder, data, "cpu"))
    metrics = scored.evaluated.metrics
    assert metrics["correction_f1"] > 0.9 and metrics["false_positive_rate"] < 0.1
    report = ScoreReport(scored)
    assert report.value == pytest.approx(metrics["correction_f1"]) and report.interval is not None
    assert metrics["unchanged_accuracy"] == 0.5
    answer = task_of(folder).answering(folder, "cpu")
    said = answer({"text": "b c q d"})
    assert said["corrected"] == "b c z d"
    [change] = said["changes"]
    assert (change["start"], change["stop"], change["old"], change["new"]) == (4, 5, "q", "z")
    assert 0.5 < change["probability"] <= 1
    long = " ".join([*"bcdef" * 20, "q", *"bcdef" * 20])
    assert answer({"text": long})["corrected"] == long.replace("q", "z")  # in windows
    assert answer({"text": "b c"})["changes"] == []

    transformers = pytest.importorskip("transformers")
    theirs = transformers.BertForMaskedLM.from_pretrained(folder).eval()
    ours, _ = load_headed(folder, MaskedWords)
    language, _ = load_pretraining(folder)
    ids = torch.randint(5, 20, (3, 7))
    with torch.no_grad():
        wanted = theirs(input_ids=ids).logits
        torch.testing.assert_close(ours.logits(ours(ids)), wanted, atol=1e-5, rtol=0)
        hidden = language(ids).hidden.view(3, 7, -1)
        torch.testing.assert_close(language.logits(hidden), wanted, atol=1e-5, rtol=0)


@pytest.mark.slow
def test_a_file_gets_its_corrected_texts_and_their_changes(tmp_path: Path) -> None:
    run, path = learned(tmp_path), write_pairs(tmp_path / "new.csv", 20, seed=7)
    folder, out = run / "model", tmp_path / "answers.csv"
    events = list(predict_file(folder, DataConfig(data=str(path), label="right"), out, device="cpu"))
    [found] = [event for event in events if isinstance(event, Predicted)]
    [measured] = [event for event in events if isinstance(event, Evaluated)]
    alone = result_of(evaluate_file(folder, DataConfig(data=str(path)), "cpu")).evaluated
    assert measured.metrics == alone.metrics and measured.loss == pytest.approx(alone.loss)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["changes"] or "–" for row in rows] == list(found.predictions)
    assert (
        sum(row["prediction"] == row["right"] for row in rows) == measured.metrics["sentence_accuracy"] * 20
    )
    changed = [row for row in rows if row["prediction"] != row["text"]]
    assert changed and all("q→z" in row["changes"] and float(row["probability"]) > 0.3 for row in changed)
    assert all(not row["changes"] and not row["probability"] for row in rows if row not in changed)
    words = "predict", "--model", folder, "--data", path, "--out", tmp_path / "again.csv"
    code, _, err = run_engine(*words)
    assert code == 0, err
    assert (tmp_path / "again.csv").read_text() == out.read_text()


@pytest.mark.slow
def test_a_runs_validation_texts_kept_weights_and_card_say_what_was_measured(tmp_path: Path) -> None:
    run = learned(tmp_path)
    scored = result_of(scoring_part(run, "validation", "cpu"))
    event = scored.evaluated
    assert event.split == "validation" and len(scored.each) == event.details["num_examples"] == 24
    assert scored.listed.texts[0].count(" ") >= 4
    wrong = [place for place in range(24) if scored.each.right[place] < 1]
    assert len(texts_in(event.details)) == len(wrong)
    assert len(history(run)) >= 2
    for kept in history(run):
        assert task_of(kept.path).name == "correction"
        assert "corrected" in task_of(kept.path).answering(kept.path, "cpu")({"text": "b q"})
    other = result_of(evaluate_file(run / "model", DataConfig(data=str(tmp_path / "pairs.csv")), "cpu"))
    assert compare_scored(other, other).difference.value == 0
    assert other.num_seen == 96  # it was trained on the other rows


@pytest.mark.slow
def test_the_zip_and_the_graph_answer_as_the_folder_does(tmp_path: Path) -> None:
    run = learned(tmp_path)
    pytest.importorskip("onnxruntime")
    exported = result_of(exporting(run / "model", tmp_path / "onnx", ["b c q d", "good film"]))
    assert exported.num_answered == 4
    told = (tmp_path / "onnx" / "README.md").read_text(encoding="utf-8")
    assert "corrects a text piece by piece" in told
    result_of(writing_zip(run / "model", tmp_path / "model.zip", ["b c q d"], with_onnx=False))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_stopped_goes_on_bit_for_bit(way: tuple[str, str], tmp_path: Path) -> None:
    config = config_of(tmp_path, kernels=way[0], precision=way[1])
    list(fine_tune(config, tmp_path / "whole"))
    stop_at(fine_tune(config, tmp_path / "halves"), 7)
    list(resume(tmp_path / "halves"))
    assert_learned_alike(tmp_path / "whole", tmp_path / "halves")


@pytest.mark.slow
def test_a_run_that_is_killed_twice_goes_on_without_its_table(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    list(fine_tune(config, tmp_path / "whole"))
    kill_and_end(config, tmp_path / "killed", Path(config.data.data))
    assert_learned_alike(tmp_path / "whole", tmp_path / "killed")


@pytest.mark.slow
def test_a_frozen_encoder_learns_with_its_head_alone(tmp_path: Path) -> None:
    config = config_of(tmp_path, encoder="frozen", num_epochs=1)
    list(fine_tune(config, tmp_path / "run"))
    before, _ = load_headed(tmp_path / "start", MaskedWords)
    after, _ = load_headed(tmp_path / "run" / "model", MaskedWords)
    same = {name for name, one in before.state_dict().items() if torch.equal(one, after.state_dict()[name])}
    assert {name for name in before.state_dict() if name.startswith("bert.")} == same


@pytest.mark.slow
def test_rows_that_cannot_be_used_are_told_by_line(tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.csv")
    with path.open("a", encoding="utf-8") as file:
        file.write("good good film,good film\n")
    events = list(fine_tune(config_of(tmp_path, num_epochs=1), tmp_path / "run"))
    told = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert any("Line 62 of pairs.csv cannot be used" in one and "pieces" in one for one in told)
    kept = json.loads((tmp_path / "run" / "setup" / "setup.json").read_text())["reported"]
    assert [one["line"] for one in kept] == [62]


def test_settings_that_mean_nothing_to_it_are_refused(tmp_path: Path) -> None:
    for setting in ({"label_smoothing": 0.1}, {"rare_labels": "weighted"}, {"pooling": "mean"}):
        with pytest.raises(ConfigError):
            list(fine_tune(config_of(tmp_path, **setting), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_its_one_way_to_learn_is_not_compared_with_others(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="in one way alone"):
        next(compare(config_of(tmp_path), tmp_path / "ways"))
    assert not (tmp_path / "ways").exists()


def test_a_pretrained_model_is_no_corrector_and_a_text_has_to_be_one(tmp_path: Path) -> None:
    save_model(tmp_path / "start", tiny_pretraining(), tiny_wordpiece(), {"task": "pretraining"})
    assert task_of(tmp_path / "start").name == "classification" and not take_stock(tmp_path / "start").task
    model, _ = load_headed(tmp_path / "start", MaskedWords)
    save_model(tmp_path / "model", model, tiny_wordpiece(), {"task": "correction"})
    kind = task_of(tmp_path / "model")
    assert isinstance(kind, Correcting)
    answer = kind.answering(tmp_path / "model", "cpu")
    for document in ({}, {"text": 3}, {"text": " "}):
        with pytest.raises(UserError):
            answer(document)


def test_a_model_without_the_head_starts_from_a_new_one_and_says_so(tmp_path: Path) -> None:
    model_folder(tmp_path / "classifier")
    config = config_of(tmp_path, num_epochs=1, model=str(tmp_path / "classifier"))
    events = list(fine_tune(config, tmp_path / "run"))
    told = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert any("masked-word head is new" in one for one in told)


# ---- what is written


def test_a_piece_of_bytes_is_never_written_alone() -> None:
    tokenizer = tiny_byte_level()
    text = "the é film"
    [(ids, spans)] = tokenizer.encode_spans([text])
    answers = np.stack([ids, np.ones(len(ids)), np.ones(len(ids))], 1).astype(np.float32)
    film = int(tokenizer.encode_ids([" good"])[0][0])
    answers[-1, 0] = film
    found = corrected_text(text, ids.astype(np.int64), spans, answers, tokenizer)
    assert found.corrected == "the é good" and found.changes[0].old == "film"
    byte = next(
        place for place, (start, stop) in enumerate(spans.tolist()) if text[start:stop].strip() == "é"
    )
    answers[byte, 0] = int(tokenizer.encode_ids(["日"])[0][0])  # the first byte of three
    assert corrected_text(text, ids.astype(np.int64), spans, answers, tokenizer).corrected == "the é good"


def test_a_capital_and_an_unknown_character_stay(tmp_path: Path) -> None:
    wordpiece = tiny_wordpiece()
    text = "Q 日 b"
    [(ids, spans)] = wordpiece.encode_spans([text])
    wanted = wordpiece.encode_ids(["z b b"])[0]
    answers = np.stack([wanted, np.full(3, 0.9), np.ones(3)], 1).astype(np.float32)
    found = corrected_text(text, ids.astype(np.int64), spans, answers, wordpiece)
    assert found.corrected == "Z 日 b" and found.sure == pytest.approx(0.9)
    assert corrected_text(text, wanted, spans, answers, wordpiece).sure == 0.0  # nothing is changed


def test_windows_that_do_not_belong_together_are_refused() -> None:
    found = table_with("a b", "a c")
    encoded, _ = result_of(encode_corrections(found, found.examples, tiny_wordpiece(), 9))
    good = CorrectedRows.over(encoded, found.examples, np.array([2]))
    assert good.fits(37) and CorrectedRows.from_arrays(good.arrays()).fits(37)
    assert not replace(good, spans=good.spans[:1]).fits(37)
    assert not replace(good, lines=np.array([2, 3])).fits(37)
