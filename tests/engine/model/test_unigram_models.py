"""XLM-R, CamemBERT and ALBERT with their own pieces: asked on texts and trained, beside transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from engine.events import result_of
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.inspect.anatomy.vectors import trace
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.joint import fill_jointly
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe, score_words
from engine.model.heads import QuestionAnswering
from engine.model.weights import load_headed, read_config, save_model
from engine.text.unigram import Unigram
from engine.train.finetune import fine_tune
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import run_engine, tiny_config, write_table
from tests.fakes import scramble, tiny_unigram

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

KINDS = {"XLMRoberta": "xlm-roberta", "Camembert": "camembert", "Albert": "albert", "DebertaV2": "deberta"}
KINDS["Bert"] = "xlm-roberta"
OWN = {
    "Albert": {"embedding_size": 7},
    "DebertaV2": {
        "relative_attention": True,
        "position_biased_input": False,
        "pos_att_type": ["p2c", "c2p"],
        "share_att_key": True,
        "position_buckets": 4,
    },
}
every_family = pytest.mark.parametrize("stem", list(KINDS)[:4])


def made(path: Path, stem: str, head: str = "ForMaskedLM", **changes: Any) -> Any:
    """Write a random tiny model of transformers' own, its pieces beside it, and return it."""
    tokenizer = tiny_unigram(KINDS[stem])
    own = OWN.get(stem, {"type_vocab_size": 1})
    config = getattr(transformers, f"{stem}Config")(
        vocab_size=tokenizer.vocab_size,
        pad_token_id=tokenizer.pad_id,
        max_position_embeddings=43,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=29,
        attn_implementation="eager",
        **{**own, **changes},
    )
    model = getattr(transformers, f"{stem}{head}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    tokenizer.save(path)
    return model


def asked(model: Any, folder: Path, *texts: str, **wanted: Any) -> Any:
    """Ask transformers, with its own tokenizer of the folder."""
    own = transformers.AutoTokenizer.from_pretrained(folder)
    return model(**own(*texts, return_tensors="pt"), **wanted)


def mask_of(tokenizer: Unigram) -> str:
    assert tokenizer.mask_id is not None
    return tokenizer.tokens[tokenizer.mask_id]


@torch.no_grad()
@every_family
def test_a_typed_mask_by_either_name_and_a_clicked_word_are_guessed_as_transformers_does(
    stem: str, tmp_path: Path
) -> None:
    theirs, tokenizer = made(tmp_path, stem), tiny_unigram(KINDS[stem])
    subject, own = LoadedModel.open(tmp_path, "cpu"), mask_of(tokenizer)
    logs = asked(theirs, tmp_path, f"the {own} play").logits[0].log_softmax(-1)
    ids = tuple(tokenizer.encode(f"the {own} play").input_ids)
    best = logs[ids.index(tokenizer.mask_id)].topk(3)
    for text, words in (("the [MASK] play", ()), (f"the {own} play", ()), ("the film play", (1,))):
        found = probe(subject, text, words=words, top_k=3)
        guesses = found.answers[0].guesses
        assert found.masked.input_ids == ids and [word.text for word in found.masked.words][2] == "play"
        assert [guess.ids for guess in guesses] == [(number,) for number in best.indices.tolist()]
        assert np.allclose([guess.log_probability for guess in guesses], best.values, atol=1e-5)
    clicked = mask(subject.about, "the film play", words=(1,))
    score = score_words(subject, clicked, 0, ["film"])[0]
    assert score.pieces[0].piece == "▁film" and score.word == "film"
    place = ids.index(tokenizer.mask_id)
    assert np.isclose(score.log_probability, logs[place, score.pieces[0].id], atol=1e-5)
    whole = result_of(
        fill_jointly(subject, mask(subject.about, "the xyz film", words=(1,)), whole_words=True)
    )
    assert all(word and " " not in word for filling in whole.fillings for word in filling.words)


@torch.no_grad()
def test_a_bert_with_the_pieces_of_xlm_r_numbers_no_texts_as_transformers_does_not(tmp_path: Path) -> None:
    theirs = made(tmp_path, "Bert", "Model", type_vocab_size=2)
    subject = LoadedModel.open(tmp_path, "cpu")
    assert subject.config.reads_pairs and not subject.config.has_segments
    wanted = asked(theirs, tmp_path, "the film", "a play", output_hidden_states=True).hidden_states
    every = trace(subject, "the film", "a play").arrays
    assert np.allclose(every["embeddings.norm"], wanted[0][0], atol=1e-5)
    assert np.allclose(every["layer.2.norm"], wanted[2][0], atol=1e-5)
    ids = torch.tensor([subject.wordpiece.encode("the film", "a play").input_ids])
    types = (ids.cumsum(1) > ids[0, :4].sum()).long()
    assert types.any()
    assert torch.allclose(subject.bert(ids, types).last_hidden_state, wanted[2], atol=1e-5)
    save_model(tmp_path / "saved", subject.bert, subject.wordpiece, {})
    assert read_config(tmp_path / "saved") == subject.config


@every_family
@pytest.mark.parametrize("pair", [False, True])
def test_it_is_fine_tuned_and_opens_in_transformers_with_the_same_answers(
    stem: str, pair: bool, tmp_path: Path
) -> None:
    made(tmp_path / "start", stem)
    rows = [(f"the {kind} film {x}", "a play", kind) for x in "abcdefghij" for kind in ("good", "bad")]
    settings = {"num_epochs": 1}
    if pair:
        write_table(tmp_path / "reviews.csv", rows, "text,other,label")
        settings["text_pair"] = "other"
    list(fine_tune(tiny_config(tmp_path, **settings), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    theirs, info = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, output_loading_info=True
    )
    assert type(theirs).__name__ == f"{stem}ForSequenceClassification" and not info["missing_keys"]
    assert theirs.config.max_position_embeddings == 43
    subject = LoadedModel.open(folder, "cpu")
    texts = ("the good film", "a play")[: 1 + pair]
    with torch.no_grad():
        wanted = asked(theirs.eval(), folder, *texts).logits[0].softmax(-1)
    assert np.allclose(subject.predictor().predict(*texts), wanted, atol=1e-5)


@every_family
def test_answers_and_tags_are_learned_on_the_ids_that_transformers_gives(stem: str, tmp_path: Path) -> None:
    made(tmp_path / "start", stem)
    tokenizer = tiny_unigram(KINDS[stem])
    own = transformers.AutoTokenizer.from_pretrained(tmp_path / "start")
    words = ["the", "film", "played", "!"]
    cut = [ids.tolist() for ids in tokenizer.encode_words(words)]
    wanted = own(words, is_split_into_words=True, add_special_tokens=False)["input_ids"]
    assert [number for one in cut for number in one] == wanted
    run = tmp_path / "run"
    list(fine_tune(question_config(tmp_path, max_length=41, max_question=12), run))
    arrays = load_file(run / "setup" / "data.safetensors")
    first = arrays["train/input_ids"][: arrays["train/bounds"][1]].tolist()
    ends = [place for place, one in enumerate(first) if one == tokenizer.sep_id]
    assert first[0] == tokenizer.cls_id and ends[-1] == len(first) - 1
    assert len(ends) == tokenizer.num_between + 1 and ends[-2] - ends[0] == tokenizer.num_between - 1
    theirs = transformers.AutoModelForQuestionAnswering.from_pretrained(run / "model").eval()
    ours, _ = load_headed(run / "model", QuestionAnswering)
    types = torch.tensor([[int(place > ends[0]) * (stem == "Albert") for place in range(len(first))]])
    with torch.no_grad():
        found = ours(torch.tensor([first]), types)
        logits = theirs(torch.tensor([first]), token_type_ids=types)
    assert torch.allclose(found[..., 0], logits.start_logits, atol=1e-5)


@torch.no_grad()
@every_family
def test_it_leaves_as_it_is_and_for_sentences_with_its_pieces(stem: str, tmp_path: Path) -> None:
    wanted = asked(made(tmp_path / "own", stem, "Model"), tmp_path / "own", "the film").last_hidden_state
    for name, writing in (("as it is", writing_folder), ("sentences", writing_sentence_folder)):
        result_of(writing(tmp_path / "own", tmp_path / name))
        again, info = transformers.AutoModel.from_pretrained(tmp_path / name, output_loading_info=True)
        assert type(again).__name__ == f"{stem}Model" and not info["missing_keys"]
        found = asked(again.eval(), tmp_path / name, "the film").last_hidden_state
        assert torch.allclose(found, wanted, atol=1e-5)


@every_family
def test_the_commands_know_its_pieces_and_its_mask(stem: str, tmp_path: Path) -> None:
    theirs, tokenizer = made(tmp_path, stem), tiny_unigram(KINDS[stem])
    code, out, err = run_engine("tokenize", "--model", tmp_path, "the film, 今天", "--json")
    assert code == 0, err
    encoding = tokenizer.encode("the film, 今天")
    assert json.loads(out)["tokens"] == encoding.tokens
    assert json.loads(out)["offsets"] == list(map(list, encoding.offsets))
    with torch.no_grad():
        logs = asked(theirs, tmp_path, f"the {mask_of(tokenizer)} play").logits[0].log_softmax(-1)
    place = tokenizer.encode(f"the {mask_of(tokenizer)} play").input_ids.index(tokenizer.mask_id)
    for written in ("[MASK]", mask_of(tokenizer)):
        code, out, err = run_engine("fill-mask", "--model", tmp_path, f"the {written} play", "--json")
        assert code == 0, err
        assert f'"{tokenizer.as_word([int(logs[place].argmax())])}"' in out.replace("\\u2581", "▁")
