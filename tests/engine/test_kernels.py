"""The fused vocabulary product and loss against torch's own, chunk by chunk."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from engine.model import kernels
from engine.model.kernels import ROW_MULTIPLE, linear_cross_entropy

WORDS = 1001


def tensors(
    rows: int, width: int, dtype: torch.dtype = torch.float32, words: int = WORDS
) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(rows)
    shapes = ((rows, width), (words, width), (words,))
    hidden, weight, bias = (torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes)
    return hidden, weight, bias, torch.randint(0, words, (rows,), generator=generator)


def near(ours: Tensor, reference: Tensor) -> bool:
    ours, reference = ours.detach(), reference.detach()
    return float((ours - reference).abs().max()) <= 1e-5 * max(1.0, float(reference.abs().max()))


@pytest.mark.parametrize("width", [13, 70])  # narrower and wider than a chunk: its gradient is turned, or not
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 150])
def test_loss_and_gradients_equal_those_of_torch(
    rows: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "CHUNK_BYTES", 4 * WORDS * 2 * ROW_MULTIPLE)
    *parameters, targets = tensors(rows, width)
    ours = [value.clone().requires_grad_() for value in parameters]
    theirs = [value.clone().requires_grad_() for value in parameters]
    loss, hits = linear_cross_entropy(*ours, targets)
    logits = F.linear(*theirs)
    expected = F.cross_entropy(logits, targets, reduction="sum")
    assert near(loss, expected) and int(hits) == int((logits.argmax(1) == targets).sum())
    (loss * 0.37).backward()
    (expected * 0.37).backward()
    for one, other in zip(ours, theirs, strict=True):
        assert near(one.grad, other.grad) and one.grad.is_contiguous()
    with torch.no_grad():
        assert torch.equal(linear_cross_entropy(*ours, targets)[0], loss)


def test_a_certain_and_wrong_guess_has_a_finite_loss() -> None:
    hidden, weight, bias, targets = tensors(5, 7)
    hidden, expected = (
        hidden * 1000,
        F.cross_entropy(F.linear(hidden * 1000, weight, bias), targets, reduction="sum"),
    )
    assert near(linear_cross_entropy(hidden, weight, bias, targets)[0], expected) and float(expected) > 1000


def test_a_vocabulary_of_full_size_gives_the_same_shares() -> None:
    hidden, weight, bias, targets = tensors(33, 13, words=30_522)
    ours, theirs = (hidden.clone().requires_grad_() for _ in range(2))
    linear_cross_entropy(ours, weight, bias, targets)[0].backward()
    F.cross_entropy(F.linear(theirs, weight, bias), targets, reduction="sum").backward()
    assert near(ours.grad, theirs.grad)


def test_gradients_in_float64_equal_differences() -> None:
    *parameters, targets = tensors(3, 5, torch.float64)
    for value in parameters:
        value.requires_grad_()
    assert torch.autograd.gradcheck(lambda *args: linear_cross_entropy(*args, targets)[0], parameters)


def test_no_rows_have_no_loss() -> None:
    *parameters, targets = tensors(0, 7)
    loss, hits = linear_cross_entropy(*(value.requires_grad_() for value in parameters), targets)
    loss.backward()
    assert loss.detach() == hits == 0 and not parameters[1].grad.any()
