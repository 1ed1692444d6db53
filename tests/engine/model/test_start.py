"""The first weights of a new model: heads that look at neighbours, frequencies, words; or mere chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from engine.events import result_of
from engine.model.bert import initialize
from engine.model.config import BertConfig
from engine.model.heads import PreTraining
from engine.model.start import OFFSETS, WORD_LENGTH, start_weights
from engine.model.weights import load_pretraining, save_model
from engine.text.neighbours import neighbour_vectors
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.first_weights import frequencies, starting_model
from tests.engine.tiny_texts import text_config
from tests.fakes import same_weights, tiny_config, tiny_wordpiece

WORDS = 211
COUNTS = torch.arange(WORDS) % 17


def vectors(width: int, seed: int = 0) -> Tensor:
    """Return vectors of length 1 for all but the first five words."""
    rng = torch.Generator().manual_seed(seed)
    found: Tensor = F.normalize(torch.randn(WORDS, width, generator=rng), dim=1)
    found[:5] = 0.0
    return found


def started(width: int = 384, heads: int = 6, layers: int = 2) -> PreTraining:
    """Return a model right after its informed start."""
    shape = BertConfig(
        vocab_size=WORDS,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=2 * width,
        max_position_embeddings=70,
    )
    model = PreTraining(shape)
    start_weights(model, COUNTS, vectors(width), seed=3)
    return model.eval()


def looks(model: PreTraining) -> list[list[dict[int, float]]]:
    """Return for each layer and head how much of its attention goes to each offset, on random words."""
    ids = torch.randint(5, WORDS, (7, 37), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        maps = model.bert(ids, output_attentions=True).attentions
    assert maps is not None
    return [
        [
            {far: head.diagonal(far, 1, 2).mean().item() for far in range(-9, 10)}
            for head in layer.unbind(1)  # (B, T, T)
        ]
        for layer in maps
        if isinstance(layer, Tensor)
    ]


def test_the_first_heads_look_at_the_word_before_and_after_and_two_places_on() -> None:
    first, second = looks(started())
    for head, offset in enumerate(OFFSETS):
        assert first[head][offset] > 0.5, f"head {head} gives {first[head]}"
        assert max(second[head], key=second[head].__getitem__) == offset and second[head][offset] > 0.25
    for head in (4, 5):  # and the others at nothing in particular
        assert max(first[head].values()) < 0.1


@pytest.mark.parametrize(("width", "heads"), [(128, 2), (256, 4), (512, 8)])
def test_in_every_preset_s_shape_no_place_is_looked_at_more_than_the_right_one(
    width: int, heads: int
) -> None:
    found = looks(started(width, heads, 1))[0]
    for head, offset in enumerate(OFFSETS[:heads]):
        others = max(share for far, share in found[head].items() if far != offset)
        assert found[head][offset] > 2 * others


@pytest.mark.parametrize(("width", "heads"), [(12, 3), (13, 1), (4, 4), (6, 2)])
def test_odd_and_tiny_shapes_start_too(width: int, heads: int) -> None:
    model = started(width, heads, 1)
    assert all(bool(parameter.isfinite().all()) for parameter in model.parameters())
    assert np.allclose([sum(head.values()) for head in looks(model)[0]], 0.4, atol=0.4)


def test_frequencies_stand_in_the_bias_and_words_get_their_vectors() -> None:
    model = started()
    share = model.bias.exp()
    assert share.sum().item() == pytest.approx(1.0, abs=1e-5)
    assert torch.allclose(share, (COUNTS + 1) / (COUNTS + 1).sum())
    words = model.bert.embeddings.word.weight
    assert torch.equal(words[5:], WORD_LENGTH * vectors(384)[5:])
    assert 0 < words[:5].std() < 0.03  # special tokens have none: as published


def test_the_start_is_one_of_plain_weights_that_transformers_reads_unchanged(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    model = PreTraining(tiny_config(hidden_size=24))
    known = F.normalize(torch.randn(37, 24, generator=torch.Generator().manual_seed(0)), dim=1)
    start_weights(model, torch.arange(37), known, seed=1)
    save_model(tmp_path / "model", model.eval(), tiny_wordpiece())
    again, report = load_pretraining(tmp_path / "model", seed=9)
    assert same_weights(model, again) and not report.missing
    theirs, told = transformers.BertForPreTraining.from_pretrained(
        tmp_path / "model", output_loading_info=True
    )
    assert not told["missing_keys"] and not told["unexpected_keys"]
    ids = torch.randint(0, 37, (3, 11), generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        wanted, found = theirs.eval()(input_ids=ids), model(ids)
        assert torch.allclose(model.logits(found.hidden).view(3, 11, -1), wanted.prediction_logits, atol=1e-5)
        assert torch.allclose(found.next_sentence, wanted.seq_relationship_logits, atol=1e-5)


def test_without_vectors_the_weights_are_those_of_the_published_initialisation() -> None:
    shape = BertConfig.preset("tiny", 500)
    model, plain = PreTraining(shape), PreTraining(shape)
    start_weights(model, torch.arange(500), None, seed=5)
    initialize(plain, 0.02, 5)
    assert same_weights(model, plain)
    for name, value in model.named_parameters():
        if "norm" in name or name.endswith("bias"):
            wanted = 1.0 if "norm" in name and name.endswith("weight") else 0.0
            assert bool((value == wanted).all()), name
        else:
            assert abs(value.mean().item()) < 0.004 and value.std().item() == pytest.approx(0.02, rel=0.15), (
                name
            )


# what counting tells


def test_words_with_the_same_neighbours_are_alike_and_special_tokens_have_no_vector() -> None:
    rng = np.random.default_rng(0)
    said = [(5 + rng.integers(2), 7 + rng.integers(2), 9 + rng.integers(2), 11) for _ in range(900)]
    said += [(12 + rng.integers(2), 14 + rng.integers(2), 16 + rng.integers(2), 11) for _ in range(900)]
    rng.shuffle(said)
    ids = np.array(said, np.uint16).ravel()
    counts = np.bincount(ids, minlength=23)
    counts[11] = 0  # as if it were a special token
    found = result_of(neighbour_vectors(ids, counts, 37, seed=0))
    assert found.shape == (23, 37) and found.dtype == torch.float32
    lengths = found.norm(dim=1)
    assert torch.allclose(lengths[torch.from_numpy(counts > 0)], torch.ones(12), atol=1e-5)
    assert not lengths[torch.from_numpy(counts == 0)].any()
    near = found @ found.t()
    for one, other, stranger in ((5, 6, 12), (7, 8, 14), (9, 10, 16), (12, 13, 5), (14, 15, 7)):
        assert near[one, other] > 0.7 and near[one, other] > near[one, stranger] + 0.5
    again = result_of(neighbour_vectors(ids, counts, 37, seed=0))
    assert torch.equal(found, again)


# through the settings


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


@pytest.mark.usefixtures("cache")
def test_the_setting_chooses_between_the_informed_start_and_the_published_one(tmp_path: Path) -> None:
    models = {}
    for informed in (True, False):
        config = text_config(tmp_path, informed_start=informed, seed=11)
        setup = result_of(pretraining_setup.prepare(config))
        models[informed], notes = result_of(starting_model(config, setup))
        assert "The model is new" in str(notes[0])
    plain = PreTraining(setup.config)
    initialize(plain, 0.02, 11)
    assert same_weights(models[False], plain) and not models[False].bias.any()
    counted = torch.from_numpy(frequencies(setup, config)) + 1
    assert torch.allclose(models[True].bias.exp(), counted / counted.sum())
    commonest, mask = (setup.wordpiece.tokens.index(token) for token in ("and", "[MASK]"))
    assert models[True].bias.argmax() == commonest and counted[mask] == 1
