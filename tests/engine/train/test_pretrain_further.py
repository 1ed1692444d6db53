"""Pretraining goes on from a model that is there: its weights, its vocabulary, its chain."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from engine.events import Evaluated, Saved, Step
from engine.model.weights import load_encoder, load_pretraining, load_tensors
from engine.text.wordpiece import WordPiece
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run.runs import read_metrics
from tests.engine.tiny_texts import (
    encoder_folder,
    notes,
    of,
    promised,
    text_config,
    write_text,
)

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


@pytest.mark.slow
def test_an_encoder_without_heads_gets_them_and_is_trained_further(tmp_path: Path) -> None:
    folder = encoder_folder(tmp_path / "encoder")
    settings = {"steps": 60, "learning_rate": 1e-2, "checkpoint_every_steps": 1000}
    begun = pretrain(text_config(tmp_path, model=str(folder), **settings), tmp_path / "run")
    events = []
    for event in begun:
        events.append(event)
        if isinstance(event, Saved):
            break
    said = notes(events)
    assert "masked-word head is new" in said and "next-sentence head is new" in said
    first = load_tensors(event.path / "weights.safetensors")  # type: ignore[union-attr]
    encoder, _ = load_encoder(folder)
    for name, value in encoder.state_dict().items():
        assert torch.equal(first[f"bert.{name}"], value), name
    pieces = WordPiece.from_folder(folder)
    the, z = (pieces.tokens.index(token) for token in ("the", "##z"))
    assert first["bias"][the] > first["bias"][z] + 3  # how often a word is there need not be learned
    events += list(begun)
    model, report = load_pretraining(tmp_path / "run" / "model")
    assert not report.missing and of(Evaluated, events)[-1].loss < of(Evaluated, events)[0].loss - 0.2
    assert not torch.equal(model.bert.embeddings.word.weight, encoder.embeddings.word.weight)


@pytest.mark.slow
def test_a_trimmed_vocabulary_keeps_what_the_text_uses_with_its_embeddings(tmp_path: Path) -> None:
    folder = encoder_folder(tmp_path / "encoder")
    old = WordPiece.from_folder(folder)
    begun = pretrain(text_config(tmp_path, model=str(folder), trim_vocab=70), tmp_path / "run")
    first = next(event for event in begun if isinstance(event, Saved))
    weights = load_tensors(first.path / "weights.safetensors")
    list(begun)
    new = WordPiece.from_folder(tmp_path / "run" / "model")
    assert new.vocab_size == 70 < old.vocab_size and {"the", "and", "z", "##z", "[MASK]"} <= set(new.tokens)
    encoder, _ = load_encoder(folder)
    rows = [old.tokens.index(token) for token in new.tokens]
    assert torch.equal(weights["bert.embeddings.word.weight"], encoder.embeddings.word.weight[rows])
    model, report = load_pretraining(tmp_path / "run" / "model")
    assert not report.missing and model.config.vocab_size == 70


@pytest.mark.slow
def test_a_model_with_more_rows_than_pieces_is_trained_further_and_resumed(tmp_path: Path) -> None:
    folder = encoder_folder(tmp_path / "encoder", num_filler=3)
    config = text_config(tmp_path, model=str(folder), steps=4)
    list(pretrain(config, tmp_path / "whole"))
    begun = pretrain(config, tmp_path / "cut")
    next(event for event in begun if isinstance(event, Step))
    begun.close()  # type: ignore[attr-defined]
    list(resume(tmp_path / "cut"))
    assert promised(tmp_path / "cut") == promised(tmp_path / "whole")
    rows = load_encoder(folder)[0].config.vocab_size
    assert load_pretraining(tmp_path / "cut" / "model")[0].config.vocab_size == rows


@pytest.mark.slow
def test_cloze_json_tells_the_whole_chain(tmp_path: Path) -> None:
    list(pretrain(text_config(tmp_path), tmp_path / "general"))
    other = write_text(tmp_path / "domain.txt", 30, seed=5)
    settings = {"model": str(tmp_path / "general" / "model"), "next_sentence": False, "tokens": 700}
    list(pretrain(text_config(tmp_path, text=str(other), **settings), tmp_path / "domain"))
    said = json.loads((tmp_path / "domain" / "model" / "cloze.json").read_text())
    assert (said["schema_version"], said["task"]) == (1, "pretraining")
    assert said["max_length"] == 24 and said["next_sentence"] is False
    general, domain = said["chain"]
    assert (general["run"], general["from"], general["steps"]) == ("general", "new:2x12x3", 12)
    assert domain["run"] == "domain" and domain["from"].endswith("general")
    assert [stage["text"][0]["name"] for stage in (general, domain)] == ["text.txt", "domain.txt"]
    assert all(len(stage["text"][0]["sha256"]) == 64 and stage["seconds"] > 0 for stage in (general, domain))
    steps = [record for record in read_metrics(tmp_path / "domain") if record["event"] == "step"]
    assert domain["tokens"] == sum(record["num_tokens"] for record in steps) >= 700
    assert domain["steps"] == len(steps) and 0 <= domain["mlm_accuracy"] <= 1
    assert str(tmp_path) not in json.dumps(said["chain"])


@pytest.mark.slow
def test_a_run_goes_on_when_text_vocabulary_and_model_are_gone(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    write_text(tmp_path / "given" / "text.txt")
    folder = encoder_folder(tmp_path / "given" / "encoder")
    settings = {"text": str(tmp_path / "given"), "model": str(folder), "trim_vocab": 70}
    config = text_config(
        tmp_path, validation_text=str(write_text(tmp_path / "given" / "held.md", 5, 9)), **settings
    )
    list(pretrain(config, tmp_path / "whole"))
    begun = pretrain(config, tmp_path / "cut")
    next(event for event in begun if isinstance(event, Saved))  # the starting weights
    begun.close()  # type: ignore[attr-defined]
    for place in ("given", "cache"):
        shutil.rmtree(tmp_path / place)
    list(resume(tmp_path / "cut"))
    assert promised(tmp_path / "cut") == promised(tmp_path / "whole")
    said = json.loads((tmp_path / "cut" / "model" / "cloze.json").read_text())
    assert said == {
        **json.loads((tmp_path / "whole" / "model" / "cloze.json").read_text()),
        "chain": said["chain"],
    }
