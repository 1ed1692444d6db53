"""GTE: files of 2024 and of today, texts in both layouts, what it learns, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine import embed
from engine.errors import ModelError
from engine.events import result_of
from engine.export.folders import writing_sentence_folder
from engine.export.onnx import exporting
from engine.inspect.attention.weights import detail, look
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.model.config import BertConfig
from engine.model.weights import load_classifier, load_encoder, load_pretraining, read_config, save_model
from engine.text.batch import Bounds, Unpadded
from engine.text.tokenizer import Tokenizer
from engine.train.finetune import fine_tune
from tests.engine.model.test_sentence_files import described
from tests.engine.tiny_runs import tiny_config
from tests.fakes import scramble, tiny_unigram, tiny_wordpiece

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

LENGTHS = (47, 30, 30, 2)
NTK, THETA, WIDTH = 8.0, 20.0, 4  # factor, theta before it, numbers of a head


def made(path: Path, kind: str = "ForMaskedLM", tokenizer: Tokenizer | None = None, **changes: Any) -> Any:
    """Write a random tiny GTE of transformers' own, its vocabulary beside it, and return it."""
    tokenizer = tokenizer or tiny_unigram()
    sizes = {
        "vocab_size": tokenizer.vocab_size,
        "max_position_embeddings": 61,
        "hidden_size": 12,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "intermediate_size": 29,
        "pad_token_id": tokenizer.pad_id,
        "rope_parameters": {
            "rope_type": "linear",
            "rope_theta": THETA * NTK,
            "factor": NTK ** (2 / WIDTH),
        },
        "attn_implementation": "eager",
    }
    config = transformers.GteConfig(**{**sizes, **changes})
    model = getattr(transformers, f"Gte{kind}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    tokenizer.save(path)
    return model


def as_of_2024(folder: Path, prefix: str = "new.") -> None:
    """Give a folder the names and keys of the models that were published before transformers had them."""
    tensors = load_file(folder / "model.safetensors")
    named = {name.replace("gte.", prefix): value for name, value in tensors.items()}
    save_file(named, folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    del config["rope_parameters"]
    config["architectures"] = [config["architectures"][0].replace("Gte", "New"), "NewForTokenClassification"]
    config |= {"model_type": "new", "rope_theta": THETA, "auto_map": {"AutoModel": "x--modeling.NewModel"}}
    config |= {"rope_scaling": {"type": "ntk", "factor": NTK}, "position_embedding_type": "rope"}
    config |= {"layer_norm_type": "layer_norm", "pack_qkv": True, "unpad_inputs": False}
    config |= {
        "logn_attention_scale": False,
        "logn_attention_clip1": False,
        "use_memory_efficient_attention": False,
    }
    (folder / "config.json").write_text(json.dumps(config))


def long_texts(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return padded ids and their mask."""
    seen = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    ids = torch.randint(2, size, seen.shape, generator=torch.Generator().manual_seed(7))
    return ids.masked_fill(~seen, 1), seen.long()


@torch.no_grad()
@pytest.mark.parametrize("prefix", ["gte.", "new."])
def test_files_of_2024_give_the_numbers_of_todays_and_are_written_as_these(
    prefix: str, tmp_path: Path
) -> None:
    theirs = made(tmp_path / "own")
    as_of_2024(tmp_path / "own", prefix)
    ids, seen = long_texts(theirs.config.vocab_size)
    real = seen.bool()
    model, report = load_pretraining(tmp_path / "own")
    assert not report.missing and not report.unexpected and "A GTE." in str(report.notes[0])
    assert model.config.model_type == "gte" and "auto_map" not in model.config.extra
    save_model(tmp_path / "saved", model, tiny_unigram(), {})
    again, info = transformers.AutoModelForMaskedLM.from_pretrained(
        tmp_path / "saved", output_loading_info=True
    )
    assert type(again).__name__ == "GteForMaskedLM"
    assert not info["missing_keys"] and not info["unexpected_keys"]
    for layout in (Bounds(LENGTHS), Unpadded(seen)):
        found = model.logits(model(ids[real], bounds=layout).hidden)
        for one in (theirs, again.eval()):
            assert torch.allclose(found, one(ids, attention_mask=seen).logits[real], atol=1e-5)


def test_a_slowed_rotation_turns_by_the_angles_of_the_published_formula(tmp_path: Path) -> None:
    made(tmp_path)
    as_of_2024(tmp_path)
    attention = load_encoder(tmp_path)[0].layers[0].attention
    qkv = torch.zeros(1, 61, 36)
    qkv[..., :2] = torch.tensor([1.0, 1.0])  # the first halves of both pairs of a query
    turned = attention.placed(qkv, None)[0]
    for place in (0, 1, 60):
        for pair in (0, 1):  # of bases theta * factor, all slowed by factor^(2 / d): Zhang et al. 2024
            angle = place / (THETA * NTK) ** (2 * pair / WIDTH) / NTK ** (2 / WIDTH)
            assert math.isclose(turned[place, pair], math.cos(angle), abs_tol=1e-5)
            assert math.isclose(turned[place, pair + 2], math.sin(angle), abs_tol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("segments", [0, 1])
def test_texts_are_read_alike_padded_packed_and_unpadded_with_a_segment_or_without(
    segments: int, tmp_path: Path
) -> None:
    tokenizer = tiny_unigram() if segments else tiny_wordpiece()
    own = made(tmp_path, "Model", tokenizer, type_vocab_size=segments)
    ids, seen = long_texts(tokenizer.vocab_size)
    real = seen.bool()
    theirs = own(ids, attention_mask=seen, output_attentions=True, output_hidden_states=True)
    model, report = load_encoder(tmp_path)
    assert model.pooler is None and not report.missing and not report.unexpected
    packed = model(ids[real], bounds=Bounds(LENGTHS), output_attentions=True, output_hidden_states=True)
    padded = model(ids, torch.ones_like(ids), seen, output_hidden_states=True)  # of one text all the same
    for here, also, there in zip(
        packed.hidden_states, padded.hidden_states, theirs.hidden_states, strict=True
    ):
        assert torch.allclose(here, there[real], atol=1e-5) and torch.allclose(also[real], here, atol=1e-5)
    for here, there in zip(packed.attentions, theirs.attentions, strict=True):
        for one, whole, length in zip(here, there, LENGTHS, strict=True):
            assert torch.allclose(one, whole[:, :length, :length], atol=1e-5)
    save_model(tmp_path / "saved", model, tokenizer, {})
    assert json.loads((tmp_path / "saved" / "config.json").read_text())["type_vocab_size"] == segments
    again, info = transformers.AutoModel.from_pretrained(tmp_path / "saved", output_loading_info=True)
    assert not info["missing_keys"] and not info["unexpected_keys"] and type(again).__name__ == "GteModel"
    assert load_encoder(tmp_path / "saved")[0].config == read_config(tmp_path / "saved")


def test_two_steps_of_fine_tuning_follow_the_gradients_of_transformers(tmp_path: Path) -> None:
    theirs = made(tmp_path, "ForSequenceClassification", num_labels=3)
    ours, _ = load_classifier(tmp_path)
    ids, seen = long_texts(theirs.config.vocab_size)
    labels = torch.tensor([2, 0, 1, 1])
    for _ in range(2):
        losses = []
        for model, logits in (
            (ours, ours(ids[seen.bool()], bounds=Bounds(LENGTHS))),
            (theirs, theirs(ids, attention_mask=seen).logits),
        ):
            losses.append(torch.nn.functional.cross_entropy(logits, labels))
            model.zero_grad()
            losses[-1].backward()
            torch.optim.SGD(model.parameters(), lr=0.1).step()
        assert torch.allclose(*losses, atol=1e-5)
    now = dict(theirs.named_parameters())
    fused = torch.cat([now[f"gte.layers.1.mlp.{half}_proj.weight"] for half in ("up", "gate")])
    assert torch.allclose(ours.bert.layers[1].intermediate.weight, fused, atol=1e-5)
    segment = now["gte.embeddings.token_type_embeddings.weight"]
    assert torch.allclose(ours.bert.embeddings.token_type.weight, segment, atol=1e-5)


@torch.no_grad()
def test_it_is_asked_as_transformers_answers_and_looked_into_as_the_maps_say(tmp_path: Path) -> None:
    theirs = made(tmp_path)
    as_of_2024(tmp_path)
    own = transformers.AutoTokenizer.from_pretrained(tmp_path)
    subject = LoadedModel.open(tmp_path, "cpu")
    best = theirs(**own("the <mask> play", return_tensors="pt")).logits[0, 2].log_softmax(-1).topk(3)
    for text, words in (("the [MASK] play", ()), ("the film play", (1,))):
        guesses = probe(subject, text, words=words, top_k=3).answers[0].guesses
        assert [guess.ids for guess in guesses] == [(number,) for number in best.indices.tolist()]
        assert np.allclose([guess.log_probability for guess in guesses], best.values, atol=1e-5)
    seen = look(subject, "a good film", "the play")
    found = theirs(**own("a good film", "the play", return_tensors="pt"), output_attentions=True)
    assert np.allclose(seen.attentions, torch.cat(found.attentions), atol=1e-5)
    head = detail(subject, seen, 1, 2, 3)
    assert np.allclose(head.weights, seen.attentions[1, 2, 3], atol=1e-5)
    with pytest.raises(ModelError, match="is a GTE. It was not trained on next sentences"):
        subject.require("next_sentence")


def test_it_is_fine_tuned_and_its_vectors_are_those_of_sentence_transformers(tmp_path: Path) -> None:
    theirs = made(tmp_path / "start", "Model")
    as_of_2024(tmp_path / "start")
    described(tmp_path / "start", {"pooling_mode_cls_token": True}, "Normalize", max_seq_length=19)
    own = transformers.AutoTokenizer.from_pretrained(tmp_path / "start")
    with torch.no_grad():
        first = theirs(**own("a good film", return_tensors="pt")).last_hidden_state[0, 0]
    assert np.allclose(embed(tmp_path / "start", ["a good film"])[0], first / first.norm(), atol=1e-5)
    result_of(writing_sentence_folder(tmp_path / "start", tmp_path / "sentences"))
    assert np.allclose(embed(tmp_path / "sentences", ["a good film"])[0], first / first.norm(), atol=1e-5)
    list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert type(model).__name__ == "GteForSequenceClassification"
    found = LoadedModel.open(folder, "cpu").predictor().predict("the good film")
    with torch.no_grad():
        wanted = model(**own("the good film", return_tensors="pt")).logits[0].softmax(-1)
    assert np.allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("kind", ["ForMaskedLM", "Model"])
def test_a_graph_of_one_with_wordpieces_answers_long_and_short_texts_alike(kind: str, tmp_path: Path) -> None:
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)
    made(tmp_path / "own", kind, tiny_wordpiece(), type_vocab_size=0)
    found = result_of(exporting(tmp_path / "own", tmp_path / "out", ["a good film", "play"]))
    assert found.difference < 1e-5 and found.num_answered == 3


@pytest.mark.parametrize("kind", ["gte", "new"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "stretches the rotation"),
        ({"rope_scaling": {"type": "ntk", "factor": 2.0, "mixed_b": 0.5}}, "stretches the rotation"),
        ({"rope_scaling": {"type": "ntk"}}, "factor is None; it must lie between"),
        ({"rope_scaling": {"type": "ntk", "factor": float("inf")}}, "factor is inf; it must lie between"),
        ({"rope_scaling": [8]}, "stretches the rotation"),
        ({"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, "stretches the rotation"),
        ({"rope_parameters": {"rope_type": "linear", "factor": 0}}, "factor is 0; it must lie between"),
        ({"rope_parameters": {"rope_theta": "x"}}, "rope_theta is x; it must lie between"),
        ({"rope_parameters": {"rope_type": []}}, "stretches the rotation"),
        ({"rope_theta": 0}, "rope_theta is 0; it must lie between"),
        ({"logn_attention_scale": True}, "logn_attention_scale is True. Cloze reads a GTE whose"),
        ({"pack_qkv": False}, "pack_qkv is False. Cloze reads a GTE whose pack_qkv is True"),
        ({"layer_norm_type": "rms_norm"}, "layer_norm_type is rms_norm"),
        ({"position_embedding_type": [1]}, r"position_embedding_type is \[1\]"),
        ({"type_vocab_size": 2}, "type_vocab_size is 2. Cloze reads a GTE whose type_vocab_size is 1"),
        ({"hidden_size": 36}, "share a width of 36, 3 numbers each"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0; it must be a whole number"),
        ({"hidden_size": "768"}, "hidden_size is 768; it must be a whole number"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_a_sentence(
    kind: str, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ModelError, match=said):
        BertConfig.from_json({"model_type": kind, **change})


def test_the_published_one_has_305_million_weights() -> None:
    config = BertConfig.from_json(transformers.GteConfig().to_dict())
    assert round(sum(config.family.counts(config).values()) / 1e6) == 306  # its pooler included
