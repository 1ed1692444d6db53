"""MPNet with its own vocabulary: long texts, what is asked of it, what it learns and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from engine import embed
from engine.errors import ModelError, UserError
from engine.events import Finished, result_of
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.export.onnx import exporting
from engine.inspect.anatomy.vectors import trace
from engine.inspect.attention.weights import detail, look
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe
from engine.model.arithmetic import arithmetic
from engine.model.attention import Read
from engine.model.config import BertConfig
from engine.model.heads import MultipleChoice, QuestionAnswering
from engine.model.weights import (
    load_classifier,
    load_encoder,
    load_headed,
    load_pretraining,
    read_config,
    save_model,
)
from engine.settings.config import with_values
from engine.settings.pretrain import PretrainConfig
from engine.text.batch import Bounds, Unpadded
from engine.train.finetune import fine_tune
from engine.train.pretrain import pretrain
from tests.engine.model.test_sentence_files import described
from tests.engine.tiny_runs import tiny_config, write_table
from tests.fakes import scramble, tiny_mpnet_pieces

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

TOKENIZER = tiny_mpnet_pieces()
LENGTHS = (171, 171, 40, 2)  # beyond 128 tokens all distances count alike


def made(path: Path, kind: str = "ForMaskedLM", **changes: Any) -> Any:
    """Write a random tiny MPNet of transformers' own, its vocabulary beside it, and return it."""
    sizes = {
        "vocab_size": TOKENIZER.vocab_size,
        "max_position_embeddings": 181,
        "hidden_size": 12,
        "num_hidden_layers": 3,
        "num_attention_heads": 3,
        "intermediate_size": 29,
        "attn_implementation": "eager",
    }
    config = transformers.MPNetConfig(**{**sizes, **changes})
    model = getattr(transformers, f"MPNet{kind}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    TOKENIZER.save(path)
    return model


def long_texts() -> tuple[torch.Tensor, torch.Tensor]:
    """Return padded ids and their mask."""
    rng = torch.Generator().manual_seed(7)
    seen = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    ids = torch.randint(2, TOKENIZER.vocab_size, seen.shape, generator=rng)
    return ids.masked_fill(~seen, TOKENIZER.pad_id), seen.long()


def asked(model: Any, folder: Path, *texts: str, **wanted: Any) -> Any:
    """Ask transformers, with its own tokenizer of the folder."""
    own = transformers.AutoTokenizer.from_pretrained(folder)
    assert type(own).__name__ == "MPNetTokenizer"
    return model(**own(*texts, return_tensors="pt"), **wanted)


@torch.no_grad()
def test_long_texts_are_read_alike_padded_packed_and_unpadded(tmp_path: Path) -> None:
    ids, seen = long_texts()
    own = made(tmp_path, "Model")
    theirs = own(ids, attention_mask=seen, output_attentions=True, output_hidden_states=True)
    model, report = load_encoder(tmp_path)
    assert not report.missing and not report.unexpected
    real, bounds = seen.bool(), Bounds(LENGTHS)
    packed = model(ids[real], bounds=bounds, output_attentions=True, output_hidden_states=True)
    padded = model(ids, None, seen, output_attentions=True, output_hidden_states=True)
    for here, also, there in zip(
        packed.hidden_states, padded.hidden_states, theirs.hidden_states, strict=True
    ):
        assert torch.allclose(here, there[real], atol=1e-5) and torch.allclose(also[real], here, atol=1e-5)
    for here, also, there in zip(packed.attentions, padded.attentions, theirs.attentions, strict=True):
        for number, length in enumerate(LENGTHS):
            whole = there[number, :, :length, :length]
            assert torch.allclose(here[number], whole, atol=1e-5)
            assert torch.allclose(also[number, :, :length, :length], whole, atol=1e-5)
    assert torch.allclose(packed.pooled_output, theirs.pooler_output, atol=1e-5)
    for layout, rows in (
        ({"bounds": bounds}, ids[real]),
        ({"bounds": bounds}, torch.cat([ids[real], ids.new_zeros(7)])),  # with filler
        ({"bounds": Unpadded(seen)}, ids[real]),
    ):
        found = model(rows, **layout).last_hidden_state[: sum(LENGTHS)]
        assert torch.allclose(found, packed.last_hidden_state, atol=1e-5)
    for layout in ({"bounds": bounds}, {"bounds": Unpadded(seen)}):
        firsts = model(ids[real], rows=Read.FIRSTS, **layout).last_hidden_state
        assert torch.allclose(firsts, theirs.last_hidden_state[:, 0], atol=1e-5)
    some = torch.tensor([240, 3, 380])
    found = model(ids[real], bounds=bounds, rows=some).last_hidden_state
    assert torch.allclose(found, packed.last_hidden_state[some], atol=1e-5)
    off = torch.ones(3, 3)
    off[1, 2] = 0
    without = model(ids[real], bounds=bounds, head_mask=off).last_hidden_state
    assert not torch.allclose(without, packed.last_hidden_state, atol=1e-3)


@torch.no_grad()
def test_a_typed_mask_by_either_name_and_a_clicked_word_are_guessed_as_transformers_does(
    tmp_path: Path,
) -> None:
    theirs = made(tmp_path)
    subject = LoadedModel.open(tmp_path, "cpu")
    assert "An MPNet" in str(subject.notes[0]) and not subject.has_next_sentence
    logs = asked(theirs, tmp_path, "a <mask> play").logits[0].log_softmax(-1)
    ids = tuple(TOKENIZER.encode("a <mask> play").input_ids)
    best = logs[ids.index(TOKENIZER.mask_id)].topk(3)
    for text, words in (("a [MASK] play", ()), ("a <mask> play", ()), ("a film play", (1,))):
        found = probe(subject, text, words=words, top_k=3)
        guesses = found.answers[0].guesses
        assert found.masked.input_ids == ids and [word.text for word in found.masked.words][2] == "play"
        assert [guess.ids for guess in guesses] == [(number,) for number in best.indices.tolist()]
        assert np.allclose([guess.log_probability for guess in guesses], best.values, atol=1e-5)
    assert mask(subject.about, "a <mask> play").gaps[0].text == "[MASK]"
    whole = mask(subject.about, "a playing film", words=(1,))
    assert len(whole.gaps[0].places) == 2  # play ##ing


@torch.no_grad()
def test_a_pair_is_read_by_its_separators_as_transformers_reads_it(tmp_path: Path) -> None:
    theirs = asked(made(tmp_path), tmp_path, "a film", "a good play", output_attentions=True)
    subject = LoadedModel.open(tmp_path, "cpu")
    seen = look(subject, "a film", "a good play")
    assert np.allclose(seen.attentions, torch.cat(theirs.attentions), atol=1e-5)
    assert [word.segment for word in seen.words] == [0, 0, 1, 1, 1]
    assert seen.encoding.tokens.count("</s>") == 3
    with pytest.raises(UserError, match="a query and a key alone do not give the score"):
        detail(subject, seen, 1, 2, 3)
    every = trace(subject, "a film", "a good play")
    assert np.allclose(every["layer.2.softmax"], theirs.attentions[1][0], atol=1e-6)
    with pytest.raises(ModelError, match="is an MPNet. It was not trained on next sentences"):
        subject.require("next_sentence")


@torch.no_grad()
def test_answers_and_endings_are_scored_as_its_own_code_does_in_both_directions(
    tmp_path: Path,
) -> None:
    ids, seen = long_texts()
    for kind, head in (("QuestionAnswering", QuestionAnswering), ("MultipleChoice", MultipleChoice)):
        own, saved = tmp_path / f"own {kind}", tmp_path / f"saved {kind}"
        model = made(own, f"For{kind}")
        ours, report = load_headed(own, head)
        assert not report.missing and not report.unexpected
        found = ours(ids, None, seen)
        save_model(saved, ours, TOKENIZER, {})
        again, info = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(
            saved, output_loading_info=True
        )
        assert type(again) is type(model) and not info["missing_keys"] and not info["unexpected_keys"]
        for one in (model, again.eval()):
            if head is QuestionAnswering:
                theirs = one(ids, attention_mask=seen).start_logits[seen.bool()]
                assert torch.allclose(found[..., 0][seen.bool()], theirs, atol=1e-5)
            else:
                theirs = one(ids[None], attention_mask=seen[None]).logits[0]
                assert torch.allclose(found[:, 0], theirs, atol=1e-5)


@torch.no_grad()
def test_what_guesses_words_is_saved_whole_and_with_nothing_else(tmp_path: Path) -> None:
    ids, seen = long_texts()
    theirs = made(tmp_path / "own")(ids, attention_mask=seen).logits[seen.bool()]
    model, _ = load_pretraining(tmp_path / "own")
    ours = model.logits(model(ids[seen.bool()], bounds=Bounds(LENGTHS)).hidden)
    assert torch.allclose(ours, theirs, atol=1e-5)
    save_model(tmp_path / "saved", model, TOKENIZER, {})
    again, info = transformers.AutoModelForMaskedLM.from_pretrained(
        tmp_path / "saved", output_loading_info=True
    )
    assert type(again).__name__ == "MPNetForMaskedLM"
    assert not info["missing_keys"] and not info["unexpected_keys"]
    assert torch.allclose(again.eval()(ids, attention_mask=seen).logits[seen.bool()], theirs, atol=1e-5)
    assert read_config(tmp_path / "saved").max_position_embeddings == 179  # two rows are of no place


def test_two_steps_of_fine_tuning_follow_the_gradients_of_transformers(tmp_path: Path) -> None:
    theirs = made(tmp_path, "ForSequenceClassification", num_labels=3)
    ours, _ = load_classifier(tmp_path)
    ids, seen = long_texts()
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
    theirs_now = dict(theirs.named_parameters())
    table = theirs_now["mpnet.encoder.relative_attention_bias.weight"]
    assert torch.allclose(ours.bert.layers[0].attention.distances.weight, table, atol=1e-5)
    assert torch.allclose(ours.bert.pooler.weight, theirs_now["classifier.dense.weight"], atol=1e-5)
    assert [name for name, _ in ours.named_parameters() if "distances" in name] == [
        "bert.layers.0.attention.distances.weight"
    ]


@pytest.mark.parametrize("pair", [False, True])
def test_it_is_fine_tuned_and_opens_in_transformers_with_the_same_answers(pair: bool, tmp_path: Path) -> None:
    made(tmp_path / "start")
    rows = [(f"a {kind} film {x}", "a play", kind) for x in "abcdefghij" for kind in ("good", "bad")]
    settings = {"num_epochs": 1, "frozen_layers": 1}
    if pair:
        write_table(tmp_path / "reviews.csv", rows, "text,other,label")
        settings["text_pair"] = "other"
    list(fine_tune(tiny_config(tmp_path, **settings), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert type(theirs).__name__ == "MPNetForSequenceClassification"
    started, learned = (load_file(one / "model.safetensors") for one in (tmp_path / "start", folder))
    for name, is_frozen in (
        ("relative_attention_bias", True),  # which is the first layer's
        ("layer.0.attention.attn.q", True),
        ("layer.1.attention.attn.q", False),
    ):
        whole = f"mpnet.encoder.{name}.weight"
        assert torch.equal(started[whole], learned[whole]) is is_frozen
    subject = LoadedModel.open(folder, "cpu")
    texts = ("a good film", "a play")[: 1 + pair]
    with torch.no_grad():
        wanted = asked(theirs, folder, *texts).logits[0].softmax(-1)
    assert np.allclose(subject.predictor().predict(*texts), wanted, atol=1e-5)


@torch.no_grad()
def test_a_folder_of_sentence_transformers_gives_its_vectors_and_leaves_as_one(tmp_path: Path) -> None:
    theirs = made(tmp_path / "own", "Model")
    described(tmp_path / "own", {"pooling_mode_mean_tokens": True}, "Normalize", max_seq_length=19)
    texts = ("a good film", "a bad play and a good one !")
    wanted = []
    for text in texts:
        hidden = asked(theirs, tmp_path / "own", text).last_hidden_state[0].mean(0)
        wanted.append((hidden / hidden.norm()).numpy())
    assert np.allclose(embed(tmp_path / "own", texts), wanted, atol=1e-5)
    for name, writing in (("as it is", writing_folder), ("sentences", writing_sentence_folder)):
        result_of(writing(tmp_path / "own", tmp_path / name))
        again, info = transformers.AutoModel.from_pretrained(tmp_path / name, output_loading_info=True)
        assert type(again).__name__ == "MPNetModel" and not info["missing_keys"]
        assert not info["unexpected_keys"]
        found = asked(again.eval(), tmp_path / name, texts[0]).last_hidden_state[0].mean(0)
        assert np.allclose(found / found.norm(), wanted[0], atol=1e-5)
    assert np.allclose(embed(tmp_path / "sentences", texts), wanted, atol=1e-5)


def test_it_is_pretrained_further_and_leaves_as_a_graph_with_its_own_special_tokens(tmp_path: Path) -> None:
    made(tmp_path / "words")
    text = tmp_path / "text.txt"
    text.write_text("the good film is a play .\n\n" * 400, encoding="utf-8")
    values = {"model": str(tmp_path / "words"), "text": str(text), "steps": 2, "next_sentence": False}
    config = with_values(PretrainConfig(), {**values, "max_length": 16, "batch_tokens": 64})
    finished = list(pretrain(config, tmp_path / "run"))[-1]
    assert isinstance(finished, Finished)
    _, info = transformers.AutoModelForMaskedLM.from_pretrained(finished.path, output_loading_info=True)
    assert not info["missing_keys"] and not info["unexpected_keys"]
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)
    made(tmp_path / "labels", "ForSequenceClassification", num_labels=3)
    found = result_of(exporting(tmp_path / "labels", tmp_path / "out", ["a film"]))
    assert found.difference < 1e-5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"relative_attention_num_buckets": 64}, "num_buckets is 64; of an MPNet that is read it is 32"),
        ({"relative_attention_num_buckets": "32"}, "num_buckets is 32; of an MPNet"),
        ({"pad_token_id": 0}, "pad_token_id is 0; of an MPNet that is read it is 1"),
        ({"pad_token_id": [1]}, "pad_token_id is"),
        ({"max_position_embeddings": 2}, "for pad_token_id 1 it must be at least 3"),
        ({"max_position_embeddings": 10**9}, "max_position_embeddings is .* a whole number from 1 to"),
        ({"num_attention_heads": 7}, "A width of 768 cannot be divided evenly among 7"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0; it must be a whole number"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_a_sentence(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        BertConfig.from_json({"model_type": "mpnet", **change})


def test_a_table_of_distances_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path) -> None:
    made(tmp_path, "Model", num_attention_heads=4)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_attention_heads": 3}))
    with pytest.raises(ModelError, match=r"relative_attention_bias.weight in .* has the shape \(32, 4\)"):
        load_encoder(tmp_path)


def test_the_published_one_has_109_million_weights_and_its_distances_are_counted_once() -> None:
    config = BertConfig.from_json(transformers.MPNetConfig(max_position_embeddings=514).to_dict())
    found = arithmetic(config)
    assert {part.key: part.count for part in found.parts}["distances"] == 32 * 12
    assert "32A" in found.spelled() and round(found.total / 1e6) == 109
