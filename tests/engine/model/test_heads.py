"""The heads of pretraining: beside `transformers`, on chosen tokens alone, packed and padded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from engine.model import kernels
from engine.model.bert import initialize
from engine.model.config import count_parameters
from engine.model.heads import PreTraining, start_bias
from engine.model.weights import load_pretraining
from tests.engine.model.batches import assert_close, packed, padded_batch
from tests.fakes import scramble, tiny_classifier, tiny_config, tiny_pretraining

transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def padded() -> dict[str, Tensor]:
    return padded_batch()


def chosen(padded: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return rows of some real tokens in the padded batch, the same in the packed one, and their words."""
    rows = padded["attention_mask"].flatten().nonzero()[:, 0]  # of the padded batch, by row of the packed one
    flat = torch.tensor([1, 4, 5, 12, 14, 20, 28])
    return rows[flat], flat, torch.tensor([7, 5, 9, 36, 5, 11, 30])


def gradients(model: PreTraining) -> dict[str, Tensor]:
    found = {name: parameter.grad for name, parameter in model.named_parameters()}
    assert all(gradient is not None for gradient in found.values())
    return {name: gradient.clone() for name, gradient in found.items() if gradient is not None}


@torch.no_grad()
def test_both_heads_equal_those_of_transformers(padded: dict[str, Tensor], tmp_path: Path) -> None:
    reference = transformers.BertForPreTraining(transformers.BertConfig(**tiny_config().to_json())).eval()
    scramble(reference, seed=2)
    reference.save_pretrained(tmp_path)
    ours, _ = load_pretraining(tmp_path)
    expected, keep = reference(**padded), padded["attention_mask"].bool()
    whole, flat = ours(**padded), ours(**packed(padded))
    assert_close(ours.logits(whole.hidden).view(4, 13, 37)[keep], expected.prediction_logits[keep])
    assert_close(ours.logits(flat.hidden), expected.prediction_logits[keep])
    for output in (whole, flat):
        assert_close(output.next_sentence, expected.seq_relationship_logits)


@pytest.mark.parametrize("form", ["padded", "packed"])
def test_chosen_tokens_alone_give_the_loss_and_gradients_of_all(padded: Any, form: str) -> None:
    model = tiny_pretraining()
    rows, flat, targets = chosen(padded)
    whole = model(**padded)
    logits = whole.hidden @ model.bert.embeddings.word.weight.t() + model.bias  # (B * T, V)
    expected = F.cross_entropy(logits[rows], targets, reduction="sum")
    hits = int((logits[rows].argmax(-1) == targets).sum())
    (expected + whole.next_sentence.square().sum()).backward()
    there = gradients(model)
    model.zero_grad()
    inputs, masked = (padded, rows) if form == "padded" else (packed(padded), flat)
    output = model(**inputs, masked=masked)
    loss, found = model.masked_loss(output.hidden, targets)
    (loss + output.next_sentence.square().sum()).backward()
    assert_close(loss.detach(), expected.detach())
    assert int(found) == hits
    for name, gradient in gradients(model).items():
        assert_close(gradient, there[name])


def test_the_tied_table_gets_one_gradient_also_when_lookups_are_sparse(padded: Any) -> None:
    _, flat, targets = chosen(padded)
    tables = []
    for sparse in (False, True):
        model = tiny_pretraining()
        model.bert.embeddings.word.sparse = sparse
        for _ in range(2):  # a second part of a batch adds to the first
            output = model(**packed(padded), masked=flat)
            model.masked_loss(output.hidden, targets)[0].mul(0.5).backward()
        tables.append(model.bert.embeddings.word.weight.grad)
    assert tables[1].layout == torch.strided
    assert_close(tables[1], tables[0])


def test_memory_for_scores_is_bounded_by_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    largest = []
    real = kernels._cross_entropy_
    monkeypatch.setattr(kernels, "CHUNK_BYTES", 4 * 37 * 64)
    monkeypatch.setattr(
        kernels,
        "_cross_entropy_",
        lambda scores, targets: largest.append(len(scores)) or real(scores, targets),
    )
    tiny_pretraining().masked_loss(torch.randn(333, 12), torch.arange(333) % 37)
    assert sum(largest) == 333 and max(largest) <= 64


def test_new_weights_guess_words_by_their_frequency() -> None:
    model = PreTraining(tiny_config())
    initialize(model, 0.0, seed=0)
    counts = torch.zeros(37, dtype=torch.int64)
    counts[5:] = torch.arange(32) ** 2
    start_bias(model, counts)
    with torch.no_grad():
        shares = model.eval().logits(model(torch.tensor([[2, 9, 3]])).hidden).softmax(-1)
    assert_close(shares[1], ((counts + 1) / (counts + 1).sum()).float())


def test_the_count_of_weights_is_that_of_the_model_part_by_part() -> None:
    parts = count_parameters(tiny_config(), pretraining=True)
    assert sum(parts.values()) == sum(p.numel() for p in PreTraining(tiny_config()).parameters())
    assert parts["masked-word head"] == 12 * 12 + 12 + 24 + 37 and parts["next-sentence head"] == 26
    assert "masked-word head" not in count_parameters(tiny_config())


@torch.no_grad()
def test_answers_are_not_rounded_to_three_digits_where_products_are(padded: dict[str, Tensor]) -> None:
    classifier, pretraining = tiny_classifier(), tiny_pretraining()
    with torch.autocast("cpu", torch.bfloat16):
        answers = [classifier(**packed(padded)), pretraining(**packed(padded)).next_sentence]
        rounded = F.linear(torch.ones(1, 12), classifier.classifier.weight)
    assert rounded.dtype == torch.bfloat16  # all else goes on as autocast has it
    for logits in answers:
        assert logits.dtype == torch.float32 and not torch.equal(logits, logits.bfloat16().float())
