"""Whether a word's vectors part by meaning: against plain computation, and where there is nothing to part."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import UserError
from engine.events import result_of
from engine.inspect.embeddings.contexts import embed_word
from engine.inspect.embeddings.meanings import compare_meanings, parting
from engine.inspect.loaded_model import LoadedModel
from engine.model.model_name import ModelName
from engine.questions.at_hand import ModelsAtHand
from engine.questions.meanings import MeaningsQuestion
from engine.questions.question import answer_of
from tests.fakes import model_folder

GROUPS = np.array([0, 0, 0, 1, 1, 1, 1])


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.fixture
def vectors() -> np.ndarray:
    drawn = np.random.default_rng(3).normal(size=(7, 5)).astype(np.float32)
    return drawn + 1.2 * GROUPS[:, None].astype(np.float32)


def test_parting_is_what_pairs_neighbours_and_all_labellings_say(vectors: np.ndarray) -> None:
    found = parting(vectors, GROUPS)
    pairs = list(combinations(range(7), 2))
    same = [cosine(vectors[i], vectors[j]) for i, j in pairs if GROUPS[i] == GROUPS[j]]
    other = [cosine(vectors[i], vectors[j]) for i, j in pairs if GROUPS[i] != GROUPS[j]]
    assert found.within == pytest.approx(np.mean(same), abs=1e-6)
    assert found.between == pytest.approx(np.mean(other), abs=1e-6)
    near = [
        max((j for j in range(7) if j != i), key=lambda j: cosine(vectors[i], vectors[j])) for i in range(7)
    ]
    assert found.nearest.tolist() == near
    assert found.num_right == sum(GROUPS[near[i]] == GROUPS[i] for i in range(7))
    dealt = [np.isin(np.arange(7), first) for first in combinations(range(7), 3)]
    counts = np.array([(one == one[near]).sum() for one in dealt])
    assert found.chance == pytest.approx(counts.mean())
    assert found.p == pytest.approx((counts >= found.num_right).mean())


def test_very_many_labellings_are_drawn_and_the_same_each_time() -> None:
    drawn = np.random.default_rng(5).normal(size=(40, 4)).astype(np.float32)
    groups = np.arange(40) % 3
    found = parting(drawn, groups)
    assert found.p == parting(drawn, groups).p > 0
    assert not found.is_apart and found.chance == pytest.approx((14 * 13 + 13 * 12 * 2) / 39)
    drawn[:, 0] += 20.0 * (groups == 0)
    drawn[:, 1] += 20.0 * (groups == 1)
    assert parting(drawn, groups).is_apart


def test_vectors_of_no_group_are_neighbours_of_none(vectors: np.ndarray) -> None:
    found = parting(vectors, np.array([0, 0, 1, 1, -1, -1, -1]))
    assert found.num_labelled == 4 and found.nearest[4:].tolist() == [-1] * 3
    assert set(found.nearest[:4].tolist()) <= {0, 1, 2, 3}
    alone = parting(vectors[:1], [0])
    assert (alone.num_right, alone.chance, alone.p) == (0, 0.0, 1.0) and np.isnan(alone.within)


def test_the_map_of_a_layer_holds_its_principal_axes_and_begins_in_one_point(vectors: np.ndarray) -> None:
    table = np.repeat(vectors[:1], 7, axis=0)
    layers = np.stack([vectors, vectors[::-1].copy(), 2 * vectors])
    found = compare_meanings(table, layers, GROUPS)
    assert found.starts == 1 and found.is_one_point(0) and not found.is_one_point(1)
    assert np.abs(found.maps[:, 0]).max() < 1e-5 and np.isnan(found.shares[0])
    scaled = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    sizes = np.linalg.svd(scaled - scaled.mean(0), compute_uv=False) ** 2
    assert found.shares[1:] == pytest.approx([sizes[:2].sum() / sizes.sum()] * 3, abs=1e-5)
    far = np.linalg.norm(found.maps[1, 1][:, None] - found.maps[1, 1][None], axis=-1)
    assert far == pytest.approx(
        np.linalg.norm(found.maps[3, 3][:, None] - found.maps[3, 3][None], axis=-1), abs=1e-4
    )
    assert found.maps[3, 3][GROUPS == 0].mean(0)[0] <= 0  # the first meaning is at the left


def test_the_word_table_has_a_word_once_and_each_way_of_writing_it(tmp_path: Path) -> None:
    subject = LoadedModel.open(model_folder(tmp_path / "model"), "cpu")
    found = result_of(embed_word(subject, "film", ["a good film", "the film is bad", "film"]))
    number = subject.wordpiece.encode("film").input_ids[1]
    row = subject.bert.embeddings.word(torch.tensor([number], device=subject.device))
    assert np.array_equal(found.table, np.repeat(row.detach().cpu().numpy(), 3, axis=0))
    pieces = result_of(embed_word(subject, "playing", ["playing !"]))
    ids = subject.wordpiece.encode("playing").input_ids[1:-1]
    rows = subject.bert.embeddings.word(torch.tensor(ids, device=subject.device)).detach().cpu().numpy()
    assert len(ids) > 1 and pieces.table[0] == pytest.approx(rows.mean(0), abs=1e-6)
    assert (
        compare_meanings(np.stack([found.table[0], pieces.table[0]]), found.vectors[1:, :2], [0, 1]).starts
        == 2
    )


def test_one_use_has_no_map_to_speak_of_and_no_verdict(vectors: np.ndarray) -> None:
    found = compare_meanings(vectors[:1], vectors[None, :1], [0])
    assert found.maps.shape == (2, 2, 1, 2) and not found.maps.any()
    assert not found.partings and np.isnan(found.any_two).all()


def test_the_question_needs_two_meanings_and_counts_uses_without_one(tmp_path: Path) -> None:
    models = ModelsAtHand(LoadedModel.open(model_folder(tmp_path / "model"), "cpu"))
    model = ModelName(tmp_path / "model")
    lines = ("good | a good film", "bad | bad film", "the film")
    found = answer_of(MeaningsQuestion(model, "film", lines), models)
    assert found.names == ("bad", "good") and found.groups.tolist() == [1, 0, -1]
    document = MeaningsQuestion(model, "film", lines).document(found)
    assert document["uses"][2] == {"meaning": None, "sentence": "the film"}
    assert "nearest" not in document["steps"][0] and document["steps"][1]["labelled"] == 2
    with pytest.raises(UserError, match="at least two meanings"):
        answer_of(MeaningsQuestion(model, "film", lines[:1]), models)
