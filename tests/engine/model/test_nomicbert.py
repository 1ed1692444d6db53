"""NomicBERT: files of 2024 and of today, long texts, further pretraining, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ConfigError, ModelError
from engine.inspect.loaded_model import LoadedModel
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.model.weights import load_encoder, load_pretraining, read_config, save_model
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.text.batch import Bounds
from engine.train.pretraining.first_weights import as_trained
from engine.train.pretraining.refusals import check_objective
from tests.fakes import scramble, tiny_wordpiece

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

OLD = {  # keys of 2024 -> today's
    "n_embd": "hidden_size",
    "n_layer": "num_hidden_layers",
    "n_head": "num_attention_heads",
    "n_inner": "intermediate_size",
    "n_positions": "max_position_embeddings",
    "layer_norm_epsilon": "layer_norm_eps",
    "resid_pdrop": "hidden_dropout_prob",
    "attn_pdrop": "attention_probs_dropout_prob",
}


def made(path: Path, kind: str = "ForMaskedLM") -> Any:
    """Write a random tiny NomicBERT of transformers' own and return it."""
    config = transformers.NomicBertConfig(
        vocab_size=37,
        max_position_embeddings=61,
        hidden_size=12,
        num_hidden_layers=3,
        num_attention_heads=3,
        intermediate_size=29,
        rope_parameters={"rope_type": "default", "rope_theta": 40.0},
        attn_implementation="eager",
    )
    model = getattr(transformers, f"NomicBert{kind}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    tiny_wordpiece().save(path)
    return model


def as_of_2024(folder: Path, prefix: str) -> None:
    """Give a folder the names and keys of the models that were published before transformers had them."""
    tensors = load_file(folder / "model.safetensors")
    named = {name.replace("nomic_bert.", prefix): value for name, value in tensors.items()}
    save_file(named, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    new = {today: before for before, today in OLD.items()}
    written = {new.get(key, key): value for key, value in config.items() if key != "head_dim"}
    written |= {"rotary_emb_base": written.pop("rope_parameters")["rope_theta"], "n_positions": 8192}
    del written["hidden_act"]
    written |= {"activation_function": "swiglu", "rotary_emb_fraction": 1.0, "prenorm": False}
    written |= {"qkv_proj_bias": False, "rotary_scaling_factor": 2, "max_trained_positions": 61}
    (folder / "config.json").write_text(json.dumps(written))


@torch.no_grad()
@pytest.mark.parametrize("prefix", ["nomic_bert.", "bert.", ""])
def test_files_of_2024_give_the_numbers_of_todays_and_are_written_as_these(
    prefix: str, tmp_path: Path
) -> None:
    lengths = (47, 30, 30)
    ids = torch.randint(5, 37, (sum(lengths),), generator=torch.Generator().manual_seed(5))
    segments = (torch.arange(sum(lengths)) % 3 == 0).long()
    theirs = made(tmp_path / "own")
    as_of_2024(tmp_path / "own", prefix)
    model, report = load_pretraining(tmp_path / "own")
    assert (
        not report.missing
        and not report.unexpected
        and read_config(tmp_path / "own").model_type == "nomic_bert"
    )
    assert model.config.max_position_embeddings == 61  # what it was trained on: the rest would be stretched
    found = model.logits(model(ids, segments, bounds=Bounds(lengths)).hidden)
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    again, info = transformers.AutoModelForMaskedLM.from_pretrained(
        tmp_path / "saved", output_loading_info=True
    )
    assert type(again).__name__ == "NomicBertForMaskedLM"
    assert not info["missing_keys"] and not info["unexpected_keys"]
    parts = zip(found.split(lengths), ids.split(lengths), segments.split(lengths), strict=True)
    for ours, text, types in parts:
        for one in (theirs, again.eval()):
            wanted = one(text[None], token_type_ids=types[None]).logits[0]
            assert torch.allclose(ours, wanted, atol=1e-5)


def test_it_guesses_words_and_has_no_part_for_next_sentences(tmp_path: Path) -> None:
    made(tmp_path)
    subject = LoadedModel.open(tmp_path, "cpu")
    assert subject.has_masked_words and not subject.has_next_sentence and not subject.about.has_pooler


def test_it_is_pretrained_further_on_masked_words_alone(tmp_path: Path) -> None:
    made(tmp_path)
    shape = read_config(tmp_path)
    config = with_values(PretrainConfig(), {"next_sentence": "true", "max_length": "32"})
    with pytest.raises(
        ConfigError, match="family NomicBERT have no part for next sentences, .* Turn next_sentence off"
    ):
        check_objective(config.objective, shape)
    config = with_values(config, {"next_sentence": "false"})
    check_objective(config.objective, shape)
    model, _ = load_pretraining(tmp_path)
    as_trained(model, config)
    ids, masked = torch.tensor([2, 7, 4, 9, 3]), torch.tensor([2])
    loss, _ = model.train().masked_loss(
        model(ids, bounds=Bounds([5]), masked=masked).hidden, torch.tensor([8])
    )
    loss.backward()
    lacking = [name for name, weight in model.named_parameters() if weight.grad is None]
    assert not lacking and sum(weight.requires_grad for weight in model.parameters()) > 20


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"activation_function": "gelu"}, "activation_function is gelu. Cloze reads a NomicBERT whose"),
        ({"prenorm": True}, "prenorm is True. Cloze reads a NomicBERT whose prenorm is False"),
        ({"qkv_proj_bias": True}, "qkv_proj_bias is True"),
        ({"rotary_emb_fraction": 0.5}, "rotary_emb_fraction is 0.5"),
        ({"rotary_emb_base": float("inf")}, "rope_theta is inf; it must lie between"),
        ({"rope_parameters": {"rope_theta": 0}}, "rope_theta is 0; it must lie between"),
        ({"rope_parameters": {"rope_type": "yarn", "factor": 4}}, "stretches the rotation"),
        ({"hidden_size": 36}, "share a width of 36, 3 numbers each"),
        ({"head_dim": 32}, "12 attention heads of 32 numbers each, which do not make a width of 768"),
        ({"head_dim": "64"}, "12 attention heads of 64 numbers each"),
        ({"n_head": 7}, "A width of 768 cannot be divided evenly among 7"),
        ({"type_vocab_size": 0}, "type_vocab_size is 0; it must be a whole number"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_a_sentence(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        BertConfig.from_json({"model_type": "nomic_bert", **change})


def test_an_encoder_alone_of_2024_opens(tmp_path: Path) -> None:
    made(tmp_path, "Model")
    as_of_2024(tmp_path, "")
    model, report = load_encoder(tmp_path)
    assert model.pooler is None and not report.unexpected
    assert isinstance(PreTraining(model.config).bert.pooler, type(None))
