"""Masked words beside `transformers` on the same weights, and beside plain computations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import ModelError, UserError
from engine.events import result_of
from engine.inspect import passes
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import over_checkpoints, probe, score_words
from engine.inspect.masked.row_scores import score_rows
from engine.inspect.passes import InputRow
from engine.model.weights import save_model
from engine.text.wordpiece import WordPiece
from tests.fakes import TOKENS, model_folder, tiny_pretraining, tiny_wordpiece

transformers = pytest.importorskip("transformers")

A, B = "a good film, playing!", "bad play"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("probe") / "model"
    save_model(path, tiny_pretraining(seed=3), tiny_wordpiece(), {"task": "pretraining"})
    return path


@pytest.fixture(scope="module")
def subject(folder: Path) -> LoadedModel:
    return LoadedModel.open(folder)


def shares(folder: Path, ids: Any, types: Any, kind: str = "BertForPreTraining") -> Tensor:
    """Return what `transformers` gives each word at each place: (T, V)."""
    model = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        output = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types]))
    logits = output.prediction_logits if kind == "BertForPreTraining" else output.logits
    return logits[0].softmax(-1)


def test_guesses_in_both_segments_are_those_of_transformers(folder: Path, subject: LoadedModel) -> None:
    found = probe(subject, "a [MASK] film, playing!", B, words=[2, 6], pieces=[6], top_k=37)
    masked = found.masked
    assert [(gap.text, gap.segment, gap.places) for gap in masked.gaps] == [
        ("[MASK]", 0, (2,)),
        ("film", 0, (3,)),
        ("ing", 0, (6,)),
        ("bad", 1, (9,)),
    ]
    for kind in ("BertForPreTraining", "BertForMaskedLM"):
        theirs = shares(folder, masked.input_ids, masked.types, kind)
        for gap, answer in zip(masked.gaps, found.answers, strict=True):
            own = torch.zeros(37)
            for guess in answer.guesses:
                own[guess.ids[0]] = guess.probability
            assert float((own - theirs[gap.places[0]]).abs().max()) <= 1e-5
            assert own.argmax() == answer.guesses[0].ids[0] and (own.diff() != 0).all()
            entropy = -(own * own.log2()).sum()
            assert answer.entropy == pytest.approx(float(entropy), rel=1e-4)


def test_the_original_has_the_rank_that_a_count_gives(folder: Path, subject: LoadedModel) -> None:
    found = probe(subject, A, words=[2])
    theirs = shares(folder, found.masked.input_ids, found.masked.types)[3]
    original = found.answers[0].original
    assert original is not None and original.word == "film" and not original.is_product
    film = TOKENS.index("film")
    assert original.probability == pytest.approx(float(theirs[film]), rel=1e-4)
    assert original.rank == 1 + int((theirs > theirs[film]).sum())
    assert "One piece" in str(original.explanation)


def test_a_word_of_two_pieces_is_one_gap_scored_as_a_product(folder: Path, subject: LoadedModel) -> None:
    masked = mask(subject.about, A, words=[4])
    assert [gap.places for gap in masked.gaps] == [(5, 6)]
    theirs = shares(folder, masked.input_ids, masked.types)
    play, ing = TOKENS.index("play"), TOKENS.index("##ing")
    product = float(theirs[5, play] * theirs[6, ing])
    answer = probe(subject, A, words=[4], top_k=5).answers[0]
    assert answer.original is not None and answer.original.word == "playing" and answer.original.is_product
    assert answer.original.probability == pytest.approx(product, rel=1e-4)
    ranks = [1 + int((theirs[p] > theirs[p, n]).sum()) for p, n in ((5, play), (6, ing))]
    assert answer.original.rank == max(ranks)
    best = (theirs[5][:, None] * theirs[6][None]).flatten().topk(5)
    assert [guess.probability for guess in answer.guesses] == pytest.approx(best.values.tolist(), rel=1e-4)
    (typed,) = score_words(subject, masked, 0, ["playing"])
    assert typed.probability == pytest.approx(product, rel=1e-4) and not typed.has_own_pass
    after = list(masked.input_ids)
    after[5] = play
    in_turn = float(theirs[5, play] * shares(folder, after, masked.types)[6, ing])
    assert typed.in_turn == pytest.approx(in_turn, rel=1e-4)
    assert "2 pieces (play ##ing)" in str(typed.explanation)


def test_a_word_of_another_length_is_asked_with_as_many_masks(folder: Path, subject: LoadedModel) -> None:
    masked = mask(subject.about, A, B, words=[2])
    one, other = score_words(subject, masked, 0, ["good", "playing"])
    assert not one.has_own_pass and other.has_own_pass and other.num_masks == 1
    wider = mask(subject.about, A.replace("film", "[MASK] [MASK]"), B)
    theirs = shares(folder, wider.input_ids, wider.types)
    expected = theirs[3, TOKENS.index("play")] * theirs[4, TOKENS.index("##ing")]
    assert other.probability == pytest.approx(float(expected), rel=1e-4)
    assert "asked with 2 [MASK]s instead of 1" in str(other.explanation)
    (piece,) = score_words(subject, masked, 0, ["##ing"])
    assert [part.piece for part in piece.pieces] == ["##ing"]
    with pytest.raises(UserError, match="cannot spell '##play'"):
        score_words(subject, masked, 0, ["##play"])


def test_texts_of_all_lengths_together_equal_each_alone(
    subject: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    rows = []
    for length in (3, 9, 9, 41, 5, 17):
        ids = (2, *rng.integers(5, 37, length - 2).tolist(), 3)
        rows.append(InputRow(ids, (0,) * length, tuple(rng.permutation(length)[:2].tolist())))
    candidates = [[(7, 8), (30, 11)] for _ in rows]
    together = result_of(score_rows(subject, rows, candidates))
    alone = [
        result_of(score_rows(subject, [row], [own]))[0] for row, own in zip(rows, candidates, strict=True)
    ]
    monkeypatch.setattr(passes, "CPU_MICRO_BATCH_TOKENS", 20)
    split = result_of(score_rows(subject, rows, candidates))
    for one, other, third in zip(together, alone, split, strict=True):
        for a, b, c in zip(sum(one, ()), sum(other, ()), sum(third, ()), strict=True):
            assert a.rank == b.rank == c.rank
            assert a.log_probability == pytest.approx(b.log_probability, abs=1e-5)
            assert c.log_probability == pytest.approx(b.log_probability, abs=1e-5)


def test_a_head_that_is_off_counts_as_if_its_output_were_zero(tmp_path: Path, subject: LoadedModel) -> None:
    on = np.ones((2, 3), bool)
    on[1, 2] = False
    found = probe(subject, A, words=[2], on=on).answers[0].guesses[0]
    model = tiny_pretraining(seed=3)
    with torch.no_grad():
        model.bert.layers[1].attention.output.weight[:, 8:12] = 0
    save_model(tmp_path / "zeroed", model, tiny_wordpiece())
    expected = probe(LoadedModel.open(tmp_path / "zeroed"), A, words=[2]).answers[0].guesses[0]
    assert found.ids == expected.ids and found.probability == pytest.approx(expected.probability, abs=1e-6)
    assert found.probability != probe(subject, A, words=[2]).answers[0].guesses[0].probability


def test_what_cannot_be_masked_is_refused_in_one_sentence(tmp_path: Path, subject: LoadedModel) -> None:
    with pytest.raises(UserError, match=r"The text has no \[MASK\]"):
        probe(subject, A)
    with pytest.raises(UserError, match="There is no text"):
        probe(subject, " ")
    with pytest.raises(UserError, match="reads at most 41"):
        probe(subject, "a " * 50, words=[0])
    with pytest.raises(UserError, match="0 is not a number of guesses"):
        probe(subject, A, words=[0], top_k=0)
    masked = mask(subject.about, "漢 a", words=[0])
    assert masked.gaps[0].original == () and probe(subject, "漢 a", words=[0]).answers[0].original is None
    with pytest.raises(UserError, match="cannot spell '漢'"):
        score_words(subject, masked, 0, ["漢"])
    with pytest.raises(UserError, match="no word to score"):
        score_words(subject, masked, 0, [" "])
    full = mask(subject.about, "a " * 39, words=[0])
    with pytest.raises(UserError, match=r"With its \[MASK\]s the text has 42"):
        score_words(subject, full, 0, ["playing"])
    with pytest.raises(ModelError, match="no trained masked-word head"):
        probe(LoadedModel.open(model_folder(tmp_path / "classifier")), A, words=[0])


def test_checkpoints_that_cut_a_text_otherwise_are_not_asked_for_its_pieces(
    tmp_path: Path, folder: Path
) -> None:
    tokens = [token for token in TOKENS if token not in ("##ing", "x")] + ["playing", "actor"]
    other = tiny_pretraining(seed=5, vocab_size=len(tokens))
    save_model(tmp_path / "other", other, WordPiece.from_tokens(tokens, lowercase=True))
    heard = list(over_checkpoints([folder, tmp_path / "other"], A, words=[4]))
    assert [len(one.probed.masked.gaps[0].places) for one in heard] == [2, 1]
    with pytest.raises(UserError, match="Mask whole words to compare them"):
        list(over_checkpoints([folder, tmp_path / "other"], A, pieces=[5]))


def test_checkpoints_answer_one_after_the_other(tmp_path: Path, folder: Path, subject: LoadedModel) -> None:
    save_model(tmp_path / "later", tiny_pretraining(seed=8), tiny_wordpiece())
    heard = list(over_checkpoints([folder, tmp_path / "later"], A, words=[2]))
    assert [event.number for event in heard] == [0, 1] and heard[1].total == 2
    assert heard[0].probed.answers == probe(subject, A, words=[2], top_k=5).answers
    assert heard[1].probed.fingerprint != heard[0].probed.fingerprint
