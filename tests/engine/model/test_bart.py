"""The half of a BART that reads, under whatever was made of it; what is new on it, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.errors import ModelError
from engine.inspect.loaded_model import LoadedModel
from engine.model.config import BertConfig
from engine.model.heads import SequenceClassifier
from engine.model.weights import load_encoder, load_headed
from tests.engine.model.family_cases import CASES, made

pytestmark = pytest.mark.slow  # transformers takes its time to be imported

BART = CASES["BART, the half that reads"]
IDS = torch.tensor([[0, 7, 11, 3, 15, 9, 2], [0, 12, 2, 1, 1, 1, 1]])
MASK = (IDS != 1).long()


@pytest.mark.parametrize(
    "kind", ["Model", "ForConditionalGeneration", "ForSequenceClassification", "ForQuestionAnswering"]
)
def test_all_but_the_half_that_reads_is_left_and_said_to_be_left(kind: str, tmp_path: Path) -> None:
    theirs = made(tmp_path, BART, kind).base_model.encoder
    ours, report = load_encoder(tmp_path)
    assert not report.missing and all(
        name.partition("model.")[2].startswith(("decoder.", "encoder.embed_tokens."))
        or name.startswith(
            ("decoder.", "final_logits_bias", "classification_head.", "lm_head.", "qa_outputs.")
        )
        for name in report.unexpected
    )
    assert any("The half of a BART that reads" in str(note) for note in report.notes)
    with torch.inference_mode():
        found, peer = (one(IDS, attention_mask=MASK).last_hidden_state for one in (ours, theirs))
    assert torch.allclose(found[MASK.bool()], peer[MASK.bool()], atol=1e-5)


def test_it_is_given_a_new_classifier_and_refuses_to_guess_words(tmp_path: Path) -> None:
    made(tmp_path, BART, "ForConditionalGeneration")
    model, report = load_headed(tmp_path, SequenceClassifier, labels=("no", "yes"), seed=1)
    assert model.config.model_type == "roberta" and "classifier.weight" in report.missing
    with pytest.raises(ModelError, match="masked"):
        LoadedModel.open(tmp_path).require("masked_words")


@pytest.mark.parametrize(("name", "value"), [("scale_embedding", True), ("pad_token_id", 0)])
def test_what_is_built_otherwise_is_refused(name: str, value: object) -> None:
    with pytest.raises(ModelError, match=f"config.json says {name} is {value}"):
        BertConfig.from_json({"model_type": "bart", name: value})
