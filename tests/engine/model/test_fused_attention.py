"""Packed texts attended to by the fused kernel, beside `scaled_dot_product_attention` of each text alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from engine.model.fused_attention import attend

RUNS, HEADS, WIDTH, FILLER = ((1, 9), (3, 5), (2, 1)), 2, 16, 4
LENGTHS = [length for count, length in RUNS for _ in range(count)]
FIRSTS = torch.tensor([0, *LENGTHS[:-1]]).cumsum(0)


def _qkv(dtype: torch.dtype = torch.float32) -> Tensor:
    rng = torch.Generator().manual_seed(0)
    return torch.randn(sum(LENGTHS) + FILLER, 3 * WIDTH, generator=rng).to(dtype).requires_grad_()


def _attended(qkv: Tensor, of_firsts: bool) -> Tensor:
    """Return what all tokens gather, or the first ones, whose queries are then apart from keys and values."""
    if not of_firsts:
        return attend(qkv, RUNS, HEADS)
    return attend(qkv[:, WIDTH:].contiguous(), RUNS, HEADS, qkv[FIRSTS, :WIDTH])


def _plain(qkv: Tensor) -> Tensor:
    """Return (N, D), text by text; zeros for filler."""
    contexts = []
    for part in qkv[: sum(LENGTHS)].float().split(LENGTHS):
        q, k, v = part.view(-1, 3, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3)[:, None]
        contexts.append(F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1).flatten(-2))
    return torch.cat([*contexts, torch.zeros(FILLER, WIDTH)])


def _slopes(context: Tensor, qkv: Tensor) -> Tensor:
    weights = torch.linspace(-1, 1, context.numel()).view(context.shape)
    return torch.autograd.grad((context.float() * weights).sum(), qkv)[0]


def test_each_text_attends_to_itself_alone_and_filler_to_nothing() -> None:
    qkv = _qkv()
    context, expected = attend(qkv, RUNS, HEADS), _plain(qkv)
    torch.testing.assert_close(context, expected)
    assert not context[-FILLER:].any()
    slopes = _slopes(context, qkv)
    torch.testing.assert_close(slopes, _slopes(expected, qkv))
    assert not slopes[-FILLER:].any()


def test_the_first_tokens_alone_gather_what_they_gather_beside_the_others() -> None:
    qkv = _qkv()
    context, expected = _attended(qkv, of_firsts=True), _plain(qkv)[FIRSTS]
    torch.testing.assert_close(context, expected)
    torch.testing.assert_close(_slopes(context, qkv), _slopes(expected, qkv))


@pytest.mark.parametrize("of_firsts", [False, True])
def test_in_bfloat16_only_what_goes_in_and_out_is_rounded(of_firsts: bool) -> None:
    low = _qkv(torch.bfloat16)
    exact = low.detach().float().requires_grad_()
    context, expected = _attended(low, of_firsts), _attended(exact, of_firsts)
    assert torch.equal(context, expected.bfloat16())
    slopes = _slopes(context, low)
    assert slopes.dtype == torch.bfloat16
    torch.testing.assert_close(slopes.float(), _slopes(expected, exact), rtol=0.02, atol=0.02)


def test_memory_full_of_nan_reaches_neither_contexts_nor_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = Tensor.new_empty
    monkeypatch.setattr(Tensor, "new_empty", lambda *args: empty(*args).fill_(float("nan")))
    for of_firsts in (False, True):
        qkv = _qkv()
        context = _attended(qkv, of_firsts)
        assert context.isfinite().all() and _slopes(context, qkv).isfinite().all()
