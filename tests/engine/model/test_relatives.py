"""ELECTRA and DistilBERT are read as BERTs, to the last layer; all else is refused with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import ModelError
from engine.model.config import BertConfig
from engine.model.families.refused import REFUSED
from engine.model.heads import QuestionAnswering, TokenClassifier
from engine.model.inventory import take_stock
from engine.model.weights import (
    load_classifier,
    load_encoder,
    load_headed,
    load_pretraining,
    read_config,
    save_model,
)
from tests.fakes import foreign_folder, scramble, tiny_wordpiece

transformers = pytest.importorskip("transformers")

IDS = torch.tensor([[2, 7, 11, 36, 3], [2, 30, 3, 0, 0]])
MASK = (IDS > 0).long()
DISTIL = {"dim": 12, "n_layers": 2, "n_heads": 3, "hidden_dim": 29}
ELECTRA = {
    "embedding_size": 12,
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 29,
}


def saved(path: Path, kind: str, **changes: Any) -> Any:
    """Write a random tiny model of transformers' own and return it."""
    sizes = DISTIL if kind.startswith("Distil") else ELECTRA
    config = getattr(transformers, "DistilBertConfig" if sizes is DISTIL else "ElectraConfig")
    model = getattr(transformers, kind)(
        config(vocab_size=37, max_position_embeddings=41, **{**sizes, **changes})
    ).eval()
    scramble(model)
    if hasattr(model, "tie_weights"):
        model.tie_weights()
    model.save_pretrained(path)
    return model


def agrees(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    read = MASK.bool()
    return torch.allclose(ours[read], theirs[read], atol=2e-5, rtol=1e-5)


def said(report: Any) -> str:
    return "\n".join(map(str, report.sentences()))


@pytest.mark.slow  # transformers takes its time to be imported
@torch.no_grad()
@pytest.mark.parametrize(
    "kind", ["DistilBertModel", "DistilBertForMaskedLM", "ElectraModel", "ElectraForPreTraining"]
)
def test_the_encoder_gives_what_its_own_code_gives_and_is_saved_as_a_bert(kind: str, tmp_path: Path) -> None:
    theirs = saved(tmp_path / "own", kind)
    base = getattr(theirs, "distilbert", getattr(theirs, "electra", theirs))
    wanted = base(IDS, attention_mask=MASK).last_hidden_state
    ours, report = load_encoder(tmp_path / "own")
    assert agrees(ours(IDS, None, MASK).last_hidden_state, wanted) and ours.pooler is None
    assert not report.missing and len(report.loaded) == (36 if "Distil" in kind else 37)
    assert "Ignored" not in said(report)
    assert "read as a BERT" in said(report) or kind == "ElectraModel"  # whose names are BERT's own
    save_model(tmp_path / "saved", ours, tiny_wordpiece(), {})
    again = transformers.AutoModel.from_pretrained(tmp_path / "saved").eval()
    assert type(again) is transformers.BertModel
    assert agrees(again(IDS, attention_mask=MASK).last_hidden_state, wanted)


@torch.no_grad()
def test_distilberts_masked_word_head_guesses_as_its_own_code_does(tmp_path: Path) -> None:
    theirs = saved(tmp_path, "DistilBertForMaskedLM")
    ours, report = load_pretraining(tmp_path)
    logits = ours.logits(ours(IDS, None, MASK).hidden).view(2, 5, -1)
    assert agrees(logits, theirs(IDS, attention_mask=MASK).logits)
    assert "The model’s own masked-word head was loaded." in said(report)
    stock = take_stock(tmp_path)
    assert stock.answers == ("masked_words",) and "A DistilBERT, read as a BERT" in str(stock.notes[0])


@torch.no_grad()
@pytest.mark.parametrize("relative", ["DistilBert", "Electra"])
def test_heads_that_bert_has_too_are_read_and_other_classifiers_are_told(
    relative: str, tmp_path: Path
) -> None:
    tags = saved(tmp_path / "tags", f"{relative}ForTokenClassification", num_labels=3)
    ours, _ = load_headed(tmp_path / "tags", TokenClassifier)
    assert agrees(ours(IDS, None, MASK), tags(IDS, attention_mask=MASK).logits)
    asked = saved(tmp_path / "asked", f"{relative}ForQuestionAnswering")
    answers, _ = load_headed(tmp_path / "asked", QuestionAnswering)
    assert agrees(answers(IDS, None, MASK)[..., 0], asked(IDS, attention_mask=MASK).start_logits)
    saved(tmp_path / "classes", f"{relative}ForSequenceClassification", num_labels=3)
    with pytest.raises(ModelError, match=r"is not built like BERT’s\. Fine-tune the model"):
        load_classifier(tmp_path / "classes")
    labels = ("LABEL_0", "LABEL_1", "LABEL_2")
    _, report = load_classifier(tmp_path / "classes", labels)
    assert "not built like BERT’s" in said(report) and "The classifier is new" in said(report)
    assert take_stock(tmp_path / "classes").labels == ()


def test_an_electra_of_narrow_word_vectors_stays_one_and_its_sizes_are_those_of_transformers() -> None:
    small = BertConfig.from_json({"model_type": "electra"})
    theirs = transformers.ElectraConfig()
    assert small.model_type == "electra" and (small.embedding_width, small.hidden_size) == (128, 256)
    assert all(getattr(small, name) == getattr(theirs, name) for name in ELECTRA)
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
