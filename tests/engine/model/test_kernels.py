"""The fused vocabulary product and loss against torch's own, chunk by chunk."""

from __future__ import annotations

import math
import threading

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from engine.device import (
    ONEDNN,
    TORCH,
    computing,
    cpu_has_bfloat16,
    cpu_kernels,
    is_bfloat16,
    onednn,
    usable_kernels,
)
from engine.model.kernels import ROW_MULTIPLE, Linear, linear, linear_cross_entropy, low_of
from engine.text.batch import Bounds
from engine.train.optimizer import Optimizer
from tests.fakes import tiny_classifier

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


@pytest.mark.parametrize("kernels", [TORCH, ONEDNN])
@pytest.mark.parametrize("width", [13, 70])  # narrower and wider than a chunk: its gradient is turned, or not
@pytest.mark.parametrize("rows", [1, 31, 32, 33, 150])
def test_loss_and_gradients_equal_those_of_torch(
    rows: int, width: int, kernels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.model.kernels.CHUNK_BYTES", 4 * WORDS * 2 * ROW_MULTIPLE)
    *parameters, targets = tensors(rows, width)
    ours = [value.clone().requires_grad_() for value in parameters]
    theirs = [value.clone().requires_grad_() for value in parameters]
    with computing(usable_kernels(kernels), torch.float32):
        loss, hits = linear_cross_entropy(*ours, targets)
    logits = F.linear(*theirs)
    expected = F.cross_entropy(logits, targets, reduction="sum")
    assert near(loss, expected) and int(hits) == int((logits.argmax(1) == targets).sum())
    (loss * 0.37).backward()
    (expected * 0.37).backward()
    for one, other in zip(ours, theirs, strict=True):
        assert near(one.grad, other.grad) and one.grad.is_contiguous()
    with torch.no_grad(), computing(usable_kernels(kernels), torch.float32):
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


@pytest.mark.slow
def test_gradients_in_float64_equal_differences() -> None:
    *parameters, targets = tensors(3, 5, torch.float64)
    for value in parameters:
        value.requires_grad_()
    assert torch.autograd.gradcheck(lambda *args: linear_cross_entropy(*args, targets)[0], parameters)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])  # in chunks, and by torch
def test_of_equal_scores_only_the_first_is_a_hit_as_argmax_has_it(dtype: torch.dtype) -> None:
    hidden, weight, bias, _ = tensors(37, 13, dtype)
    weight[20:600] = weight[20]  # as words are whose scores bfloat16 cannot tell apart
    bias[:] = 0.0
    for target in (20, 21, 599):
        targets = torch.full((37,), target)
        best = F.linear(hidden, weight, bias).argmax(1)
        _, hits = linear_cross_entropy(hidden, weight, bias, targets)
        assert int(hits) == int((best == target).sum())
    nothing = torch.zeros_like(weight)
    assert int(linear_cross_entropy(hidden, nothing, bias, torch.zeros(37, dtype=torch.long))[1]) == 37
    assert int(linear_cross_entropy(hidden, nothing, bias, torch.ones(37, dtype=torch.long))[1]) == 0


def test_no_rows_have_no_loss() -> None:
    *parameters, targets = tensors(0, 7)
    loss, hits = linear_cross_entropy(*(value.requires_grad_() for value in parameters), targets)
    loss.backward()
    assert loss.detach() == hits == 0 and not parameters[1].grad.any()


@pytest.mark.parametrize("rows", [1, 31, 32, 150])
@pytest.mark.parametrize("kernels", [TORCH, ONEDNN])
def test_either_library_gives_the_product_and_gradients_of_float64(kernels: str, rows: int) -> None:
    if kernels == ONEDNN and onednn is None:
        pytest.skip("this build has no oneDNN")
    generator = torch.Generator().manual_seed(3)
    values = [torch.randn(shape, generator=generator) for shape in ((rows, 70), (13, 70), (13,))]
    with computing(kernels, torch.float32):
        ours = [value.clone().requires_grad_() for value in values]
        linear(*ours).square().sum().backward()
    theirs = [value.double().requires_grad_() for value in values]
    F.linear(*theirs).square().sum().backward()
    for one, other in zip(ours, theirs, strict=True):
        assert near(one.grad, other.grad.float())


needs_bfloat16 = pytest.mark.skipif(not cpu_has_bfloat16(), reason="this CPU has no bfloat16 products")


@needs_bfloat16
def test_bfloat16_products_keep_three_digits_and_float32_gradients_of_weights() -> None:
    generator = torch.Generator().manual_seed(3)
    x, weight, bias = (torch.randn(shape, generator=generator) for shape in ((37, 70), (13, 70), (13,)))
    x = x.bfloat16()
    ours = [value.clone().requires_grad_() for value in (x, weight, bias)]
    with computing(TORCH, torch.bfloat16):
        output = linear(*ours)
    theirs = [value.float().requires_grad_() for value in (x, weight, bias)]
    expected = F.linear(*theirs)
    output.float().square().sum().backward()  # outside: backwards in what it was computed in forwards
    expected.square().sum().backward()
    assert output.dtype == torch.bfloat16
    assert [value.grad.dtype for value in ours] == [torch.bfloat16, torch.float32, torch.float32]
    pairs = [
        (output.detach(), expected.detach()),
        *((o.grad, t.grad) for o, t in zip(ours, theirs, strict=True)),
    ]
    for one, other in pairs:
        assert (
            0 < float((one.detach().float() - other.detach()).abs().max()) < 0.02 * float(other.abs().max())
        )


def test_a_weight_is_cast_again_once_it_has_moved_and_not_before() -> None:
    layer = nn.Linear(8, 8)
    optimizer = Optimizer(layer, weight_decay=0.0, max_gradient_norm=0.0)
    first = low_of(layer.weight)
    with torch.inference_mode():
        assert low_of(layer.weight) is first
    layer(torch.ones(2, 8)).sum().backward()
    optimizer.step(0.1)
    second = low_of(layer.weight)
    assert second is not first and torch.equal(second, layer.weight.detach().bfloat16())
    layer.load_state_dict({name: value + 1.0 for name, value in layer.state_dict().items()})
    assert torch.equal(low_of(layer.weight), layer.weight.detach().bfloat16())


@needs_bfloat16
def test_what_an_evaluation_has_cast_training_can_use() -> None:
    layer = Linear(8, 8)
    x = torch.ones(2, 8, dtype=torch.bfloat16)
    with torch.inference_mode(), computing(TORCH, torch.bfloat16):
        layer(x)
    with computing(TORCH, torch.bfloat16):
        layer(x).float().sum().backward()
    assert layer.weight.grad is not None


@needs_bfloat16
def test_the_loss_in_bfloat16_is_near_the_exact_one() -> None:
    *parameters, targets = tensors(150, 70)
    exact = [value.clone().requires_grad_() for value in parameters]
    rounded = [value.clone().requires_grad_() for value in parameters]
    expected, _ = linear_cross_entropy(*exact, targets)
    expected.backward()
    with computing(TORCH, torch.bfloat16):
        loss, _ = linear_cross_entropy(*rounded, targets)
        loss.backward()
    assert loss.item() == pytest.approx(expected.item(), rel=5e-3) and loss.item() != expected.item()
    for one, other in zip(exact, rounded, strict=True):
        assert float((one.grad - other.grad).abs().max()) < 0.03 * float(one.grad.abs().max())


def test_other_threads_compute_as_before() -> None:
    found: list[bool] = []
    with computing(ONEDNN, torch.bfloat16):
        thread = threading.Thread(target=lambda: found.append(is_bfloat16() or cpu_kernels() != TORCH))
        thread.start()
        thread.join()
        assert is_bfloat16() and cpu_kernels() == ONEDNN
    assert found == [False] and not is_bfloat16() and cpu_kernels() == TORCH


@needs_bfloat16
@pytest.mark.parametrize("lengths", [(13, 7, 7, 3), (70, 70, 9)])  # short texts alone, and long ones
def test_a_classifier_in_bfloat16_has_nearly_the_gradients_of_float32(lengths: tuple[int, ...]) -> None:
    bounds = Bounds(lengths)
    ids = torch.randint(5, 37, (bounds.num_tokens,), generator=torch.Generator().manual_seed(1))
    found = []
    for precision in (torch.float32, torch.bfloat16):
        model = tiny_classifier(seed=3, max_position_embeddings=80)
        with computing(TORCH, precision):
            logits = model(ids, bounds=bounds)
        logits.square().sum().backward()
        found.append((logits.detach(), {name: p.grad for name, p in model.named_parameters()}))
    (exact, wanted), (low, ours) = found
    assert low.dtype == torch.float32 and 0 < float((low - exact).abs().max()) < 0.05
    norm = math.sqrt(sum(float(grad.square().sum()) for grad in wanted.values() if grad is not None))
    for name, grad in wanted.items():
        if grad is not None:
            assert float((ours[name].to_dense() - grad.to_dense()).norm()) < 0.05 * norm, name
