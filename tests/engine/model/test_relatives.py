"""ELECTRA and DistilBERT are read as BERTs, to the last layer; all else is refused with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from engine.errors import ModelError
from engine.model.config import BertConfig
from engine.model.families.refused import REFUSED
from engine.model.inventory import take_stock
from engine.model.weights import load_classifier, load_encoder, load_pretraining, read_config
from tests.engine.model.family_cases import CASES, made
from tests.fakes import foreign_folder

IDS = torch.tensor([[2, 7, 11, 36, 3], [2, 30, 3, 0, 0]])
MASK = (IDS > 0).long()
RELATIVES = {"DistilBert": CASES["DistilBERT"], "Electra": CASES["ELECTRA, base and large"]}


def agrees(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    read = MASK.bool()
    return torch.allclose(ours[read], theirs[read], atol=2e-5, rtol=1e-5)


def said(report: Any) -> str:
    return "\n".join(map(str, report.sentences()))


@pytest.mark.slow  # transformers takes its time to be imported
@torch.no_grad()
@pytest.mark.parametrize("kind", ["DistilBertForMaskedLM", "ElectraForPreTraining"])
def test_an_encoder_under_a_head_of_its_own_family_is_read_as_a_bert(kind: str, tmp_path: Path) -> None:
    relative, _, ending = kind.partition("For")
    theirs = made(tmp_path, RELATIVES[relative], f"For{ending}").base_model
    ours, report = load_encoder(tmp_path)
    wanted = theirs(IDS, attention_mask=MASK).last_hidden_state
    assert agrees(ours(IDS, None, MASK).last_hidden_state, wanted)
    assert ours.pooler is None and not report.missing
    assert len(report.loaded) == (36 if "Distil" in kind else 37)
    assert "Ignored" not in said(report) and "read as a BERT" in said(report)


def test_what_a_distilbert_guesses_is_said_of_its_folder(tmp_path: Path) -> None:
    made(tmp_path, RELATIVES["DistilBert"], "ForMaskedLM")
    _, report = load_pretraining(tmp_path)
    assert "The model’s own masked-word head was loaded." in said(report)
    stock = take_stock(tmp_path)
    assert stock.answers == ("masked_words",) and "A DistilBERT, read as a BERT" in str(stock.notes[0])


@pytest.mark.parametrize("relative", ["DistilBert", "Electra"])
def test_a_classifier_that_is_not_built_as_berts_is_told_and_a_new_one_begins(
    relative: str, tmp_path: Path
) -> None:
    made(tmp_path, RELATIVES[relative], "ForSequenceClassification", num_labels=3)
    labels = ("LABEL_0", "LABEL_1", "LABEL_2")
    _, report = load_classifier(tmp_path, labels)
    assert "not built like BERT’s" in said(report) and "The classifier is new" in said(report)
    assert take_stock(tmp_path).labels == ()


def test_an_electra_of_narrow_word_vectors_stays_one_and_its_sizes_are_those_of_transformers() -> None:
    small = BertConfig.from_json({"model_type": "electra"})
    theirs = transformers.ElectraConfig()
    sizes = ("embedding_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    assert small.model_type == "electra" and (small.embedding_width, small.hidden_size) == (128, 256)
    assert all(getattr(small, name) == getattr(theirs, name) for name in sizes)
    assert BertConfig.from_json({"model_type": "electra", "embedding_size": 256}).model_type == "bert"
    for wrong in (0, "7", True, [], 10**6):
        with pytest.raises(ModelError, match=r"embedding_size is .*whole number from 1 to 65536"):
            BertConfig.from_json({"model_type": "electra", "embedding_size": wrong})


@pytest.mark.parametrize("named", ["model_type", "architectures"])
def test_every_other_family_is_refused_by_name_with_reason_and_way_out(named: str) -> None:
    classes = {
        "deberta": "DebertaModel",
        "gpt2": "GPT2LMHeadModel",
        "t5": "T5ForConditionalGeneration",
        "roberta-prelayernorm": "RobertaPreLayerNormModel",
        "bart": "BartModel",
    }
    for kind, (name, why, instead) in REFUSED.items():
        if named == "architectures" and kind not in classes:
            continue
        document = {"model_type": kind} if named == "model_type" else {"architectures": [classes[kind]]}
        with pytest.raises(ModelError) as refusal:
            BertConfig.from_json(document)
        assert f"({name}): {why}. Use {instead} instead." in str(refusal.value)
    assert BertConfig.from_json({"architectures": ["BertForMaskedLM"]}).vocab_size == 30522
    with pytest.raises(ModelError, match=r"not a BERT \(mamba2\)"):
        BertConfig.from_json({"model_type": "mamba2"})


def test_weights_of_another_family_are_told_by_their_names(tmp_path: Path) -> None:
    for start, name in (
        ("longformer.encoder.", "Longformer"),
        ("transformer.h.0.", "GPT-2"),
        ("encoder.block.0.", "T5"),
    ):
        folder = foreign_folder(tmp_path / name, {f"{start}x.weight": torch.zeros(3)})
        with pytest.raises(ModelError, match=rf"not a BERT \({name}\)"):
            load_encoder(folder)


def test_weights_for_other_programs_alone_and_checkpoints_are_told(tmp_path: Path) -> None:
    config = json.dumps(BertConfig.preset("tiny").to_json())
    for name in ("tf_model.h5", "model.onnx"):
        place = tmp_path / name
        place.mkdir()
        (place / "config.json").write_text(config)
        (place / name).write_bytes(b"x")
        with pytest.raises(ModelError, match=f"only for another program .{name}."):
            load_encoder(place)
    (tmp_path / "bert_config.json").write_text(config)
    with pytest.raises(ModelError, match="TensorFlow checkpoint.* convert "):
        read_config(tmp_path)
    old = tmp_path / "old"
    (old / "0_BERT").mkdir(parents=True)
    (old / "0_BERT" / "config.json").write_text(config)
    with pytest.raises(ModelError, match=r"holds its model in 0_BERT\. Choose that folder"):
        read_config(old)
