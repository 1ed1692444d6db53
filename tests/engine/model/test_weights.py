"""Model folders in and out: loaded is what was stored, the rest is named, and hostile folders are refused."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.errors import ModelError, UserError
from engine.model import names
from engine.model.bert import Bert
from engine.model.weights import (
    LoadReport,
    load_classifier,
    load_encoder,
    load_pretraining,
    read_config,
    save_model,
    save_tensors,
)
from tests.fakes import (
    LABELS,
    foreign_folder,
    model_folder,
    same_weights,
    scramble,
    stored_tensors,
    tiny_classifier,
    tiny_config,
    tiny_pretraining,
    tiny_wordpiece,
)

transformers = pytest.importorskip("transformers")

KEY_BIAS = "bert.encoder.layer.1.attention.self.key.bias"
IDS = torch.tensor([[2, 7, 11, 36, 3], [2, 30, 9, 5, 3]])


def said(report: LoadReport) -> list[str]:
    return [str(sentence) for sentence in report.sentences()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "model")


# names


def test_every_parameter_has_its_own_published_names() -> None:
    own = list(tiny_classifier().state_dict())
    published = [name for one in own for name in names.published_names(one)]
    reference = transformers.BertForSequenceClassification(transformers.BertConfig(**tiny_config().to_json()))
    assert sorted(published) == sorted(reference.state_dict())


# ours out, transformers in, and back


@torch.no_grad()
def test_transformers_opens_what_we_save_with_nothing_missing_or_unexpected(folder: Path) -> None:
    model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, output_loading_info=True
    )
    assert type(model) is transformers.BertForSequenceClassification
    assert not info["missing_keys"] and not info["unexpected_keys"] and not info["mismatched_keys"]
    assert model.config.num_labels == 3 and model.config.id2label == dict(enumerate(LABELS))
    ours = tiny_classifier()(IDS)
    assert float((model.eval()(IDS).logits - ours).abs().max()) <= 1e-5 * max(1.0, float(ours.abs().max()))


def test_transformers_opens_a_bare_encoder_that_we_save(tmp_path: Path) -> None:
    save_model(tmp_path / "encoder", tiny_classifier().bert, tiny_wordpiece(), {})
    model, info = transformers.AutoModel.from_pretrained(tmp_path / "encoder", output_loading_info=True)
    assert type(model) is transformers.BertModel
    assert not info["missing_keys"] and not info["unexpected_keys"]


def test_the_tokenizer_of_a_saved_folder_gives_our_ids(folder: Path) -> None:
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    assert theirs("Good film!", "bad")["input_ids"] == tiny_wordpiece().encode("Good film!", "bad").input_ids


def test_saving_and_loading_changes_no_bit(folder: Path) -> None:
    model, report = load_classifier(folder)
    assert same_weights(model, tiny_classifier())
    assert model.config.id2label == LABELS and not model.training
    assert all(p.requires_grad and p.is_leaf and p.is_contiguous() for p in model.parameters())
    assert not report.missing and not report.unexpected and not report.refused
    assert said(report) == ["All 37 tensors of the encoder were loaded."]


def test_unknown_keys_of_config_json_come_back(tmp_path: Path) -> None:
    odd = {"new_in_2031": [1, {"a": None}], "torch_dtype": "float16"}
    source = foreign_folder(tmp_path / "a", stored_tensors(model_folder(tmp_path / "model")), odd)
    model, _ = load_classifier(source)
    save_model(tmp_path / "b", model, tiny_wordpiece(), {})
    document = json.loads((tmp_path / "b" / "config.json").read_text())
    assert document["new_in_2031"] == [1, {"a": None}]
    assert document["architectures"] == ["BertForSequenceClassification"] and document["model_type"] == "bert"
    assert document["dtype"] == "float32" and "torch_dtype" not in document  # what is written is float32


def test_a_saved_folder_holds_the_published_files_and_cloze_json(folder: Path) -> None:
    published = {"config.json", "model.safetensors", "vocab.txt", "tokenizer.json", "tokenizer_config.json"}
    assert {file.name for file in folder.iterdir()} == published | {"cloze.json"}
    assert json.loads((folder / "cloze.json").read_text()) == {"task": "classification"}
    header = json.loads((folder / "model.safetensors").read_bytes()[8:].split(b"}}")[0] + b"}}")
    assert header["__metadata__"] == {"format": "pt"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
def test_saved_files_have_the_mode_that_the_umask_grants(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        folder = model_folder(tmp_path / "model")
    finally:
        os.umask(old)
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o640}


# names, files and types of others


def old_name(name: str) -> str:
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


def test_old_names_and_a_missing_prefix_give_the_same_model(tmp_path: Path, folder: Path) -> None:
    stored = stored_tensors(folder)
    old = foreign_folder(tmp_path / "old", {old_name(name): value for name, value in stored.items()})
    bare = {name.removeprefix("bert."): value for name, value in stored.items()}
    assert any("gamma" in name for name in json.dumps(list(map(old_name, stored))).split())
    for changed in (old, foreign_folder(tmp_path / "bare", bare)):
        model, report = load_classifier(changed)
        assert same_weights(model, tiny_classifier()) and not report.missing
        assert same_weights(load_encoder(changed)[0], tiny_classifier().bert)


def test_one_place_with_two_weights_is_refused(tmp_path: Path, folder: Path) -> None:
    stored = stored_tensors(folder)
    stored["pooler.dense.bias"] = torch.zeros(12)
    with pytest.raises(ModelError, match="two weights for one place"):
        load_encoder(foreign_folder(tmp_path / "two", stored))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pytorch_model_bin_gives_the_same_model(tmp_path: Path, folder: Path, zipped: bool) -> None:
    stored = stored_tensors(folder)
    (folder / "model.safetensors").unlink()
    state = torch.nn.Module.state_dict(tiny_classifier())  # an OrderedDict with _metadata, as others save it
    state.clear()
    state.update({name: torch.nn.Parameter(value) for name, value in stored.items()})
    torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
    model, report = load_classifier(folder)
    assert same_weights(model, tiny_classifier()) and len(report.loaded) == 41


def test_shards_of_transformers_give_the_same_model(tmp_path: Path) -> None:
    reference = transformers.BertForSequenceClassification(transformers.BertConfig(**tiny_config().to_json()))
    scramble(reference)
    reference.save_pretrained(tmp_path / "whole")
    reference.save_pretrained(tmp_path / "shards", max_shard_size="4KB")
    assert len(list((tmp_path / "shards").glob("model-*.safetensors"))) > 2
    assert same_weights(load_classifier(tmp_path / "shards")[0], load_classifier(tmp_path / "whole")[0])


def test_sharded_bin_files_give_the_same_model(folder: Path) -> None:
    stored = stored_tensors(folder)
    (folder / "model.safetensors").unlink()
    table = {name: f"pytorch_model-0000{1 + number % 2}-of-00002.bin" for number, name in enumerate(stored)}
    for shard in set(table.values()):
        torch.save({name: stored[name] for name in stored if table[name] == shard}, folder / shard)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": table}))
    assert same_weights(load_classifier(folder)[0], tiny_classifier())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn])
def test_other_float_types_become_float32_and_are_reported(
    tmp_path: Path, folder: Path, dtype: torch.dtype
) -> None:
    stored = {name: value.to(dtype) for name, value in stored_tensors(folder).items()}
    model, report = load_classifier(foreign_folder(tmp_path / "other", stored))
    assert torch.equal(model.classifier.weight, stored["classifier.weight"].float())
    assert torch.equal(model.bert.layers[1].attention.qkv.bias[12:24], stored[KEY_BIAS].float())
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    kind = str(dtype).removeprefix("torch.")
    assert f"The weights are stored as {kind} and were converted to float32." in said(report)


@pytest.mark.parametrize("asked", [{}, {"dtype": torch.float32}])
def test_word_vectors_may_take_a_byte_a_value_and_transformers_opens_them(
    tmp_path: Path, asked: dict[str, torch.dtype]
) -> None:
    ours = tiny_pretraining()
    save_model(tmp_path / "small", ours, tiny_wordpiece(), dtype=torch.float16, words=torch.float8_e4m3fn)
    stored = stored_tensors(tmp_path / "small")
    words = stored.pop("bert.embeddings.word_embeddings.weight")
    assert words.dtype == torch.float8_e4m3fn
    assert {value.dtype for value in stored.values()} == {torch.float16}
    loaded, report = load_pretraining(tmp_path / "small")
    assert torch.equal(loaded.bert.embeddings.word.weight, words.float()) and not report.missing
    assert torch.allclose(
        loaded.bert.embeddings.word.weight, ours.bert.embeddings.word.weight, rtol=1 / 16, atol=1e-3
    )
    theirs, info = transformers.BertForPreTraining.from_pretrained(
        tmp_path / "small", output_loading_info=True, **asked
    )
    assert not info["missing_keys"] and not info["unexpected_keys"]
    kind = asked.get("dtype", torch.float16)  # that of config.json
    assert {value.dtype for value in theirs.parameters()} == {kind}
    assert torch.equal(theirs.bert.embeddings.word_embeddings.weight.float(), words.float())


def test_heads_of_pretraining_are_named_as_not_needed(tmp_path: Path, folder: Path) -> None:
    config = transformers.BertConfig(**tiny_config().to_json())
    transformers.BertForPreTraining(config).save_pretrained(tmp_path / "pretrained")
    stored = {
        **stored_tensors(tmp_path / "pretrained"),
        "bert.embeddings.position_ids": torch.arange(41)[None],
    }
    model, report = load_encoder(foreign_folder(tmp_path / "with ids", stored))
    assert isinstance(model, Bert) and model.pooler is not None
    assert said(report) == [
        "All 37 tensors of the encoder were loaded.",
        "Not needed here: the masked-word head (5 tensors).",
        "Not needed here: the next-sentence head (2 tensors).",
    ]
    assert "Not needed here: the classifier (2 tensors)." in said(load_encoder(folder)[1])


def test_unknown_weights_are_left_out_and_named(tmp_path: Path, folder: Path) -> None:
    stored = {**stored_tensors(folder), "adapter.0.down": torch.zeros(3)}
    _, report = load_classifier(foreign_folder(tmp_path / "more", stored))
    assert report.unexpected == ("adapter.0.down",)
    assert (
        said(report)[-1] == "Ignored because config.json does not ask for them: adapter.0.down (1 tensors)."
    )


# heads, new and old


def without(tensors: dict[str, Tensor], *starts: str) -> dict[str, Tensor]:
    return {name: value for name, value in tensors.items() if not name.startswith(starts)}


def test_a_new_classifier_is_reported_and_repeats_with_its_seed(tmp_path: Path, folder: Path) -> None:
    bare = foreign_folder(tmp_path / "bare", without(stored_tensors(folder), "classifier", "bert.pooler"))
    one, report = load_classifier(bare, ["no", "yes"], seed=5)
    assert same_weights(one, load_classifier(bare, ["no", "yes"], seed=5)[0])
    assert not same_weights(one, load_classifier(bare, ["no", "yes"], seed=6)[0])
    assert one.config.id2label == ("no", "yes") and one.classifier.weight.shape == (2, 12)
    assert 0 < float(one.classifier.weight.detach().std()) < 0.05 and not one.classifier.bias.any()
    assert report.missing == (
        "pooler.dense.weight",
        "pooler.dense.bias",
        "classifier.weight",
        "classifier.bias",
    )
    assert said(report)[1:] == [
        "The pooler is new and starts from random weights.",
        "The classifier is new and starts from random weights.",
    ]


def test_loading_draws_none_of_the_random_numbers_of_others(tmp_path: Path, folder: Path) -> None:
    bare = foreign_folder(tmp_path / "bare", without(stored_tensors(folder), "classifier", "bert.pooler"))
    before = torch.random.get_rng_state()
    load_classifier(bare, ["no", "yes"])
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_same_labels_keep_the_head_in_the_order_of_the_data(folder: Path) -> None:
    own, _ = load_classifier(folder)
    turned, report = load_classifier(folder, ["odd", "bad", "good"])
    assert not report.missing and turned.config.id2label == ("odd", "bad", "good")
    assert torch.equal(turned(IDS), own(IDS)[:, [2, 0, 1]])


@pytest.mark.parametrize("labels", [["bad", "good"], ["bad", "good", "mixed"]])
def test_a_head_for_other_labels_is_refused_by_name_with_its_reason(folder: Path, labels: list[str]) -> None:
    model, report = load_classifier(folder, labels)
    assert [name for name, _ in report.refused] == ["classifier.weight", "classifier.bias"]
    listed = ", ".join(labels)
    assert said(report)[1:] == [
        f"The model’s own classifier was not used, because its labels are bad, good, odd, not {listed}.",
        "The classifier is new and starts from random weights.",
    ]
    assert model.config.id2label == tuple(labels)


def test_a_head_that_contradicts_its_config_is_never_used(tmp_path: Path, folder: Path) -> None:
    stored = {**stored_tensors(folder), "classifier.weight": torch.zeros(5, 12)}
    wrong = foreign_folder(tmp_path / "wrong", stored)
    with pytest.raises(ModelError, match=r"classifier does not fit its config.json.*\(5, 12\), but 3 labels"):
        load_classifier(wrong)
    _, report = load_classifier(wrong, LABELS)
    assert [name for name, _ in report.refused] == ["classifier.weight", "classifier.bias"]
    assert "The classifier is new and starts from random weights." in said(report)


def test_a_classifier_without_named_labels_gets_numbered_ones(tmp_path: Path) -> None:
    config = transformers.BertConfig(**tiny_config().to_json())
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)  # leaves its two labels out
    assert read_config(tmp_path).id2label == ()
    assert load_classifier(tmp_path)[0].config.id2label == ("LABEL_0", "LABEL_1")


def test_a_folder_without_classifier_or_pooler_cannot_classify(tmp_path: Path, folder: Path) -> None:
    stored = stored_tensors(folder)
    with pytest.raises(ModelError, match="holds no classifier. Fine-tune it first"):
        load_classifier(foreign_folder(tmp_path / "a", without(stored, "classifier")))
    with pytest.raises(ModelError, match="holds a classifier without the pooler"):
        load_classifier(foreign_folder(tmp_path / "b", without(stored, "bert.pooler")))


def test_an_encoder_without_a_pooler_says_so_and_pools_nothing(tmp_path: Path, folder: Path) -> None:
    model, report = load_encoder(
        foreign_folder(tmp_path / "a", without(stored_tensors(folder), "bert.pooler"))
    )
    assert model.pooler is None and model(IDS).pooled_output is None
    assert "The model has no pooler." in said(report)


def test_other_dropouts_can_be_asked_for_while_loading(folder: Path) -> None:
    config = dataclasses.replace(read_config(folder), hidden_dropout_prob=0.37)
    assert load_classifier(folder, config=config)[0].dropout.p == 0.37


# saving without harm


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot limit the size of files")
@pytest.mark.parametrize("limit", [100, 3_000, 12_000])
def test_a_full_disk_is_one_sentence_and_leaves_the_old_model(folder: Path, limit: int) -> None:
    import resource  # not on Windows

    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        with pytest.raises(UserError, match="The disk is full: .* could not be written"):
            model_folder(folder, seed=1)
        with pytest.raises(UserError, match="The disk is full: .* could not be written"):
            save_tensors(folder / "model.safetensors", {"x": torch.zeros(9000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert [file.name for file in folder.parent.iterdir()] == ["model"]


def test_saving_again_replaces_the_older_model(folder: Path) -> None:
    loaded, _ = load_classifier(folder)
    model_folder(folder, seed=1)
    assert same_weights(load_classifier(folder)[0], tiny_classifier(seed=1))
    assert same_weights(loaded, tiny_classifier(seed=0))  # it holds no map of the file that is gone


def test_saving_over_files_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ModelError, match=re.escape("also holds thesis.tex, which saving would remove")):
        model_folder(tmp_path)
    with pytest.raises(ModelError, match="thesis.tex is a file"):
        model_folder(tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
