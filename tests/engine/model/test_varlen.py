"""The packed attention kernel of CUDA, as the model calls it: which rows it writes, and where it may serve.

Without a GPU the kernel is played by one that does what ATen's does: memory for what it returns comes as it
was left, and rows behind the last offset are never written, forwards or backwards.
"""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.attention.varlen
from torch import Tensor

from engine.model import attention
from engine.model.bert import Bert
from engine.model.heads import PreTraining
from engine.text import batch
from engine.text.batch import Bounds, EncodedRows, collate
from engine.text.corpus.instances import MaskedBatch
from engine.train.pretraining.language import LanguageModel
from engine.train.tasks.classification.task import Classification
from tests.fakes import LABELS, scramble, tiny_classifier, tiny_config

# real tokens of each example, longest first as batches are, and the rows of filler that make it 32 or 64
RAGGED = {0: (13, 7, 7, 5), 1: (11, 9, 9, 2), 31: (13, 11, 6, 3)}
MULTIPLE = 32


class _Kernel(torch.autograd.Function):
    """Attention inside each stretch of rows between two offsets; all other rows are left as memory was."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, offsets: Tensor, reach: int) -> Tensor:
        ctx.ends, ctx.reach = offsets.tolist(), reach
        ctx.save_for_backward(q, k, v)
        out = torch.full_like(q, torch.nan)
        for rows in _stretches(ctx.ends):
            out[rows] = _attended(q[rows], k[rows], v[rows], reach)
        return out

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        found = [torch.full_like(saved, torch.nan) for saved in ctx.saved_tensors]
        for rows in _stretches(ctx.ends):
            parts = [saved[rows].detach().requires_grad_() for saved in ctx.saved_tensors]
            with torch.enable_grad():
                slopes = torch.autograd.grad(_attended(*parts, ctx.reach), parts, grads[0][rows])
            for one, slope in zip(found, slopes, strict=True):
                one[rows] = slope
        return (*found, None, None)


def _stretches(ends: list[int]) -> list[slice]:
    return [slice(*pair) for pair in pairwise(ends)]


def _attended(q: Tensor, k: Tensor, v: Tensor, reach: int) -> Tensor:
    scores = torch.einsum("qhd,khd->hqk", q, k) / q.shape[-1] ** 0.5
    places = torch.arange(len(q))
    far = (places[:, None] - places).abs() > (len(q) if reach < 0 else reach)
    scores = scores.masked_fill(far, -torch.inf)
    return torch.einsum("hqk,khd->qhd", scores.softmax(-1), v)


def _kernel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    of_q: Tensor,
    of_k: Tensor,
    max_q: int,
    max_k: int,
    *,
    window_size: tuple[int, int] = (-1, -1),
) -> Tensor:
    assert window_size[0] == window_size[1]
    assert of_q.dtype == of_k.dtype == torch.int32 and torch.equal(of_q, of_k)
    assert max_q == max_k >= int(of_q.diff().max()) and int(of_q[-1]) <= len(q)
    result: Tensor = _Kernel.apply(q, k, v, of_q, window_size[0])  # type: ignore[no-untyped-call]
    return result


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.nn.attention.varlen, "varlen_attn", _kernel)
    monkeypatch.setattr(attention, "_has_varlen", lambda *_: True)


def masked_batch(lengths: tuple[int, ...]) -> MaskedBatch:
    rng = np.random.default_rng(3)
    real = sum(lengths)
    filler = -real % MULTIPLE
    ids = torch.from_numpy(np.pad(rng.integers(5, 37, real), (0, filler)))
    masked = torch.from_numpy(np.sort(rng.choice(real, 7, replace=False)))
    places = np.concatenate([np.arange(length) for length in lengths])
    segments = np.concatenate([np.arange(length) > length // 2 for length in lengths]).astype(np.int64)
    return MaskedBatch(
        input_ids=ids,
        token_type_ids=torch.from_numpy(np.pad(segments, (0, filler))),
        position_ids=torch.from_numpy(np.pad(places, (0, filler))),
        bounds=Bounds(lengths),
        masked=masked,
        targets=torch.from_numpy(rng.integers(5, 37, 7)),
        is_random=torch.from_numpy(rng.integers(0, 2, len(lengths))),
        actions=np.zeros(7, np.uint8),
    )


def labelled_batch(lengths: tuple[int, ...]) -> batch.Batch:
    rng = np.random.default_rng(4)
    pieces = [rng.integers(5, 37, length).astype(np.int32) for length in lengths]
    labels = rng.integers(0, len(LABELS), len(lengths)).tolist()
    rows = list(range(len(lengths)))
    examples = EncodedRows.from_pieces(pieces, [length // 2 for length in lengths], labels, rows)
    return collate(examples, np.arange(len(lengths)), multiple=MULTIPLE)


def learned(kind: str, lengths: tuple[int, ...], device: str = "cpu") -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss of one batch, and all gradients; on a GPU, of products in bfloat16."""
    shape = {"hidden_size": 24, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    low = torch.autocast("cuda", torch.bfloat16) if device == "cuda" else nullcontext()
    model: torch.nn.Module
    if kind == "pretraining":
        made, task = masked_batch(lengths).to(device), LanguageModel(True)
        model = PreTraining(tiny_config(**shape))
        scramble(model)
        model.to(device)
        with low:
            loss, _ = task.loss(model, made, task.count([made]))
    else:
        examples, choosing = labelled_batch(lengths).to(torch.device(device)), Classification(LABELS)
        near = {"model_type": "modernbert", "num_hidden_layers": 5, "extra": {"local_attention": 6}}
        model = tiny_classifier(**shape, **(near if kind == "looking near" else {})).train().to(device)
        with low:
            loss, _ = choosing.loss(model, examples, choosing.count([examples]))
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach(), {n: p.grad.to_dense() for n, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("filler", RAGGED)
@pytest.mark.parametrize("kind", ["pretraining", "classification", "looking near"])
def test_rows_that_the_kernel_does_not_write_reach_no_loss_and_no_gradient(
    kind: str, filler: int, request: pytest.FixtureRequest
) -> None:
    assert -sum(RAGGED[filler]) % MULTIPLE == filler
    wanted_loss, wanted = learned(kind, RAGGED[filler])
    request.getfixturevalue("kernel")
    loss, gradients = learned(kind, RAGGED[filler])
    torch.testing.assert_close(loss, wanted_loss)
    assert gradients.keys() == wanted.keys() and len(wanted) > 30
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, wanted[name], msg=lambda told, n=name: f"{n}: {told}")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("filler", RAGGED)
@pytest.mark.parametrize("kind", ["pretraining", "classification", "looking near"])
def test_on_a_gpu_memory_full_of_nan_reaches_no_loss_and_no_gradient(
    kind: str, filler: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for serves in (True, False):
        left = [torch.full((2**size,), torch.nan, device="cuda") for size in range(4, 24) for _ in range(8)]
        del left  # the allocator hands these out again, as they are
        with monkeypatch.context() as patched:
            if not serves:
                patched.setattr(attention, "_has_varlen", lambda *_: False)
            found.append(learned(kind, RAGGED[filler], "cuda"))
    (loss, gradients), (wanted_loss, wanted) = found
    torch.testing.assert_close(loss, wanted_loss, rtol=2e-2, atol=2e-2)
    for name, gradient in gradients.items():
        assert bool(gradient.isfinite().all()), name
        error, size = float((gradient - wanted[name]).norm()), float(wanted[name].norm())
        assert error <= 0.05 * size + 1e-3, name


def test_the_offsets_of_a_batch_go_to_a_gpu_once_and_without_making_the_host_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = []

    def noting(tensor: Tensor, device: torch.device) -> Tensor:
        sent.append((tensor.tolist(), device.type))
        return tensor

    monkeypatch.setattr(batch, "on_device", noting)
    bounds = Bounds([7, 3], "cuda")
    for _ in range(2):  # layers
        assert bounds.sequences(32).tolist() == [0, 7, 10, 32] and bounds.sequences(10) is bounds.offsets
        assert bounds.firsts.tolist() == [0, 7]
    assert sent == [([0, 7, 10, 32], "cuda"), ([0, 7, 10], "cuda")]


# where the kernel may serve


@pytest.mark.parametrize(
    ("width", "serves"), [(8, True), (256, True), (100, False), (36, False), (264, False)]
)
@pytest.mark.usefixtures("kernel")
def test_heads_of_a_width_that_the_kernel_refuses_are_attended_to_without_it(
    width: int, serves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []
    monkeypatch.setattr(
        torch.nn.attention.varlen, "varlen_attn", lambda *given: called.append(1) or _kernel(*given)
    )
    shape = tiny_config(hidden_size=width, num_attention_heads=1, num_hidden_layers=1)
    found = Bert(shape)(torch.arange(5, 17), bounds=Bounds([7, 5]))
    assert bool(called) == serves and bool(found.last_hidden_state.isfinite().all())


def test_the_kernel_serves_only_half_precision_without_dropout_on_a_gpu_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(dtype: torch.dtype = torch.bfloat16) -> Any:
        return SimpleNamespace(is_cpu=False, dtype=dtype, device=torch.device("cuda"))

    for capability, serves in (((7, 0), False), ((7, 5), False), ((8, 0), True), ((8, 9), True)):
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda *_, found=capability: found)
        assert attention._has_varlen(asked(), 0.0) == serves
        assert attention._has_varlen(asked(torch.float16), 0.0) == serves
    assert not attention._has_varlen(asked(torch.float32), 0.0)
    assert not attention._has_varlen(asked(), 0.1)
    assert not attention._has_varlen(torch.zeros(5, 576, dtype=torch.bfloat16), 0.0)
