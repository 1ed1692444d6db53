"""Pretraining goes on from models with other pieces than BERT's: RoBERTa, XLM-R, CamemBERT, ModernBERT.

What comes out opens in transformers as the family it was, and says there what it says here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ConfigError
from engine.events import Evaluated, Saved, Step, result_of
from engine.inspect.loaded_model import LoadedModel
from engine.model.trim import ids_to_keep, trimmed
from engine.model.weights import load_encoder, load_pretraining, load_tensors, save_model
from engine.settings.pipeline import StagesConfig
from engine.text.byte_level import MODERNBERT
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.preview import preview
from engine.train.pretraining.setup import masking_of
from engine.train.run.kept import history
from engine.train.stages import with_next_sentences
from tests.engine.tiny_texts import notes, of, promised, text_config, write_text
from tests.fakes import model_folder, scramble, tiny_byte_level, tiny_unigram

transformers = pytest.importorskip("transformers")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("cache"),
]  # transformers takes its time to be imported

TOKENIZERS = {
    "Roberta": tiny_byte_level(),
    "XLMRoberta": tiny_unigram(),
    "Camembert": tiny_unigram("camembert"),
    "ModernBert": tiny_byte_level(MODERNBERT),
}
every_family = pytest.mark.parametrize("stem", TOKENIZERS)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


def made(path: Path, stem: str, tokenizer: Tokenizer | None = None) -> Any:
    """Write a random tiny model of transformers' own that guesses words, its vocabulary beside it."""
    tokenizer = tokenizer or TOKENIZERS[stem]
    own: dict[str, Any] = {"type_vocab_size": 1}
    if stem == "ModernBert":
        own = {f"{name}_token_id": getattr(tokenizer, f"{name}_id") for name in ("cls", "sep")}
        own |= {"bos_token_id": tokenizer.cls_id, "eos_token_id": tokenizer.sep_id}
    config = getattr(transformers, f"{stem}Config")(
        vocab_size=tokenizer.vocab_size,
        pad_token_id=tokenizer.pad_id,
        max_position_embeddings=43,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=29,
        attn_implementation="eager",
        **own,
    )
    model = getattr(transformers, f"{stem}ForMaskedLM")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    tokenizer.save(path)
    return model


def settings_of(folder: Path, **changes: Any) -> Any:
    values = {"model": str(folder / "start"), "next_sentence": False, "mask_unit": "word", **changes}
    return text_config(folder, **values)


@torch.no_grad()
def check_theirs(folder: Path, stem: str, text: str) -> None:
    """Ask transformers, with its own tokenizer and class, and compare."""
    theirs, info = transformers.AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
    assert type(theirs).__name__ == f"{stem}ForMaskedLM"
    assert not info["missing_keys"] and not info["unexpected_keys"]
    own = transformers.AutoTokenizer.from_pretrained(folder)
    given = own(text, return_tensors="pt")
    ours, _ = load_pretraining(folder)
    ids = torch.tensor([read_tokenizer(folder).encode(text).input_ids])
    assert given["input_ids"].tolist() == ids.tolist()
    found = ours.logits(ours(ids).hidden)
    assert torch.allclose(found, theirs.eval()(**given).logits[0], atol=1e-5)


@every_family
def test_it_learns_whole_words_further_and_comes_out_as_its_family(stem: str, tmp_path: Path) -> None:
    made(tmp_path / "start", stem)
    begun = pretrain(settings_of(tmp_path, steps=60, learning_rate=1e-2), tmp_path / "run")
    events = []
    for event in begun:
        events.append(event)
        if isinstance(event, Saved):
            break
    first = load_tensors(event.path / "weights.safetensors")  # type: ignore[union-attr]
    encoder, _ = load_encoder(tmp_path / "start")
    for name, value in encoder.state_dict().items():
        if not name.startswith("pooler"):
            assert torch.equal(first[f"bert.{name}"], value), name
    events += list(begun)
    assert "masked-word head was loaded" in notes(events) and "starts from random" not in notes(events)
    assert of(Evaluated, events)[-1].loss < of(Evaluated, events)[0].loss - 0.2
    check_theirs(tmp_path / "run" / "model", stem, "the film, playing")
    places = [kept.path for kept in history(tmp_path / "run")]
    assert len(places) > 2
    for place in places:
        subject = LoadedModel.open(place, "cpu")
        assert subject.has_masked_words and not subject.has_next_sentence


@every_family
def test_a_trimmed_one_says_the_same_of_what_it_kept_and_comes_out_as_its_family(
    stem: str, tmp_path: Path
) -> None:
    made(tmp_path / "start", stem)
    old = read_tokenizer(tmp_path / "start")
    least = len(ids_to_keep(np.zeros(old.vocab_size), old.vocab_size, old))
    begun = pretrain(settings_of(tmp_path, trim_vocab=least + 2), tmp_path / "run")
    first = next(event for event in begun if isinstance(event, Saved))
    weights = load_tensors(first.path / "weights.safetensors")
    begun.close()  # type: ignore[attr-defined]
    list(resume(tmp_path / "run"))
    list(pretrain(settings_of(tmp_path, trim_vocab=least + 2), tmp_path / "whole"))
    assert promised(tmp_path / "run") == promised(tmp_path / "whole")
    new = read_tokenizer(tmp_path / "run" / "model")
    assert least < new.vocab_size <= least + 2 < old.vocab_size
    encoder, _ = load_encoder(tmp_path / "start")
    rows = [old.tokens.index(token) for token in new.tokens]
    assert torch.equal(weights["bert.embeddings.word.weight"], encoder.embeddings.word.weight[rows])
    check_theirs(tmp_path / "run" / "model", stem, "the film, playing")


@torch.no_grad()
@every_family
def test_a_smaller_vocabulary_gives_the_same_guesses(stem: str, tmp_path: Path) -> None:
    made(tmp_path / "start", stem)
    model, _ = load_pretraining(tmp_path / "start")
    old, text = read_tokenizer(tmp_path / "start"), "a good film, the play"
    counts = np.bincount(old.encode_ids([text])[0], minlength=old.vocab_size)
    small, new = trimmed(model, old, ids_to_keep(counts, old.vocab_size - 1, old))
    assert new.vocab_size < old.vocab_size
    kept = [old.tokens.index(token) for token in new.tokens]
    before, after = (
        one.logits(one(torch.tensor([cutter.encode(text).input_ids])).hidden)
        for one, cutter in ((model, old), (small, new))
    )
    assert torch.equal(after, before[:, kept])
    assert (small.config.pad_token_id, new.pad_id) == (new.tokens.index(old.tokens[old.pad_id]),) * 2
    save_model(tmp_path / "small", small, new)
    check_theirs(tmp_path / "small", stem, text)
    said = transformers.AutoConfig.from_pretrained(tmp_path / "small")
    if stem == "ModernBert":
        assert (said.cls_token_id, said.sep_token_id) == (new.cls_id, new.sep_id)


@every_family
def test_words_are_masked_whole_and_shown_so(stem: str, tmp_path: Path) -> None:
    made(tmp_path / "start", stem)
    write_text(tmp_path / "text.txt", 3)
    tokenizer = read_tokenizer(tmp_path / "start")
    found = result_of(preview(settings_of(tmp_path, mask_rate=0.3)))
    masked = 0
    for example in found.examples:
        ids = [tokenizer.shown.index(token) for token in example.tokens]
        continues = [False, *tokenizer.continues(ids[1:-1]), False]
        chosen = [action >= 0 for action in example.actions]
        assert not any(chosen[place] for place, number in enumerate(ids) if number in tokenizer.special_ids)
        for place in range(1, len(ids)):
            if continues[place] and ids[place] not in tokenizer.special_ids:  # whole or not at all
                assert chosen[place] == chosen[place - 1], example.tokens
        masked += sum(chosen)
    assert masked > 5
    # the words of a list are masked first, whatever their pieces are
    (tmp_path / "terms.txt").write_text("fish\nmilk\n", encoding="utf-8")
    settings = settings_of(tmp_path, mask_unit="term", terms=str(tmp_path / "terms.txt"))
    terms = masking_of(settings.objective, tokenizer).terms
    assert [tokenizer.spelled(term) for term in terms] == ["fish", "milk"]


@every_family
def test_next_sentences_are_refused_in_a_sentence_before_a_run_is_made(stem: str, tmp_path: Path) -> None:
    made(tmp_path / "start", stem)
    with pytest.raises(ConfigError, match=r"Turn next_sentence off\."):
        list(pretrain(settings_of(tmp_path, next_sentence=True), tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@every_family
def test_a_pipeline_asks_it_for_words_alone_whatever_the_text_has(stem: str, tmp_path: Path) -> None:
    made(tmp_path / "start", stem)
    settings = with_next_sentences(settings_of(tmp_path), StagesConfig(next_sentence=True))
    assert settings.objective.next_sentence is False
    model_folder(tmp_path / "bert")
    bert = with_next_sentences(settings_of(tmp_path, model=str(tmp_path / "bert")), StagesConfig())
    assert bert.objective.next_sentence is True


@every_family
def test_a_stopped_run_goes_on_as_if_it_had_not_stopped(stem: str, tmp_path: Path) -> None:
    made(tmp_path / "start", stem)
    config = settings_of(tmp_path, steps=4)
    list(pretrain(config, tmp_path / "whole"))
    begun = pretrain(config, tmp_path / "cut")
    next(event for event in begun if isinstance(event, Step))
    begun.close()  # type: ignore[attr-defined]
    list(resume(tmp_path / "cut"))
    assert promised(tmp_path / "cut") == promised(tmp_path / "whole")


@pytest.mark.parametrize("stem", ["Roberta", "XLMRoberta"])
def test_the_real_vocabulary_is_learned_with_further(stem: str, tmp_path: Path, real_data: Path) -> None:
    name = "roberta" if stem == "Roberta" else "xlm-roberta"
    tokenizer = read_tokenizer(real_data / "tokenizers" / name)
    made(tmp_path / "start", stem, tokenizer)
    settings = {"steps": 2, "trim_vocab": 500 if stem == "Roberta" else 0}
    events = list(pretrain(settings_of(tmp_path, **settings), tmp_path / "run"))
    assert of(Step, events)
    if stem == "Roberta":
        assert read_tokenizer(tmp_path / "run" / "model").vocab_size <= 500
    check_theirs(tmp_path / "run" / "model", stem, "the cat sees milk and grass .")
