"""DeBERTa-v3: distances in every layout, what is asked of it, what it learns, published files, refusals."""

from __future__ import annotations

import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import ModelError, UserError
from engine.events import result_of
from engine.export.onnx import GRAPH, exporting
from engine.inspect.anatomy.vectors import trace
from engine.inspect.attention.weights import detail, look
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.model.arithmetic import arithmetic
from engine.model.attention import Read
from engine.model.config import BertConfig
from engine.model.families.disentangled import in_buckets
from engine.model.heads import MultipleChoice, PreTraining, QuestionAnswering, TokenClassifier
from engine.model.inventory import take_stock
from engine.model.names import published_names
from engine.model.source import unfilled
from engine.model.weights import load_classifier, load_encoder, load_headed, load_pretraining, save_model
from engine.text.batch import Bounds, Unpadded
from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import tiny_config
from tests.fakes import scramble, tiny_unigram, tiny_wordpiece

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

TOKENIZER = tiny_unigram("deberta")
LENGTHS = (31, 31, 17, 2)
RELATIVE = {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "position_buckets": 8,
}
WAYS = [  # to have distances
    {},
    {"position_buckets": 7, "max_relative_positions": 19, "share_att_key": False, "norm_rel_ebd": "none"},
    {"position_buckets": -1, "max_relative_positions": 6, "pos_att_type": "c2p|p2c"},
    {"position_buckets": -1},
    {"position_buckets": 64},
]


def made(path: Path, kind: str = "ForMaskedLM", **changes: Any) -> Any:
    """Write a random tiny DeBERTa of transformers' own, its vocabulary beside it, and return it."""
    sizes = {
        "vocab_size": TOKENIZER.vocab_size + 3,  # as published ones have rows that no piece has
        "max_position_embeddings": 67,
        "hidden_size": 12,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "intermediate_size": 29,
    }
    config = transformers.DebertaV2Config(**{**sizes, **RELATIVE, **changes})
    model = getattr(transformers, f"DebertaV2{kind}")(config).eval()
    scramble(model)
    with torch.no_grad():
        for name, weight in model.named_parameters():  # so that a mistake in what is compared shows
            weight.mul_(5 if re.search("rel_embeddings|encoder.LayerNorm|(query|key)_proj", name) else 1)
    model.tie_weights()
    model.save_pretrained(path)
    TOKENIZER.save(path)
    return model


def long_texts() -> tuple[torch.Tensor, torch.Tensor]:
    """Return padded ids and their mask."""
    rng = torch.Generator().manual_seed(7)
    seen = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    return torch.randint(4, 256, seen.shape, generator=rng) * seen, seen.long()


def asked(model: Any, folder: Path, *texts: str, **wanted: Any) -> Any:
    """Ask transformers, with its own tokenizer of the folder."""
    own = transformers.AutoTokenizer.from_pretrained(folder)
    return model(**own(*texts, return_tensors="pt"), **wanted)


@torch.no_grad()
@pytest.mark.parametrize("way", WAYS)
def test_texts_are_read_alike_padded_packed_and_unpadded(way: dict[str, Any], tmp_path: Path) -> None:
    ids, seen = long_texts()
    own = made(tmp_path, "Model", **way)
    theirs = own(ids, attention_mask=seen, output_attentions=True, output_hidden_states=True)
    model, report = load_encoder(tmp_path)
    assert not report.missing and not report.unexpected and model.pooler is None
    real, bounds = seen.bool(), Bounds(LENGTHS)
    packed = model(ids[real], bounds=bounds, output_attentions=True, output_hidden_states=True)
    padded = model(ids, None, seen, output_hidden_states=True)
    for here, also, there in zip(
        packed.hidden_states, padded.hidden_states, theirs.hidden_states, strict=True
    ):
        assert torch.allclose(here, there[real], atol=1e-5) and torch.allclose(also[real], here, atol=1e-5)
    for here, there in zip(packed.attentions, theirs.attentions, strict=True):
        for one, whole, length in zip(here, there, LENGTHS, strict=True):
            assert torch.allclose(one, whole[:, :length, :length], atol=1e-5)
    for layout, rows in (
        ({"bounds": bounds}, ids[real]),
        ({"bounds": bounds}, torch.cat([ids[real], ids.new_zeros(7)])),  # with filler
        ({"bounds": Unpadded(seen)}, ids[real]),
    ):
        found = model(rows, **layout).last_hidden_state[:81]
        assert torch.allclose(found, packed.last_hidden_state, atol=1e-5)
    firsts = model(ids[real], bounds=bounds, rows=Read.FIRSTS).last_hidden_state
    assert torch.allclose(firsts, theirs.last_hidden_state[:, 0], atol=1e-5)
    firsts = model(ids, None, seen, rows=Read.FIRSTS).last_hidden_state
    assert torch.allclose(firsts[:, 0], theirs.last_hidden_state[:, 0], atol=1e-5)
    off = torch.ones(3, 3)
    off[1, 2] = 0
    without = model(ids[real], bounds=bounds, head_mask=off).last_hidden_state
    assert not torch.allclose(without, packed.last_hidden_state, atol=1e-3)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # with distances of their own
        again.layers[0].attention.distances.table.weight.zero_()
        assert not torch.allclose(again(ids[real], bounds=bounds).last_hidden_state, found, atol=1e-3)
        assert torch.equal(model(ids[real], bounds=bounds).last_hidden_state, packed.last_hidden_state)


def test_distances_share_the_buckets_of_the_published_code() -> None:
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    apart = torch.arange(-600, 601)
    for buckets, most in ((256, 512), (2, 4), (3, 9), (7, 19), (32, 129), (1021, 512)):
        far = apart[apart.abs() < most]
        wanted = make_log_bucket_position(far, buckets, most).long()
        assert torch.equal(in_buckets(far, buckets, most), wanted)
        assert wanted.unique().numel() <= 2 * buckets


@torch.no_grad()
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("way", WAYS[:2])
def test_however_few_layers_it_has_they_share_their_distances(
    count: int, way: dict[str, Any], tmp_path: Path
) -> None:
    ids, seen = long_texts()
    theirs = made(tmp_path, "ForTokenClassification", num_hidden_layers=count, num_labels=3, **way)
    model, report = load_headed(tmp_path, TokenClassifier)
    assert not report.missing and not report.unexpected
    found = model(ids[seen.bool()], bounds=Bounds(LENGTHS))
    assert torch.allclose(found, theirs(ids, attention_mask=seen).logits[seen.bool()], atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("legacy", [True, False])
def test_both_heads_for_masked_words_are_read_and_the_one_that_all_know_is_written(
    legacy: bool, tmp_path: Path
) -> None:
    ids, seen = long_texts()
    real = seen.bool()
    theirs = made(tmp_path / "own", legacy=legacy, hidden_act="gelu_new")(ids, attention_mask=seen).logits
    model, report = load_pretraining(tmp_path / "own")
    assert not report.missing and not report.unexpected
    found = model.logits(model(ids[real], bounds=Bounds(LENGTHS)).hidden)
    assert torch.allclose(found, theirs[real], atol=1e-5)
    save_model(tmp_path / "saved", model, TOKENIZER, {})
    again, info = transformers.AutoModelForMaskedLM.from_pretrained(
        tmp_path / "saved", output_loading_info=True
    )
    assert type(again).__name__ == "DebertaV2ForMaskedLM" and again.legacy
    assert not info["missing_keys"] and not info["unexpected_keys"]
    assert torch.allclose(again.eval()(ids, attention_mask=seen).logits[real], theirs[real], atol=1e-5)


@torch.no_grad()
def test_published_files_open_and_what_is_not_needed_of_them_is_said(tmp_path: Path) -> None:
    ids, seen = long_texts()
    theirs = made(tmp_path, legacy=False)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["deberta.embeddings.position_embeddings.weight"] = torch.ones(67, 12)
    for name, shape in (
        ("dense.weight", (12, 12)),
        ("classifier.weight", (1, 12)),
        ("LayerNorm.bias", (12,)),
    ):
        tensors[f"mask_predictions.{name}"] = torch.ones(shape)
    save_file({name: value.half() for name, value in tensors.items()}, tmp_path / "model.safetensors")
    document = json.loads((tmp_path / "config.json").read_text())
    for name in ("architectures", "legacy"):
        del document[name]
    (tmp_path / "config.json").write_text(json.dumps(document))
    model, report = load_pretraining(tmp_path)
    said = "\n".join(map(str, report.sentences()))
    assert "The model’s own masked-word head was loaded." in said and "Ignored" not in said
    assert "DeBERTa’s head for replaced words (3 tensors). A model that was trained with it" in said
    assert "vectors of places (1 tensors). Only pretraining read them." in said
    logits = model.logits(model(ids, None, seen).hidden).view(*ids.shape, -1)
    wanted = theirs.half().float()(ids, attention_mask=seen).logits
    assert torch.allclose(logits[seen.bool()], wanted[seen.bool()], atol=1e-5)
    stock = take_stock(tmp_path)
    assert stock.answers == ("masked_words",) and not stock.refused
    left = {one.what: one.num_weights for one in stock.leftovers}
    assert left == {"places, for pretraining alone": 804, "DeBERTa’s replaced words": 168}
    assert stock.num_weights == arithmetic(stock.config, stock.heads).total


@torch.no_grad()
def test_answers_and_endings_are_found_as_transformers_finds_them_in_both_directions(tmp_path: Path) -> None:
    ids, seen = long_texts()
    theirs = made(tmp_path / "own", "ForQuestionAnswering")(ids, attention_mask=seen)
    ours, report = load_headed(tmp_path / "own", QuestionAnswering)
    assert not report.missing and not report.unexpected
    found = ours(ids[seen.bool()], bounds=Bounds(LENGTHS))
    assert torch.allclose(found[:, 0], theirs.start_logits[seen.bool()], atol=1e-5)
    save_model(tmp_path / "saved", ours, TOKENIZER, {})
    again = transformers.AutoModelForQuestionAnswering.from_pretrained(tmp_path / "saved").eval()
    scores = again(ids, attention_mask=seen).end_logits
    assert torch.allclose(found[:, 1], scores[seen.bool()], atol=1e-5)
    endings = made(tmp_path / "choice", "ForMultipleChoice")
    wanted = endings(ids[None], attention_mask=seen[None]).logits[0]
    choice, report = load_headed(tmp_path / "choice", MultipleChoice)
    assert not report.missing and not report.unexpected
    assert torch.allclose(choice(ids[seen.bool()], bounds=Bounds(LENGTHS))[:, 0], wanted, atol=1e-5)
    save_model(tmp_path / "saved choice", choice, TOKENIZER, {})
    again, info = transformers.AutoModelForMultipleChoice.from_pretrained(
        tmp_path / "saved choice", output_loading_info=True
    )
    assert not info["missing_keys"] and not info["unexpected_keys"]
    assert torch.allclose(again.eval()(ids[None], attention_mask=seen[None]).logits[0], wanted, atol=1e-5)


@pytest.mark.parametrize("way", WAYS[:2])
def test_steps_of_fine_tuning_follow_the_gradients_of_transformers(
    way: dict[str, Any], tmp_path: Path
) -> None:
    theirs = made(tmp_path, "ForSequenceClassification", num_labels=3, **way)
    ours, _ = load_classifier(tmp_path)
    ids, seen = long_texts()
    labels = torch.tensor([2, 0, 1, 0])
    for _ in range(3):
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
    family = ours.config.family
    now = dict(theirs.named_parameters())
    for name, weight in ours.state_dict().items():
        published = published_names(name)
        for one, part in zip(published, weight.chunk(len(published)), strict=True):
            there = now.pop(family.own_name(one, "BertForSequenceClassification"))
            assert torch.allclose(part, there, atol=1e-5), name
    assert not now


def test_it_is_fine_tuned_and_opens_in_transformers_with_the_same_answers(tmp_path: Path) -> None:
    made(tmp_path / "start", cls_dropout=0.0)
    list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    theirs, info = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, output_loading_info=True
    )
    assert type(theirs).__name__ == "DebertaV2ForSequenceClassification" and theirs.config.cls_dropout == 0
    assert not info["missing_keys"] and not info["unexpected_keys"]
    for text in ("the good film", "the good film 龘"):
        found = LoadedModel.open(folder, "cpu").predictor().predict(text)
        with torch.no_grad():
            wanted = asked(theirs.eval(), folder, text).logits[0].softmax(-1)
        assert np.allclose(found, wanted, atol=1e-5)
    assert take_stock(folder).answers == ("labels",)


@pytest.mark.parametrize(
    "settings",
    [{"new_layers": 2}, {"frozen_layers": 2}, {"encoder": "frozen"}, {"layer_mix": True, "layer_decay": 0.5}],
)
def test_its_layers_are_frozen_renewed_and_mixed_as_berts_are(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    made(tmp_path / "start")
    list(fine_tune(tiny_config(tmp_path, num_epochs=1, **settings), tmp_path / "run"))
    before, _ = load_encoder(tmp_path / "start")
    after, _ = load_classifier(tmp_path / "run" / "model")
    kept = [
        torch.equal(one.intermediate.weight, two.intermediate.weight)
        for one, two in zip(before.layers, after.bert.layers, strict=True)
    ]
    frozen = 3 if "encoder" in settings else settings.get("frozen_layers", 0)
    assert kept == [True] * frozen + [False] * (3 - frozen)
    tables = [one.layers[0].attention.distances.table.weight for one in (before, after.bert)]
    assert torch.equal(*tables) is bool(frozen)


@pytest.mark.parametrize("way", ["regression", "contrastive"])
def test_a_head_that_is_solved_for_goes_through_its_pooler(way: str, tmp_path: Path) -> None:
    made(tmp_path / "start")
    list(fine_tune(tiny_config(tmp_path, way=way), tmp_path / "run"))
    stock = take_stock(tmp_path / "run" / "model")
    assert stock.answers == ("labels",) and not stock.leftovers
    found = LoadedModel.open(tmp_path / "run" / "model", "cpu").predictor().predict("the good film")
    assert np.isclose(sum(found), 1)


@torch.no_grad()
def test_pages_look_into_it_and_what_they_do_not_show_is_said_in_a_sentence(tmp_path: Path) -> None:
    theirs = made(tmp_path)
    subject = LoadedModel.open(tmp_path, "cpu")
    assert "A DeBERTa." in str(subject.notes[0])
    logs = asked(theirs, tmp_path, "the [MASK] play").logits[0].log_softmax(-1)
    ids = tuple(TOKENIZER.encode("the [MASK] play").input_ids)
    best = logs[ids.index(TOKENIZER.mask_id), : TOKENIZER.vocab_size].topk(3)
    for text, words in (("the [MASK] play", ()), ("the film play", (1,))):
        found = probe(subject, text, words=words, top_k=3)
        assert found.masked.input_ids == ids
        logarithms = [guess.log_probability for guess in found.answers[0].guesses]
        assert np.allclose(logarithms, best.values, atol=1e-5)
    seen = look(subject, "the good film", "a play 龘")
    maps = asked(theirs, tmp_path, "the good film", "a play 龘", output_attentions=True).attentions
    assert np.allclose(seen.attentions, torch.cat(maps), atol=1e-5)
    assert [word.text for word in seen.words] == ["the", "good", "film", "a", "play", "龘"]
    with pytest.raises(UserError, match="a query and a key alone do not give the score"):
        detail(subject, seen, 1, 2, 3)
    with pytest.raises(
        UserError,
        match=r"\(DeBERTa\), scores also come from the distance between words",
    ):
        trace(subject, "the film")
    with pytest.raises(ModelError, match="is a DeBERTa. It was not trained on next sentences"):
        subject.require("next_sentence")


def test_the_weights_are_named_as_a_published_model_names_them(real_data: Path) -> None:
    there = real_data / "tokenizers"
    table = there / "state_dict_keys" / "deberta-v3.DebertaV2ForMaskedLM.tsv"
    named = dict(line.split("\t") for line in table.read_text().splitlines())
    config = BertConfig.from_json(json.loads((there / "deberta-v3" / "config.json").read_text()))
    family = config.family
    found = {"cls.predictions.decoder.weight": "128100x768", "cls.predictions.decoder.bias": "128100"}
    for name, weight in unfilled(PreTraining, config).state_dict().items():
        published = published_names(name, family.stacks)
        for one in published:
            sizes = (weight.shape[0] // len(published), *weight.shape[1:])
            found[family.own_name(one, "BertForPreTraining")] = "x".join(map(str, sizes))
    assert found == named


NONE = object()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"relative_attention": False}, "relative_attention is False. Cloze reads a DeBERTa whose"),
        ({"relative_attention": NONE}, "relative_attention is False"),
        ({"position_biased_input": NONE}, "position_biased_input is True"),
        ({"type_vocab_size": 2}, "type_vocab_size is 2. Cloze reads a DeBERTa whose type_vocab_size is 0"),
        ({"conv_kernel_size": 3}, "conv_kernel_size is 3. Cloze reads a DeBERTa whose conv_kernel_size is 0"),
        ({"pos_att_type": ["c2p"]}, "pos_att_type is ..c2p...  ?Cloze reads a DeBERTa whose"),
        ({"pos_att_type": NONE}, "pos_att_type is None"),
        ({"pos_att_type": [{}, 7]}, "pos_att_type is"),
        ({"norm_rel_ebd": "batch_norm"}, "norm_rel_ebd is batch_norm. Cloze reads a DeBERTa whose"),
        ({"norm_rel_ebd": ["layer_norm"]}, "norm_rel_ebd is"),
        ({"pooler_hidden_act": "tanh"}, "pooler_hidden_act is tanh"),
        ({"pooler_hidden_size": 7}, "pooler_hidden_size is 7. Cloze reads a DeBERTa whose .* is 12"),
        ({"embedding_size": 7}, "embedding_size is 7"),
        ({"attention_head_size": 7}, "attention_head_size is 7. Cloze reads a DeBERTa whose .* is 4"),
        ({"share_att_key": "yes"}, "share_att_key is yes; it must be true or false"),
        ({"position_buckets": 1}, "position_buckets is 1; it must be a whole number from 2 to 131"),
        ({"position_buckets": 132}, "position_buckets is 132; it must be"),
        ({"position_buckets": 256.0}, "position_buckets is 256.0; it must be"),
        ({"position_buckets": 10**9}, "position_buckets is 1000000000; it must be"),
        ({"max_relative_positions": "512"}, "max_relative_positions is 512; it must be a whole number"),
        ({"max_relative_positions": 2}, "position_buckets is 8; it must be"),
        ({"max_position_embeddings": "67"}, "max_position_embeddings is 67; it must be a whole number"),
        ({"hidden_size": "12"}, "hidden_size is 12; it must be a whole number"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0; it must be a whole number"),
        ({"num_attention_heads": 5}, "A width of 12 cannot be divided evenly among 5"),
        ({"cls_dropout": 7}, "classifier_dropout is 7; it must lie between 0 and"),
        ({"hidden_act": "swish"}, "asks for the activation swish"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_a_sentence(change: dict[str, Any], said: str) -> None:
    sizes = {"hidden_size": 12, "num_attention_heads": 3, "max_position_embeddings": 67}
    document = {"model_type": "deberta-v2", **sizes, **RELATIVE, **change}
    with pytest.raises(ModelError, match=said):
        BertConfig.from_json({key: value for key, value in document.items() if value is not NONE})


def test_a_shape_that_would_take_all_memory_is_refused_before_any_is_taken(tmp_path: Path) -> None:
    made(tmp_path)
    document = json.loads((tmp_path / "config.json").read_text())
    for change, said in (
        (
            {"position_buckets": -1, "max_relative_positions": 2**20},
            "has the shape .* asks for .2097152, 12.",
        ),
        ({"position_buckets": 32}, r"encoder.rel_embeddings.weight .* asks for \(64, 12\)"),
        ({"share_att_key": False}, "lacks 12 of the"),
        ({"num_hidden_layers": 9}, "lacks"),
    ):
        (tmp_path / "config.json").write_text(json.dumps({**document, **change}))
        with pytest.raises(ModelError, match=said):
            load_encoder(tmp_path)


@torch.no_grad()
def test_a_graph_of_it_answers_long_and_short_texts_alike(tmp_path: Path) -> None:
    for name in ("onnx", "onnxscript"):
        pytest.importorskip(name)
    onnxruntime = pytest.importorskip("onnxruntime")
    made(tmp_path / "own", "ForSequenceClassification", num_labels=3, vocab_size=37)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "own" / name).unlink()
    tiny_wordpiece().save(tmp_path / "own")  # as the Chinese ones have it
    result_of(exporting(tmp_path / "own", tmp_path / "out", ["a film"]))
    session = onnxruntime.InferenceSession(str(tmp_path / "out" / GRAPH), providers=["CPUExecutionProvider"])
    model, _ = load_classifier(tmp_path / "own")
    for length in (3, 53):
        ids, seen = torch.randint(4, 37, (2, length)), torch.ones(2, length, dtype=torch.long)
        seen[1, 2:] = 0
        given = {"input_ids": ids, "attention_mask": seen, "token_type_ids": 0 * ids}
        asked_for = {one.name: given[one.name].numpy() for one in session.get_inputs()}
        assert np.allclose(session.run(None, asked_for)[0], model(ids, None, seen), atol=1e-5)
