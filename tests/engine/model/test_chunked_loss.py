"""The loss over a vocabulary in chunks: torch's own, whatever the chunks, and it never asks for a value."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from engine.model import chunked_loss
from engine.model.chunked_loss import chunked_cross_entropy

Parts = tuple[Tensor, Tensor, Tensor, Tensor]


def parts(rows: int, seed: int = 0) -> Parts:
    """Return hidden states 13 wide, a vocabulary of 37, its biases, and targets."""
    rng = torch.Generator().manual_seed(seed)
    made = [torch.randn(*shape, generator=rng) for shape in ((rows, 13), (37, 13), (37,))]
    hidden, weight, bias = (one.requires_grad_() for one in made)
    return hidden, weight, bias, torch.randint(0, 37, (rows,), generator=rng)


def learned(loss: Tensor, given: Parts) -> list[Tensor]:
    return [*torch.autograd.grad(loss / 7, given[:3])]


def whole(hidden: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    logits = F.linear(hidden, weight, bias).float()
    hits = (logits.argmax(1) == targets).sum()
    return F.cross_entropy(logits, targets, reduction="sum"), hits


@pytest.mark.parametrize("rows", [1, 64, 131])
@pytest.mark.parametrize("at_once", [64, 10**6])
def test_loss_hits_and_gradients_are_those_of_the_whole(
    rows: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunked_loss, "CHUNK_BYTES", 4 * 37 * at_once)
    given = parts(rows)
    (loss, hits), (wanted, wanted_hits) = chunked_cross_entropy(*given), whole(*given)
    torch.testing.assert_close(loss, wanted)
    assert hits == wanted_hits and not hits.requires_grad
    for found, gradient in zip(learned(loss, given), learned(wanted, given), strict=True):
        torch.testing.assert_close(found, gradient)
    with torch.no_grad():
        assert torch.equal(chunked_cross_entropy(*given)[0], loss)


def test_in_bfloat16_many_chunks_are_as_near_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    given = parts(64 * 40)
    wanted = learned(whole(*given)[0], given)

    def error(at_once: int) -> list[float]:
        monkeypatch.setattr(chunked_loss, "CHUNK_BYTES", 4 * 37 * at_once)
        with torch.autocast("cpu", torch.bfloat16):
            found = learned(chunked_cross_entropy(*given)[0], given)
        return [float((one - exact).norm() / exact.norm()) for one, exact in zip(found, wanted, strict=True)]

    for chunked, at_once in zip(error(64), error(10**6), strict=True):
        assert chunked < 1.2 * at_once < 0.02


def test_without_gradients_none_is_made_room_for() -> None:
    made: list[tuple[int, ...]] = []

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func.overloadpacket.__name__ in ("zeros_like", "empty_like", "zeros"):
                made.append(tuple(args[0].shape))
            return func(*args, **(kwargs or {}))

    given = parts(131)
    with Noting(), torch.no_grad():
        chunked_cross_entropy(*given)
    assert (37, 13) not in made
    with Noting():
        chunked_cross_entropy(*given)
    assert (37, 13) in made


def test_under_autocast_products_round_and_sums_do_not() -> None:
    given = parts(131)
    wanted, _ = whole(*given)
    with torch.autocast("cpu", torch.bfloat16):
        loss, _ = chunked_cross_entropy(*given)
        rounded, _ = whole(*given)
    assert loss.dtype == torch.float32 and loss != wanted
    torch.testing.assert_close(loss, rounded, rtol=1e-3, atol=0.0)
    for found, gradient in zip(learned(loss, given), learned(wanted, given), strict=True):
        assert found.dtype == torch.float32
        assert float((found - gradient).norm()) < 0.02 * float(gradient.norm())


def test_scores_beyond_all_reason_give_a_finite_loss() -> None:
    hidden, weight, bias, targets = parts(5)
    loss, _ = chunked_cross_entropy(1e4 * hidden, weight, bias, targets)
    wanted, _ = whole(1e4 * hidden, weight, bias, targets)
    assert bool(loss.isfinite()) and loss > 1e4
    torch.testing.assert_close(loss, wanted)


def test_no_value_is_asked_for_which_a_gpu_would_be_waited_for() -> None:
    asked: list[str] = []

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    given = parts(131)
    with Noting():
        loss, _ = chunked_cross_entropy(*given)
        loss.backward()  # type: ignore[no-untyped-call]
    assert len(asked) > 10
    assert not {"_local_scalar_dense", "nonzero", "is_nonzero", "equal", "unique"} & set(asked)
