"""RoBERTa with its own vocabulary: what is asked of it on texts, and what it learns, beside transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from engine.errors import ModelError
from engine.events import result_of
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.inspect.embeddings.vectors import PoolingConfig, embed
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.joint import fill_jointly
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe, score_words
from engine.model.guess import Pins
from engine.model.heads import QuestionAnswering
from engine.model.weights import load_classifier, load_headed, load_pretraining
from engine.train.finetune import fine_tune
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import tiny_config, write_table
from tests.fakes import scramble, tiny_byte_level

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

TOKENIZER = tiny_byte_level()


def made(path: Path, kind: str = "ForMaskedLM", **changes: Any) -> Any:
    """Write a random tiny RoBERTa of transformers' own, its vocabulary beside it, and return it."""
    config = transformers.RobertaConfig(
        vocab_size=TOKENIZER.vocab_size,
        max_position_embeddings=43,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=29,
        type_vocab_size=1,
        attn_implementation="eager",
        **changes,
    )
    model = getattr(transformers, f"Roberta{kind}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    TOKENIZER.save(path)
    return model


def asked(model: Any, folder: Path, *texts: str, **wanted: Any) -> Any:
    """Ask transformers, with its own tokenizer of the folder."""
    own = transformers.AutoTokenizer.from_pretrained(folder)
    return model(**own(*texts, return_tensors="pt"), **wanted)


@torch.no_grad()
def test_a_typed_mask_by_either_name_and_a_clicked_word_are_guessed_as_transformers_does(
    tmp_path: Path,
) -> None:
    theirs = made(tmp_path)
    subject = LoadedModel.open(tmp_path, "cpu")
    logs = asked(theirs, tmp_path, "the <mask> play").logits[0].log_softmax(-1)
    ids = tuple(TOKENIZER.encode("the <mask> play").input_ids)
    best = logs[ids.index(TOKENIZER.mask_id)].topk(3)
    for text, words in (("the [MASK] play", ()), ("the <mask> play", ()), ("the film play", (1,))):
        found = probe(subject, text, words=words, top_k=3)
        guesses = found.answers[0].guesses
        assert found.masked.input_ids == ids and [word.text for word in found.masked.words][2] == "play"
        assert [guess.ids for guess in guesses] == [(number,) for number in best.indices.tolist()]
        assert np.allclose([guess.log_probability for guess in guesses], best.values, atol=1e-5)
    assert mask(subject.about, "the <mask> play").gaps[0].text == "[MASK]"
    clicked = mask(subject.about, "the film play", words=(1,))
    score = score_words(subject, clicked, 0, ["film"])[0]
    assert score.pieces[0].piece == "Ġfilm" and score.word == "film"
    assert np.isclose(
        score.log_probability, logs[ids.index(TOKENIZER.mask_id), score.pieces[0].id], atol=1e-5
    )
    pins = Pins(["the [film] play", "the [MASK] play"], TOKENIZER)
    pinned, typed = pins.look(load_pretraining(tmp_path)[0])
    assert np.isclose(np.log(pinned.probability), score.log_probability, atol=1e-4)
    assert pinned.guesses == typed.guesses
    whole = result_of(
        fill_jointly(subject, mask(subject.about, "the abc film", words=(1,)), whole_words=True)
    )
    assert all(word and " " not in word for filling in whole.fillings for word in filling.words)


@torch.no_grad()
def test_its_texts_are_vectors_and_it_says_that_it_tells_no_next_sentence(tmp_path: Path) -> None:
    made(tmp_path)
    subject, own = LoadedModel.open(tmp_path, "cpu"), TOKENIZER.encode("the good film")
    found = result_of(embed(subject, ["the good film"], [PoolingConfig("mean", -1)])).vectors[0][0]
    hidden = subject.bert(torch.tensor([own.input_ids])).last_hidden_state[0].mean(0)
    assert np.allclose(found, hidden, atol=1e-5)
    with pytest.raises(ModelError, match="not trained on next sentences"):
        subject.require("next_sentence")


def test_two_steps_of_fine_tuning_follow_the_gradients_of_transformers(tmp_path: Path) -> None:
    theirs = made(tmp_path, "ForSequenceClassification", num_labels=3)
    ours, _ = load_classifier(tmp_path)
    rows = [TOKENIZER.encode(text).input_ids for text in ("the film", "a good play")]
    most, labels = max(map(len, rows)), torch.tensor([2, 0])
    ids = torch.tensor([row + [TOKENIZER.pad_id] * (most - len(row)) for row in rows])
    seen = (ids != TOKENIZER.pad_id).long()
    for _ in range(2):
        losses = []
        for model, logits in (
            (ours, ours(ids, None, seen)),
            (theirs, theirs(ids, attention_mask=seen).logits),
        ):
            losses.append(torch.nn.functional.cross_entropy(logits, labels))
            model.zero_grad()
            losses[-1].backward()
            torch.optim.SGD(model.parameters(), lr=0.1).step()
        assert torch.allclose(*losses, atol=1e-5)
    theirs_now = dict(theirs.named_parameters())
    encoder = theirs_now["roberta.encoder.layer.0.intermediate.dense.weight"]
    assert torch.allclose(ours.bert.layers[0].intermediate.weight, encoder, atol=1e-5)
    assert torch.allclose(ours.bert.pooler.weight, theirs_now["classifier.dense.weight"], atol=1e-5)
    places = theirs_now["roberta.embeddings.position_embeddings.weight"][2:]
    assert torch.allclose(ours.bert.embeddings.position.weight, places, atol=1e-5)


@pytest.mark.parametrize("pair", [False, True])
def test_it_is_fine_tuned_and_opens_in_transformers_with_the_same_answers(pair: bool, tmp_path: Path) -> None:
    made(tmp_path / "start")
    rows = [(f"the {kind} film {x}", "a play", kind) for x in "abcdefghij" for kind in ("good", "bad")]
    settings = {"num_epochs": 1}
    if pair:
        write_table(tmp_path / "reviews.csv", rows, "text,other,label")
        settings["text_pair"] = "other"
    list(fine_tune(tiny_config(tmp_path, **settings), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert type(theirs).__name__ == "RobertaForSequenceClassification"
    assert theirs.config.max_position_embeddings == 43
    subject = LoadedModel.open(folder, "cpu")
    texts = ("the good film", "a play")[: 1 + pair]
    found = subject.predictor().predict(*texts)
    with torch.no_grad():
        wanted = asked(theirs, folder, *texts).logits[0].softmax(-1)
    assert np.allclose(found, wanted, atol=1e-5)


def test_answers_and_tags_are_learned_on_the_ids_that_transformers_gives(tmp_path: Path) -> None:
    made(tmp_path / "start")
    own = transformers.AutoTokenizer.from_pretrained(tmp_path / "start", add_prefix_space=True)
    words = ["the", "film", "played", "!"]
    cut = [ids.tolist() for ids in TOKENIZER.encode_words(words)]
    wanted = own(words, is_split_into_words=True, add_special_tokens=False)["input_ids"]
    assert [number for one in cut for number in one] == wanted
    run = tmp_path / "run"
    config = question_config(tmp_path, max_length=41, max_question=12)
    list(fine_tune(config, run))
    arrays = load_file(run / "setup" / "data.safetensors")
    first = arrays["train/input_ids"][: arrays["train/bounds"][1]].tolist()
    ends = [place for place, one in enumerate(first) if one == TOKENIZER.sep_id]
    assert first[0] == TOKENIZER.cls_id and ends[1] == ends[0] + 1 and ends[-1] == len(first) - 1
    theirs = transformers.AutoModelForQuestionAnswering.from_pretrained(run / "model").eval()
    ours, _ = load_headed(run / "model", QuestionAnswering)
    with torch.no_grad():
        found = ours(torch.tensor([first]))
        logits = theirs(torch.tensor([first]))
    assert torch.allclose(found[..., 0], logits.start_logits, atol=1e-5)


@torch.no_grad()
def test_it_leaves_as_it_is_and_for_sentences_with_its_vocabulary(tmp_path: Path) -> None:
    wanted = asked(made(tmp_path / "own", "Model"), tmp_path / "own", "the film").last_hidden_state
    for name, writing in (("as it is", writing_folder), ("sentences", writing_sentence_folder)):
        result_of(writing(tmp_path / "own", tmp_path / name))
        again, info = transformers.AutoModel.from_pretrained(tmp_path / name, output_loading_info=True)
        assert type(again).__name__ == "RobertaModel" and not info["missing_keys"]
        found = asked(again.eval(), tmp_path / name, "the film").last_hidden_state
        assert torch.allclose(found, wanted, atol=1e-5)
