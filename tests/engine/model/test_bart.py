"""The half of a BART that reads gives what `transformers` gives, and is saved as the RoBERTa that it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import ModelError
from engine.inspect.loaded_model import LoadedModel
from engine.model.config import BertConfig
from engine.model.heads import SequenceClassifier
from engine.model.weights import load_encoder, load_headed, save_model
from tests.fakes import scramble, tiny_byte_level

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

IDS = torch.tensor([[0, 7, 11, 3, 15, 9, 2], [0, 12, 2, 1, 1, 1, 1]])
MASK = (IDS != 1).long()
SIZES = {
    "vocab_size": tiny_byte_level().vocab_size,
    "d_model": 12,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 29,
    "decoder_ffn_dim": 17,
    "max_position_embeddings": 41,
    "attn_implementation": "eager",
}


def made(path: Path, kind: str) -> Any:
    """Write a random tiny BART of transformers' own and return its half that reads."""
    model = getattr(transformers, kind)(transformers.BartConfig(**SIZES)).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    return (model if kind == "BartModel" else model.model).encoder


@pytest.mark.parametrize(
    "kind", ["BartModel", "BartForConditionalGeneration", "BartForSequenceClassification"]
)
def test_the_half_that_reads_gives_the_same_and_is_saved_as_a_roberta(kind: str, tmp_path: Path) -> None:
    theirs = made(tmp_path / "bart", kind)
    ours, report = load_encoder(tmp_path / "bart")
    assert not report.missing and all(
        name.partition("model.")[2].startswith(("decoder.", "encoder.embed_tokens."))
        or name.startswith(("decoder.", "final_logits_bias", "classification_head.", "lm_head."))
        for name in report.unexpected
    )
    assert any("The half of a BART that reads" in str(note) for note in report.notes)
    with torch.inference_mode():
        found = ours(IDS, attention_mask=MASK, output_hidden_states=True, output_attentions=True)
        peer = theirs(IDS, attention_mask=MASK, output_hidden_states=True, output_attentions=True)
    for one, other in zip(found.hidden_states, peer.hidden_states, strict=True):
        assert torch.allclose(one[MASK.bool()], other[MASK.bool()], atol=1e-5)
    for one, other in zip(found.attentions, peer.attentions, strict=True):
        assert torch.allclose(one[0], other[0], atol=1e-5)
    save_model(tmp_path / "roberta", ours, tiny_byte_level())
    again = transformers.AutoModel.from_pretrained(tmp_path / "roberta", add_pooling_layer=False).eval()
    assert type(again).__name__ == "RobertaModel"
    with torch.inference_mode():
        hidden = again(IDS, attention_mask=MASK).last_hidden_state
    assert torch.allclose(hidden[MASK.bool()], peer.last_hidden_state[MASK.bool()], atol=1e-5)


def test_it_is_given_a_new_classifier_and_refuses_to_guess_words(tmp_path: Path) -> None:
    made(tmp_path / "bart", "BartForConditionalGeneration")
    tiny_byte_level().save(tmp_path / "bart")
    model, report = load_headed(tmp_path / "bart", SequenceClassifier, labels=("no", "yes"), seed=1)
    assert model.config.model_type == "roberta" and "classifier.weight" in report.missing
    with pytest.raises(ModelError, match="masked"):
        LoadedModel.open(tmp_path / "bart").require("masked_words")


@pytest.mark.parametrize(("name", "value"), [("scale_embedding", True), ("pad_token_id", 0)])
def test_what_is_built_otherwise_is_refused(name: str, value: object) -> None:
    with pytest.raises(ModelError, match=f"config.json says {name} is {value}"):
        BertConfig.from_json({"model_type": "bart", name: value})
