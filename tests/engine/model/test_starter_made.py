"""What the starter is made by beside training: mixtures, and the pieces that trimming had left out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from assets.models.mix import mix
from assets.models.widen import widen
from engine.model.heads import PreTraining
from engine.model.trim import trimmed
from engine.model.weights import load_pretraining, save_model
from engine.text.wordpiece import WordPiece
from tests.engine.tiny_texts import encoder_folder
from tests.fakes import scramble

LEFT_OUT = ("cat", "dog", "fish")


def starter_of(encoder_dir: Path, target: Path) -> tuple[PreTraining, WordPiece]:
    """Write a model with other weights and without some of the encoder's words."""
    model, _ = load_pretraining(encoder_dir)
    pieces = WordPiece.from_folder(encoder_dir)
    keep = [number for number, token in enumerate(pieces.tokens) if token not in LEFT_OUT]
    starter, fewer = trimmed(model, pieces, np.array(keep))
    scramble(starter, seed=3)
    save_model(target, starter, fewer, {"task": "pretraining"})
    return starter, fewer


def test_a_mixture_has_its_share_of_both_by_the_pieces_themselves(tmp_path: Path) -> None:
    encoder_folder(tmp_path / "encoder")
    starter, fewer = starter_of(tmp_path / "encoder", tmp_path / "starter")
    mix(tmp_path / "starter", tmp_path / "encoder", 0.75, tmp_path / "mixed")
    found, _ = load_pretraining(tmp_path / "mixed")
    encoder, _ = load_pretraining(tmp_path / "encoder")
    pieces = WordPiece.from_folder(tmp_path / "encoder")
    for token in ("the", "z", "eats"):
        own, theirs = (
            model.bert.embeddings.word.weight[wordpiece.tokens.index(token)]
            for model, wordpiece in ((starter, fewer), (encoder, pieces))
        )
        row = found.bert.embeddings.word.weight[fewer.tokens.index(token)]
        assert torch.allclose(row, 0.75 * own + 0.25 * theirs, atol=1e-6)
    assert torch.equal(found.transform.weight, starter.transform.weight)  # the encoder has no heads
    mix(tmp_path / "starter", tmp_path / "mixed", 0.5, tmp_path / "again")
    both, _ = load_pretraining(tmp_path / "again")
    norm, first = both.bert.layers[0].output_norm.weight, starter.bert.layers[0].output_norm.weight
    assert torch.allclose(norm, 0.875 * first + 0.125 * encoder.bert.layers[0].output_norm.weight, atol=1e-6)


def test_the_whole_vocabulary_comes_back_and_leaves_what_was_known_as_it_was(tmp_path: Path) -> None:
    encoder_folder(tmp_path / "encoder")
    starter, fewer = starter_of(tmp_path / "encoder", tmp_path / "starter")
    pieces = WordPiece.from_folder(tmp_path / "encoder")
    counts = np.full(pieces.vocab_size, 40)
    widen(tmp_path / "starter", tmp_path / "encoder", counts, tmp_path / "wider")
    wider, report = load_pretraining(tmp_path / "wider")
    more = WordPiece.from_folder(tmp_path / "wider")
    assert not report.missing and more.tokens == pieces.tokens
    places = torch.tensor([more.tokens.index(token) for token in fewer.tokens])
    with torch.inference_mode():
        before, after = (
            model.eval()(torch.tensor([wordpiece.encode_ids(["the z eats ."])[0].tolist()]))
            for model, wordpiece in ((starter, fewer), (wider, more))
        )
        assert torch.allclose(after.hidden, before.hidden, atol=1e-5)
        assert torch.allclose(wider.logits(after.hidden)[:, places], starter.logits(before.hidden), atol=1e-4)
    assert more.encode_ids(["cat"])[0].tolist() == [more.tokens.index("cat")]


def test_the_bias_of_a_new_piece_follows_from_how_frequent_it_is(tmp_path: Path) -> None:
    encoder_folder(tmp_path / "encoder")
    starter, fewer = starter_of(tmp_path / "encoder", tmp_path / "starter")
    pieces = WordPiece.from_folder(tmp_path / "encoder")
    counts = np.arange(100, 100 + pieces.vocab_size)
    ids = {token: number for number, token in enumerate(pieces.tokens)}
    with torch.no_grad():
        starter.bias.copy_(
            torch.tensor([2.0 * math.log(counts[ids[token]] + 1) - 9 for token in fewer.tokens])
        )
    save_model(tmp_path / "starter", starter, fewer, {"task": "pretraining"})
    counts[ids["cat"]] = 0
    widen(tmp_path / "starter", tmp_path / "encoder", counts, tmp_path / "wider")
    wider, _ = load_pretraining(tmp_path / "wider")
    assert wider.bias[ids["dog"]].item() == pytest.approx(
        2.0 * math.log(counts[ids["dog"]] + 1) - 9, abs=1e-4
    )
    assert wider.bias[ids["cat"]].item() == pytest.approx(-9.0, abs=1e-3)
