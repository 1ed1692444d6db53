"""A ModernBERT with mmBERT's vocabulary: words of many scripts are masked whole, beside transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from engine.inspect.attention.weights import look
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe, score_words
from engine.train.finetune import fine_tune
from tests.engine.tiny_questions import question_config
from tests.engine.tiny_runs import tiny_config
from tests.fakes import scramble, tiny_fallback

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

TOKENIZER = tiny_fallback()


def made(path: Path, kind: str = "ForMaskedLM") -> Any:
    """Write a random tiny model of transformers' own, mmBERT's kind of vocabulary beside it; return it."""
    ids = {f"{name}_token_id": getattr(TOKENIZER, f"{name}_id") for name in ("pad", "cls", "sep")}
    config = transformers.ModernBertConfig(
        vocab_size=TOKENIZER.vocab_size,
        max_position_embeddings=67,
        hidden_size=12,
        num_hidden_layers=3,
        num_attention_heads=3,
        intermediate_size=29,
        bos_token_id=TOKENIZER.cls_id,
        eos_token_id=TOKENIZER.sep_id,
        attn_implementation="eager",
        **ids,
    )
    model = getattr(transformers, f"ModernBert{kind}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    TOKENIZER.save(path)
    return model


def asked(model: Any, folder: Path, *texts: str) -> Any:
    """Ask transformers, with its own tokenizer of the folder."""
    own = transformers.AutoTokenizer.from_pretrained(folder)
    return model(**own(*texts, return_tensors="pt"))


@torch.no_grad()
def test_a_click_hides_a_word_of_bytes_whole_and_a_typed_mask_is_guessed_as_transformers_does(
    tmp_path: Path, chinese_characters: None
) -> None:
    theirs = made(tmp_path)
    subject = LoadedModel.open(tmp_path, "cpu")
    logs = asked(theirs, tmp_path, "the <mask> play").logits[0].log_softmax(-1)
    ids = tuple(TOKENIZER.encode("the <mask> play").input_ids)
    best = logs[ids.index(TOKENIZER.mask_id)].topk(3)
    for text, words in (("the [MASK] play", ()), ("the <mask> play", ()), ("the film play", (1,))):
        found = probe(subject, text, words=words, top_k=3)
        assert found.masked.input_ids == ids and [word.text for word in found.masked.words][2] == "play"
        guesses = found.answers[0].guesses
        assert [guess.ids for guess in guesses] == [(number,) for number in best.indices.tolist()]
        assert np.allclose([guess.log_probability for guess in guesses], best.values, atol=1e-5)
    text = "today 日 film"
    clicked = mask(subject.about, text, words=(1,))
    assert clicked.gaps[0].text == "日" and len(clicked.gaps[0].places) == 3  # its bytes
    whole = mask(subject.about, "a playing film", words=(1,))
    assert [TOKENIZER.tokens[number] for number in whole.gaps[0].original] == ["▁play", "ing"]
    score = score_words(subject, mask(subject.about, "the film play", words=(1,)), 0, ["film"])[0]
    assert score.pieces[0].piece == "▁film" and score.word == "film"
    seen = look(subject, "the café", "今日 film")
    assert [(word.text, word.segment) for word in seen.words] == [
        ("the", 0), ("café", 0), ("今", 1), ("日", 1), ("film", 1)
    ]  # fmt: skip


def test_it_is_fine_tuned_and_opens_in_transformers_with_the_same_answers(tmp_path: Path) -> None:
    made(tmp_path / "start")
    list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert type(theirs).__name__ == "ModernBertForSequenceClassification"
    found = LoadedModel.open(folder, "cpu").predictor().predict("the 好 film")
    with torch.no_grad():
        wanted = asked(theirs, folder, "the 好 film").logits[0].softmax(-1)
    assert np.allclose(found, wanted, atol=1e-5)


def test_answers_to_questions_are_learned_on_the_ids_and_spans_of_its_pieces(tmp_path: Path) -> None:
    made(tmp_path / "start")
    run = tmp_path / "run"
    list(fine_tune(question_config(tmp_path, max_length=61, max_question=20), run))
    arrays = load_file(run / "setup" / "data.safetensors")
    first = arrays["train/input_ids"][: arrays["train/bounds"][1]].tolist()
    assert first[0] == TOKENIZER.cls_id and first.count(TOKENIZER.sep_id) == 2
    theirs = transformers.AutoModelForQuestionAnswering.from_pretrained(run / "model")
    assert type(theirs).__name__ == "ModernBertForQuestionAnswering"
    own = transformers.AutoTokenizer.from_pretrained(tmp_path / "start")
    words = ["the", "café", "played", "日", "!"]
    cut = [number for ids in TOKENIZER.encode_words(words) for number in ids.tolist()]
    wanted = own(words, is_split_into_words=True, add_special_tokens=False)["input_ids"]
    assert cut == wanted
